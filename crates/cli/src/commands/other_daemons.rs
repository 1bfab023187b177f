//! Other tabmux daemons of this user: at another socket, or of an older version. Clients that were started in
//! another environment use them, and other commands do not show them.

use crate::commands::ask::ask_daemon;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tabmux_daemon_client::SocketPath;
use tabmux_platform::process;
use tabmux_protocol::wire::{FromClient, FromDaemon};

/// A daemon that is not the one at our socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OtherDaemon {
    pub(crate) pid: u32,
    /// Its socket, if that can be found out.
    pub(crate) socket: Option<PathBuf>,
    /// Its answer to a request for its state.
    pub(crate) answer: Option<Answer>,
}

/// What a daemon says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) version: String,
    pub(crate) sessions: usize,
}

impl OtherDaemon {
    /// What was found.
    pub(crate) fn finding(&self) -> String {
        let version = match &self.answer {
            Some(answer) => format!(
                "tabmux {}, process {}, sessions: {}",
                answer.version, self.pid, answer.sessions
            ),
            None => format!("process {}, which does not answer", self.pid),
        };
        let address = match &self.socket {
            Some(socket) => format!(" at {}", socket.display()),
            None => String::new(),
        };
        format!("Another daemon of yours runs{address} ({version}).")
    }

    /// What to do about it.
    pub(crate) fn advice(&self) -> String {
        match (&self.socket, &self.answer) {
            (Some(socket), Some(_)) => format!(
                "Clients with another --socket or XDG_RUNTIME_DIR use it; `tabmux daemon stop --socket {}` ends it.",
                socket.display()
            ),
            _ => format!("`kill {}` ends it.", self.pid),
        }
    }

    pub(crate) fn as_json(&self) -> Value {
        json!({
            "pid": self.pid,
            "socket": self.socket,
            "version": self.answer.as_ref().map(|answer| &answer.version),
            "sessions": self.answer.as_ref().map(|answer| answer.sessions),
        })
    }
}

/// All daemons with this user and home, except the one at `own`.
pub(crate) async fn find(own: &SocketPath) -> Vec<OtherDaemon> {
    let mut found = Vec::new();
    for (pid, socket) in running() {
        if socket
            .as_deref()
            .is_some_and(|socket| is_same(socket, own.socket()))
        {
            continue;
        }
        let answer = match &socket {
            Some(socket) => ask(socket).await,
            None => None,
        };
        found.push(OtherDaemon {
            pid,
            socket,
            answer,
        });
    }
    found
}

async fn ask(socket: &Path) -> Option<Answer> {
    let socket_path = SocketPath::choose(Some(socket.to_owned()));
    let question = FromClient::Overview {
        id: "others".into(),
    };
    match ask_daemon(&socket_path, &question).await {
        Ok(Some(FromDaemon::OverviewOk { overview, .. })) => Some(Answer {
            version: overview.version,
            sessions: overview.sessions.len(),
        }),
        _ => None,
    }
}

/// The processes and sockets of daemons, if the system tells. Daemons with another home are skipped, even if they run
/// as this user.
fn running() -> Vec<(u32, Option<PathBuf>)> {
    let home = std::env::var_os("HOME");
    let sockets = process::listening_sockets();
    let is_ours = |pid: &u32| {
        process::command_line(*pid).is_some_and(|words| is_daemon(&words))
            && process::environment(*pid)
                .is_some_and(|variables| process::variable(&variables, "HOME") == home)
    };
    let mut pids: Vec<u32> = process::all_own().filter(is_ours).collect();
    pids.sort_unstable();
    pids.into_iter()
        .map(|pid| (pid, process::listening_socket(pid, &sockets)))
        .collect()
}

/// Whether a command line is `tabmux daemon run …`.
fn is_daemon(words: &[OsString]) -> bool {
    let mut words = words.iter();
    let program = words.next().map(Path::new);
    let name = program.and_then(Path::file_name);
    let is_tabmux = name.is_some_and(|name| name.to_string_lossy().contains("tabmux"));
    let mut is_next = |word: &str| words.next().is_some_and(|next| next == word);
    is_tabmux && is_next("daemon") && is_next("run")
}

fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_is_known_by_its_command_line() {
        let is_daemon = |line: &str| {
            let words: Vec<_> = line.split(' ').map(OsString::from).collect();
            is_daemon(&words)
        };
        assert!(is_daemon("/usr/bin/tabmux daemon run --socket /x"));
        assert!(is_daemon("tabmux daemon run"));
        assert!(is_daemon("./my-tabmux-0.1 daemon run"));
        for other in ["tabmux daemon stop", "tabmux mcp", "vim daemon run", ""] {
            assert!(!is_daemon(other), "{other:?}");
        }
    }

    #[test]
    fn finding_and_advice_name_the_socket() {
        let daemon = OtherDaemon {
            pid: 7,
            socket: Some("/tmp/x.sock".into()),
            answer: Some(Answer {
                version: "0.0.9".into(),
                sessions: 2,
            }),
        };
        assert_eq!(
            daemon.finding(),
            "Another daemon of yours runs at /tmp/x.sock (tabmux 0.0.9, process 7, sessions: 2)."
        );
        assert!(
            daemon
                .advice()
                .ends_with("`tabmux daemon stop --socket /tmp/x.sock` ends it.")
        );
        let silent = OtherDaemon {
            answer: None,
            ..daemon
        };
        assert_eq!(silent.advice(), "`kill 7` ends it.");
    }
}
