//! Lines in both directions, kept in the order they were seen.

use serde_json::Value;
use std::{fmt, sync::Arc};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::{Mutex, watch},
};

/// One line that was sent or received.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// The client wrote this.
    Sent(String),
    /// The server wrote this.
    Received(Value),
    /// The server wrote something that is not JSON, which is never permitted.
    Garbage(String),
}

impl Message {
    /// The message, if the server wrote it.
    pub fn as_received(&self) -> Option<&Value> {
        match self {
            Self::Received(value) => Some(value),
            Self::Sent(_) | Self::Garbage(_) => None,
        }
    }

    /// Whether the server sent this as a notification.
    pub fn is_notification(&self) -> bool {
        self.as_received()
            .is_some_and(|message| message.get("method").is_some() && message.get("id").is_none())
    }

    /// Whether this is the server's response to the request with that id.
    pub fn is_answer_to(&self, id: &Value) -> bool {
        self.as_received()
            .is_some_and(|message| message.get("method").is_none() && message.get("id") == Some(id))
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (arrow, text) = match self {
            Self::Sent(line) => ("-->", line.clone()),
            Self::Received(value) => ("<--", value.to_string()),
            Self::Garbage(line) => ("<-- (no JSON!)", line.clone()),
        };
        match text.char_indices().nth(LONGEST_SHOWN) {
            None => write!(f, "{arrow} {text}"),
            Some((cut, _)) => write!(f, "{arrow} {}… ({} bytes)", &text[..cut], text.len()),
        }
    }
}

pub(super) struct Wire {
    log: Arc<watch::Sender<Log>>,
    output: Mutex<Option<Box<dyn AsyncWrite + Send + Unpin>>>,
    reader: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct Log {
    messages: Vec<Message>,
    ended: bool,
}

impl Wire {
    pub(super) fn start(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let log = Arc::new(watch::Sender::<Log>::default());
        let reader = tokio::spawn(read(input, Arc::clone(&log)));
        Self {
            log,
            output: Mutex::new(Some(Box::new(output))),
            reader,
        }
    }

    /// Writes a line. If the server is gone, waiting for its response fails.
    pub(super) async fn send(&self, line: &[u8]) {
        let shown = String::from_utf8_lossy(line).into_owned();
        let mut output = self.output.lock().await;
        self.log
            .send_modify(|log| log.messages.push(Message::Sent(shown)));
        if let Some(output) = output.as_mut() {
            let _ = output.write_all(line).await;
            let _ = output.write_all(b"\n").await;
            let _ = output.flush().await;
        }
    }

    pub(super) async fn close(&self) {
        if let Some(mut output) = self.output.lock().await.take() {
            let _ = output.shutdown().await;
        }
    }

    pub(super) fn messages(&self) -> Vec<Message> {
        self.log.borrow().messages.clone()
    }

    /// Waits until `found` finds something in the messages; `None` if the server's output ended
    /// before.
    pub(super) async fn wait<T>(
        &self,
        mut found: impl FnMut(&[Message]) -> Option<T>,
    ) -> Option<T> {
        let mut log = self.log.subscribe();
        loop {
            let (hit, ended) = {
                let log = log.borrow_and_update();
                (found(&log.messages), log.ended)
            };
            if hit.is_some() || ended {
                return hit;
            }
            log.changed().await.ok()?;
        }
    }

    pub(super) async fn ended(&self) {
        let _ = self.log.subscribe().wait_for(|log| log.ended).await;
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire").finish_non_exhaustive()
    }
}

async fn read(input: impl AsyncRead + Unpin, log: Arc<watch::Sender<Log>>) {
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    while input
        .read_until(b'\n', &mut line)
        .await
        .is_ok_and(|n| n > 0)
    {
        let message = match serde_json::from_slice(&line) {
            Ok(value) => Message::Received(value),
            Err(_) => Message::Garbage(String::from_utf8_lossy(&line).trim_end().to_owned()),
        };
        log.send_modify(|log| log.messages.push(message));
        line.clear();
    }
    log.send_modify(|log| log.ended = true);
}

const LONGEST_SHOWN: usize = 2_000;
