//! A session of a process that may not start a daemon.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tabmux_client::{Opening, Place, RemoteSession};
use tabmux_protocol::session::{ClientInfo, SessionOptions};

/// A session at this place, and how often it tried to start a daemon there.
pub(crate) fn open(place: Place) -> (RemoteSession, Arc<AtomicUsize>) {
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let session = RemoteSession::open(Opening {
        place,
        client: ClientInfo::default(),
        options: SessionOptions::default(),
        name: None,
        start: Box::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            Err(std::io::Error::other(
                "there is no program to start in this test",
            ))
        }),
    });
    (session, tries)
}
