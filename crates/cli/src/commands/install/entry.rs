//! The entry itself, how to recognise ours, and why a config is not changed.

use std::path::Path;

/// The entry to add to a config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// The path of this program.
    pub(crate) command: String,
    /// The arguments after `mcp`.
    pub(crate) more: Vec<String>,
}

impl Entry {
    /// The whole argument list.
    pub(crate) fn arguments(&self) -> Vec<&str> {
        let more = self.more.iter().map(String::as_str);
        std::iter::once("mcp").chain(more).collect()
    }

    /// Whether the command and the arguments of our entry must change. Arguments that the user
    /// added are kept, unless the command line gives others.
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

/// Whether an entry runs tabmux, from this path or an earlier one.
pub(crate) fn is_ours(command: &str, arguments: &[String], own_path: &str) -> bool {
    let is_tabmux = Path::new(command)
        .file_name()
        .is_some_and(|name| name == "tabmux");
    let is_mcp = arguments.first().is_some_and(|first| first == "mcp");
    (is_tabmux || command == own_path) && is_mcp
}

/// Why a config is not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It cannot be parsed.
    Unreadable { format: &'static str, why: String },
    /// The value that should hold the servers has another type.
    WrongShape { what: String },
    /// Another server has the name.
    Taken,
}

impl Refusal {
    pub(crate) fn sentence(&self, path: &Path, name: &str) -> String {
        let path = path.display();
        match self {
            Self::Unreadable { format, why } => format!(
                "{path} is not valid {format} ({why}), so it was not changed. Fix it, then run this again."
            ),
            Self::WrongShape { what } => format!(
                "{what} in {path} has the wrong type, so the file was not changed. Fix it, then run this \
                 again."
            ),
            Self::Taken => format!(
                "{path} already has another server named `{name}`, so it was not changed. Choose \
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
    fn arguments_that_the_user_added_stay_unless_others_are_given() {
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
