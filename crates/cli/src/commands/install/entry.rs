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

    /// What must change in our entry, or `None`. Arguments that the user added are kept, unless the command line gives
    /// others; a package runner is replaced by the program itself.
    pub(crate) fn change(&self, command: &str, arguments: &[String]) -> Option<Change> {
        let of_tabmux = without_runner(command, arguments).unwrap_or(arguments);
        let wanted: Vec<String> = match self.more.is_empty() {
            true => of_tabmux.to_vec(),
            false => self.arguments().into_iter().map(str::to_owned).collect(),
        };
        let change = Change {
            command: self.command != command,
            arguments: (wanted != arguments).then_some(wanted),
        };
        (change.command || change.arguments.is_some()).then_some(change)
    }
}

/// What must change in an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// Whether the command is another one.
    pub(crate) command: bool,
    /// All arguments, if they are others.
    pub(crate) arguments: Option<Vec<String>>,
}

/// An entry of ours in a config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) name: String,
    /// The program that it runs.
    pub(crate) program: String,
}

/// Whether an entry runs tabmux: from this path, an earlier one, or by a package runner.
pub(crate) fn is_ours(command: &str, arguments: &[String], own_path: &str) -> bool {
    let is_program = file_name(command) == "tabmux" || command == own_path;
    let of_tabmux = match is_program {
        true => Some(arguments),
        false => without_runner(command, arguments),
    };
    of_tabmux.is_some_and(|arguments| arguments.first().is_some_and(|first| first == "mcp"))
}

/// The arguments of tabmux in `npx -y tabmux mcp`, `uvx tabmux@latest mcp`, `pnpm dlx tabmux mcp` and the like.
fn without_runner<'a>(command: &str, arguments: &'a [String]) -> Option<&'a [String]> {
    let words: &[&str] = match file_name(command) {
        "npx" | "bunx" | "uvx" => &[],
        "pnpm" | "yarn" => &["dlx"],
        "bun" => &["x"],
        "pipx" => &["run"],
        "uv" => &["tool", "run"],
        _ => return None,
    };
    let (first, rest) = arguments.split_at_checked(words.len())?;
    let package = rest.iter().position(|word| !word.starts_with('-'))?;
    let (name, _) = rest[package]
        .split_once('@')
        .unwrap_or((&rest[package], ""));
    (first == words && name == "tabmux").then(|| &rest[package + 1..])
}

fn file_name(command: &str) -> &str {
    let name = Path::new(command).file_name();
    name.and_then(|name| name.to_str()).unwrap_or_default()
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
    fn what_a_package_runner_starts_is_ours_if_it_is_tabmux() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for line in [
            "npx -y tabmux mcp",
            "/usr/bin/npx --yes tabmux@latest mcp --headless",
            "uvx tabmux@0.1.0 mcp",
            "uv tool run tabmux mcp",
            "pnpm dlx tabmux mcp",
            "bun x tabmux mcp",
        ] {
            let words = words(line);
            assert!(is_ours(&words[0], &words[1..], "/new/tabmux"), "{line}");
        }
        for line in [
            "npx -y other mcp",
            "npx -y @tabmux/page mcp",
            "npx tabmux demo",
            "pnpm add tabmux mcp",
            "node tabmux mcp",
            "uv",
        ] {
            let words = words(line);
            assert!(!is_ours(&words[0], &words[1..], "/new/tabmux"), "{line}");
        }
    }

    #[test]
    fn arguments_that_the_user_added_stay_unless_others_are_given() {
        let mut entry = Entry {
            name: "browser".into(),
            command: "/t".into(),
            more: vec![],
        };
        let theirs = ["mcp".to_owned(), "--headless".to_owned()];
        let change = |command, arguments: Option<&[&str]>| {
            let arguments = arguments.map(|all| all.iter().map(|&one| one.to_owned()).collect());
            Some(Change { command, arguments })
        };
        assert_eq!(entry.change("/t", &theirs), None);
        assert_eq!(entry.change("/old", &theirs), change(true, None));
        let by_runner = ["-y", "tabmux", "mcp", "--headless"].map(str::to_owned);
        let without = ["mcp", "--headless"];
        assert_eq!(
            entry.change("npx", &by_runner),
            change(true, Some(&without))
        );
        entry.more = vec!["--isolated".into()];
        let others = ["mcp", "--isolated"];
        assert_eq!(entry.change("/t", &theirs), change(false, Some(&others)));
    }
}
