//! Words that the project no longer uses. They are listed in `retired-words.txt`, each with what to write instead.

use super::Problem;
use crate::files::SourceFile;

/// A word of the list.
struct Retired {
    what: What,
    text: String,
    instead: String,
}

/// What the word is forbidden as.
#[derive(Clone, Copy)]
enum What {
    /// Anywhere in the text. The word is kept in lower case.
    Word,
    /// The name in the declaration of a type.
    Type,
    /// The end of the file's path.
    File,
}

/// The list of retired words.
pub(super) struct RetiredWords(Vec<Retired>);

impl RetiredWords {
    /// The list of this project.
    pub(super) fn of_project() -> Self {
        Self::read(include_str!("retired-words.txt"))
    }

    /// Reads lines of the form `WORD: INSTEAD`, `type NAME: INSTEAD` and `file PATH: INSTEAD`.
    fn read(list: &str) -> Self {
        let lines = list.lines().filter(|line| !line.starts_with('#'));
        let words = lines.filter_map(|line| {
            let (term, instead) = line.split_once(": ")?;
            let (what, text) = match term.split_once(' ') {
                Some(("type", name)) => (What::Type, name.to_owned()),
                Some(("file", name)) => (What::File, name.to_owned()),
                _ => (What::Word, term.to_lowercase()),
            };
            Some(Retired {
                what,
                text,
                instead: instead.to_owned(),
            })
        });
        Self(words.collect())
    }

    /// The retired words in the file, each with its line.
    pub(super) fn problems(&self, file: &SourceFile) -> Vec<Problem> {
        if !is_checked(file) {
            return Vec::new();
        }
        let names = self.of_kind(What::File).map(|word| (0, word));
        let names = names.filter(|(_, word)| file.path.ends_with(&word.text));
        let mut hits: Vec<(usize, &Retired)> = names.collect();
        for (number, line) in file.text.lines().enumerate() {
            let lower = line.to_ascii_lowercase();
            let words = self.of_kind(What::Word);
            let words = words.filter(|word| has_word(line, &lower, &word.text));
            let types = self.of_kind(What::Type);
            let types = types.filter(|word| declares_type(line, &word.text));
            hits.extend(words.chain(types).map(|word| (number, word)));
        }
        let problem = |(number, word): (usize, &Retired)| {
            let complaint = format!("`{}` is retired, write: {}", word.text, word.instead);
            Problem::of_line(file, number, complaint)
        };
        hits.into_iter().map(problem).collect()
    }

    fn of_kind(&self, kind: What) -> impl Iterator<Item = &Retired> {
        let is_kind = move |word: &&Retired| {
            std::mem::discriminant(&word.what) == std::mem::discriminant(&kind)
        };
        self.0.iter().filter(is_kind)
    }
}

/// The history and the specification keep their words, and generated files take theirs from other files.
fn is_checked(file: &SourceFile) -> bool {
    file.has_extension(EXTENSIONS)
        && !KEPT.iter().any(|name| file.is_named(name))
        && !file.path.starts_with("docs/specification")
        && !file.is_generated()
}

/// Whether the line has the word, and not as a piece of a longer one. `lower` is the line in lower case.
fn has_word(line: &str, lower: &str, word: &str) -> bool {
    lower.match_indices(word).any(|(at, _)| {
        let (before, rest) = line.split_at(at);
        let (found, after) = rest.split_at(word.len());
        let begins = begins_word(before.chars().next_back(), found.chars().next());
        begins && begins_word(found.chars().next_back(), after.chars().next())
    })
}

/// Whether another word begins between two characters, as in `a b`, `a_b` and `aB`.
fn begins_word(left: Option<char>, right: Option<char>) -> bool {
    let (Some(left), Some(right)) = (left, right) else {
        return true;
    };
    let is_new_part = left.is_lowercase() && right.is_uppercase();
    !left.is_alphanumeric() || !right.is_alphanumeric() || is_new_part
}

/// Whether the line declares a type of that name.
fn declares_type(line: &str, name: &str) -> bool {
    let words: Vec<&str> = line
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .collect();
    let declares = |pair: &[&str]| matches!(pair, [keyword, own] if DECLARATIONS.contains(keyword) && *own == name);
    words.windows(2).any(declares)
}

const EXTENSIONS: &[&str] = &[
    "css", "html", "js", "json", "md", "mjs", "rs", "toml", "ts", "tsx",
];
/// History, and files that package managers write.
const KEPT: &[&str] = &["CHANGELOG.md", "package-lock.json"];
const DECLARATIONS: &[&str] = &["class", "enum", "interface", "struct", "trait", "type"];

#[cfg(test)]
mod tests {
    use super::{super::assert_problems, *};

    const LIST: &str = "# A comment: of the list.\n\ngizmo: part\nwith a pinch: roughly\ntype Gadget: Tool\nfile src/bits.rs: parts.rs\n";

    #[track_caller]
    fn check(path: &str, text: &str, expected: &[(&str, &str)]) {
        let file = SourceFile {
            path: path.into(),
            text: text.to_owned(),
        };
        assert_problems(&RetiredWords::read(LIST).problems(&file), expected);
    }

    #[test]
    fn retired_words_are_found_with_their_line_and_replacement() {
        check(
            "a.md",
            "One.\nA gizmo.\nThree, With a pinch.\n",
            &[("a.md:2", "write: part"), ("a.md:3", "write: roughly")],
        );
        for name in ["gizmo_of", "the_gizmo", "GizmoList", "aGizmo", "GIZMO"] {
            check("a.rs", name, &[("a.rs:1", "`gizmo` is retired")]);
        }
        for other in ["gizmos", "agizmo", "Gizmology", "with apinch"] {
            check("a.rs", other, &[]);
        }
    }

    #[test]
    fn retired_types_may_not_be_declared() {
        check(
            "a.rs",
            "pub(crate) struct Gadget<T>(T);",
            &[("a.rs:1", "write: Tool")],
        );
        check(
            "a.ts",
            "export class Gadget {",
            &[("a.ts:1", "write: Tool")],
        );
        check("a.tsx", "class Gadget {", &[("a.tsx:1", "write: Tool")]);
        check("a.rs", "/// Gadget is a word.\nstruct GadgetList;", &[]);
    }

    #[test]
    fn retired_file_names_are_found() {
        check("src/bits.rs", "", &[("src/bits.rs:1", "write: parts.rs")]);
        check("src/bits/a.rs", "", &[]);
        check("test/bits.rs", "", &[]);
    }

    #[test]
    fn history_specification_and_generated_files_keep_their_words() {
        for path in [
            "CHANGELOG.md",
            "docs/specification/a.md",
            "package-lock.json",
            "a.txt",
        ] {
            check(path, "gizmo", &[]);
        }
        check(
            "a.rs",
            "//! Generated by `cargo xtask codegen`.\n// gizmo",
            &[],
        );
        check("a.md", "# A\n\n`make soak` writes this page: gizmo", &[]);
    }

    #[test]
    fn every_line_of_the_list_is_understood() {
        let list = include_str!("retired-words.txt");
        let lines = list
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(lines.count(), RetiredWords::of_project().0.len());
    }
}
