//! Which page tools are listed, and when a client is notified.

use super::pages::{Pages, WORKER, key, tool};
use super::sim::{ONE, Sim, TWO, fixed, focus_tab, open_tab, progressive};
use crate::{
    CallKind, Input, Output, Reply, SchemaId, SessionConfig, Source, TabLocation, TabPolicy,
    ToolName,
};

/// Spec: multi-tab 38, 39, 40, 41, 67.
#[test]
fn a_tool_is_listed_while_at_least_one_tab_has_it() {
    let mut pages = Pages::new();
    pages.open("A");
    pages.open("B");
    let mut told = |act: fn(&mut Pages)| (pages.notices(act), pages.listed(ONE));
    let listed = vec!["x".to_owned()];
    assert_eq!(told(|pages| pages.register("A", "x")), (1, listed.clone()));
    assert_eq!(told(|pages| pages.register("B", "x")), (0, listed.clone()));
    assert_eq!(
        told(|pages| pages.unregister("A", "x")),
        (0, listed.clone())
    );
    assert_eq!(told(|pages| pages.unregister("B", "x")), (1, vec![]));
    assert_eq!(told(|pages| pages.register("A", "x")), (1, listed.clone()));
    assert_eq!(told(|pages| pages.register("B", "x")), (0, listed.clone()));
    assert_eq!(told(|pages| pages.close("A")), (0, listed));
    assert_eq!(told(|pages| pages.close("B")), (1, vec![]));
}

#[test]
fn the_union_follows_the_fixed_tools_sorted_by_name() {
    let mut pages = Pages::new();
    let before = pages.sim.tools();
    pages.open("A");
    pages.open_with("B", "zebra");
    pages.register("A", "apple");
    pages.register("A", "mango");
    let tools = pages.sim.tools();
    assert_eq!(tools[..before.len()], before);
    assert_eq!(tools[before.len()..], ["apple", "mango", "zebra"]);
}

#[test]
fn a_burst_of_registrations_is_one_notice() {
    let mut pages = Pages::new();
    pages.open("A");
    let mut sim = std::mem::replace(&mut pages.sim, Sim::disconnected());
    let notices = sim.notices(|sim| {
        for n in 0..50 {
            sim.happen(Input::ToolRegistered {
                connection: WORKER,
                page: super::pages::id("A"),
                tool: tool(&format!("t{n}"), n, n),
            });
        }
    });
    assert_eq!(notices, 1);
}

#[test]
fn the_published_schema_is_that_of_the_tab_a_call_would_go_to() {
    let mut pages = Pages::new();
    pages.open("A");
    pages.open("B");
    pages.register_as("A", tool("x", key("x"), 10));
    pages.register_as("B", tool("x", key("x"), 20));
    let published = |pages: &Pages| {
        let row = pages.sim.core.page_tool(ONE, ToolName::new("x")).unwrap();
        (row.tab_name.to_string(), row.schema)
    };
    assert_eq!(published(&pages), ("A".to_owned(), SchemaId(10)));
    pages.sim.settle();
    let tab = super::pages::place("B");
    let notices = pages
        .sim
        .notices(|sim| sim.happen(Input::TabActivated { tab }));
    assert_eq!(notices, 1, "the published schema changed");
    assert_eq!(published(&pages), ("B".to_owned(), SchemaId(20)));

    pages.register_as("A", tool("x", key("x"), 20));
    let tab = super::pages::place("A");
    let notices = pages
        .sim
        .notices(|sim| sim.happen(Input::TabActivated { tab }));
    assert_eq!(notices, 0, "A describes it as B did");
}

#[test]
fn a_change_that_does_not_affect_the_list_is_not_announced() {
    let mut pages = Pages::new();
    pages.open("A");
    pages.open("B");
    pages.register_as("A", tool("x", key("x"), 10));
    pages.register_as("B", tool("x", key("x"), 10));
    let tab = super::pages::place("B");
    let notices = pages
        .sim
        .notices(|sim| sim.happen(Input::TabActivated { tab }));
    assert_eq!(notices, 0, "both describe it alike");
    pages.register_as("A", tool("x", key("x"), 11));
    let notices = pages.sim.notices(|_| {});
    assert_eq!(notices, 0, "B describes it");
}

