//! The settings of one table, as words of a command line.

use super::file::{ConfigError, ConfigFile, MOST_SHOWN};
use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, Command};
use std::any::TypeId;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use tabmux_text::one_line;
use toml_edit::{Item, Key, Table, Value};

/// One line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// clap's name of the flag.
    pub id: String,
    /// The flag, without hyphens.
    pub flag: String,
    /// What it adds to the command line; nothing if it turns a switch off.
    pub words: Vec<OsString>,
    /// The values, as they are shown.
    pub values: Vec<String>,
    /// The table that it is in.
    pub table: String,
    /// Counted from 1.
    pub line: usize,
}

impl Setting {
    /// Whether its values may have passwords or tokens in them.
    pub(super) fn may_hold_secrets(&self) -> bool {
        ["browserUrl", "wsEndpoint", "wsHeaders", "proxyServer"].contains(&self.flag.as_str())
    }
}

/// The settings of a table.
pub(super) struct Reader<'a> {
    pub(super) file: &'a ConfigFile,
    pub(super) command: &'a Command,
    /// Flags that cannot be in the file, with the reason.
    pub(super) refused: &'a [(&'a str, &'a str)],
}

impl Reader<'_> {
    pub(super) fn settings(&self, name: &str, table: &Table) -> Result<Vec<Setting>, ConfigError> {
        let mut settings: Vec<Setting> = Vec::new();
        for (key, item) in table.iter() {
            let span = table.key(key).and_then(Key::span);
            let error = |why| self.file.error_at(span.clone(), why);
            let setting = self.setting(name, key, item, span.clone()).map_err(error)?;
            if let Some(before) = settings.iter().find(|before| before.id == setting.id) {
                let why = format!("`{key}` is already set in line {}", before.line);
                return Err(error(why));
            }
            settings.push(setting);
        }
        Ok(settings)
    }

    fn setting(
        &self,
        table: &str,
        key: &str,
        item: &Item,
        span: Option<Range<usize>>,
    ) -> Result<Setting, String> {
        let arg = self.flag(table, key)?;
        let flag = arg.get_long().unwrap_or(key).to_owned();
        let value = item
            .as_value()
            .ok_or_else(|| format!("`{key}` has a value, not a table of its own"))?;
        let values = self.values(key, arg, value)?;
        let is_switch = matches!(arg.get_action(), ArgAction::SetTrue);
        let words = match is_switch {
            true if values == ["true"] => vec![OsString::from(format!("--{flag}"))],
            true => Vec::new(),
            false => values
                .iter()
                .map(|value| format!("--{flag}={value}").into())
                .collect(),
        };
        Ok(Setting {
            id: arg.get_id().to_string(),
            flag,
            words,
            values,
            table: table.to_owned(),
            line: span.map_or(0, |span| self.file.line_of(&span)),
        })
    }

    /// The flag with this name, in one of its spellings.
    fn flag(&self, table: &str, key: &str) -> Result<&Arg, String> {
        let flags = || {
            let all = self.command.get_arguments();
            all.filter(|arg| {
                arg.get_long()
                    .is_some_and(|long| !MEANINGLESS.contains(&long))
            })
        };
        let is_it = |arg: &&Arg| {
            let aliases = arg.get_all_aliases().unwrap_or_default();
            arg.get_long() == Some(key) || aliases.contains(&key)
        };
        if let Some(arg) = flags().find(is_it) {
            let name = arg.get_long().unwrap_or(key);
            let refused = self.refused.iter().find(|(refused, _)| *refused == name);
            return match refused {
                Some((_, why)) => Err(format!("`{key}` cannot be set here: {why}")),
                None => Ok(arg),
            };
        }
        let key = &one_line(key, MOST_SHOWN);
        let names = flags().filter_map(Arg::get_long);
        let near = names
            .map(|name| (strsim::jaro_winkler(name, key), name))
            .filter(|(likeness, _)| *likeness > 0.8)
            .max_by(|(one, _), (other, _)| one.total_cmp(other));
        let hint = match near {
            Some((_, name)) => format!("did you mean `{name}`?"),
            None => format!(
                "the settings are the flags of `{}`, without hyphens before them",
                self.command.get_bin_name().unwrap_or("tabmux")
            ),
        };
        let table = one_line(table, MOST_SHOWN);
        Err(format!("there is no setting `{key}` in [{table}]; {hint}"))
    }

    fn values(&self, key: &str, arg: &Arg, value: &Value) -> Result<Vec<String>, String> {
        let given: Vec<&Value> = match value {
            Value::Array(array) => array.iter().collect(),
            value => vec![value],
        };
        if given.is_empty() {
            return Err(format!("`{key}` is an empty list; leave it out"));
        }
        let values = given.into_iter().map(|value| self.value(key, arg, value));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        if values.len() == 1 && !value.is_array() {
            return Ok(values);
        }
        match (arg.get_action(), arg.get_value_delimiter()) {
            (ArgAction::Append, _) => Ok(values),
            (_, Some(delimiter)) => Ok(vec![values.join(&delimiter.to_string())]),
            _ => Err(format!("`{key}` has one value, not a list")),
        }
    }

    /// A value as it is written on the command line.
    fn value(&self, key: &str, arg: &Arg, value: &Value) -> Result<String, String> {
        let is_switch = matches!(arg.get_action(), ArgAction::SetTrue);
        match value {
            Value::Boolean(on) if is_switch => Ok(on.value().to_string()),
            _ if is_switch => Err(format!("`{key}` is true or false")),
            Value::Boolean(on) => Ok(spelling_of(*on.value(), arg)),
            Value::String(text) => Ok(self.placed(arg, text.value())),
            Value::Integer(number) => Ok(number.value().to_string()),
            Value::Float(number) => Ok(number.value().to_string()),
            _ => Err(format!("`{key}` is a text, a number, true or false")),
        }
    }

    /// A path is relative to the folder of the file, because clients start in any folder.
    fn placed(&self, arg: &Arg, text: &str) -> String {
        let value_type = arg.get_value_parser().type_id();
        let is_path = value_type == TypeId::of::<PathBuf>()
            || (value_type == TypeId::of::<OsString>() && !text.starts_with("exec:"));
        // A program without a folder is looked up in PATH.
        let is_program = arg.get_long() == Some("executablePath") && !text.contains('/');
        if !is_path || is_program {
            return text.to_owned();
        }
        let path = match (text.strip_prefix("~/"), std::env::var_os("HOME")) {
            (Some(rest), Some(home)) => Path::new(&home).join(rest),
            _ => match self.file.path.parent() {
                Some(folder) => folder.join(text),
                None => PathBuf::from(text),
            },
        };
        path.to_string_lossy().into_owned()
    }
}

/// Flags with two values are often `on` and `off`.
fn spelling_of(on: bool, arg: &Arg) -> String {
    let possible = arg.get_possible_values();
    let knows = |name: &str| {
        possible
            .iter()
            .any(|value| PossibleValue::matches(value, name, true))
    };
    match (on, knows("on") || knows("off")) {
        (true, true) => "on".to_owned(),
        (false, true) => "off".to_owned(),
        (on, false) if arg.get_long() == Some("generatedTools") && !on => "off".to_owned(),
        (on, false) => on.to_string(),
    }
}

/// Flags of every command.
const MEANINGLESS: [&str; 2] = ["help", "version"];
