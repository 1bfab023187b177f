//! Frames over channels inside this process.

use std::io;

use tokio::sync::mpsc;

use super::{Frame, FrameReader, FrameWriter, Transport};

/// Frames over two channels; the code at the other ends acts as the browser.
#[derive(Debug)]
pub struct ChannelTransport {
    read: mpsc::Receiver<Frame>,
    write: mpsc::Sender<String>,
}

impl ChannelTransport {
    /// A transport, the frames that are written to it, and a sender of frames for it to read.
    #[must_use]
    pub fn new() -> (Self, mpsc::Receiver<String>, mpsc::Sender<Frame>) {
        let (write, written) = mpsc::channel(CAPACITY);
        let (feed, read) = mpsc::channel(CAPACITY);
        (Self { read, write }, written, feed)
    }
}

impl Transport for ChannelTransport {
    type Reader = mpsc::Receiver<Frame>;
    type Writer = mpsc::Sender<String>;

    fn split(self) -> (Self::Reader, Self::Writer) {
        (self.read, self.write)
    }
}

impl FrameReader for mpsc::Receiver<Frame> {
    async fn read(&mut self) -> Option<io::Result<Frame>> {
        self.recv().await.map(Ok)
    }
}

impl FrameWriter for mpsc::Sender<String> {
    async fn write(&mut self, frame: String) -> io::Result<()> {
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        self.send(frame).await.map_err(gone)
    }
}

const CAPACITY: usize = 256;
