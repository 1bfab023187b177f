//! Writes the page that shows the lines with their proofs.

use std::fmt::Write as _;

use super::{
    Proof, Proofs,
    specification::{DOCUMENTS, Line, Note, path},
};

/// How many lines are proven, and then a table for each document.
pub(super) fn render(lines: &[Line], proofs: &Proofs) -> String {
    let mut page = INTRODUCTION.to_owned();
    let of = |document: &'static str| {
        lines
            .iter()
            .filter(move |line| line.id.document == document)
    };
    for document in DOCUMENTS {
        let notes = |wanted: fn(&Note) -> bool| {
            let notes = of(document).filter_map(|line| line.note.as_ref());
            notes.filter(|note| wanted(note)).count()
        };
        let _ = writeln!(
            page,
            "| {document} | {} | {} | {} | {} | {} |",
            of(document).count(),
            of(document)
                .filter(|line| proofs.contains_key(&line.id))
                .count(),
            notes(|note| matches!(note, Note::Written { .. } | Note::Measured { .. })),
            notes(|note| matches!(note, Note::Decided(_))),
            notes(|note| matches!(note, Note::Open(_))),
        );
    }
    for document in DOCUMENTS {
        let link = path(document);
        let link = link.trim_start_matches("docs/");
        let _ = writeln!(
            page,
            "\n## [{document}]({link})\n\n| line | text | proven by |\n|--:|---|---|"
        );
        for line in of(document) {
            let proofs = proofs.get(&line.id);
            let by: Vec<String> = note(line.note.as_ref())
                .into_iter()
                .chain(proofs.into_iter().flatten().map(proof))
                .collect();
            let text = line.text.replace('|', "\\|");
            let _ = writeln!(page, "| {} | {text} | {} |", line.id.line, by.join("<br>"));
        }
    }
    page
}

fn proof(proof: &Proof) -> String {
    let path = proof.file.to_string_lossy().replace('\\', "/");
    let file = proof.file.file_name().unwrap_or_default().to_string_lossy();
    let name = proof.name.replace('|', "\\|");
    format!("`{name}` in [{file}](../{path})")
}

fn note(note: Option<&Note>) -> Option<String> {
    match note? {
        Note::Open(reason) => Some(format!("**open**: {reason}")),
        Note::Decided(reason) => Some(format!("decided: {}", reason.replace('|', "\\|"))),
        Note::Written { file, .. } => Some(format!("written in [{file}](../{file})")),
        Note::Measured { file, .. } => Some(format!("measured by [{file}](../{file})")),
    }
}

const INTRODUCTION: &str = "# Proofs

What the [specification](specification/README.md) asks for, line by line, and the tests that prove it.
This page is written by `cargo xtask proofs`; `cargo xtask tidy` says when it is out of date, when a line has no proof, and when a test names a line that does not exist.

A test names the lines that it proves in a comment: `/// Spec: multi-tab 13, 15; page-proxy 2.`, or at the assertion, `// Spec: multi-tab 13.`
A name below that is not a test is a function that tests share.
*Decided* says where tabmux differs from a line, and why.

| document | lines | proven by tests | written or measured | decided | open |
|---|--:|--:|--:|--:|--:|
";
