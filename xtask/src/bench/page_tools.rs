//! The cost of page tools: in the core with very many tabs, and for a call from a client to a page and back.

use super::table::{Table, Unit};
use crate::say;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(super) fn measure(binary: &Path, table: &mut Table) {
    table.heading("Tools of pages: the core, with 10,000 tabs and 20 sessions");
    if let Err(error) = in_the_core(table) {
        say(&format!("  not measured: {error:#}"));
    }
    table.heading("Tools of pages: client, daemon, worker, page and back");
    if let Err(error) = on_the_whole_way(binary, table) {
        say(&format!("  not measured: {error:#}"));
    }
}

/// Compares the output of the core's own benchmark, one line per number, with the goals.
fn in_the_core(table: &mut Table) -> Result<()> {
    let arguments = [
        "bench",
        "--quiet",
        "--package",
        "tabmux-core",
        "--bench",
        "page_tools",
    ];
    let text = output(Command::new(super::cargo()).args(arguments))?;
    for (what, most) in GOALS {
        let value = number(&text, what)
            .with_context(|| format!("the benchmark does not print {what:?}"))?;
        let micros = value / 1_000.0;
        table.goal(what, micros, *most, Unit::Micros, "");
    }
    for what in ["memory of a tab", "memory of a tool in a tab"] {
        let value = number(&text, what)
            .with_context(|| format!("the benchmark does not print {what:?}"))?;
        table.fact(what, value, Unit::Bytes, "with the indices over all");
    }
    Ok(())
}

/// `what: 123 ns`, or bytes.
fn number(text: &str, what: &str) -> Option<f64> {
    let mut lines = text.lines();
    let rest = lines.find_map(|line| line.strip_prefix(what)?.strip_prefix(": "))?;
    rest.split(' ').next()?.parse().ok()
}

/// The page library's own benchmark, with this binary.
fn on_the_whole_way(binary: &Path, table: &mut Table) -> Result<()> {
    let package = Path::new("packages/page");
    if !package.join("node_modules").is_dir() {
        let install = ["ci", "--silent", "--no-audit", "--no-fund"];
        output(Command::new("npm").args(install).current_dir(package))?;
    }
    output(
        Command::new("npm")
            .args(["run", "--silent", "build"])
            .current_dir(package),
    )?;
    let folder = tempfile::tempdir()?;
    let told = folder.path().join("bench.json");
    let binary = std::path::absolute(binary)?;
    output(
        Command::new("npx")
            .args(["vitest", "bench", "--run", "--outputJson"])
            .arg(&told)
            .env("TABMUX_BIN", binary)
            .current_dir(package),
    )?;
    let told: Value = serde_json::from_slice(&std::fs::read(told)?)?;
    let bench = &told["files"][0]["groups"][0]["benchmarks"][0];
    let median = bench["median"]
        .as_f64()
        .context("the benchmark prints no median")?;
    let runs = bench["sampleCount"].as_u64().unwrap_or_default();
    let note = format!("median of {runs}");
    table.goal(
        "a call of a tool that does nothing",
        median,
        2.0,
        Unit::Millis,
        note,
    );
    Ok(())
}

fn output(command: &mut Command) -> Result<String> {
    let name = PathBuf::from(command.get_program());
    let name = name.display();
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("{name} did not start"))?;
    if !output.status.success() {
        bail!("{name} failed");
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// In microseconds.
const GOALS: &[(&str, f64)] = &[
    ("a tab registers itself", 10.0),
    ("registration, one of 50 names", 10.0),
    ("registration, the same name everywhere", 10.0),
    ("routing, no tab in front", 1.0),
    ("routing, a tab in front", 1.0),
    ("a change of one of 800 names, told to 20 sessions", 1_000.0),
];
