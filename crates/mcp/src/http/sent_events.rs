//! What was sent to clients with a handshake, kept for a minute: a client whose connection was cut gets the answer of its
//! call with `Last-Event-ID`.

use async_trait::async_trait;
use futures_util::stream;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::transport::streamable_http_server::session::{
    EventId, EventStore, EventStoreError, EventStream, ServerSseMessage,
};
use std::collections::{HashMap, VecDeque};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The latest events of all streams. An id of an event begins with the id of its stream, which nobody can guess.
#[derive(Default)]
pub(super) struct SentEvents(Arc<Shared>);

#[derive(Default)]
struct Shared {
    // Locked briefly.
    log: Mutex<Log>,
    has_more: Notify,
}

#[derive(Default)]
struct Log {
    /// From the earliest to the latest.
    events: VecDeque<Sent>,
    bytes: usize,
    last: u64,
    /// The streams of calls that have no answer yet, and since when.
    running: HashMap<String, Instant>,
}

struct Sent {
    stream: String,
    number: u64,
    event: ServerSseMessage,
    bytes: usize,
    at: Instant,
}

#[async_trait]
impl EventStore for SentEvents {
    async fn store_event(
        &self,
        stream: &str,
        event: &ServerSseMessage,
    ) -> Result<EventId, EventStoreError> {
        let id = self.0.log().note(stream, event.clone());
        self.0.has_more.notify_waiters();
        Ok(id)
    }

    /// The later events of the stream, until the answer of its call.
    async fn replay_events_after(&self, last: &str) -> Result<EventStream, EventStoreError> {
        let (stream, number) = last.rsplit_once('/').ok_or(UNKNOWN)?;
        let number = number.parse().map_err(|_| UNKNOWN)?;
        if !self.0.log().may_follow(stream, number) {
            return Err(UNKNOWN.into());
        }
        let reader = Reader {
            shared: Arc::clone(&self.0),
            stream: stream.to_owned(),
            number,
            is_over: false,
        };
        Ok(Box::pin(stream::unfold(reader, Reader::next)))
    }
}

impl Shared {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client that reads a stream again.
struct Reader {
    shared: Arc<Shared>,
    stream: String,
    number: u64,
    is_over: bool,
}

impl Reader {
    async fn next(mut self) -> Option<(ServerSseMessage, Self)> {
        if self.is_over {
            return None;
        }
        let shared = Arc::clone(&self.shared);
        loop {
            let has_more = shared.has_more.notified();
            let found = shared.log().after(&self.stream, self.number);
            if let Some((number, event)) = found {
                self.number = number;
                self.is_over = is_answer(&event);
                return Some((event, self));
            }
            has_more.await;
        }
    }
}

impl Log {
    /// Keeps an event, and gives it an id.
    fn note(&mut self, stream: &str, mut event: ServerSseMessage) -> EventId {
        self.forget_old();
        self.last += 1;
        let id = format!("{stream}/{}", self.last);
        event.event_id = Some(id.clone());
        match is_answer(&event) {
            true => drop(self.running.remove(stream)),
            false if event.message.is_none() => self.begin(stream),
            false => {}
        }
        let bytes = size_of(&event);
        if bytes <= MOST_BYTES / 2 {
            self.bytes += bytes;
            self.events.push_back(Sent {
                stream: stream.to_owned(),
                number: self.last,
                event,
                bytes,
                at: Instant::now(),
            });
        }
        id
    }

    /// A call has begun: its stream starts with an event without a message.
    fn begin(&mut self, stream: &str) {
        self.running
            .retain(|_, since| since.elapsed() < LONGEST_CALL);
        if self.running.len() < MOST_EVENTS {
            self.running.insert(stream.to_owned(), Instant::now());
        }
    }

