//! Reads the pages of the specification: numbered lines, each with a note where a test alone does not prove it.

use super::Id;
use crate::files::SourceFile;

/// A line that can be tested, written down or measured.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) id: Id,
    pub(super) text: String,
    pub(super) note: Option<Note>,
}

/// What is said below a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Note {
    /// Nothing proves it yet, for this reason.
    Open(String),
    /// It was decided differently, or only in part; this is why.
    Decided(String),
    /// It is about a document, which has these words.
    Written { file: String, words: String },
    /// It is a number, and the bench in this file, which has these words, measures it.
    Measured { file: String, words: String },
}

/// Everything that the pages say.
#[derive(Debug, Default)]
pub(super) struct Specification {
    pub(super) lines: Vec<Line>,
    /// The place and what is wrong there.
    pub(super) complaints: Vec<(String, String)>,
}

/// Reads every page, in the order of [`DOCUMENTS`].
pub(super) fn read(files: &[SourceFile]) -> Specification {
    let mut specification = Specification::default();
    for document in DOCUMENTS {
        let path = path(document);
        let page = files.iter().find(|file| file.path.as_os_str() == &*path);
        match page {
            Some(page) => specification.read_page(document, &path, &page.text),
            None => {
                let complaint = "this page of the specification is missing".to_owned();
                specification.complaints.push((path, complaint));
            }
        }
    }
    specification
}

/// Where the page of a document is.
pub(super) fn path(document: &str) -> String {
    format!("{FOLDER}/{document}.md")
}

impl Specification {
    /// Lines that begin with a number, and below them notes; everything else is for people.
    fn read_page(&mut self, document: &'static str, path: &str, text: &str) {
        let mut last = 0;
        for (at, row) in text.lines().enumerate() {
            let understood = match (numbered(row), row.strip_prefix(INDENT)) {
                (Some((line, text)), _) if line > last => {
                    last = line;
                    self.lines.push(Line {
                        id: Id { document, line },
                        text: text.to_owned(),
                        note: None,
                    });
                    true
                }
                (Some(_), _) => false,
                (None, Some(rest)) => self.add_note(document, rest),
                (None, None) => true,
            };
            if !understood {
                let complaint = "a line that is not in order, or a note that nobody understands";
                let place = format!("{path}:{}", at + 1);
                self.complaints.push((place, complaint.to_owned()));
            }
        }
    }

    /// Whether there is a line above that has no note yet, and this is one.
    fn add_note(&mut self, document: &str, rest: &str) -> bool {
        let above = self.lines.last_mut();
        let Some(above) = above.filter(|line| line.id.document == document && line.note.is_none())
        else {
            return false;
        };
        above.note = note(rest);
        above.note.is_some()
    }
}

/// `12. Text` is line 12.
fn numbered(row: &str) -> Option<(u16, &str)> {
    let (number, text) = row.split_once(". ")?;
    Some((number.parse().ok()?, text))
}

fn note(rest: &str) -> Option<Note> {
    let (kind, text) = rest.split_once(": ")?;
    match kind {
        "Open" => Some(Note::Open(text.to_owned())),
        "Decided" => Some(Note::Decided(text.to_owned())),
        "Written" => quoted(text).map(|(file, words)| Note::Written { file, words }),
        "Measured" => quoted(text).map(|(file, words)| Note::Measured { file, words }),
        _ => None,
    }
}

/// A file, and words in it.
fn quoted(text: &str) -> Option<(String, String)> {
    let (file, words) = text.split_once(" \"")?;
    Some((file.to_owned(), words.strip_suffix('"')?.to_owned()))
}

/// The pages, in the order in which they are read.
pub(super) const DOCUMENTS: [&str; 7] = [
    "multi-tab",
    "page-proxy",
    "multi-client",
    "multi-browser",
    "dynamic-tools",
    "security",
    "decisions",
];

/// Where the pages are.
pub(super) const FOLDER: &str = "docs/specification";

const INDENT: &str = "    - ";
