//! Looks at the machine. Changes nothing, and starts nothing but the browser's `--version`.

use super::checks::{self, Behind, BrowserFound, Holder, Log};
use super::{Check, clients, display, extension, rules, web_mcp};
use crate::commands::ask::{ask_daemon, is_in_the_way};
use crate::commands::daemon::DEFAULT_PORT;
use crate::commands::extension::Folder;
use crate::commands::install;
use crate::commands::other_daemons;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tabmux_browser::find::{self, FindError, Wanted};
use tabmux_browser::text::one_line;
use tabmux_daemon::extension::{Secret, secret_file};
use tabmux_daemon::listener::Bound;
use tabmux_daemon::policy;
use tabmux_daemon_client::SocketPath;
use tabmux_protocol::overview::BrowserRow;
use tabmux_protocol::wire::{FromClient, FromDaemon};
use tabmux_stdio_proxy::log_beside;
use tokio::process::Command;

/// Every check, in the order in which things are needed.
pub(super) async fn around(place: &SocketPath, executable: Option<PathBuf>) -> Vec<Check> {
    let (behind, browsers) = behind(place).await;
    let folder = place.socket().parent().unwrap_or_else(|| Path::new("."));
    let log = log_beside(place.socket());
    let (profile, holder) = tabmux_browser::profile::ours();
    let holder = holder.map(|pid| holder_named(pid, &behind));
    let mut list = vec![
        checks::browser(browser(executable).await),
        display::look(&behind),
        checks::user(is_root()),
        folder_check(place, folder),
        checks::daemon(place.socket(), &behind, env!("CARGO_PKG_VERSION")),
        port_check(&behind).await,
        checks::log(&log, log_at(&log)),
        checks::profile(&profile, holder.as_ref()),
    ];
    let others = other_daemons::find(place).await;
    list.extend(others.iter().map(checks::other_daemon));
    list.extend(rules::check(&policy::usual_place()));
    list.extend(checks::paused(&behind));
    let connected = crate::commands::extension::is_connected(place).await;
    let secret = Secret::load(&secret_file());
    list.extend(extension::check(
        &Folder::of_user(),
        secret,
        &behind,
        connected,
    ));
    list.extend(web_mcp::check(&browsers));
    list.extend(clients::check(&install::installed(), is_program));
    list
}

/// Whether a config names a program that is there; one without a path is for the client to find.
fn is_program(command: &str) -> bool {
    !command.contains('/') || Path::new(command).is_file()
}

async fn browser(executable: Option<PathBuf>) -> Result<BrowserFound, FindError> {
    let wanted = Wanted {
        executable,
        channel: None,
    };
    let path = find::find(&wanted)?;
    let version = version_of(&path).await;
    Ok(BrowserFound { path, version })
}

async fn version_of(program: &Path) -> Result<String, String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null());
    command.kill_on_drop(true);
    let output = match tokio::time::timeout(VERSION_LIMIT, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(error.to_string()),
        Err(_) => return Err("it does not answer to --version".to_owned()),
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let version = one_line(said.lines().next().unwrap_or_default(), LONGEST_VERSION);
    if output.status.success() && !version.is_empty() {
        Ok(version)
    } else {
        Err(format!("--version ended with {}", output.status))
    }
}

/// Whether we are root; our own entry in `/proc` belongs to whoever we are.
fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0)
}

fn folder_check(place: &SocketPath, folder: &Path) -> Check {
    let exists = fs::symlink_metadata(folder).is_ok();
    // Making the folder ready also makes it, which looking must not.
    let safe = if exists { place.prepare() } else { Ok(()) };
    checks::folder(folder, exists, safe)
}

/// Who is behind the socket, and the browsers that it has.
async fn behind(place: &SocketPath) -> (Behind, Vec<BrowserRow>) {
    if fs::symlink_metadata(place.socket()).is_err() {
        return (Behind::Nobody, Vec::new());
    }
    if is_in_the_way(place) {
        return (Behind::InTheWay, Vec::new());
    }
    let question = FromClient::Overview {
        id: "doctor".into(),
    };
    let behind = match ask_daemon(place, &question).await {
        Ok(Some(FromDaemon::OverviewOk { overview, .. })) => {
            let behind = Behind::Daemon {
                version: overview.version,
                pid: overview.pid,
                sessions: overview.sessions.len(),
                port: overview.port,
                paused: overview.paused,
            };
            return (behind, overview.browsers);
        }
        Ok(Some(_)) => Behind::Stranger("it speaks another version".to_owned()),
        Ok(None) => Behind::Stale,
        Err(error) => Behind::Stranger(error.root_cause().to_string()),
    };
    (behind, Vec::new())
}

async fn port_check(behind: &Behind) -> Check {
    let wanted = match std::env::var("TABMUX_PORT") {
        Ok(text) => match text.parse() {
            Ok(port) => port,
            Err(_) => return checks::no_port(&one_line(&text, LONGEST_VERSION)),
        },
        Err(_) => DEFAULT_PORT,
    };
    // Taken for a moment, and let go of at once.
    let is_free = matches!(behind, Behind::Daemon { .. }) || Bound::take(wanted).await.is_ok();
    checks::port(behind, wanted, is_free)
}

fn log_at(path: &Path) -> Log {
    match fs::symlink_metadata(path) {
        Err(_) => Log::Missing,
        Ok(meta) if !meta.is_file() => Log::NoFile,
        Ok(meta) => Log::File {
            bytes: meta.len(),
            writable: OpenOptions::new().append(true).open(path).is_ok(),
        },
    }
}

fn holder_named(pid: u32, behind: &Behind) -> Holder {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let name = match name.trim() {
        "" => "a browser".to_owned(),
        name => one_line(name, LONGEST_VERSION),
    };
    let is_ours =
        matches!(behind, Behind::Daemon { pid: daemon, .. } if parent(pid) == Some(*daemon));
    Holder { pid, name, is_ours }
}

fn parent(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok()
}

const VERSION_LIMIT: Duration = Duration::from_secs(10);
const LONGEST_VERSION: usize = 80;
