//! The systems that a release has packages for.

use std::path::Path;

use anyhow::{Context, Result};

/// A system, by the names that each packaging format has for it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// Rust's name.
    pub(super) triple: &'static str,
    /// The end of the npm package's name, `@tabmux/…`.
    pub(super) npm: &'static str,
    pub(super) os: &'static str,
    pub(super) cpu: &'static str,
    /// The C library; none on macOS.
    pub(super) libc: Option<&'static str>,
    pub(super) machine: &'static str,
}

impl Target {
    pub(super) fn named(triple: &str) -> Result<&'static Self> {
        let names = || TARGETS.map(|target| target.triple).join(", ");
        let found = TARGETS.iter().find(|target| target.triple == triple);
        found.with_context(|| {
            format!(
                "{triple} is not a target of releases; these are: {}",
                names()
            )
        })
    }

    /// The target that packages for this machine are made for; where it has glibc, they are for glibc.
    pub(super) fn of_this_machine() -> Result<&'static Self> {
        let (os, cpu) = match (std::env::consts::OS, std::env::consts::ARCH) {
            ("macos", "aarch64") => ("darwin", "arm64"),
            ("macos", _) => ("darwin", "x64"),
            (os, "aarch64") => (os, "arm64"),
            (os, _) => (os, "x64"),
        };
        let libc = if cfg!(target_env = "musl") {
            "musl"
        } else {
            "glibc"
        };
        let mut all = TARGETS.iter();
        all.find(|target| {
            target.os == os && target.cpu == cpu && target.libc.is_none_or(|own| own == libc)
        })
        .context("there are no packages for this system")
    }

    pub(super) fn has_glibc(&self) -> bool {
        self.libc == Some("glibc")
    }

    pub(super) fn archive_name(&self, version: &str) -> String {
        format!("tabmux-{version}-{}.tar.gz", self.triple)
    }

    pub(super) fn mcpb_name(&self, version: &str) -> String {
        format!("tabmux-mcp-{version}-{}.mcpb", self.npm)
    }
}

/// The targets whose archives are in the folder.
pub(super) fn with_archive_in(folder: &Path, version: &str) -> Result<Vec<&'static Target>> {
    let is_there = |target: &&Target| folder.join(target.archive_name(version)).is_file();
    let targets: Vec<_> = TARGETS.iter().filter(is_there).collect();
    let none = || {
        format!(
            "{} has no archive of version {version}; run `cargo xtask dist` first",
            folder.display()
        )
    };
    targets.first().with_context(none)?;
    Ok(targets)
}

pub(super) const TARGETS: [Target; 6] = [
    Target {
        triple: "x86_64-unknown-linux-gnu",
        npm: "linux-x64",
        os: "linux",
        cpu: "x64",
        libc: Some("glibc"),
        machine: "x86_64",
    },
    Target {
        triple: "aarch64-unknown-linux-gnu",
        npm: "linux-arm64",
        os: "linux",
        cpu: "arm64",
        libc: Some("glibc"),
        machine: "aarch64",
    },
    Target {
        triple: "x86_64-unknown-linux-musl",
        npm: "linux-x64-musl",
        os: "linux",
        cpu: "x64",
        libc: Some("musl"),
        machine: "x86_64",
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        npm: "linux-arm64-musl",
        os: "linux",
        cpu: "arm64",
        libc: Some("musl"),
        machine: "aarch64",
    },
    Target {
        triple: "aarch64-apple-darwin",
        npm: "darwin-arm64",
        os: "darwin",
        cpu: "arm64",
        libc: None,
        machine: "arm64",
    },
    Target {
        triple: "x86_64-apple-darwin",
        npm: "darwin-x64",
        os: "darwin",
        cpu: "x64",
        libc: None,
        machine: "x86_64",
    },
];
