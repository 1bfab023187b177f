//! Assembles a frame from the pieces in which it arrives. One that is too large is skipped to its end: only its head
//! and its tail are kept, so that its command or session can be notified.

use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};

use super::{Frame, Oversize};

/// The frame that is arriving. Reusable for the next one.
#[derive(Debug, Default)]
pub(super) struct FrameAssembler {
    kept: Vec<u8>,
    length: u64,
    /// The tail so far, once the frame is known to be too large; then `kept` is its head.
    tail: Option<Vec<u8>>,
    permit: Option<SemaphorePermit<'static>>,
}

impl FrameAssembler {
    /// Appends the next piece. Waits while too many other large frames are arriving.
    pub(super) async fn push(&mut self, piece: &[u8]) {
        self.length += piece.len() as u64;
        if let Some(tail) = &mut self.tail {
            return keep_end(tail, piece);
        }
        let size = self.kept.len() + piece.len();
        if size > LARGE && self.permit.is_none() {
            self.permit = match timeout(LARGE_WAIT, LARGE_FRAMES.acquire()).await {
                Ok(Ok(permit)) => Some(permit),
                _ => return self.give_up(piece),
            };
        }
        if size > MAX_EVENT && size > self.limit(piece) {
            return self.give_up(piece);
        }
        self.kept.extend_from_slice(piece);
    }

    /// Waits for more of the frame. If it pauses for long while others wait for its permit, the frame is skipped:
    /// other connections must not wait for a browser that has stopped.
    pub(super) async fn more<T>(&mut self, reading: impl Future<Output = T>) -> T {
        if self.permit.is_none() {
            return reading.await;
        }
        let mut reading = pin!(reading);
        match timeout(LONGEST_PAUSE, &mut reading).await {
            Ok(read) => read,
            Err(_) => {
                self.give_up(&[]);
                reading.await
            }
        }
    }

    /// The frame is complete. Resets this value.
    pub(super) fn finish(&mut self) -> Frame {
        let Self {
            kept, length, tail, ..
        } = std::mem::take(self);
        match tail {
            None => Frame::Whole(Bytes::from(kept)),
            Some(mut tail) => {
                tail.drain(..tail.len().saturating_sub(TAIL));
                Frame::Oversize(Oversize {
                    head: kept,
                    tail,
                    length,
                })
            }
        }
    }

    /// Responses were requested; events were not, and pages decide how large they are.
    fn limit(&self, piece: &[u8]) -> usize {
        let head = if self.kept.is_empty() {
            piece
        } else {
            &self.kept
        };
        match head.starts_with(br#"{"id":"#) {
            true => MAX_ANSWER,
            false => MAX_EVENT,
        }
    }

    fn give_up(&mut self, piece: &[u8]) {
        let mut tail = Vec::with_capacity(2 * TAIL);
        keep_end(&mut tail, &self.kept);
        keep_end(&mut tail, piece);
        let room = HEAD.saturating_sub(self.kept.len()).min(piece.len());
        self.kept.extend_from_slice(&piece[..room]);
        self.kept.truncate(HEAD);
        self.kept.shrink_to_fit();
        self.tail = Some(tail);
        self.permit = None;
    }
}

/// Appends a piece; keeps only the last bytes.
fn keep_end(tail: &mut Vec<u8>, piece: &[u8]) {
    let piece = &piece[piece.len().saturating_sub(TAIL)..];
    tail.drain(..(tail.len() + piece.len()).saturating_sub(2 * TAIL));
    tail.extend_from_slice(piece);
}

/// The largest response that is kept: a screenshot or a body of 20 MB in base64, which is what Chrome keeps of a
/// body. Larger data is requested in parts. It is in memory twice while it is parsed, and the daemon has 150 MB in
/// total.
pub const MAX_ANSWER: usize = 32 * 1024 * 1024;

/// The largest event that is kept: the result of a page's tool, with images of 8 MiB.
pub const MAX_EVENT: usize = 10 * 1024 * 1024;

/// A frame larger than this needs a permit, so that many browsers cannot each send a large one at the same time.
const LARGE: usize = 1024 * 1024;

/// How many such frames may be arriving at once, over all connections.
static LARGE_FRAMES: Semaphore = Semaphore::const_new(2);

