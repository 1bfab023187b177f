//! TLS for the connections of clients, with the certificate of the user. Its files are read once, when the server starts.

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The certificate of the server, and its key.
#[derive(Clone)]
pub struct Tls(TlsAcceptor);

/// Why files cannot be used. Each is a sentence without a full stop.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The system refused.
    #[error("{flag} {} cannot be read ({error})", path.display())]
    Unreadable {
        /// The flag that names the file.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// There is none in the file.
    #[error(
        "--tlsCert {} has no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----",
        .0.display()
    )]
    NoCertificate(PathBuf),
    /// There is none in the file, or it has a password.
    #[error(
        "--tlsKey {} has no private key in PEM without a password, which begins with -----BEGIN PRIVATE KEY-----",
        .0.display()
    )]
    NoKey(PathBuf),
    /// They belong to different servers, or one of them is damaged.
    #[error("--tlsCert and --tlsKey cannot be used together: {0}")]
    Unusable(rustls::Error),
}

impl Tls {
    /// Reads a certificate, with those between it and its authority, and its key. Blocks.
    ///
    /// # Errors
    /// When they cannot be used.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let bytes = read("--tlsCert", certificate)?;
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
        let chain = chain.ok().filter(|chain| !chain.is_empty());
        let chain = chain.ok_or_else(|| TlsError::NoCertificate(certificate.to_owned()))?;
        let bytes = read("--tlsKey", key)?;
        let key =
            PrivateKeyDer::from_pem_slice(&bytes).map_err(|_| TlsError::NoKey(key.to_owned()))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key));
        let mut config = config.map_err(TlsError::Unusable)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    /// The client's side of a connection; `None` if it does not come in time. A client that speaks plain HTTP is told.
    pub(crate) async fn accept(&self, stream: TcpStream) -> Option<TlsStream<TcpStream>> {
        let accepting = async {
            let mut first = [0];
            if stream.peek(&mut first).await? == 1 && first != [HANDSHAKE] {
                return refuse_plain(stream).await.map(|()| None);
            }
            self.0.accept(stream).await.map(Some)
        };
        let accepted = tokio::time::timeout(HANDSHAKE_LIMIT, accepting).await;
        let accepted = accepted.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        accepted
            .inspect_err(|error| tracing::debug!(%error, "a connection did not get TLS"))
            .ok()?
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

async fn refuse_plain(mut stream: TcpStream) -> io::Result<()> {
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{PLAIN}",
        PLAIN.len()
    );
    // What has come so far is read, because the answer would be lost with it.
    let mut rest = [0; 4096];
    let _ = stream.try_read(&mut rest);
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

fn read(flag: &'static str, path: &Path) -> Result<Vec<u8>, TlsError> {
    let mut bytes = Vec::new();
    let opened = File::open(path);
    let read = opened.and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes));
    let path = path.to_owned();
    read.map_err(|error| TlsError::Unreadable { flag, path, error })?;
    Ok(bytes)
}

/// The first byte of a TLS connection.
const HANDSHAKE: u8 = 0x16;
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);
const MOST_BYTES: u64 = 1 << 20;
const PLAIN: &str = "This server speaks TLS: use https:// in its address.\n";

#[cfg(test)]
mod tests {
    use super::*;
    use tabmux_testkit::certificate;

    #[test]
    fn files_that_cannot_be_used_are_named_with_what_is_wrong() {
        let said = |cert: &str, key: &str| {
            let read = Tls::read(&certificate(cert), &certificate(key));
            read.map_or_else(|error| error.to_string(), |_| "good".to_owned())
        };
        assert_eq!(said("server.pem", "server.key"), "good");
        for (cert, key, expected) in [
            (
                "missing.pem",
                "server.key",
                "missing.pem cannot be read (No such file",
            ),
            (
                "server.pem",
                "missing.key",
                "missing.key cannot be read (No such file",
            ),
            (
                "server.key",
                "server.key",
                "server.key has no certificate in PEM",
            ),
            (
                "server.pem",
                "server.pem",
                "server.pem has no private key in PEM",
            ),
            ("server.pem", "client.key", "cannot be used together: "),
        ] {
            let said = said(cert, key);
            assert!(said.contains(expected), "{cert} and {key}: {said}");
        }
    }
}
