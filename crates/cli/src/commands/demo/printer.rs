//! The output of the demo: three columns, wrapped to the terminal, in colour on a terminal only.

use crate::columns::{columns, cut, split};
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

/// Prints the demo.
#[derive(Debug)]
pub(super) struct Printer<W = io::Stdout> {
    out: W,
    width: usize,
    colors: bool,
}

/// The output is closed.
#[derive(Debug, thiserror::Error)]
#[error("the output cannot be written")]
pub(super) struct WriteError(#[from] pub(super) io::Error);

/// Who speaks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Speaker {
    Agent,
    Tabmux,
    Tools,
    System,
}

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Plain,
    Faint,
    Strong,
    Fresh,
    Gone,
    Agent,
    Tabmux,
    Number,
}

type Written = Result<(), WriteError>;

impl Printer {
    /// Standard output, as wide as the terminal but never wider than 80 columns.
    pub(super) fn on_stdout() -> Self {
        let out = io::stdout();
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colors = out.is_terminal() && !is_set("NO_COLOR") && !is_dumb;
        let width =
            terminal_size::terminal_size_of(&out).map_or(WIDEST, |(width, _)| width.0.into());
        Self::new(out, width, colors)
    }
}

impl<W: Write> Printer<W> {
    fn new(out: W, width: usize, colors: bool) -> Self {
        Self {
            out,
            width: width.clamp(NARROWEST, WIDEST),
            colors,
        }
    }

    /// A paragraph over the full width.
    pub(super) fn paragraph(&mut self, look: Look, text: &str) -> Written {
        self.block(&indent(2), &[(look, text)])
    }

    /// Begins a step.
    pub(super) fn step(&mut self, number: usize, name: &str, remark: &str) -> Written {
        self.space()?;
        let head = [
            (Look::Number, format!("{number:>3}")),
            (Look::Plain, "  ".into()),
        ];
        self.block(&head, &[(Look::Strong, name)])?;
        self.block(&indent(5), &[(Look::Faint, remark)])
    }

    /// A line of a speaker. The number in the middle is a time or a count.
    pub(super) fn say(
        &mut self,
        speaker: Speaker,
        number: &str,
        pieces: &[(Look, &str)],
    ) -> Written {
        let (name, look) = speaker.name();
        let head = [
            (Look::Plain, " ".repeat(5)),
            (look, format!("{name:<6}")),
            (Look::Faint, format!(" {number:>7}  ")),
        ];
        self.block(&head, pieces)
    }

    /// A single line in full, or the first lines of a longer text, each cut at the width, with a count of the rest.
    pub(super) fn show(
        &mut self,
        speaker: Speaker,
        number: &str,
        text: &str,
        most: usize,
    ) -> Written {
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        if let [line] = *lines {
            return self.say(speaker, number, &[(Look::Plain, line)]);
        }
        let available = self.width - MARGIN;
        for (index, line) in lines.iter().take(most).enumerate() {
            let line = cut(line, available).replace(' ', NO_BREAK);
            match index {
                0 => self.say(speaker, number, &[(Look::Plain, &line)])?,
                _ => self.block(&indent(MARGIN), &[(Look::Plain, &line)])?,
            }
        }
        match lines.len().saturating_sub(most) {
            0 => Ok(()),
            more => self.block(
                &indent(MARGIN),
                &[(Look::Faint, &format!("… and {more} more lines"))],
            ),
        }
    }

    /// Counts as bars, one mark for each.
    pub(super) fn bars(&mut self, rows: &[(String, usize)]) -> Written {
        for (name, count) in rows {
            let marks = "■".repeat((*count).min(self.width.saturating_sub(MARGIN + 4)));
            let head = [(Look::Plain, format!("     {name:<14}  "))];
            self.block(
                &head,
                &[(Look::Tabmux, &marks), (Look::Number, &count.to_string())],
            )?;
        }
        Ok(())
    }

    /// An empty line.
    pub(super) fn space(&mut self) -> Written {
        Ok(self.out.write_all(b"\n").and_then(|()| self.out.flush())?)
    }

    /// Text with a head before the first line; the other lines are indented by the width of the head.
    fn block(&mut self, head: &[(Look, String)], pieces: &[(Look, &str)]) -> Written {
        let indent: usize = head.iter().map(|(_, text)| columns(text)).sum();
        let words = pieces.iter().flat_map(|&(look, text)| words(look, text));
        let mut text = String::new();
        for (index, line) in wrap(words, self.width - indent).into_iter().enumerate() {
            match index {
                0 => head
                    .iter()
                    .for_each(|(look, part)| self.paint(&mut text, *look, part)),
                _ => text.extend(std::iter::repeat_n(' ', indent)),
            }
            for (index, run) in line
                .chunk_by(|(one, _), (other, _)| one == other)
                .enumerate()
            {
                let words: Vec<&str> = run.iter().map(|(_, word)| *word).collect();
                let blank = if index == 0 { "" } else { " " };
                text.push_str(blank);
                self.paint(&mut text, run[0].0, &words.join(" ").replace(NO_BREAK, " "));
            }
            text.push('\n');
        }
        Ok(self
            .out
            .write_all(text.as_bytes())
            .and_then(|()| self.out.flush())?)
    }

