//! Which user's process is at the other end of a loopback connection. Linux tells, in `/proc/net`; other systems do
//! not.

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Whether this system tells.
pub const IS_TOLD: bool = cfg!(target_os = "linux");

/// Both ends of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// The other process's end.
    pub peer: SocketAddr,
    /// Ours.
    pub local: SocketAddr,
}

/// The peer's end and ours, in canonical form.
pub type Key = (SocketAddr, SocketAddr);

impl Ends {
    /// The same for all ways to write the two addresses.
    pub fn key(&self) -> Key {
        (canonical(self.peer), canonical(self.local))
    }
}

/// The users at the other ends. A row can be missed while the table changes, so the lookup is repeated.
///
/// # Errors
/// When the table cannot be read; `NotFound` if there is none.
pub fn users_of(wanted: &[Ends]) -> io::Result<HashMap<Key, u32>> {
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

const ESTABLISHED: &str = "01";
const LOOKS: usize = 3;

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
            assert_eq!(user(ends), Some(crate::user::own_uid()));
            drop(near);
            assert_eq!(user(ends), None);
        }
    }
}
