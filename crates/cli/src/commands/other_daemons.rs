//! Other tabmux daemons of this user: at another socket, or of an older version. Clients that were started in
//! another environment use them, and other commands do not show them.

use crate::commands::ask::ask_daemon;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tabmux_daemon_client::SocketPath;
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

/// The processes and sockets of daemons, from `/proc`. Daemons with another home are skipped, even if they run as
/// this user.
fn running() -> Vec<(u32, Option<PathBuf>)> {
    let (Ok(own), Ok(processes)) = (fs::metadata("/proc/self"), fs::read_dir("/proc")) else {
        return Vec::new();
    };
    let home = std::env::var_os("HOME");
    let sockets = fs::read("/proc/net/unix")
        .map(|table| listening(&table))
        .unwrap_or_default();
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_ours = |pid: &u32| {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        fs::metadata(&folder).is_ok_and(|meta| meta.uid() == own.uid())
            && fs::read(folder.join("cmdline")).is_ok_and(|words| is_daemon(&words))
            && fs::read(folder.join("environ")).is_ok_and(|all| variable(&all, "HOME") == home)
    };
    let mut pids: Vec<u32> = pids.filter(is_ours).collect();
    pids.sort_unstable();
    pids.into_iter()
        .map(|pid| (pid, socket_of(pid, &sockets)))
        .collect()
}

/// Whether a command line is `tabmux daemon run …`.
fn is_daemon(words: &[u8]) -> bool {
    let mut words = words.split(|byte| *byte == 0);
    let program = words.next().map(|word| Path::new(OsStr::from_bytes(word)));
    let name = program.and_then(Path::file_name).map(OsStr::as_bytes);
    let is_tabmux = name.is_some_and(|name| String::from_utf8_lossy(name).contains("tabmux"));
    is_tabmux && words.next() == Some(b"daemon") && words.next() == Some(b"run")
}

/// The value of a variable in what `/proc/PID/environ` holds.
fn variable(environment: &[u8], name: &str) -> Option<OsString> {
    let entries = environment.split(|byte| *byte == 0);
    let mut values =
        entries.filter_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="));
    values
        .next()
        .map(|value| OsString::from_vec(value.to_vec()))
}

/// The path of each listening socket by its inode, from `/proc/net/unix`.
fn listening(table: &[u8]) -> HashMap<u64, PathBuf> {
    const LISTENS: &str = "00010000";
    let lines = table.split(|byte| *byte == b'\n').skip(1);
    let entry = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        let mut fields = line.split_ascii_whitespace();
        let is_listening = fields.nth(3) == Some(LISTENS);
        let number = fields.nth(2)?.parse().ok()?;
        let path = fields.next().filter(|path| path.starts_with('/'))?;
        is_listening.then(|| (number, PathBuf::from(path)))
    };
    lines.filter_map(entry).collect()
}

fn socket_of(pid: u32, sockets: &HashMap<u64, PathBuf>) -> Option<PathBuf> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let mut numbers = open.filter_map(|entry| {
        let target = fs::read_link(entry.ok()?.path()).ok()?;
        let number = target
            .to_str()?
            .strip_prefix("socket:[")?
            .strip_suffix(']')?;
        number.parse::<u64>().ok()
    });
    numbers.find_map(|number| sockets.get(&number).cloned())
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
        assert!(is_daemon(b"/usr/bin/tabmux\0daemon\0run\0--socket\0/x\0"));
        assert!(is_daemon(b"tabmux\0daemon\0run\0"));
        assert!(is_daemon(b"./my-tabmux-0.1\0daemon\0run\0"));
        for other in [
            &b"tabmux\0daemon\0stop\0"[..],
            b"tabmux\0mcp\0",
            b"vim\0daemon\0run\0",
            b"",
        ] {
            assert!(!is_daemon(other), "{other:?}");
        }
    }

    #[test]
    fn listening_sockets_are_read_from_the_table() {
        let table = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000: 00000002 00000000 00010000 0001 01 17 /run/user/7/tabmux/daemon-1.sock\n\
            0000: 00000003 00000000 00000000 0001 03 18 /run/user/7/tabmux/daemon-1.sock\n\
            0000: 00000002 00000000 00010000 0001 01 19 @abstract\n\
            0000: 00000003 00000000 00000000 0001 03 20\n";
        let found = listening(table);
        assert_eq!(
            found,
            HashMap::from([(17, "/run/user/7/tabmux/daemon-1.sock".into())])
        );
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
