//! The user's config file, `tabmux.toml`: flags of `tabmux mcp` and `tabmux daemon run` that apply without being written
//! on the command line.
//!
//! - `file`: where the file is, whether it may be trusted, and its tables.
//! - `settings`: the settings of one table, as words of a command line.
//! - `precedence`: which settings apply beside the flags that were given.
//! - `refusal`: what is said of settings that the parser of the command line refuses.
//! - `fuzzing`: properties that hold for any file, checked by `fuzz/` and by tests.
//!
//! The settings become words of the command line, so they have the names, checks and errors of the flags. The order is:
//! flags, `TABMUX_*` variables, the profile, the table of the command. Nothing is read from the working directory.

mod file;
mod precedence;
mod refusal;
mod settings;

#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;

pub use file::{ConfigError, ConfigFile, usual_path};
pub use precedence::Effective;
pub use settings::Setting;

use clap::error::ErrorKind;
use clap::{ArgMatches, Command};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// A command whose flags may be in the file.
#[derive(Clone, Copy, Debug)]
pub struct Configurable {
    /// The names of the subcommands that lead to it.
    pub path: &'static [&'static str],
    /// The table with its flags.
    pub table: &'static str,
    /// Flags that cannot be in the file, with the reason.
    pub refused: &'static [(&'static str, &'static str)],
}

/// `tabmux mcp`.
pub const MCP: Configurable = Configurable {
    path: &["mcp"],
    table: "mcp",
    refused: &[
        SOCKET,
        PORT,
        ("config", "the file cannot name another one"),
        (
            "profile",
            "write it on the command line, or set TABMUX_PROFILE",
        ),
    ],
};

/// `tabmux serve`, whose clients have the flags of `tabmux mcp`.
pub const SERVE: Configurable = Configurable {
    path: &["serve"],
    ..MCP
};

/// `tabmux daemon run`.
pub const DAEMON: Configurable = Configurable {
    path: &["daemon", "run"],
    table: "daemon",
    refused: &[SOCKET, PORT, ("config", "the file cannot name another one")],
};

const SOCKET: (&str, &str) = (
    "socket",
    "all commands of tabmux must use the same one; set TABMUX_SOCKET instead",
);
const PORT: (&str, &str) = (
    "port",
    "pages and the extension must know it, too; set TABMUX_PORT instead",
);

/// Adds the settings of the file to the words of a command line. `off` names switches that it turns off.
///
/// # Errors
/// When the file is wrong, or its settings do not fit the flags.
pub fn complete(
    parser: impl FnOnce() -> Command,
    configurable: Configurable,
    words: Vec<OsString>,
    off: &[&str],
) -> Result<Vec<OsString>, clap::Error> {
    if !is_wanted(&words) {
        return Ok(words);
    }
    let mut command = parser();
    command.build();
    let given = command
        .clone()
        .ignore_errors(true)
        .try_get_matches_from(&words)?;
    let Some(given) = below(&given, configurable.path) else {
        return Ok(words);
    };
    let named: Option<&PathBuf> = given.try_get_one("config").ok().flatten();
    let profile: Option<&String> = given.try_get_one("profile").ok().flatten();
    let invalid = |why: String| command.clone().error(ErrorKind::InvalidValue, why);
    let file = ConfigFile::read(named.cloned()).map_err(|error| invalid(error.to_string()))?;
    let Some(target) = command_below(&command, configurable.path) else {
        return Ok(words);
    };
    let effective = Effective::of(&file, configurable, profile.map(String::as_str), target)
        .and_then(|effective| effective.beside(given, off, target))
        .map_err(|error| invalid(error.to_string()))?;
    let mut all = words.clone();
    let at = (configurable.path.len() + 1).min(all.len());
    all.splice(at..at, effective.words());
    if let Err(error) = command.clone().try_get_matches_from(&all) {
        // What is wrong without the file is not the file's fault.
        command.clone().try_get_matches_from(&words)?;
        return Err(invalid(effective.refusal(&file, error).to_string()));
    }
    Ok(all)
}

/// Whether there may be a file. Most users have none, and a client is waiting.
fn is_wanted(words: &[OsString]) -> bool {
    let names_it = |word: &OsString| {
        let text = word.to_string_lossy();
        ["--config", "--profile"]
            .iter()
            .any(|flag| text.strip_prefix(flag).is_some_and(is_end_of_flag))
    };
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    usual_path().is_some_and(|path| path.symlink_metadata().is_ok())
        || is_set("TABMUX_CONFIG")
        || is_set("TABMUX_PROFILE")
        || words.iter().any(names_it)
}

fn is_end_of_flag(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('=')
}

fn below<'a>(matches: &'a ArgMatches, path: &[&str]) -> Option<&'a ArgMatches> {
    path.iter()
        .try_fold(matches, |matches, name| matches.subcommand_matches(name))
}

/// The command below this one with these names.
pub fn command_below<'a>(command: &'a Command, path: &[&str]) -> Option<&'a Command> {
    path.iter().try_fold(command, |command, name| {
        command.find_subcommand(OsStr::new(name))
    })
}

#[cfg(test)]
mod tests;
