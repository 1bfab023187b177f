//! `cargo xtask bench --peers`: the same work through tabmux and through the servers that people
//! would pick instead, in one run.

mod board;
mod dialect;
mod install;
mod pages;
mod report;
mod seat;
mod work;

use super::raw::RawTab;
use super::sample::{Sample, millis};
use crate::say;
use anyhow::Result;
use board::Board;
use dialect::Peer;
use std::path::{Path, PathBuf};
use tabmux_testkit::Chromium;

/// What a run needs to know of the machine.
struct Bench {
    tabmux: PathBuf,
    browser: PathBuf,
    /// Where npm has put the peers.
    shelf: PathBuf,
    /// What `1+1` takes without any server, in milliseconds, if that could be measured.
    raw_evaluate: Option<f64>,
}

/// Installs the peers, measures all of them in turns, and writes `docs/benchmarks.md`.
pub(super) async fn measure(tabmux: &Path, browser: &Path) -> Result<()> {
    say("Installing the peers …");
    let bench = Bench {
        tabmux: tabmux.to_owned(),
        browser: browser.to_owned(),
        shelf: install::install()?,
        raw_evaluate: raw_evaluate(browser).await,
    };
    let load_before = report::load();
    let pages = pages::serve();
    let mut board = Board::default();
    for round in 1..=ROUNDS {
        for peer in Peer::ALL {
            say(&format!("Round {round} of {ROUNDS}: {} …", peer.name()));
            work::round(peer, &bench, &pages, &mut board).await?;
        }
    }
    let text = report::markdown(&board, &bench, &load_before);
    say(&format!("\n{text}"));
    report::write(&text)
}

/// `1+1`, asked of the browser itself.
async fn raw_evaluate(browser: &Path) -> Option<f64> {
    let chromium = Chromium::start(browser);
    let tab = RawTab::at(&chromium, "about:blank").await.ok()?;
    let mut sample = Sample::default();
    for _ in 0..300 {
        sample.time(tab.evaluate("1+1")).await;
    }
    Some(millis(sample.median()))
}

/// Peers take turns this often, so that what else the machine does hits all alike. One browser runs
/// at a time.
const ROUNDS: usize = 5;
