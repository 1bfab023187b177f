//! Finds the numbers of lines in the tests: in their names, and beside what they assert.

use std::collections::BTreeSet;

use super::{Id, Proof, Proofs};
use crate::files::SourceFile;

/// What the tests say that they prove.
pub(super) struct Found {
    pub(super) proofs: Proofs,
    /// The place and what is wrong there.
    pub(super) complaints: Vec<(String, String)>,
}

/// Looks at every file.
pub(super) fn find(files: &[SourceFile]) -> Found {
    let mut found = Found {
        proofs: Proofs::new(),
        complaints: Vec::new(),
    };
    let is_other = |file: &&SourceFile| !file.path.to_string_lossy().contains(OURSELVES);
    for file in files.iter().filter(is_other) {
        match () {
            () if file.has_extension(&["rs"]) => found.read_rust(file),
            () if file.is_test() && file.has_extension(&["ts", "js"]) => found.read_script(file),
            () if file.is_test() && file.has_extension(&["txt"]) => found.read_data(file, files),
            () => {}
        }
    }
    found
}

impl Found {
    /// In a test's name every number right after `r004` counts. In the body of a test, or of a function that tests use,
    /// `R004-37` counts: a function that nobody uses does not compile.
    fn read_rust(&mut self, file: &SourceFile) {
        let mut in_tests = file.is_test();
        let mut is_marked = false;
        let mut function: Option<(usize, &str)> = None;
        for (number, line) in file.text.lines().enumerate() {
            let start = line.trim_start();
            let indent = line.len() - start.len();
            in_tests |= start == "#[cfg(test)]";
            is_marked |= start.starts_with("#[test]") || start.starts_with("#[tokio::test");
            if let Some(name) = function_name(start).filter(|_| in_tests) {
                if function.is_none_or(|(outer, _)| indent <= outer) {
                    function = Some((indent, name));
                }
                let ids = name_ids(name);
                if is_marked {
                    self.prove(ids, file, name);
                } else if ids.count() > 0 {
                    self.complain(file, number, "only a test is named after what it proves");
                }
                is_marked = false;
            }
            let ids: Vec<Id> = tags(line).filter(|_| in_tests).collect();
            match function {
                _ if ids.is_empty() => {}
                Some((_, name)) if !start.starts_with("///") => self.prove(ids, file, name),
                _ => self.complain(file, number, OUTSIDE),
            }
            if function.is_some_and(|(outer, _)| indent == outer && start == "}") {
                function = None;
            }
        }
    }

    /// A title counts for its test, and so does whatever stands in its body.
    fn read_script(&mut self, file: &SourceFile) {
        let mut test: Option<&str> = None;
        for (number, line) in file.text.lines().enumerate() {
            let title = title(line);
            if title.is_some() {
                test = title;
            }
            let ids: Vec<Id> = tags(line).collect();
            match test {
                _ if ids.is_empty() => {}
                Some(test) => self.prove(ids, file, test),
                None => self.complain(file, number, OUTSIDE),
            }
        }
    }

    /// Rows of a file that a test plays: the words of a row may be named like a test.
    fn read_data(&mut self, file: &SourceFile, files: &[SourceFile]) {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        let plays = |other: &&SourceFile| {
            other.path.parent() == file.path.parent()
                && other.text.contains(&format!("include_str!(\"{name}\")"))
        };
        let is_played = files.iter().any(|other| plays(&other));
        for (number, line) in file.text.lines().enumerate() {
            let ids: Vec<Id> = line.split(' ').flat_map(name_ids).collect();
            match ids.is_empty() {
                true => {}
                false if is_played => self.prove(ids, file, line),
                false => self.complain(file, number, "no test plays this file"),
            }
        }
    }

    fn prove(&mut self, ids: impl IntoIterator<Item = Id>, file: &SourceFile, name: &str) {
        for id in ids {
            let proofs: &mut BTreeSet<Proof> = self.proofs.entry(id).or_default();
            proofs.insert(Proof {
                file: file.path.clone(),
                name: name.to_owned(),
            });
        }
    }

    fn complain(&mut self, file: &SourceFile, line: usize, complaint: &str) {
        let place = format!("{}:{}", file.path.display(), line + 1);
        self.complaints.push((place, complaint.to_owned()));
    }
}

fn function_name(start: &str) -> Option<&str> {
    let start = start.strip_prefix("pub(super) ").unwrap_or(start);
    let start = start.strip_prefix("pub(crate) ").unwrap_or(start);
    let start = start.strip_prefix("pub ").unwrap_or(start);
    let start = start.strip_prefix("async ").unwrap_or(start);
    start.strip_prefix("fn ")?.split(['(', '<']).next()
}

/// The title of a vitest test that begins on this line.
fn title(line: &str) -> Option<&str> {
    let start = line.trim_start();
    let call = ["test(", "test.", "it(", "it."];
    call.iter().find(|call| start.starts_with(**call))?;
    // With `each`, the title is the text after the table.
    let (_, title) = match start.split_once(")('") {
        Some(split) => split,
        None => start.split_once("('")?,
    };
    title.rsplit_once("', ").map(|(title, _)| title)
}

/// The numbers in a name: `r004_37_38_it_works` has R004-37 and R004-38.
fn name_ids(name: &str) -> impl Iterator<Item = Id> {
    let mut seed = None;
    name.split('_').filter_map(move |word| {
        let begins = word.len() == 4 && word.starts_with("r00");
        match (begins, seed) {
            (true, _) => {
                seed = word.get(1..)?.parse().ok();
                None
            }
            (false, Some(number)) => {
                let id = word.parse().ok().map(|line| Id { seed: number, line });
                seed = seed.filter(|_| id.is_some());
                id
            }
            (false, None) => None,
        }
    })
}

/// The numbers in a text: `R004-37`.
pub(super) fn tags(text: &str) -> impl Iterator<Item = Id> {
    text.match_indices("R00").filter_map(|(at, _)| {
        let (seed, rest) = text.get(at + 1..)?.split_once('-')?;
        let digits = rest.find(|digit: char| !digit.is_ascii_digit());
        let line = rest.get(..digits.unwrap_or(rest.len()))?.parse().ok()?;
        let seed = seed.parse().ok().filter(|_| seed.len() == 3)?;
        Some(Id { seed, line })
    })
}

const OUTSIDE: &str = "a number outside of a test proves nothing: put it into the test's name, or beside the assertion";

/// The tests of this chore speak of lines that they do not prove.
const OURSELVES: &str = "xtask/src/proofs";
