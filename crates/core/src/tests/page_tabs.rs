//! Tabs with the page library: how they are listed, named and merged with tabs of a browser.

use super::pages::{Pages, WORKER, facts, id, place, url};
use super::sim::{ONE, click_in, progressive, select_page};
use crate::{
    CallKind, ConnectionId, DocumentId, Input, Output, PageRefusal, PageRow, Reply, SessionConfig,
    Source, TabFacts, TabLocation, TabRef, Time, ToolName,
};
use std::time::Duration;

fn tabs(pages: &mut Pages) -> Vec<PageRow> {
    match pages.sim.call(CallKind::ListBrowserTabs) {
        Reply::BrowserTabs { tabs, left_out: 0 } => tabs,
        other => panic!("{other:?}"),
    }
}

/// Spec: multi-tab 25, 26, 27, 29.
#[test]
fn list_browser_tabs_shows_the_current_tabs() {
    let mut pages = Pages::new();
    assert_eq!(tabs(&mut pages), []);
    pages.open("A");
    pages.open("B");
    pages.front("B");
    let row = |page: &str, active| PageRow {
        name: crate::TabName::Page(id(page)),
        url: url(page).into(),
        title: format!("Page {page}").into(),
        active,
        last_seen: Time::default(),
    };
    assert_eq!(tabs(&mut pages), [row("A", false), row("B", true)]);
    pages.hide("B");
    assert_eq!(tabs(&mut pages), [row("A", false), row("B", false)]);
    pages.close("A");
    // Spec: multi-tab 10.
    assert_eq!(tabs(&mut pages), [row("B", false)]);
}

/// Spec: decisions 5.
#[test]
fn a_tab_without_the_library_is_listed_by_its_number_if_it_registered_tools() {
    let mut pages = Pages::new();
    pages.sim.call(CallKind::ListPages);
    pages.sim.user_opens(&url("A"));
    pages.sim.user_opens(&url("B"));
    pages.find("A", Source::WebMcp, &["x"]);
    pages.find("B", Source::Generated, &["y"]);
    let names: Vec<_> = tabs(&mut pages)
        .iter()
        .map(|tab| tab.name.to_string())
        .collect();
    assert_eq!(names, [pages.number("A").to_string()]);
}

/// Spec: multi-tab 80.
#[test]
fn last_seen_is_the_last_registration_focus_or_use() {
    let mut pages = Pages::new();
    pages.open("A");
    let mut moves = |act: fn(&mut Pages)| {
        pages.sim.pass(Duration::from_secs(1));
        let began = pages.sim.now;
        act(&mut pages);
        assert!(tabs(&mut pages)[0].last_seen >= began);
    };
    moves(|pages| pages.register("A", "x"));
    moves(|pages| pages.front("A"));
    moves(|pages| {
        pages.call("x", None);
    });
    moves(|pages| pages.reload("A"));
}

/// Spec: decisions 1.
#[test]
fn a_tab_is_named_by_its_number_its_digits_or_its_own_id() {
    let mut pages = Pages::new();
    pages.open_in_browser_with("A", "x");
    let number = pages.number("A");
    let forms = [
        TabRef::from(f64::from(number.0)),
        TabRef::from(&*number.to_string()),
        TabRef::from("A"),
    ];
    for tab in forms {
        let name = ToolName::new("x");
        let reply = pages.sim.call(CallKind::PageTool {
            name,
            tab: Some(tab.clone()),
        });
        assert!(
            matches!(reply, Reply::Done { tab, .. } if tab == number),
            "{reply:?}"
        );
        let reply = pages.sim.call(click_in(number));
        assert!(
            matches!(reply, Reply::Done { tab, .. } if tab == number),
            "{reply:?}"
        );
        let reply = pages.sim.call(CallKind::SelectPage { tab });
        assert!(matches!(reply, Reply::Focused { .. }), "{reply:?}");
    }
    assert_eq!(
        pages.refusal(select_page("B")),
        "There is no tab \"B\". Available tabs: 1, A. Call list_pages to see the tabs."
    );
}

#[test]
fn a_page_that_is_found_in_a_tab_is_merged_with_it() {
    let mut pages = Pages::new();
    pages.sim.call(CallKind::ListPages);
    pages.sim.user_opens(&url("A"));
    pages.open_with("A", "x");
    pages.front("A");
    assert_eq!(tabs(&mut pages).len(), 1);
    pages.join("A");
    let rows = tabs(&mut pages);
    assert_eq!((rows.len(), rows[0].active), (1, true));
    assert_eq!(pages.sim.page_at(&url("A")), pages.number("A"));
    pages.sim.user_closes(&url("A"));
    assert_eq!(tabs(&mut pages), []);
    assert!(matches!(pages.call("x", None), Reply::Refused(_)));
}

