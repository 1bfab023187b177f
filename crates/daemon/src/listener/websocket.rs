//! A websocket with a page's worker or an extension, and what it may cost.

use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

/// The daemon's end.
pub(super) struct Socket {
    inner: WebSocketStream<TokioIo<Upgraded>>,
}

impl Socket {
    pub(super) async fn new(upgraded: Upgraded, longest: usize) -> Self {
        let config = WebSocketConfig::default()
            .max_message_size(Some(longest))
            .max_frame_size(Some(longest))
            .read_buffer_size(READ_BUFFER);
        let stream = TokioIo::new(upgraded);
        Self {
            inner: WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await,
        }
    }

    /// The next message; none at the end. What was begun and not finished loses nothing.
    pub(super) async fn recv(&mut self) -> Option<Result<Message, Error>> {
        self.inner.next().await
    }

    pub(super) async fn send(&mut self, message: Message) -> Result<(), Error> {
        self.inner.send(message).await
    }
}

/// Each connection has one for as long as it lives.
const READ_BUFFER: usize = 16 * 1024;
