//! From facts to a verdict and advice. Nothing here reads the machine; `look.rs` collects the facts.

use super::Check;
use crate::commands::other_daemons::OtherDaemon;
use std::path::{Path, PathBuf};
use tabmux_browser::find::FindError;
use tabmux_daemon_client::SocketPathError;

/// A browser that was found, and what it answered to `--version`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BrowserFound {
    pub(super) path: PathBuf,
    pub(super) version: Result<String, String>,
}

pub(super) fn browser(found: Result<BrowserFound, FindError>) -> Check {
    const NAME: &str = "browser";
    match found {
        Ok(BrowserFound {
            path,
            version: Ok(version),
        }) => Check::ok(NAME, format!("{version} at {}.", path.display())),
        Ok(BrowserFound {
            path,
            version: Err(why),
        }) => Check::fail(
            NAME,
            format!("{} does not run: {why}.", path.display()),
            "Run it by hand to see why, or choose another browser with --executablePath.",
        ),
        Err(error) => {
            let (what, advice) = sentences(&error.to_string());
            Check::fail(NAME, what, advice)
        }
    }
}

pub(super) fn user(is_root: bool) -> Check {
    const NAME: &str = "user";
    if is_root {
        Check::warn(
            NAME,
            "Running as root, so launched browsers run without their sandbox.",
            "Use an ordinary user where pages are not trusted.",
        )
    } else {
        Check::ok(NAME, "Not root; launched browsers keep their sandbox.")
    }
}

/// The folder that holds the socket.
pub(super) fn folder(folder: &Path, exists: bool, safe: Result<(), SocketPathError>) -> Check {
    const NAME: &str = "folder";
    let shown = folder.display();
    match safe {
        Err(error) => {
            let (what, advice) = sentences(&error.to_string());
            Check::fail(NAME, what, advice)
        }
        Ok(()) if exists => Check::ok(NAME, format!("{shown} is safe for the daemon's socket.")),
        Ok(()) => Check::ok(NAME, format!("{shown} is created when needed.")),
    }
}

/// What is at the path of the socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SocketState {
    /// A daemon.
    Daemon {
        /// With its commit, unless it is so old that it does not say it.
        version: String,
        pid: u32,
        sessions: usize,
        /// Its port for pages.
        port: Option<u16>,
        /// Whether a person paused all agents.
        paused: bool,
    },
    /// Nothing.
    Missing,
    /// A socket of a daemon that has ended.
    Stale,
    /// Something other than a socket.
    NotASocket,
    /// A socket whose process does not answer as a daemon of this version does.
    Unusable(String),
}

pub(super) fn daemon(socket: &Path, state: &SocketState, own_version: &str) -> Check {
    const NAME: &str = "daemon";
    let shown = socket.display();
    match state {
        SocketState::Daemon {
            version,
            pid,
            sessions,
            ..
        } if version == own_version => Check::ok(
            NAME,
            format!("tabmux {version} is up (process {pid}, sessions: {sessions})."),
        ),
        SocketState::Daemon {
            version,
            pid,
            sessions,
            ..
        } => {
            let when = match sessions {
                0 => "",
                _ => " when its sessions are done",
            };
            Check::warn(
                NAME,
                format!("tabmux {version} is up (process {pid}), but this is {own_version}."),
                format!("Run `tabmux daemon stop`{when}; the next client starts the new one."),
            )
        }
        SocketState::Missing => Check::ok(NAME, "None is running; the first client starts it."),
        SocketState::Stale => Check::ok(
            NAME,
            format!("None is running; the next one replaces the stale socket {shown}."),
        ),
        SocketState::NotASocket => Check::fail(
            NAME,
            format!("{shown} is not a socket."),
            "Remove it, or choose another path with --socket.",
        ),
        SocketState::Unusable(why) => Check::fail(
            NAME,
            format!("The process listening at {shown} is not a usable daemon: {why}."),
            "Stop it, remove the socket, or choose another path with --socket.",
        ),
    }
}

/// A daemon that the usual commands do not show.
pub(super) fn other_daemon(other: &OtherDaemon) -> Check {
    Check::warn("other", other.finding(), other.advice())
}

