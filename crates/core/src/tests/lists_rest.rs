//! Lists of progressive sessions rest while a page is only drawn again.

use super::pages::{Pages, page_tool, tool};
use super::sim::{CLICK, ONE, Sim, TWO, open_tab, page, progressive};
use crate::{
    Access, CallKind, DocumentId, Input, Output, Reply, SessionConfig, Source, TabPolicy, ToolFacts,
};
use std::time::Duration;

/// One progressive session that has focused a page with a search box, whose tools are listed.
fn at_rest() -> Pages {
    let mut pages = Pages::around(Sim::launched_with_actions());
    pages.sim.call(open_tab("https://app.test/A", true));
    generate(&mut pages, 1, &["search"]);
    pages.sim.pass(Duration::from_secs(2));
    assert_eq!(pages.listed(ONE), ["search"]);
    pages
}

/// What is generated from a document of the page. A name always has the same key.
fn generate(pages: &mut Pages, document: u64, tools: &[&str]) {
    let facts = |name: &&str| tool(name, super::pages::key(name), 1);
    generate_as(pages, document, tools.iter().map(facts).collect());
}

fn generate_as(pages: &mut Pages, document: u64, tools: Vec<ToolFacts>) {
    let (browser, target) = pages.tab("A");
    pages.sim.happen(Input::ToolsFound {
        browser,
        target,
        document: DocumentId(document),
        source: Source::Generated,
        tools,
        left_out: 0,
    });
}

fn navigate(pages: &mut Pages, document: u64) {
    let (browser, target) = pages.tab("A");
    pages.sim.happen(Input::DocumentChanged {
        browser,
        target,
        document: DocumentId(document),
    });
}

fn click() -> CallKind {
    page(CLICK, Access::Act)
}

/// The tools that the last answer names.
fn named_in_answer(pages: &Pages) -> Vec<String> {
    let told = pages
        .sim
        .outputs
        .iter()
        .rev()
        .find_map(|output| match output {
            Output::Reply { appeared, .. } => Some(appeared),
            _ => None,
        });
    let told = told.unwrap().iter();
    told.map(|tool| tool.name.to_string()).collect()
}

fn listed(pages: &Pages) -> Vec<String> {
    let tools = pages.sim.tools().into_iter();
    let ours = ["list_tabs", "open_tab", "focus_tab", "close_tab"];
    let actions = ["click", "handle_dialog", "take_snapshot"];
    let is_ours = |name: &str| ours.contains(&name) || actions.contains(&name);
    tools.filter(|name| !is_ours(name)).collect()
}

#[test]
fn drawing_again_changes_no_list() {
    let mut pages = at_rest();
    let notices = pages.notices(|pages| {
        generate(pages, 1, &["search", "save_note"]);
        generate_as(
            pages,
            1,
            vec![tool("search", super::pages::key("search"), 2)],
        );
        generate(pages, 1, &["sort"]);
    });
    assert_eq!((notices, listed(&pages)), (0, vec!["search".to_owned()]));
}

#[test]
fn later_tools_are_named_once_and_run() {
    let mut pages = at_rest();
    generate(&mut pages, 1, &["search", "save_note"]);
    pages.sim.call(click());
    assert_eq!(named_in_answer(&pages), ["save_note"]);
    pages.sim.call(click());
    assert_eq!(named_in_answer(&pages), [""; 0]);
    let reply = pages.call("save_note", None);
    assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
    assert_eq!(listed(&pages), ["search"]);
}

#[test]
fn later_tools_are_listed_with_another_change() {
    let mut pages = at_rest();
    generate(&mut pages, 1, &["search", "save_note"]);
    let notices = pages.notices(|pages| pages.find("A", Source::WebMcp, &["add_todo"]));
    let all = ["add_todo", "save_note", "search"].map(String::from);
    assert_eq!((notices, listed(&pages)), (1, all.to_vec()));
    pages.sim.call(click());
    assert_eq!(named_in_answer(&pages), [""; 0], "the list has them");
}

