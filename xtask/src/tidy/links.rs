//! Links in documents must lead to existing files, and to headings that exist in them.

use std::{collections::HashMap, fs, path::Path};

use super::Problem;
use crate::files::SourceFile;

/// The broken links of the file, if it is a document.
pub(super) fn problems(root: &Path, file: &SourceFile) -> Vec<Problem> {
    if !file.has_extension(&["md"]) {
        return Vec::new();
    }
    let own = root.join(&file.path);
    let folder = own.parent().unwrap_or(root);
    let mut problems = Vec::new();
    for (number, line) in prose(&file.text) {
        for link in links(line) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match path.strip_prefix('/') {
                Some(path) => root.join(path),
                None if path.is_empty() => own.clone(),
                None => folder.join(path),
            };
            let text = match () {
                () if heading.is_empty() => None,
                () if target == own => Some(file.text.clone()),
                () if path.ends_with(".md") => fs::read_to_string(&target).ok(),
                () => None,
            };
            let complaint = match text {
                _ if target != own && !target.exists() => format!("`{path}` does not exist"),
                Some(text) if !has_heading(&text, heading) => {
                    format!("`{link}`: there is no such heading")
                }
                _ => continue,
            };
            problems.push(Problem::of_line(file, number, complaint));
        }
    }
    problems
}

/// The lines of a document that are not code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    })
}

/// Whether a document has a heading with this anchor.
fn has_heading(text: &str, wanted: &str) -> bool {
    let mut seen = HashMap::new();
    prose(text).any(|(_, line)| {
        let Some(title) = line
            .strip_prefix('#')
            .map(|rest| rest.trim_start_matches('#'))
            .and_then(|rest| rest.strip_prefix(' '))
        else {
            return false;
        };
        let anchor = anchor(title);
        let count = seen.entry(anchor.clone()).or_insert(0);
        let own = match *count {
            0 => anchor,
            earlier => format!("{anchor}-{earlier}"),
        };
        *count += 1;
        own == wanted
    })
}

/// The anchor that GitHub makes of a heading.
fn anchor(title: &str) -> String {
    let kept = title
        .trim()
        .chars()
        .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    let lower = kept.flat_map(char::to_lowercase);
    lower
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

/// The paths that a line links to: `[text](path)`, `![text](path#part)`, `[name]: path`, `<img src="path">`.
fn links(line: &str) -> Vec<&str> {
    let inline = after_each(line, "](", |character| ") ".contains(character));
    let html = ["src=\"", "href=\""]
        .into_iter()
        .flat_map(|attribute| after_each(line, attribute, |character| character == '"'));
    let definition = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]:"))
        .and_then(|(_, target)| target.trim().split(' ').next());
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
    fn links_lead_to_files_and_headings_that_exist() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("docs")).unwrap();
        for name in ["README.md", "docs/tools.md", "docs/picture.svg"] {
            let text = "# A title\n## The `part`: 1, 2\n## Same\n## Same\n```\n# No title\n```\n";
            fs::write(root.path().join(name), text).unwrap();
        }
        let lines = [
            "[a](tools.md) and [b](tools.md#the-part-1-2) and ![c](picture.svg \"title\")",
            "[up](../README.md), [root](/docs/tools.md), [here](#own), [web](https://example.com/x)",
            "[gone](gone.md) and [also](../docs/gone.md#part)",
            "<img src=\"picture.svg\"> <img src=\"gone.svg\">",
            "[name]: gone-too.md",
            "```",
            "[code](no-link.md)",
            "```",
            "[a folder](../docs) [twice](tools.md#same-1) [thrice](tools.md#same-2)",
            "[code](tools.md#no-title) [here](#part)",
            "# Own",
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
                ("docs/a.md:9", "`tools.md#same-2`"),
                ("docs/a.md:10", "`tools.md#no-title`"),
                ("docs/a.md:10", "`#part`"),
            ],
        );
        let file = SourceFile {
            path: "docs/a.rs".into(),
            text: lines.join("\n"),
        };
        assert_problems(&problems(root.path(), &file), &[]);
    }
}
