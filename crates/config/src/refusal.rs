//! What is said of settings that the parser of the command line refuses: where they are, on one line, without secrets.

use super::file::{ConfigError, ConfigFile, MOST_SHOWN, Position};
use super::{Configurable, Effective, Setting};
use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, Command};
use std::ffi::OsString;
use tabmux_text::one_line;

impl Effective {
    /// What the parser reads from the settings.
    ///
    /// # Errors
    /// When it refuses them.
    pub fn parsed(
        &self,
        file: &ConfigFile,
        configurable: Configurable,
        parser: &mut Command,
    ) -> Result<ArgMatches, ConfigError> {
        let own = ["tabmux"].iter().chain(configurable.path);
        let words = own.map(OsString::from).chain(self.words());
        let parsed = parser.try_get_matches_from_mut(words);
        parsed.map_err(|error| self.refusal(file, error))
    }

    /// Why the parser refuses the settings.
    pub(super) fn refusal(&self, file: &ConfigFile, error: clap::Error) -> ConfigError {
        let named = [ContextKind::InvalidArg, ContextKind::PriorArg];
        let named = named.into_iter().find_map(|kind| match error.get(kind) {
            Some(ContextValue::String(arg)) => self.setting_of(arg),
            _ => None,
        });
        let position = named.map_or_else(|| self.tables(), |setting| Position::Line(setting.line));
        file.error(position, first_sentence(error, named))
    }

    /// The setting of a flag, as clap writes it: `--tools <TOOLS>`.
    fn setting_of(&self, arg: &str) -> Option<&Setting> {
        let flag = arg.strip_prefix("--")?.split([' ', '=']).next()?;
        self.settings.iter().find(|setting| setting.flag == flag)
    }

    fn tables(&self) -> Position {
        let mut tables: Vec<_> = self.settings.iter().map(|it| &it.table).collect();
        tables.dedup();
        let tables = tables.into_iter().map(|name| one_line(name, MOST_SHOWN));
        let tables: Vec<_> = tables.map(|name| format!("[{name}]")).collect();
        match tables.is_empty() {
            true => Position::File,
            false => Position::Tables(tables.join(", ")),
        }
    }
}

/// What clap says, without the usage of the command line.
fn first_sentence(mut error: clap::Error, about: Option<&Setting>) -> String {
    if let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue) {
        let value = match about.is_some_and(Setting::may_hold_secrets) {
            true => "…".to_owned(),
            false => one_line(value, MOST_SHOWN),
        };
        error.insert(ContextKind::InvalidValue, ContextValue::String(value));
    }
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let lines: Vec<_> = text.lines().take_while(|line| !line.is_empty()).collect();
    one_line(&lines.join(" "), MOST_SAID)
}

/// So many characters have the longest lists of possible values.
const MOST_SAID: usize = 500;
