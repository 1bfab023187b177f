//! A proxy for TCP whose connections a test can cut, as a network or a restarted gateway does.

use crate::tls_proxy::Listening;
use std::net::Ipv4Addr;
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;
use tokio::sync::watch;

/// Passes everything on to a port of this machine. Stops when dropped.
#[derive(Debug)]
pub struct CuttableProxy {
    listening: Listening,
    /// Whether it passes connections on.
    open: watch::Sender<bool>,
}

impl CuttableProxy {
    /// Starts one in front of this port.
    pub fn start(port: u16) -> Self {
        let (open, changes) = watch::channel(true);
        let listening = Listening::start(move |mut client| {
            let mut changes = changes.clone();
            async move {
                if !*changes.borrow_and_update() {
                    return None;
                }
                let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.ok()?;
                tokio::select! {
                    copied = copy_bidirectional(&mut client, &mut server) => copied.ok(),
                    _ = changes.changed() => None,
                }
            }
        });
        Self { listening, open }
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.listening.port
    }

    /// Cuts all connections, and takes no more.
    pub fn close(&self) {
        self.open.send_replace(false);
    }

    /// Takes connections again.
    pub fn open(&self) {
        self.open.send_replace(true);
    }
}
