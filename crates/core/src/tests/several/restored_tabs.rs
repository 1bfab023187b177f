//! A tab that was lost before a restart is reported in its browser.

use super::*;
use crate::{Fate, Loss, LostTab, RestoredTabs, TabId};

/// A session with two browsers that lost tab 7, in this browser if it is known.
fn restored(browser: Option<&str>) -> SeveralBrowsers {
    let (tab, fate) = (TabId(7), Fate::Closed);
    let lost = Some(Loss {
        browser: browser.map(|url| BrowserKey(url.into())),
        tab: LostTab { tab, fate },
    });
    SeveralBrowsers::with_session(SessionConfig {
        restored_tabs: RestoredTabs {
            lost,
            ..RestoredTabs::default()
        },
        ..session(2)
    })
}

fn is_told(harness: &mut SeveralBrowsers, browser: i64) {
    let text = harness.refusal(page(CLICK, Act), Some(browser));
    assert!(text.contains("tab 7 was closed"), "{text}");
}

#[test]
fn a_tab_that_was_lost_in_the_second_browser_is_reported_there() {
    let mut harness = restored(Some("http://2"));
    assert_eq!(harness.clicks_in(Some(1)), "http://1/page");
    is_told(&mut harness, 2);
    assert_eq!(harness.clicks_in(Some(2)), "http://2/page");
}

#[test]
fn after_a_second_crash_the_loss_is_reported_in_the_same_browser() {
    let harness = restored(Some("http://2"));
    let lost = harness.core.loss(ONE).expect("it is not reported yet");
    assert_eq!(lost.browser, Some(BrowserKey("http://2".into())));
}

#[test]
fn a_tab_that_was_lost_in_an_unknown_browser_is_reported_at_once() {
    for browser in [None, Some("http://gone")] {
        let mut harness = restored(browser);
        is_told(&mut harness, 1);
        assert_eq!(harness.clicks_in(Some(2)), "http://2/page");
    }
}
