//! Ends the connections of clients that do not read: what waits for them is kept in memory.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// A stream whose writes fail if the other side takes nothing for a while.
pub(crate) struct Patient<S> {
    stream: S,
    /// When the patience ends, while something waits.
    end: Pin<Box<Sleep>>,
    is_waiting: bool,
}

impl<S> Patient<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self {
            stream,
            end: Box::pin(sleep_until(Instant::now())),
            is_waiting: false,
        }
    }

    /// What came of a write, or that it took too long.
    fn bounded<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.is_waiting = false;
            return written;
        }
        if !self.is_waiting {
            self.is_waiting = true;
            self.end.as_mut().reset(Instant::now() + LIMIT);
        }
        ready!(self.end.as_mut().poll(context));
        let why = "the client does not read";
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, why)))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.bounded(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.bounded(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.bounded(context, shut)
    }
}

/// Without any progress.
const LIMIT: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_is_given_up_and_a_slow_one_is_not() {
        let (ours, mut theirs) = duplex(1024);
        let mut ours = Patient::new(ours);
        let writing = async {
            ours.write_all(&[0; 4096]).await.unwrap();
            ours.write_all(&[0; 4096]).await
        };
        // Reads some bytes now and then, for longer than the limit, and at last none.
        let reading = async {
            let mut part = [0; 1024];
            for _ in 0..5 {
                tokio::time::sleep(LIMIT - Duration::from_secs(1)).await;
                theirs.read_exact(&mut part).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(writing, reading);
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
