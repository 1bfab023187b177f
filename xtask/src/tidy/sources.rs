//! Rules for the text of a file.

use super::Problem;
use crate::files::SourceFile;
use std::path::Path;

/// The broken rules of the file's text.
pub(super) fn problems(file: &SourceFile) -> Vec<Problem> {
    let mut problems = Vec::new();
    problems.extend(opening(file));
    problems.extend(length(file));
    problems.extend(name(file));
    for (number, line) in file.text.lines().enumerate() {
        problems.extend(
            line_complaint(file, line).map(|complaint| Problem::of_line(file, number, complaint)),
        );
    }
    problems
}

/// The first line of a file says what the file is for.
fn opening(file: &SourceFile) -> Option<Problem> {
    let opening = match () {
        () if file.has_extension(RUST) => "//!",
        () if file.has_extension(SCRIPTS) => "/**",
        () => return None,
    };
    let opens = file.text.starts_with(opening);
    (!opens).then(|| {
        Problem::of_file(
            file,
            format!("begin with `{opening}` and a sentence about the file"),
        )
    })
}

/// Files must be short. Generated ones may be long, because people do not read them.
fn length(file: &SourceFile) -> Option<Problem> {
    let is_code = file.has_extension(RUST) || file.has_extension(SCRIPTS);
    let may_be_long =
        file.is_generated() || LONG_FILES.iter().any(|name| file.path == Path::new(name));
    let lines = file.text.lines().count();
    (is_code && !may_be_long && lines > MAX_LINES).then(|| {
        Problem::of_file(
            file,
            format!("{lines} lines are more than {MAX_LINES}, split the file"),
        )
    })
}

fn name(file: &SourceFile) -> Option<Problem> {
    let own = file.path.file_name().unwrap_or_default().to_string_lossy();
    // Scripts in a crate are named like their modules.
    let is_script = file.has_extension(SCRIPTS) && file.path.starts_with("packages");
    match () {
        () if own == "mod.rs" => Some(Problem::of_file(
            file,
            "name it after its folder, next to the folder",
        )),
        () if is_script && own.contains(|letter: char| letter == '_' || letter.is_uppercase()) => {
            Some(Problem::of_file(
                file,
                "name a script in lower case, with hyphens between words",
            ))
        }
        () => None,
    }
}

fn line_complaint(file: &SourceFile, line: &str) -> Option<&'static str> {
    let is_rust = file.has_extension(RUST);
    let is_script = file.has_extension(SCRIPTS);
    if is_rust && line.trim_start().starts_with(IGNORED_TEST) {
        return Some("run a slow test only if an environment variable is set, do not ignore it");
    }
    // A page that a Rust test serves may use timers.
    let waits = (is_rust && line.contains(SLEEP)) || (is_script && line.contains(TIMEOUT));
    if file.is_test() && waits {
        return Some("wait for the event itself, not for time to pass");
    }
    names_a_machine_path(line).then_some("this path exists on one machine only")
}

/// Whether the line has a path of the machine on which the project is developed. The same text inside an address is
/// allowed.
fn names_a_machine_path(line: &str) -> bool {
    line.match_indices(MACHINE_PATH).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|before| before.is_alphanumeric() || "._-~}".contains(before))
    })
}

const RUST: &[&str] = &["rs"];
const SCRIPTS: &[&str] = &["js", "mjs", "ts", "tsx"];
const MAX_LINES: usize = 500;
/// These are being rewritten by issue 13 and may be longer until then. Remove each when it is short, and add none.
const LONG_FILES: &[&str] = &[
    "crates/daemon/src/convert.rs",
    "crates/daemon/src/options.rs",
    "crates/daemon/src/socket/connection.rs",
];

// Written in two pieces, so that this file passes the check.
const IGNORED_TEST: &str = concat!("#[", "ignore");
const SLEEP: &str = concat!("sleep", "(");
const TIMEOUT: &str = concat!("set", "Timeout");
const MACHINE_PATH: &str = concat!("/wo", "rk/");

