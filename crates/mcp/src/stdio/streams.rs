//! The process's own streams, without a thread where the system allows it.
//!
//! Tokio reads stdin on a thread that may block. Clients start servers with pipes or (all that
//! run on Node) with sockets, and both can be awaited; so the first answer does not wait for a thread to
//! start, and a read that never returns blocks no thread.

use std::{
    fs::File,
    os::{
        fd::{AsFd, OwnedFd},
        unix::{fs::FileTypeExt as _, net::UnixStream as StdUnixStream},
    },
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{UnixStream, unix::pipe},
};

pub(crate) fn input() -> Box<dyn AsyncRead + Send + Unpin> {
    awaitable_input(std::io::stdin(), 0).unwrap_or_else(|| Box::new(tokio::io::stdin()))
}

pub(crate) fn output() -> Box<dyn AsyncWrite + Send + Unpin> {
    awaitable_output(std::io::stdout(), 1).unwrap_or_else(|| Box::new(tokio::io::stdout()))
}

fn awaitable_input(stream: impl AsFd, number: i32) -> Option<Box<dyn AsyncRead + Send + Unpin>> {
    if let Some(socket) = as_socket(stream) {
        return Some(Box::new(socket));
    }
    let pipe = pipe::OpenOptions::new().open_receiver(own_path(number));
    Some(Box::new(pipe.ok()?))
}

fn awaitable_output(stream: impl AsFd, number: i32) -> Option<Box<dyn AsyncWrite + Send + Unpin>> {
    if let Some(socket) = as_socket(stream) {
        return Some(Box::new(socket));
    }
    let pipe = pipe::OpenOptions::new().open_sender(own_path(number));
    Some(Box::new(pipe.ok()?))
}

// Non-blocking mode belongs to the open file, which other processes may share, so a pipe is opened
// again. A socket cannot be, but no other process holds our end of it.
fn own_path(number: i32) -> String {
    format!("/proc/self/fd/{number}")
}

fn as_socket(stream: impl AsFd) -> Option<UnixStream> {
    let file = File::from(stream.as_fd().try_clone_to_owned().ok()?);
    if !file.metadata().ok()?.file_type().is_socket() {
        return None;
    }
    let socket = StdUnixStream::from(OwnedFd::from(file));
    // Fails for a socket of another family, such as a TCP connection handed over by inetd.
    socket.local_addr().ok()?;
    socket.set_nonblocking(true).ok()?;
    UnixStream::from_std(socket).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{io::Write as _, net::TcpStream, os::fd::AsRawFd as _};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    #[tokio::test]
    async fn pipes_are_awaited_and_stay_blocking_for_others() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let mut input = awaitable_input(&reader, reader.as_raw_fd()).unwrap();
        let mut output = awaitable_output(&writer, writer.as_raw_fd()).unwrap();
        writer.write_all(b"one ").unwrap();
        output.write_all(b"two").await.unwrap();
        drop((writer, output));
        let mut text = String::new();
        input.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "one two");
    }

    #[tokio::test]
    async fn sockets_are_awaited() {
        let (ours, theirs) = StdUnixStream::pair().unwrap();
        let mut input = awaitable_input(&ours, ours.as_raw_fd()).unwrap();
        let mut output = awaitable_output(&theirs, theirs.as_raw_fd()).unwrap();
        output.write_all(b"hello").await.unwrap();
        drop((theirs, output));
        let mut text = String::new();
        input.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "hello");
    }

    #[tokio::test]
    async fn anything_else_is_left_to_threads() {
        let file = File::open("/dev/null").unwrap();
        assert!(awaitable_input(&file, file.as_raw_fd()).is_none());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let tcp = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert!(awaitable_input(&tcp, tcp.as_raw_fd()).is_none());
    }
}
