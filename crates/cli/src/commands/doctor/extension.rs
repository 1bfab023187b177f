//! Whether the extension in the user's own browser works: installed, paired, up to date, connected.

use super::Check;
use super::checks::SocketState;
use crate::commands::extension::{Folder, REINSTALL, Unpaired, paired};
use tabmux_daemon::extension::{Secret, SecretError};
use tabmux_protocol::overview::ExtensionRow;

/// Nothing if no extension is installed.
pub(super) fn check(
    folder: &Folder,
    secret: Result<Secret, SecretError>,
    state: &SocketState,
    connected: bool,
) -> Option<Check> {
    if !folder.is_installed() {
        return None;
    }
    let port = match paired(folder, secret) {
        Ok(port) => port,
        Err(Unpaired { finding, advice }) => return Some(Check::fail(NAME, finding, advice)),
    };
    if !folder.is_up_to_date() {
        let finding = format!("It is not that of tabmux {}.", env!("CARGO_PKG_VERSION"));
        return Some(Check::warn(NAME, finding, REINSTALL));
    }
    let listens_at = match state {
        SocketState::Daemon { port, .. } => *port,
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
            format!("It connects to port {port}, but the daemon has no port."),
            "Stop the program that uses the port, then run `tabmux daemon stop`; the next client starts another daemon.",
        ),
        Some(other) if other != port => Check::fail(
            NAME,
            format!("It connects to port {port}, but the daemon listens at port {other}."),
            format!("Run `tabmux extension install --port {other}`."),
        ),
        Some(_) if !connected => Check::warn(
            NAME,
            "Installed and paired, but not connected.",
            "Open Chrome and check in chrome://extensions that it is loaded; its button shows the reason.",
        ),
        Some(_) => Check::ok(NAME, "Installed, paired and connected."),
    })
}

/// Whether browsers run the files of this version: Chrome keeps those that it has loaded until the extension is
/// reloaded. Nothing if they do, or none is connected.
pub(super) fn check_loaded(extensions: &[ExtensionRow], own_version: &str) -> Option<Check> {
    let is_other = |row: &&ExtensionRow| row.version.as_deref() != Some(own_version);
    let others: Vec<String> = extensions.iter().filter(is_other).map(named).collect();
    if others.is_empty() {
        return None;
    }
    let finding = format!(
        "This is tabmux {own_version}, but Chrome runs the extension of another: {}.",
        others.join(", ")
    );
    let advice = "Run `tabmux extension install`, then reload it in chrome://extensions.";
    Some(Check::warn(NAME, finding, advice))
}

fn named(row: &ExtensionRow) -> String {
    let version = row.version.as_deref().unwrap_or("one without a version");
    match &row.name {
        Some(name) => format!("{version} (profile {name})"),
        None => version.to_owned(),
    }
}

const NAME: &str = "extension";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Level;

    #[test]
    fn files_of_another_version_that_chrome_still_runs_are_reported() {
        let row = |name: Option<&str>, version: Option<&str>| ExtensionRow {
            name: name.map(str::to_owned),
            version: version.map(str::to_owned),
        };
        assert_eq!(check_loaded(&[], "0.2.0"), None);
        assert_eq!(check_loaded(&[row(None, Some("0.2.0"))], "0.2.0"), None);
        let rows = [
            row(None, None),
            row(Some("Home"), Some("0.2.0")),
            row(Some("Work"), Some("0.1.0")),
        ];
        let found = check_loaded(&rows, "0.2.0").unwrap();
        assert_eq!(
            found.finding,
            "This is tabmux 0.2.0, but Chrome runs the extension of another: one without a version, \
             0.1.0 (profile Work)."
        );
        assert!(found.advice.unwrap().contains("chrome://extensions"));
    }

    #[test]
    fn every_failed_step_is_named_with_advice() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::at(home.path().join("extension"));
        let file = home.path().join("secret");
        let daemon = |port| SocketState::Daemon {
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
                check(&folder, Secret::load(&file), &SocketState::Missing, false),
                Level::Ok,
                "no daemon",
            ),
        ];
        for (found, level, part) in expected {
            let (is, text) = said(found);
            assert!(is == level && text.contains(part), "{text}");
        }
        std::fs::write(folder.path().join("worker.js"), "old").unwrap();
        assert!(
            said(look(Some(8765), true))
                .1
                .contains("not that of tabmux")
        );
        let idle = check(&folder, Secret::load(&file), &SocketState::Missing, false);
        assert!(said(idle).1.contains("not that of tabmux"));
        Secret::rotate(&file).unwrap();
        assert!(said(look(Some(8765), true)).1.contains("another secret"));
        std::fs::remove_file(&file).unwrap();
        assert_eq!(said(look(Some(8765), true)).0, Level::Fail);
    }
}
