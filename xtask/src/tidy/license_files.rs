//! Every published crate has the licenses in its folder, as links, because a packed crate has nothing from outside of it.

use super::Problem;
use crate::files::SourceFile;
use std::path::Path;

const LICENSES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// The licenses that are missing, if the file is the manifest of a published crate.
pub(super) fn problems(root: &Path, file: &SourceFile) -> Vec<Problem> {
    let is_crate = file.is_named("Cargo.toml") && file.path.starts_with("crates");
    let line = |wanted: &str| file.text.lines().any(|line| line.trim() == wanted);
    if !is_crate || line("publish = false") {
        return Vec::new();
    }
    let folder = root.join(&file.path);
    let is_there = |name: &str| folder.with_file_name(name).is_file();
    let missing = LICENSES.iter().filter(|name| !is_there(name));
    let mut problems: Vec<_> = missing
        .map(|name| {
            Problem::of_file(
                file,
                format!("link ../../{name} into the folder of the crate"),
            )
        })
        .collect();
    if line("include = [") && !line(r#""/LICENSE-*","#) {
        problems.push(Problem::of_file(file, "add \"/LICENSE-*\" to `include`"));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::assert_problems;

    #[test]
    fn a_published_crate_has_the_licenses() {
        let root = tempfile::tempdir().unwrap();
        let manifest = |text: &str| SourceFile {
            path: "crates/a/Cargo.toml".into(),
            text: text.to_owned(),
        };
        let place = "crates/a/Cargo.toml";
        let found = problems(root.path(), &manifest("include = [\n    \"/src\",\n]\n"));
        assert_problems(
            &found,
            &[
                (place, "LICENSE-APACHE"),
                (place, "LICENSE-MIT"),
                (place, "include"),
            ],
        );
        assert_problems(&problems(root.path(), &manifest("publish = false\n")), &[]);
        std::fs::create_dir_all(root.path().join("crates/a")).unwrap();
        for name in LICENSES {
            std::fs::write(root.path().join("crates/a").join(name), "").unwrap();
        }
        let included = "include = [\n    \"/LICENSE-*\",\n]\n";
        assert_problems(&problems(root.path(), &manifest(included)), &[]);
    }
}
