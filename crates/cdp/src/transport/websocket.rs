//! The websocket of a running browser.

mod frames;

use std::{fmt, io, time::Duration};

use bytes::{Bytes, BytesMut};
use futures_util::SinkExt;
use thiserror::Error;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, BufReader, Chain, join},
    net::TcpStream,
    sync::mpsc,
    task::JoinHandle,
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{
        self, Message,
        client::{ClientRequestBuilder, IntoClientRequest},
        handshake::client::Request,
        http::{HeaderName, HeaderValue, Uri},
        protocol::Role,
    },
};

use super::{Frame, FrameReader, FrameWriter, Transport, http_head::HttpHeadStream};
use frames::{MessageReader, Received};

/// Frames over the websocket of a browser's debugging endpoint.
///
/// The websocket library does the handshake and writes, but does not read: it would store every message completely,
/// and end the connection at one that is too large, which any page can cause.
pub struct WebSocketTransport {
    halves: Halves,
    /// Bytes that were read after the handshake.
    read: BytesMut,
}

/// The two halves of a stream to the server.
pub type Halves = (
    Box<dyn AsyncRead + Send + Unpin>,
    Box<dyn AsyncWrite + Send + Unpin>,
);

/// Why a websocket could not be opened. Does not contain the address, which may hold secrets.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConnectError {
    /// We cannot connect to this address.
    #[error("a websocket address must begin with ws:// or wss:// and name a host")]
    BadUrl,
    /// A configured header cannot be sent.
    #[error("{} has a name or a value that HTTP does not allow; correct it", header(.name))]
    BadHeader {
        /// The header's name, if it is a valid one.
        name: Option<String>,
    },
    /// Nothing responded.
    #[error("{detail}; start the browser with remote debugging, or correct the address")]
    Unreachable {
        /// The system's error message.
        detail: String,
    },
    /// The server responded, but not with HTTP.
    #[error("{detail}; it is not a websocket server, so correct the address")]
    NotHttp {
        /// What was wrong with the response.
        detail: String,
    },
    /// The server responded, but not with a websocket.
    #[error("it answered {status} instead of a websocket")]
    Refused {
        /// The HTTP status.
        status: u16,
    },
    /// The server accepted the connection and then did not respond.
    #[error(
        "no answer within {limit:?}; the browser may be waiting for its user to allow debugging"
    )]
    TimedOut {
        /// How long we waited.
        limit: Duration,
    },
}

fn header(name: &Option<String>) -> String {
    match name {
        Some(name) => format!("the header {name}"),
        None => "a header".to_owned(),
    }
}

impl WebSocketTransport {
    /// Connects to a `ws://` address without a proxy, sending `headers`.
    ///
    /// # Errors
    ///
    /// If the address or a header is invalid, or the server does not speak websocket.
    pub async fn connect(url: &str, headers: &[(String, String)]) -> Result<Self, ConnectError> {
        let request = request(url, headers)?;
        if request.uri().scheme_str() != Some("ws") {
            return Err(ConnectError::BadUrl);
        }
        let handshake = async {
            let halves = open(&request).await?;
            handshake(halves, request).await
        };
        match timeout(CONNECT_LIMIT, handshake).await {
            Ok(connected) => connected,
            Err(_) => Err(ConnectError::TimedOut {
                limit: CONNECT_LIMIT,
            }),
        }
    }

    /// Does the handshake on an open stream, for this `ws://` or `wss://` address, sending `headers`. A `Host` among
    /// them replaces that of the address. Sends no `Origin`, because browsers refuse unknown ones.
    ///
    /// # Errors
    ///
    /// If the address or a header is invalid, or the server does not speak websocket.
    pub async fn over(
        halves: Halves,
        url: &str,
        headers: &[(String, String)],
    ) -> Result<Self, ConnectError> {
        handshake(halves, request(url, headers)?).await
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
        let (read, write) = self.halves;
        let (messages, queue) = mpsc::channel(QUEUE);
        let read = io::Cursor::new(self.read.freeze()).chain(read);
        (
            WebSocketReader {
                read: BufReader::with_capacity(BUFFER, read),
                messages_in: MessageReader::default(),
                messages: messages.clone(),
            },
            WebSocketWriter {
                messages: Some(messages),
                task: tokio::spawn(write_messages(write, queue)),
            },
        )
    }
}

/// The reading half of a [`WebSocketTransport`].
pub struct WebSocketReader {
    read: BufReader<Chain<io::Cursor<Bytes>, Box<dyn AsyncRead + Send + Unpin>>>,
    messages_in: MessageReader,
    /// Where pongs are sent.
    messages: mpsc::Sender<Message>,
}

