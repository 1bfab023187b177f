//! Ways to carry frames between us and a browser.

mod channel;
mod gather;
mod held_back;
mod pipe;
mod websocket;

use std::{future::Future, io};

use bytes::Bytes;

pub use channel::ChannelTransport;
pub(crate) use gather::HEAD;
pub use gather::{MAX_ANSWER, MAX_EVENT};
pub use pipe::PipeTransport;
pub use websocket::{ConnectError, WebSocketTransport};

/// Carries frames, each the JSON text of one message, both ways.
pub trait Transport: Send + 'static {
    /// The half that frames arrive from.
    type Reader: FrameReader;
    /// The half that frames leave by.
    type Writer: FrameWriter;

    /// Takes the halves apart, because reading and writing go on at the same time.
    fn split(self) -> (Self::Reader, Self::Writer);
}

/// A message as it arrived.
#[derive(Debug)]
pub enum Frame {
    /// All of it.
    Whole(Bytes),
    /// What is left of one that was too large to be kept.
    Oversize(Oversize),
}

/// Both ends of a frame that was too large to be kept. Chrome writes the command or the event at its head, and the
/// session at its tail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oversize {
    /// Its first bytes.
    pub head: Vec<u8>,
    /// Its last bytes.
    pub tail: Vec<u8>,
    /// How many bytes it had in all.
    pub length: u64,
}

impl From<Bytes> for Frame {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(bytes)
    }
}

/// Reads frames.
pub trait FrameReader: Send + 'static {
    /// The next frame; none at the end. Need not survive being cancelled.
    fn read(&mut self) -> impl Future<Output = Option<io::Result<Frame>>> + Send;
}

/// Writes frames.
pub trait FrameWriter: Send + 'static {
    /// Writes one frame, and does not keep it back.
    fn write(&mut self, frame: String) -> impl Future<Output = io::Result<()>> + Send;

    /// Says goodbye, if the transport has a way to.
    fn finish(&mut self) -> impl Future<Output = ()> + Send {
        async {}
    }
}
