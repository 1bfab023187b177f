//! Valid names for page tools, made from the names that pages give them.

use super::pages::{Pages, tool};
use super::sim::ONE;
use crate::{Config, Input, Source, ToolName};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::BTreeSet;

#[test]
fn a_valid_name_stays_as_it_is() {
    for name in ["get_page_info", "a", "A-b_9", &"x".repeat(64)] {
        assert_eq!(ToolName::published(name).as_str(), name);
    }
}

#[test]
fn an_invalid_name_is_reduced() {
    let long = ToolName::published(&"x".repeat(65));
    assert_ne!(long, ToolName::published(&"x".repeat(66)));
    assert_eq!(long.as_str().len(), 64);
    let cases = [
        ("todo.add", "todo_add"),
        ("  my tool! ", "my_tool"),
        ("search/flights\n", "search_flights"),
        ("búsqueda", "b_squeda"),
    ];
    for (given, published) in cases {
        assert_eq!(ToolName::published(given).as_str(), published, "{given:?}");
    }
    assert!(ToolName::published("日本語").as_str().starts_with("tool_"));
    assert_ne!(ToolName::published("日本"), ToolName::published("日本語"));
    assert!(ToolName::published("").as_str().starts_with("tool_"));
}

/// Spec: decisions 21.
#[test]
fn no_page_tool_gets_the_name_of_a_built_in_tool() {
    let mut pages = Pages::new();
    pages.open("A");
    for name in [
        "click",
        "list_tabs",
        "call_page_tool",
        "open_tab",
        "page_click",
    ] {
        pages.register("A", name);
    }
    let listed = [
        "page_call_page_tool",
        "page_click",
        "page_click_2",
        "page_list_tabs",
        "page_open_tab",
    ];
    assert_eq!(pages.listed(ONE), listed);
    pages.call("page_click", None);
    pages.call("page_click_2", None);
    let names: Vec<_> = pages.runs().into_iter().map(|(_, name)| name).collect();
    assert_eq!(
        names,
        ["click", "page_click"],
        "pages are called by their own names"
    );
}

#[test]
fn names_that_become_equal_are_numbered_in_a_fixed_order() {
    let publish = |tools: &[&str]| {
        let mut pages = Pages::new();
        pages.open_in_browser("A");
        pages.find("A", Source::WebMcp, tools);
        let published = pages.listed(ONE).into_iter().map(|name| {
            pages.call(&name, None);
            (name, pages.runs().pop().unwrap().1)
        });
        published.collect::<Vec<_>>()
    };
    let expected = [
        ("get_it", "get_it"),
        ("get_it_2", "get it"),
        ("get_it_3", "get.it"),
    ]
    .map(|(name, given)| (name.to_owned(), given.to_owned()));
    assert_eq!(publish(&["get it", "get.it", "get_it"]), expected);
    assert_eq!(publish(&["get_it", "get.it", "get it"]), expected);
}

#[test]
fn a_tool_keeps_its_name_while_it_exists() {
    let mut pages = Pages::new();
    pages.open_with("A", "get it");
    pages.register("A", "get_it");
    assert_eq!(pages.listed(ONE), ["get_it", "get_it_2"]);
    pages.unregister("A", "get it");
    assert_eq!(pages.listed(ONE), ["get_it_2"]);
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(5),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Whatever a page registers, the list is valid, sorted, free of duplicates, and hides no built-in tool.
    #[test]
    fn whatever_pages_register_the_list_is_valid(
        names in prop::collection::vec(any_name(), 1..80),
        pages_of in prop::collection::vec(0..3_u8, 80),
    ) {
        let mut pages = Pages::new();
        let before: BTreeSet<_> = pages.sim.tools().into_iter().collect();
        for page in ["A", "B", "C"] {
            pages.open(page);
        }
        for (n, (name, page)) in names.iter().zip(pages_of).enumerate() {
            let page = ["A", "B", "C"][usize::from(page)];
            pages.register_as(page, tool(name, n as u64, n as u64));
        }
        let tools = pages.sim.tools();
        prop_assert_eq!(tools.iter().collect::<BTreeSet<_>>().len(), tools.len());
        let fit = |name: &String| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
            (1..=64).contains(&name.len()) && name.bytes().all(fits)
        };
        prop_assert!(tools.iter().all(fit), "{:?}", tools);
        let page_tools = pages.listed(ONE);
        prop_assert!(page_tools.is_sorted());
        prop_assert!(page_tools.iter().all(|name| !before.contains(name)));
        prop_assert_eq!(page_tools.len() + before.len(), tools.len());
    }
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-c]{0,2}[ ./]?[a-c]{0,2}",
        "\\PC{60,70}",
        prop::sample::select(vec!["click", "list_pages", "page_click", "page_click_2"])
            .prop_map(str::to_owned),
    ]
}

#[test]
fn names_of_the_driver_are_reserved_too() {
    let mut core = crate::Core::new(Config {
        static_tools: vec![ToolName::new("drag")],
        ..Config::default()
    });
    let connection = super::pages::WORKER;
    let now = crate::Time::default();
    let session = ONE;
    let config = super::sim::fixed();
    core.handle(now, Input::SessionOpened { session, config });
    let origin = "https://app.test".into();
    core.handle(now, Input::PagesConnected { connection, origin });
    let page = super::pages::facts("A", crate::DocumentId(1));
    core.handle(now, Input::PageAppeared { connection, page });
    let page = super::pages::id("A");
    let tool = tool("drag", 1, 1);
    core.handle(
        now,
        Input::ToolRegistered {
            connection,
            page,
            tool,
        },
    );
    let tools: Vec<_> = core.tools(ONE).iter().map(ToolName::to_string).collect();
    assert_eq!(tools, ["drag", "page_drag"]);
}
