//! Properties that hold for any config file. `fuzz/` runs them with generated input, tests with stored input.

use super::{ConfigError, ConfigFile, Configurable, Effective, Setting, command_below};
use clap::{ArgAction, ArgMatches, Command};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// The user's file has these contents, and a command reads them.
///
/// # Panics
/// If a setting does not become the value of its flag, or a refusal is too long, names no place or repeats a secret.
pub fn config_file(data: &[u8], configurable: Configurable, parser: fn() -> Command) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let file = match ConfigFile::parse(PathBuf::from(PATH), text.to_owned(), true) {
        Ok(file) => file,
        Err(error) => return is_refusal(&error, &[]),
    };
    with_parser(configurable, parser, |parser| {
        let profiles = file.profiles().take(MOST_PROFILES);
        let profiles = profiles.map(|(name, _)| Some(name));
        for profile in std::iter::once(None).chain(profiles) {
            settings(&file, configurable, profile, parser);
        }
    });
}

/// The settings are accepted and mean what the file says, or they are refused.
fn settings(
    file: &ConfigFile,
    configurable: Configurable,
    profile: Option<&str>,
    parser: &mut Command,
) {
    let command = command_below(parser, configurable.path).expect("the command exists");
    let effective = match Effective::of(file, configurable, profile, command) {
        Ok(effective) => effective,
        Err(error) => return is_refusal(&error, &[]),
    };
    let delimiters = effective.settings.iter().map(|setting| {
        let arg = command
            .get_arguments()
            .find(|arg| *arg.get_id() == setting.id);
        let arg = arg.expect("a setting has a flag");
        assert!(setting.line > 0, "{setting:?}");
        (!matches!(arg.get_action(), ArgAction::SetTrue)).then(|| arg.get_value_delimiter())
    });
    let delimiters: Vec<_> = delimiters.collect();
    match effective.parsed(file, configurable, parser) {
        Err(error) => is_refusal(&error, &effective.settings),
        Ok(matches) => {
            let of_command = configurable
                .path
                .iter()
                .try_fold(&matches, |matches, name| matches.subcommand_matches(name));
            let of_command = of_command.expect("the words name the command");
            for (setting, delimiter) in effective.settings.iter().zip(delimiters) {
                has_its_values(setting, delimiter, of_command);
            }
        }
    }
}

/// `delimiter` is `None` for a switch; inside, it is what separates values in one word.
fn has_its_values(setting: &Setting, delimiter: Option<Option<char>>, matches: &ArgMatches) {
    let Some(delimiter) = delimiter else {
        let on = setting.values == ["true"];
        assert_eq!(matches.get_flag(&setting.id), on, "{setting:?}");
        return;
    };
    let read: Vec<_> = matches.get_raw(&setting.id).into_iter().flatten().collect();
    let split = |value: &String| match delimiter {
        Some(delimiter) => value.split(delimiter).map(OsString::from).collect(),
        None => vec![value.into()],
    };
    let given: Vec<OsString> = setting.values.iter().flat_map(split).collect();
    assert_eq!(read, given, "{setting:?}");
}

/// One line of bounded length that names a place, and no secret of these settings.
fn is_refusal(error: &ConfigError, settings: &[Setting]) {
    let said = error.to_string();
    assert!(said.len() <= MOST_BYTES, "a long refusal: {said}");
    assert!(!said.contains(char::is_control), "{said:?}");
    let rest = said.strip_prefix(PATH).expect("a refusal names the file");
    let place = rest.split(": ").next().unwrap_or_default();
    let is_line = place
        .strip_prefix(", line ")
        .is_some_and(|line| line != "0");
    assert!(is_line || place.starts_with(", ["), "no place: {said}");
    let (secret, public): (Vec<_>, Vec<_>) = settings.iter().partition(|it| it.may_hold_secrets());
    for value in secret.iter().flat_map(|setting| &setting.values) {
        let is_elsewhere = public
            .iter()
            .flat_map(|it| &it.values)
            .any(|it| it.contains(value));
        let is_secret = value.len() >= SHORTEST_SECRET && !is_elsewhere;
        assert!(!is_secret || !said.contains(value), "{value}: {said}");
    }
}

/// Runs `work` with the parser, which takes longer to make than to use.
fn with_parser(configurable: Configurable, make: fn() -> Command, work: impl FnOnce(&mut Command)) {
    thread_local! {
        static MADE: RefCell<BTreeMap<&'static [&'static str], Command>> = RefCell::default();
    }
    MADE.with_borrow_mut(|made| {
        let parser = made.entry(configurable.path).or_insert_with(|| {
            let mut parser = make();
            parser.build();
            parser
        });
        work(parser);
    });
}

const PATH: &str = "/home/me/tabmux.toml";
/// A longer refusal hides what is wrong.
const MOST_BYTES: usize = 1_000;
/// Shorter values are parts of other words by chance.
const SHORTEST_SECRET: usize = 12;
/// More of them take long, and are alike.
const MOST_PROFILES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use tabmux_testkit::play_corpus;

    #[test]
    fn config_files_are_read_or_refused_in_a_sentence() {
        let parser = tabmux_stdio_proxy::Args::parser;
        play_corpus("config_file", |data| {
            config_file(data, crate::MCP, parser);
        });
    }
}
