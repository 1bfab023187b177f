//! The rules of the house, checked: `cargo xtask tidy`.

mod circles;
mod links;
mod manifests;
mod places;
mod proofs;
mod retired_words;
mod sources;

use std::{fmt, path::Path};

use anyhow::{Result, bail};

use crate::{
    files::{SourceFile, project_root, source_files},
    say,
};
use retired_words::RetiredWords;

/// Checks the project and tells every problem.
pub(crate) fn run() -> Result<()> {
    let problems = problems(&project_root())?;
    for problem in &problems {
        say(&problem.to_string());
    }
    match problems.len() {
        0 => Ok(()),
        count => bail!("{count} things are not tidy"),
    }
}

/// What is wrong, and where.
#[derive(Debug, PartialEq, Eq)]
struct Problem {
    /// The file, with the line where that helps.
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
    problems.extend(circles::problems(&files));
    let retired = RetiredWords::of_project();
    for file in &files {
        problems.extend(retired.problems(file));
        problems.extend(sources::problems(file));
        problems.extend(manifests::problems(file));
        problems.extend(places::problems(file));
        problems.extend(links::problems(root, file));
    }
    Ok(problems)
}

/// Asserts what a rule says of a file: the place and a piece of the complaint, for each problem.
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
    fn made_things_are_not_looked_at() {
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
