//! Paging of long lists: shows one part, and says how to get the rest.

use crate::error::ToolError;

/// The entries of this page, at most so many as its text shows.
pub(super) fn shown<'a, T>(
    items: &'a [T],
    size: Option<u32>,
    index: Option<u32>,
    text: &str,
) -> &'a [T] {
    let whole = |given: Option<u32>, usual| {
        given.map_or(usual, |given| usize::try_from(given).unwrap_or(MAX_SIZE))
    };
    let size = whole(size, DEFAULT_SIZE);
    let first = whole(index, 0).saturating_mul(size).min(items.len());
    // The first line of the text is the heading.
    let lines = text.lines().count().saturating_sub(1);
    let last = items.len().min(first + size.min(lines));
    &items[first..last]
}

/// One page of the entries, one line for each.
pub(super) fn page<T>(
    items: &[T],
    what: &str,
    size: Option<u32>,
    index: Option<u32>,
    line: impl Fn(&T) -> String,
) -> Result<String, ToolError> {
    let size = size.map_or(DEFAULT_SIZE, |size| {
        usize::try_from(size).unwrap_or(MAX_SIZE)
    });
    let index = usize::try_from(index.unwrap_or(0)).unwrap_or(usize::MAX);
    if items.is_empty() {
        return Ok(format!("There are no {what}."));
    }
    let pages = items.len().div_ceil(size);
    if index >= pages {
        return Err(ToolError::Arguments(format!(
            "There is no page {index}: {} {what} make {pages} pages of {size}, and the first is pageIdx 0.",
            items.len()
        )));
    }
    let first = index * size;
    let shown = items.iter().skip(first).take(size);
    let count = shown.len();
    let mut lines = Vec::new();
    let mut bytes = 0;
    for item in shown {
        let text = line(item);
        bytes += text.len() + 1;
        if bytes > MAX_BYTES {
            break;
        }
        lines.push(text);
    }
    let mut head = format!(
        "{} to {} of {} {what}.",
        first + 1,
        first + lines.len(),
        items.len()
    );
    if lines.len() < count {
        head.push_str(" The rest of this page is too long; use a smaller pageSize.");
    } else if index + 1 < pages {
        head.push_str(&format!(" More with pageIdx {}.", index + 1));
    }
    lines.insert(0, head);
    Ok(lines.join("\n"))
}

pub(super) fn check_size(size: Option<u32>) -> Result<(), String> {
    match size {
        Some(0) => Err("`pageSize` starts at 1".into()),
        Some(size) if size > 200 => Err("`pageSize` goes up to 200".into()),
        _ => Ok(()),
    }
}

/// Whether all names are known; `fix` normalizes them for the comparison.
pub(super) fn check_names(
    argument: &str,
    names: Option<&Vec<String>>,
    known: &[&str],
) -> Result<(), String> {
    let mut names = names.into_iter().flatten();
    match names.find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(format!(
            "`{argument}` has no value \"{}\"; use one of {}",
            tabmux_text::one_line(name, 40),
            known.join(", ")
        )),
        None => Ok(()),
    }
}

const DEFAULT_SIZE: usize = 50;
const MAX_SIZE: usize = 200;
const MAX_BYTES: usize = 30_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(count: usize, size: Option<u32>, index: Option<u32>) -> String {
        let items: Vec<_> = (1..=count).collect();
        match page(&items, "things", size, index, ToString::to_string) {
            Ok(text) => text,
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_page_says_what_it_shows_and_where_the_rest_is() {
        assert_eq!(listed(0, None, None), "There are no things.");
        assert_eq!(listed(2, None, None), "1 to 2 of 2 things.\n1\n2");
        assert_eq!(
            listed(5, Some(2), Some(1)),
            "3 to 4 of 5 things. More with pageIdx 2.\n3\n4"
        );
        assert_eq!(listed(5, Some(2), Some(2)), "5 to 5 of 5 things.\n5");
        assert!(listed(5, Some(2), Some(3)).contains("There is no page 3"));
    }

    #[test]
    fn the_entries_as_data_are_those_of_the_text() {
        let items: Vec<_> = (1..=5).collect();
        for (size, index, expected) in [
            (None, None, vec![1, 2, 3, 4, 5]),
            (Some(2), Some(1), vec![3, 4]),
            (Some(2), Some(2), vec![5]),
        ] {
            let text = page(&items, "things", size, index, ToString::to_string).unwrap();
            assert_eq!(shown(&items, size, index, &text), expected);
        }
        let none: [u8; 0] = [];
        assert_eq!(shown(&none, None, None, "There are no things."), none);
        let long = vec![(); 200];
        let text = page(&long, "things", Some(200), None, |()| "x".repeat(1_000)).unwrap();
        let count = shown(&long, Some(200), None, &text).len();
        assert_eq!(count, text.lines().count() - 1);
    }

    #[test]
    fn a_page_of_long_lines_is_cut_and_says_so() {
        let items = vec![(); 200];
        let text = page(&items, "things", Some(200), None, |()| "x".repeat(1_000)).unwrap();
        assert!(text.len() < 31_000);
        assert!(text.contains("smaller pageSize"), "{}", &text[..200]);
    }
}
