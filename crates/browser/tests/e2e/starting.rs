//! Starting a launched browser: which pages it opens, and what happens if it exits at once.

use crate::harness::BrowserHarness;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;
use tabmux_browser::LaunchOptions;
use tabmux_browser::find::Wanted;
use tabmux_browser::profile::ProfileChoice;
use tabmux_browser::{AddressPolicy, Source};
use tempfile::TempDir;

/// A headless browser shows no address bar. In recent versions the bar takes two pages with their own processes in each
/// window, and each isolated session has a window: three times the work of its own page.
#[tokio::test(flavor = "multi_thread")]
async fn an_isolated_session_gets_its_page_and_no_pages_of_a_window() {
    let Some(program) = tabmux_testkit::real_browser() else {
        return;
    };
    let harness = BrowserHarness::connect(&headless(program)).await;
    let context = harness.browser.make_context(None).await.unwrap();
    let blank = AddressPolicy::default().parse("about:blank").unwrap();
    let limit = Duration::from_secs(30);
    let opening = harness
        .browser
        .open(&blank, Some(context), 1, true, limit, None);
    let target = opening.await.unwrap();
    let tab = harness.browser.tab(&target).await.unwrap();
    // Every type of target, including those that Chrome hides by default.
    let all = json!({"filter": [{}]});
    let all = tab.session().send_raw("Target.getTargets", &all, limit);
    let all = all.await;
    let all: Value = serde_json::from_str(all.unwrap().get()).unwrap();
    let infos = all["targetInfos"].as_array().unwrap();
    let strange: Vec<_> = infos
        .iter()
        .filter(|info| !["page", "tab", "browser"].contains(&info["type"].as_str().unwrap()))
        .collect();
    assert!(strange.is_empty(), "{strange:#?}");
}

/// If the browser of a killed daemon is still starting, a second one finds its profile locked, hands over its arguments
/// and exits.
#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_ends_as_it_starts_is_started_once_more() {
    let Some(program) = tabmux_testkit::real_browser() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let (script, marker) = (
        folder.path().join("browser"),
        folder.path().join("was here"),
    );
    let text = format!(
        "#!/bin/sh\nif [ ! -e '{0}' ]; then : > '{0}'; exit 0; fi\nexec '{1}' \"$@\"\n",
        marker.display(),
        program.display()
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let harness = BrowserHarness::connect(&headless(script)).await;
    assert!(marker.exists());
    harness.open_url("about:blank").await;
}

fn headless(program: PathBuf) -> Source {
    Source::Launch(LaunchOptions {
        wanted: Wanted {
            executable: Some(program),
            channel: None,
        },
        profile: ProfileChoice::Temporary,
        headless: true,
        ..LaunchOptions::default()
    })
}
