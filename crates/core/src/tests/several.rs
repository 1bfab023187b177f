//! Several browsers in one session: strict `browserIndex`, one attempt at a time, growing pauses.

mod additions;
mod away;
mod harness;
mod restored_tabs;

use super::sim::*;
use crate::Access::Act;
use crate::{
    BrowserId, BrowserKey, BrowserState, CallId, CallKind, ConnectFailure, Input, Refusal, Renewal,
    Reply, RequestId, SessionConfig,
};
use harness::*;
use std::time::Duration;

/// Spec: multi-browser 13.
#[test]
fn all_browsers_connect_in_the_background_when_the_session_opens_if_configured() {
    let mut config = session(3);
    config.connects_at_once = true;
    let mut harness = SeveralBrowsers::with_session(session(0));
    harness.up = vec!["http://1", "http://3"];
    harness.happen(Input::SessionClosed { session: ONE });
    let session = ONE;
    harness.happen(Input::SessionOpened { session, config });
    assert_eq!(harness.attempts.len(), 3);
    assert!(harness.attempts.iter().all(|(.., start)| !start));
    use BrowserState::{Connected, Disconnected};
    assert_eq!(harness.states(), [Connected, Disconnected, Connected]);
    // The browser that was not up is tried again for the next call, without a pause.
    harness.up.push("http://2");
    assert_eq!(harness.clicks_in(Some(2)), "http://2/page");
    assert_eq!(harness.clicks_in(Some(1)), "http://1/page");
    assert_eq!(harness.now.elapsed(), Duration::ZERO);
}

/// Spec: multi-browser 8, 36.
#[test]
fn by_default_no_browser_is_connected_before_it_is_needed() {
    let mut harness = SeveralBrowsers::with(3);
    assert_eq!(harness.states(), [BrowserState::Pending; 3]);
    assert!(harness.attempts.is_empty());
}

/// Spec: multi-browser 2, 4, 5, 15, 51, 56, 58, 103.
#[test]
fn with_one_browser_no_number_may_be_given() {
    let mut harness = SeveralBrowsers::with(1);
    let refusal = harness.refusal(page(CLICK, Act), Some(1));
    assert!(harness.attempts.is_empty(), "it is checked before anything");
    assert_eq!(harness.clicks_in(None), "http://1/page");
    assert_eq!(
        refusal,
        "browserIndex must NOT be specified when only one browser is connected. Remove the \
         browserIndex parameter from your tool call."
    );
}

/// Spec: multi-browser 1, 3, 6, 7, 14, 15, 40, 55, 56, 77, 94.
#[test]
fn with_several_a_number_must_be_given_and_that_browser_is_used() {
    let mut harness = SeveralBrowsers::with(2);
    let refusal = harness.refusal(page(CLICK, Act), None);
    let start = "browserIndex parameter is required when multiple browsers are connected";
    assert!(refusal.starts_with(start), "{refusal}");
    assert!(
        harness.attempts.is_empty(),
        "a refused call changes nothing"
    );
    assert_eq!(harness.clicks_in(Some(2)), "http://2/page");
    assert_eq!(harness.clicks_in(Some(1)), "http://1/page");
    assert_eq!(harness.clicks_in(Some(2)), "http://2/page");
}

/// Spec: multi-browser 79, 82.
#[test]
fn a_number_that_no_browser_has_is_refused() {
    let mut harness = SeveralBrowsers::with(2);
    for given in [0, 3, -1] {
        assert_eq!(
            harness.refusal(page(CLICK, Act), Some(given)),
            format!(
                "There is no browser {given}. Available browsers: 1, 2. Use list_browsers to see them."
            )
        );
    }
}

/// Spec: multi-browser 8, 16, 17, 22, 24, 36, 39, 57, 76, 92, 104.
#[test]
fn browsers_are_connected_when_they_are_needed() {
    let mut harness = SeveralBrowsers::with(3);
    assert_eq!(harness.states(), [BrowserState::Pending; 3]);
    let labels: Vec<_> = harness
        .rows()
        .iter()
        .map(|row| row.label.to_string())
        .collect();
    assert_eq!(labels, URLS, "all of them, in their order");
    harness.clicks_in(Some(2));
    assert_eq!(
        harness.states(),
        [
            BrowserState::Pending,
            BrowserState::Connected,
            BrowserState::Pending
        ]
    );
    assert_eq!(harness.attempts.len(), 1);
}

/// Spec: multi-browser 83.
#[test]
fn a_tab_of_another_browser_cannot_be_named() {
    let mut harness = SeveralBrowsers::with(2);
    harness.clicks_in(Some(1));
    harness.clicks_in(Some(2));
    let first = harness.core.tabs().next().expect("there is one").id;
    let reply = harness.call(click_in(first), Some(2));
    assert!(
        matches!(reply, Reply::Refused(Refusal::UnknownTab { .. })),
        "{reply:?}"
    );
}

