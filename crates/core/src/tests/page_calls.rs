//! Calls of page tools: each runs once, in one tab, in its turn, and is always answered.

use super::pages::{Pages, key, page_tool, place, tool, url};
use super::sim::{CLICK, ONE, Sim, TWO, click_in, connect, fixed, open_tab, page, progressive};
use crate::{
    Access, CallKind, DocumentId, Input, Output, Refusal, Reply, SessionConfig, Source,
    TabLocation, TabPolicy, TabRef, ToolFacts, ToolName,
};

/// Spec: multi-tab 35; page-proxy 22.
#[test]
fn calls_to_many_tabs_run_each_in_its_own_and_once() {
    let mut pages = Pages::new();
    let names = ["A", "B", "C", "D"];
    for name in names {
        pages.open_with(name, "get_state");
    }
    pages.sim.browser.hangs = true;
    let calls = names.map(|name| pages.ask("get_state", Some(name)));
    let runs = pages.runs();
    let expected = names.map(|name| (place(name), "get_state".to_owned()));
    assert_eq!(runs, expected, "all in parallel, each once");
    for call in calls.into_iter().rev() {
        pages.finish(call);
    }
    let tabs = calls.map(|call| match pages.sim.reply(call) {
        Some(Reply::Done { tab, .. }) => tab,
        other => panic!("{other:?}"),
    });
    assert!(
        tabs.is_sorted(),
        "each is answered from its own tab: {tabs:?}"
    );
}

/// Spec: multi-tab 34.
#[test]
fn a_tab_id_on_a_page_tool_binds_nothing() {
    let mut pages = Pages::new();
    pages.open_in_browser("A");
    pages.open_in_browser_with("B", "x");
    pages.call("x", Some("B"));
    assert_eq!(pages.sim.core.bound_tab(ONE), None);
    assert!(!pages.sim.browser.holds(&url("B")));
}

/// Spec: decisions 2.
#[test]
fn page_tools_never_open_a_tab() {
    let mut pages = Pages::new();
    let (opens, connects) = (pages.sim.opens(), pages.sim.connects());
    let text = pages.refusal(page_tool("nothing", None));
    assert_eq!(
        text,
        "There is no tool nothing. Call list_page_tools to see the tools of pages."
    );
    pages.open_with("A", "x");
    pages.call("x", None);
    assert_eq!((pages.sim.opens(), pages.sim.connects()), (opens, connects));
}

#[test]
fn tools_that_act_take_turns_with_page_actions_and_those_that_read_do_not() {
    let mut pages = Pages::new();
    pages.open_in_browser_with("A", "act");
    pages.register_as(
        "A",
        ToolFacts {
            read_only: true,
            ..tool("read", key("read"), 1)
        },
    );
    pages.sim.browser.hangs = true;
    let click = pages.sim.ask(click_in("A"));
    let act = pages.ask("act", None);
    pages.ask("read", None);
    let names = |pages: &Pages| {
        pages
            .runs()
            .into_iter()
            .map(|(_, name)| name)
            .collect::<Vec<_>>()
    };
    assert_eq!(pages.sim.runs(), [click]);
    assert_eq!(names(&pages), ["read"]);
    pages.finish(click);
    assert_eq!(names(&pages), ["read", "act"]);
    let second = pages.sim.ask(page(CLICK, Access::Act));
    assert_eq!(pages.sim.runs(), [click]);
    pages.finish(act);
    assert_eq!(pages.sim.runs(), [click, second]);
}

#[test]
fn a_session_that_may_only_read_calls_page_tools_that_say_so() {
    let mut pages = Pages::with_session(SessionConfig {
        reading: Some(vec![ToolName::LIST_PAGES]),
        ..fixed()
    });
    pages.open_with("A", "act");
    pages.register_as(
        "A",
        ToolFacts {
            read_only: true,
            ..tool("read", key("read"), 1)
        },
    );
    pages.call("read", None);
    let refused = pages.refusal(page_tool("act", None));
    assert!(refused.starts_with("act can change things"), "{refused}");
}