#[test]
fn a_quiet_page_and_an_idle_agent_settle() {
    let mut pages = at_rest();
    pages.sim.call(click());
    pages.sim.pass(Duration::from_secs(28));
    generate(&mut pages, 1, &["search", "save_note"]);
    let before = pages.sim.outputs.len();
    pages.sim.pass(Duration::from_millis(2_900));
    assert_eq!(
        listed(&pages),
        ["search"],
        "idle, but the page is not quiet"
    );
    pages.sim.pass(Duration::from_millis(200));
    assert_eq!(listed(&pages), ["save_note", "search"]);
    let since = pages.sim.outputs[before..].iter();
    let notices = since.filter(|output| matches!(output, Output::ToolsChanged { .. }));
    assert_eq!(notices.count(), 1);

    generate(&mut pages, 1, &["search"]);
    pages.sim.pass(Duration::from_secs(2));
    pages.sim.call(click());
    pages.sim.pass(Duration::from_secs(29));
    assert_eq!(
        listed(&pages),
        ["save_note", "search"],
        "quiet, but not idle"
    );
    pages.sim.pass(Duration::from_secs(2));
    assert_eq!(listed(&pages), ["search"]);
    assert_eq!(pages.sim.core.poll_timeout(), None);
}

#[test]
fn a_long_call_is_not_idleness() {
    let mut pages = at_rest();
    pages.sim.pass(Duration::from_secs(20));
    pages.sim.browser.latency = Duration::from_secs(20);
    let call = pages.sim.ask(click());
    generate(&mut pages, 1, &["search", "save_note"]);
    pages.sim.pass(Duration::from_secs(15));
    assert_eq!((pages.sim.reply(call), listed(&pages).len()), (None, 1));
    pages.sim.pass(Duration::from_secs(6));
    assert_eq!(listed(&pages), ["search"], "it has just been answered");
    pages.sim.pass(Duration::from_secs(30));
    assert_eq!(listed(&pages), ["save_note", "search"]);
}

#[test]
fn a_tool_that_is_gone_says_so() {
    let mut pages = at_rest();
    let notices = pages.notices(|pages| generate(pages, 1, &[]));
    assert_eq!((notices, listed(&pages)), (0, vec!["search".to_owned()]));
    assert_eq!(
        pages.refusal(page_tool("search", None)),
        "search is gone: the page no longer shows what it was made for. Call list_page_tools to see the page's \
         tools now."
    );
    generate(&mut pages, 1, &["search"]);
    let reply = pages.call("search", None);
    assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
    generate(&mut pages, 1, &[]);
    let notices = pages.notices(|pages| pages.find("A", Source::WebMcp, &["add_todo"]));
    assert_eq!((notices, listed(&pages)), (1, vec!["add_todo".to_owned()]));
}

/// Spec: dynamic-tools 86.
#[test]
fn another_document_is_one_change() {
    let mut pages = at_rest();
    let notices = pages.notices(|pages| {
        navigate(pages, 2);
        pages.sim.pass(Duration::from_millis(300));
        generate(pages, 2, &["sort"]);
        pages.sim.pass(Duration::from_millis(300));
        generate(pages, 2, &["sort", "save_note"]);
        pages.sim.settle();
    });
    let both = ["save_note", "sort"].map(String::from);
    assert_eq!((notices, listed(&pages)), (1, both.to_vec()));
}

/// Spec: dynamic-tools 86.
#[test]
fn a_document_with_the_same_tools_is_no_change() {
    let mut pages = at_rest();
    let notices = pages.notices(|pages| {
        navigate(pages, 2);
        generate(pages, 2, &["search"]);
        pages.sim.settle();
    });
    assert_eq!((notices, listed(&pages)), (0, vec!["search".to_owned()]));
    let notices = pages.notices(|pages| {
        navigate(pages, 3);
        pages.sim.settle();
    });
    assert_eq!((notices, listed(&pages)), (1, vec![]), "it has none");
}

/// A call of the session leads to another document, which has been read before the answer.
fn navigate_by_call(pages: &mut Pages, document: u64, tools: &[&str]) {
    pages.sim.browser.latency = Duration::from_secs(5);
    let call = pages.sim.ask(click());
    navigate(pages, document);
    generate(pages, document, tools);
    pages.sim.pass(Duration::from_millis(500));
    pages.sim.finish(call);
    pages.sim.browser.latency = Duration::ZERO;
}

