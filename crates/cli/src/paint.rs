//! Colours, on a terminal only.

use std::io::IsTerminal;

/// Whether text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paint {
    on: bool,
}

/// The colours in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Color {
    Red,
    Green,
    Yellow,
}

impl Paint {
    /// Colours if standard output is a terminal that supports it, unless `NO_COLOR` is set.
    pub(crate) fn for_stdout() -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            on: std::io::stdout().is_terminal() && !dumb && !unwanted,
        }
    }

    /// `text` in that colour.
    pub(crate) fn color(self, color: Color, text: &str) -> String {
        if !self.on {
            return text.to_owned();
        }
        let code = match color {
            Color::Red => 31,
            Color::Green => 32,
            Color::Yellow => 33,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

#[cfg(test)]
impl Paint {
    pub(crate) const ON: Self = Self { on: true };
    pub(crate) const OFF: Self = Self { on: false };
}