/// Spec: multi-browser 81.
#[test]
fn losing_one_browser_does_not_affect_another() {
    let mut harness = SeveralBrowsers::with(2);
    harness.clicks_in(Some(1));
    harness.clicks_in(Some(2));
    harness.dies("http://2");
    assert_eq!(harness.clicks_in(Some(1)), "http://1/page");
}

/// Spec: multi-browser 10, 25, 27, 30.
#[test]
fn a_browser_is_tried_five_times_with_growing_pauses() {
    let mut harness = SeveralBrowsers::with(1);
    harness.up.clear();
    let refusal = harness.refusal(page(CLICK, Act), None);
    assert!(refusal.contains("connection refused"), "{refusal}");
    let times: Vec<_> = harness
        .attempts
        .iter()
        .map(|(_, at, _)| at.as_millis())
        .collect();
    assert_eq!(times, [0, 250, 750, 1_750, 3_750]);
    let rows = harness.rows();
    assert_eq!(rows[0].state, BrowserState::Disconnected);
    assert_eq!(rows[0].error.as_deref(), Some("connection refused"));
}

/// Spec: multi-browser 11, 12, 20, 28, 30, 75, 105.
#[test]
fn after_that_it_has_a_cooldown_of_a_minute_unless_forced() {
    let mut harness = SeveralBrowsers::with(2);
    harness.up.clear();
    harness.refusal(page(CLICK, Act), Some(2));
    let tried = harness.attempts.len();
    assert_eq!(
        harness.refusal(page(CLICK, Act), Some(2)),
        "click needs browser 2 (http://2), which could not be reached: connection refused. tabmux does \
         not retry for another 60 s; call reconnect_browser with browserIndex: 2, force: true to \
         retry now."
    );
    assert!(harness.refusal(reconnect(false), Some(2)).contains("60 s"));
    assert_eq!(harness.attempts.len(), tried);
    harness.up = URLS.to_vec();
    let reply = harness.call(reconnect(true), Some(2));
    assert!(
        matches!(&reply, Reply::Browser { browser } if browser.state == BrowserState::Connected),
        "{reply:?}"
    );
    // Without `force` once the minute is over.
    harness.up.clear();
    harness.refusal(page(CLICK, Act), Some(1));
    harness.up = URLS.to_vec();
    harness.now = harness.now + Duration::from_secs(61);
    assert_eq!(harness.clicks_in(Some(1)), "http://1/page");
}

/// Spec: multi-browser 33.
#[test]
fn only_a_requested_reconnect_may_run_the_start_command() {
    let mut harness = SeveralBrowsers::with(1);
    harness.up.clear();
    harness.refusal(page(CLICK, Act), None);
    assert!(harness.attempts.iter().all(|(_, _, start)| !start));
    harness.attempts.clear();
    harness.refusal(reconnect(true), None);
    let starts: Vec<_> = harness
        .attempts
        .iter()
        .map(|(_, _, start)| *start)
        .collect();
    assert_eq!(starts, [true, false, false, false, false]);
}

/// Spec: multi-browser 12, 75.
#[test]
fn reconnecting_what_is_connected_changes_nothing() {
    let mut harness = SeveralBrowsers::with(1);
    harness.clicks_in(None);
    harness.call(reconnect(true), None);
    assert_eq!(harness.attempts.len(), 1);
}

/// Spec: multi-browser 26.
#[test]
fn calls_that_wait_for_one_browser_share_one_attempt() {
    let mut harness = SeveralBrowsers::with(1);
    harness.up.clear();
    let calls: Vec<_> = (0..5)
        .map(|_| harness.ask(page(CLICK, Act), None))
        .collect();
    assert_eq!(harness.attempts.len(), 1);
    harness.up = URLS.to_vec();
    for call in calls {
        assert!(matches!(harness.wait_for(call), Reply::Done { .. }));
    }
    assert_eq!(harness.attempts.len(), 2);
}

/// Spec: multi-browser 23, 88.
#[test]
fn a_lost_browser_is_reconnected_automatically_and_the_next_answer_says_so_once() {
    let mut harness = SeveralBrowsers::with(1);
    harness.clicks_in(None);
    harness.dies("http://1");
    assert_eq!(harness.states(), [BrowserState::Connecting]);
    harness.up = URLS.to_vec();
    let lost = harness.refusal(page(CLICK, Act), None);
    assert!(lost.contains("is gone with its browser"), "{lost}");
    for expected in [Some(1), None] {
        let call = harness.ask(page(CLICK, Act), None);
        assert!(matches!(harness.wait_for(call), Reply::Done { .. }));
        let (_, _, renewed) = harness.replies.last().expect("it is answered");
        assert_eq!(renewed.map(|it| it.number), expected);
    }
}

