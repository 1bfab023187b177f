//! Finds the lines that tests prove: `Spec: multi-tab 13, 15; page-proxy 2.` in a comment on a test, or at an
//! assertion.

use std::collections::BTreeSet;

use super::{Id, Proof, Proofs, specification::DOCUMENTS};
use crate::files::SourceFile;

/// The lines that tests claim to prove.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) proofs: Proofs,
    /// Problems, each with its place.
    pub(super) complaints: Vec<(String, String)>,
}

/// Reads every file.
pub(super) fn find(files: &[SourceFile]) -> Found {
    let mut found = Found::default();
    let is_other = |file: &&SourceFile| !file.path.to_string_lossy().contains(OURSELVES);
    for file in files.iter().filter(is_other) {
        match () {
            () if file.has_extension(&["rs"]) => found.read(file, &Rust),
            () if file.is_test() && file.has_extension(&["ts", "js"]) => found.read(file, &Script),
            () if file.is_test() && file.has_extension(&["txt"]) => found.read_data(file, files),
            () => {}
        }
    }
    found
}

/// The syntax of tests in a language.
trait Language {
    /// The name of the test, or of a function that tests use, that begins on this line.
    fn begins<'a>(&self, line: &'a str) -> Option<&'a str>;
    /// Whether the line may be between the comment of a test and its beginning.
    fn is_between(&self, line: &str) -> bool;
    /// Whether a comment on its own line may also be inside a test.
    fn has_inner_comments(&self) -> bool {
        false
    }
}

struct Rust;
struct Script;
/// Rows of a file that a test runs.
struct Data;

impl Language for Rust {
    fn begins<'a>(&self, line: &'a str) -> Option<&'a str> {
        let start = line.strip_prefix("pub(super) ").unwrap_or(line);
        let start = start.strip_prefix("pub(crate) ").unwrap_or(start);
        let start = start.strip_prefix("pub ").unwrap_or(start);
        let start = start.strip_prefix("async ").unwrap_or(start);
        start.strip_prefix("fn ")?.split(['(', '<']).next()
    }

    fn is_between(&self, line: &str) -> bool {
        line.starts_with("///") || line.starts_with("#[")
    }
}

impl Language for Script {
    /// The title of a test. With `each`, it is the text after the table.
    fn begins<'a>(&self, line: &'a str) -> Option<&'a str> {
        let call = ["test(", "test.", "it(", "it."];
        call.iter().find(|call| line.starts_with(**call))?;
        let (_, title) = match line.split_once(")('") {
            Some(split) => split,
            None => line.split_once("('")?,
        };
        title.rsplit_once("', ").map(|(title, _)| title)
    }

    fn is_between(&self, line: &str) -> bool {
        line.starts_with("//")
    }

    fn has_inner_comments(&self) -> bool {
        true
    }
}

impl Language for Data {
    fn begins<'a>(&self, line: &'a str) -> Option<&'a str> {
        line.strip_prefix("case ")
    }

    fn is_between(&self, line: &str) -> bool {
        line.starts_with('#')
    }
}

impl Found {
    /// A comment right before a test counts for it, and one inside for the test that it is in.
    fn read(&mut self, file: &SourceFile, language: &dyn Language) {
        let mut in_tests = file.is_test();
        let mut test: Option<&str> = None;
        let mut pending: Vec<(usize, Id)> = Vec::new();
        for (number, line) in file.text.lines().enumerate() {
            let start = line.trim_start();
            in_tests |= start == "#[cfg(test)]";
            if !in_tests {
                continue;
            }
            let named = self.named(file, number, start);
            if !named.is_empty() && language.is_between(start) {
                pending.extend(named.into_iter().map(|id| (number, id)));
                continue;
            }
            if language.is_between(start) && !pending.is_empty() {
                continue;
            }
            let begins = language.begins(start);
            test = begins.or(test);
            let commented = begins.or_else(|| test.filter(|_| language.has_inner_comments()));
            self.note(pending.drain(..), file, commented);
            self.note(named.into_iter().map(|id| (number, id)), file, test);
        }
    }

    fn read_data(&mut self, file: &SourceFile, files: &[SourceFile]) {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        let plays = |other: &&SourceFile| {
            other.path.parent() == file.path.parent()
                && other.text.contains(&format!("include_str!(\"{name}\")"))
        };
        if files.iter().any(|other| plays(&other)) {
            self.read(file, &Data);
        } else if let Some(number) = file.text.lines().position(|line| line.contains(MARK)) {
            self.complain(file, number, "no test runs this file");
        }
    }

    /// The lines that are named here; a comment that names none is a mistake.
    fn named(&mut self, file: &SourceFile, number: usize, line: &str) -> Vec<Id> {
        let Some((_, list)) = line.split_once(MARK) else {
            return Vec::new();
        };
        let ids = ids(list);
        if ids.is_none() {
            self.complain(file, number, UNKNOWN);
        }
        ids.unwrap_or_default()
    }

    fn note(
        &mut self,
        ids: impl Iterator<Item = (usize, Id)>,
        file: &SourceFile,
        test: Option<&str>,
    ) {
        for (number, id) in ids {
            match test {
                Some(test) => self.prove(id, file, test),
                None => self.complain(file, number, OUTSIDE),
            }
        }
    }

    fn prove(&mut self, id: Id, file: &SourceFile, name: &str) {
        let proofs: &mut BTreeSet<Proof> = self.proofs.entry(id).or_default();
        proofs.insert(Proof {
            file: file.path.clone(),
            name: name.to_owned(),
        });
    }

    fn complain(&mut self, file: &SourceFile, line: usize, complaint: &str) {
        let place = format!("{}:{}", file.path.display(), line + 1);
        self.complaints.push((place, complaint.to_owned()));
    }
}

/// `multi-tab 13, 15; page-proxy 2.` `None` if that is not how it reads.
fn ids(list: &str) -> Option<Vec<Id>> {
    let list = list.trim_end().strip_suffix('.')?;
    let mut ids = Vec::new();
    for part in list.split("; ") {
        let (name, numbers) = part.split_once(' ')?;
        let document = *DOCUMENTS.iter().find(|document| **document == name)?;
        for number in numbers.split(", ") {
            let line = number.parse().ok()?;
            ids.push(Id { document, line });
        }
    }
    Some(ids)
}

/// How a comment that names lines begins.
const MARK: &str = "Spec: ";

const OUTSIDE: &str = "this comment is on no test, so it proves nothing";

const UNKNOWN: &str = "this names no line: write it as `Spec: multi-tab 13, 15; page-proxy 2.`";

/// The tests of this task mention lines that they do not prove.
const OURSELVES: &str = "xtask/src/proofs";
