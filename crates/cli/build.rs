//! Packs the binary's relocations where the C library can read them packed.
//!
//! The loader reads every relocation of a program when it starts, and what it has read stays
//! in memory: unpacked that is most of a megabyte, in every client's process.

use std::process::Command;

/// The first glibc that reads packed relocations.
const FIRST_GLIBC: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let built_here = std::env::var("HOST") == std::env::var("TARGET");
    if built_here && glibc_here().is_some_and(|version| version >= FIRST_GLIBC) {
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
