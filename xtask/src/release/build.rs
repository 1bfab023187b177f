//! Builds the binary of a target: for old systems, and the same bytes in every folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::project::Project;
use super::target::Target;
use crate::say;

/// The path of the built binary.
pub(super) fn build(project: &Project, target: &Target) -> Result<PathBuf> {
    say(&format!(
        "Building tabmux {} for {} (takes several minutes)",
        project.version, target.triple
    ));
    let with_zig = target.os == "linux";
    if with_zig && !has_zig() {
        bail!(
            "cargo-zigbuild is not installed. Run `make dist`, or: python3 -m pip install -r packaging/requirements-build.txt"
        );
    }
    let folder = project.root.join("target/dist");
    let mut command = Command::new("cargo");
    command.current_dir(&project.root);
    command.arg(if with_zig { "zigbuild" } else { "build" });
    command.args(["--release", "--locked", "--package", "tabmux", "--target"]);
    command.arg(match target.has_glibc() {
        true => format!("{}.{GLIBC}", target.triple),
        false => target.triple.to_owned(),
    });
    command.arg("--target-dir").arg(&folder);
    same_bytes_everywhere(&mut command, project)?;
    let status = command.status().context("cargo does not run")?;
    ensure!(status.success(), "the build failed");
    Ok(folder.join(target.triple).join("release/tabmux"))
}

/// The glibc that the binaries for Linux are linked for: that of RHEL 7, which manylinux2014 names too.
pub(super) const GLIBC: &str = "2.17";

fn same_bytes_everywhere(command: &mut Command, project: &Project) -> Result<()> {
    let home = cargo_home()?;
    let replaced = [
        (project.root.as_path(), "/tabmux"),
        (home.as_path(), "/cargo"),
    ];
    let flags =
        replaced.map(|(folder, by)| format!("--remap-path-prefix={}={by}", folder.display()));
    command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    command.env("SOURCE_DATE_EPOCH", project.time.to_string());
    command.env("TABMUX_COMMIT", &project.commit);
    command.env("CARGO_INCREMENTAL", "0");
    command.env("MACOSX_DEPLOYMENT_TARGET", MACOS);
    for name in ["RUSTFLAGS", "RUSTC_WRAPPER", "TABMUX_PACK_RELOCATIONS"] {
        command.env_remove(name);
    }
    Ok(())
}

/// The oldest macOS that the binaries run on.
pub(super) const MACOS: &str = "11.0";

fn cargo_home() -> Result<PathBuf> {
    if let Some(home) = std::env::var_os("CARGO_HOME") {
        return Ok(home.into());
    }
    let home = std::env::var_os("HOME").context("there is no home folder; set CARGO_HOME")?;
    Ok(Path::new(&home).join(".cargo"))
}

fn has_zig() -> bool {
    let output = Command::new("cargo-zigbuild").arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}
