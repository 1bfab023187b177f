//! A stream that returns the head of an HTTP response and holds back what follows, so that another reader can
//! continue there.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf, BytesMut};
use memchr::memmem;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The stream.
#[derive(Debug)]
pub(super) struct HttpHeadStream<S> {
    stream: S,
    /// Bytes that were read but not returned yet.
    read: BytesMut,
    /// The last returned bytes, to detect the end of the head across reads.
    given: Vec<u8>,
    is_over: bool,
}

impl<S> HttpHeadStream<S> {
    pub(super) fn new(stream: S) -> Self {
        Self {
            stream,
            read: BytesMut::new(),
            given: Vec::new(),
            is_over: false,
        }
    }

    /// The stream, and the bytes that were read after the head.
    pub(super) fn into_parts(self) -> (BytesMut, S) {
        (self.read, self.stream)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HttpHeadStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.is_over {
            // The head has been returned completely.
            return Poll::Ready(Ok(()));
        }
        if this.read.is_empty() {
            let mut bytes = [0; 4_096];
            let mut piece = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut this.stream).poll_read(cx, &mut piece))?;
            this.read.extend_from_slice(piece.filled());
        }
        let mut seen = this.given.clone();
        seen.extend_from_slice(&this.read);
        let end = memmem::find(&seen, END).map(|at| at + END.len() - this.given.len());
        let most = this.read.len().min(buf.remaining());
        let taken = end.map_or(most, |end| end.min(most));
        this.is_over = end == Some(taken);
        buf.put_slice(&this.read[..taken]);
        this.given.extend_from_slice(&this.read[..taken]);
        let old = this.given.len().saturating_sub(END.len() - 1);
        this.given.drain(..old);
        this.read.advance(taken);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for HttpHeadStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

const END: &[u8] = b"\r\n\r\n";

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    #[tokio::test]
    async fn bytes_after_the_head_are_kept_wherever_it_was_split() {
        let answer = b"HTTP/1.1 101 x\r\na: b\r\n\r\nbehind";
        let head = answer.len() - b"behind".len();
        for cut in 1..answer.len() {
            let (ours, mut theirs) = duplex(1_024);
            let mut held = HttpHeadStream::new(ours);
            let mut read = vec![0; 1_024];
            let mut length = 0;
            theirs.write_all(&answer[..cut]).await.unwrap();
            length += held.read(&mut read[length..]).await.unwrap();
            theirs.write_all(&answer[cut..]).await.unwrap();
            while length < head {
                length += held.read(&mut read[length..]).await.unwrap();
            }
            assert_eq!(&read[..length], &answer[..head], "{cut}");
            let (mut behind, mut stream) = held.into_parts();
            while behind.len() < b"behind".len() {
                stream.read_buf(&mut behind).await.unwrap();
            }
            assert_eq!(&behind[..], b"behind", "{cut}");
        }
    }
}
