//! Finds out which user's process is at the other end of a loopback connection, where the system tells: Linux does,
//! in `/proc/net`. On other systems any local process may connect.

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tabmux_browser::user::own_uid;
use tokio::sync::oneshot;

/// Both ends of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub(super) peer: SocketAddr,
    pub(super) local: SocketAddr,
}

/// The peer's end and ours, in canonical form.
type Key = (SocketAddr, SocketAddr);

impl Ends {
    fn key(&self) -> Key {
        (canonical(self.peer), canonical(self.local))
    }
}

/// Why a peer is refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum PeerRefused {
    #[error("The connecting process belongs to another user ({0}). {HOW}")]
    OtherUser(u32),
    #[error("The system does not report the owner of the connecting process. {HOW}")]
    Unknown,
    #[error("The owner of the connecting process cannot be determined ({0}). {HOW}")]
    Unreadable(io::Error),
}

/// Looks up all waiting connections with one thread: however many connect, one thread reads the table at a time, for
/// all of them.
#[derive(Clone, Debug, Default)]
pub(super) struct PeerUsers(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    /// Whether a thread is reading the table.
    looking: bool,
    connections: Vec<(Ends, oneshot::Sender<io::Result<Option<u32>>>)>,
}

impl PeerUsers {
    /// Whether the other end is a process of this user, or of root.
    pub(super) async fn check(&self, ends: Ends) -> Result<(), PeerRefused> {
        if cfg!(not(target_os = "linux")) {
            return Ok(());
        }
        let (answer, looked) = oneshot::channel();
        let is_first = {
            let mut waiting = self.waiting();
            waiting.connections.push((ends, answer));
            !std::mem::replace(&mut waiting.looking, true)
        };
        if is_first {
            let all = self.clone();
            tokio::task::spawn_blocking(move || all.look_up());
        }
        judge(
            looked
                .await
                .unwrap_or_else(|error| Err(io::Error::other(error))),
        )
    }

