//! Pipes to a program that we start, and our own standard streams.

use command_fds::{CommandFdExt, FdMapping};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::process::Command;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::process::Child;

/// The reading end of a pipe.
pub use tokio::net::unix::pipe::Receiver;

/// The writing end of a pipe.
pub use tokio::net::unix::pipe::Sender;

/// Starts a program that reads from its descriptor 3 and writes to its descriptor 4, as Chrome does with
/// `--remote-debugging-pipe`. It is in a process group of its own, for [`crate::process::kill_group`]. No other
/// process has an end of these pipes, so they close when either side ends.
///
/// # Errors
/// Those of the system.
pub fn spawn_with_pipes(mut command: Command) -> io::Result<(Child, Receiver, Sender)> {
    let (commands_out, commands_in) = io::pipe()?;
    let (answers_out, answers_in) = io::pipe()?;
    crate::process::own_group(&mut command);
    command
        .fd_mappings(vec![
            FdMapping {
                parent_fd: OwnedFd::from(commands_out),
                child_fd: 3,
            },
            FdMapping {
                parent_fd: OwnedFd::from(answers_in),
                child_fd: 4,
            },
        ])
        .map_err(|error| io::Error::other(error.to_string()))?;
    crate::limits::restore_in(&mut command);
    let child = tokio::process::Command::from(command).spawn()?;
    let write = Sender::from_owned_fd(OwnedFd::from(commands_in))?;
    let read = Receiver::from_owned_fd(OwnedFd::from(answers_out))?;
    Ok((child, read, write))
}

/// A standard stream that can be awaited without a thread: a pipe (on Linux) or a socket. `None` for anything else.
pub fn awaitable_input(
    stream: impl AsFd,
    number: i32,
) -> Option<Box<dyn AsyncRead + Send + Unpin>> {
    if let Some(socket) = as_socket(stream) {
        return Some(Box::new(socket));
    }
    let pipe = pipe::OpenOptions::new().open_receiver(own_path(number));
    Some(Box::new(pipe.ok()?))
}

/// The same for an output.
pub fn awaitable_output(
    stream: impl AsFd,
    number: i32,
) -> Option<Box<dyn AsyncWrite + Send + Unpin>> {
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
        let (reader, mut writer) = io::pipe().unwrap();
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
