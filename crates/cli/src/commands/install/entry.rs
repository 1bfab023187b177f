//! The entry itself, how ours is told from others', and why a config is left as it is.

use std::path::Path;

/// What is put into a config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Under which name.
    pub(crate) name: String,
    /// This program.
    pub(crate) command: String,
    /// What follows `mcp`.
    pub(crate) more: Vec<String>,
}

impl Entry {
    /// The whole argument list.
    pub(crate) fn arguments(&self) -> Vec<&str> {
        let more = self.more.iter().map(String::as_str);
        std::iter::once("mcp").chain(more).collect()
    }

    /// Which of an entry of ours must change: its command, its arguments. Arguments that somebody
    /// added stay, unless others are asked for.
    pub(crate) fn differs(&self, command: &str, arguments: &[String]) -> (bool, bool) {
        let other_arguments = !self.more.is_empty() && self.arguments() != arguments;
        (self.command != command, other_arguments)
    }
}

/// An entry of ours in a config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) name: String,
    /// The program that it runs.
    pub(crate) program: String,
}

/// Whether an entry runs tabmux, here or wherever it was before.
pub(crate) fn is_ours(command: &str, arguments: &[String], own_path: &str) -> bool {
    let is_tabmux = Path::new(command)
        .file_name()
        .is_some_and(|name| name == "tabmux");
    let is_mcp = arguments.first().is_some_and(|first| first == "mcp");
    (is_tabmux || command == own_path) && is_mcp
}

/// Why a config is left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It cannot be understood.
    Unreadable { format: &'static str, why: String },
    /// What should hold the servers is something else.
    WrongShape { what: String },
    /// The name is taken by another server.
    Taken,
}

impl Refusal {
    pub(crate) fn sentence(&self, path: &Path, name: &str) -> String {
        let path = path.display();
        match self {
            Self::Unreadable { format, why } => format!(
                "{path} is not valid {format} ({why}), so it was left as it is. Mend it, then run \
                 this again."
            ),
            Self::WrongShape { what } => format!(
                "{what} in {path} is not what it should be, so the file was left as it is. Mend it, \
                 then run this again."
            ),
            Self::Taken => format!(
                "{path} already has another server named `{name}`, so it was left as it is. Choose \
                 another name with --name."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_is_what_runs_tabmux_mcp() {
        let mcp = ["mcp".to_owned(), "--headless".to_owned()];
        assert!(is_ours("/old/place/tabmux", &mcp, "/new/tabmux"));
        assert!(is_ours("/new/tabmux-dev", &mcp, "/new/tabmux-dev"));
        assert!(!is_ours("npx", &mcp, "/new/tabmux"));
        assert!(!is_ours("/new/tabmux", &[], "/new/tabmux"));
    }

    #[test]
    fn arguments_that_somebody_added_stay_unless_others_are_asked_for() {
        let mut entry = Entry {
            name: "browser".into(),
            command: "/t".into(),
            more: vec![],
        };
        let theirs = ["mcp".to_owned(), "--headless".to_owned()];
        assert_eq!(entry.differs("/t", &theirs), (false, false));
        assert_eq!(entry.differs("/old", &theirs), (true, false));
        entry.more = vec!["--isolated".into()];
        assert_eq!(entry.differs("/t", &theirs), (false, true));
    }
}
