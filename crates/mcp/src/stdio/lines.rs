//! Reads lines of bounded length from a stream.

use std::io;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

pub(super) struct LineReader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// The end so far of a line that is too long; `line` has its beginning then.
    skipped: Option<Vec<u8>>,
    longest: usize,
}

#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// Without its newline. The last one may have had none.
    Whole(Vec<u8>),
    /// Longer than allowed; only both ends are kept.
    TooLong(Vec<u8>, Vec<u8>),
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(input: R) -> Self {
        Self::bounded(BufReader::new(input), LONGEST_LINE)
    }

    fn bounded(input: BufReader<R>, longest: usize) -> Self {
        Self {
            input,
            line: Vec::new(),
            skipped: None,
            longest,
        }
    }

    /// The next line, or `None` at the end. Cancel-safe.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                let last = std::mem::take(&mut self.line);
                return Ok(match self.skipped.take() {
                    Some(end) => Some(Line::TooLong(last, end)),
                    None => (!last.is_empty()).then_some(Line::Whole(last)),
                });
            }
            let newline = available.iter().position(|&byte| byte == b'\n');
            let part = newline.map_or(available, |end| &available[..end]);
            if let Some(end) = &mut self.skipped {
                keep_end(end, part);
            } else if self.line.len() + part.len() > self.longest {
                let mut end = Vec::new();
                keep_end(&mut end, &self.line);
                keep_end(&mut end, part);
                self.line.extend_from_slice(part);
                self.line.truncate(END.min(self.longest));
                self.line.shrink_to_fit();
                self.skipped = Some(end);
            } else {
                self.line.extend_from_slice(part);
            }
            let consumed = part.len() + usize::from(newline.is_some());
            self.input.consume(consumed);
            if newline.is_some() {
                let line = std::mem::take(&mut self.line);
                return Ok(Some(match self.skipped.take() {
                    Some(end) => Line::TooLong(line, end),
                    None => Line::Whole(line),
                }));
            }
        }
    }
}

/// Appends a part, and keeps the last bytes.
fn keep_end(end: &mut Vec<u8>, part: &[u8]) {
    end.extend_from_slice(&part[part.len().saturating_sub(END)..]);
    end.drain(..end.len().saturating_sub(END));
}

/// How much of each end of a line that is too long is kept, to find its id.
const END: usize = 1_024;

const LONGEST_LINE: usize = 16 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_come_whole_or_not_at_all() {
        let whole = |text: &str| Line::Whole(text.into());
        let long = |head: &str, end: &str| Line::TooLong(head.into(), end.into());
        for (input, expected) in [
            ("", vec![]),
            ("a\nb\n", vec![whole("a"), whole("b")]),
            ("a\n\nb", vec![whole("a"), whole(""), whole("b")]),
            ("12345678\n", vec![whole("12345678")]),
            (
                "123456789\nb\n",
                vec![long("12345678", "123456789"), whole("b")],
            ),
            ("123456789", vec![long("12345678", "123456789")]),
            (
                "1234567890123456789012345\nb\n1234567890123456789\n",
                vec![
                    long("12345678", "1234567890123456789012345"),
                    whole("b"),
                    long("12345678", "1234567890123456789"),
                ],
            ),
        ] {
            for capacity in [1, 3, 64] {
                let input = BufReader::with_capacity(capacity, input.as_bytes());
                let mut reader = LineReader::bounded(input, 8);
                let mut lines = Vec::new();
                while let Some(line) = reader.next().await.unwrap() {
                    lines.push(line);
                }
                assert_eq!(lines, expected, "{capacity}");
            }
        }
    }
}
