//! The Markdown of all frames of a page, joined: which lines are main content, and the links.

use crate::tools::look::{DocumentView, Inside};
use serde::Deserialize;
use std::collections::HashMap;
use std::fmt::Write;

/// How links are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum LinkStyle {
    /// Only their text.
    None,
    /// The address after each text.
    Inline,
    /// Numbers, and a list of addresses at the end.
    #[default]
    List,
}

/// Which lines are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Main,
    All,
}

/// One line of Markdown. Links are still marked by control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) heading: bool,
    main: bool,
}

/// All lines of a page.
#[derive(Debug, Default)]
pub(super) struct Joined {
    lines: Vec<Line>,
    /// Addresses without repetition; a link refers to them by its position.
    addresses: Vec<String>,
    numbers: HashMap<String, usize>,
    /// Characters of the main content and of everything.
    pub(super) main: usize,
    pub(super) all: usize,
    /// Frames that could not be read.
    pub(super) unread: usize,
    /// Whether no document was too long.
    pub(super) whole: bool,
}

impl Joined {
    /// Joins the documents; the first one contains the others.
    pub(super) fn new(views: &[DocumentView]) -> Self {
        let mut joined = Self {
            whole: true,
            ..Self::default()
        };
        joined.add(views, 0, None);
        let characters = |main: bool| {
            let lines = joined.lines.iter().filter(|line| line.main || !main);
            lines.map(|line| length(&line.text) + 1).sum()
        };
        (joined.main, joined.all) = (characters(true), characters(false));
        joined
    }

    /// Adds a document. A frame is main content if its position is; otherwise its own markup does not matter.
    fn add(&mut self, views: &[DocumentView], at: usize, inherited: Option<bool>) {
        let view = &views[at].view;
        let mut frames = view.frames.iter().enumerate().peekable();
        let mut marks = view.marks.bytes();
        for (number, text) in view.lines.iter().enumerate() {
            let mark = marks.next().unwrap_or(b'0').wrapping_sub(b'0');
            let main = inherited.unwrap_or(mark & 1 == 1);
            let placed = frames
                .peek()
                .is_some_and(|(_, place)| place.line == number + 1);
            if !placed {
                let text = self.with_shared_links(text, &view.links);
                self.push(text, mark & 2 == 2, main);
            }
            while let Some((which, _)) = frames.next_if(|(_, place)| place.line == number + 1) {
                match views[at].inside(which) {
                    Inside::DocumentView(frame) => {
                        self.push(String::new(), false, main);
                        self.add(views, frame, Some(main));
                        self.push(String::new(), false, main);
                    }
                    Inside::Nothing => {}
                    Inside::Unread => self.unread += 1,
                }
            }
        }
        self.whole &= view.whole;
    }

    fn push(&mut self, text: String, heading: bool, main: bool) {
        let blank = text.is_empty();
        if !(blank && self.lines.last().is_none_or(|line| line.text.is_empty())) {
            self.lines.push(Line {
                text,
                heading,
                main,
            });
        }
    }

    /// A line whose links have the numbers of the whole page.
    fn with_shared_links(&mut self, text: &str, links: &[String]) -> String {
        rewrite(text, |name, number| {
            let address = links.get(number).map(String::as_str).unwrap_or_default();
            let next = self.addresses.len();
            let shared = *self.numbers.entry(address.to_owned()).or_insert(next);
            if shared == next {
                self.addresses.push(address.to_owned());
            }
            format!("{START}{name}{MIDDLE}{shared}{END}")
        })
    }

    /// The lines of a part. Where links are numbers, those of the whole page are counted alike on every page of it.
    pub(super) fn text(&self, part: Part, style: LinkStyle) -> Vec<Line> {
        let lines = self
            .lines
            .iter()
            .filter(|line| line.main || part == Part::All);
        let mut lines: Vec<Line> = lines.cloned().collect();
        for line in &mut lines {
            line.text = rewrite(&line.text, |name, number| match style {
                LinkStyle::None => name.to_owned(),
                LinkStyle::List => format!("[{name}][{}]", number + 1),
                LinkStyle::Inline => format!("[{name}]({})", self.in_parentheses(number)),
            });
        }
        lines
    }

