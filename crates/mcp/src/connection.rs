//! One client, whatever transport it uses: the state that the handler and its helpers share.

use crate::{
    ending::Ending,
    handler::Handler,
    notifier::{Flusher, Notifier},
    roots::Roots,
    subscribers::Subscribers,
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use tabmux_protocol::{Backend, RequestId};
use tokio::sync::{Semaphore, SemaphorePermit};

pub(crate) struct Connection<B> {
    pub(crate) backend: Arc<B>,
    pub(crate) subscribers: Arc<Subscribers>,
    pub(crate) ending: Ending,
    pub(crate) flusher: Flusher,
    pub(crate) roots: Roots,
    permits: Semaphore,
    next_call: AtomicU64,
}

impl<B: Backend> Connection<B> {
    /// The two halves that a transport runs: the handler answers the client's messages, the notifier sends the
    /// backend's events. A transport passes every message through [`Handler::intake`] first, and stops when
    /// [`Handler::ending`] says so.
    pub(crate) fn start(backend: impl Into<Arc<B>>) -> (Handler<B>, Notifier<B>) {
        let backend = backend.into();
        let ending = Ending::default();
        let subscribers = Arc::new(Subscribers::default());
        let (notifier, flusher) = Notifier::new(
            Arc::clone(&backend),
            Arc::clone(&subscribers),
            ending.clone(),
        );
        let connection = Self {
            backend,
            subscribers,
            ending,
            flusher,
            roots: Roots::default(),
            permits: Semaphore::new(MOST_CALLS_AT_ONCE),
            next_call: AtomicU64::new(1),
        };
        (Handler::new(connection), notifier)
    }

    /// A permit for one more call, unless too many are running.
    pub(crate) fn permit(&self) -> Option<SemaphorePermit<'_>> {
        self.permits.try_acquire().ok()
    }

    /// An id for a call that is unique in this session. The client's own id may not be: `1` and `"1"` look
    /// alike, and a client may use one twice.
    pub(crate) fn next_id(&self) -> RequestId {
        let number = self.next_call.fetch_add(1, Ordering::Relaxed);
        RequestId(number.to_string())
    }
}

const MOST_CALLS_AT_ONCE: usize = 1_024;