/// Spec: dynamic-tools 86.
#[test]
fn a_call_that_navigates_names_the_tools_and_the_notice_waits() {
    let mut pages = at_rest();
    let notices = pages.notices(|pages| {
        navigate_by_call(pages, 2, &["sort"]);
        assert_eq!(named_in_answer(pages), ["sort"]);
        for _ in 0..3 {
            pages.sim.pass(Duration::from_secs(20));
            pages.sim.call(click());
            assert_eq!(named_in_answer(pages), [""; 0], "once");
        }
    });
    assert_eq!(notices, 0, "the agent works");
    let reply = pages.call("sort", None);
    assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
    let gone = pages.refusal(page_tool("search", None));
    assert!(gone.starts_with("search is gone: "), "{gone}");
    let notices = pages.notices(|pages| pages.sim.pass(Duration::from_secs(31)));
    assert_eq!((notices, listed(&pages)), (1, vec!["sort".to_owned()]));
    assert_eq!(pages.sim.core.poll_timeout(), None);
}

/// Spec: dynamic-tools 56, 86.
#[test]
fn a_client_that_fetches_its_list_gets_the_tools_of_the_document() {
    let mut pages = at_rest();
    navigate_by_call(&mut pages, 2, &["sort"]);
    let notices = pages.notices(|pages| {
        pages.sim.core.list_is_fetched(ONE);
        assert_eq!(listed(pages), ["sort"]);
        pages.sim.pass(Duration::from_secs(60));
    });
    assert_eq!(notices, 0, "it has the list");
    // A page that is only drawn again does not change it.
    generate(&mut pages, 2, &["sort", "save_note"]);
    pages.sim.core.list_is_fetched(ONE);
    assert_eq!(listed(&pages), ["sort"]);
}

#[test]
fn a_tool_that_is_listed_alike_is_not_named_again() {
    let mut pages = at_rest();
    navigate_by_call(&mut pages, 2, &["search", "sort"]);
    assert_eq!(named_in_answer(&pages), ["sort"]);
    pages.sim.call(click());
    let facts = tool("search", super::pages::key("search"), 2);
    navigate_by_call(&mut pages, 3, &[]);
    generate_as(&mut pages, 3, vec![facts]);
    pages.sim.call(click());
    assert_eq!(
        named_in_answer(&pages),
        ["search"],
        "its arguments are others"
    );
}

#[test]
fn each_session_has_its_own_rest() {
    let mut pages = at_rest();
    let tab_policy = TabPolicy::Shared;
    pages.sim.close_session(ONE);
    for session in [ONE, TWO] {
        let config = SessionConfig {
            tab_policy,
            ..progressive()
        };
        pages.sim.open_session_as(session, config);
        pages.sim.call_of(session, super::sim::connect(true));
    }
    pages.sim.call(open_tab("https://app.test/A", true));
    generate(&mut pages, 1, &["search"]);
    pages.sim.pass(Duration::from_secs(2));
    generate(&mut pages, 1, &["search", "save_note"]);
    let tab = pages.number("A");
    pages.sim.call_of(TWO, super::sim::focus_tab(tab));
    let of_two = pages.sim.tools_of(TWO);
    assert!(of_two.contains(&"save_note".to_owned()), "{of_two:?}");
    assert_eq!(listed(&pages), ["search"]);
}

/// However fast the agent is: what the page draws after an action is told in answers.
#[test]
fn a_document_is_settled_once_the_agent_acts() {
    let mut pages = Pages::around(Sim::launched_with_actions());
    pages.sim.call(open_tab("https://app.test/A", true));
    generate(&mut pages, 1, &["search"]);
    let mut known = Vec::new();
    for drawn in [["search", "save_note"], ["search", "sort"]] {
        pages.sim.call(click());
        known.extend(named_in_answer(&pages));
        generate(&mut pages, 1, &drawn);
        pages.sim.pass(Duration::from_secs(2));
        assert_eq!(listed(&pages), [""; 0]);
    }
    assert_eq!(known, ["search", "save_note"]);
}