#[test]
fn a_page_leaves_a_tab_that_shows_another_document() {
    let mut pages = Pages::new();
    pages.open_in_browser_with("A", "x");
    let (browser, target) = pages.tab("A");
    let document = DocumentId(1);
    pages.sim.happen(Input::DocumentChanged {
        browser,
        target: target.clone(),
        document,
    });
    assert_eq!(
        pages.listed(ONE),
        ["x"],
        "it was found in this very document"
    );
    let document = DocumentId(2);
    pages.sim.happen(Input::DocumentChanged {
        browser,
        target,
        document,
    });
    assert_eq!(pages.listed(ONE), Vec::<String>::new());
    assert_eq!(tabs(&mut pages), []);
}

/// Spec: multi-tab 42, 43.
#[test]
fn a_page_keeps_its_id_and_number_when_it_is_reloaded() {
    let mut pages = Pages::new();
    pages.open_with("A", "x");
    let tab = |pages: &Pages| {
        pages
            .sim
            .core
            .page_tool(ONE, ToolName::new("x"))
            .unwrap()
            .tab
    };
    let before = tab(&pages);
    pages.reload("A");
    assert_eq!(tabs(&mut pages).len(), 1);
    pages.register("A", "x");
    assert_eq!(tab(&pages), before);
}

/// Spec: multi-tab 44, 72, 73.
#[test]
fn an_id_that_a_tab_of_another_origin_has_is_refused() {
    let mut pages = Pages::new();
    pages.open_with("A", "x");
    let (connection, origin) = (ConnectionId(2), "https://evil.test".into());
    pages
        .sim
        .happen(Input::PagesConnected { connection, origin });
    let page = facts("A", DocumentId(9));
    pages.sim.happen(Input::PageAppeared { connection, page });
    let refused = Output::PageRefused {
        connection,
        page: id("A"),
        refusal: PageRefusal::IdTaken,
    };
    assert!(pages.sim.outputs.contains(&refused));
    let page = id("A");
    pages.sim.happen(Input::PageGone { connection, page });
    assert!(
        matches!(pages.call("x", None), Reply::Done { .. }),
        "it is none of its business"
    );
    assert_eq!(pages.runs()[0].0, place("A"));
}

#[test]
fn a_restarted_worker_takes_its_pages_over() {
    let mut pages = Pages::new();
    pages.open_with("A", "x");
    pages.sim.browser.hangs = true;
    let call = pages.ask("x", None);
    let (connection, origin) = (ConnectionId(2), "https://app.test".into());
    pages
        .sim
        .happen(Input::PagesConnected { connection, origin });
    let page = facts("A", DocumentId(1));
    pages.sim.happen(Input::PageAppeared { connection, page });
    assert!(matches!(pages.sim.reply(call), Some(Reply::Refused(_))));
    let connection = WORKER;
    // The old worker may still exist if its tab was duplicated: then its tab has to choose another id.
    assert!(pages.sim.outputs.contains(&Output::PageRefused {
        connection,
        page: id("A"),
        refusal: PageRefusal::IdTaken,
    }));
    pages.sim.happen(Input::PagesDisconnected { connection });
    assert_eq!(tabs(&mut pages).len(), 1);
}

#[test]
fn a_page_cannot_use_the_number_of_another_tab_as_its_id() {
    let mut pages = Pages::new();
    for name in ["1", "", "a b", "{}", "x\ny", &"x".repeat(65)] {
        pages.open(name);
    }
    let refused = pages.sim.outputs.iter().filter(|output| {
        matches!(
            output,
            Output::PageRefused {
                refusal: PageRefusal::InvalidId,
                ..
            }
        )
    });
    assert_eq!(refused.count(), 6);
    for name in [
        "550e8400-e29b-41d4-a716-446655440000",
        "fallback_1738668000000_xyz123",
    ] {
        pages.open(name);
    }
    // Spec: multi-tab 47, 48.
    assert_eq!(tabs(&mut pages).len(), 2);
}

