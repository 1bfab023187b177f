//! Which settings apply beside the flags that were given.

use super::Configurable;
use super::file::{ConfigError, ConfigFile, MOST_SHOWN};
use super::settings::{Reader, Setting};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use std::ffi::OsString;
use tabmux_text::one_line;

/// The settings that apply, those of the command before those of the profile.
#[derive(Clone, Debug, Default)]
pub struct Effective {
    /// In the order of the file.
    pub settings: Vec<Setting>,
}

/// A flag that a stronger source has.
struct Stronger {
    id: String,
    /// False if it only turns a switch off.
    is_on: bool,
}

impl Effective {
    /// What the file says for a command, with a profile.
    ///
    /// # Errors
    /// When a setting is wrong, or there is no such profile.
    pub fn of(
        file: &ConfigFile,
        configurable: Configurable,
        profile: Option<&str>,
        command: &Command,
    ) -> Result<Self, ConfigError> {
        let reader = Reader {
            file,
            command,
            refused: configurable.refused,
        };
        let mut layers = Vec::new();
        if let Some(table) = file.table(configurable.table) {
            layers.push(reader.settings(configurable.table, table)?);
        }
        if let Some(name) = profile {
            let Some((_, table)) = file.profiles().find(|(known, _)| *known == name) else {
                return Err(file.error_at(None, no_profile(file, name)));
            };
            layers.push(reader.settings(&format!("profiles.{name}"), table)?);
        }
        let mut stronger = Vec::new();
        let mut settings = Vec::new();
        for layer in layers.into_iter().rev() {
            let kept = kept_beside(layer, &stronger, command);
            stronger.extend(kept.iter().map(|setting| Stronger {
                id: setting.id.clone(),
                is_on: !setting.words.is_empty(),
            }));
            settings.splice(0..0, kept);
        }
        Ok(Self { settings })
    }

    /// Without what the command line or a variable decides. `off` names switches that the command line turns off.
    pub(super) fn beside(
        self,
        given: &ArgMatches,
        off: &[&str],
        command: &Command,
    ) -> Result<Self, ConfigError> {
        let written = given.ids().filter(|id| {
            let source = given.value_source(id.as_str());
            matches!(
                source,
                Some(ValueSource::CommandLine | ValueSource::EnvVariable)
            )
        });
        let written = written.map(|id| Stronger {
            id: id.to_string(),
            is_on: true,
        });
        let off = command
            .get_arguments()
            .filter(|arg| arg.get_long().is_some_and(|long| off.contains(&long)));
        let off = off.map(|arg| Stronger {
            id: arg.get_id().to_string(),
            is_on: false,
        });
        let stronger: Vec<_> = written.chain(off).collect();
        Ok(Self {
            settings: kept_beside(self.settings, &stronger, command),
        })
    }

    /// The words that the settings add to the command line.
    pub(super) fn words(&self) -> impl Iterator<Item = OsString> {
        self.settings
            .iter()
            .flat_map(|setting| setting.words.clone())
    }
}

fn kept_beside(settings: Vec<Setting>, stronger: &[Stronger], command: &Command) -> Vec<Setting> {
    let gives_way = |setting: &Setting| {
        stronger.iter().any(|stronger| {
            stronger.id == setting.id
                || (stronger.is_on && excludes(command, &stronger.id, &setting.id))
        })
    };
    settings
        .into_iter()
        .filter(|setting| !gives_way(setting))
        .collect()
}

/// Whether a flag leaves no room for another one.
fn excludes(command: &Command, stronger: &str, weaker: &str) -> bool {
    let find = |id: &str| command.get_arguments().find(|arg| arg.get_id() == id);
    let (Some(stronger), Some(weaker)) = (find(stronger), find(weaker)) else {
        return false;
    };
    let conflicts = |one: &Arg, other: &Arg| {
        let conflicts = command.get_arg_conflicts_with(one);
        conflicts.iter().any(|arg| arg.get_id() == other.get_id())
    };
    conflicts(stronger, weaker) || conflicts(weaker, stronger) || is_other_browser(stronger, weaker)
}

/// Whether the first chooses a browser, and the second chooses another one or belongs to another one.
fn is_other_browser(stronger: &Arg, weaker: &Arg) -> bool {
    let (stronger, weaker) = (
        stronger.get_long().unwrap_or_default(),
        weaker.get_long().unwrap_or_default(),
    );
    let chooses = |flag| ATTACHES.contains(&flag) || LAUNCHES.contains(&flag);
    let belongs = |flag| chooses(flag) || BELONGS.contains(&flag);
    let both_launch = LAUNCHES.contains(&stronger) && LAUNCHES.contains(&weaker);
    let is_persons = |one, other: &str| one == "extension" && SHAPES_LAUNCH.contains(&other);
    (chooses(stronger) && belongs(weaker) && !both_launch)
        || is_persons(stronger, weaker)
        || is_persons(weaker, stronger)
}

fn no_profile(file: &ConfigFile, name: &str) -> String {
    let shown = |name: &str| one_line(name, MOST_SHOWN);
    let name = shown(name);
    let names: Vec<_> = file.profiles().map(|(name, _)| shown(name)).collect();
    match names.is_empty() {
        true => format!("there is no profile `{name}`; write it as [profiles.{name}]"),
        false => format!(
            "there is no profile `{name}`; there are: {}",
            one_line(&names.join(", "), MOST_NAMES)
        ),
    }
}

/// So many characters of the names of profiles are listed.
const MOST_NAMES: usize = 150;

/// Flags that attach to a browser.
const ATTACHES: [&str; 4] = ["browserUrl", "wsEndpoint", "extension", "autoConnect"];
/// Flags that say which browser is launched, and with what content. They go together.
const LAUNCHES: [&str; 12] = [
    "isolated",
    "userDataDir",
    "executablePath",
    "channel",
    "proxyServer",
    "userAgent",
    "device",
    "initScript",
    "grantPermissions",
    "state",
    "storageState",
    "proxyBypass",
];
/// Flags that say how a browser is launched, so that none of them goes with a person's own browser.
const SHAPES_LAUNCH: [&str; 3] = ["headless", "chromeArg", "acceptInsecureCerts"];
/// Flags that belong to one of these.
const BELONGS: [&str; 3] = ["wsHeaders", "acceptInsecureEndpoint", "browser"];

/// All of these.
#[cfg(test)]
pub(super) fn browser_flags() -> impl Iterator<Item = &'static str> {
    ATTACHES
        .into_iter()
        .chain(LAUNCHES)
        .chain(BELONGS)
        .chain(SHAPES_LAUNCH)
}
