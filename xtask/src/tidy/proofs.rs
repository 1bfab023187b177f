//! Documents that name a test as a proof name one that exists.

use std::collections::HashSet;

use super::Problem;
use crate::files::SourceFile;

/// The proofs that are not there. A proof stands in backquotes on a line that begins with `Proof:`.
pub(super) fn problems(files: &[SourceFile]) -> Vec<Problem> {
    let rust = files.iter().filter(|file| file.has_extension(&["rs"]));
    let functions: HashSet<&str> = rust.flat_map(|file| functions(&file.text)).collect();
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.has_extension(&["md"])) {
        for (number, line) in file.text.lines().enumerate() {
            for name in proofs(line).filter(|name| !functions.contains(name)) {
                problems.push(Problem::of_line(
                    file,
                    number,
                    format!("there is no test `{name}`"),
                ));
            }
        }
    }
    problems
}

fn functions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (_, rest) = line.split_once("fn ")?;
        rest.split('(').next()
    })
}

fn proofs(line: &str) -> impl Iterator<Item = &str> {
    let names = line.strip_prefix("Proof:").unwrap_or_default();
    names.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::{super::assert_problems, *};

    #[test]
    fn proofs_are_tests_that_exist() {
        let file = |path: &str, text: &str| SourceFile {
            path: path.into(),
            text: text.to_owned(),
        };
        let files = [
            file("a.rs", "//! A.\n    async fn it_works() {\n"),
            file("a.md", "`not_a_proof`\nProof: `it_works`, `it_is_gone`\n"),
        ];
        assert_problems(&problems(&files), &[("a.md:2", "`it_is_gone`")]);
    }
}
