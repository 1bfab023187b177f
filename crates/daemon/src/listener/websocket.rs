//! A websocket with a page's worker or an extension, and what it may cost.

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

/// The daemon's end.
pub(super) struct Socket {
    inner: WebSocketStream<Gate<TokioIo<Upgraded>>>,
    /// A message was handed out, and is no more when the next is asked for.
    taken: bool,
}

impl Socket {
    /// Messages are short until [`Self::open`].
    pub(super) async fn new(upgraded: Upgraded) -> Self {
        let config = WebSocketConfig::default()
            // The gate knows better.
            .max_message_size(None)
            .max_frame_size(None)
            .read_buffer_size(READ_BUFFER)
            .write_buffer_size(0)
            .max_write_buffer_size(MOST_UNWRITTEN);
        let gate = Gate::new(TokioIo::new(upgraded), LONGEST_FIRST_WORD);
        Self {
            inner: WebSocketStream::from_raw_socket(gate, Role::Server, Some(config)).await,
            taken: false,
        }
    }

    /// The other side has shown who it is: its messages may be as long from now on.
    pub(super) fn open(&mut self, longest: usize, slot: Slot) {
        self.inner.get_mut().open(longest, slot);
    }

    /// The next message; none at the end. What was begun and not finished loses nothing.
    pub(super) async fn recv(&mut self) -> Option<Result<Message, Error>> {
        self.release();
        let next = self.inner.next().await;
        self.taken = matches!(next, Some(Ok(Message::Text(_) | Message::Binary(_))));
        next
    }

    /// The message that was handed out is no more, and makes room for another large one.
    pub(super) fn release(&mut self) {
        if std::mem::take(&mut self.taken) {
            self.inner.get_mut().release();
        }
    }

    pub(super) async fn send(&mut self, message: Message) -> Result<(), Error> {
        self.inner.send(message).await
    }

    /// Hangs up, and reads a little of what is still being said: the system would otherwise drop our last words
    /// together with the connection.
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

/// Until it has shown who it is, nobody has more to say than a name and a proof.
pub(super) const LONGEST_FIRST_WORD: usize = 2_000;
/// Each connection has one for as long as it lives.
const READ_BUFFER: usize = 16 * 1024;
/// One message that is being sent: more than any that we send.
const MOST_UNWRITTEN: usize = 128 * 1024 * 1024;
const MOST_IGNORED: u64 = 1024 * 1024;
const CLOSE_LIMIT: Duration = Duration::from_secs(1);
