//! Collects facts about the machine. Changes nothing, and starts only the browser with `--version`.

use super::checks::{self, BrowserFound, Holder, Log, SocketState};
use super::{Check, clients, config_file, display, extension, page_library, rules, web_mcp};
use crate::commands::ask::{ask_daemon, is_not_a_socket};
use crate::commands::daemon::DEFAULT_PORT;
use crate::commands::extension::Folder;
use crate::commands::install;
use crate::commands::other_daemons;
use crate::commands::program_version::version_of;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tabmux_browser::find::{self, FindError, Wanted};
use tabmux_daemon::extension::{Secret, secret_file};
use tabmux_daemon::listener::Bound;
use tabmux_daemon::policy;
use tabmux_daemon_client::SocketPath;
use tabmux_platform::process;
use tabmux_platform::user::is_root;
use tabmux_protocol::overview::Overview;
use tabmux_protocol::wire::{FromClient, FromDaemon};
use tabmux_stdio_proxy::log_path;
use tabmux_text::one_line;

/// Every check, in the order in which a user needs them to pass.
pub(super) async fn run_checks(
    socket_path: &SocketPath,
    executable: Option<PathBuf>,
) -> Vec<Check> {
    let (state, overview) = socket_state(socket_path).await;
    let folder = socket_path
        .socket()
        .parent()
        .unwrap_or_else(|| Path::new("."));
    let log = log_path(socket_path.socket());
    let (profile, holder) = tabmux_browser::profile::ours();
    let holder = holder.map(|pid| holder_named(pid, &state));
    let mut list = vec![
        checks::browser(browser(executable).await),
        display::look(&state),
        checks::user(is_root()),
        folder_check(socket_path, folder),
        checks::daemon(socket_path.socket(), &state, env!("TABMUX_VERSION")),
        port_check(&state).await,
        checks::log(&log, log_at(&log)),
        checks::profile(&profile, holder.as_ref()),
    ];
    let others = other_daemons::find(socket_path).await;
    list.extend(others.iter().map(checks::other_daemon));
    let named = std::env::var_os("TABMUX_CONFIG").filter(|name| !name.is_empty());
    list.extend(config_file::check(named.map(PathBuf::from)));
    list.extend(rules::check(&policy::usual_place()));
    list.extend(checks::paused(&state));
    let connected = crate::commands::extension::is_connected(socket_path).await;
    let secret = Secret::load(&secret_file());
    list.extend(extension::check(
        &Folder::of_user(),
        secret,
        &state,
        connected,
    ));
    list.extend(extension::check_loaded(
        &overview.extensions,
        env!("CARGO_PKG_VERSION"),
    ));
    list.extend(page_library::check(
        &overview.libraries,
        env!("CARGO_PKG_VERSION"),
    ));
    list.extend(web_mcp::check(&overview.browsers));
    list.extend(clients::check(&install::installed(), is_program));
    list
}

/// Whether the program that a config names exists. A name without a path is looked up by the client.
fn is_program(command: &str) -> bool {
    !command.contains('/') || Path::new(command).is_file()
}

async fn browser(executable: Option<PathBuf>) -> Result<BrowserFound, FindError> {
    let wanted = Wanted {
        executable,
        channel: None,
    };
    let path = find::find(&wanted)?;
    let version = version_of(&path, VERSION_LIMIT).await;
    Ok(BrowserFound { path, version })
}

fn folder_check(socket_path: &SocketPath, folder: &Path) -> Check {
    let exists = fs::symlink_metadata(folder).is_ok();
    // `prepare` creates a missing folder, and a check must not change anything.
    let safe = if exists {
        socket_path.prepare()
    } else {
        Ok(())
    };
    checks::folder(folder, exists, safe)
}

/// What is at the path of the socket, and the daemon's overview, which is empty without one.
async fn socket_state(socket_path: &SocketPath) -> (SocketState, Overview) {
    let without = |state| (state, Overview::default());
    if fs::symlink_metadata(socket_path.socket()).is_err() {
        return without(SocketState::Missing);
    }
    if is_not_a_socket(socket_path) {
        return without(SocketState::NotASocket);
    }
    let question = FromClient::Overview {
        id: "doctor".into(),
    };
    let state = match ask_daemon(socket_path, &question).await {
        Ok(Some(FromDaemon::OverviewOk { overview, .. })) => {
            let state = SocketState::Daemon {
                version: match overview.build.is_empty() {
                    true => overview.version.clone(),
                    false => overview.build.clone(),
                },
                pid: overview.pid,
                sessions: overview.sessions.len(),
                port: overview.port,
                paused: overview.paused,
            };
            return (state, overview);
        }
        Ok(Some(_)) => SocketState::Unusable("it uses another protocol version".to_owned()),
        Ok(None) => SocketState::Stale,
        Err(error) => SocketState::Unusable(error.root_cause().to_string()),
    };
    without(state)
}

async fn port_check(state: &SocketState) -> Check {
    let wanted = match std::env::var("TABMUX_PORT") {
        Ok(text) => match text.parse() {
            Ok(port) => port,
            Err(_) => return checks::no_port(&one_line(&text, LONGEST_VERSION)),
        },
        Err(_) => DEFAULT_PORT,
    };
    // Bound for a moment only.
    let is_free = matches!(state, SocketState::Daemon { .. }) || Bound::take(wanted).await.is_ok();
    checks::port(state, wanted, is_free)
}

fn log_at(path: &Path) -> Log {
    match fs::symlink_metadata(path) {
        Err(_) => Log::Missing,
        Ok(meta) if !meta.is_file() => Log::NotAFile,
        Ok(meta) => Log::File {
            bytes: meta.len(),
            writable: OpenOptions::new().append(true).open(path).is_ok(),
        },
    }
}

fn holder_named(pid: u32, state: &SocketState) -> Holder {
    let name = match process::name(pid).as_deref() {
        None | Some("") => "a browser".to_owned(),
        Some(name) => one_line(name, LONGEST_VERSION),
    };
    let parent = process::parent(pid);
    let is_ours =
        matches!(state, SocketState::Daemon { pid: daemon, .. } if parent == Some(*daemon));
    Holder { pid, name, is_ours }
}

const VERSION_LIMIT: Duration = Duration::from_secs(10);
const LONGEST_VERSION: usize = 80;