impl fmt::Debug for WebSocketReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebSocketReader")
    }
}

impl FrameReader for WebSocketReader {
    async fn read(&mut self) -> Option<io::Result<Frame>> {
        loop {
            return match self.messages_in.next(&mut self.read).await {
                Ok(Received::Message(frame)) => Some(Ok(frame)),
                Ok(Received::Ping(bytes)) => {
                    // If the browser does not read, a pong can be dropped.
                    _ = self.messages.try_send(Message::Pong(bytes));
                    continue;
                }
                Ok(Received::Close) => None,
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
                Err(error) => Some(Err(error)),
            };
        }
    }
}

/// The writing half of a [`WebSocketTransport`].
#[derive(Debug)]
pub struct WebSocketWriter {
    /// `None` once a close message was sent.
    messages: Option<mpsc::Sender<Message>>,
    task: JoinHandle<()>,
}

impl FrameWriter for WebSocketWriter {
    async fn write(&mut self, frame: String) -> io::Result<()> {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        let messages = self.messages.as_ref().ok_or_else(gone)?;
        let sent = messages.send(Message::text(frame)).await;
        sent.map_err(|_| gone())
    }

    async fn finish(&mut self) {
        let Some(messages) = self.messages.take() else {
            return;
        };
        if messages.send(Message::Close(None)).await.is_ok() {
            _ = (&mut self.task).await;
        }
    }
}

impl Drop for WebSocketWriter {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn open(request: &Request) -> Result<Halves, ConnectError> {
    let uri = request.uri();
    let host = uri.host().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let unreachable = |error: io::Error| ConnectError::Unreachable {
        detail: error.to_string(),
    };
    let stream = TcpStream::connect((host, uri.port_u16().unwrap_or(80))).await;
    let stream = stream.map_err(unreachable)?;
    stream.set_nodelay(true).map_err(unreachable)?;
    let (read, write) = stream.into_split();
    Ok((Box::new(read), Box::new(write)))
}

async fn handshake(
    (read, write): Halves,
    request: Request,
) -> Result<WebSocketTransport, ConnectError> {
    let stream = HttpHeadStream::new(join(read, write));
    let (socket, _) = client_async(request, stream).await.map_err(failed)?;
    let (read, stream) = socket.into_inner().into_parts();
    let halves = stream.into_inner();
    Ok(WebSocketTransport { halves, read })
}

fn failed(error: tungstenite::Error) -> ConnectError {
    let detail = error.to_string();
    match error {
        tungstenite::Error::Http(response) => ConnectError::Refused {
            status: response.status().as_u16(),
        },
        tungstenite::Error::Io(_) => ConnectError::Unreachable { detail },
        _ => ConnectError::NotHttp { detail },
    }
}

/// Writes messages until a close message, or until all senders are gone.
async fn write_messages(
    write: Box<dyn AsyncWrite + Send + Unpin>,
    mut queue: mpsc::Receiver<Message>,
) {
    let socket = join(tokio::io::empty(), write);
    let mut socket = WebSocketStream::from_raw_socket(socket, Role::Client, None).await;
    while let Some(message) = queue.recv().await {
        let is_last = message.is_close();
        if let Err(error) = socket.send(message).await {
            tracing::debug!(%error, "cannot write to a websocket");
            return;
        }
        if is_last {
            return;
        }
    }
}

fn request(url: &str, headers: &[(String, String)]) -> Result<Request, ConnectError> {
    let uri: Uri = url.parse().map_err(|_| ConnectError::BadUrl)?;
    if !matches!(uri.scheme_str(), Some("ws" | "wss")) {
        return Err(ConnectError::BadUrl);
    }
    let mut request = ClientRequestBuilder::new(uri)
        .into_client_request()
        .map_err(|_| ConnectError::BadUrl)?;
    for (name, value) in headers {
        // An invalid name may be a whole header, with its secret.
        let bad_name = |_| ConnectError::BadHeader { name: None };
        let bad_value = |_| ConnectError::BadHeader {
            name: Some(name.clone()),
        };
        let name = HeaderName::try_from(name.as_str()).map_err(bad_name)?;
        let value = HeaderValue::try_from(value.as_str()).map_err(bad_value)?;
        request.headers_mut().insert(name, value);
    }
    Ok(request)
}

/// How long connecting may take. A browser may ask its user first, so this is generous.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);

/// How many messages may be queued behind the one that is being written; senders of more wait.
const QUEUE: usize = 4;

const BUFFER: usize = 64 * 1024;