/// A grid that did not answer when the connection ended may have ended the browser, too.
#[test]
fn a_browser_that_another_one_replaced_is_told_until_the_session_knows() {
    let mut harness = SeveralBrowsers::with(1);
    harness.clicks_in(None);
    // The same one is connected once more before the session is told.
    for replaces in [true, false] {
        harness.connection_lost("http://1");
        (harness.up, harness.replaces) = (URLS.to_vec(), replaces);
        let browser = harness.browser("http://1");
        harness.happen(Input::Reachable { browser });
        assert_eq!(harness.states(), [BrowserState::Connected]);
    }
    for expected in [Some(Renewal::Replaced), None] {
        let call = harness.ask(page(CLICK, Act), None);
        assert!(matches!(harness.wait_for(call), Reply::Done { .. }));
        let (_, _, renewed) = harness.replies.last().expect("it is answered");
        assert_eq!(renewed.map(|it| it.renewal), expected);
    }
}

/// Spec: multi-browser 9, 18, 19, 60, 78, 84, 85, 97.
#[test]
fn browsers_are_added_and_removed_at_run_time_and_keep_their_numbers() {
    let mut harness = SeveralBrowsers::with(1);
    let add = |url| CallKind::AddBrowser {
        wanted: browser_ref(url),
    };
    assert!(!harness.core.has_several(ONE));
    let reply = harness.call(add("http://2"), None);
    let Reply::Browser { browser } = reply else {
        panic!("{reply:?}");
    };
    assert_eq!((browser.index, browser.state), (2, BrowserState::Connected));
    assert!(harness.core.has_several(ONE));
    let known = harness.refusal(add("http://1"), None);
    assert!(known.contains("http://1 is already browser 1"), "{known}");
    // A browser that cannot be reached is not added.
    harness.up.retain(|up| *up != "http://3");
    harness.refusal(add("http://3"), None);
    assert_eq!(harness.rows().len(), 2);

    harness.clicks_in(Some(1));
    let reply = harness.call(CallKind::DisconnectBrowser, Some(1));
    assert_eq!(reply, Reply::Disconnected { number: 1 });
    assert_eq!(harness.disconnects, 1);
    assert_eq!(harness.rows()[0].index, 2);
    assert_eq!(harness.clicks_in(None), "http://2/page");
    harness.call(CallKind::DisconnectBrowser, None);
    let none = harness.refusal(page(CLICK, Act), None);
    assert!(none.contains("Call add_browser first"), "{none}");
    assert!(harness.rows().is_empty());
}

/// Spec: multi-browser 37.
#[test]
fn sessions_share_a_browser_and_one_alone_cannot_disconnect_it() {
    let mut harness = SeveralBrowsers::with(2);
    let config = session(1);
    harness.happen(Input::SessionOpened {
        session: TWO,
        config,
    });
    harness.clicks_in(Some(1));
    harness.call(CallKind::DisconnectBrowser, Some(1));
    assert_eq!(harness.disconnects, 0);
    let call = harness.ask_of(TWO, CallKind::ListPages, None);
    assert!(matches!(harness.wait_for(call), Reply::Pages { pages, .. } if pages.len() == 1));
    assert_eq!(
        harness.attempts.len(),
        1,
        "there is one connection for both"
    );
}

/// Spec: multi-browser 71, 72.
#[test]
fn a_default_is_chosen_only_where_that_is_allowed() {
    let mut harness = SeveralBrowsers::with(2);
    let refusal = harness.refusal(CallKind::SelectDefaultBrowser, Some(1));
    assert!(refusal.contains("is switched off"), "{refusal}");

    let may_choose_default = true;
    let mut harness = SeveralBrowsers::with_session(SessionConfig {
        may_choose_default,
        ..session(2)
    });
    harness.refusal(page(CLICK, Act), None);
    harness.call(CallKind::SelectDefaultBrowser, Some(2));
    assert_eq!(harness.clicks_in(None), "http://2/page");
    assert_eq!(harness.clicks_in(Some(1)), "http://1/page");
    let marks: Vec<_> = harness.rows().iter().map(|row| row.is_default).collect();
    assert_eq!(marks, [false, true]);
}

#[test]
fn in_progressive_mode_connect_browser_chooses_and_the_others_follow() {
    let mut harness = SeveralBrowsers::with_session(SessionConfig {
        browsers: URLS[..2].iter().map(|url| browser_ref(url)).collect(),
        ..progressive()
    });
    assert_eq!(
        harness.refusal(connect(false), None),
        "browserIndex parameter is required when multiple browsers are connected. Available browsers: \
         1, 2. Call connect_browser again with one of them."
    );
    assert_eq!(
        harness.refusal(connect(false), Some(3)),
        "There is no browser 3. Available browsers: 1, 2. Call connect_browser again with one of them."
    );
    harness.call(connect(false), Some(2));
    let Reply::Tabs { tabs, .. } = harness.call(CallKind::ListTabs, None) else {
        panic!("it lists tabs");
    };
    assert_eq!(&*tabs[0].url, "http://2/page");
    let misplaced = harness.refusal(CallKind::ListTabs, Some(1));
    assert!(
        misplaced.contains("connect_browser takes it"),
        "{misplaced}"
    );
}