    fn in_parentheses(&self, number: usize) -> String {
        let address = self.addresses.get(number).map(String::as_str);
        let address = address.unwrap_or_default();
        address.replace('(', "%28").replace(')', "%29")
    }

    /// What is shown, with the addresses of the links in it. Those of the page's own site begin with a slash.
    pub(super) fn with_links(&self, body: &str, style: LinkStyle, url: &str) -> String {
        let mut text = body.to_owned();
        if style != LinkStyle::List {
            return text;
        }
        let site = site_of(url);
        let mut listed = String::new();
        let mut shortened = false;
        for number in numbers_in(body) {
            let Some(address) = self.addresses.get(number.wrapping_sub(1)) else {
                continue;
            };
            let short = match site.and_then(|site| address.strip_prefix(site)) {
                Some(path) if path.starts_with('/') => {
                    shortened = true;
                    path
                }
                _ => address,
            };
            if listed.len() + short.len() > MAX_LINK_BYTES {
                listed.push_str("[more links: links \"inline\", or a smaller part]\n");
                break;
            }
            let _ = writeln!(listed, "[{number}]: {short}");
        }
        if !listed.is_empty() {
            let site = site.filter(|_| shortened);
            let site = site.map_or(String::new(), |site| format!(" (/… is on {site})"));
            text = format!("{}\n\nLinks{site}:\n{listed}", text.trim_end());
        }
        text
    }
}

/// The scheme and host of an address.
fn site_of(url: &str) -> Option<&str> {
    let host = url.find("://")? + 3;
    let end = url[host..].find(['/', '?', '#']).map(|at| host + at);
    Some(&url[..end.unwrap_or(url.len())])
}

/// The numbers of links, `][7]`, in order and without repetition. Brackets of the page are escaped.
fn numbers_in(body: &str) -> Vec<usize> {
    let mut numbers: Vec<usize> = Vec::new();
    for (at, _) in body.match_indices("][") {
        let rest = &body[at + 2..];
        let Some(number) = rest.find(']').and_then(|end| rest[..end].parse().ok()) else {
            continue;
        };
        numbers.push(number);
    }
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// A text with each link replaced by what `link` makes of its text and number.
fn rewrite(text: &str, mut link: impl FnMut(&str, usize) -> String) -> String {
    let mut rest = text;
    let mut out = String::with_capacity(text.len());
    while let Some((before, after)) = rest.split_once(START) {
        out.push_str(before);
        let parts = after.split_once(MIDDLE).and_then(|(name, after)| {
            let (number, after) = after.split_once(END)?;
            Some((name, number.parse().ok()?, after))
        });
        let Some((name, number, after)) = parts else {
            rest = after;
            continue;
        };
        out.push_str(&link(name, number));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Characters of a line without the marks of its links.
fn length(text: &str) -> usize {
    rewrite(text, |name, _| name.to_owned()).chars().count()
}

// As in markdown_text.js.
const START: char = '\u{1}';
const MIDDLE: char = '\u{2}';
const END: char = '\u{3}';
const MAX_LINK_BYTES: usize = 12_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_rewritten_and_broken_marks_dropped() {
        let line = "a \u{1}text\u{2}3\u{3} b \u{1}broken";
        assert_eq!(
            rewrite(line, |name, n| format!("<{name}{n}>")),
            "a <text3> b broken"
        );
        assert_eq!(length(line), "a text b broken".len());
    }

    #[test]
    fn numbers_of_links_are_found_once_and_in_order() {
        assert_eq!(
            numbers_in("[b][2] [a][1] [b][2] \\[x\\]\\[9\\] [y][z]"),
            [1, 2]
        );
    }

    #[test]
    fn an_address_has_its_site() {
        assert_eq!(
            site_of("https://a.example:8/b?c"),
            Some("https://a.example:8")
        );
        assert_eq!(site_of("about:blank"), None);
    }
}
