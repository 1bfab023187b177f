//! Rules for the crates' manifests: common lints, and the boundaries between crates.

use super::Problem;
use crate::files::SourceFile;

/// The broken rules of the file, if it is a crate's manifest.
pub(super) fn problems(file: &SourceFile) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !file.is_named("Cargo.toml") {
        return problems;
    }
    let manifest = Manifest::read(&file.text);
    let Some(name) = &manifest.package else {
        return problems;
    };
    if !manifest.has_workspace_lints {
        problems.push(Problem::of_file(
            file,
            "add `[lints]` with `workspace = true`",
        ));
    }
    let boundaries = BOUNDARIES
        .iter()
        .filter(|boundary| boundary.applies_to(name));
    let crossed = boundaries
        .flat_map(|boundary| boundary.crossed(name, &manifest.dependencies))
        .chain(crossed_walls(name, &manifest.dependencies));
    problems.extend(crossed.map(|complaint| Problem::of_file(file, complaint)));
    problems
}

/// Crates of others that a crate may not depend on. Its tests may.
struct Boundary {
    /// The crate; with `!` before it, all crates but those, which have commas between them.
    package: &'static str,
    /// The dependencies; one that ends with `*` is a prefix.
    forbidden: &'static [&'static str],
    reason: &'static str,
}

const BOUNDARIES: &[Boundary] = &[
    Boundary {
        package: "tabmux-core",
        forbidden: &[
            "async*", "futures*", "mio", "serde*", "smol", "tokio*", "url",
        ],
        reason: "the core is pure, without IO, clock, async or wire formats",
    },
    Boundary {
        package: "!tabmux-platform,tabmux-testkit",
        forbidden: &["command-fds", "libc", "nix", "rustix", "windows*"],
        reason: "only `tabmux-platform` depends on the operating system",
    },
    Boundary {
        package: "tabmux-text",
        forbidden: &["async*", "futures*", "tokio*"],
        reason: "it only changes texts",
    },
    Boundary {
        package: "!tabmux-mcp",
        forbidden: &["rmcp*"],
        reason: "only one crate breaks when rmcp changes",
    },
];

/// Which of our crates a crate may use. Its tests may use others.
struct Crate {
    name: &'static str,
    uses: &'static [&'static str],
    /// Why it may use no others.
    reason: &'static str,
}

const CRATES: &[Crate] = &[
    Crate {
        name: "tabmux-core",
        uses: &[],
        reason: "the core is pure, and decides for any protocol and browser",
    },
    Crate {
        name: "tabmux-protocol",
        uses: &[],
        reason: "it is what processes have in common, so it must be a leaf",
    },
    Crate {
        name: "tabmux-platform",
        uses: &[],
        reason: "every crate may use it, so it must be a leaf",
    },
    Crate {
        name: "tabmux-text",
        uses: &[],
        reason: "every crate may use it, so it must be a leaf",
    },
    Crate {
        name: "tabmux-testkit",
        uses: &[],
        reason: "every crate's tests use it, so it must be a leaf",
    },
    Crate {
        name: "tabmux-cdp-types",
        uses: &["tabmux-text"],
        reason: "types do not know what they are used for",
    },
    Crate {
        name: "tabmux-cdp",
        uses: &["tabmux-cdp-types", "tabmux-text"],
        reason: "the CDP client does not know what it is used for",
    },
    Crate {
        name: "tabmux-browser",
        uses: &["tabmux-cdp", "tabmux-platform", "tabmux-text"],
        reason: "the daemon joins browsers and core; types of CDP are `tabmux_cdp::types`",
    },
    Crate {
        name: "tabmux-mcp",
        uses: &["tabmux-platform", "tabmux-protocol", "tabmux-text"],
        reason: "it knows only `trait Backend`, and every client has it in memory",
    },
    Crate {
        name: "tabmux-http-server",
        // Of the daemon only the slots that its listener has, too.
        uses: &["tabmux-daemon", "tabmux-mcp", "tabmux-platform"],
        reason: "it decides who may connect, and not what a request means",
    },
    Crate {
        name: "tabmux-daemon-client",
        uses: &[
            "tabmux-core",
            "tabmux-platform",
            "tabmux-protocol",
            "tabmux-text",
        ],
        reason: "every client has this crate in memory",
    },
    Crate {
        name: "tabmux-config",
        uses: &["tabmux-platform", "tabmux-text"],
        reason: "it gets the flags as a parser, and does not know what they mean",
    },
    Crate {
        name: "tabmux-stdio-proxy",
        uses: &[
            "tabmux-daemon-client",
            "tabmux-mcp",
            "tabmux-platform",
            "tabmux-protocol",
            "tabmux-text",
        ],
        reason: "every client has this crate in memory",
    },
    Crate {
        name: "tabmux-daemon",
        uses: &[
            "tabmux-browser",
            "tabmux-core",
            "tabmux-daemon-client",
            "tabmux-platform",
            "tabmux-protocol",
            "tabmux-text",
        ],
        reason: "the daemon knows sessions, not MCP",
    },
    Crate {
        name: "tabmux",
        uses: &[
            "tabmux-browser",
            "tabmux-config",
            "tabmux-daemon",
            "tabmux-daemon-client",
            "tabmux-http-server",
            "tabmux-mcp",
            "tabmux-platform",
            "tabmux-protocol",
            "tabmux-stdio-proxy",
            "tabmux-text",
        ],
        reason: "it only joins the others, and decides nothing",
    },
];

