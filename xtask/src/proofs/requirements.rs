//! Reads the lines of the seeds.

use std::path::Path;

use super::{Id, LINES, tests::tags};
use crate::files::SourceFile;

/// A line that can be tested, or written down.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Requirement {
    pub(super) id: Id,
    pub(super) text: String,
    pub(super) note: Option<Note>,
}

/// Why a test alone does not prove a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Note {
    /// Nothing proves it, for this reason.
    Gap(String),
    /// Tests prove it, except for this.
    Partly(String),
    /// It is about a document, which has these words.
    Written { file: String, words: String },
    /// It is a number, and the bench in this file, which has these words, measures it.
    Measured { file: String, words: String },
}

/// What is in the file.
pub(super) struct Requirements {
    pub(super) lines: Vec<Requirement>,
    /// The place and what is wrong there.
    pub(super) complaints: Vec<(String, String)>,
}

/// A line begins with its number; an indented one below says more about it; one with a hash is for people.
pub(super) fn read(files: &[SourceFile]) -> Requirements {
    let mut lines: Vec<Requirement> = Vec::new();
    let mut complaints = Vec::new();
    let file = files.iter().find(|file| file.path == Path::new(LINES));
    let text = file.map(|file| file.text.as_str()).unwrap_or_default();
    for (number, line) in text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let understood = match (line.strip_prefix("  "), lines.last_mut()) {
            (Some(rest), Some(above)) if above.note.is_none() => {
                above.note = note(rest);
                above.note.is_some()
            }
            (Some(_), _) => false,
            (None, above) => {
                let last = above.map(|above| above.id);
                let next = requirement(line).filter(|next| last.is_none_or(|last| last < next.id));
                let understood = next.is_some();
                lines.extend(next);
                understood
            }
        };
        if !understood {
            let place = format!("{LINES}:{}", number + 1);
            complaints.push((
                place,
                "this is no line, no note on one, or not in order".into(),
            ));
        }
    }
    Requirements { lines, complaints }
}

fn requirement(line: &str) -> Option<Requirement> {
    let (number, text) = line.split_once(' ')?;
    let id = tags(number).next()?;
    (id.to_string() == number && !text.is_empty()).then(|| Requirement {
        id,
        text: text.to_owned(),
        note: None,
    })
}

fn note(rest: &str) -> Option<Note> {
    let (kind, text) = rest.split_once(": ")?;
    match kind {
        "gap" => Some(Note::Gap(text.to_owned())),
        "partly" => Some(Note::Partly(text.to_owned())),
        "written" => quoted(text).map(|(file, words)| Note::Written { file, words }),
        "measured" => quoted(text).map(|(file, words)| Note::Measured { file, words }),
        _ => None,
    }
}

/// A file, and words in it.
fn quoted(text: &str) -> Option<(String, String)> {
    let (file, words) = text.split_once(" \"")?;
    Some((file.to_owned(), words.strip_suffix('"')?.to_owned()))
}
