//! Finds a Chrome, Chromium, Edge or Brave on this machine.

use std::env;
use std::path::{Path, PathBuf};

/// A release channel of Chrome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// The release that most people use.
    Stable,
    /// The next stable release.
    Beta,
    /// The release after that.
    Dev,
    /// The daily build.
    Canary,
}

/// Which browser to use: a path, a channel, or any.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// A given executable, which must exist.
    pub executable: Option<PathBuf>,
    /// A given channel of Chrome.
    pub channel: Option<Channel>,
}

/// Why no browser was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// The path that was given is no executable file.
    #[error("There is no browser at {path}. Check --executablePath.")]
    NotThere {
        /// The given path.
        path: String,
    },
    /// The channel that was given is not installed.
    #[error("Chrome {channel} is not installed. Install it, or leave --channel out.")]
    NoChannel {
        /// The channel's name.
        channel: &'static str,
    },
    /// No browser was found.
    #[error(
        "No Chrome, Chromium, Edge or Brave was found. Install one (on Debian: apt install \
         chromium), or name one with --executablePath or the CHROME_PATH variable."
    )]
    Nothing,
}

/// Finds the browser to launch: the flag first, then `CHROME_PATH`, then `PATH`, then the usual
/// folders.
pub fn find(wanted: &Wanted) -> Result<PathBuf, FindError> {
    if let Some(path) = &wanted.executable {
        return executable(path.clone())
            .or_else(|| on_path(path.to_str()?))
            .ok_or_else(|| FindError::NotThere {
                path: path.display().to_string(),
            });
    }
    if let Some(channel) = wanted.channel {
        return first(channel.commands(), channel.places()).ok_or_else(|| FindError::NoChannel {
            channel: channel.name(),
        });
    }
    env::var_os("CHROME_PATH")
        .map(PathBuf::from)
        .and_then(executable)
        .or_else(|| first(COMMANDS, PLACES))
        .ok_or(FindError::Nothing)
}

impl Channel {
    /// Reads the value of `--channel`.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Stable, Self::Beta, Self::Dev, Self::Canary]
            .into_iter()
            .find(|c| c.name() == name)
    }

    /// The name as `--channel` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Beta => "beta",
            Self::Dev => "dev",
            Self::Canary => "canary",
        }
    }

    fn commands(self) -> &'static [&'static str] {
        match self {
            Self::Stable => &["google-chrome-stable", "google-chrome"],
            Self::Beta => &["google-chrome-beta"],
            Self::Dev => &["google-chrome-unstable"],
            Self::Canary => &["google-chrome-canary"],
        }
    }

    fn places(self) -> &'static [&'static str] {
        match self {
            Self::Stable => &[
                "/opt/google/chrome/chrome",
                "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
            ],
            Self::Beta => &[
                "/opt/google/chrome-beta/chrome",
                "/Applications/Google Chrome Beta.app/Contents/MacOS/Google Chrome Beta",
            ],
            Self::Dev => &[
                "/opt/google/chrome-unstable/chrome",
                "/Applications/Google Chrome Dev.app/Contents/MacOS/Google Chrome Dev",
            ],
            Self::Canary => &[
                "/opt/google/chrome-canary/chrome",
                "/Applications/Google Chrome Canary.app/Contents/MacOS/Google Chrome Canary",
            ],
        }
    }
}

fn first(commands: &[&str], places: &[&str]) -> Option<PathBuf> {
    commands.iter().find_map(|name| on_path(name)).or_else(|| {
        places
            .iter()
            .find_map(|place| executable(PathBuf::from(place)))
    })
}

fn on_path(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return None;
    }
    env::split_paths(&env::var_os("PATH")?).find_map(|dir| executable(dir.join(name)))
}

fn executable(path: PathBuf) -> Option<PathBuf> {
    is_executable(&path).then_some(path)
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|meta| tabmux_platform::files::is_executable(&meta))
}

const COMMANDS: &[&str] = &[
    "google-chrome-stable",
    "google-chrome",
    "chromium",
    "chromium-browser",
    "chrome",
    "microsoft-edge-stable",
    "microsoft-edge",
    "brave-browser",
    "brave",
];

const PLACES: &[&str] = &[
    "/opt/google/chrome/chrome",
    "/snap/bin/chromium",
    "/opt/microsoft/msedge/msedge",
    "/opt/brave.com/brave/brave",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "/Applications/Brave Browser.app/Contents/MacOS/Brave Browser",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_path_is_named_not_replaced() {
        let wanted = Wanted {
            executable: Some("/nowhere/chrome".into()),
            channel: None,
        };
        let error = find(&wanted).unwrap_err();
        assert_eq!(
            error.to_string(),
            "There is no browser at /nowhere/chrome. Check --executablePath."
        );
    }

    #[test]
    fn a_file_that_is_not_executable_is_not_a_browser() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let wanted = Wanted {
            executable: Some(file.path().into()),
            channel: None,
        };
        assert!(matches!(find(&wanted), Err(FindError::NotThere { .. })));
    }

    #[test]
    fn channels_have_names() {
        assert_eq!(Channel::parse("beta"), Some(Channel::Beta));
        assert_eq!(Channel::parse("nightly"), None);
    }
}
