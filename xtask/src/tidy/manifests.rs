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
    for boundary in BOUNDARIES
        .iter()
        .filter(|boundary| boundary.applies_to(name))
    {
        for dependency in manifest
            .dependencies
            .iter()
            .filter(|name| boundary.forbids(name))
        {
            let complaint = format!("{name} may not depend on {dependency}: {}", boundary.reason);
            problems.push(Problem::of_file(file, complaint));
        }
    }
    problems
}

/// What a crate may not depend on. Its tests may.
struct Boundary {
    /// The crate; with `!` before it, all other crates.
    package: &'static str,
    /// The dependencies; one that ends with `*` is a prefix.
    forbidden: &'static [&'static str],
    reason: &'static str,
}

const BOUNDARIES: &[Boundary] = &[
    Boundary {
        package: "tabmux-core",
        forbidden: &[
            "async*", "futures*", "mio", "serde*", "smol", "tabmux*", "tokio*", "url",
        ],
        reason: "the core is pure, without IO, clock, async or wire formats",
    },
    Boundary {
        package: "tabmux-browser",
        forbidden: &["tabmux-core", "tabmux-daemon", "tabmux-mcp"],
        reason: "the daemon joins browsers and core",
    },
    Boundary {
        package: "tabmux-cdp",
        forbidden: &[
            "tabmux-browser",
            "tabmux-core",
            "tabmux-daemon",
            "tabmux-mcp",
        ],
        reason: "the client knows the protocol, but not what it is used for",
    },
    Boundary {
        package: "tabmux-daemon-client",
        forbidden: &["tabmux-browser", "tabmux-daemon", "tabmux-mcp"],
        reason: "every client has this crate in memory",
    },
    Boundary {
        package: "tabmux-stdio-proxy",
        forbidden: &["tabmux-browser", "tabmux-daemon"],
        reason: "every client has this crate in memory",
    },
    Boundary {
        package: "tabmux-testkit",
        forbidden: &["tabmux*"],
        reason: "every crate's tests use it, so it must be a leaf",
    },
    Boundary {
        package: "tabmux-text",
        forbidden: &["async*", "futures*", "tabmux*", "tokio*"],
        reason: "every crate may use it, so it must be a leaf",
    },
    Boundary {
        package: "!tabmux-mcp",
        forbidden: &["rmcp*"],
        reason: "only one crate breaks when rmcp changes",
    },
    Boundary {
        package: "!tabmux-cdp",
        forbidden: &["tabmux-cdp-types"],
        reason: "the client re-exports the types as `tabmux_cdp::types`",
    },
];

impl Boundary {
    fn applies_to(&self, package: &str) -> bool {
        match self.package.strip_prefix('!') {
            Some(exempt) => package != exempt,
            None => package == self.package,
        }
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
        check("tabmux-cli", rest, &["only one crate breaks"]);
        let rest = "[lints]\nworkspace = true\n[dependencies]\ntabmux-core.workspace = true\n";
        check("tabmux-browser", rest, &["the daemon joins"]);
        check("tabmux-daemon", rest, &[]);
        check("tabmux-text", rest, &["it must be a leaf"]);
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
