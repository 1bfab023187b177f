//! The flags of `cargo xtask dist`.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use flate2::Compression;

use super::target::Target;
use crate::files::project_root;

/// What to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The packages of one target.
    Target,
    /// What concerns all targets, from the packages in the folder.
    Index,
    Both,
}

#[derive(Debug)]
pub(super) struct Options {
    pub(super) part: Part,
    pub(super) target: &'static Target,
    /// A binary that has been built; without it, one is built for old systems.
    pub(super) binary: Option<PathBuf>,
    pub(super) out: PathBuf,
}

impl Options {
    pub(super) fn read(arguments: &[&str]) -> Result<Self> {
        let mut options = Self {
            part: Part::Both,
            target: Target::of_this_machine()?,
            binary: None,
            out: project_root().join("dist"),
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match *word {
                "--index" => options.part = Part::Index,
                "--target" => {
                    options.part = Part::Target;
                    options.target = Target::named(words.next().context(USAGE)?)?;
                }
                "--binary" => options.binary = Some(words.next().context(USAGE)?.into()),
                "--out" => options.out = words.next().context(USAGE)?.into(),
                _ => bail!("{USAGE}"),
            }
        }
        Ok(options)
    }

    /// A test of the packages does not wait for the last byte.
    pub(super) fn level(&self) -> Compression {
        match self.binary {
            Some(_) => Compression::fast(),
            None => Compression::best(),
        }
    }
}

const USAGE: &str =
    "usage: cargo xtask dist [--target TRIPLE | --index] [--binary PATH] [--out FOLDER]";
