//! What the backend tells without being asked, told to the client in the same order.

use crate::audience::Audience;
use futures_util::{FutureExt as _, Stream, StreamExt as _, stream};
use std::{pin::pin, sync::Arc};
use tabmux_protocol::{Backend, BackendEvent, RequestId};
use tokio::{
    sync::{mpsc, oneshot},
    task::unconstrained,
};

/// The one task that takes the backend's events.
pub(crate) struct Herald<B> {
    backend: Arc<B>,
    audience: Arc<Audience>,
    to_settle: mpsc::Receiver<Settle>,
}

/// Asks the herald to tell everything that came before the outcome of a call.
pub(crate) struct Settling(mpsc::Sender<Settle>);

struct Settle {
    call: RequestId,
    done: oneshot::Sender<()>,
}

impl<B: Backend> Herald<B> {
    pub(crate) fn new(backend: Arc<B>, audience: Arc<Audience>) -> (Self, Settling) {
        let (sender, to_settle) = mpsc::channel(SETTLE_QUEUE);
        let herald = Self {
            backend,
            audience,
            to_settle,
        };
        (herald, Settling(sender))
    }

    /// Tells until the backend is gone.
    pub(crate) async fn run(mut self) {
        let backend = Arc::clone(&self.backend);
        let mut events = pin!(stream::unfold(backend, async |backend| {
            let event = backend.next_event().await?;
            Some((event, backend))
        }));
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(event) => self.tell(event).await,
                    None => return,
                },
                Some(settle) = self.to_settle.recv() => {
                    self.tell_what_is_ready(events.as_mut()).await;
                    self.audience.forget(&settle.call);
                    let _ = settle.done.send(());
                }
                () = self.audience.becomes_ready() => self.audience.catch_up().await,
                () = self.audience.somebody_waits() => self.audience.tell_who_waits().await,
            }
        }
    }

    // An event from before a call's outcome is ready by the time the outcome is known, so it is
    // enough to look. Tokio's task budget must not make it look pending.
    async fn tell_what_is_ready(&self, mut events: impl Stream<Item = BackendEvent> + Unpin) {
        while let Some(Some(event)) = unconstrained(events.next()).now_or_never() {
            self.tell(event).await;
        }
    }

    async fn tell(&self, event: BackendEvent) {
        match event {
            BackendEvent::ToolsChanged => self.audience.tell_tools_changed().await,
            BackendEvent::Progress(progress) => self.audience.tell_progress(progress).await,
        }
    }
}

impl Settling {
    /// Returns when everything from before the call's outcome has been told, and its progress
    /// will not be told any more.
    pub(crate) async fn settle(&self, call: RequestId) {
        let (done, settled) = oneshot::channel();
        if self.0.send(Settle { call, done }).await.is_ok() {
            let _ = settled.await;
        }
    }
}

const SETTLE_QUEUE: usize = 64;
