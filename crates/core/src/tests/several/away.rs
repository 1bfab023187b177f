//! A browser whose extension is not connected.

use super::*;

const NOT_CONNECTED: &str = "Browser extension not connected";

/// A session whose browser is reached through an extension that is not connected.
fn away() -> SeveralBrowsers {
    let mut harness = SeveralBrowsers::with(1);
    harness.up.clear();
    harness.failure = ConnectFailure::Away {
        error: NOT_CONNECTED.into(),
        instructions: "Open Chrome".into(),
    };
    harness
}

/// Spec: multi-client 35.
#[test]
fn the_core_waits_once_for_an_extension_that_is_not_connected() {
    let mut harness = away();
    for attempts in 1..=2 {
        let refusal = harness.refusal(page(CLICK, Act), None);
        assert!(refusal.contains(NOT_CONNECTED), "{refusal}");
        assert_eq!(harness.attempts.len(), attempts);
        assert_eq!(harness.now.elapsed(), Duration::ZERO);
    }
}

/// The extension disconnects at once, and a call comes four seconds later, while the core waits.
fn soon_after() -> (SeveralBrowsers, BrowserId, CallId) {
    let mut harness = away();
    harness.up = URLS.to_vec();
    harness.clicks_in(None);
    harness.hangs = true;
    harness.up.clear();
    let (browser, reason) = (harness.browser("http://1"), "it was closed".to_owned());
    harness.happen(Input::ConnectionLost { browser, reason });
    assert_eq!(harness.attempts.len(), 2, "it is waited for at once");
    harness.now = harness.now + Duration::from_secs(4);
    let call = harness.ask(page(CLICK, Act), None);
    harness.now = harness.now + Duration::from_secs(21);
    let failed = harness.answer(browser, &BrowserKey("http://1".into()));
    harness.happen(failed);
    (harness, browser, call)
}

/// Spec: multi-client 35.
#[test]
fn a_call_soon_after_the_extension_disconnected_reports_that_in_the_end() {
    let (mut harness, _, call) = soon_after();
    let Reply::Refused(refusal) = harness.wait_for(call) else {
        panic!("there is no browser");
    };
    assert!(refusal.to_string().contains(NOT_CONNECTED), "{refusal}");
    assert_eq!(
        harness.now.elapsed(),
        Duration::from_secs(34),
        "its own time"
    );
    assert_eq!(harness.attempts.len(), 3);
}

#[test]
fn a_call_soon_after_the_extension_disconnected_works_if_it_reconnects_in_time() {
    let (mut harness, browser, call) = soon_after();
    harness.now = harness.now + Duration::from_secs(5);
    harness.up = URLS.to_vec();
    let back = harness.answer(browser, &BrowserKey("http://1".into()));
    harness.happen(back);
    assert!(matches!(harness.wait_for(call), Reply::Done { .. }));
    assert_eq!(harness.now.elapsed(), Duration::from_secs(30));
}
