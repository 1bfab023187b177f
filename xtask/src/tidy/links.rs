//! Links in documents must lead to existing files.

use std::path::Path;

use super::Problem;
use crate::files::SourceFile;

/// The broken links of the file, if it is a document.
pub(super) fn problems(root: &Path, file: &SourceFile) -> Vec<Problem> {
    if !file.has_extension(&["md"]) {
        return Vec::new();
    }
    let folder = root
        .join(&file.path)
        .parent()
        .map(Path::to_path_buf)
        .unwrap_or_default();
    let mut problems = Vec::new();
    let mut in_code = false;
    for (number, line) in file.text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        for link in links(line) {
            let target = match link.strip_prefix('/') {
                Some(link) => root.join(link),
                None => folder.join(link),
            };
            if !target.exists() {
                problems.push(Problem::of_line(
                    file,
                    number,
                    format!("`{link}` does not exist"),
                ));
            }
        }
    }
    problems
}

/// The paths that a line links to: `[text](path)`, `![text](path#part)`, `[name]: path`, `<img src="path">`.
fn links(line: &str) -> Vec<&str> {
    let inline = after_each(line, "](", |character| ")# ".contains(character));
    let html = ["src=\"", "href=\""]
        .into_iter()
        .flat_map(|attribute| after_each(line, attribute, |character| "\"#".contains(character)));
    let definition = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]:"))
        .and_then(|(_, target)| target.trim().split(['#', ' ']).next());
    inline
        .chain(html)
        .chain(definition)
        .filter(|target| !target.is_empty() && !is_external(target))
        .collect()
}

/// The text after each `start`, up to the character that ends it.
fn after_each<'a>(
    line: &'a str,
    start: &'a str,
    ends: impl Fn(char) -> bool + 'a,
) -> impl Iterator<Item = &'a str> {
    line.match_indices(start).filter_map(move |(at, _)| {
        let rest = &line[at + start.len()..];
        rest.split(&ends).next()
    })
}

fn is_external(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

#[cfg(test)]
mod tests {
    use super::{super::assert_problems, *};

    #[test]
    fn links_lead_to_files_that_exist() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("docs")).unwrap();
        for name in ["README.md", "docs/tools.md", "docs/picture.svg"] {
            std::fs::write(root.path().join(name), "").unwrap();
        }
        let lines = [
            "[a](tools.md) and [b](tools.md#part) and ![c](picture.svg \"title\")",
            "[up](../README.md), [root](/docs/tools.md), [here](#part), [web](https://example.com/x)",
            "[gone](gone.md) and [also](../docs/gone.md#part)",
            "<img src=\"picture.svg\"> <img src=\"gone.svg\">",
            "[name]: gone-too.md",
            "```",
            "[code](no-link.md)",
            "```",
            "[a folder](../docs)",
        ];
        let file = SourceFile {
            path: "docs/a.md".into(),
            text: lines.join("\n"),
        };
        assert_problems(
            &problems(root.path(), &file),
            &[
                ("docs/a.md:3", "`gone.md`"),
                ("docs/a.md:3", "`../docs/gone.md`"),
                ("docs/a.md:4", "`gone.svg`"),
                ("docs/a.md:5", "`gone-too.md`"),
            ],
        );
        let file = SourceFile {
            path: "docs/a.rs".into(),
            text: lines.join("\n"),
        };
        assert_problems(&problems(root.path(), &file), &[]);
    }
}
