//! A websocket to a page worker or an extension, with limits.

use super::frame_gate::Gate;
use super::large_messages::Slot;
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

/// The daemon's end of the websocket.
pub(super) struct Socket {
    inner: WebSocketStream<Gate<TokioIo<Upgraded>>>,
    /// A message was returned; it is freed when the next one is requested.
    taken: bool,
}

impl Socket {
    /// Messages must be short until [`Self::open`] is called.
    pub(super) async fn new(upgraded: Upgraded) -> Self {
        let config = WebSocketConfig::default()
            // The gate enforces the limit.
            .max_message_size(None)
            .max_frame_size(None)
            .read_buffer_size(READ_BUFFER)
            .write_buffer_size(0)
            .max_write_buffer_size(MOST_UNWRITTEN);
        let gate = Gate::new(TokioIo::new(upgraded), LONGEST_BEFORE_HELLO);
        Self {
            inner: WebSocketStream::from_raw_socket(gate, Role::Server, Some(config)).await,
            taken: false,
        }
    }

    /// The other side has identified itself: raises the limit for its messages.
    pub(super) fn open(&mut self, longest: usize, slot: Slot) {
        self.inner.get_mut().open(longest, slot);
    }

    /// The next message; `None` at the end. Cancel-safe.
    pub(super) async fn recv(&mut self) -> Option<Result<Message, Error>> {
        self.release();
        let next = self.inner.next().await;
        self.taken = matches!(next, Some(Ok(Message::Text(_) | Message::Binary(_))));
        next
    }

    /// The returned message was freed, so another large one may be received.
    pub(super) fn release(&mut self) {
        if std::mem::take(&mut self.taken) {
            self.inner.get_mut().release();
        }
    }

    pub(super) async fn send(&mut self, message: Message) -> Result<(), Error> {
        self.inner.send(message).await
    }

    /// Closes the connection, and reads a little of what still arrives: otherwise the system would drop our last
    /// messages together with the connection.
    pub(super) async fn close(mut self, code: u16) {
        let close = CloseFrame {
            code: code.into(),
            reason: "refused".into(),
        };
        let closing = async {
            let _ = self.inner.send(Message::Close(Some(close))).await;
            let mut stream = self.inner.into_inner().into_stream().take(MOST_IGNORED);
            let mut ignored = [0; 4096];
            while matches!(stream.read(&mut ignored).await, Ok(1..)) {}
        };
        let _ = tokio::time::timeout(CLOSE_LIMIT, closing).await;
    }
}

/// The message limit before the hello or the proof, which are short.
pub(super) const LONGEST_BEFORE_HELLO: usize = 2_000;
/// Each connection keeps one for its whole life.
const READ_BUFFER: usize = 16 * 1024;
/// The largest message that is being sent: more than any that we send.
const MOST_UNWRITTEN: usize = 128 * 1024 * 1024;
const MOST_IGNORED: u64 = 1024 * 1024;
const CLOSE_LIMIT: Duration = Duration::from_secs(1);
