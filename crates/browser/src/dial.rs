//! Opens streams to browsers on other machines: TCP, through a proxy if the environment names one, with TLS if the
//! address says so. HTTP requests and websockets both begin here.

mod error;
pub(crate) mod http;
mod proxy;
mod tls;
mod tls_stream;

pub(crate) use error::DialError;
pub use tls::TlsOptions;
use tls_stream::TlsStream;

use crate::endpoint;
use std::fmt;
use std::time::Duration;
use tabmux_cdp::Halves;
use tokio::net::TcpStream;
use url::Url;

/// An address that a user gave, and how to reach it. All of it may contain secrets.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RemoteAddress {
    /// The URL: show it with [`crate::endpoint::shown`].
    pub url: String,
    /// Headers for its requests.
    pub headers: Vec<(String, String)>,
    /// How its certificate is checked.
    pub tls: TlsOptions,
}

/// Without secrets.
impl fmt::Debug for RemoteAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("RemoteAddress")
            .field("url", &endpoint::shown(&self.url))
            .field("headers", &names)
            .field("tls", &self.tls)
            .finish()
    }
}

impl RemoteAddress {
    /// Another URL of the same server.
    #[must_use]
    pub(crate) fn at(&self, url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            ..self.clone()
        }
    }
}

impl From<String> for RemoteAddress {
    fn from(url: String) -> Self {
        Self {
            url,
            ..Self::default()
        }
    }
}

/// A stream to a server.
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(TlsStream),
}

impl Stream {
    pub(crate) fn into_halves(self) -> Halves {
        match self {
            Self::Plain(stream) => {
                let (read, write) = stream.into_split();
                (Box::new(read), Box::new(write))
            }
            Self::Tls(stream) => {
                let (read, write) = tokio::io::split(stream);
                (Box::new(read), Box::new(write))
            }
        }
    }
}

/// Opens a stream to the host of an `http`, `https`, `ws` or `wss` address. The caller limits the time.
pub(crate) async fn open(url: &Url, options: &TlsOptions) -> Result<Stream, DialError> {
    let stream = connect(url).await?;
    // Small frames go back and forth, and none may wait for the next one.
    stream.set_nodelay(true).map_err(DialError::from)?;
    match is_secure(url) {
        true => {
            let stream = tls::handshake(url, options, stream).await?;
            Ok(Stream::Tls(TlsStream::new(stream)))
        }
        false => Ok(Stream::Plain(stream)),
    }
}

/// Whether a port that does not answer as expected speaks TLS.
pub(crate) async fn speaks_tls(url: &Url) -> bool {
    if is_secure(url) {
        return false;
    }
    let insecure = TlsOptions {
        insecure: true,
        ..TlsOptions::default()
    };
    let probe = async {
        match connect(url).await {
            Ok(stream) => tls::handshake(url, &insecure, stream).await.is_ok(),
            Err(_) => false,
        }
    };
    let answer = tokio::time::timeout(PROBE_LIMIT, probe).await;
    answer.unwrap_or_default()
}

fn is_secure(url: &Url) -> bool {
    matches!(url.scheme(), "https" | "wss")
}

async fn connect(url: &Url) -> Result<TcpStream, DialError> {
    let (host, port) = host_and_port(url);
    match proxy::for_url(url) {
        Some(proxy) => proxy::through(&proxy, &host, port).await,
        None => Ok(TcpStream::connect((host.trim_matches(['[', ']']), port)).await?),
    }
}

fn host_and_port(url: &Url) -> (String, u16) {
    let usual = if is_secure(url) { 443 } else { 80 };
    let host = url.host_str().unwrap_or_default().to_owned();
    (host, url.port().unwrap_or(usual))
}

/// How long it may take until a browser answers that was found on this machine.
pub(crate) const FOUND_LIMIT: Duration = Duration::from_secs(5);
/// The same for an address that the user named, also on loopback, where a port may be forwarded: some services start a
/// browser, or wait for a free one, before they answer.
pub(crate) const NAMED_LIMIT: Duration = Duration::from_secs(30);
const PROBE_LIMIT: Duration = Duration::from_secs(3);
