//! Tools of the page library in a progressive session: they are listed in every state, whichever browser runs
//! their pages.

use super::browser::FakeBrowser;
use super::pages::{Pages, page_tool, place, url};
use super::sim::{ONE, Sim, TWO, close_focused, connect, open_tab, progressive, select_page};
use crate::{CallKind, Hidden, Reply, SessionConfig, SiteFilter, Source, ToolName};

/// One progressive session, not connected, and no page yet.
fn disconnected() -> Pages {
    with(progressive())
}

fn with(config: SessionConfig) -> Pages {
    let mut sim = Sim::new(FakeBrowser::new());
    sim.open_session_as(ONE, config);
    Pages::around(sim)
}

const BESIDE: &str = "list_browser_tabs";

/// Spec: multi-tab 1, 38, 41.
#[test]
fn library_tools_are_listed_in_every_state() {
    let mut pages = disconnected();
    let lists = |pages: &Pages, core: &[&str], library: &[&str], actions: &[&str]| {
        assert_eq!(pages.sim.tools(), [core, library, actions].concat());
    };
    let library = ["far", BESIDE];
    pages.open_with("outside", "far");
    lists(&pages, &["connect_browser"], &library, &[]);
    pages.sim.call(connect(true));
    lists(&pages, &["list_tabs", "open_tab"], &library, &[]);
    pages.sim.call(open_tab(&url("A"), false));
    let core = ["list_tabs", "open_tab", "focus_tab", "close_tab"];
    lists(&pages, &core[..3], &library, &[]);
    let tab = pages.number("A");
    pages.sim.focus(tab);
    pages.find("A", Source::WebMcp, &["zoom"]);
    let actions = ["click", "handle_dialog", "take_snapshot"];
    lists(&pages, &core, &["far", "zoom", BESIDE], &actions);
    pages.sim.call(close_focused());
    lists(&pages, &core[..2], &library, &[]);
    pages.close("outside");
    assert_eq!(pages.sim.tools(), ["list_tabs", "open_tab"]);
}

#[test]
fn a_session_is_notified_when_library_tools_change() {
    let mut pages = disconnected();
    pages.open("A");
    pages.open("B");
    assert_eq!(pages.sim.tools(), ["connect_browser"], "no tool, no tabs");
    assert_eq!(pages.notices(|pages| pages.register("A", "x")), 1);
    assert_eq!(pages.notices(|pages| pages.register("B", "x")), 0);
    assert_eq!(pages.notices(|pages| pages.unregister("A", "x")), 0);
    assert_eq!(pages.notices(|pages| pages.close("B")), 1);
    assert_eq!(pages.sim.tools(), ["connect_browser"]);
}

/// Spec: multi-tab 13, 14, 15, 17.
#[test]
fn calls_find_their_tab_without_a_browser() {
    let mut pages = disconnected();
    pages.open_with("A", "x");
    let ran = |pages: &mut Pages, tab: Option<&str>| {
        let reply = pages.call("x", tab);
        assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
        pages.runs().pop().unwrap().0
    };
    assert_eq!(ran(&mut pages, None), place("A"), "the only one");
    pages.open_with("B", "x");
    assert_eq!(ran(&mut pages, None), place("A"), "the first one");
    pages.front("B");
    assert_eq!(ran(&mut pages, None), place("B"), "the one in front");
    assert_eq!(ran(&mut pages, Some("A")), place("A"), "the named one");
    assert_eq!(
        pages.refusal(page_tool("x", Some("nowhere"))),
        "Tool 'x' not available in tab 'nowhere'. Available tabs: A, B"
    );
    assert_eq!(pages.sim.tools(), ["connect_browser", "x", BESIDE]);
}

#[test]
fn list_browser_tabs_answers_without_a_browser() {
    let mut pages = disconnected();
    pages.open_with("A", "x");
    let Reply::BrowserTabs { tabs, .. } = pages.sim.call(CallKind::ListBrowserTabs) else {
        panic!("it is there in every mode");
    };
    let names: Vec<_> = tabs.iter().map(|tab| tab.name.to_string()).collect();
    assert_eq!(names, ["A"]);
}

