//! Finds out which user's process is at the other end of a loopback connection, where the system tells. On other
//! systems any local process may connect.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
pub(super) use tabmux_platform::connection::Ends;
use tabmux_platform::connection::{IS_TOLD, users_of};
use tabmux_platform::user::{ROOT, own_uid};
use tokio::sync::oneshot;

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
        if !IS_TOLD {
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

const HOW: &str =
    "Run the browser as the user of the daemon, or start the daemon with --allowOtherUsers.";

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

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
