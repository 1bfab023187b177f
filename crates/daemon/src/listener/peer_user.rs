//! Whose process is at the other end of a loopback connection, where the system tells: Linux does, in
//! `/proc/net`. Elsewhere nothing is known, and everybody may come.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use tabmux_browser::user::own_uid;

/// Both ends of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub(super) peer: SocketAddr,
    pub(super) local: SocketAddr,
}

/// Why a peer is refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stranger {
    #[error("It comes from a process of another user ({0}). {HOW}")]
    OtherUser(u32),
    #[error("The system does not say whose process it comes from. {HOW}")]
    Unknown,
    #[error("Whose process it comes from cannot be found out ({0}). {HOW}")]
    Unreadable(io::Error),
}

/// Whether a process of this user, or of the machine's own, is at the other end.
pub(super) async fn check(ends: Ends) -> Result<(), Stranger> {
    if cfg!(not(target_os = "linux")) {
        return Ok(());
    }
    let looked = tokio::task::spawn_blocking(move || look(ends)).await;
    match looked.unwrap_or_else(|error| Err(io::Error::other(error))) {
        // Root can do anything anyway, and passes connections on for others, such as Windows' browsers to WSL.
        Ok(Some(uid)) if uid == own_uid() || uid == ROOT => Ok(()),
        Ok(Some(uid)) => Err(Stranger::OtherUser(uid)),
        Ok(None) => Err(Stranger::Unknown),
        // There is no such file: nothing is known, as on other systems.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Stranger::Unreadable(error)),
    }
}

/// The user at the other end. A row can be missed while others come and go, so it is looked for again.
fn look(ends: Ends) -> io::Result<Option<u32>> {
    for _ in 0..LOOKS {
        // A peer with a socket of IPv6 may have dialled an address of IPv4.
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            let rows = match std::fs::read_to_string(table) {
                Ok(rows) => rows,
                // A machine without IPv6 has only one of them.
                Err(error) if error.kind() == io::ErrorKind::NotFound && table.ends_with('6') => {
                    continue;
                }
                Err(error) => return Err(error),
            };
            if let Some(uid) = rows.lines().find_map(|row| user_in(row, ends)) {
                return Ok(Some(uid));
            }
        }
    }
    Ok(None)
}

/// The user of a row, if it is about the peer's end of this connection. A socket that its process has closed
/// is counted as root's; it has no inode, and is nobody's.
fn user_in(row: &str, ends: Ends) -> Option<u32> {
    let mut fields = row.split_ascii_whitespace().skip(1);
    let (local, remote, state) = (fields.next()?, fields.next()?, fields.next()?);
    if state != ESTABLISHED
        || address(local)? != canonical(ends.peer)
        || address(remote)? != canonical(ends.local)
    {
        return None;
    }
    // tx_queue:rx_queue, tr:tm->when and retrnsmt come first.
    let uid = fields.nth(3)?.parse().ok()?;
    let inode: u64 = fields.nth(1)?.parse().ok()?;
    (inode != 0).then_some(uid)
}

/// An address as the kernel prints it: words of 32 bits in the machine's own order, and the port.
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

/// Without the detour through IPv6 that an address of IPv4 can take.
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
        assert_eq!(user_in(&row(peer, ours, "01", 9), v4), Some(1_000));
        let dialled_by_v6 = row(
            &format!("{mapped}:C822"),
            &format!("{mapped}:223D"),
            "01",
            9,
        );
        assert_eq!(user_in(&dialled_by_v6, v4), Some(1_000));
        let six = row(
            &format!("{loopback}:C822"),
            &format!("{loopback}:223D"),
            "01",
            9,
        );
        assert_eq!(user_in(&six, v6), Some(1_000));
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
            assert_eq!(user_in(&other, v4), None, "{other}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn our_own_connections_are_ours() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else {
                continue; // Without IPv6 there is only one.
            };
            let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (far, peer) = listener.accept().unwrap();
            let local = far.local_addr().unwrap();
            assert_eq!(look(Ends { peer, local }).unwrap(), Some(own_uid()));
            drop(near);
            assert_eq!(look(Ends { peer, local }).unwrap(), None);
        }
    }
}