#[test]
fn the_focused_tabs_own_tool_goes_first() {
    let mut pages = disconnected();
    pages.open_with("outside", "x");
    pages.sim.call(connect(true));
    pages.sim.call(open_tab(&url("A"), true));
    pages.find("A", Source::WebMcp, &["x"]);
    pages.front("outside");
    let source = |pages: &Pages| {
        pages
            .sim
            .core
            .page_tool(ONE, ToolName::new("x"))
            .unwrap()
            .source
    };
    assert_eq!(source(&pages), Source::WebMcp);
    pages.call("x", None);
    assert!(matches!(
        pages.runs()[0].0,
        crate::TabLocation::Browser { .. }
    ));
    pages.call("x", Some("outside"));
    assert_eq!(pages.runs()[1].0, place("outside"));
    pages.find("A", Source::WebMcp, &[]);
    assert_eq!(source(&pages), Source::Library);
}

/// Only tools of the page library: for other tools of a tab, the session has to focus it.
/// Spec: dynamic-tools 2.
#[test]
fn tools_found_in_other_tabs_are_not_listed() {
    let mut pages = disconnected();
    pages.sim.call(connect(true));
    pages.sim.call(open_tab(&url("A"), false));
    pages.sim.call(open_tab(&url("B"), true));
    pages.open("A");
    pages.join("A");
    pages.find("A", Source::WebMcp, &["found", "both"]);
    pages.register("A", "both");
    assert_eq!(pages.listed(ONE), ["both"]);
    let tab = pages.number("A");
    let refusal = pages.refusal(page_tool("found", Some(&tab.to_string())));
    assert!(refusal.contains("Call focus_tab first"), "{refusal}");
    let reply = pages.call("both", None);
    assert!(matches!(reply, Reply::Done { tab: at, .. } if at == tab));
    assert_eq!(pages.runs()[0].0, place("A"));
}

#[test]
fn pages_that_a_session_may_not_see_offer_it_no_tools() {
    let hides = |address: &str| {
        address.starts_with("https://app.test").then(|| Hidden {
            origin: "https://app.test".into(),
            why: "Blocked.".into(),
        })
    };
    let mut pages = with(SessionConfig {
        site_filter: SiteFilter::new(hides),
        ..progressive()
    });
    assert_eq!(pages.notices(|pages| pages.open_with("A", "x")), 0);
    assert_eq!(pages.sim.tools(), ["connect_browser"]);
    for tab in [None, Some("A")] {
        let reply = pages.call("x", tab);
        assert!(matches!(reply, Reply::Refused(_)), "{reply:?}");
    }
    assert!(pages.runs().is_empty());
}

#[test]
fn a_tab_that_another_session_holds_offers_no_tools_to_others() {
    let mut pages = Pages::new();
    pages.open_in_browser_with("A", "x");
    pages.sim.open_session_as(TWO, progressive());
    assert_eq!(pages.listed(TWO), ["x"]);
    pages.sim.call(select_page("A"));
    pages.sim.settle();
    assert_eq!(pages.sim.core.tools(TWO), [ToolName::CONNECT_BROWSER]);
}

/// Spec: multi-tab 23.
#[test]
fn a_call_whose_page_closes_goes_to_the_next_tab() {
    let mut pages = disconnected();
    pages.open_with("A", "x");
    pages.open_with("B", "x");
    pages.sim.browser.hangs = true;
    let call = pages.ask("x", None);
    pages.close("A");
    assert_eq!(pages.runs().last().unwrap().0, place("B"));
    pages.finish(call);
    assert!(matches!(pages.sim.reply(call), Some(Reply::Done { .. })));
}

#[test]
fn call_page_tool_goes_where_a_call_by_name_goes() {
    let mut pages = disconnected();
    pages.open_with("A", "x");
    let kind = CallKind::CallPageTool {
        name: ToolName::new("x"),
        tab: None,
    };
    pages.sim.call(kind);
    pages.call("x", None);
    let runs = pages.runs();
    assert_eq!(runs[0], runs[1]);
}
