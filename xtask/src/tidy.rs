//! `cargo xtask tidy`: checks the project rules.

mod function_length;
mod import_cycles;
mod license_files;
mod links;
mod manifests;
mod proofs;
mod restricted_code;
mod retired_words;
mod sources;

use std::{fmt, path::Path};

use anyhow::{Result, bail};

use crate::{
    files::{SourceFile, project_root, source_files},
    say,
};
use retired_words::RetiredWords;

/// Checks the project and prints every problem.
pub(crate) fn run() -> Result<()> {
    let root = project_root();
    let problems = problems(&root)?;
    if let Some(median) = function_length::median(&source_files(&root)?) {
        say(&format!("The median function has {median} lines."));
    }
    for problem in &problems {
        say(&problem.to_string());
    }
    match problems.len() {
        0 => Ok(()),
        count => bail!("{count} problems"),
    }
}

/// A broken rule.
#[derive(Debug, PartialEq, Eq)]
struct Problem {
    /// The file, with the line if there is one.
    place: String,
    complaint: String,
}

impl Problem {
    fn of_file(file: &SourceFile, complaint: impl Into<String>) -> Self {
        Self {
            place: file.path.display().to_string(),
            complaint: complaint.into(),
        }
    }

    /// `line` counts from 0.
    fn of_line(file: &SourceFile, line: usize, complaint: impl Into<String>) -> Self {
        let place = format!("{}:{}", file.path.display(), line + 1);
        Self {
            place,
            complaint: complaint.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.complaint)
    }
}

fn problems(root: &Path) -> Result<Vec<Problem>> {
    let files = source_files(root)?;
    let mut problems = proofs::problems(&files);
    let unproven = crate::proofs::complaints(root, &files);
    problems.extend(
        unproven
            .into_iter()
            .map(|(place, complaint)| Problem { place, complaint }),
    );
    problems.extend(import_cycles::problems(&files));
    problems.extend(function_length::problem(&files));
    let retired = RetiredWords::of_project();
    for file in &files {
        problems.extend(retired.problems(file));
        problems.extend(sources::problems(file));
        problems.extend(manifests::problems(file));
        problems.extend(license_files::problems(root, file));
        problems.extend(restricted_code::problems(file));
        problems.extend(links::problems(root, file));
    }
    Ok(problems)
}

/// Asserts the problems that a rule finds: the place and a piece of the complaint of each.
#[cfg(test)]
#[track_caller]
fn assert_problems(problems: &[Problem], expected: &[(&str, &str)]) {
    let matches = problems.len() == expected.len()
        && problems
            .iter()
            .zip(expected)
            .all(|(problem, (place, piece))| {
                problem.place == *place && problem.complaint.contains(piece)
            });
    assert!(matches, "{problems:#?}\nshould be\n{expected:#?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_project_is_tidy() {
        let problems = problems(&project_root()).unwrap();
        let list: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(list.is_empty(), "\n{}", list.join("\n"));
    }

    #[test]
    fn build_output_is_not_checked() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["target", "packages/page/node_modules", "src"] {
            let folder = root.path().join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("a.rs"), "fn a() {}").unwrap();
            std::fs::write(folder.join("picture.png"), [0x89, 0xff]).unwrap();
        }
        assert_problems(&problems(root.path()).unwrap(), &[("src/a.rs", "//!")]);
    }
}