#[test]
fn a_running_call_in_a_tab_that_closes_is_answered_with_the_specified_text() {
    let mut pages = Pages::new();
    pages.open_with("tab-1", "x");
    pages.open_with("tab-2", "x");
    pages.sim.browser.hangs = true;
    let working = pages.ask("x", Some("tab-1"));
    let waiting = pages.ask("x", Some("tab-1"));
    pages.close("tab-1");
    let text = |call| match pages.sim.reply(call) {
        Some(Reply::Refused(refusal)) => refusal.to_string(),
        other => panic!("{other:?}"),
    };
    let specified = "Tool 'x' not available in tab 'tab-1'. Available tabs: tab-2";
    assert_eq!(text(waiting), specified);
    assert_eq!(
        text(working),
        format!(
            "{specified}. The tab closed or navigated while the tool ran, and it may have had effects; \
             check before you call it again."
        )
    );
    let aborts = |output: &&Output| **output == Output::Abort { call: working };
    assert_eq!(pages.sim.outputs.iter().filter(aborts).count(), 1);
    assert_eq!(pages.runs().len(), 1, "the queued call never ran");
}

#[test]
fn the_tools_of_a_document_and_calls_queued_for_them_end_with_it() {
    let mut pages = Pages::new();
    pages.open_with("A", "x");
    pages.sim.browser.hangs = true;
    let working = pages.ask("x", None);
    let waiting = pages.ask("x", None);
    pages.reload("A");
    pages.register("A", "x");
    for call in [working, waiting] {
        let reply = pages.sim.reply(call);
        assert!(
            matches!(reply, Some(Reply::Refused(Refusal::NoSuchToolThere { .. }))),
            "{reply:?}"
        );
    }
    assert_eq!(
        pages.runs().len(),
        1,
        "the call does not run in the new document"
    );
}

#[test]
fn a_tool_is_gone_with_its_document_but_its_running_call_may_finish() {
    let mut pages = Pages::new();
    pages.sim.call(CallKind::ListPages);
    pages.sim.user_opens(&url("A"));
    pages.find("A", Source::WebMcp, &["go"]);
    pages.sim.browser.hangs = true;
    let working = pages.ask("go", None);
    let waiting = pages.ask("go", None);
    let (browser, target) = pages.tab("A");
    let document = DocumentId(2);
    pages.sim.happen(Input::DocumentChanged {
        browser,
        target: target.clone(),
        document,
    });
    assert_eq!(
        pages.sim.reply(working),
        None,
        "following a link is its work"
    );
    assert!(matches!(pages.sim.reply(waiting), Some(Reply::Refused(_))));
    // Reports about the old document are ignored.
    pages.find("A", Source::WebMcp, &["go"]);
    assert!(matches!(
        pages.call("go", None),
        Reply::Refused(Refusal::UnknownTool { .. })
    ));
    pages.finish(working);
    assert!(matches!(pages.sim.reply(working), Some(Reply::Done { .. })));
}

#[test]
fn a_running_call_of_an_unregistered_tool_may_finish() {
    let mut pages = Pages::new();
    pages.open_with("A", "x");
    pages.sim.browser.hangs = true;
    let working = pages.ask("x", None);
    let waiting = pages.ask("x", None);
    pages.unregister("A", "x");
    assert_eq!(pages.sim.reply(working), None);
    let reply = pages.sim.reply(waiting).unwrap();
    let Reply::Refused(refusal) = reply else {
        panic!("{reply:?}");
    };
    assert_eq!(
        refusal.to_string(),
        "Tool 'x' not available in tab 'A'. Available tabs: none"
    );
    pages.finish(working);
    assert!(matches!(pages.sim.reply(working), Some(Reply::Done { .. })));
}

#[test]
fn the_tabs_of_a_disconnected_worker_are_gone() {
    let mut pages = Pages::new();
    pages.open("A");
    pages.open_in_browser("B");
    pages.register("A", "x");
    pages.register("B", "y");
    pages.sim.browser.hangs = true;
    let calls = [pages.ask("x", None), pages.ask("y", None)];
    let connection = super::pages::WORKER;
    pages.sim.happen(Input::PagesDisconnected { connection });
    for call in calls {
        assert!(matches!(pages.sim.reply(call), Some(Reply::Refused(_))));
    }
    assert_eq!(pages.listed(ONE), Vec::<String>::new());
    assert!(
        pages.sim.browser.shows(&url("B")),
        "the tab itself is still there"
    );
}

#[test]
fn a_call_of_a_page_that_never_answers_fails_at_its_deadline() {
    let mut pages = Pages::new();
    pages.open_with("A", "x");
    pages.sim.browser.hangs = true;
    let call = pages.ask("x", None);
    pages.sim.run_out();
    assert!(matches!(
        pages.sim.reply(call),
        Some(Reply::Refused(Refusal::TooLate { .. }))
    ));
    assert!(pages.sim.outputs.contains(&Output::Abort { call }));
}

