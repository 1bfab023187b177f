//! Sessions that are limited to their own browsers: pages with the library in other browsers, or in none, have no
//! tools for them.

use super::browser::FakeBrowser;
use super::pages::{Pages, page_tool};
use super::sim::{ONE, Sim, TWO, fixed, progressive};
use crate::{BrowserKey, CallKind, Mode, Reply, SessionConfig, SessionId};

const THREE: SessionId = SessionId(3);

fn with(config: SessionConfig) -> Pages {
    let mut sim = Sim::new(FakeBrowser::running(&["https://user.test/"]));
    sim.open_session_as(ONE, config);
    Pages::around(sim)
}

/// A session that is limited to its own browsers.
fn limited(config: SessionConfig) -> SessionConfig {
    SessionConfig {
        only_own_browsers: true,
        ..config
    }
}

fn in_another_browser() -> SessionConfig {
    SessionConfig {
        mode: Mode::Static,
        ..SessionConfig::new(BrowserKey("another".into()))
    }
}

#[test]
fn a_session_limited_to_its_browsers_has_no_tools_of_pages_outside_of_them() {
    for config in [progressive(), fixed()] {
        let mut pages = with(limited(config.clone()));
        pages.open_with("outside", "x");
        pages.front("outside");
        assert_eq!(pages.listed(ONE), Vec::<String>::new());
        for tab in [None, Some("outside")] {
            let refusal = pages.refusal(page_tool("x", tab));
            assert!(!refusal.contains("Available"), "{refusal}");
        }
        let found = pages.sim.call(CallKind::ListBrowserTabs);
        assert!(matches!(&found, Reply::BrowserTabs { tabs, .. } if tabs.is_empty()));
        for tab in [None, Some("outside".into())] {
            let found = pages.sim.call(CallKind::ListPageTools { tab });
            let has_tools = matches!(&found, Reply::PageTools { tools, .. } if !tools.is_empty());
            assert!(!has_tools, "{found:?}");
        }
        assert_eq!(pages.runs(), [], "{:?}", config.mode);
    }
}

/// The lists of sessions are shared, but not with one that is limited.
#[test]
fn a_limited_session_has_the_tools_of_its_browser_and_others_have_all() {
    let mut pages = with(limited(fixed()));
    pages.sim.open_session_as(TWO, in_another_browser());
    pages
        .sim
        .open_session_as(THREE, limited(in_another_browser()));
    pages.open_in_browser_with("A", "x");
    pages.open_with("outside", "y");
    let listed = |pages: &Pages| [ONE, TWO, THREE].map(|session| pages.listed(session).join(" "));
    assert_eq!(listed(&pages), ["x", "x y", ""]);
    let reply = pages.call("x", None);
    assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
    let ran = pages.runs().len();
    let refused = pages.sim.call_of(THREE, page_tool("x", Some("A")));
    assert!(matches!(refused, Reply::Refused(_)), "{refused:?}");
    assert_eq!(pages.runs().len(), ran);
    // The page goes on without its browser.
    pages.sim.user_quits();
    pages.sim.settle();
    assert_eq!(listed(&pages), ["", "x y", ""]);
}
