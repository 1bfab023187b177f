//! `cargo xtask dist`: everything that a release needs, in one folder.
//!
//! Each machine of a release makes the packages of its own target; one of them then makes what concerns all targets.

mod build;
mod checksums;
mod dependency_graph;
mod files;
mod glibc_floor;
mod homebrew;
mod install_script;
mod licenses;
mod mcpb;
mod npm;
mod options;
mod project;
mod sbom;
mod server_json;
mod tar_gz;
mod target;
mod target_archive;
mod wheel;
mod zip;

use std::fs;

use anyhow::{Context, Result};

use crate::say;
use options::{Options, Part};
use project::Project;

/// Makes the packages of one target, or what concerns all targets, or both.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let options = Options::read(arguments)?;
    let project = Project::read()?;
    let out = &options.out;
    if options.part != Part::Index {
        if out.exists() {
            fs::remove_dir_all(out)
                .with_context(|| format!("{} cannot be removed", out.display()))?;
        }
        fs::create_dir_all(out)?;
        one_target(&project, &options)?;
    }
    if options.part != Part::Target {
        index(&project, &options)?;
    }
    say(&format!("Written to {}", out.display()));
    Ok(())
}

fn one_target(project: &Project, options: &Options) -> Result<()> {
    let target = options.target;
    let binary = match &options.binary {
        Some(binary) => files::Binary::stripped(binary, target)?,
        None => {
            let binary = files::Binary::released(&build::build(project, target)?, target)?;
            binary.check_floor()?;
            binary
        }
    };
    say(&binary.description());
    let licenses = licenses::text(project, target)?;
    let parts = files::Parts {
        project,
        target,
        binary: &binary,
        licenses: &licenses,
        level: options.level(),
    };
    for made in [
        target_archive::make(&parts)?,
        npm::platform_package(&parts)?,
        wheel::make(&parts)?,
        mcpb::make(&parts)?,
    ] {
        write(options, &made)?;
    }
    Ok(())
}

/// What names the files of all targets: checksums, the launcher, the registry's entry, the formula.
fn index(project: &Project, options: &Options) -> Result<()> {
    npm::pack_page_library(project, &options.out)?;
    let targets = target::with_archive_in(&options.out, &project.version)?;
    write(options, &npm::launcher(project, &targets)?)?;
    write(options, &sbom::make(project, options.target)?)?;
    write(options, &install_script::make(project)?)?;
    let sums = checksums::of_folder(&options.out)?;
    write(options, &homebrew::make(project, &targets, &sums)?)?;
    write(options, &server_json::make(project, &targets, &sums)?)?;
    let sums = checksums::of_folder(&options.out)?;
    write(options, &checksums::file(&sums))
}

fn write(options: &Options, made: &files::Made) -> Result<()> {
    let path = options.out.join(&made.name);
    fs::write(&path, &made.bytes)
        .with_context(|| format!("{} cannot be written", path.display()))?;
    say(&format!("{:>10} bytes  {}", made.bytes.len(), made.name));
    Ok(())
}
