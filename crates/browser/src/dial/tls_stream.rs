//! A TLS stream whose failed writes say why the server has ended it. A server of TLS 1.3 checks the certificate of a
//! client after the client's handshake is done. A write then meets a closed connection, and the reason is the server's
//! last message, which nobody has read yet.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client;

/// A stream after its handshake.
pub(crate) struct TlsStream {
    stream: Box<client::TlsStream<TcpStream>>,
    /// Whether the server has sent anything: then it has accepted us, and another task may be waiting for more.
    is_accepted: bool,
}

impl TlsStream {
    pub(super) fn new(stream: client::TlsStream<TcpStream>) -> Self {
        Self {
            stream: Box::new(stream),
            is_accepted: false,
        }
    }

    /// The error of a write, or what the server said before it closed the connection. That has arrived already: the
    /// write fails because the end of the connection has, which comes after it.
    fn reason(&mut self, context: &mut Context<'_>, error: io::Error) -> io::Error {
        if self.is_accepted {
            return error;
        }
        let mut unread = [0; 1];
        let mut buffer = ReadBuf::new(&mut unread);
        match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
            Poll::Ready(Err(said)) if is_about_tls(&said) => said,
            _ => error,
        }
    }
}

fn is_about_tls(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(|inner| inner.is::<rustls::Error>())
}

impl AsyncRead for TlsStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, buffer));
        self.is_accepted |= buffer.filled().len() > before;
        Poll::Ready(read)
    }
}

impl AsyncWrite for TlsStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, bytes));
        Poll::Ready(written.map_err(|error| self.reason(context, error)))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(Pin::new(&mut self.stream).poll_flush(context));
        Poll::Ready(flushed.map_err(|error| self.reason(context, error)))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
pub(super) mod tests;
