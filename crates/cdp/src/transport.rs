//! Transports: how frames travel between us and a browser.

mod assemble;
mod channel;
mod http_head;
mod pipe;
mod websocket;

use std::{future::Future, io};

use bytes::Bytes;

pub(crate) use assemble::HEAD;
pub use assemble::{MAX_ANSWER, MAX_EVENT};
pub use channel::ChannelTransport;
pub use pipe::PipeTransport;
pub use websocket::{ConnectError, Halves, WebSocketTransport};

/// Sends and receives frames, each the JSON text of one message.
pub trait Transport: Send + 'static {
    /// The reading half.
    type Reader: FrameReader;
    /// The writing half.
    type Writer: FrameWriter;

    /// Splits it into two halves, because reading and writing run concurrently.
    fn split(self) -> (Self::Reader, Self::Writer);
}

/// A message as it arrived.
#[derive(Debug)]
pub enum Frame {
    /// The complete message.
    Whole(Bytes),
    /// The kept parts of one that was too large.
    Oversize(Oversize),
}

/// Both ends of a frame that was too large. Chrome writes the command or the event at its head, and the session at
/// its tail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oversize {
    /// Its first bytes.
    pub head: Vec<u8>,
    /// Its last bytes.
    pub tail: Vec<u8>,
    /// Its total length in bytes.
    pub length: u64,
}

impl From<Bytes> for Frame {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(bytes)
    }
}

/// Reads frames.
pub trait FrameReader: Send + 'static {
    /// The next frame; `None` at the end. Need not be cancel-safe.
    fn read(&mut self) -> impl Future<Output = Option<io::Result<Frame>>> + Send;
}

/// Writes frames.
pub trait FrameWriter: Send + 'static {
    /// Writes and flushes one frame.
    fn write(&mut self, frame: String) -> impl Future<Output = io::Result<()>> + Send;

    /// Sends a close message, if the transport has one.
    fn finish(&mut self) -> impl Future<Output = ()> + Send {
        async {}
    }
}
