//! Whether the extension of the user's own browser is as it should be, step by step.

use super::Check;
use super::checks::Behind;
use crate::commands::extension::{AGAIN, Folder, Unpaired, paired};
use tabmux_daemon::extension::{Secret, SecretError};

/// What is so. Nothing is said where no extension is installed.
pub(super) fn check(
    folder: &Folder,
    secret: Result<Secret, SecretError>,
    behind: &Behind,
    connected: bool,
) -> Option<Check> {
    if !folder.is_installed() {
        return None;
    }
    let port = match paired(folder, secret) {
        Ok(port) => port,
        Err(Unpaired { finding, advice }) => return Some(Check::fail(NAME, finding, advice)),
    };
    let listens_at = match behind {
        Behind::Daemon { port, .. } => *port,
        _ => {
            return Some(Check::ok(
                NAME,
                "Installed; no daemon is running, so it is not connected.",
            ));
        }
    };
    Some(match listens_at {
        None => Check::fail(
            NAME,
            format!("It looks for the daemon at port {port}, and the daemon has no port."),
            "End what holds the port, then run `tabmux daemon stop`; the next client starts another daemon.",
        ),
        Some(other) if other != port => Check::fail(
            NAME,
            format!(
                "It looks for the daemon at port {port}, and the daemon listens at port {other}."
            ),
            format!("Run `tabmux extension install --port {other}`."),
        ),
        Some(_) if !folder.is_up_to_date() => {
            Check::warn(NAME, "It is of another version than tabmux.", AGAIN)
        }
        Some(_) if !connected => Check::warn(
            NAME,
            "Installed and paired, and not connected.",
            "Open Chrome, and see that it is loaded in chrome://extensions; its button tells the reason.",
        ),
        Some(_) => Check::ok(NAME, "Installed, paired and connected."),
    })
}

const NAME: &str = "extension";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Level;

    #[test]
    fn every_step_that_fails_is_named_with_what_to_do() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::at(home.path().join("extension"));
        let file = home.path().join("secret");
        let daemon = |port| Behind::Daemon {
            version: "1".to_owned(),
            pid: 1,
            sessions: 0,
            port,
            paused: false,
        };
        let look = |port: Option<u16>, connected| {
            check(&folder, Secret::load(&file), &daemon(port), connected)
        };
        let said = |found: Option<Check>| {
            let found = found.unwrap();
            (
                found.level,
                format!("{} {}", found.finding, found.advice.unwrap_or_default()),
            )
        };
        assert_eq!(look(Some(8765), false), None);
        let secret = Secret::load_or_make(&file).unwrap();
        folder.write(&secret, Some(8765), None).unwrap();
        assert_eq!(said(look(Some(8765), true)).0, Level::Ok);
        let expected = [
            (look(Some(8765), false), Level::Warn, "chrome://extensions"),
            (look(Some(9000), false), Level::Fail, "install --port 9000"),
            (look(None, false), Level::Fail, "has no port"),
            (
                check(&folder, Secret::load(&file), &Behind::Nobody, false),
                Level::Ok,
                "no daemon",
            ),
        ];
        for (found, level, part) in expected {
            let (is, text) = said(found);
            assert!(is == level && text.contains(part), "{text}");
        }
        std::fs::write(folder.path().join("worker.js"), "old").unwrap();
        assert!(said(look(Some(8765), true)).1.contains("another version"));
        Secret::rotate(&file).unwrap();
        assert!(said(look(Some(8765), true)).1.contains("another secret"));
        std::fs::remove_file(&file).unwrap();
        assert_eq!(said(look(Some(8765), true)).0, Level::Fail);
    }
}
