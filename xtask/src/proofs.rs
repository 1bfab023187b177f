//! Links every line of the specification in `docs/specification/` to the tests that prove it, in
//! `docs/proofs.md`.

mod page;
mod specification;
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    path::{Path, PathBuf},
};

use anyhow::Result;

use self::specification::{FOLDER, Line, Note};
use crate::{
    files::{SourceFile, project_root, source_files},
    say,
};

/// Rewrites the page.
pub(crate) fn run() -> Result<()> {
    let root = project_root();
    fs::write(root.join(PAGE), page(&source_files(&root)?))?;
    say(&format!("wrote {PAGE}"));
    Ok(())
}

/// The page as it should be now.
fn page(files: &[SourceFile]) -> String {
    page::render(
        &specification::read(files).lines,
        &tests::find(files).proofs,
    )
}

/// The problems, each with its place.
pub(crate) fn complaints(root: &Path, files: &[SourceFile]) -> Vec<(String, String)> {
    if !files.iter().any(|file| file.path.starts_with(FOLDER)) {
        return Vec::new();
    }
    let (specification, tests) = (specification::read(files), tests::find(files));
    let mut complaints = [specification.complaints, tests.complaints].concat();
    let known: BTreeSet<Id> = specification.lines.iter().map(|line| line.id).collect();
    for (id, proofs) in tests.proofs.iter().filter(|(id, _)| !known.contains(id)) {
        for proof in proofs {
            complaints.push((proof.place(), format!("the specification has no {id}")));
        }
    }
    for line in &specification.lines {
        let complaint = complaint_of(root, line, tests.proofs.contains_key(&line.id));
        let place = specification::path(line.id.document);
        complaints.extend(complaint.map(|complaint| (place, format!("{} {complaint}", line.id))));
    }
    let fresh = page::render(&specification.lines, &tests.proofs);
    let page = files.iter().find(|file| file.path == Path::new(PAGE));
    if page.is_none_or(|page| page.text != fresh) {
        let complaint = "it is out of date, run `cargo xtask proofs`".to_owned();
        complaints.push((PAGE.to_owned(), complaint));
    }
    complaints
}

fn complaint_of(root: &Path, line: &Line, is_proven: bool) -> Option<String> {
    match (&line.note, is_proven) {
        (None, true) | (Some(Note::Open(_)), false) | (Some(Note::Decided(_)), _) => None,
        (None, false) => Some(
            "has no proof: name it in the comment of a test, or write below it why it has none"
                .into(),
        ),
        (Some(Note::Open(_)), true) => Some("is proven, so it is no longer open".into()),
        (Some(Note::Written { file, words } | Note::Measured { file, words }), _) => {
            let text = fs::read_to_string(root.join(file)).unwrap_or_default();
            (!text.contains(words.as_str())).then(|| format!("is not in {file}: \"{words}\""))
        }
    }
}

/// A line of the specification: its document, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Id {
    document: &'static str,
    line: u16,
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.document, self.line)
    }
}

/// What proves a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Proof {
    file: PathBuf,
    /// The test, or the row of a file that a test runs.
    name: String,
}

impl Proof {
    fn place(&self) -> String {
        format!("{}, {}", self.file.display(), self.name)
    }
}

type Proofs = BTreeMap<Id, BTreeSet<Proof>>;

/// The lines with their proofs.
const PAGE: &str = "docs/proofs.md";

