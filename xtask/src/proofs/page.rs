//! Writes the page that shows the lines with their proofs.

use std::{collections::BTreeSet, fmt::Write as _};

use super::{
    LINES, Proof, Proofs,
    requirements::{Note, Requirement},
};

/// How many lines are proven, and then a table per seed.
pub(super) fn render(lines: &[Requirement], proofs: &Proofs) -> String {
    let mut page = INTRODUCTION.replace("LINES", LINES);
    let seeds: BTreeSet<u16> = lines.iter().map(|line| line.id.seed).collect();
    page.push_str(COUNTS_HEAD);
    for seed in &seeds {
        let of_seed = || lines.iter().filter(|line| line.id.seed == *seed);
        let notes = |wanted: fn(&Note) -> bool| {
            let notes = of_seed().filter_map(|line| line.note.as_ref());
            notes.filter(|note| wanted(note)).count()
        };
        let tested = of_seed().filter(|line| proofs.contains_key(&line.id));
        let _ = writeln!(
            page,
            "| {seed:03} | {} | {} | {} | {} | {} |",
            of_seed().count(),
            tested.count(),
            notes(|note| matches!(note, Note::Written { .. } | Note::Measured { .. })),
            notes(|note| matches!(note, Note::Partly(_))),
            notes(|note| matches!(note, Note::Gap(_))),
        );
    }
    for seed in &seeds {
        let _ = writeln!(
            page,
            "\n## Seed {seed:03}\n\n| id | line | proven by |\n|---|---|---|"
        );
        for line in lines.iter().filter(|line| line.id.seed == *seed) {
            let proofs = proofs.get(&line.id);
            let by: Vec<String> = note(line.note.as_ref())
                .into_iter()
                .chain(proofs.into_iter().flatten().map(proof))
                .collect();
            let text = line.text.replace('|', "\\|");
            let _ = writeln!(page, "| {} | {text} | {} |", line.id, by.join("<br>"));
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
        Note::Gap(reason) => Some(format!("**open**: {reason}")),
        Note::Partly(reason) => Some(format!("**partly open**: {reason}")),
        Note::Written { file, .. } => Some(format!("written in [{file}](../{file})")),
        Note::Measured { file, .. } => Some(format!("measured by [{file}](../{file})")),
    }
}

const COUNTS_HEAD: &str = "
| seed | lines | proven by tests | written or measured | partly open | open |
|---|---|---|---|---|---|
";

const INTRODUCTION: &str = "# Proofs

What the seeds ask for, line by line, and the tests that prove it.
This page is written by `cargo xtask proofs` from `LINES` and the tests; `cargo xtask tidy` says when it is stale, when a line has no proof, and when a test names a line that does not exist.

A test carries the numbers of the lines it proves in its name (`r004_37_38_…` proves R004-37 and R004-38), or beside the assertion (`// R004-37`).
A name that is no test is a function that tests share.
";
