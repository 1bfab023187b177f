//! `cargo xtask licenses`: checks that the license of every dependency is in the list of `deny.toml`.
//!
//! `cargo deny` checks more, but has to be installed; this needs nothing.

use std::{fs, process::Command};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::{files::project_root, say};

/// Checks all dependencies, on all systems, and prints those that are not accepted.
pub(crate) fn run() -> Result<()> {
    let root = project_root();
    let settings = fs::read_to_string(root.join("deny.toml"))?;
    let accepted = accepted(&settings);
    ensure!(!accepted.is_empty(), "deny.toml has no list of licenses");
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--locked", "--format-version", "1"])
        .current_dir(&root)
        .output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo metadata failed: {errors}");
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    let refused: Vec<String> = packages
        .iter()
        .filter_map(|package| complaint(package, &accepted))
        .collect();
    for line in &refused {
        say(line);
    }
    match refused.len() {
        0 => Ok(()),
        count => bail!(
            "{count} dependencies have a license that is not in deny.toml; choose another one, or add the license if the \
             binary can still be distributed as MIT OR Apache-2.0"
        ),
    }
}

fn complaint(package: &Value, accepted: &[String]) -> Option<String> {
    let license = package["license"].as_str();
    let is_fine = license.is_some_and(|license| is_accepted(license, accepted));
    let license = license.unwrap_or("no license");
    (!is_fine).then(|| {
        format!(
            "{} {}: {license}",
            package["name"].as_str().unwrap_or("?"),
            package["version"].as_str().unwrap_or("?")
        )
    })
}

/// The texts between the brackets of `allow`.
fn accepted(settings: &str) -> Vec<String> {
    let list = settings.split("allow = [").nth(1).unwrap_or_default();
    let list = list.split(']').next().unwrap_or_default();
    list.split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// Whether an SPDX expression can be fulfilled with the accepted licenses. `/` is an old spelling of `OR`.
fn is_accepted(expression: &str, accepted: &[String]) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any_of(&mut rest, accepted) == Some(true) && rest.is_empty()
}

fn any_of(words: &mut &[&str], accepted: &[String]) -> Option<bool> {
    let mut fine = all_of(words, accepted)?;
    while next_is(words, "OR") {
        fine |= all_of(words, accepted)?;
    }
    Some(fine)
}

fn all_of(words: &mut &[&str], accepted: &[String]) -> Option<bool> {
    let mut fine = one(words, accepted)?;
    while next_is(words, "AND") {
        fine &= one(words, accepted)?;
    }
    Some(fine)
}

fn one(words: &mut &[&str], accepted: &[String]) -> Option<bool> {
    if next_is(words, "(") {
        let fine = any_of(words, accepted)?;
        return next_is(words, ")").then_some(fine);
    }
    let (name, rest) = words.split_first()?;
    *words = rest;
    let mut name = (*name).to_owned();
    if next_is(words, "WITH") {
        let (exception, rest) = words.split_first()?;
        *words = rest;
        name = format!("{name} WITH {exception}");
    }
    Some(accepted.contains(&name))
}

fn next_is(words: &mut &[&str], wanted: &str) -> bool {
    match words.split_first() {
        Some((word, rest)) if *word == wanted => {
            *words = rest;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_fulfilled_or_refused() {
        let settings = "[licenses]\nallow = [\n  \"MIT\",\n  \"Apache-2.0 WITH LLVM-exception\",\n  \"Zlib\",\n]\n";
        let accepted = accepted(settings);
        for fine in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0/MIT",
            "MIT AND Zlib",
            "(GPL-3.0 OR MIT) AND Zlib",
            "GPL-3.0 AND X OR MIT",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(is_accepted(fine, &accepted), "{fine}");
        }
        for refused in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "(MIT OR Zlib) AND GPL-3.0",
            "Apache-2.0",
            "MIT WITH X",
            "(MIT",
            "MIT MIT",
        ] {
            assert!(!is_accepted(refused, &accepted), "{refused}");
        }
    }

    #[test]
    fn every_dependency_has_an_accepted_license() {
        run().unwrap();
    }
}
