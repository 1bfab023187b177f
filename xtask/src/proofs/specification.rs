//! Reads the pages of the specification: numbered lines, with a note if tests alone do not prove a line.

use super::Id;
use crate::files::SourceFile;

/// A line that can be tested, written down or measured.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) id: Id,
    pub(super) text: String,
    pub(super) note: Option<Note>,
}

/// The note below a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Note {
    /// Nothing proves it yet, for this reason.
    Open(String),
    /// It was decided differently, or only in part; this is why.
    Decided(String),
    /// It is about a document, which contains this text.
    Written { file: String, words: String },
    /// It is a number, and the benchmark in this file, which contains this text, measures it.
    Measured { file: String, words: String },
}

/// The contents of all pages.
#[derive(Debug, Default)]
pub(super) struct Specification {
    pub(super) lines: Vec<Line>,
    /// Problems, each with its place.
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

/// The path of a document's page.
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
                let complaint = "a line that is not in order, or an unknown note";
                let place = format!("{path}:{}", at + 1);
                self.complaints.push((place, complaint.to_owned()));
            }
        }
    }

    /// Adds a note to the line above, if that has none yet. Returns whether it did.
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

/// A file, and text in it.
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

/// The folder of the pages.
pub(super) const FOLDER: &str = "docs/specification";

const INDENT: &str = "    - ";