    fn paint(&self, line: &mut String, look: Look, text: &str) {
        let code = look
            .code()
            .filter(|_| self.colors && !text.trim().is_empty());
        // Writing to a string cannot fail.
        let _ = match code {
            Some(code) => write!(line, "\x1b[{code}m{text}\x1b[0m"),
            None => write!(line, "{text}"),
        };
    }
}

/// A duration for people.
pub(super) fn format_duration(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1000.0;
    match milliseconds {
        short if short < 9.95 => format!("{short:.1} ms"),
        middling if middling < 9_999.5 => format!("{middling:.0} ms"),
        long => format!("{:.1} s", long / 1000.0),
    }
}

/// Keeps a piece of text on one line.
pub(super) fn unbroken(text: &str) -> String {
    text.replace(' ', NO_BREAK)
}

/// Blanks before a block.
fn indent(columns: usize) -> [(Look, String); 1] {
    [(Look::Plain, " ".repeat(columns))]
}

impl Speaker {
    fn name(self) -> (&'static str, Look) {
        match self {
            Self::Agent => ("agent", Look::Agent),
            Self::Tabmux => ("tabmux", Look::Tabmux),
            Self::Tools => ("tools", Look::Number),
            Self::System => ("system", Look::Faint),
        }
    }
}

impl Look {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Faint => Some("2"),
            Self::Strong => Some("1"),
            Self::Fresh => Some("32"),
            Self::Gone => Some("31"),
            Self::Agent => Some("36"),
            Self::Tabmux => Some("35"),
            Self::Number => Some("33"),
        }
    }
}

/// A word with its look.
type StyledWord<'a> = (Look, &'a str);

/// The words of a text. No-break spaces are part of a word.
fn words(look: Look, text: &str) -> impl Iterator<Item = StyledWord<'_>> {
    text.split([' ', '\n'])
        .filter(|word| !word.is_empty())
        .map(move |word| (look, word))
}

/// Lines of words, none longer than `width`; a word that is longer is broken.
fn wrap<'a>(words: impl Iterator<Item = StyledWord<'a>>, width: usize) -> Vec<Vec<StyledWord<'a>>> {
    let mut lines = vec![Vec::new()];
    let mut used = 0;
    let mut put = |used: &mut usize, look, piece: &'a str| {
        let length = columns(piece);
        if *used > 0 && *used + 1 + length > width {
            lines.push(Vec::new());
            *used = 0;
        }
        *used += length + usize::from(*used > 0);
        if let Some(line) = lines.last_mut() {
            line.push((look, piece));
        }
    };
    let words = words.flat_map(|(look, word)| {
        // A word that is wider than the line is broken at its no-break spaces.
        let fits = columns(word) <= width;
        let pieces = word.split(move |character| !fits && NO_BREAK.contains(character));
        pieces.map(move |piece| (look, piece))
    });
    for (look, word) in words {
        let mut rest = word;
        while columns(rest) > width {
            let (piece, after) = split(rest, width);
            put(&mut used, look, piece);
            rest = after;
        }
        put(&mut used, look, rest);
    }
    lines
}

const WIDEST: usize = 80;
const NARROWEST: usize = 40;
/// Where the third column begins.
const MARGIN: usize = 21;
/// The no-break space.
pub(super) const NO_BREAK: &str = "\u{a0}";

#[cfg(test)]
mod tests {
    use super::*;

    fn written(width: usize, colors: bool) -> String {
        let mut printer = Printer::new(Vec::new(), width, colors);
        let long = "word ".repeat(40) + &"x".repeat(200) + &"日本語".repeat(40);
        printer.paragraph(Look::Faint, &long).unwrap();
        printer.step(7, "A step", &long).unwrap();
        printer
            .say(
                Speaker::Tools,
                "1 → 18",
                &[(Look::Fresh, "+\u{a0}one"), (Look::Gone, &long)],
            )
            .unwrap();
        printer
            .show(
                Speaker::Tabmux,
                "12 ms",
                "uid=1_1 a\n\n  uid=1_2 b\nthree\nfour",
                2,
            )
            .unwrap();
        printer.bars(&[("tab focused".into(), 70)]).unwrap();
        String::from_utf8(printer.out).unwrap()
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in [40, 60, 80, 200] {
            for line in written(width, false).lines() {
                assert!(columns(line) <= width.min(80), "{width}: {line}");
            }
        }
    }

    #[test]
    fn without_colors_there_are_no_escape_codes() {
        assert!(!written(80, false).contains('\x1b'));
        assert!(written(80, true).contains("\x1b[35mtabmux"));
    }

    #[test]
    fn long_texts_are_cut_and_the_rest_is_counted() {
        let text = written(80, false);
        assert!(text.contains("     tabmux   12 ms  uid=1_1 a\n"), "{text}");
        assert!(
            text.contains("                       uid=1_2 b\n"),
            "{text}"
        );
        assert!(text.contains("… and 2 more lines"), "{text}");
        assert!(!text.contains("three"));
    }

    #[test]
    fn times_are_short_and_honest() {
        assert_eq!(format_duration(Duration::from_micros(5_240)), "5.2 ms");
        assert_eq!(format_duration(Duration::from_millis(412)), "412 ms");
        assert_eq!(format_duration(Duration::from_millis(12_340)), "12.3 s");
    }
}
