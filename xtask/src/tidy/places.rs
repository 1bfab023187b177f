//! Some words belong to few places: they keep the invariants that types alone cannot.

use super::Problem;
use crate::files::SourceFile;

/// The words in a Rust file that do not belong there. Tests may use them.
pub(super) fn problems(file: &SourceFile) -> Vec<Problem> {
    let path = file.path.to_string_lossy().replace('\\', "/");
    if !file.has_extension(&["rs"]) || file.is_test() || !path.starts_with("crates/") {
        return Vec::new();
    }
    let words = WORDS.iter().filter(|word| !word.belongs_to(&path));
    words.flat_map(|word| word.misplaced_in(file)).collect()
}

struct Term {
    text: &'static str,
    /// Beginnings of the paths where it belongs.
    places: &'static [&'static str],
    /// Where it does not belong all the same.
    except: &'static [&'static str],
    reason: &'static str,
}

const WORDS: &[Term] = &[
    Term {
        text: "Core::new(",
        places: &["crates/core/", "crates/daemon/src/main_loop.rs"],
        except: &[],
        reason: "one task owns the core, and everything else sends it events",
    },
    Term {
        text: "unbounded_channel",
        places: &[],
        except: &[],
        reason: "no queue is unbounded",
    },
    Term {
        text: "stdout()",
        places: &["crates/mcp/src/stdio.rs", "crates/cli/src/"],
        except: &["crates/cli/src/commands/mcp.rs"],
        reason: "the standard output of `tabmux mcp` carries MCP and nothing else",
    },
];

impl Term {
    fn belongs_to(&self, path: &str) -> bool {
        let is_in = |places: &[&str]| places.iter().any(|place| path.starts_with(place));
        is_in(self.places) && !is_in(self.except)
    }

    fn misplaced_in(&self, file: &SourceFile) -> Vec<Problem> {
        let lines = file.text.lines().enumerate();
        lines
            .filter(|(_, line)| line.contains(self.text))
            .map(|(number, _)| {
                Problem::of_line(
                    file,
                    number,
                    format!("`{}` does not belong here: {}", self.text, self.reason),
                )
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{super::assert_problems, *};

    #[track_caller]
    fn check(path: &str, line: &str, expected: &[(&str, &str)]) {
        let file = SourceFile {
            path: path.into(),
            text: format!("//! A file.\n{line}\n"),
        };
        assert_problems(&problems(&file), expected);
    }

    #[test]
    fn one_task_owns_the_core() {
        let line = "let core = Core::new(config);";
        check("crates/daemon/src/main_loop.rs", line, &[]);
        check("crates/core/src/tests/sim.rs", line, &[]);
        let place = "crates/daemon/src/handle.rs";
        check(
            place,
            line,
            &[("crates/daemon/src/handle.rs:2", "one task")],
        );
    }

    #[test]
    fn no_channel_is_unbounded() {
        let line = "let (a, b) = mpsc::unbounded_channel();";
        check(
            "crates/a/src/b.rs",
            line,
            &[("crates/a/src/b.rs:2", "unbounded")],
        );
        check("crates/a/tests/it/b.rs", line, &[]);
    }

    #[test]
    fn standard_output_belongs_to_mcp() {
        let line = "let out = std::io::stdout();";
        check("crates/mcp/src/stdio.rs", line, &[]);
        check(
            "crates/cli/src/commands/mcp.rs",
            line,
            &[("crates/cli/src/commands/mcp.rs:2", "MCP")],
        );
        check("xtask/src/main.rs", line, &[]);
    }
}
