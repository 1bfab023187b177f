//! Reads messages from a websocket, of any size and in any number of fragments (RFC 6455).

use std::io;

use bytes::Bytes;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

use crate::transport::{Frame, assemble::FrameAssembler};

/// What a server sends.
#[derive(Debug)]
pub(super) enum Received {
    /// A message.
    Message(Frame),
    /// A ping, to be answered with the same bytes.
    Ping(Bytes),
    /// A close message.
    Close,
}

/// The message that is arriving: control messages may come between its fragments.
#[derive(Debug, Default)]
pub(super) struct MessageReader {
    message: FrameAssembler,
    is_begun: bool,
}

impl MessageReader {
    /// The next message.
    pub(super) async fn next(
        &mut self,
        read: &mut (impl AsyncBufRead + Unpin),
    ) -> io::Result<Received> {
        loop {
            let header = self.message.more(Header::read(read)).await?;
            match header.opcode {
                CONTINUATION if self.is_begun => {}
                TEXT | BINARY if !self.is_begun => self.is_begun = true,
                PING | PONG | CLOSE if header.is_last && header.length <= MOST_CONTROL => {
                    let mut bytes = vec![0; header.length as usize];
                    read.read_exact(&mut bytes).await?;
                    match header.opcode {
                        CLOSE => return Ok(Received::Close),
                        PING => return Ok(Received::Ping(bytes.into())),
                        _ => continue,
                    }
                }
                _ => return Err(broken("an unexpected frame")),
            }
            self.take(header.length, read).await?;
            if header.is_last {
                self.is_begun = false;
                return Ok(Received::Message(self.message.finish()));
            }
        }
    }

    async fn take(
        &mut self,
        mut left: u64,
        read: &mut (impl AsyncBufRead + Unpin),
    ) -> io::Result<()> {
        while left > 0 {
            let available = self.message.more(read.fill_buf()).await?;
            if available.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let taken = available
                .len()
                .min(usize::try_from(left).unwrap_or(usize::MAX));
            self.message.push(&available[..taken]).await;
            read.consume(taken);
            left -= taken as u64;
        }
        Ok(())
    }
}

struct Header {
    is_last: bool,
    opcode: u8,
    length: u64,
}

impl Header {
    async fn read(read: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Self> {
        let (first, second) = (read.read_u8().await?, read.read_u8().await?);
        if first & 0b0111_0000 != 0 {
            return Err(broken("an extension that was not negotiated"));
        }
        if second & 0b1000_0000 != 0 {
            return Err(broken("a masked frame, which only clients send"));
        }
        Ok(Self {
            is_last: first & 0b1000_0000 != 0,
            opcode: first & 0b1111,
            length: match second {
                126 => read.read_u16().await?.into(),
                127 => read.read_u64().await?,
                length => length.into(),
            },
        })
    }
}

fn broken(what: &str) -> io::Error {
    io::Error::other(format!("the browser broke the websocket protocol: {what}"))
}

const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// The longest control message.
const MOST_CONTROL: u64 = 125;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::MAX_EVENT;

    /// A frame with this first byte.
    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![first];
        match payload.len() {
            length @ 0..126 => bytes.push(length as u8),
            length @ 126..65_536 => {
                bytes.push(126);
                bytes.extend((length as u16).to_be_bytes());
            }
            length => {
                bytes.push(127);
                bytes.extend((length as u64).to_be_bytes());
            }
        }
        bytes.extend_from_slice(payload);
        bytes
    }

    async fn received(frames: &[Vec<u8>]) -> Vec<String> {
        let bytes = frames.concat();
        let mut read = tokio::io::BufReader::with_capacity(777, &bytes[..]);
        let mut reader = MessageReader::default();
        let mut all = Vec::new();
        loop {
            let text = match reader.next(&mut read).await {
                Ok(Received::Message(Frame::Whole(bytes))) => match bytes.len() {
                    0..40 => String::from_utf8_lossy(&bytes).into_owned(),
                    length => length.to_string(),
                },
                Ok(Received::Message(Frame::Oversize(cut))) => format!("cut {}", cut.length),
                Ok(Received::Ping(bytes)) => format!("ping {}", String::from_utf8_lossy(&bytes)),
                Ok(Received::Close) => "close".to_owned(),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return all,
                Err(_) => {
                    all.push("broken".to_owned());
                    return all;
                }
            };
            all.push(text);
        }
    }

    #[tokio::test]
    async fn messages_of_any_length_and_in_fragments_are_read() {
        let told = [
            frame(0x81, b"text"),
            frame(0x82, b""),
            frame(0x81, &[b'x'; 126]),
            frame(0x81, &[b'x'; 70_000]),
            frame(0x89, b"there?"),
            frame(0x01, b"one "),
            frame(0x00, b""),
            frame(0x89, b"and now?"),
            frame(0x00, b"two "),
            frame(0x80, b"three"),
            frame(0x8a, b"nobody asked"),
            frame(0x88, b""),
        ];
        let expected = [
            "text",
            "",
            "126",
            "70000",
            "ping there?",
            "ping and now?",
            "one two three",
            "close",
        ];
        assert_eq!(received(&told).await, expected);
    }

    #[tokio::test]
    async fn an_oversize_message_is_skipped_and_the_next_one_read() {
        let half = vec![b'x'; MAX_EVENT / 2 + 1];
        let whole = [&half[..], &half[..]].concat();
        let told = [
            frame(0x81, &whole),
            frame(0x81, b"next"),
            frame(0x01, &half),
            frame(0x80, &half),
            frame(0x81, b"last"),
        ];
        let cut = format!("cut {}", whole.len());
        assert_eq!(received(&told).await, [&cut, "next", &cut, "last"]);
    }

    #[tokio::test]
    async fn what_breaks_the_protocol_ends_the_connection() {
        for frames in [
            [frame(0x80, b"goes on with nothing"), frame(0x81, b"next")],
            [frame(0x01, b"unfinished"), frame(0x81, b"next")],
            [frame(0xc1, b"compressed"), frame(0x81, b"next")],
            [frame(0x89, &[b'x'; 126]), frame(0x81, b"next")],
            [frame(0x83, b"unknown"), frame(0x81, b"next")],
            [vec![0x81, 0x80, 0, 0, 0, 0], frame(0x81, b"next")],
        ] {
            assert_eq!(received(&frames).await, ["broken"]);
        }
    }

    #[tokio::test]
    async fn an_incomplete_message_is_not_delivered() {
        assert!(received(&[vec![0x81, 127, 0, 0]]).await.is_empty());
        assert!(
            received(&[vec![0x81, 127, 255, 255, 255, 255, 255, 255, 255, 255, 1]])
                .await
                .is_empty()
        );
        assert!(received(&[vec![0x81, 5, b'x']]).await.is_empty());
    }
}
