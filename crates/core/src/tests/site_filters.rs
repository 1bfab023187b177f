//! Tabs whose pages a session may not see: it learns only that they exist.

use super::browser::FakeBrowser;
use super::pages::Pages;
use super::sim::*;
use crate::{CallKind, Hidden, Input, Reply, SessionConfig, SiteFilter, TabRef, ToolName};

const OPEN: &str = "https://a.test/path?x=1";
const SECRET: &str = "https://secret.test/path?token=1";

fn site_filter() -> SiteFilter {
    SiteFilter::new(|address| {
        address.contains("secret").then(|| Hidden {
            origin: "https://secret.test".into(),
            why: "https://secret.test is not for you.".into(),
        })
    })
}

fn hidden_sites(config: SessionConfig) -> SessionConfig {
    SessionConfig {
        site_filter: site_filter(),
        ..config
    }
}

#[test]
fn a_hidden_tab_is_listed_by_its_origin_alone() {
    let mut sim = Sim::new(FakeBrowser::running(&[OPEN, SECRET]));
    sim.open_session_as(ONE, hidden_sites(progressive()));
    sim.open_session_as(TWO, hidden_sites(fixed()));
    sim.call(connect(false));
    for rows in [sim.list(), sim.pages_of(TWO)] {
        let told: Vec<_> = rows
            .iter()
            .map(|row| (&*row.url, &*row.title == "(blocked)"))
            .collect();
        assert_eq!(told, [(OPEN, false), ("https://secret.test", true)]);
    }
    let hidden = sim.list()[1].id;
    let Reply::Focused { tab, tools, .. } = sim.call(focus_tab(hidden)) else {
        panic!("a hidden page can be focused, so that it can be closed");
    };
    assert_eq!(
        (&*tab.url, &*tab.title),
        ("https://secret.test", "(blocked)")
    );
    assert_eq!(tools, []);
}

#[test]
fn the_tabs_beside_calls_are_those_of_the_list_and_say_what_is_hidden() {
    let mut sim = Sim::new(FakeBrowser::running(&[OPEN, SECRET]));
    sim.open_session_as(ONE, hidden_sites(progressive()));
    sim.open_session_as(TWO, hidden_sites(with_own_numbers()));
    assert_eq!(sim.core.shown_tabs(ONE), [], "it is not connected");
    sim.call(connect(false));
    for (session, rows) in [(ONE, sim.list()), (TWO, sim.pages_of(TWO))] {
        let shown = sim.core.shown_tabs(session);
        let hidden: Vec<_> = shown.iter().map(|tab| tab.is_hidden).collect();
        assert_eq!(hidden, [false, true]);
        assert!(shown.iter().all(|tab| tab.browser == 1));
        let shown: Vec<_> = shown.into_iter().map(|tab| tab.row).collect();
        assert_eq!(shown, rows);
    }
}

#[test]
fn a_page_that_goes_where_it_is_hidden_takes_its_title_along() {
    let mut sim = Sim::new(FakeBrowser::running(&[OPEN]));
    sim.open_session_as(ONE, hidden_sites(progressive()));
    sim.call(connect(false));
    assert_eq!(&*sim.list()[0].url, OPEN);
    sim.user_navigates(OPEN, SECRET);
    assert_eq!(&*sim.list()[0].url, "https://secret.test");
}

#[test]
fn tools_of_a_hidden_page_are_neither_listed_nor_run() {
    let mut pages = Pages::with_session(hidden_sites(fixed()));
    pages.open_with("A", "buy");
    pages.open_with("secret", "spy");
    assert_eq!(pages.listed(ONE), ["buy"]);
    let name = ToolName::new("spy");
    let tab = Some(TabRef::from("secret"));
    for kind in [
        CallKind::PageTool {
            name,
            tab: tab.clone(),
        },
        CallKind::CallPageTool {
            name,
            tab: tab.clone(),
        },
        CallKind::ListPageTools { tab },
    ] {
        assert_eq!(pages.refusal(kind), "https://secret.test is not for you.");
    }
    assert_eq!(pages.runs(), []);
    let Reply::PageTools { tools, .. } = pages.sim.call(CallKind::ListPageTools { tab: None })
    else {
        panic!("tools are listed");
    };
    assert_eq!(tools.len(), 1);
    let Reply::BrowserTabs { tabs, .. } = pages.sim.call(CallKind::ListBrowserTabs) else {
        panic!("tabs are listed");
    };
    let told: Vec<_> = tabs.iter().map(|tab| &*tab.title).collect();
    assert_eq!(told[1], "(blocked)");
}

#[test]
fn a_tool_that_a_hidden_page_shares_with_another_runs_in_the_other() {
    let mut pages = Pages::with_session(hidden_sites(fixed()));
    pages.open_with("secret", "buy");
    pages.open_with("A", "buy");
    pages.front("secret");
    pages.ask("buy", None);
    let runs = pages.runs();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].0, super::pages::place("A"));
}

#[test]
fn a_session_is_notified_when_it_may_see_more_or_less() {
    let mut pages = Pages::with_session(fixed());
    pages.open_with("secret", "spy");
    pages.sim.settle();
    assert_eq!(pages.listed(ONE), ["spy"]);
    let change = |site_filter: fn() -> SiteFilter| {
        move |pages: &mut Pages| {
            pages.sim.happen(Input::SiteFilterChanged {
                session: ONE,
                site_filter: site_filter(),
            });
        }
    };
    assert_eq!(pages.notices(change(site_filter)), 1);
    assert_eq!(pages.listed(ONE), Vec::<String>::new());
    assert_eq!(pages.notices(change(SiteFilter::default)), 1);
    assert_eq!(pages.listed(ONE), ["spy"]);
}

#[test]
fn what_is_at_work_on_a_page_stops_when_the_page_is_hidden() {
    let mut sim = Sim::new(FakeBrowser::running(&[OPEN, SECRET]));
    for session in [ONE, TWO] {
        sim.open_session_as(session, fixed());
    }
    let [open, secret] = [OPEN, SECRET].map(|url| sim.page_at(url));
    let other = sim.ask_of(TWO, click_in(open), None);
    let stopped = sim.ask(click_in(secret));
    for session in [ONE, TWO] {
        let site_filter = site_filter();
        sim.happen(Input::SiteFilterChanged {
            session,
            site_filter,
        });
    }
    assert_eq!(sim.reply(other), None, "it goes on");
    let Some(Reply::Refused(refusal)) = sim.reply(stopped) else {
        panic!("{:?}", sim.reply(stopped));
    };
    assert_eq!(
        refusal.to_string(),
        "https://secret.test is not for you. click was stopped before it was done."
    );
    // A call that leaves such a page may finish, whatever else changes.
    let leaving = sim.ask(select_page(secret));
    let site_filter = site_filter();
    sim.happen(Input::SiteFilterChanged {
        session: ONE,
        site_filter,
    });
    assert_eq!(sim.reply(leaving), None);
}
