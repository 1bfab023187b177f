//! Lines of bounded length out of a stream.

use std::io;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

pub(super) struct LineReader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    is_skipping: bool,
    longest: usize,
}

#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// Without its newline. The last one may have had none.
    Whole(Vec<u8>),
    /// Longer than allowed, and gone.
    TooLong,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(input: R) -> Self {
        Self::bounded(BufReader::new(input), LONGEST_LINE)
    }

    fn bounded(input: BufReader<R>, longest: usize) -> Self {
        Self {
            input,
            line: Vec::new(),
            is_skipping: false,
            longest,
        }
    }

    /// The next line, or `None` at the end. May be dropped at any await and asked again.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                let last = std::mem::take(&mut self.line);
                return Ok((!last.is_empty()).then_some(Line::Whole(last)));
            }
            let newline = available.iter().position(|&byte| byte == b'\n');
            let part = newline.map_or(available, |end| &available[..end]);
            let is_too_long = !self.is_skipping && self.line.len() + part.len() > self.longest;
            if is_too_long {
                self.line = Vec::new();
            } else if !self.is_skipping {
                self.line.extend_from_slice(part);
            }
            let consumed = part.len() + usize::from(newline.is_some());
            self.input.consume(consumed);

            let was_skipping = self.is_skipping;
            self.is_skipping = newline.is_none() && (was_skipping || is_too_long);
            if is_too_long {
                return Ok(Some(Line::TooLong));
            }
            if newline.is_some() && !was_skipping {
                return Ok(Some(Line::Whole(std::mem::take(&mut self.line))));
            }
        }
    }
}

const LONGEST_LINE: usize = 16 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_come_whole_or_not_at_all() {
        let whole = |text: &str| Line::Whole(text.into());
        for (input, expected) in [
            ("", vec![]),
            ("a\nb\n", vec![whole("a"), whole("b")]),
            ("a\n\nb", vec![whole("a"), whole(""), whole("b")]),
            ("12345678\n", vec![whole("12345678")]),
            ("123456789\nb\n", vec![Line::TooLong, whole("b")]),
            ("123456789", vec![Line::TooLong]),
            (
                "1234567890123456789012345\nb\n1234567890123456789\n",
                vec![Line::TooLong, whole("b"), Line::TooLong],
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