#[cfg(test)]
mod tests {
    use super::{super::assert_problems, *};

    #[track_caller]
    fn check(path: &str, text: &str, expected: &[(&str, &str)]) {
        let file = SourceFile {
            path: path.into(),
            text: text.to_owned(),
        };
        assert_problems(&problems(&file), expected);
    }

    #[test]
    fn files_open_with_a_sentence() {
        check("a.rs", "//! What it is.\n", &[]);
        check("a.rs", "use std::fmt;\n", &[("a.rs", "`//!`")]);
        check("a.rs", "", &[("a.rs", "`//!`")]);
        check("a.ts", "/** What it is. */\n", &[]);
        check("a.js", "// What it is.\n", &[("a.js", "`/**`")]);
        check("a.html", "<p>", &[]);
    }

    #[test]
    fn files_are_short_unless_they_are_generated() {
        let lines = "let x = 1;\n".repeat(MAX_LINES);
        check(
            "a.rs",
            &format!("//! Long.\n{lines}"),
            &[("a.rs", "501 lines")],
        );
        check(
            "a.js",
            &format!("/** Long. */\n{lines}"),
            &[("a.js", "501 lines")],
        );
        let generated = format!("//! Generated by `cargo xtask codegen`.\n{lines}");
        check("a.rs", &generated, &[]);
        check("a.css", &lines.repeat(2), &[]);
        for name in LONG_FILES {
            check(name, &format!("//! Long.\n{lines}"), &[]);
        }
    }

    #[test]
    fn modules_are_named_after_their_folder() {
        check(
            "src/a/mod.rs",
            "//! A.\n",
            &[("src/a/mod.rs", "next to the folder")],
        );
        check("src/a.rs", "//! A.\n", &[]);
    }

    /// Spec: multi-browser 96.
    #[test]
    fn names_of_scripts_are_words_with_hyphens() {
        let text = "/** A. */\n";
        check("packages/web-mcp.ts", text, &[]);
        check(
            "packages/webMcp.ts",
            text,
            &[("packages/webMcp.ts", "hyphens")],
        );
        check(
            "packages/web_mcp.js",
            text,
            &[("packages/web_mcp.js", "hyphens")],
        );
        check("crates/web_mcp.js", text, &[]);
    }

    #[test]
    fn tests_are_not_ignored() {
        let text = format!("//! A.\n    {IGNORED_TEST} = \"slow\"]\n");
        check("src/a.rs", &text, &[("src/a.rs:2", "environment variable")]);
    }

    #[test]
    fn tests_do_not_wait_for_time_to_pass() {
        let rust = format!("//! A.\ntokio::time::{SLEEP}SECOND).await;\n");
        check(
            "tests/it/a.rs",
            &rust,
            &[("tests/it/a.rs:2", "wait for the event")],
        );
        check(
            "src/tests.rs",
            &rust,
            &[("src/tests.rs:2", "wait for the event")],
        );
        check("src/a.rs", &rust, &[]);
        let script = format!("/** A. */\n{TIMEOUT}(f, 1)\n");
        check(
            "test/a.ts",
            &script,
            &[("test/a.ts:2", "wait for the event")],
        );
        check("src/a.ts", &script, &[]);
        check(
            "tests/a.rs",
            &format!("//! A.\n\"<script>{TIMEOUT}(f)\"\n"),
            &[],
        );
    }

    #[test]
    fn paths_of_one_machine_are_not_named() {
        check(
            "a.md",
            &format!("see\n`{MACHINE_PATH}main`"),
            &[("a.md:2", "one machine")],
        );
        check(
            "a.md",
            &format!("{MACHINE_PATH}main"),
            &[("a.md:1", "one machine")],
        );
        check(
            "a.md",
            &format!("https://example.com{MACHINE_PATH}main"),
            &[],
        );
    }
}