/// Spec: dynamic-tools 2, 9, 18, 29, 50, 93, 100.
#[test]
fn page_tools_are_listed_between_core_tools_and_page_actions() {
    let mut pages = Pages::around(Sim::new(super::browser::FakeBrowser::new()));
    pages.sim.open_session_as(ONE, progressive());
    pages.sim.call(super::sim::connect(true));
    pages.sim.call(open_tab("https://app.test/A", true));
    pages.find("A", Source::WebMcp, &["zoom", "add"]);
    pages.find("A", Source::Generated, &["search"]);
    pages.open("A");
    pages.join("A");
    pages.register("A", "buy");
    pages.sim.settle();
    let tools = pages.sim.tools();
    let core = ["list_tabs", "open_tab", "focus_tab", "close_tab"];
    let page = ["add", "buy", "search", "zoom"];
    let actions = ["click", "handle_dialog", "take_snapshot"];
    let beside = ["list_browser_tabs"]; // Listed because there are tools of the page library.
    assert_eq!(tools, [&core[..], &page, &beside, &actions].concat());
    assert_eq!(pages.sim.list()[0].tool_count, 4);

    let tab = pages.number("A");
    pages.sim.call(open_tab("https://app.test/B", true));
    assert_eq!(pages.listed(ONE), ["buy"], "that of the library");
    match pages.sim.call(focus_tab(tab)) {
        Reply::Focused { tools, .. } => {
            let tools: Vec<_> = tools.iter().map(ToolName::as_str).collect();
            assert_eq!(tools, page);
        }
        other => panic!("{other:?}"),
    }
}

/// One progressive session, connected to a browser without tabs.
fn at_work() -> Pages {
    let mut pages = Pages::around(Sim::launched());
    pages.sim.settle();
    pages
}

/// Spec: dynamic-tools 54.
#[test]
fn the_first_workflow_connect_open_act() {
    let mut pages = at_work();
    pages.sim.call(open_tab("https://app.test/repo", true));
    pages.find("repo", Source::WebMcp, &["star_repo"]);
    assert_eq!(pages.listed(ONE), ["star_repo"]);
    let reply = pages.call("star_repo", None);
    let tab = pages.number("repo");
    assert!(
        matches!(reply, Reply::Done { tab: at, .. } if at == tab),
        "{reply:?}"
    );
}

/// Spec: dynamic-tools 12, 41, 49, 50, 53, 55.
#[test]
fn one_name_in_two_tabs_means_the_focused_one() {
    let mut pages = at_work();
    for (page, own) in [("expedia", "select_flight"), ("kayak", "set_alert")] {
        pages.sim.call(open_tab(&super::pages::url(page), false));
        pages.find(page, Source::WebMcp, &["search_flights", own]);
    }
    assert_eq!(pages.listed(ONE), Vec::<String>::new(), "none is focused");
    for (page, listed) in [
        ("expedia", ["search_flights", "select_flight"]),
        ("kayak", ["search_flights", "set_alert"]),
        ("expedia", ["search_flights", "select_flight"]),
    ] {
        let tab = pages.number(page);
        let notices = pages.sim.notices(|sim| {
            sim.focus(tab);
        });
        assert_eq!(
            (notices, pages.listed(ONE)),
            (1, listed.map(String::from).to_vec())
        );
        let reply = pages.call("search_flights", None);
        assert!(
            matches!(reply, Reply::Done { tab: at, .. } if at == tab),
            "{page}: {reply:?}"
        );
    }
}

/// Spec: dynamic-tools 29, 101.
#[test]
fn tools_of_an_unfocused_page_are_counted_but_not_announced() {
    let mut pages = at_work();
    pages.sim.call(open_tab("https://app.test/A", true));
    pages.sim.call(open_tab("https://app.test/B", false));
    for count in [2, 1, 0] {
        let tools = &["x", "y"][..count];
        let notices = pages.notices(|pages| pages.find("B", Source::WebMcp, tools));
        assert_eq!(notices, 0);
        let counts: Vec<_> = pages.sim.list().iter().map(|tab| tab.tool_count).collect();
        assert_eq!(counts, [0, count]);
    }
}

/// Spec: dynamic-tools 86.
#[test]
fn changes_of_the_focused_pages_tools_are_announced() {
    let mut pages = at_work();
    pages.sim.call(open_tab("https://app.test/A", true));
    let finds: [(&[&str], usize); 4] = [(&["x"], 1), (&["x"], 0), (&[], 1), (&["x", "y"], 1)];
    for (tools, notices) in finds {
        let told = pages.notices(|pages| pages.find("A", Source::WebMcp, tools));
        assert_eq!((told, pages.listed(ONE).len()), (notices, tools.len()));
    }
    let told = pages.notices(|pages| {
        let (browser, target) = pages.tab("A");
        let document = crate::DocumentId(2);
        pages.sim.happen(Input::DocumentChanged {
            browser,
            target,
            document,
        });
    });
    assert_eq!((told, pages.listed(ONE)), (1, vec![]), "it navigates away");
}

