//! `cargo xtask bench`: measures tabmux with a real Chromium.
//!
//! Missed goals are only marked: this is a benchmark, not a test.

mod agents;
mod bench_client;
mod bystander;
mod changes;
mod comparison;
mod extension;
mod floods;
mod lists;
mod page_tools;
mod pages;
mod peers;
mod raw;
mod sample;
mod shared;
mod start;
mod table;

pub(crate) use agents::AgentsWanted;
pub(crate) use bystander::Wanted;

use crate::say;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use table::Table;

/// What to measure.
#[derive(Clone)]
pub(crate) enum What {
    /// tabmux alone, against its goals.
    Tabmux,
    /// tabmux, or the first of these builds, compared with another build.
    Builds(Option<PathBuf>, PathBuf),
    /// tabmux compared with other servers.
    Peers,
    /// How attacks affect other sessions.
    Bystander(Wanted),
    /// What agents need for the same tasks through tabmux and other servers.
    Agents(AgentsWanted),
}

impl What {
    /// A binary that is measured as it is.
    fn binary(&self) -> Option<&Path> {
        match self {
            Self::Tabmux | Self::Peers => None,
            Self::Builds(binary, _) => binary.as_deref(),
            Self::Bystander(wanted) => wanted.binary.as_deref(),
            Self::Agents(wanted) => wanted.binary.as_deref(),
        }
    }

    /// Whether only calls and bytes are wanted, which are the same in every build.
    fn is_a_trial(&self) -> bool {
        matches!(self, Self::Agents(wanted) if wanted.binary.is_some())
    }
}

/// Builds the binary, measures, and prints the numbers.
pub(crate) fn run(what: What) -> Result<()> {
    // The measuring program must not be slower than the program that it measures.
    if cfg!(debug_assertions) && !what.is_a_trial() {
        return again_in_release();
    }
    let binary = match what.binary() {
        Some(binary) => binary.to_owned(),
        None => build()?,
    };
    let Some(browser) = find_browser() else {
        bail!("no Chromium was found: install `chromium`, or set TABMUX_TEST_BROWSER");
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        match what {
            What::Tabmux => {
                let table = tabmux_alone(&binary, &browser).await;
                say(&format!("\n{table}"));
            }
            What::Builds(_, earlier) => comparison::measure(&earlier, &binary, &browser).await,
            What::Peers => peers::measure(&binary, &browser).await?,
            What::Bystander(wanted) => bystander::measure(&binary, &browser, &wanted).await?,
            What::Agents(wanted) => agents::measure(&binary, &browser, &wanted).await?,
        }
        Ok(())
    })
}

async fn tabmux_alone(binary: &Path, browser: &Path) -> Table {
    let mut table = Table::default();
    say("Starting up …");
    start::measure(binary, browser, &mut table).await;
    say("Sharing one daemon …");
    shared::measure(binary, browser, &mut table).await;
    say("Tool lists …");
    lists::measure(binary, browser, &mut table).await;
    say("Calls …");
    pages::measure(binary, browser, &mut table).await;
    say("What changed …");
    changes::measure(binary, browser, &mut table).await;
    say("Tools of pages …");
    page_tools::measure(binary, &mut table);
    say("Pages that flood …");
    floods::measure(binary, browser, &mut table).await;
    say("The extension …");
    extension::measure(binary, browser, &mut table).await;
    table
}

/// The release build of the binary, as Cargo names it.
fn build() -> Result<PathBuf> {
    let output = Command::new(cargo())
        // As on a machine of today; the packages of a release are for older ones, too.
        .env("TABMUX_PACK_RELOCATIONS", "1")
        .args(["build", "--release", "--package", "tabmux"])
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()
        .context("cargo did not start")?;
    if !output.status.success() {
        bail!("the binary could not be built");
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages
        .filter(|message| message["target"]["name"] == "tabmux")
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .next_back()
        .context("cargo built no binary")
}

fn again_in_release() -> Result<()> {
    let arguments = ["run", "--release", "--quiet", "--package", "xtask", "--"];
    let asked = std::env::args_os().skip(1);
    let status = Command::new(cargo()).args(arguments).args(asked).status()?;
    match status.success() {
        true => Ok(()),
        false => bail!("the bench did not finish"),
    }
}

fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

/// The browser that the tests use.
fn find_browser() -> Option<PathBuf> {
    tabmux_testkit::gate::find_browser()
}
