//! A server on loopback that ends TLS and passes everything on to a plain port, with a certificate of the test
//! authority (`scripts/test-certificates`); and a proxy whose tunnels all lead to one port.

use crate::workspace_root;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, crypto::ring};
use std::future::Future;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

/// A file of `fixtures/certificates`.
pub fn certificate(name: &str) -> PathBuf {
    workspace_root().join("fixtures/certificates").join(name)
}

/// Ends TLS in front of a plain port. Stops when dropped.
#[derive(Debug)]
pub struct TlsProxy(Listening);

impl TlsProxy {
    /// Starts one in front of this port, with the certificate of this name: `server`, `expired` or `other-name`.
    pub fn start(port: u16, name: &str) -> Self {
        Self::with(port, name, false)
    }

    /// Starts one that wants a certificate of its clients.
    pub fn start_for_known_clients(port: u16) -> Self {
        Self::with(port, "server", true)
    }

    fn with(port: u16, name: &str, checks_clients: bool) -> Self {
        let acceptor = TlsAcceptor::from(Arc::new(config(name, checks_clients)));
        Self(Listening::start(move |client| {
            let acceptor = acceptor.clone();
            async move {
                let mut client = acceptor.accept(client).await.ok()?;
                let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.ok()?;
                copy_bidirectional(&mut client, &mut server).await.ok()
            }
        }))
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.0.port
    }
}

/// A proxy whose tunnels all lead to one port of this machine. Stops when dropped.
#[derive(Debug)]
pub struct TunnelProxy {
    listening: Listening,
    asked: Arc<Mutex<Vec<String>>>,
}

impl TunnelProxy {
    /// Starts one that leads to this port.
    pub fn start(port: u16) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        let listening = Listening::start(move |mut client| {
            let heard = Arc::clone(&heard);
            async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(client.read_u8().await.ok()?);
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let line = head.lines().next().unwrap_or_default().to_owned();
                heard.lock().expect("no test panicked here").push(line);
                let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.ok()?;
                client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.ok()?;
                copy_bidirectional(&mut client, &mut server).await.ok()
            }
        });
        Self { listening, asked }
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.listening.port)
    }

    /// The first lines of the requests so far, such as `CONNECT host:443 HTTP/1.1`.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no test panicked here").clone()
    }
}

/// A thread that serves a port until it is dropped.
#[derive(Debug)]
pub(crate) struct Listening {
    pub(crate) port: u16,
    _stop: oneshot::Sender<()>,
}

impl Listening {
    pub(crate) fn start<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Option<(u64, u64)>> + Send + 'static,
    {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        listener.set_nonblocking(true).expect("a listener");
        let (stop, stopped) = oneshot::channel::<()>();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            let serving = async {
                let listener = TcpListener::from_std(listener).expect("a listener");
                while let Ok((client, _)) = listener.accept().await {
                    tokio::spawn(serve(client));
                }
            };
            runtime.block_on(async {
                tokio::select! {
                    () = serving => {}
                    _ = stopped => {}
                }
            });
        });
        Self { port, _stop: stop }
    }
}

fn config(name: &str, checks_clients: bool) -> ServerConfig {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("TLS");
    let builder = match checks_clients {
        true => {
            let mut roots = RootCertStore::empty();
            for authority in read("authority.pem") {
                roots.add(authority).expect("a certificate");
            }
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.expect("a verifier"))
        }
        false => builder.with_no_client_auth(),
    };
    let key = certificate(&format!("{name}.key"));
    let key = PrivateKeyDer::from_pem_file(key).expect("a key");
    let chain = read(&format!("{name}.pem"));
    builder.with_single_cert(chain, key).expect("a server")
}

fn read(name: &str) -> Vec<CertificateDer<'static>> {
    let certificates = CertificateDer::pem_file_iter(certificate(name)).expect("a certificate");
    certificates.map(|it| it.expect("a certificate")).collect()
}