/// How long a large frame may pause. Shorter than others wait for a permit.
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// How long a large frame waits for a permit before it is skipped.
const LARGE_WAIT: Duration = Duration::from_secs(5);

/// How much of the start of an oversize frame is kept: enough for the fields before the large one, including a long
/// address.
pub(crate) const HEAD: usize = 16 * 1024;

/// How much of its end is kept.
const TAIL: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    async fn assembled(pieces: &[&[u8]]) -> Frame {
        let mut assembler = FrameAssembler::default();
        for piece in pieces {
            assembler.push(piece).await;
        }
        assembler.finish()
    }

    #[tokio::test]
    async fn a_frame_is_assembled_from_pieces() {
        let Frame::Whole(frame) = assembled(&[b"{\"id\"", b"", b":1}"]).await else {
            panic!("it is small");
        };
        assert_eq!(&frame[..], b"{\"id\":1}");
    }

    #[tokio::test]
    async fn both_ends_of_an_oversize_frame_are_kept() {
        for (prefix, limit) in [("{\"id\":1,", MAX_ANSWER), ("{\"method\":", MAX_EVENT)] {
            for size in [1_000, 70_001, 3_000_000, limit + 5_000] {
                let mut frame = vec![b'x'; limit + 5_000];
                frame[..prefix.len()].copy_from_slice(prefix.as_bytes());
                frame.extend_from_slice(b"the end");
                let pieces: Vec<_> = frame.chunks(size).collect();
                let Frame::Oversize(cut) = assembled(&pieces).await else {
                    panic!("it is too large");
                };
                assert_eq!(cut.length, frame.len() as u64);
                assert_eq!(cut.head, &frame[..cut.head.len()]);
                assert!(cut.head.len() >= prefix.len() && cut.head.len() <= HEAD);
                assert_eq!(cut.tail, &frame[frame.len() - TAIL..]);
            }
        }
    }

    #[tokio::test]
    async fn a_frame_of_exactly_the_limit_is_kept() {
        for (prefix, limit) in [("{\"id\":1,", MAX_ANSWER), ("{\"method\":", MAX_EVENT)] {
            for (more, whole) in [(0, true), (1, false)] {
                let mut frame = vec![b'x'; limit + more];
                frame[..prefix.len()].copy_from_slice(prefix.as_bytes());
                let pieces: Vec<_> = frame.chunks(65_536).collect();
                let assembled = assembled(&pieces).await;
                assert_eq!(
                    matches!(assembled, Frame::Whole(_)),
                    whole,
                    "{prefix} {more}"
                );
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn large_frames_wait_for_each_other_and_one_that_waits_too_long_is_skipped() {
        let piece = vec![b'x'; LARGE + 1];
        let mut first: [FrameAssembler; 2] = Default::default();
        for assembler in &mut first {
            assembler.push(&piece).await;
        }
        assert!(matches!(assembled(&[&piece]).await, Frame::Oversize(_)));
        assert!(matches!(assembled(&[b"{}"]).await, Frame::Whole(_)));
        assert!(matches!(first[0].finish(), Frame::Whole(_)));
        assert!(matches!(assembled(&[&piece]).await, Frame::Whole(_)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_frame_that_pauses_gives_its_turn_to_others() {
        let piece = vec![b'x'; LARGE + 1];
        let mut first: [FrameAssembler; 2] = Default::default();
        for assembler in &mut first {
            assembler.push(&piece).await;
        }
        let [stopped, slow] = &mut first;
        // One arrives in pieces, with pauses; the other has stopped.
        let coming = async {
            for _ in 0..5 {
                slow.more(tokio::time::sleep(LONGEST_PAUSE / 2)).await;
                slow.push(b"x").await;
            }
            slow.finish()
        };
        let stopping = stopped.more(tokio::time::sleep(10 * LONGEST_PAUSE));
        let pieces = [&piece[..]];
        let (next, came, ()) = tokio::join!(assembled(&pieces), coming, stopping);
        assert!(matches!(next, Frame::Whole(_)));
        assert!(matches!(came, Frame::Whole(_)));
        stopped.push(b"the end").await;
        let Frame::Oversize(cut) = stopped.finish() else {
            panic!("it was skipped");
        };
        assert!(cut.tail.ends_with(b"the end") && cut.length == LARGE as u64 + 8);
    }
}
