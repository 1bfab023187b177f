//! The websocket of a browser that runs already.

use std::{fmt, io, time::Duration};

use bytes::Bytes;
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use thiserror::Error;
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async_with_config,
    tungstenite::{
        self, Message,
        client::{ClientRequestBuilder, IntoClientRequest},
        handshake::client::Request,
        http::{HeaderName, HeaderValue, Uri},
        protocol::WebSocketConfig,
    },
};

use super::{FrameReader, FrameWriter, MAX_FRAME, Transport};

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Frames over the websocket of a browser's debugging endpoint.
pub struct WebSocketTransport {
    socket: Socket,
}

/// Why a websocket could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConnectError {
    /// The address is not one that we can dial.
    #[error(
        "{url} is not a websocket address; it must begin with ws:// (not wss://) and name a host"
    )]
    BadUrl {
        /// The address.
        url: String,
    },
    /// A header that was asked for cannot be sent.
    #[error("the header {name} has a name or a value that HTTP does not allow; correct it")]
    BadHeader {
        /// The header's name.
        name: String,
    },
    /// Nothing answered.
    #[error(
        "nothing answers at {url} ({detail}); start the browser with remote debugging, or correct the address"
    )]
    Unreachable {
        /// The address.
        url: String,
        /// The system's words.
        detail: String,
    },
    /// Something answered, but not with a websocket.
    #[error(
        "{url} answered {status} instead of a websocket; it may belong to a browser that has been restarted"
    )]
    Refused {
        /// The address.
        url: String,
        /// The HTTP status.
        status: u16,
    },
    /// Something took the connection and then was silent.
    #[error(
        "{url} did not answer within {limit:?}; the browser may be waiting for somebody to allow debugging"
    )]
    TimedOut {
        /// The address.
        url: String,
        /// How long we waited.
        limit: Duration,
    },
}

impl WebSocketTransport {
    /// Dials a `ws://` address, sending `headers` along. No `Origin` is sent: browsers refuse those they do not know.
    ///
    /// # Errors
    ///
    /// If the address or a header is wrong, or nothing there speaks websocket.
    pub async fn connect(url: &str, headers: &[(String, String)]) -> Result<Self, ConnectError> {
        let request = request(url, headers)?;
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_FRAME))
            .max_frame_size(Some(MAX_FRAME));
        let dialling = connect_async_with_config(request, Some(config), true);
        let url = url.to_owned();
        match timeout(CONNECT_LIMIT, dialling).await {
            Ok(Ok((socket, _))) => Ok(Self { socket }),
            Ok(Err(tungstenite::Error::Http(response))) => Err(ConnectError::Refused {
                url,
                status: response.status().as_u16(),
            }),
            Ok(Err(error)) => Err(ConnectError::Unreachable {
                url,
                detail: error.to_string(),
            }),
            Err(_) => Err(ConnectError::TimedOut {
                url,
                limit: CONNECT_LIMIT,
            }),
        }
    }
}

impl fmt::Debug for WebSocketTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebSocketTransport")
    }
}

impl Transport for WebSocketTransport {
    type Reader = WebSocketReader;
    type Writer = WebSocketWriter;

    fn split(self) -> (Self::Reader, Self::Writer) {
        let (write, read) = self.socket.split();
        (WebSocketReader { read }, WebSocketWriter { write })
    }
}

/// The reading half of a [`WebSocketTransport`].
#[derive(Debug)]
pub struct WebSocketReader {
    read: SplitStream<Socket>,
}

impl FrameReader for WebSocketReader {
    async fn read(&mut self) -> Option<io::Result<Bytes>> {
        loop {
            return match self.read.next().await? {
                Ok(Message::Text(text)) => Some(Ok(text.into())),
                Ok(Message::Binary(bytes)) => Some(Ok(bytes)),
                Ok(Message::Close(_)) => None,
                // Pings are answered by the library.
                Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => continue,
                Err(tungstenite::Error::ConnectionClosed) => None,
                Err(error) => Some(Err(io::Error::other(error))),
            };
        }
    }
}

/// The writing half of a [`WebSocketTransport`].
#[derive(Debug)]
pub struct WebSocketWriter {
    write: SplitSink<Socket, Message>,
}

impl FrameWriter for WebSocketWriter {
    async fn write(&mut self, frame: String) -> io::Result<()> {
        self.write
            .send(Message::text(frame))
            .await
            .map_err(io::Error::other)
    }

    async fn finish(&mut self) {
        _ = self.write.close().await;
    }
}

fn request(url: &str, headers: &[(String, String)]) -> Result<Request, ConnectError> {
    let bad_url = || ConnectError::BadUrl {
        url: url.to_owned(),
    };
    let uri: Uri = url.parse().map_err(|_| bad_url())?;
    if uri.scheme_str() != Some("ws") {
        return Err(bad_url());
    }
    let mut request = ClientRequestBuilder::new(uri)
        .into_client_request()
        .map_err(|_| bad_url())?;
    for (name, value) in headers {
        let bad_header = || ConnectError::BadHeader { name: name.clone() };
        let name = HeaderName::try_from(name.as_str()).map_err(|_| bad_header())?;
        let value = HeaderValue::try_from(value.as_str()).map_err(|_| bad_header())?;
        request.headers_mut().insert(name, value);
    }
    Ok(request)
}

/// How long dialling may take. A browser may ask its user first, so this is generous.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);
