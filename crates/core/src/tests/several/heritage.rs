//! A loss from before is told where it happened.

use super::*;
use crate::{Fate, Heritage, Loss, LostTab, TabId};

/// A session with two browsers that lost tab 7, in this one if that is known.
fn heir(browser: Option<&str>) -> Desk {
    let (tab, fate) = (TabId(7), Fate::Closed);
    let lost = Some(Loss {
        browser: browser.map(|url| BrowserKey(url.into())),
        tab: LostTab { tab, fate },
    });
    Desk::with_session(SessionConfig {
        heritage: Heritage {
            lost,
            ..Heritage::default()
        },
        ..session(2)
    })
}

fn is_told(desk: &mut Desk, browser: i64) {
    let text = desk.refusal(page(CLICK, Act), Some(browser));
    assert!(text.contains("tab 7 was closed"), "{text}");
}

#[test]
fn a_tab_that_was_lost_in_the_second_browser_is_told_of_there() {
    let mut desk = heir(Some("http://2"));
    assert_eq!(desk.clicks_in(Some(1)), "http://1/page");
    is_told(&mut desk, 2);
    assert_eq!(desk.clicks_in(Some(2)), "http://2/page");
}

#[test]
fn a_second_heir_is_told_where_it_was_as_well() {
    let desk = heir(Some("http://2"));
    let lost = desk.core.loss(ONE).expect("it was not told yet");
    assert_eq!(lost.browser, Some(BrowserKey("http://2".into())));
}

#[test]
fn a_tab_that_was_lost_who_knows_where_is_told_of_at_once() {
    for browser in [None, Some("http://gone")] {
        let mut desk = heir(browser);
        is_told(&mut desk, 1);
        assert_eq!(desk.clicks_in(Some(2)), "http://2/page");
    }
}