#[test]
fn an_exclusive_tab_cannot_be_named_for_a_page_tool() {
    let tab_policy = TabPolicy::Exclusive;
    let mut pages = Pages::with_session(SessionConfig {
        tab_policy,
        ..fixed()
    });
    pages.open_in_browser_with("A", "x");
    pages.sim.call(super::sim::select_page("A"));
    pages.sim.open_session_as(TWO, fixed());
    pages.sim.call_of(TWO, CallKind::ListPages);
    let reply = pages.sim.call_of(TWO, page_tool("x", Some("A")));
    assert!(
        matches!(reply, Reply::Refused(Refusal::TabHeld { .. })),
        "{reply:?}"
    );
}

#[test]
fn a_tab_that_another_session_holds_can_be_named_and_the_answer_says_so() {
    let mut pages = Pages::new();
    pages.open_in_browser_with("A", "x");
    pages.sim.call(super::sim::select_page("A"));
    pages.sim.open_session_as(TWO, fixed());
    pages.sim.call_of(TWO, CallKind::ListPages);
    let reply = pages.sim.call_of(TWO, page_tool("x", Some("A")));
    assert!(
        matches!(reply, Reply::Done { shared: true, .. }),
        "{reply:?}"
    );
    let reply = pages.sim.call_of(TWO, page_tool("x", None));
    assert!(
        matches!(reply, Reply::Refused(Refusal::UnknownTool { .. })),
        "{reply:?}"
    );
}

/// Spec: dynamic-tools 2, 49, 97.
#[test]
fn a_progressive_session_has_the_tools_of_its_focused_tab_only() {
    let mut pages = Pages::around(Sim::new(super::browser::FakeBrowser::new()));
    pages.sim.open_session_as(ONE, progressive());
    pages.sim.call(connect(true));
    pages.sim.call(open_tab(&url("A"), false));
    pages.find("A", Source::WebMcp, &["x"]);
    let tab = pages.number("A");
    assert_eq!(
        pages.refusal(page_tool("x", None)),
        "x needs a focused tab, and none is focused. Call focus_tab first; list_tabs shows the tabs."
    );
    pages.sim.call(open_tab(&url("B"), true));
    assert_eq!(
        pages.refusal(page_tool("x", None)),
        format!("x works on the focused tab, and tab {tab} is not focused. Call focus_tab first.")
    );
    pages.sim.focus(tab);
    assert!(matches!(pages.call("x", None), Reply::Done { .. }));
}

#[test]
fn call_page_tool_reaches_every_page_in_every_mode() {
    let mut pages = Pages::around(Sim::new(super::browser::FakeBrowser::new()));
    pages.sim.open_session_as(ONE, progressive());
    pages.open_with("outside", "far");
    let call = |tab: Option<&str>| CallKind::CallPageTool {
        name: ToolName::new("far"),
        tab: tab.map(TabRef::from),
    };
    for kind in [call(None), call(Some("outside"))] {
        let reply = pages.sim.call(kind);
        assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
    }
    assert_eq!(
        pages.refusal(call(Some("elsewhere"))),
        "Tool 'far' not available in tab 'elsewhere'. Available tabs: outside"
    );
}

#[test]
fn a_running_call_continues_when_the_tab_of_its_page_is_found() {
    let mut pages = Pages::new();
    pages.sim.call(CallKind::ListPages);
    pages.sim.user_opens(&url("A"));
    pages.open_with("A", "x");
    pages.sim.browser.hangs = true;
    let working = pages.ask("x", None);
    let waiting = pages.ask("x", None);
    pages.join("A");
    let click = pages.sim.ask(click_in("A"));
    assert_eq!(pages.runs().len(), 1);
    pages.finish(working);
    assert_eq!(pages.runs().len(), 2, "the next one has its turn");
    assert_eq!(pages.sim.runs(), []);
    pages.finish(waiting);
    assert_eq!(pages.sim.runs(), [click]);
    let tab = pages.number("A");
    for call in [working, waiting] {
        let reply = pages.sim.reply(call).unwrap();
        assert!(
            matches!(reply, Reply::Done { tab: at, .. } if at == tab),
            "{reply:?}"
        );
    }
    assert!(matches!(pages.runs()[1].0, TabLocation::Page { .. }));
}

#[test]
fn a_long_list_of_tabs_is_cut_and_says_so() {
    let mut pages = Pages::new();
    for n in 0..25 {
        pages.open(&format!("tab-{n}"));
        pages.register(&format!("tab-{n}"), "x");
    }
    let text = pages.refusal(page_tool("x", Some("nowhere")));
    assert!(text.ends_with("tab-18, tab-19 and 5 more"), "{text}");
    let long = "é".repeat(5000);
    assert!(pages.refusal(page_tool("x", Some(&long))).len() < 500);
}
