//! Properties that must hold for anything a browser sends. `fuzz/` runs this with random bytes, tests with the saved
//! corpus.

use crate::transport::PipeTransport;
use crate::types::{Event, fetch, network, page, runtime, target, web_mcp};
use crate::{Connection, Events, RawEvent};
use futures_util::future::join_all;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::runtime::Runtime;

/// A browser writes these bytes to its pipe and exits, while commands wait for their responses.
///
/// # Panics
/// If a command has no outcome, there are more events than frames, or parsing makes the data much larger.
pub fn cdp_frames(data: &[u8]) {
    let Some((piece, written)) = data.split_first() else {
        return;
    };
    let frames = written.split(|byte| *byte == 0).count();
    let read = Pieces {
        rest: written.to_vec(),
        longest: usize::from(*piece) + 1,
    };
    RUNTIME.with(|runtime| {
        runtime.block_on(async {
            let (browser, mut events) =
                Connection::start(PipeTransport::new(read, tokio::io::sink()));
            let commands = (0..COMMANDS).map(|_| browser.send_raw("A.b", &(), LIMIT));
            // The browser is gone, so no command waits for its timeout.
            let outcomes = join_all(commands).await;
            let answers: usize = outcomes.iter().flatten().map(|raw| raw.get().len()).sum();
            assert!(answers <= written.len() + "null".len() * COMMANDS);
            let seen = drain(&mut events, written.len()).await;
            assert!(seen <= frames, "{seen} events in {frames} frames");
        });
    });
    if let Ok(text) = str::from_utf8(written) {
        assert_eq!(
            tabmux_text::decode::<serde_json::Value>(text).ok(),
            tabmux_text::decode::<serde_json::Value>(text).ok()
        );
        typed(text, written.len());
    }
}

/// Reads all remaining events, including those of child sessions. Returns their number.
async fn drain(events: &mut Events, bytes: usize) -> usize {
    let mut seen = 0;
    while let Some(mut event) = events.next().await {
        seen += 1;
        let params = event.params().get();
        assert!(params.len() <= bytes.max("null".len()));
        read_as_everything(&event, bytes);
        if let Some((_session, mut inside)) = event.child.take() {
            seen += Box::pin(drain(&mut inside, bytes)).await;
        }
    }
    seen
}

fn read_as_everything(event: &RawEvent, bytes: usize) {
    assert!(event.method().len() <= bytes);
    typed(event.params().get(), bytes);
}

/// Parses the text as every event that we handle. The result must not be much larger than the text.
fn typed(text: &str, bytes: usize) {
    fn read<E: Event + std::fmt::Debug>(text: &str, bytes: usize) {
        if let Ok(event) = tabmux_text::decode::<E>(text) {
            let shown = format!("{event:?}").len();
            // Names of fields, and the escapes that Debug adds.
            assert!(
                shown <= 8_000 + 60 * bytes,
                "{} became {shown} bytes",
                E::METHOD
            );
        }
    }
    read::<target::AttachedToTarget>(text, bytes);
    read::<target::TargetInfoChanged>(text, bytes);
    read::<page::FrameNavigated>(text, bytes);
    read::<page::JavascriptDialogOpening>(text, bytes);
    read::<runtime::ConsoleAPICalled>(text, bytes);
    read::<runtime::ExceptionThrown>(text, bytes);
    read::<runtime::BindingCalled>(text, bytes);
    read::<network::RequestWillBeSent>(text, bytes);
    read::<network::ResponseReceived>(text, bytes);
    read::<fetch::RequestPaused>(text, bytes);
    read::<web_mcp::ToolsAdded>(text, bytes);
}

/// Bytes that arrive in pieces.
struct Pieces {
    rest: Vec<u8>,
    longest: usize,
}

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let length = self.longest.min(self.rest.len()).min(buffer.remaining());
        buffer.put_slice(&self.rest[..length]);
        self.rest.drain(..length);
        Poll::Ready(Ok(()))
    }
}

thread_local! {
    static RUNTIME: Runtime = {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_time().build().expect("a runtime for one thread")
    };
}

/// Frames can answer this many commands, with ids from 1 on.
const COMMANDS: usize = 3;
const LIMIT: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_browser_sends_is_read_or_ignored() {
        tabmux_testkit::play_corpus("cdp_frames", cdp_frames);
    }
}
