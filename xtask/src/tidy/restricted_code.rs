//! Some code may appear in few files only. This keeps invariants that types cannot express.

use super::Problem;
use crate::files::SourceFile;

/// Restricted code in a Rust file where it is not allowed. Tests may use it.
pub(super) fn problems(file: &SourceFile) -> Vec<Problem> {
    let path = file.path.to_string_lossy().replace('\\', "/");
    if !file.has_extension(&["rs"]) || file.is_test() || !path.starts_with("crates/") {
        return Vec::new();
    }
    let terms = TERMS.iter().filter(|term| !term.is_allowed_in(&path));
    terms.flat_map(|term| term.found_in(file)).collect()
}

struct Term {
    text: &'static str,
    /// Beginnings of the paths where it is allowed.
    allowed: &'static [&'static str],
    /// Exceptions, where it is not allowed.
    except: &'static [&'static str],
    reason: &'static str,
}

const TERMS: &[Term] = &[
    Term {
        text: "Core::new(",
        allowed: &["crates/core/", "crates/daemon/src/main_loop.rs"],
        except: &[],
        reason: "one task owns the core, and everything else sends it events",
    },
    Term {
        text: "unbounded_channel",
        allowed: &[],
        except: &[],
        reason: "no queue is unbounded",
    },
    Term {
        text: "stdout()",
        allowed: &["crates/mcp/src/stdio/streams.rs", "crates/cli/src/"],
        except: &["crates/cli/src/commands/mcp.rs"],
        reason: "the standard output of `tabmux mcp` carries MCP and nothing else",
    },
    of_platform("std::os::"),
    of_platform("rustix"),
    of_platform("libc::"),
    of_platform("command_fds"),
    of_platform("\"/proc"),
    of_platform("tokio::net::Unix"),
    of_platform("tokio::net::unix"),
    of_platform("tokio::signal"),
];

const fn of_platform(text: &'static str) -> Term {
    Term {
        text,
        allowed: &[
            "crates/platform/",
            "crates/testkit/",
            "crates/core/benches/",
        ],
        except: &[],
        reason: "only `tabmux-platform` depends on the operating system",
    }
}

impl Term {
    fn is_allowed_in(&self, path: &str) -> bool {
        let is_in = |prefixes: &[&str]| prefixes.iter().any(|prefix| path.starts_with(prefix));
        is_in(self.allowed) && !is_in(self.except)
    }

    fn found_in(&self, file: &SourceFile) -> Vec<Problem> {
        let product = file.text.split("#[cfg(test)]\nmod tests").next();
        let lines = product.unwrap_or_default().lines().enumerate();
        lines
            .filter(|(_, line)| line.contains(self.text))
            .map(|(number, _)| {
                Problem::of_line(
                    file,
                    number,
                    format!("`{}` is not allowed here: {}", self.text, self.reason),
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
    fn the_operating_system_is_used_in_one_crate() {
        for line in [
            "use std::os::unix::fs::MetadataExt;",
            "rustix::process::geteuid()",
            "fs::read(\"/proc/self/stat\")",
        ] {
            check("crates/platform/src/a.rs", line, &[]);
            check("crates/testkit/src/a.rs", line, &[]);
            check("xtask/src/a.rs", line, &[]);
            let place = "crates/daemon/src/a.rs";
            check(
                place,
                line,
                &[("crates/daemon/src/a.rs:2", "operating system")],
            );
            let test = format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{\n{line}\n}}");
            check(place, &test, &[]);
        }
    }

    #[test]
    fn standard_output_belongs_to_mcp() {
        let line = "let out = std::io::stdout();";
        check("crates/mcp/src/stdio/streams.rs", line, &[]);
        check(
            "crates/cli/src/commands/mcp.rs",
            line,
            &[("crates/cli/src/commands/mcp.rs:2", "MCP")],
        );
        check("xtask/src/main.rs", line, &[]);
    }
}