#[cfg(test)]
mod checks {
    use super::specification::DOCUMENTS;
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile {
            path: path.into(),
            text: text.to_owned(),
        }
    }

    /// A project with these lines in the page `dynamic-tools` and this test file, whose page of proofs is up to date.
    fn complaints_of(lines: &str, path: &str, tests: &str) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("a.md"), "Tab ids are no secrets.").unwrap();
        let mut files: Vec<SourceFile> = DOCUMENTS
            .iter()
            .map(|document| {
                let text = if *document == "dynamic-tools" {
                    lines
                } else {
                    ""
                };
                file(&specification::path(document), text)
            })
            .collect();
        files.push(file(path, tests));
        files.push(file(PAGE, &page(&files)));
        let complaints = complaints(root.path(), &files).into_iter();
        complaints
            .map(|(place, complaint)| format!("{place}: {complaint}"))
            .collect()
    }

    #[track_caller]
    fn check(lines: &str, tests: &str, expected: &[&str]) {
        check_in("crates/a/tests/a.rs", lines, tests, expected);
    }

    #[track_caller]
    fn check_in(path: &str, lines: &str, tests: &str, expected: &[&str]) {
        let complaints = complaints_of(lines, path, tests);
        let matches = complaints.len() == expected.len()
            && complaints
                .iter()
                .zip(expected)
                .all(|(one, piece)| one.contains(piece));
        assert!(matches, "{complaints:#?}\nshould be\n{expected:#?}");
    }

    const LINE: &str = "# Title\n\n37. It is silent.\n";
    const TEST: &str = "/// Spec: dynamic-tools 37.\n#[test]\nfn is_silent() {\n}\n";

    #[test]
    fn a_line_needs_a_test_or_a_reason() {
        check(LINE, "", &["dynamic-tools 37 has no proof"]);
        check(LINE, TEST, &[]);
        let inline = "#[test]\nfn is_silent() {\n    a(); // Spec: dynamic-tools 37.\n}\n";
        check(LINE, inline, &[]);
        check("37. It is silent.\n    - Open: Not built.\n", "", &[]);
        check("37. It is silent.\n    - Decided: Not wanted.\n", "", &[]);
    }

    #[test]
    fn an_open_line_that_is_proven_is_reported() {
        let open = "37. It.\n    - Open: Not built.\n";
        check(open, TEST, &["no longer open"]);
        check("37. It.\n    - Decided: Not all of it.\n", TEST, &[]);
    }

    #[test]
    fn what_is_written_is_looked_up() {
        let written = |what: &str| format!("75. It.\n    - Written: {what}\n");
        check(&written("a.md \"no secrets\""), "", &[]);
        check(&written("a.md \"secrets!\""), "", &["is not in a.md"]);
        check(&written("b.md \"no secrets\""), "", &["is not in b.md"]);
    }

    #[test]
    fn a_number_that_no_line_has_is_a_mistake() {
        let test = "/// It is silent.\n/// Spec: dynamic-tools 37, 38; multi-browser 1.\n#[test]\nfn is_silent() {\n}\n";
        check(LINE, test, &["no dynamic-tools 38", "no multi-browser 1"]);
    }

    #[test]
    fn a_comment_that_names_no_line_is_a_mistake() {
        for list in [
            "dynamic-tools 37",
            "dynamic-tool 37.",
            "dynamic-tools.",
            "37.",
        ] {
            let test = TEST.replace("dynamic-tools 37.", list);
            check(LINE, &test, &["names no line", "no proof"]);
        }
    }

    #[test]
    fn a_comment_counts_only_on_a_test() {
        let constant =
            "/// Spec: dynamic-tools 37.\nconst A: u8 = 1;\n#[test]\nfn is_silent() {\n}\n";
        check(
            LINE,
            constant,
            &["a.rs:1: this comment is on no test", "no proof"],
        );
        check_in("crates/a/src/a.rs", LINE, TEST, &["no proof"]);
    }

    #[test]
    fn titles_of_scripts_count() {
        let path = "packages/page/test/a.test.ts";
        let before = "// Spec: dynamic-tools 37.\ntest('it is silent', async () => {\n});\n";
        check_in(path, LINE, before, &[]);
        let inside =
            "test('it is silent', async () => {\n  // Spec: dynamic-tools 37.\n  a();\n});\n";
        check_in(path, LINE, inside, &[]);
        let outside = "// Spec: dynamic-tools 37.\nconst a = 1;\n";
        check_in(path, LINE, outside, &["on no test", "no proof"]);
    }

    #[test]
    fn rows_count_if_a_test_plays_them() {
        let rows = || {
            file(
                "crates/a/src/tests/a.txt",
                "# Spec: dynamic-tools 37.\ncase it is silent\na -> b\n",
            )
        };
        let player = file("crates/a/src/tests/a.rs", "include_str!(\"a.txt\")");
        let unplayed = tests::find(&[rows()]);
        assert_eq!((unplayed.proofs.len(), unplayed.complaints.len()), (0, 1));
        let proofs = tests::find(&[rows(), player]).proofs;
        let id = Id {
            document: "dynamic-tools",
            line: 37,
        };
        assert_eq!(proofs.keys().collect::<Vec<_>>(), [&id]);
    }

    #[test]
    fn an_old_page_is_reported() {
        let files = [
            file("docs/specification/multi-tab.md", ""),
            file(PAGE, "old"),
        ];
        let complaints = complaints(Path::new("."), &files);
        assert!(complaints.iter().any(|(place, _)| place == PAGE));
    }

    #[test]
    fn lines_are_in_order_and_have_one_note() {
        let twice = "37. A.\n    - Open: a\n37. B.\n";
        check(twice, "", &["not in order"]);
        let notes = "37. A.\n    - Open: a\n    - Open: b\n";
        check(notes, "", &["unknown note"]);
        check("37. A.\n    - What: a\n", TEST, &["unknown note"]);
    }
}
