//! Tests that documents name as proofs must exist.

use std::collections::HashSet;

use super::Problem;
use crate::files::SourceFile;

/// The named tests that do not exist. A test is named in backquotes, on a line that begins with `Proof:` or in a
/// table's column `test`.
pub(super) fn problems(files: &[SourceFile]) -> Vec<Problem> {
    let rust = files.iter().filter(|file| file.has_extension(&["rs"]));
    let functions: HashSet<&str> = rust.flat_map(|file| functions(&file.text)).collect();
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.has_extension(&["md"])) {
        let mut column = None;
        for (number, line) in file.text.lines().enumerate() {
            column = test_column(line, column);
            let cell = column.and_then(|column| cells(line).nth(column));
            let names = proofs(line).chain(quoted(cell.unwrap_or_default()));
            for name in names.filter(|name| !functions.contains(name)) {
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
    quoted(line.strip_prefix("Proof:").unwrap_or_default())
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Which column of the table that a line belongs to names tests. The first line of a table names its columns.
fn test_column(line: &str, before: Option<usize>) -> Option<usize> {
    let is_row = line.starts_with('|');
    before
        .or_else(|| cells(line).position(|cell| cell == "test"))
        .filter(|_| is_row)
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split('|').map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::{super::assert_problems, *};

    #[track_caller]
    fn check(document: &str, expected: &[(&str, &str)]) {
        let file = |path: &str, text: &str| SourceFile {
            path: path.into(),
            text: text.to_owned(),
        };
        let files = [
            file("a.rs", "//! A.\n    async fn it_works() {\n"),
            file("a.md", document),
        ];
        assert_problems(&problems(&files), expected);
    }

    #[test]
    fn proofs_are_tests_that_exist() {
        check(
            "`not_a_proof`\nProof: `it_works`, `it_is_gone`\n",
            &[("a.md:2", "`it_is_gone`")],
        );
    }

    #[test]
    fn tables_name_tests_that_exist() {
        let table = "| who | bound | test |\n|---|---|---|\n| a `page` | `2 kB` | `it_works`, `it_is_gone` |\n";
        check(table, &[("a.md:3", "`it_is_gone`")]);
        check(
            &format!("{table}\n| a | b |\n| x | `y` |\n"),
            &[("a.md:3", "`it_is_gone`")],
        );
        check("the test | `of_nothing`\n", &[]);
    }
}
