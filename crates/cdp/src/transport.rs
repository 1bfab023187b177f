//! Ways to carry frames between us and a browser.

mod channel;
mod pipe;
mod websocket;

use std::{future::Future, io};

use bytes::Bytes;

pub use channel::ChannelTransport;
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

/// Reads frames.
pub trait FrameReader: Send + 'static {
    /// The next frame; none at the end. Need not survive being cancelled.
    fn read(&mut self) -> impl Future<Output = Option<io::Result<Bytes>>> + Send;
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

/// A frame larger than this ends the connection; a screenshot of a huge page is a tenth of it.
const MAX_FRAME: usize = 512 * 1024 * 1024;