#[test]
fn a_tool_that_two_sources_report_is_one_tool() {
    let mut pages = Pages::new();
    pages.open_in_browser("A");
    pages.find("A", Source::WebMcp, &["buy"]);
    pages.register("A", "buy");
    pages.find("A", Source::Generated, &["buy"]);
    let name = ToolName::new("buy");
    let source = |pages: &Pages| pages.sim.core.page_tool(ONE, name).unwrap().source;
    assert_eq!(pages.listed(ONE), ["buy"]);
    assert_eq!(source(&pages), Source::Library);
    pages.call("buy", None);
    assert!(
        matches!(pages.runs()[..], [(TabLocation::Page { .. }, _)]),
        "it ran once"
    );
    pages.unregister("A", "buy");
    assert_eq!(source(&pages), Source::WebMcp);
    pages.find("A", Source::WebMcp, &[]);
    assert_eq!(source(&pages), Source::Generated);
    assert_eq!(pages.sim.pages_of(ONE)[1].tool_count, 1);
}

#[test]
fn generated_tools_are_not_in_the_union_but_can_be_called() {
    let mut pages = Pages::new();
    pages.open_in_browser("A");
    pages.find("A", Source::Generated, &["search"]);
    let tools = pages.sim.core.tools(ONE);
    assert!(!tools.contains(&ToolName::new("search")));
    let reply = pages.call("search", None);
    assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
}

#[test]
fn registered_tools_take_precedence_over_generated_ones() {
    let mut pages = Pages::new();
    pages.open_in_browser("A");
    pages.open_in_browser("B");
    pages.find("B", Source::Generated, &["search"]);
    pages.register("A", "search");
    pages.front("B");
    pages.call("search", None);
    assert_eq!(pages.runs()[0].0, super::pages::place("A"));
}

#[test]
fn tools_of_a_tab_that_another_session_holds_are_not_listed() {
    let mut pages = Pages::new();
    pages.open_in_browser_with("A", "x");
    pages.sim.open_session_as(TWO, fixed());
    pages.sim.call_of(TWO, CallKind::ListPages);
    assert_eq!(pages.listed(TWO), ["x"]);
    let notices = pages.sim.notices_of(TWO, |sim| {
        sim.call(super::sim::select_page("A"));
    });
    assert_eq!((notices, pages.listed(TWO)), (1, vec![]));
    assert_eq!(pages.listed(ONE), ["x"]);
    pages.sim.close_session(ONE);
    pages.sim.settle();
    assert_eq!(pages.listed(TWO), ["x"]);
}

#[test]
fn tools_of_a_tab_whose_holder_shares_it_are_listed() {
    let tab_policy = TabPolicy::Shared;
    let mut pages = Pages::with_session(SessionConfig {
        tab_policy,
        ..fixed()
    });
    pages.open_in_browser_with("A", "x");
    pages.sim.call(super::sim::select_page("A"));
    pages.sim.open_session_as(TWO, fixed());
    pages.sim.call_of(TWO, CallKind::ListPages);
    assert_eq!(pages.listed(TWO), ["x"]);
}

#[test]
fn tools_of_the_library_outlive_the_connection_to_the_browser() {
    let mut pages = Pages::new();
    pages.open_in_browser_with("A", "x");
    pages.find("A", Source::WebMcp, &["y"]);
    assert_eq!(pages.listed(ONE), ["x", "y"]);
    pages.sim.user_quits();
    pages.sim.settle();
    assert_eq!(pages.listed(ONE), ["x"]);
    pages.close("A");
    assert_eq!(pages.listed(ONE), Vec::<String>::new());
}

#[test]
fn tools_that_a_call_added_are_announced_before_its_answer() {
    let mut pages = Pages::new();
    pages.open_in_browser("A");
    pages.register("A", "x");
    pages.sim.settle();
    let call = pages.ask("x", None);
    pages.find("A", Source::WebMcp, &["y"]);
    let before = pages.sim.outputs.len();
    pages.finish(call);
    let told: Vec<_> = pages.sim.outputs[before..]
        .iter()
        .map(|output| match output {
            Output::ToolsChanged { .. } => "told",
            Output::Reply { .. } => "answered",
            _ => "more",
        })
        .collect();
    assert_eq!(told, ["told", "answered"]);
    let notices = pages.sim.notices(|_| {});
    assert_eq!(notices, 0, "and not again");
}
