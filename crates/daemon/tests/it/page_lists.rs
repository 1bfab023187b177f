//! Whatever pages register, what clients are shown is a valid list of MCP, the same for everybody.

use crate::page_desk::{Daemon, Worker, request, text};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use tabmux_daemon::Handle;
use tabmux_protocol::session::ToolMode;
use tabmux_protocol::{Backend, ToolInfo};
use tabmux_testkit::patiently;

/// A tool as a page may register it.
#[derive(Clone, Debug)]
struct Registered {
    tab: usize,
    name: String,
    description: String,
    schema: Value,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn r004_50_whatever_pages_register_the_list_is_valid_and_shadows_nothing(
        tools in proptest::collection::vec(registered(), 1..25),
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(check(&tools));
    }
}

async fn check(tools: &[Registered]) {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let ours: BTreeMap<_, _> = by_name(session.tools().await.unwrap());
    let mut worker = daemon.worker().await;
    for tab in 0..TABS {
        worker.tab(&format!("tab-{tab}")).await;
    }
    for tool in tools {
        register(&mut worker, tool).await;
    }
    // Words of one worker are heard in order.
    worker.tab("the-end").await;
    until_listed(&session, "the-end").await;

    let shown = session.tools().await.unwrap();
    let names: HashSet<_> = shown.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(names.len(), shown.len(), "each name is there once");
    for tool in &shown {
        match ours.get(&tool.name) {
            Some(own) => assert_eq!(tool, own, "ours are as they were"),
            None => check_one(tool),
        }
    }
    assert!(ours.keys().all(|name| names.contains(name)));
    let other = daemon.session(ToolMode::Static).await;
    let theirs = other.tools().await.unwrap();
    assert_eq!(shown, theirs, "everybody is shown the same");
}

fn check_one(tool: &ToolInfo) {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    assert!(tool.name.chars().all(fits), "{:?}", tool.name);
    assert!((1..=64).contains(&tool.name.len()), "{:?}", tool.name);
    assert!(tool.description.contains("untrusted"), "{tool:?}");
    assert!(
        tool.description.len() < 20_000,
        "{}",
        tool.description.len()
    );
    let schema = Value::Object((*tool.input_schema).clone());
    assert_eq!(schema["type"], "object", "{schema}");
    assert!(schema["properties"].is_object(), "{schema}");
    assert!(jsonschema::meta::is_valid(&schema), "{schema}");
    assert!(schema.to_string().len() < 100_000, "{schema}");
}

fn by_name(tools: Vec<ToolInfo>) -> BTreeMap<String, ToolInfo> {
    tools
        .into_iter()
        .map(|tool| (tool.name.clone(), tool))
        .collect()
}

async fn register(worker: &mut Worker, tool: &Registered) {
    worker
        .say(json!({
            "type": "REGISTER_TOOL", "tabId": format!("tab-{}", tool.tab), "name": tool.name,
            "description": tool.description, "inputSchema": tool.schema, "handlerType": "proxy",
            "webMcp": false
        }))
        .await;
}

async fn until_listed(session: &Handle, tab: &str) {
    let look = async {
        loop {
            let reply = session.call(request("list_browser_tabs", &json!({})));
            if text(&reply.await.unwrap()).contains(tab) {
                return;
            }
        }
    };
    patiently(look, || format!("the tab {tab}")).await;
}

fn registered() -> impl Strategy<Value = Registered> {
    let names = prop_oneof![
        "[a-z_]{1,12}",
        ".{0,80}",
        "[A-Za-z0-9_.-]{100,300}",
        Just("click".to_owned()),
        Just("list_pages".to_owned()),
        Just("call_page_tool".to_owned()),
        Just("page_click".to_owned()),
        Just("__proto__".to_owned()),
    ];
    (0..TABS, names, ".{0,200}", schema()).prop_map(|(tab, name, description, schema)| Registered {
        tab,
        name,
        description,
        schema,
    })
}

/// A schema, something like one, or nothing of the kind; always an object, which the wire asks for.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        ".{0,10}".prop_map(Value::from),
        Just(json!("object")),
        Just(json!({"type": "string", "pattern": "("})),
        Just(json!({"$ref": "#/nowhere"})),
    ];
    let any_json = leaf.prop_recursive(4, 40, 5, |inner| {
        let keys = prop_oneof![
            Just("type".to_owned()),
            Just("properties".to_owned()),
            Just("required".to_owned()),
            Just("items".to_owned()),
            Just("$ref".to_owned()),
            Just("$schema".to_owned()),
            Just("tabId".to_owned()),
            Just("enum".to_owned()),
            "[a-z]{1,4}",
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(keys, inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    any_json.prop_map(|json| match json {
        Value::Object(_) => json,
        other => json!({"type": "object", "properties": {"it": other}}),
    })
}

const TABS: usize = 3;
