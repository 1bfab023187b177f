//! A browser that is reached through somebody else, who is away and was waited for.

use super::*;

const NOT_CONNECTED: &str = "Browser extension not connected";

/// A session whose browser is reached through an extension that is not there.
fn away() -> Desk {
    let mut desk = Desk::with(1);
    desk.up.clear();
    desk.failure = ConnectFailure::Away {
        error: NOT_CONNECTED.into(),
        instructions: "Open Chrome".into(),
    };
    desk
}

/// Spec: multi-client 35.
#[test]
fn an_extension_that_is_away_is_waited_for_once() {
    let mut desk = away();
    for attempts in 1..=2 {
        let refusal = desk.refusal(page(CLICK, Act), None);
        assert!(refusal.contains(NOT_CONNECTED), "{refusal}");
        assert_eq!(desk.attempts.len(), attempts);
        assert_eq!(desk.now.elapsed(), Duration::ZERO);
    }
}

/// The extension goes at once and is waited for, and a call comes four seconds later.
fn soon_after() -> (Desk, BrowserId, CallId) {
    let mut desk = away();
    desk.up = URLS.to_vec();
    desk.clicks_in(None);
    desk.hangs = true;
    desk.up.clear();
    let (browser, reason) = (desk.browser("http://1"), "it was closed".to_owned());
    desk.happen(Input::ConnectionLost { browser, reason });
    assert_eq!(desk.attempts.len(), 2, "it is waited for at once");
    desk.now = desk.now + Duration::from_secs(4);
    let call = desk.ask(page(CLICK, Act), None);
    desk.now = desk.now + Duration::from_secs(21);
    let failed = desk.answer(browser, &BrowserKey("http://1".into()));
    desk.happen(failed);
    (desk, browser, call)
}

/// Spec: multi-client 35.
#[test]
fn a_call_soon_after_the_extension_went_says_in_the_end_that_it_is_away() {
    let (mut desk, _, call) = soon_after();
    let Reply::Refused(refusal) = desk.wait_for(call) else {
        panic!("there is no browser");
    };
    assert!(refusal.to_string().contains(NOT_CONNECTED), "{refusal}");
    assert_eq!(desk.now.elapsed(), Duration::from_secs(34), "its own time");
    assert_eq!(desk.attempts.len(), 3);
}

#[test]
fn a_call_soon_after_the_extension_went_has_it_if_it_comes_back_in_time() {
    let (mut desk, browser, call) = soon_after();
    desk.now = desk.now + Duration::from_secs(5);
    desk.up = URLS.to_vec();
    let back = desk.answer(browser, &BrowserKey("http://1".into()));
    desk.happen(back);
    assert!(matches!(desk.wait_for(call), Reply::Done { .. }));
    assert_eq!(desk.now.elapsed(), Duration::from_secs(30));
}
