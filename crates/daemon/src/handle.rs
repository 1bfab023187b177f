//! How the rest of the process talks to the main loop.

use crate::main_loop::{Event, MainLoop};
use crate::options::SessionOptions;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tabmux_core::SessionId;
use tabmux_protocol::{
    Backend, BackendEvent, CallFailure, CallReply, CallRequest, RequestId, ToolInfo,
};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinHandle;

/// The running main loop. Sessions are opened on it; it ends when it is told to.
#[derive(Debug)]
pub struct Hub {
    events: mpsc::Sender<Event>,
    task: JoinHandle<()>,
    sessions: AtomicU64,
}

impl Hub {
    /// Starts the main loop.
    pub fn start() -> Self {
        let (events, inbox) = mpsc::channel(EVENT_QUEUE);
        let task = tokio::spawn(MainLoop::new(events.clone()).run(inbox));
        Self { events, task, sessions: AtomicU64::new(1) }
    }

    /// Opens a session. It ends when the handle is dropped.
    pub async fn open(&self, options: SessionOptions) -> Handle {
        let session = SessionId(self.sessions.fetch_add(1, Ordering::Relaxed));
        let (notify, notices) = mpsc::channel(NOTICE_QUEUE);
        let open = Event::Open { session, options: Box::new(options), notify };
        // If the loop has ended, every call on the handle says so.
        let _ = self.events.send(open).await;
        Handle { session, events: self.events.clone(), notices: Arc::new(Mutex::new(notices)) }
    }

    /// Ends the loop and every browser that it launched.
    pub async fn shut_down(self) {
        let _ = self.events.send(Event::ShutDown).await;
        let _ = self.task.await;
    }
}

/// One session, in this process.
#[derive(Debug)]
pub struct Handle {
    session: SessionId,
    events: mpsc::Sender<Event>,
    notices: Arc<Mutex<mpsc::Receiver<BackendEvent>>>,
}

impl Backend for Handle {
    async fn tools(&self) -> Result<Vec<ToolInfo>, CallFailure> {
        let (answer, tools) = oneshot::channel();
        let event = Event::Tools { session: self.session, answer };
        self.events.send(event).await.map_err(|_| CallFailure::Closed)?;
        tools.await.map_err(|_| CallFailure::Closed)
    }

    async fn call(&self, request: CallRequest) -> Result<CallReply, CallFailure> {
        let (answer, reply) = oneshot::channel();
        let event = Event::Call { session: self.session, request, answer };
        self.events.send(event).await.map_err(|_| CallFailure::Closed)?;
        reply.await.map_err(|_| CallFailure::Closed)?
    }

    fn cancel(&self, request: &RequestId) {
        self.post(Event::Cancel { session: self.session, request: request.clone() });
    }

    async fn next_event(&self) -> Option<BackendEvent> {
        self.notices.lock().await.recv().await
    }
}

impl Handle {
    /// Sends without waiting; only a full queue makes it a task of its own.
    fn post(&self, event: Event) {
        if let Err(mpsc::error::TrySendError::Full(event)) = self.events.try_send(event) {
            let events = self.events.clone();
            tokio::spawn(async move { events.send(event).await });
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.post(Event::Close { session: self.session });
    }
}

const EVENT_QUEUE: usize = 1_024;
const NOTICE_QUEUE: usize = 256;
