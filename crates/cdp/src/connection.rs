//! A connection to a browser: the mux, and the tasks that read and write.

use std::{
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    sync::{mpsc, watch},
    time::sleep,
};

use crate::{
    envelope::Incoming,
    events::Events,
    mux::Mux,
    session::Session,
    transport::{Frame, FrameReader, FrameWriter, Transport},
};

/// A handle of the connection to a browser. The connection ends when its transport does, when it is closed, or when
/// the last handle ([`Connection`] or [`Session`]) is dropped; an [`Events`] does not keep it alive.
#[derive(Debug, Clone)]
pub struct Connection {
    handle: Arc<Handle>,
}

impl Connection {
    /// Starts the protocol over `transport`. Returns the session of the browser itself and its events.
    ///
    /// # Panics
    ///
    /// Outside of a Tokio runtime.
    #[must_use]
    pub fn start(transport: impl Transport) -> (Session, Events) {
        let (reader, writer) = transport.split();
        let (frames, queued_frames) = mpsc::channel(WRITER_CAPACITY);
        let (mux, events) = Mux::new(frames);
        let shared = Arc::new(Shared {
            mux: Mutex::new(mux),
            over: watch::Sender::new(false),
        });
        let handle = Arc::new(Handle {
            shared: Arc::clone(&shared),
        });
        tokio::spawn(run_writer(writer, queued_frames, Arc::clone(&shared)));
        tokio::spawn(run_reader(reader, shared, Arc::downgrade(&handle)));
        (Session::new(Self { handle }, None), events)
    }

    /// The session of the browser itself.
    #[must_use]
    pub fn root(&self) -> Session {
        Session::new(self.clone(), None)
    }

    /// Resolves when the connection has ended. Does not keep it alive.
    pub fn closed(&self) -> impl Future<Output = ()> + Send + 'static {
        wait_until_over(self.handle.shared.over.subscribe())
    }

    /// Ends the connection now: pending commands fail, all event queues end. Commands that are already queued are
    /// still written.
    pub fn close(&self) {
        self.handle.shared.disconnect();
    }

    pub(crate) fn mux(&self) -> MutexGuard<'_, Mux> {
        self.handle.shared.mux()
    }
}

/// Exists as long as code outside of this crate holds the connection.
#[derive(Debug)]
struct Handle {
    shared: Arc<Shared>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        // Only the signal: the last handle may be dropped while the mux is locked. The reader does the rest.
        self.shared.over.send_replace(true);
    }
}

/// State shared by the handles and the tasks. A plain lock, because it is never held across an await.
#[derive(Debug)]
struct Shared {
    mux: Mutex<Mux>,
    over: watch::Sender<bool>,
}

impl Shared {
    fn mux(&self) -> MutexGuard<'_, Mux> {
        self.mux.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn disconnect(&self) {
        self.mux().disconnect();
        self.over.send_replace(true);
    }
}

async fn run_reader(mut reader: impl FrameReader, shared: Arc<Shared>, handle: Weak<Handle>) {
    let over = wait_until_over(shared.over.subscribe());
    let reading = async {
        while let Some(frame) = reader.read().await {
            match frame {
                Ok(Frame::Whole(frame)) => read_frame(&frame, &shared, &handle),
                Ok(Frame::Oversize(frame)) => shared.mux().route_oversize(frame),
                Err(error) => {
                    tracing::warn!(%error, "the connection to the browser broke");
                    break;
                }
            }
        }
    };
    tokio::select! {
        () = reading => {}
        () = over => {}
    }
    shared.disconnect();
}

fn read_frame(frame: &Bytes, shared: &Shared, handle: &Weak<Handle>) {
    let Some(message) = Incoming::parse(frame) else {
        tracing::warn!(
            bytes = frame.len(),
            "ignored a frame that is not a protocol message"
        );
        return;
    };
    shared.mux().route(frame, message, |id| {
        let connection = Connection {
            handle: handle.upgrade()?,
        };
        Some(Session::new(connection, Some(id)))
    });
}

async fn run_writer(
    mut writer: impl FrameWriter,
    mut frames: mpsc::Receiver<String>,
    shared: Arc<Shared>,
) {
    let over = wait_until_over(shared.over.subscribe());
    let writing = async {
        while let Some(frame) = frames.recv().await {
            if let Err(error) = writer.write(frame).await {
                tracing::warn!(%error, "the connection to the browser broke");
                break;
            }
        }
        // Also reached when the connection was closed: its queue ends after the frames that are already in it.
        writer.finish().await;
    };
    tokio::select! {
        () = writing => {}
        () = async { over.await; sleep(FLUSH_LIMIT).await } => {}
    }
    shared.disconnect();
}

async fn wait_until_over(mut over: watch::Receiver<bool>) {
    // An error means that the connection has ended and was dropped.
    _ = over.wait_for(|over| *over).await;
}

/// How many frames may be queued for the browser.
const WRITER_CAPACITY: usize = 1_024;

/// How long a closed connection may keep writing the frames that were queued before.
const FLUSH_LIMIT: Duration = Duration::from_secs(1);
