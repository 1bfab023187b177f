//! A running browser of this user that allows remote debugging, found in its profile.

use super::{Acquired, ConnectError, websocket};
use crate::dial;
use crate::files::FileThreads;
use crate::find::Channel;
use std::fs;
use std::path::{Path, PathBuf};

/// Which of this user's browsers to use; by default any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Running {
    /// The one with this profile.
    pub profile: Option<PathBuf>,
    /// A Chrome of this channel.
    pub channel: Option<Channel>,
}

/// Attaches to the first one that answers.
pub(super) async fn acquire(which: &Running) -> Result<Acquired, ConnectError> {
    let which = which.clone();
    let looking = move || running_browsers(&which);
    let running = FileThreads::new().run(looking).await;
    for endpoint in running.unwrap_or_default() {
        match websocket::acquire(&endpoint.into(), dial::FOUND_LIMIT).await {
            Ok(acquired) => return Ok(acquired),
            Err(error) => tracing::debug!(%error, "a profile names a browser that does not run"),
        }
    }
    Err(ConnectError::NoneRunning)
}

/// The websockets of this user's running browsers that allow remote debugging, read from their profiles. Entries may
/// be stale; ports are never probed.
fn running_browsers(which: &Running) -> Vec<String> {
    let folders = match &which.profile {
        Some(folder) => vec![folder.clone()],
        None => profile_folders(which.channel),
    };
    let endpoints = folders.iter().filter_map(|folder| endpoint_in(folder));
    endpoints.collect()
}

/// Chrome writes `DevToolsActivePort` into its profile: the port, then the websocket's path.
fn endpoint_in(profile: &Path) -> Option<String> {
    let text = fs::read_to_string(profile.join("DevToolsActivePort")).ok()?;
    let mut lines = text.lines();
    let port: u16 = lines.next()?.trim().parse().ok()?;
    let path = lines.next()?.trim();
    path.starts_with("/devtools/browser/")
        .then(|| format!("ws://127.0.0.1:{port}{path}"))
}

fn profile_folders(channel: Option<Channel>) -> Vec<PathBuf> {
    let Some(home) = std::env::home_dir() else {
        return Vec::new();
    };
    let config = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .unwrap_or_else(|| home.join(".config"));
    let mac = home.join("Library/Application Support");
    let fits = |of: &Option<Channel>| channel.is_none() || *of == channel;
    let in_folder = |folder: PathBuf, profiles: Profiles| {
        let fitting = profiles.iter().filter(move |(_, of)| fits(of));
        fitting.map(move |(name, _)| folder.join(name))
    };
    let on_linux = in_folder(config, LINUX_PROFILES);
    on_linux.chain(in_folder(mac, MAC_PROFILES)).collect()
}

/// Where browsers keep their profiles, and the channel if it is Chrome.
type Profiles = &'static [(&'static str, Option<Channel>)];

const LINUX_PROFILES: Profiles = &[
    ("google-chrome", Some(Channel::Stable)),
    ("google-chrome-beta", Some(Channel::Beta)),
    ("google-chrome-unstable", Some(Channel::Dev)),
    ("google-chrome-canary", Some(Channel::Canary)),
    ("chromium", None),
    ("microsoft-edge", None),
    ("BraveSoftware/Brave-Browser", None),
];
const MAC_PROFILES: Profiles = &[
    ("Google/Chrome", Some(Channel::Stable)),
    ("Google/Chrome Beta", Some(Channel::Beta)),
    ("Google/Chrome Dev", Some(Channel::Dev)),
    ("Google/Chrome Canary", Some(Channel::Canary)),
    ("Chromium", None),
    ("Microsoft Edge", None),
    ("BraveSoftware/Brave-Browser", None),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_contains_port_and_path() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("DevToolsActivePort");
        assert_eq!(endpoint_in(folder.path()), None);
        fs::write(&file, "9222\n/devtools/browser/x-y\n").unwrap();
        assert_eq!(
            endpoint_in(folder.path()).unwrap(),
            "ws://127.0.0.1:9222/devtools/browser/x-y"
        );
        fs::write(&file, "99999\n/devtools/browser/x").unwrap();
        assert_eq!(endpoint_in(folder.path()), None);
    }
}
