//! Every line of the seeds and the tests that prove it: `docs/requirements.txt` has the lines, `docs/proofs.md` shows both.

mod page;
mod requirements;
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    path::{Path, PathBuf},
};

use anyhow::Result;

use self::requirements::{Note, Requirement};
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
    page::render(&requirements::read(files).lines, &tests::find(files).proofs)
}

/// What is wrong, with the place where it is.
pub(crate) fn complaints(root: &Path, files: &[SourceFile]) -> Vec<(String, String)> {
    let file = |path: &str| files.iter().find(|file| file.path == Path::new(path));
    if file(LINES).is_none() {
        return Vec::new();
    }
    let (requirements, tests) = (requirements::read(files), tests::find(files));
    let mut complaints = [requirements.complaints, tests.complaints].concat();
    let known: BTreeSet<Id> = requirements.lines.iter().map(|line| line.id).collect();
    for (id, proofs) in tests.proofs.iter().filter(|(id, _)| !known.contains(id)) {
        for proof in proofs {
            complaints.push((proof.place(), format!("{LINES} has no line {id}")));
        }
    }
    for line in &requirements.lines {
        let complaint = complaint_of(root, line, tests.proofs.contains_key(&line.id));
        complaints.extend(
            complaint.map(|complaint| (LINES.to_owned(), format!("{} {complaint}", line.id))),
        );
    }
    let fresh = page::render(&requirements.lines, &tests.proofs);
    if file(PAGE).is_none_or(|page| page.text != fresh) {
        let complaint = "it is stale, run `cargo xtask proofs`".to_owned();
        complaints.push((PAGE.to_owned(), complaint));
    }
    complaints
}

fn complaint_of(root: &Path, line: &Requirement, is_proven: bool) -> Option<String> {
    match (&line.note, is_proven) {
        (None, true) | (Some(Note::Gap(_)), false) | (Some(Note::Partly(_)), true) => None,
        (None, false) => {
            Some("has no proof: name a test after it, or say why there is none".into())
        }
        (Some(Note::Gap(_)), true) => Some("is proven, so it is no gap any more".into()),
        (Some(Note::Partly(_)), false) => Some("has no proof at all".into()),
        (Some(Note::Written { file, words } | Note::Measured { file, words }), _) => {
            let text = fs::read_to_string(root.join(file)).unwrap_or_default();
            (!text.contains(words.as_str())).then(|| format!("is not in {file}: \"{words}\""))
        }
    }
}

/// The number of a line: its seed, and its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Id {
    seed: u16,
    line: u16,
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "R{:03}-{}", self.seed, self.line)
    }
}

/// What proves a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Proof {
    file: PathBuf,
    /// The test, or the row of a file that a test plays.
    name: String,
}

impl Proof {
    fn place(&self) -> String {
        format!("{}, {}", self.file.display(), self.name)
    }
}

type Proofs = BTreeMap<Id, BTreeSet<Proof>>;

/// The lines, in our words.
const LINES: &str = "docs/requirements.txt";

/// The lines with their proofs.
const PAGE: &str = "docs/proofs.md";