/// The port at which pages offer tools: the daemon's, or whether the wanted one is free.
pub(super) fn port(state: &SocketState, wanted: u16, is_free: bool) -> Check {
    const NAME: &str = "port";
    match state {
        SocketState::Daemon {
            port: Some(port), ..
        } => Check::ok(NAME, format!("Pages can offer tools at port {port}.")),
        SocketState::Daemon { port: None, .. } => Check::warn(
            NAME,
            format!(
                "Port {wanted} was taken when the daemon started, so pages cannot offer tools."
            ),
            "Stop the program that uses it, or choose another with TABMUX_PORT; then run `tabmux daemon stop`.",
        ),
        _ if wanted == 0 => Check::ok(NAME, "The daemon takes any free port for pages."),
        _ if is_free => Check::ok(
            NAME,
            format!("{wanted} is free for pages that offer tools."),
        ),
        _ => Check::warn(
            NAME,
            format!("{wanted} is taken, so pages could not offer tools."),
            "Stop the program that uses it, or choose another with TABMUX_PORT.",
        ),
    }
}

/// `TABMUX_PORT` is not a port. Every command that reads it refuses it.
pub(super) fn no_port(text: &str) -> Check {
    let finding = format!("TABMUX_PORT is `{text}`, which is not a port.");
    let advice = "Set it to a number up to 65535, or unset it.";
    Check::fail("port", finding, advice)
}

/// Reported only while paused: paused agents may seem broken.
pub(super) fn paused(state: &SocketState) -> Option<Check> {
    let SocketState::Daemon { paused: true, .. } = state else {
        return None;
    };
    let finding = "A person paused all agents, so every call is refused.";
    let advice = "Press \"Resume all\" in the side panel of the browser.";
    Some(Check::warn("agents", finding, advice))
}

/// What is at the path of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Log {
    Missing,
    File { bytes: u64, writable: bool },
    NotAFile,
}

pub(super) fn log(path: &Path, log: Log) -> Check {
    const NAME: &str = "log";
    let shown = path.display();
    match log {
        Log::Missing => Check::ok(NAME, format!("No log yet; it will be {shown}.")),
        Log::File {
            bytes,
            writable: true,
        } => Check::ok(NAME, format!("{shown}, {}.", size(bytes))),
        Log::File { .. } => Check::fail(
            NAME,
            format!("{shown} cannot be written."),
            "Remove it, or make it yours with chown.",
        ),
        Log::NotAFile => Check::fail(NAME, format!("{shown} is not a file."), "Remove it."),
    }
}

/// The process that uses a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) pid: u32,
    pub(super) name: String,
    pub(super) is_ours: bool,
}

pub(super) fn profile(path: &Path, holder: Option<&Holder>) -> Check {
    const NAME: &str = "profile";
    let shown = path.display();
    match holder {
        None => Check::ok(NAME, format!("{shown} is free.")),
        Some(Holder {
            pid,
            name,
            is_ours: true,
        }) => Check::ok(
            NAME,
            format!("{shown} is used by the daemon's browser ({name}, process {pid})."),
        ),
        Some(Holder { pid, name, .. }) => Check::warn(
            NAME,
            format!("{shown} is used by {name} (process {pid})."),
            "Close that browser to use the profile; until then a temporary one is used.",
        ),
    }
}

