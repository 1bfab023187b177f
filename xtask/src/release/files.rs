//! What packages are made of: the binary, the texts beside it, and the files that come out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use flate2::Compression;

use super::build;
use super::glibc_floor::Floor;
use super::project::Project;
use super::target::Target;

/// A file of the release.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// A file in a package.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
    pub(super) is_program: bool,
}

impl Entry {
    pub(super) fn text(path: impl Into<String>, text: impl Into<Vec<u8>>) -> Self {
        Self {
            path: path.into(),
            bytes: text.into(),
            is_program: false,
        }
    }

    pub(super) fn program(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            is_program: true,
            ..Self::text(path, bytes)
        }
    }

    /// The same file, in a folder.
    pub(super) fn within(mut self, folder: &str) -> Self {
        self.path = format!("{folder}/{}", self.path);
        self
    }
}

/// What every package of one target is made of.
pub(super) struct Parts<'a> {
    pub(super) project: &'a Project,
    pub(super) target: &'static Target,
    pub(super) binary: &'a Binary,
    /// The licenses of the dependencies.
    pub(super) licenses: &'a str,
    pub(super) level: Compression,
}

impl Parts<'_> {
    /// Our licenses and those of the dependencies.
    pub(super) fn license_files(&self) -> Result<Vec<Entry>> {
        let mut files = own_licenses(self.project)?;
        files.push(Entry::text("THIRD-PARTY-LICENSES.txt", self.licenses));
        Ok(files)
    }
}

pub(super) fn own_licenses(project: &Project) -> Result<Vec<Entry>> {
    let names = ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"].into_iter();
    names
        .map(|name| Ok(Entry::text(name, project.text_file(name)?)))
        .collect()
}

/// The program, as packages have it.
pub(super) struct Binary {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    /// None for a system without glibc.
    pub(super) floor: Option<Floor>,
}

impl Binary {
    /// A binary of a release build, which is stripped.
    pub(super) fn released(path: &Path, target: &Target) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let floor = match target.has_glibc() {
            true => Some(Floor::of(path)?),
            false => None,
        };
        let path = path.canonicalize()?;
        Ok(Self { path, bytes, floor })
    }

    /// Any binary; a copy is stripped, because symbols would be most of it.
    pub(super) fn stripped(path: &Path, target: &Target) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let copy = folder.path().join("tabmux");
        let status = Command::new("strip")
            .arg("-o")
            .arg(&copy)
            .arg(path)
            .status();
        let status = status.context("strip does not run; install binutils")?;
        ensure!(status.success(), "{} cannot be stripped", path.display());
        Ok(Self {
            path: path.canonicalize()?,
            ..Self::released(&copy, target)?
        })
    }

    /// Refuses a release that older systems could not load.
    pub(super) fn check_floor(&self) -> Result<()> {
        self.floor
            .iter()
            .try_for_each(|floor| floor.check(promised_glibc()?))
    }

    pub(super) fn description(&self) -> String {
        let size = self.bytes.len();
        match &self.floor {
            Some(floor) => format!("{size} bytes, glibc floor {}", floor.text()),
            None => format!("{size} bytes"),
        }
    }

    /// What it prints; it runs on this machine.
    pub(super) fn output(&self, arguments: &[&str]) -> Result<Vec<u8>> {
        let output = Command::new(&self.path).args(arguments).output();
        let output = output.with_context(|| format!("{} does not run", self.path.display()))?;
        ensure!(
            output.status.success(),
            "tabmux {} failed: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        );
        Ok(output.stdout)
    }
}

/// The glibc that the packages promise to need at most.
fn promised_glibc() -> Result<(u32, u32)> {
    let (major, minor) = build::GLIBC
        .split_once('.')
        .context("GLIBC is two numbers")?;
    Ok((major.parse()?, minor.parse()?))
}