#[test]
fn list_page_tools_shows_each_tool_where_it_would_run() {
    let mut pages = Pages::new();
    pages.open_with("A", "x");
    pages.open_with("B", "x");
    pages.register("B", "y");
    pages.front("B");
    let rows = |pages: &mut Pages, tab: Option<&str>| {
        let tab = tab.map(TabRef::from);
        match pages.sim.call(CallKind::ListPageTools { tab }) {
            Reply::PageTools {
                tools, left_out: 0, ..
            } => {
                let rows = tools.into_iter();
                rows.map(|row| format!("{} in {}", row.name, row.tab_name))
                    .collect::<Vec<_>>()
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(rows(&mut pages, None), ["x in B", "y in B"]);
    assert_eq!(rows(&mut pages, Some("A")), ["x in A"]);
    let tab = Some(TabRef::from("C"));
    assert_eq!(
        pages.refusal(CallKind::ListPageTools { tab }),
        "There is no tab \"C\". Available tabs: A, B. Call list_pages to see the tabs."
    );
}

#[test]
fn list_browser_tabs_and_list_page_tools_work_in_a_progressive_session() {
    let mut pages = Pages::with_session(progressive());
    pages.open_with("A", "x");
    let reply = pages.sim.call(CallKind::ListPageTools { tab: None });
    assert!(matches!(reply, Reply::PageTools { tools, .. } if tools.len() == 1));
    let reply = pages.sim.call(CallKind::ListBrowserTabs);
    assert!(matches!(reply, Reply::BrowserTabs { tabs, .. } if tabs.len() == 1));
}

#[test]
fn a_tab_has_the_title_of_the_library_until_the_browser_has_one() {
    let mut pages = Pages::new();
    pages.open_in_browser("A");
    let (browser, target) = pages.tab("A");
    let titled = super::browser::facts(&target.0, &url("A"));
    let loading = TabFacts {
        title: None,
        ..titled.clone()
    };
    let steps = [(loading, "Page A"), (titled, "Title of https://app.test/A")];
    for (tab, title) in steps {
        pages.sim.happen(Input::TabChanged { browser, tab });
        pages.open("A");
        assert_eq!(&*tabs(&mut pages)[0].title, title);
    }
}

#[test]
fn a_reloaded_page_stays_in_its_tab_whichever_side_reports_first() {
    for library_first in [true, false] {
        let mut pages = Pages::new();
        pages.open_in_browser_with("A", "x");
        let ((browser, target), number) = (pages.tab("A"), pages.number("A"));
        let document = DocumentId(2);
        let changed = Input::DocumentChanged {
            browser,
            target: target.clone(),
            document,
        };
        if library_first {
            pages.reload("A");
            pages.register("A", "x");
            pages.sim.happen(changed);
        } else {
            pages.sim.happen(changed);
            pages.reload("A");
            pages.register("A", "x");
        }
        pages.sim.happen(Input::PageJoined {
            connection: WORKER,
            page: id("A"),
            browser,
            target,
            document,
        });
        assert_eq!(tabs(&mut pages).len(), 1, "{library_first}");
        let row = pages.sim.core.page_tool(ONE, ToolName::new("x")).unwrap();
        assert_eq!(row.tab, number, "{library_first}");
    }
}

/// Spec: dynamic-tools 85.
#[test]
fn a_session_that_follows_the_user_focuses_the_active_tab() {
    let mut pages = Pages::with_session(SessionConfig {
        follow_user_focus: true,
        ..progressive()
    });
    pages.sim.call(CallKind::ConnectBrowser { launch: false });
    for page in ["A", "B"] {
        pages.sim.user_opens(&url(page));
    }
    let turn_to = |pages: &mut Pages, page: &str| {
        let (browser, target) = pages.tab(page);
        let tab = TabLocation::Browser { browser, target };
        pages.sim.happen(Input::TabActivated { tab });
        pages.sim.settle();
    };
    let focused = |pages: &mut Pages| match pages.sim.call(CallKind::ListTabs) {
        Reply::Tabs { tabs, .. } => {
            let mut focused = tabs.into_iter().filter(|tab| tab.focused);
            focused.next().map(|tab| tab.id)
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(focused(&mut pages), None);
    for page in ["A", "B", "A"] {
        let notices = pages.notices(|pages| turn_to(pages, page));
        assert_eq!(notices, 1, "{page}");
        assert_eq!(focused(&mut pages), Some(pages.number(page)));
    }
    // The agent may focus another tab, until the user activates one.
    let tab = TabRef::from(f64::from(pages.number("B").0));
    pages.sim.call(CallKind::FocusTab { tab });
    turn_to(&mut pages, "A");
    assert_eq!(focused(&mut pages), Some(pages.number("B")), "it was there");
}

#[test]
fn a_session_that_followed_the_user_is_notified_of_later_changes() {
    let mut pages = Pages::with_session(SessionConfig {
        follow_user_focus: true,
        ..progressive()
    });
    pages.sim.call(CallKind::ConnectBrowser { launch: false });
    pages.sim.user_opens(&url("A"));
    pages.sim.settle();
    let (browser, target) = pages.tab("A");
    let tab = TabLocation::Browser { browser, target };
    pages.sim.happen(Input::TabActivated { tab });
    let reason = "it crashed".into();
    let lost = |pages: &mut Pages| pages.sim.happen(Input::BrowserGone { browser, reason });
    let before = pages.sim.outputs.len();
    lost(&mut pages);
    pages.sim.settle();
    let notice = Output::ToolsChanged { session: ONE };
    let since = &pages.sim.outputs[before..];
    assert_eq!(since.iter().filter(|output| **output == notice).count(), 1);
}
