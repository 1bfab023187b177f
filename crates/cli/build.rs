//! Tells the binary its version with the commit, and packs its relocations if asked to.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=TABMUX_VERSION={}", version());
    pack_relocations();
}

/// The version, and in brackets the commit where it is known.
fn version() -> String {
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    match commit() {
        Some(commit) => format!("{version} ({commit})"),
        None => version,
    }
}

/// `TABMUX_COMMIT`, or the commit of a crate that cargo packaged, or that of the repository.
fn commit() -> Option<String> {
    println!("cargo::rerun-if-env-changed=TABMUX_COMMIT");
    if let Ok(commit) = env::var("TABMUX_COMMIT") {
        return is_commit(&commit).then_some(commit);
    }
    let folder = env::var("CARGO_MANIFEST_DIR").ok()?;
    let folder = Path::new(&folder);
    if let Ok(packaged) = fs::read_to_string(folder.join(".cargo_vcs_info.json")) {
        let (_, rest) = packaged.split_once("\"sha1\": \"")?;
        return rest.get(..COMMIT_DIGITS).map(str::to_owned);
    }
    // With it a debug build would compile again after each commit.
    if env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        return Some("debug build".to_owned());
    }
    commit_of_repository(folder)
}

/// Nothing if the crate is in a folder of another repository, or git is not installed.
fn commit_of_repository(crate_folder: &Path) -> Option<String> {
    let top = git(crate_folder, &["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).join("crates/cli").canonicalize().ok()?
        != crate_folder.canonicalize().ok()?
    {
        return None;
    }
    // The log of HEAD grows with each commit and each checkout.
    for file in ["logs/HEAD", "HEAD"] {
        let path = git(crate_folder, &["rev-parse", "--git-path", file])?;
        let path = crate_folder.join(path);
        if path.is_file() {
            println!("cargo::rerun-if-changed={}", path.display());
            break;
        }
    }
    let digits = format!("--short={COMMIT_DIGITS}");
    git(crate_folder, &["rev-parse", &digits, "HEAD"])
}

fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn is_commit(text: &str) -> bool {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    !text.is_empty() && text.chars().all(is_allowed)
}

/// The loader reads every relocation of a program when it starts, and what it has read stays in memory: unpacked that
/// is most of a megabyte in every client's process.
/// A packed program needs glibc 2.36, so only a build for this machine asks for it.
fn pack_relocations() {
    println!("cargo::rerun-if-env-changed=TABMUX_PACK_RELOCATIONS");
    let wanted = env::var("TABMUX_PACK_RELOCATIONS").is_ok_and(|value| value == "1");
    if wanted && glibc_here().is_some_and(|version| version >= FIRST_GLIBC) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// This machine's glibc; none where the C library is another.
fn glibc_here() -> Option<(u32, u32)> {
    let output = Command::new("getconf")
        .arg("GNU_LIBC_VERSION")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The first glibc that reads packed relocations.
const FIRST_GLIBC: (u32, u32) = (2, 36);

const COMMIT_DIGITS: usize = 12;
