//! Passes events of the backend on to the client, in the same order.

use crate::{ServeError, ending::Ending, subscribers::Subscribers};
use futures_util::{FutureExt as _, Stream, StreamExt as _, stream};
use std::{pin::pin, sync::Arc};
use tabmux_protocol::{Backend, BackendEvent, RequestId};
use tokio::{
    sync::{mpsc, oneshot},
    task::unconstrained,
};

/// The one task that receives the backend's events.
pub(crate) struct Notifier<B> {
    backend: Arc<B>,
    subscribers: Arc<Subscribers>,
    ending: Ending,
    flushes: mpsc::Receiver<Flush>,
}

/// Makes the notifier send everything that came before the outcome of a call.
pub(crate) struct Flusher(mpsc::Sender<Flush>);

struct Flush {
    call: RequestId,
    done: oneshot::Sender<()>,
}

impl<B: Backend> Notifier<B> {
    pub(crate) fn new(
        backend: Arc<B>,
        subscribers: Arc<Subscribers>,
        ending: Ending,
    ) -> (Self, Flusher) {
        let (sender, flushes) = mpsc::channel(FLUSH_QUEUE);
        let notifier = Self {
            backend,
            subscribers,
            ending,
            flushes,
        };
        (notifier, Flusher(sender))
    }

    /// Runs until the backend stops, which ends the connection.
    pub(crate) async fn run(mut self) {
        self.pass_on_all().await;
        self.ending.end_with(ServeError::BackendGone);
    }

    async fn pass_on_all(&mut self) {
        let backend = Arc::clone(&self.backend);
        let mut events = pin!(stream::unfold(backend, async |backend| {
            let event = backend.next_event().await?;
            Some((event, backend))
        }));
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(event) => self.pass_on(event).await,
                    None => return,
                },
                Some(flush) = self.flushes.recv() => {
                    self.pass_on_ready(events.as_mut()).await;
                    self.subscribers.forget(&flush.call);
                    let _ = flush.done.send(());
                }
                () = self.subscribers.becomes_ready() => self.subscribers.catch_up().await,
                () = self.subscribers.until_heartbeat_due() => self.subscribers.send_heartbeats().await,
            }
        }
    }

    // An event from before a call's outcome is ready by the time the outcome is known, so it is
    // enough to poll. `unconstrained`, so that Tokio's task budget does not make it look pending.
    async fn pass_on_ready(&self, mut events: impl Stream<Item = BackendEvent> + Unpin) {
        while let Some(Some(event)) = unconstrained(events.next()).now_or_never() {
            self.pass_on(event).await;
        }
    }

    async fn pass_on(&self, event: BackendEvent) {
        match event {
            BackendEvent::ToolsChanged => self.subscribers.notify_tools_changed().await,
            BackendEvent::ResourceChanged(uri) => {
                self.subscribers.notify_resource_changed(&uri).await;
            }
            BackendEvent::Progress(progress) => self.subscribers.notify_progress(progress).await,
        }
    }
}

impl Flusher {
    /// Returns when everything from before the call's outcome has been sent, and no more progress of the
    /// call will be sent.
    pub(crate) async fn flush(&self, call: RequestId) {
        let (done, flushed) = oneshot::channel();
        if self.0.send(Flush { call, done }).await.is_ok() {
            let _ = flushed.await;
        }
    }
}

const FLUSH_QUEUE: usize = 64;
