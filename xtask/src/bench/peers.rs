//! `cargo xtask bench --peers`: the same work with tabmux and with alternative servers, in one run.

mod dialect;
mod install;
mod pages;
mod peer_server;
mod readme;
mod report;
mod results;
mod work;

pub(super) use dialect::{Call, Job, Peer};
pub(super) use install::install;
pub(super) use peer_server::PeerServer;
pub(super) use report::{answer_of, load};

use super::raw::RawTab;
use super::sample::{Sample, millis};
use crate::say;
use anyhow::Result;
use results::Results;
use std::path::{Path, PathBuf};
use tabmux_testkit::Chromium;

/// The paths that a run needs.
pub(super) struct Bench {
    pub(super) tabmux: PathBuf,
    pub(super) browser: PathBuf,
    /// The folder in which npm installed the peers.
    pub(super) shelf: PathBuf,
}

/// Installs the peers, measures all servers in turns, and writes `docs/benchmarks.md` and the
/// numbers in README.
pub(super) async fn measure(tabmux: &Path, browser: &Path) -> Result<()> {
    say("Installing the peers …");
    let bench = Bench {
        tabmux: tabmux.to_owned(),
        browser: browser.to_owned(),
        shelf: install()?,
    };
    let load_before = load();
    let pages = pages::serve();
    let (mut results, mut raw) = (Results::default(), Sample::default());
    for round in 1..=ROUNDS {
        say(&format!("Round {round} of {ROUNDS}: the browser itself …"));
        evaluate_without_server(browser, &mut raw).await?;
        for peer in Peer::ALL {
            say(&format!("Round {round} of {ROUNDS}: {} …", peer.name()));
            work::round(peer, &bench, &pages, &mut results).await?;
        }
    }
    let text = report::markdown(&results, &bench, millis(raw.median()), &load_before);
    say(&format!("\n{text}"));
    readme::write(&results)?;
    report::write(&text)
}

/// `1+1`, evaluated in the browser directly, at the same time after its start as with the servers.
async fn evaluate_without_server(browser: &Path, raw: &mut Sample) -> Result<()> {
    let chromium = Chromium::start(browser);
    let tab = RawTab::at(&chromium, "about:blank").await?;
    for _ in 0..EVALUATIONS {
        raw.time(tab.evaluate("1+1")).await;
    }
    Ok(())
}

/// How many rounds. Servers take turns, so that other load on the machine affects all alike. One browser
/// runs at a time.
const ROUNDS: usize = 5;

/// The number of scripts in each turn.
const EVALUATIONS: usize = 10;
