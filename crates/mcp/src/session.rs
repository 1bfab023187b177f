//! What the handler of one client shares with its other parts.

use crate::{audience::Audience, ending::Ending, herald::Settling, roots::Roots};
use rmcp::{RoleServer, service::RequestContext};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use tabmux_protocol::{Backend, RequestId};
use tokio::sync::{Semaphore, SemaphorePermit};

pub(crate) struct Session<B> {
    pub(crate) backend: Arc<B>,
    pub(crate) audience: Arc<Audience>,
    pub(crate) ending: Ending,
    pub(crate) settling: Settling,
    pub(crate) roots: Roots,
    places: Semaphore,
    next_call: AtomicU64,
}

impl<B: Backend> Session<B> {
    pub(crate) fn new(
        backend: Arc<B>,
        audience: Arc<Audience>,
        ending: Ending,
        settling: Settling,
    ) -> Self {
        Self {
            backend,
            audience,
            ending,
            settling,
            roots: Roots::default(),
            places: Semaphore::new(MOST_CALLS_AT_ONCE),
            next_call: AtomicU64::new(1),
        }
    }

    /// A place for one more call, if there is one.
    pub(crate) fn place(&self) -> Option<SemaphorePermit<'_>> {
        self.places.try_acquire().ok()
    }

    /// A name for a call that no other call of this session has. The client's own id is no such
    /// name: `1` and `"1"` look alike, and nothing keeps a client from using one twice.
    pub(crate) fn name_call(&self, context: &RequestContext<RoleServer>) -> RequestId {
        let number = self.next_call.fetch_add(1, Ordering::Relaxed);
        RequestId(format!("{}#{number}", context.id))
    }
}

const MOST_CALLS_AT_ONCE: usize = 1_024;
