//! Half of the functions of the product have at most ten lines. Formatted code can be counted without a parser.

use super::Problem;
use crate::files::SourceFile;

/// The median length of the functions in crates, without tests and generated code, in lines from `fn` to the closing
/// brace.
pub(super) fn median(files: &[SourceFile]) -> Option<usize> {
    let mut lengths: Vec<_> = files
        .iter()
        .filter(|file| is_product(file))
        .flat_map(|file| lengths(&file.text))
        .collect();
    lengths.sort_unstable();
    lengths.get(lengths.len() / 2).copied()
}

/// The complaint if the functions are too long.
pub(super) fn problem(files: &[SourceFile]) -> Option<Problem> {
    let median = median(files).filter(|median| *median > MOST)?;
    Some(Problem {
        place: "crates".to_owned(),
        complaint: format!("the median function has {median} lines, more than {MOST}, split some"),
    })
}

fn is_product(file: &SourceFile) -> bool {
    let is_code = file.path.starts_with("crates") && file.has_extension(&["rs"]);
    let is_testkit = file.path.starts_with("crates/testkit");
    is_code && !is_testkit && !file.is_test() && !file.is_generated()
}

/// The lengths of all functions with a body, before the tests at the end of the file.
fn lengths(text: &str) -> Vec<usize> {
    let product = text.split(TESTS).next().unwrap_or_default();
    let lines: Vec<_> = product.lines().collect();
    let starts = (0..lines.len()).filter(|at| is_start(lines[*at]));
    starts.filter_map(|at| length(&lines[at..])).collect()
}

/// Whether a function begins in this line.
fn is_start(line: &str) -> bool {
    let Some((before, name)) = line.split_once("fn ") else {
        return false;
    };
    let mut words = before.split_whitespace();
    let is_item = words.all(|word| MODIFIERS.contains(&word) || word.starts_with("pub"));
    is_item && name.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// The lines up to the brace that closes the function; `None` if it has no body.
fn length(lines: &[&str]) -> Option<usize> {
    let first = lines.first()?;
    let indent = &first[..first.len() - first.trim_start().len()];
    let at_indent = |line: &&str| line.strip_prefix(indent).map(str::to_owned);
    for (number, line) in lines.iter().enumerate() {
        let Some(rest) = at_indent(line).filter(|rest| !rest.starts_with(' ')) else {
            continue;
        };
        if rest == "}" || (number == 0 && rest.ends_with('}')) {
            return Some(number + 1);
        }
        if rest.ends_with(';') {
            return None;
        }
    }
    None
}

const MOST: usize = 10;
/// How tests inside a file begin.
const TESTS: &str = "\n#[cfg(test)]\nmod tests {";
const MODIFIERS: &[&str] = &["async", "const", "unsafe", "extern", "\"C\""];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_counted_from_their_name_to_their_brace() {
        let text = "//! A.\n\
            #[cfg(test)]\nmod tests;\n\
            fn empty() {}\n\
            pub(crate) async fn three() {\n    call();\n}\n\
            impl A {\n    pub fn five(\n        a: u8,\n    ) -> u8 {\n        a\n    }\n}\n\
            trait B {\n    fn declared(&self) -> u8;\n    fn long(\n        &self,\n    ) -> u8;\n}\n\
            // a fn in a comment\n\
            #[cfg(test)]\nmod tests {\n    fn four() {\n        a();\n        b();\n    }\n}\n";
        assert_eq!(lengths(text), [1, 3, 5]);
    }

    #[test]
    fn the_median_of_the_product_is_limited() {
        let file = |path: &str, lines: usize| SourceFile {
            path: path.into(),
            text: format!("//! A.\nfn a() {{\n{}}}\n", "    b();\n".repeat(lines)),
        };
        let mut files = vec![
            file("crates/a/src/a.rs", 3),
            file("crates/a/src/b.rs", 8),
            file("crates/a/src/c.rs", 90),
            file("crates/a/tests/it/d.rs", 90),
            file("xtask/src/e.rs", 90),
        ];
        assert_eq!(median(&files), Some(10));
        assert_eq!(problem(&files), None);
        files.push(file("crates/a/src/f.rs", 20));
        files.push(file("crates/a/src/g.rs", 20));
        let problem = problem(&files).unwrap();
        assert!(problem.complaint.contains("22 lines"), "{problem}");
    }
}
