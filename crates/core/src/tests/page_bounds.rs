//! Limits for pages: what exceeds them is refused, and the rest still works.

use super::browser::FakeBrowser;
use super::pages::{Pages, WORKER, facts, id, tool, url};
use super::sim::{ONE, Sim, fixed};
use crate::{
    CallKind, Config, ConnectionId, DocumentId, Input, Output, PageRefusal, Reply, Source, TabRef,
    ToolKey,
};

fn small() -> Pages {
    let mut sim = Sim::with_config(
        FakeBrowser::running(&["https://user.test/"]),
        Config {
            page_connections: 2,
            pages_per_connection: 3,
            tools_per_tab: 2,
            page_tools: 5,
            page_tool_names: 3,
            ..Config::default()
        },
    );
    sim.open_session_as(ONE, fixed());
    Pages::around(sim)
}

fn refused(pages: &Pages) -> Vec<(Vec<ToolKey>, PageRefusal)> {
    let refused = |output: &Output| match output {
        Output::ToolsRefused { tools, refusal, .. } => Some((tools.clone(), *refusal)),
        _ => None,
    };
    pages.sim.outputs.iter().filter_map(refused).collect()
}

#[test]
fn too_many_tools_in_a_tab_are_refused_until_others_are_removed() {
    let mut pages = small();
    pages.open("A");
    for (name, key) in [("a", 1), ("b", 2), ("c", 3)] {
        pages.register_as("A", tool(name, key, 1));
    }
    let limit = PageRefusal::TooManyToolsInTab { limit: 2 };
    assert_eq!(refused(&pages), [(vec![ToolKey(3)], limit)]);
    assert_eq!(
        limit.to_string(),
        "This tab already offers 2 tools. Unregister some, then register this one again."
    );
    assert_eq!(pages.listed(ONE), ["a", "b"]);
    pages.sim.happen(Input::ToolUnregistered {
        connection: WORKER,
        page: id("A"),
        key: ToolKey(1),
    });
    pages.register_as("A", tool("c", 3, 1));
    assert_eq!(pages.listed(ONE), ["b", "c"]);
}

#[test]
fn a_report_of_too_many_tools_keeps_the_better_ones() {
    let mut pages = small();
    pages.sim.call(CallKind::ListPages);
    pages.sim.user_opens("https://app.test/A");
    pages.find("A", Source::Generated, &["z", "y", "x"]);
    let kept: Vec<_> = match pages.sim.call(CallKind::ListPageTools { tab: None }) {
        Reply::PageTools { tools, .. } => tools.iter().map(|row| row.name.to_string()).collect(),
        other => panic!("{other:?}"),
    };
    assert_eq!(kept, vec!["y".to_owned(), "z".to_owned()]);
    assert_eq!(refused(&pages)[0].0, [ToolKey(3)]);
}

#[test]
fn too_many_tools_and_names_in_all_are_refused() {
    let mut pages = small();
    for page in ["A", "B", "C"] {
        pages.open(page);
        pages.register_as(page, tool("a", 1, 1));
    }
    pages.register_as("A", tool("b", 2, 1));
    pages.register_as("B", tool("c", 3, 1));
    pages.register_as("C", tool("a2", 4, 1));
    let limit = PageRefusal::TooManyTools { limit: 5 };
    assert_eq!(refused(&pages), [(vec![ToolKey(4)], limit)]);
    pages.close("A");
    pages.register_as("B", tool("c", 3, 2));
    pages.register_as("C", tool("d", 5, 1));
    assert_eq!(pages.listed(ONE), ["a", "c", "d"]);
    pages.open("A");
    pages.register_as("A", tool("e", 6, 1));
    assert_eq!(refused(&pages)[1].1, PageRefusal::TooManyNames { limit: 3 });
}

#[test]
fn too_many_tabs_and_workers_are_refused() {
    let mut pages = small();
    for page in ["A", "B", "C", "D"] {
        pages.open(page);
    }
    let refusal = PageRefusal::TooManyPages { limit: 3 };
    let (connection, page) = (WORKER, id("D"));
    assert!(pages.sim.outputs.contains(&Output::PageRefused {
        connection,
        page,
        refusal,
    }));
    pages.register("D", "x");
    assert_eq!(pages.listed(ONE), Vec::<String>::new());
    pages.close("A");
    pages.open_with("D", "x");
    assert_eq!(pages.listed(ONE), ["x"]);

    for connection in [2, 3].map(ConnectionId) {
        let origin = "https://app.test".into();
        pages
            .sim
            .happen(Input::PagesConnected { connection, origin });
    }
    let connection = ConnectionId(3);
    let refusal = PageRefusal::TooManyConnections { limit: 2 };
    assert!(pages.sim.outputs.contains(&Output::PagesRefused {
        connection,
        refusal
    }));
    let page = facts("E", DocumentId(1));
    pages.sim.happen(Input::PageAppeared { connection, page });
    pages.sim.happen(Input::ToolRegistered {
        connection,
        page: id("E"),
        tool: tool("y", 1, 1),
    });
    assert_eq!(pages.listed(ONE), ["x"]);
}

#[test]
fn pages_that_come_and_go_leave_nothing_behind() {
    let mut pages = small();
    for _ in 0..200 {
        pages.open_with("A", "x");
        pages.register("A", "y");
        pages.close("A");
    }
    pages.sim.settle();
    assert!(refused(&pages).is_empty());
    assert_eq!(pages.sim.core.poll_timeout(), None);
}

#[test]
fn tools_beyond_the_limit_are_counted_and_reported() {
    let mut pages = small();
    pages.sim.call(CallKind::ListPages);
    pages.sim.user_opens(&url("A"));
    let missing = |pages: &mut Pages, tab: Option<TabRef>| match pages
        .sim
        .call(CallKind::ListPageTools { tab })
    {
        Reply::PageTools {
            tools,
            not_taken,
            not_generated,
            ..
        } => (tools.len(), not_taken, not_generated),
        other => panic!("{other:?}"),
    };
    pages.find("A", Source::WebMcp, &["a", "b", "c", "d"]);
    assert_eq!(missing(&mut pages, None), (2, 2, 0));
    let (browser, target) = pages.tab("A");
    let document = DocumentId(1);
    pages.sim.happen(Input::ToolsFound {
        browser,
        target: target.clone(),
        document,
        source: Source::Generated,
        tools: vec![],
        left_out: 7,
    });
    let number = TabRef::from(f64::from(pages.number("A").0));
    assert_eq!(missing(&mut pages, Some(number)), (2, 2, 7));
    let document = DocumentId(2);
    pages.sim.happen(Input::DocumentChanged {
        browser,
        target,
        document,
    });
    assert_eq!(missing(&mut pages, None), (0, 0, 0));
}

#[test]
fn a_tool_from_two_sources_counts_once() {
    let mut pages = small();
    pages.open_in_browser("A");
    pages.register_as("A", tool("a", 1, 1));
    pages.register_as("A", tool("b", 2, 1));
    pages.find("A", Source::WebMcp, &["a", "b"]);
    assert_eq!(refused(&pages), []);
    assert_eq!(pages.listed(ONE), ["a", "b"]);
}