    fn forget_old(&mut self) {
        let is_old = |sent: &Sent| sent.at.elapsed() >= KEPT;
        while let Some(first) = self.events.front() {
            let is_full = self.bytes > MOST_BYTES || self.events.len() >= MOST_EVENTS;
            if !is_full && !is_old(first) {
                break;
            }
            self.bytes -= first.bytes;
            self.events.pop_front();
        }
    }

    /// Whether something later is kept, or will come.
    fn may_follow(&mut self, stream: &str, number: u64) -> bool {
        self.forget_old();
        let will_come = stream.ends_with(COMMON) || self.running.contains_key(stream);
        will_come || self.after(stream, number).is_some()
    }

    /// The first message after this number.
    fn after(&self, stream: &str, number: u64) -> Option<(u64, ServerSseMessage)> {
        let mut later = self.events.iter().filter(|sent| sent.number > number);
        let found = later.find(|sent| sent.stream == stream && sent.event.message.is_some())?;
        Some((found.number, found.event.clone()))
    }
}

fn is_answer(event: &ServerSseMessage) -> bool {
    let message = event.message.as_deref();
    matches!(
        message,
        Some(ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
    )
}

/// How long the event is as JSON.
fn size_of(event: &ServerSseMessage) -> usize {
    struct Count(usize);
    impl Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(200);
    if let Some(message) = &event.message {
        // Counting does not fail, and what cannot be JSON is not sent.
        let _ = serde_json::to_writer(&mut count, message);
    }
    count.0
}

const KEPT: Duration = Duration::from_secs(60);
/// Of all clients.
const MOST_BYTES: usize = 16 * 1024 * 1024;
const MOST_EVENTS: usize = 2_000;
/// No call runs longer.
const LONGEST_CALL: Duration = Duration::from_secs(11 * 60);
/// How rmcp names the stream of a session on which notifications are sent.
const COMMON: &str = ":common";
const UNKNOWN: &str = "what follows this event is not kept any more";

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::StreamExt as _;
    use serde_json::json;

    fn begin() -> ServerSseMessage {
        ServerSseMessage::retry(Duration::from_secs(3))
    }

    fn answer(text: &str) -> ServerSseMessage {
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}});
        ServerSseMessage::from_message(serde_json::from_value(answer).unwrap())
    }

    async fn texts(stream: EventStream) -> Vec<String> {
        let told = |event: ServerSseMessage| serde_json::to_string(&event.message).unwrap();
        stream.map(told).collect().await
    }

    #[tokio::test]
    async fn an_answer_is_sent_again_to_its_own_stream_only() {
        let sent = SentEvents::default();
        let one = sent.store_event("one", &begin()).await.unwrap();
        let two = sent.store_event("two", &begin()).await.unwrap();
        let waiting = sent.replay_events_after(&one).await.unwrap();
        sent.store_event("two", &answer("second")).await.unwrap();
        sent.store_event("one", &answer("first")).await.unwrap();
        for stream in [waiting, sent.replay_events_after(&one).await.unwrap()] {
            let told = texts(stream).await;
            assert!(told.len() == 1 && told[0].contains("first"), "{told:?}");
        }
        let told = texts(sent.replay_events_after(&two).await.unwrap()).await;
        assert!(told.len() == 1 && told[0].contains("second"), "{told:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn old_and_large_answers_are_not_kept() {
        let sent = SentEvents::default();
        let old = sent.store_event("old", &begin()).await.unwrap();
        sent.store_event("old", &answer("old")).await.unwrap();
        tokio::time::advance(KEPT).await;
        assert!(sent.replay_events_after(&old).await.is_err());
        for number in 0..40 {
            let stream = format!("stream {number}");
            sent.store_event(&stream, &begin()).await.unwrap();
            let long = answer(&"x".repeat(1 << 20));
            sent.store_event(&stream, &long).await.unwrap();
        }
        let kept = sent.0.log().bytes;
        assert!(kept <= MOST_BYTES + (2 << 20), "{kept} bytes are kept");
        assert!(sent.0.log().running.is_empty());
    }
}
