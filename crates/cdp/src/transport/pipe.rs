//! The pipe of a launched browser: frames that end with NUL.

use std::{fmt, io};

use memchr::memchr;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

use super::{Frame, FrameReader, FrameWriter, Transport, assemble::FrameAssembler};

/// Frames over two byte streams, as `--remote-debugging-pipe` requires.
pub struct PipeTransport<R, W> {
    read: R,
    write: W,
}

impl<R, W> PipeTransport<R, W> {
    /// Reads frames from `read` and writes them to `write`.
    pub fn new(read: R, write: W) -> Self {
        Self { read, write }
    }
}

impl<R, W> fmt::Debug for PipeTransport<R, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PipeTransport")
    }
}

impl<R, W> Transport for PipeTransport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Reader = PipeReader<R>;
    type Writer = PipeWriter<W>;

    fn split(self) -> (Self::Reader, Self::Writer) {
        let read = BufReader::with_capacity(BUFFER, self.read);
        (PipeReader { read }, PipeWriter { write: self.write })
    }
}

/// The reading half of a [`PipeTransport`].
#[derive(Debug)]
pub struct PipeReader<R> {
    read: BufReader<R>,
}

impl<R: AsyncRead + Send + Unpin + 'static> FrameReader for PipeReader<R> {
    async fn read(&mut self) -> Option<io::Result<Frame>> {
        let mut frame = FrameAssembler::default();
        loop {
            let available = match frame.more(self.read.fill_buf()).await {
                // Bytes without a NUL are an incomplete frame of a browser that is gone.
                Ok([]) => return None,
                Ok(available) => available,
                Err(error) => return Some(Err(error)),
            };
            let end = memchr(0, available);
            let taken = end.unwrap_or(available.len());
            frame.push(&available[..taken]).await;
            self.read.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                return Some(Ok(frame.finish()));
            }
        }
    }
}

/// The writing half of a [`PipeTransport`].
#[derive(Debug)]
pub struct PipeWriter<W> {
    write: W,
}

impl<W: AsyncWrite + Send + Unpin + 'static> FrameWriter for PipeWriter<W> {
    async fn write(&mut self, frame: String) -> io::Result<()> {
        let mut bytes = frame.into_bytes();
        bytes.push(0);
        self.write.write_all(&bytes).await?;
        self.write.flush().await
    }
}

const BUFFER: usize = 64 * 1024;
