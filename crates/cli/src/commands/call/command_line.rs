//! Splits a command line into tabmux's own flags and the arguments of the tool.

use super::arguments::{Flag, Given, Takes};
use clap::{ArgAction, Command};
use std::ffi::{OsStr, OsString};

/// The parts of a command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    /// Flags for the session, the browser and the output.
    pub(super) own: Vec<OsString>,
    /// Flags for the tool.
    pub(super) given: Vec<Given>,
    /// Words that are not flags.
    pub(super) plain: Vec<String>,
    /// Whether the help of the tool is requested.
    pub(super) help: bool,
}

/// How many of these words come before the name of the tool: tabmux's own flags with their values.
pub(super) fn before_tool(words: &[OsString], own: &Command) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match own_flag(own, word) {
            Some(takes_next) => at += 1 + usize::from(takes_next),
            // clap reports an unknown flag later.
            None if is_flag(word) => at += 1,
            None => break,
        }
    }
    at.min(words.len())
}

/// Splits what comes after the name of the tool. A flag is the tool's if it has such an argument; other flags may be
/// tabmux's own.
pub(super) fn split(words: &[OsString], takes: Option<&Takes<'_>>, own: &Command) -> Parts {
    let mut parts = Parts::default();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if text == "--" {
            parts.plain.extend(words.by_ref().map(lossy));
            break;
        }
        if !is_flag(word) {
            parts.plain.push(text.into_owned());
            continue;
        }
        let (name, value) = match text.trim_start_matches('-').split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (text.trim_start_matches('-').to_owned(), None),
        };
        let is_long = text.starts_with("--");
        let for_tool = takes
            .and_then(|takes| takes.flag(&name))
            .filter(|_| is_long);
        let own_flag = own_flag(own, word);
        match (for_tool, own_flag) {
            (None, _) if text == "--help" || text == "-h" => parts.help = true,
            (None, Some(takes_next)) => {
                parts.own.push(word.clone());
                if takes_next {
                    parts.own.extend(words.next().cloned());
                }
            }
            (flag, _) => {
                let fits = |next: &&OsString| match flag {
                    Some(Flag::Switch) => *next == "true" || *next == "false",
                    Some(Flag::Valued) => !lossy(next).starts_with("--"),
                    None => !is_flag(next),
                };
                let value = value.or_else(|| words.next_if(fits).map(lossy));
                parts.given.push(Given { name, value });
            }
        }
    }
    parts
}

/// `Some` if a word is one of tabmux's own flags, with whether the next word is its value.
fn own_flag(own: &Command, word: &OsStr) -> Option<bool> {
    let text = word.to_string_lossy();
    let (name, is_long) = match (text.strip_prefix("--"), text.strip_prefix('-')) {
        (Some(name), _) => (name, true),
        (None, Some(name)) => (name, false),
        (None, None) => return None,
    };
    let (name, has_value) = match name.split_once('=') {
        Some((name, _)) => (name, true),
        None => (name, false),
    };
    let is_named = |argument: &&clap::Arg| match is_long {
        true => {
            let aliases = argument.get_all_aliases().unwrap_or_default();
            argument.get_long() == Some(name) || aliases.contains(&name)
        }
        false => argument
            .get_short()
            .is_some_and(|short| name.starts_with(short)),
    };
    let argument = own.get_arguments().find(is_named)?;
    let takes_value = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    let is_separate = !has_value && (is_long || name.chars().count() == 1);
    Some(takes_value && is_separate && !argument.is_require_equals_set())
}

/// A single hyphen is not a flag, and neither is a negative number.
fn is_flag(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    let second = text.strip_prefix('-').and_then(|rest| rest.chars().next());
    second.is_some_and(|letter| !letter.is_ascii_digit())
}

fn lossy(word: &OsString) -> String {
    word.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Arg;
    use serde_json::{Map, Value, json};

    fn own() -> Command {
        let switch = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
        let valued = |name: &'static str| Arg::new(name).long(name).action(ArgAction::Set);
        Command::new("x")
            .args([switch("json"), switch("headless")])
            .args([valued("session"), valued("viewport").short('v')])
            .arg(valued("executablePath").alias("executable-path"))
    }

    fn schema() -> Map<String, Value> {
        let schema = json!({"properties": {
            "uid": {"type": "string"}, "dblClick": {"type": "boolean"}, "viewport": {"type": "string"},
            "x": {"type": "number"},
        }});
        schema.as_object().unwrap().clone()
    }

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    fn split_line(line: &str) -> (String, String, String) {
        let schema = schema();
        let takes = Takes::new("click", &schema);
        let parts = split(&words(line), Some(&takes), &own());
        let own: Vec<_> = parts.own.iter().map(lossy).collect();
        let given = parts.given.iter().map(|given| match &given.value {
            Some(value) => format!("{}={value}", given.name),
            None => given.name.clone(),
        });
        (
            given.collect::<Vec<_>>().join(" "),
            own.join(" "),
            parts.plain.join(" "),
        )
    }

    #[test]
    fn the_tool_comes_after_flags_and_their_values() {
        for (line, at) in [
            ("click --uid 1", 0),
            ("--json click", 1),
            ("--session work click", 2),
            ("--session=work -v 1x1 --executable-path /x click", 5),
            ("--unknown click", 1),
            ("--list", 1),
            ("--session", 1),
        ] {
            assert_eq!(before_tool(&words(line), &own()), at, "{line}");
        }
    }

    #[test]
    fn an_argument_of_the_tool_comes_before_a_flag_of_ours() {
        for (line, given, ours, plain) in [
            ("--uid 2_3 --json", "uid=2_3", "--json", ""),
            ("--uid=2_3 --session work", "uid=2_3", "--session work", ""),
            (
                "--viewport 1x1 --headless",
                "viewport=1x1",
                "--headless",
                "",
            ),
            ("--dblClick --uid 1", "dblClick uid=1", "", ""),
            ("--dbl-click false {}", "dbl-click=false", "", "{}"),
            ("--dblClick {}", "dblClick", "", "{}"),
            ("--x -5 -", "x=-5", "", "-"),
            ("--uid --json", "uid", "--json", ""),
            ("--what 1", "what=1", "", ""),
            ("--json -- --uid 1", "", "--json", "--uid 1"),
        ] {
            let expected = (given.to_owned(), ours.to_owned(), plain.to_owned());
            assert_eq!(split_line(line), expected, "{line}");
        }
    }

    #[test]
    fn help_is_asked_for_in_both_ways() {
        for line in ["--help", "--uid 1 -h"] {
            assert!(split(&words(line), None, &own()).help, "{line}");
        }
    }
}