/// The dependencies of a crate on others of ours that it may not use. A crate that has no line above may use none.
fn crossed_walls(name: &str, dependencies: &[String]) -> Vec<String> {
    let own = CRATES.iter().find(|own| own.name == name);
    let is_chore = CHORES.contains(&name);
    let uses = own.map_or(&[][..], |own| own.uses);
    let reason = own.map_or("give it a line in `CRATES` of this check", |own| own.reason);
    dependencies
        .iter()
        .filter(|dependency| !is_chore && is_ours(dependency) && !uses.contains(&&***dependency))
        .map(|dependency| format!("{name} may not depend on {dependency}: {reason}"))
        .collect()
}

fn is_ours(dependency: &str) -> bool {
    dependency == "tabmux" || dependency.starts_with("tabmux-")
}

/// Programs for developers, which may use every crate.
const CHORES: &[&str] = &["xtask", "tabmux-fuzz"];

impl Boundary {
    fn applies_to(&self, package: &str) -> bool {
        match self.package.strip_prefix('!') {
            Some(exempt) => !exempt.split(',').any(|exempt| package == exempt),
            None => package == self.package,
        }
    }

    fn crossed(&self, name: &str, dependencies: &[String]) -> Vec<String> {
        dependencies
            .iter()
            .filter(|dependency| self.forbids(dependency))
            .map(|dependency| format!("{name} may not depend on {dependency}: {}", self.reason))
            .collect()
    }

    fn forbids(&self, dependency: &str) -> bool {
        self.forbidden
            .iter()
            .any(|forbidden| match forbidden.strip_suffix('*') {
                Some(beginning) => dependency.starts_with(beginning),
                None => dependency == *forbidden,
            })
    }
}

/// The part of a manifest that the rules need. Our manifests are simple enough to be read line by line.
#[derive(Default)]
struct Manifest {
    package: Option<String>,
    has_workspace_lints: bool,
    /// Of the crate itself and its build script, not of its tests.
    dependencies: Vec<String>,
}

impl Manifest {
    fn read(text: &str) -> Self {
        let mut manifest = Self::default();
        let mut section = "";
        for line in text.lines().map(str::trim) {
            if let Some(header) = line
                .strip_prefix('[')
                .and_then(|line| line.strip_suffix(']'))
            {
                section = header.trim();
                // `[dependencies.name]` is the long form of `name = { … }`.
                if let Some((table, name)) = section.rsplit_once('.')
                    && is_dependency_table(table)
                {
                    manifest.dependencies.push(name.to_owned());
                }
                continue;
            }
            let Some((key, value)) = line.split_once('=') else {
                continue;
            };
            let (key, value) = (key.trim(), value.trim());
            match section {
                "package" if key == "name" => {
                    manifest.package = Some(value.trim_matches('"').to_owned());
                }
                "lints" if key == "workspace" && value == "true" => {
                    manifest.has_workspace_lints = true;
                }
                table if is_dependency_table(table) => {
                    let name = key.split('.').next().unwrap_or(key);
                    manifest
                        .dependencies
                        .push(name.trim_matches('"').to_owned());
                }
                _ => {}
            }
        }
        manifest
    }
}

fn is_dependency_table(section: &str) -> bool {
    let kind = section.rsplit('.').next().unwrap_or(section);
    let is_of_target = section.starts_with("target.");
    (section == kind || is_of_target) && ["dependencies", "build-dependencies"].contains(&kind)
}

#[cfg(test)]
mod tests {
    use super::{super::assert_problems, *};

