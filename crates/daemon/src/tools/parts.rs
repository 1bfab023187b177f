//! Tab lists in parts: which rows are shown, their size limit, and how to get the others.

use crate::convert::{CallExtras, Parsed, Rejected};
use serde::Deserialize;
use tabmux_browser::tools::BadArguments;
use tabmux_core::CallKind;
use tabmux_text::one_line;

/// The requested part of a list. Every tab list accepts it, but no schema publishes it, because few sessions have
/// that many tabs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Part {
    page_size: Option<usize>,
    page_idx: Option<usize>,
}

/// The rows of one part.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shown<R> {
    pub(super) rows: Vec<R>,
    /// A note about the other rows; `None` if there are none.
    pub(super) note: Option<String>,
}

impl Part {
    /// A call for this part of a list, if there can be such a part.
    pub(super) fn parsed(self, tool: &'static str, kind: CallKind) -> Result<Parsed, Rejected> {
        let size = self.page_size.unwrap_or(DEFAULT_SIZE);
        if !(1..=MOST_SIZE).contains(&size) {
            return Err(Rejected::from(BadArguments {
                tool,
                detail: format!("`pageSize` goes from 1 to {MOST_SIZE}"),
            }));
        }
        Ok(Parsed {
            extras: CallExtras {
                part: self,
                ..CallExtras::default()
            },
            ..Parsed::from(kind)
        })
    }

    /// Formats the rows of this part, as many as fit. `bytes` is the size of a formatted row.
    pub(super) fn of<T, R>(
        self,
        tool: &str,
        all: &[T],
        write: impl Fn(&T) -> R,
        bytes: impl Fn(&R) -> usize,
    ) -> Result<Shown<R>, String> {
        let size = self.page_size.unwrap_or(DEFAULT_SIZE);
        let index = self.page_idx.unwrap_or(0);
        let (count, parts) = (all.len(), all.len().div_ceil(size).max(1));
        if index >= parts {
            return Err(format!(
                "pageIdx {index} does not exist: {count} rows make {parts} part(s) of {size}. The first is pageIdx 0."
            ));
        }
        let first = index * size;
        let wanted = all.iter().skip(first).take(size);
        let (wanted_count, mut room) = (wanted.len(), MOST_BYTES);
        let mut rows = Vec::new();
        for row in wanted.map(write) {
            let cost = bytes(&row) + 1;
            if cost > room {
                break;
            }
            room -= cost;
            rows.push(row);
        }
        let next = first + rows.len();
        let how = match rows.len() {
            shown if shown < wanted_count => {
                let fits = shown.max(1);
                format!(
                    "; call {tool} with pageSize {fits} and pageIdx {} for more",
                    next / fits
                )
            }
            _ if next < count => {
                let same_size = self.page_size.map(|size| format!("pageSize {size} and "));
                format!(
                    "; call {tool} with {}pageIdx {} for more",
                    same_size.unwrap_or_default(),
                    index + 1
                )
            }
            _ => String::new(),
        };
        let is_all = rows.len() == count;
        let note = (!is_all).then(|| format!("Rows {} to {next} of {count}{how}.", first + 1));
        Ok(Shown { rows, note })
    }
}

/// A title or URL for a list: one line, cut to a limit.
pub(super) fn label(text: &str) -> String {
    one_line(text, MOST_LABEL)
}

const DEFAULT_SIZE: usize = 50;
const MOST_SIZE: usize = 200;
const MOST_LABEL: usize = 300;
/// A reply has at most 40,000 bytes; the rest is for the text around the rows.
const MOST_BYTES: usize = 38_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::SessionOptions;
    use serde_json::value::RawValue;

    fn part(arguments: &str) -> Result<Part, String> {
        let raw = RawValue::from_string(arguments.to_owned()).unwrap();
        let options = SessionOptions::from_wire(Default::default()).unwrap();
        let parsed = super::super::find("list_pages")
            .unwrap()
            .parse(&raw, &options);
        let part = parsed.map(|parsed| parsed.extras.part);
        part.map_err(|rejected| match rejected {
            Rejected::Arguments(text) => text,
            Rejected::UnknownTool => unreachable!(),
        })
    }

    fn numbers(arguments: &str, count: usize, cost: usize) -> (Vec<usize>, String) {
        let all: Vec<_> = (1..=count).collect();
        let part = part(arguments).unwrap();
        let shown = part.of("list_pages", &all, |row| *row, |_| cost).unwrap();
        (shown.rows, shown.note.unwrap_or_default())
    }

    #[test]
    fn a_short_list_is_complete_and_has_no_note() {
        assert_eq!(numbers("{}", 0, 10), (vec![], String::new()));
        assert_eq!(numbers("{}", 3, 10), (vec![1, 2, 3], String::new()));
    }

    #[test]
    fn a_part_says_which_it_is_and_what_comes_next() {
        let (rows, note) = numbers("{}", 120, 10);
        assert_eq!((rows.len(), rows[0]), (50, 1));
        assert_eq!(
            note,
            "Rows 1 to 50 of 120; call list_pages with pageIdx 1 for more."
        );
        let (rows, note) = numbers(r#"{"pageSize": 2, "pageIdx": 1}"#, 5, 10);
        assert_eq!(rows, [3, 4]);
        assert_eq!(
            note,
            "Rows 3 to 4 of 5; call list_pages with pageSize 2 and pageIdx 2 for more."
        );
        let (rows, note) = numbers(r#"{"pageIdx": 2}"#, 120, 10);
        assert_eq!(rows.len(), 20);
        assert_eq!(note, "Rows 101 to 120 of 120.");
    }

    #[test]
    fn long_rows_make_short_parts_and_none_is_skipped_on_the_way() {
        let mut seen = Vec::new();
        let mut next = "{}".to_owned();
        while seen.last() != Some(&200) {
            let (rows, note) = numbers(&next, 200, 1_500);
            assert!(rows.len() <= 25 && rows[0] <= seen.last().map_or(1, |last| last + 1));
            seen.extend(rows);
            let number = |key: &str| {
                let (_, rest) = note.split_once(key)?;
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                digits.parse::<usize>().ok()
            };
            if let (Some(size), Some(index)) = (number("pageSize "), number("pageIdx ")) {
                next = format!(r#"{{"pageSize": {size}, "pageIdx": {index}}}"#);
            }
        }
        seen.dedup();
        assert_eq!(seen, (1..=200).collect::<Vec<_>>());
    }

    #[test]
    fn invalid_parts_are_refused_with_a_sentence() {
        for wrong in [
            r#"{"pageSize": 0}"#,
            r#"{"pageSize": 201}"#,
            r#"{"pageSize": -1}"#,
            r#"{"page": 1}"#,
        ] {
            let text = part(wrong).unwrap_err();
            assert!(
                text.starts_with("Invalid arguments for list_pages: "),
                "{text}"
            );
        }
        let far = part(r#"{"pageIdx": 9}"#).unwrap();
        let text = far
            .of("list_pages", &[1, 2], |row| *row, |_| 1)
            .unwrap_err();
        assert_eq!(
            text,
            "pageIdx 9 does not exist: 2 rows make 1 part(s) of 50. The first is pageIdx 0."
        );
    }
}