/// Splits an error after its first sentence, into what happened and what to do.
pub(super) fn sentences(error: &str) -> (String, String) {
    match error.split_once(". ") {
        Some((what, advice)) => (format!("{what}."), advice.to_owned()),
        None => (error.to_owned(), String::new()),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..=1_023 => format!("{bytes} bytes"),
        1_024..=1_048_575 => format!("{} KB", bytes / 1_024),
        _ => format!("{} MB", bytes / 1_048_576),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    fn said(check: &Check) -> String {
        let advice = check.advice.as_deref().unwrap_or("–");
        format!("{} | {} | {advice}", check.level.name(), check.finding)
    }

    #[test]
    fn a_browser_is_named_and_a_missing_one_is_asked_for() {
        let found = |version| {
            Ok(BrowserFound {
                path: "/usr/bin/chromium".into(),
                version,
            })
        };
        assert_eq!(
            said(&browser(found(Ok("Chromium 150.0".into())))),
            "ok | Chromium 150.0 at /usr/bin/chromium. | –"
        );
        assert_eq!(browser(found(Err("it ended".into()))).level, Level::Fail);
        assert_eq!(
            said(&browser(Err(FindError::NotThere { path: "/x".into() }))),
            "fail | There is no browser at /x. | Check --executablePath."
        );
        let nothing = browser(Err(FindError::Nothing));
        assert!(nothing.advice.unwrap().starts_with("Install one"));
    }

    #[test]
    fn root_is_a_warning() {
        assert_eq!(user(false).level, Level::Ok);
        assert_eq!(user(true).level, Level::Warn);
    }

    #[test]
    fn an_unsafe_folder_fails_with_what_is_wrong() {
        let error = SocketPathError::Unsafe {
            path: "/run/x".into(),
            why: "others may write to it",
        };
        assert_eq!(
            said(&folder(Path::new("/run/x"), true, Err(error))),
            "fail | /run/x cannot hold the daemon's socket: others may write to it. | Remove it, or \
             choose another path with --socket."
        );
        assert_eq!(
            said(&folder(Path::new("/run/x"), false, Ok(()))),
            "ok | /run/x is created when needed. | –"
        );
    }

    #[test]
    fn a_daemon_of_another_version_is_a_warning() {
        let up = |sessions| SocketState::Daemon {
            version: "0.1.0".into(),
            pid: 7,
            sessions,
            port: Some(8765),
            paused: false,
        };
        let socket = Path::new("/run/d.sock");
        assert_eq!(
            said(&daemon(socket, &up(2), "0.1.0")),
            "ok | tabmux 0.1.0 is up (process 7, sessions: 2). | –"
        );
        assert_eq!(
            said(&daemon(socket, &up(2), "0.2.0")),
            "warn | tabmux 0.1.0 is up (process 7), but this is 0.2.0. | Run `tabmux daemon stop` when \
             its sessions are done; the next client starts the new one."
        );
        // Another commit of the same version.
        let newer = daemon(socket, &up(0), "0.1.0 (0123456789ab)");
        assert_eq!(
            said(&newer),
            "warn | tabmux 0.1.0 is up (process 7), but this is 0.1.0 (0123456789ab). | Run `tabmux \
             daemon stop`; the next client starts the new one."
        );
        assert_eq!(daemon(socket, &SocketState::Missing, "1").level, Level::Ok);
        assert_eq!(daemon(socket, &SocketState::Stale, "1").level, Level::Ok);
        assert_eq!(
            daemon(socket, &SocketState::NotASocket, "1").level,
            Level::Fail
        );
        let unusable = SocketState::Unusable("it says HTTP".into());
        assert_eq!(daemon(socket, &unusable, "1").level, Level::Fail);
    }

    #[test]
    fn a_taken_port_is_a_warning_and_a_free_one_is_fine() {
        let daemon = |port| SocketState::Daemon {
            version: "1".into(),
            pid: 7,
            sessions: 0,
            port,
            paused: false,
        };
        for (state, is_free, expected) in [
            (daemon(Some(9)), false, "Pages can offer tools at port 9."),
            (
                daemon(None),
                true,
                "Port 8765 was taken when the daemon started",
            ),
            (SocketState::Missing, true, "8765 is free"),
            (SocketState::Missing, false, "8765 is taken"),
        ] {
            let said = said(&port(&state, 8765, is_free));
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn a_pause_is_a_warning() {
        let daemon = |paused| SocketState::Daemon {
            version: "1".into(),
            pid: 7,
            sessions: 1,
            port: None,
            paused,
        };
        assert_eq!(paused(&daemon(false)), None);
        assert_eq!(paused(&SocketState::Missing), None);
        let check = paused(&daemon(true)).unwrap();
        assert_eq!(check.level, Level::Warn);
        assert!(check.finding.contains("paused all agents"));
    }

    #[test]
    fn a_log_that_cannot_be_written_fails() {
        let path = Path::new("/run/d.log");
        let file = |bytes, writable| Log::File { bytes, writable };
        assert_eq!(
            said(&log(path, file(2_100, true))),
            "ok | /run/d.log, 2 KB. | –"
        );
        assert_eq!(log(path, file(1, false)).level, Level::Fail);
        assert_eq!(log(path, Log::NotAFile).level, Level::Fail);
        assert_eq!(log(path, Log::Missing).level, Level::Ok);
    }

    #[test]
    fn a_profile_used_by_another_browser_is_a_warning() {
        let path = Path::new("/p");
        let holder = |is_ours| Holder {
            pid: 7,
            name: "chromium".into(),
            is_ours,
        };
        assert_eq!(said(&profile(path, None)), "ok | /p is free. | –");
        assert_eq!(profile(path, Some(&holder(true))).level, Level::Ok);
        assert_eq!(
            said(&profile(path, Some(&holder(false)))),
            "warn | /p is used by chromium (process 7). | Close that browser to use the profile; until \
             then a temporary one is used."
        );
    }
}