    #[track_caller]
    fn check(package: &str, rest: &str, expected: &[&str]) {
        let text = format!("[package]\nname = \"{package}\"\n\n{rest}");
        let file = SourceFile {
            path: "a/Cargo.toml".into(),
            text,
        };
        let expected: Vec<_> = expected
            .iter()
            .map(|piece| ("a/Cargo.toml", *piece))
            .collect();
        assert_problems(&problems(&file), &expected);
    }

    #[test]
    fn crates_share_the_workspaces_lints() {
        check("a", "[lints]\nworkspace = true\n", &[]);
        check(
            "a",
            "[dependencies]\nworkspace = true\n",
            &["add `[lints]`"],
        );
        check("a", "", &["add `[lints]`"]);
    }

    #[test]
    fn the_core_stays_pure() {
        for dependency in [
            "[dependencies]\ntokio = \"1\"",
            "[dependencies]\ntokio-util.workspace = true",
            "[dependencies.serde]\nversion = \"1\"",
            "[build-dependencies]\nasync-trait = { version = \"0\" }",
            "[target.'cfg(unix)'.dependencies]\nfutures = \"0\"",
            "[target.'cfg(unix)'.dependencies.tabmux-protocol]\nworkspace = true",
        ] {
            let rest = format!("[lints]\nworkspace = true\n{dependency}\n");
            check("tabmux-core", &rest, &["the core is pure"]);
        }
        let rest = "[lints]\nworkspace = true\n[dependencies]\nindexmap = \"2\"\n[dev-dependencies]\nserde = \"1\"\n";
        check("tabmux-core", rest, &[]);
    }

    #[test]
    fn boundaries_apply_to_the_crates_they_name() {
        let rest = "[lints]\nworkspace = true\n[dependencies]\nrmcp.workspace = true\n";
        check("tabmux-mcp", rest, &[]);
        check("tabmux", rest, &["only one crate breaks"]);
        let rest = "[lints]\nworkspace = true\n[dependencies]\nrustix.workspace = true\n";
        check("tabmux-platform", rest, &[]);
        check("tabmux-testkit", rest, &[]);
        check("tabmux-daemon", rest, &["the operating system"]);
    }

    #[test]
    fn a_dependency_that_crosses_a_wall_is_rejected_and_others_are_not() {
        for (package, dependency, expected) in [
            ("tabmux-daemon", "tabmux-core", None),
            ("tabmux-stdio-proxy", "tabmux-mcp", None),
            ("tabmux", "tabmux-daemon", None),
            ("xtask", "tabmux-daemon", None),
            ("tabmux-mcp", "serde", None),
            ("tabmux-browser", "tabmux-core", Some("the daemon joins")),
            ("tabmux-cdp", "tabmux-browser", Some("what it is used for")),
            ("tabmux-mcp", "tabmux-browser", Some("`trait Backend`")),
            ("tabmux-mcp", "tabmux-core", Some("`trait Backend`")),
            ("tabmux-mcp", "tabmux-daemon", Some("`trait Backend`")),
            ("tabmux-daemon", "tabmux-mcp", Some("not MCP")),
            ("tabmux-protocol", "tabmux-core", Some("must be a leaf")),
            ("tabmux-text", "tabmux-platform", Some("must be a leaf")),
            ("tabmux-platform", "tabmux-text", Some("must be a leaf")),
            ("tabmux-testkit", "tabmux-cdp", Some("must be a leaf")),
            (
                "tabmux-cdp-types",
                "tabmux-protocol",
                Some("what they are used for"),
            ),
            ("tabmux-stdio-proxy", "tabmux-daemon", Some("in memory")),
            ("tabmux-daemon-client", "tabmux-browser", Some("in memory")),
            (
                "tabmux",
                "tabmux-cdp",
                Some("tabmux may not depend on tabmux-cdp"),
            ),
            (
                "tabmux-new",
                "tabmux-core",
                Some("give it a line in `CRATES`"),
            ),
        ] {
            let rest = format!(
                "[lints]\nworkspace = true\n[dependencies]\n{dependency}.workspace = true\n"
            );
            check(package, &rest, expected.as_slice());
        }
    }

    #[test]
    fn the_manifest_of_the_workspace_is_not_a_crate() {
        let text = "[workspace.dependencies]\nrmcp = \"3\"\n".to_owned();
        let file = SourceFile {
            path: "Cargo.toml".into(),
            text,
        };
        assert_problems(&problems(&file), &[]);
    }
}