#[cfg(test)]
mod checks {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile {
            path: path.into(),
            text: text.to_owned(),
        }
    }

    /// A project with these lines and this test file, whose page is fresh.
    fn complaints_of(lines: &str, path: &str, tests: &str) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("a.md"), "Tab ids are no secrets.").unwrap();
        let mut files = vec![file(LINES, lines), file(path, tests)];
        files.push(file(PAGE, &page(&files)));
        let complaints = complaints(root.path(), &files).into_iter();
        complaints
            .map(|(place, complaint)| format!("{place}: {complaint}"))
            .collect()
    }

    #[track_caller]
    fn check(lines: &str, tests: &str, expected: &[&str]) {
        let complaints = complaints_of(lines, "crates/a/tests/a.rs", tests);
        let matches = complaints.len() == expected.len()
            && complaints
                .iter()
                .zip(expected)
                .all(|(one, piece)| one.contains(piece));
        assert!(matches, "{complaints:#?}\nshould be\n{expected:#?}");
    }

    const LINE: &str = "R004-37 It is silent.\n";

    #[test]
    fn a_line_needs_a_test_or_a_reason() {
        check(LINE, "", &["R004-37 has no proof"]);
        check(LINE, "#[test]\nfn r004_37_is_silent() {\n}\n", &[]);
        check(
            LINE,
            "#[test]\nfn is_silent() {\n    a(); // R004-37\n}\n",
            &[],
        );
        check(LINE, "fn shared() {\n    a(); // R004-37\n}\n", &[]);
        check("R004-37 It is silent.\n  gap: Not built.\n", "", &[]);
    }

    #[test]
    fn a_reason_goes_when_the_proof_comes() {
        let test = "#[test]\nfn r004_37_is_silent() {\n}\n";
        check(
            "R004-37 It.\n  gap: Not built.\n",
            test,
            &["no gap any more"],
        );
        check("R004-37 It.\n  partly: Not all.\n", test, &[]);
        check(
            "R004-37 It.\n  partly: Not all.\n",
            "",
            &["no proof at all"],
        );
    }

    #[test]
    fn what_is_written_is_looked_up() {
        check("R000-75 It.\n  written: a.md \"no secrets\"\n", "", &[]);
        check(
            "R000-75 It.\n  written: a.md \"secrets!\"\n",
            "",
            &["is not in a.md"],
        );
        check(
            "R000-75 It.\n  written: b.md \"no secrets\"\n",
            "",
            &["is not in b.md"],
        );
    }

    #[test]
    fn a_number_that_no_line_has_is_a_mistake() {
        let test = "#[test]\nfn r004_37_38_r003_1_after_25_ms() {\n}\n";
        check(LINE, test, &["no line R003-1", "no line R004-38"]);
    }

    #[test]
    fn a_number_counts_only_in_a_test() {
        let outside = "/// R004-37\n#[test]\nfn is_silent() {\n}\n";
        check(LINE, outside, &["a.rs:1: a number outside", "no proof"]);
        let helper = "fn r004_37_is_silent() {\n}\n";
        check(LINE, helper, &["only a test", "no proof"]);
        let product = complaints_of(LINE, "crates/a/src/a.rs", "fn a() {\n    // R004-37\n}\n");
        assert_eq!(product.len(), 1, "{product:?}");
    }

    #[test]
    fn titles_of_scripts_count() {
        let tests = "test('R004-37 it is silent', async () => {\n});\n";
        let complaints = complaints_of(LINE, "packages/page/test/a.test.ts", tests);
        assert!(complaints.is_empty(), "{complaints:?}");
    }

    #[test]
    fn rows_count_if_a_test_plays_them() {
        let rows = file(
            "crates/a/src/tests/a.txt",
            "case r004_37 it is silent\na -> b\n",
        );
        let player = file("crates/a/src/tests/a.rs", "include_str!(\"a.txt\")");
        let (unplayed, played) = (tests::find(&[rows]), Id { seed: 4, line: 37 });
        assert_eq!((unplayed.proofs.len(), unplayed.complaints.len()), (0, 1));
        let rows = file(
            "crates/a/src/tests/a.txt",
            "case r004_37 it is silent\na -> b\n",
        );
        let proofs = tests::find(&[rows, player]).proofs;
        assert_eq!(proofs.keys().collect::<Vec<_>>(), [&played]);
    }

    #[test]
    fn a_stale_page_is_told() {
        let files = [file(LINES, ""), file(PAGE, "old")];
        let complaints = complaints(Path::new("."), &files);
        assert!(complaints.iter().any(|(place, _)| place == PAGE));
    }

    #[test]
    fn lines_are_in_order_and_once() {
        check("R004-37 A.\n  gap: a\nR004-37 B.\n", "", &["not in order"]);
        check("nonsense\n", "", &["no line"]);
        check("R004-37 A.\n  gap: a\n  gap: b\n", "", &["no note"]);
    }
}
