//! Lines of JSON over the daemon's socket, bounded on both sides.

use futures_util::{SinkExt, StreamExt};
use serde::Serialize;
use std::io;
use tabmux_platform::socket::{ReadHalf, Stream, WriteHalf};
use tabmux_protocol::wire::LONGEST_LINE;
use tokio_util::codec::{FramedRead, FramedWrite, LinesCodec, LinesCodecError};

/// The reading end.
pub struct LineReader(FramedRead<ReadHalf, LinesCodec>);

/// The writing end.
pub struct LineWriter(FramedWrite<WriteHalf, LinesCodec>);

/// Both ends of a connection.
pub fn split(stream: Stream) -> (LineReader, LineWriter) {
    let (read, write) = stream.into_split();
    let codec = LinesCodec::new_with_max_length(LONGEST_LINE);
    (
        LineReader(FramedRead::new(read, codec.clone())),
        LineWriter(FramedWrite::new(write, codec)),
    )
}

impl LineReader {
    /// The next line, or `None` when the connection is closed. An error says why the other side cannot be
    /// tabmux; nothing after it can be trusted.
    pub async fn next(&mut self) -> Option<Result<String, &'static str>> {
        Some(match self.0.next().await? {
            Ok(line) if VERBS.iter().any(|verb| line.starts_with(verb)) => Err("this is HTTP"),
            Ok(line) => Ok(line),
            Err(LinesCodecError::MaxLineLengthExceeded) => Err("the line is too long"),
            Err(LinesCodecError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                Err("the line is not UTF-8")
            }
            Err(LinesCodecError::Io(_)) => return None,
        })
    }
}

impl LineWriter {
    /// Writes one message.
    ///
    /// # Errors
    /// When the line is too long, which [`is_too_long`] recognises and which wrote nothing, or the connection is closed.
    pub async fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        let line = serde_json::to_string(message)?;
        // The other side would reject it and close the connection.
        if line.len() > LONGEST_LINE {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.send(line).await.map_err(|error| match error {
            LinesCodecError::Io(error) => error,
            LinesCodecError::MaxLineLengthExceeded => io::Error::other("the line is too long"),
        })
    }
}

/// Whether a message was not written because it is too long. Further messages can be sent.
pub fn is_too_long(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::FileTooLarge
}

/// How a request of a web page begins, if it reaches the socket through a proxy.
const VERBS: [&str; 8] = [
    "GET ", "POST ", "PUT ", "HEAD ", "DELETE ", "OPTIONS ", "PATCH ", "CONNECT ",
];