    fn look_up(&self) {
        loop {
            let mut connections = {
                let mut waiting = self.waiting();
                // Connections that were closed meanwhile need no answer.
                waiting
                    .connections
                    .retain(|(_, answer)| !answer.is_closed());
                waiting.looking = !waiting.connections.is_empty();
                std::mem::take(&mut waiting.connections)
            };
            if connections.is_empty() {
                return;
            }
            let ends: Vec<_> = connections.iter().map(|(ends, _)| *ends).collect();
            let mut users = users_of(&ends);
            for (ends, answer) in connections.drain(..) {
                let user = match &mut users {
                    Ok(users) => Ok(users.remove(&ends.key())),
                    Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
                };
                let _ = answer.send(user);
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn judge(looked: io::Result<Option<u32>>) -> Result<(), PeerRefused> {
    match looked {
        // Root can do anything anyway, and forwards connections for others, such as those of Windows browsers into
        // WSL.
        Ok(Some(uid)) if uid == own_uid() || uid == ROOT => Ok(()),
        Ok(Some(uid)) => Err(PeerRefused::OtherUser(uid)),
        Ok(None) => Err(PeerRefused::Unknown),
        // Without this file nothing is known, as on other systems.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(PeerRefused::Unreadable(error)),
    }
}

/// The users at the other ends. A row can be missed while the table changes, so the lookup is repeated.
fn users_of(wanted: &[Ends]) -> io::Result<HashMap<Key, u32>> {
    let wanted: HashSet<_> = wanted.iter().map(Ends::key).collect();
    let mut users = HashMap::new();
    for _ in 0..LOOKS {
        // A peer with an IPv6 socket may have connected to an IPv4 address.
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            let rows = match std::fs::read_to_string(table) {
                Ok(rows) => rows,
                // A machine without IPv6 has only one of them.
                Err(error) if error.kind() == io::ErrorKind::NotFound && table.ends_with('6') => {
                    continue;
                }
                Err(error) => return Err(error),
            };
            let found = rows.lines().filter_map(user_in);
            users.extend(found.filter(|(key, _)| wanted.contains(key)));
            if users.len() == wanted.len() {
                return Ok(users);
            }
        }
    }
    Ok(users)
}

/// The connection of a row, seen from the other side, and its user. A socket that its process has closed is listed as
/// root's, without an inode; it is ignored.
fn user_in(row: &str) -> Option<(Key, u32)> {
    let mut fields = row.split_ascii_whitespace().skip(1);
    let (local, remote, state) = (fields.next()?, fields.next()?, fields.next()?);
    if state != ESTABLISHED {
        return None;
    }
    let key = (address(local)?, address(remote)?);
    // tx_queue:rx_queue, tr:tm->when and retrnsmt come first.
    let uid = fields.nth(3)?.parse().ok()?;
    let inode: u64 = fields.nth(1)?.parse().ok()?;
    (inode != 0).then_some((key, uid))
}

/// An address as the kernel prints it: 32-bit words in the machine's byte order, and the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (words, port) = text.split_once(':')?;
    let word = |at: usize| -> Option<[u8; 4]> {
        let word = u32::from_str_radix(words.get(at..at + 8)?, 16).ok()?;
        Some(word.to_ne_bytes())
    };
    let ip = match words.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for (number, four) in bytes.chunks_exact_mut(4).enumerate() {
                four.copy_from_slice(&word(number * 8)?);
            }
            IpAddr::V6(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    let port = u16::from_str_radix(port, 16).ok()?;
    Some(canonical(SocketAddr::new(ip, port)))
}

/// Converts an IPv4-mapped IPv6 address to IPv4.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

const ROOT: u32 = 0;
const ESTABLISHED: &str = "01";
const LOOKS: usize = 3;
const HOW: &str =
    "Run the browser as the user of the daemon, or start the daemon with --allowOtherUsers.";

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    fn ends(peer: &str, local: &str) -> Ends {
        Ends {
            peer: peer.parse().unwrap(),
            local: local.parse().unwrap(),
        }
    }

    fn user_of(row: &str, ends: Ends) -> Option<u32> {
        let (key, uid) = user_in(row)?;
        (key == ends.key()).then_some(uid)
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn rows_are_read_as_the_kernel_writes_them() {
        let v4 = ends("127.0.0.1:51234", "127.0.0.1:8765");
        let v6 = ends("[::1]:51234", "[::1]:8765");
        let row = |local: &str, remote: &str, state: &str, inode: u32| {
            format!(
                "   7: {local} {remote} {state} 00000000:00000000 00:00000000 00000000  1000        0 {inode} 1 0"
            )
        };
        let (peer, ours) = ("0100007F:C822", "0100007F:223D");
        let mapped = "0000000000000000FFFF00000100007F";
        let loopback = "00000000000000000000000001000000";
        assert_eq!(user_of(&row(peer, ours, "01", 9), v4), Some(1_000));
        let dialled_by_v6 = row(
            &format!("{mapped}:C822"),
            &format!("{mapped}:223D"),
            "01",
            9,
        );
        assert_eq!(user_of(&dialled_by_v6, v4), Some(1_000));
        let six = row(
            &format!("{loopback}:C822"),
            &format!("{loopback}:223D"),
            "01",
            9,
        );
        assert_eq!(user_of(&six, v6), Some(1_000));
        for other in [
            row(ours, peer, "01", 9),
            row(peer, "0100007F:223E", "01", 9),
            row("0100007F:C823", ours, "01", 9),
            row("0200007F:C822", ours, "01", 9),
            // It is closing, or its process has closed it.
            row(peer, ours, "05", 9),
            row(peer, ours, "01", 0),
            six,
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid"
                .into(),
            "7: 0100007F 0100007F 01".into(),
            String::new(),
        ] {
            assert_eq!(user_of(&other, v4), None, "{other}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn our_own_connections_are_ours() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else {
                continue; // There is no IPv6.
            };
            let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (far, peer) = listener.accept().unwrap();
            let local = far.local_addr().unwrap();
            let ends = Ends { peer, local };
            let user = |ends: Ends| users_of(&[ends]).unwrap().remove(&ends.key());
            assert_eq!(user(ends), Some(own_uid()));
            drop(near);
            assert_eq!(user(ends), None);
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn many_connections_are_looked_for_by_one_thread() {
        let users = PeerUsers::default();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let ours: Vec<_> = (0..50)
            .map(|_| {
                let near = TcpStream::connect(address).unwrap();
                let (far, peer) = listener.accept().unwrap();
                (
                    near,
                    far,
                    Ends {
                        peer,
                        local: address,
                    },
                )
            })
            .collect();
        // As if a thread were reading: no other one starts.
        users.waiting().looking = true;
        let nobody = Ends {
            peer: "127.0.0.1:1".parse().unwrap(),
            local: address,
        };
        let ends = ours.iter().map(|(_, _, ends)| *ends);
        let mut checks: Vec<_> = ends
            .chain([nobody])
            .map(|ends| Box::pin(users.check(ends)))
            .collect();
        for check in &mut checks {
            assert!(futures_util::poll!(check).is_pending());
        }
        assert_eq!(users.waiting().connections.len(), 51);
        // One is closed, and the others get their answer from one read.
        drop(checks.remove(0));
        users.look_up();
        assert!(!users.waiting().looking);
        let refused = checks.pop().unwrap().await;
        assert!(matches!(refused, Err(PeerRefused::Unknown)));
        for check in checks {
            check.await.unwrap();
        }
    }
}
