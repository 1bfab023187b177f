//! Binds the listener's port on both loopback addresses, or on neither.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use tokio::net::TcpListener;

/// Why the listener could not be started.
#[derive(Debug, thiserror::Error)]
#[error(
    "port {port} cannot be used ({error}); pages cannot offer tools until it is free, or --port names another"
)]
pub struct BindError {
    /// The port.
    pub port: u16,
    /// What went wrong.
    pub error: io::Error,
}

/// The bound port.
#[derive(Debug)]
pub struct Bound {
    v4: TcpListener,
    /// `None` only if the machine has no IPv6.
    v6: Option<TcpListener>,
    port: u16,
}

impl Bound {
    /// Binds a port; 0 means any port that is free on both addresses.
    pub async fn take(port: u16) -> Result<Self, BindError> {
        let fail = |error| BindError { port, error };
        let mut last = io::Error::other("no port is free");
        let tries = if port == 0 { TRIES } else { 1 };
        for _ in 0..tries {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            let v4 = TcpListener::bind(address).await.map_err(fail)?;
            let taken = v4.local_addr().map_err(fail)?.port();
            let address = SocketAddr::from((Ipv6Addr::LOCALHOST, taken));
            match TcpListener::bind(address).await {
                Ok(v6) => {
                    let v6 = Some(v6);
                    return Ok(Self {
                        v4,
                        v6,
                        port: taken,
                    });
                }
                Err(error) if is_without_v6(&error) => {
                    let v6 = None;
                    return Ok(Self {
                        v4,
                        v6,
                        port: taken,
                    });
                }
                Err(error) => last = error,
            }
        }
        Err(fail(last))
    }

    /// The port that was bound.
    pub fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn sockets(self) -> Vec<TcpListener> {
        std::iter::once(self.v4).chain(self.v6).collect()
    }
}

fn is_without_v6(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrNotAvailable || tabmux_platform::is_without_network(error)
}

const TRIES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec: security 1.
    #[tokio::test]
    async fn a_port_is_taken_on_loopback_only_and_once() {
        let bound = Bound::take(0).await.unwrap();
        let port = bound.port();
        for socket in [Some(&bound.v4), bound.v6.as_ref()].into_iter().flatten() {
            let address = socket.local_addr().unwrap();
            assert!(address.ip().is_loopback(), "{address}"); // Spec: multi-client 7.
            assert_eq!(address.port(), port);
        }
        let error = Bound::take(port).await.unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("port {port} cannot be used (")),
            "{error}"
        );
    }

    #[tokio::test]
    async fn a_port_that_is_taken_on_one_address_is_not_taken_on_the_other() {
        let Ok(other) = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).await else {
            return; // There is no IPv6.
        };
        let port = other.local_addr().unwrap().port();
        Bound::take(port).await.unwrap_err();
        TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .await
            .unwrap();
    }
}
