//! What a hostile page costs another tab of a Chromium that tabmux does not drive.
//!
//! Where a bystander becomes slow, this tells Chrome's part in it: one DevTools client is attached to the hostile page
//! and reads its events, as every DevTools client does; another one reads the bystander's tab, again and again.

use super::{ATTACKED, PAUSE, QUIET, WARM_UP};
use crate::bench::raw::{RawTab, WALK};
use crate::bench::sample::{Sample, millis};
use anyhow::{Context, Result};
use std::path::Path;
use std::time::{Duration, Instant};
use tabmux_testkit::attacks::{Attack, Bystander, Means};
use tabmux_testkit::{Chromium, FixtureServer, Response};

/// How much slower the bystander's tab became: the 95th percentile during the attack, divided by the one before it.
/// `None` for attacks without a page.
pub(super) async fn slowdown(attack: &Attack, browser: &Path) -> Result<Option<f64>> {
    let Means::Page(file) = attack.means else {
        return Ok(None);
    };
    let pages = FixtureServer::start();
    pages.route("/bystander", Response::html(Bystander::page()));
    let under_way = format!("/under-way/hostile/{file}");
    pages.route(&under_way, Response::no_content());
    let features = "--enable-features=WebMCP,WebMCPTesting";
    let chromium = Chromium::start_with(browser, &[features]);
    let bystander = RawTab::open(&chromium, &pages.cross_site_url("/bystander")).await?;
    read(&bystander, WARM_UP).await;
    let quiet = read(&bystander, QUIET).await;
    let url = pages.url(&format!("/hostile/{file}"));
    let attacker = RawTab::open(&chromium, &url);
    let _attacker = attacker.await.context("the hostile page does not open")?;
    pages.wait_for_nth_request(&under_way, 1).await;
    let attacked = read(&bystander, ATTACKED).await;
    Ok(Some(millis(attacked.p95()) / millis(quiet.p95()).max(0.1)))
}

async fn read(tab: &RawTab, duration: Duration) -> Sample {
    let mut sample = Sample::default();
    let begun = Instant::now();
    while begun.elapsed() < duration {
        sample.time(tab.evaluate(WALK)).await;
        tokio::time::sleep(PAUSE).await;
    }
    sample
}
