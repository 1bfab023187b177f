//! Limits the frames that pass from the network to a websocket: refuses long messages, and splits large frames.
//!
//! The websocket's own limits are fixed when it is created, and it keeps a buffer as large as the largest frame for
//! its whole life. So lengths are checked here before anything is buffered, by a limit that rises once the other side
//! has identified itself; and a large frame is passed on as several (RFC 6455, 5.4).

use super::large_messages::Slot;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream whose incoming frames are limited.
pub(super) struct Gate<S> {
    stream: S,
    /// The current limit for a message.
    longest: usize,
    slot: Option<Slot>,
    /// Data that was read but not passed on.
    chunk: Box<[u8; CHUNK]>,
    unread: std::ops::Range<usize>,
    /// The part of the current piece's header that is not passed on yet.
    header: Vec<u8>,
    /// The bytes of that piece that are not passed on yet.
    piece: u64,
    /// The rest of the frame after that piece.
    rest: Rest,
    /// The payload bytes of the message so far.
    message: u64,
}

/// The part of a frame that the websocket has not seen yet.
#[derive(Clone, Copy, Debug, Default)]
struct Rest {
    /// The first byte of its header.
    flags: u8,
    mask: Option<[u8; 4]>,
    left: u64,
}

impl<S> Gate<S> {
    pub(super) fn new(stream: S, longest: usize) -> Self {
        Self {
            stream,
            longest,
            slot: None,
            chunk: Box::new([0; CHUNK]),
            unread: 0..0,
            header: Vec::with_capacity(MOST_HEADER),
            piece: 0,
            rest: Rest::default(),
            message: 0,
        }
    }

    /// Raises the message limit; large messages need the slot.
    pub(super) fn open(&mut self, longest: usize, slot: Slot) {
        self.longest = longest;
        self.slot = Some(slot);
    }

    /// Returns the stream, to read its last bytes.
    pub(super) fn into_stream(self) -> S {
        self.stream
    }

    /// The last message was consumed and freed.
    pub(super) fn release(&mut self) {
        if let Some(slot) = &mut self.slot {
            slot.release();
        }
    }

    /// Passes on data: at most one message at a time, so that the next one is checked after this one was consumed.
    fn pass(&mut self, out: &mut ReadBuf<'_>) -> io::Result<Passed> {
        let before = out.filled().len();
        loop {
            let some = out.filled().len() > before;
            if out.remaining() == 0 {
                return Ok(Passed::Some);
            }
            if !self.header.is_empty() {
                let count = self.header.len().min(out.remaining());
                out.put_slice(&self.header[..count]);
                self.header.drain(..count);
            } else if self.piece > 0 {
                let most = usize::try_from(self.piece).unwrap_or(usize::MAX);
                let count = self.unread.len().min(most).min(out.remaining());
                if count == 0 {
                    return Ok(if some { Passed::Some } else { Passed::Nothing });
                }
                let from = self.unread.start;
                out.put_slice(&self.chunk[from..from + count]);
                self.unread.start += count;
                self.piece -= count as u64;
            } else if self.rest.left > 0 {
                self.announce();
            } else if some {
                return Ok(Passed::Some);
            } else {
                match self.read_header()? {
                    Some(true) => self.announce(),
                    Some(false) => return Ok(Passed::NeedsSlot),
                    None => return Ok(Passed::Nothing),
                }
            }
        }
    }

    /// Reads a frame's header, if it is complete and allowed. False if a slot is needed first.
    fn read_header(&mut self) -> io::Result<Option<bool>> {
        let Some((header, size)) = Rest::parse(&self.chunk[self.unread.clone()]) else {
            return Ok(None);
        };
        let mut message = self.message;
        if header.is_control() {
            if header.left > MOST_CONTROL {
                return Err(too_long());
            }
        } else {
            message = message.saturating_add(header.left);
            if message > self.longest as u64 {
                return Err(too_long());
            }
        }
        if message > LARGE && self.slot.as_ref().is_some_and(|slot| !slot.is_held()) {
            return Ok(Some(false));
        }
        self.unread.start += size;
        self.message = match header.ends_message() {
            true => 0,
            false => message,
        };
        self.rest = header;
        Ok(Some(true))
    }

    /// Builds the header of the next piece.
    fn announce(&mut self) {
        let rest = &mut self.rest;
        let piece = rest.left.min(PIECE);
        rest.left -= piece;
        let is_last = rest.left == 0;
        let flags = if is_last {
            rest.flags
        } else {
            rest.flags & !FIN
        };
        self.header.push(flags);
        let masked = if rest.mask.is_some() { MASKED } else { 0 };
        match u8::try_from(piece) {
            Ok(short @ 0..=125) => self.header.push(masked | short),
            _ => {
                self.header.push(masked | 127);
                self.header.extend(piece.to_be_bytes());
            }
        }
        self.header.extend(rest.mask.iter().flatten());
        self.piece = piece;
        // The following pieces are continuation frames.
        rest.flags &= FIN;
    }
}

enum Passed {
    Some,
    /// More data must be read.
    Nothing,
    NeedsSlot,
}

impl Rest {
    /// A header and its size, if it is complete.
    fn parse(bytes: &[u8]) -> Option<(Self, usize)> {
        let (&flags, &length) = (bytes.first()?, bytes.get(1)?);
        let (left, at) = match length & !MASKED {
            126 => {
                let long = bytes.get(2..4)?.try_into().ok()?;
                (u64::from(u16::from_be_bytes(long)), 4)
            }
            127 => (u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?), 10),
            short => (u64::from(short), 2),
        };
        let (mask, size) = match length & MASKED {
            0 => (None, at),
            _ => (Some(bytes.get(at..at + 4)?.try_into().ok()?), at + 4),
        };
        Some((Self { flags, mask, left }, size))
    }

    fn is_control(&self) -> bool {
        self.flags & CONTROL != 0
    }

    fn ends_message(&self) -> bool {
        !self.is_control() && self.flags & FIN != 0
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Gate<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if let Some(slot) = &mut this.slot {
            slot.poll_overdue(context)?;
        }
        loop {
            match this.pass(out)? {
                Passed::Some => return Poll::Ready(Ok(())),
                Passed::Nothing => {}
                Passed::NeedsSlot => {
                    if let Some(slot) = &mut this.slot {
                        ready!(slot.poll_take(context));
                    }
                    continue;
                }
            }
            // At most a part of a header remains.
            this.chunk.copy_within(this.unread.clone(), 0);
            this.unread = 0..this.unread.len();
            let mut more = ReadBuf::new(&mut this.chunk[this.unread.end..]);
            ready!(Pin::new(&mut this.stream).poll_read(context, &mut more))?;
            match more.filled().len() {
                0 => return Poll::Ready(Ok(())),
                count => this.unread.end += count,
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gate<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the message is too long")
}

/// The size of one read.
const CHUNK: usize = 16 * 1024;
/// A longer message counts as large.
const LARGE: u64 = 64 * 1024;
/// The size of a piece. A multiple of 4, because the mask restarts with each piece.
const PIECE: u64 = 16 * 1024;
const MOST_HEADER: usize = 14;
/// RFC 6455, 5.5.
const MOST_CONTROL: u64 = 125;
const FIN: u8 = 0x80;
const CONTROL: u8 = 0x08;
const MASKED: u8 = 0x80;

#[cfg(test)]
mod tests;
