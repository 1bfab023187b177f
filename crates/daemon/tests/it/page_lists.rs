//! Whatever pages register, clients get a valid MCP tool list, the same for all sessions.

use crate::page_harness::{Daemon, Worker, request, text};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
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

impl Registered {
    /// Whether it is within the documented limits.
    fn is_acceptable(&self) -> bool {
        (1..=MOST_NAME).contains(&self.name.len()) && self.schema.to_string().len() <= MOST_SCHEMA
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Spec: dynamic-tools 50.
    #[test]
    fn whatever_pages_register_the_list_is_valid_and_shadows_nothing(
        tools in proptest::collection::vec(registered(), 1..25),
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(check(&tools));
    }
}

#[tokio::test]
async fn the_largest_allowed_tool_is_accepted_and_one_byte_more_is_not() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    worker.tab("tab-0").await;
    let tool = |name: &str, size: usize| {
        let schema =
            |padding: &str| json!({"type": "object", "properties": {}, "$comment": padding});
        let padding = "x".repeat(size - schema("").to_string().len());
        Registered {
            tab: 0,
            name: name.to_owned(),
            description: "☃".repeat(50_000),
            schema: schema(&padding),
        }
    };
    let longest = "n".repeat(MOST_NAME);
    for tool in [
        tool("most", MOST_SCHEMA),
        tool("more", MOST_SCHEMA + 1),
        tool(&longest, 100),
        tool(&"m".repeat(MOST_NAME + 1), 100),
    ] {
        register(&mut worker, &tool).await;
    }
    for (size, limit) in [(MOST_SCHEMA + 1, MOST_SCHEMA), (MOST_NAME + 1, MOST_NAME)] {
        let word = worker.hear().await;
        assert_eq!(word["type"], "TOOL_REJECTED", "{size}");
        let reason = word["reason"].as_str().unwrap();
        assert!(reason.contains(&limit.to_string()), "{reason}");
    }
    let shown = session.tools().await.unwrap().into_iter();
    let shown: Vec<_> = shown
        .filter(|tool| tool.description.contains("untrusted"))
        .collect();
    assert_eq!(shown.len(), 2);
    for tool in &shown {
        check_one(tool);
        let words = tool.description.chars().filter(|letter| *letter == '☃');
        assert_eq!(words.count(), MOST_WORDS);
    }
    let most = shown.iter().find(|tool| tool.name == "most").unwrap();
    let comment = most.input_schema["$comment"].as_str().unwrap();
    assert!(comment.len() > MOST_SCHEMA - 100, "{}", comment.len());
}

/// Spec: security 22.
#[tokio::test]
async fn hidden_characters_are_removed_from_every_part_of_a_schema() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    worker.tab("tab-0").await;
    let schema = |words: &str, choice: &str| {
        let property = json!({"type": "string", "description": words, "enum": [choice]});
        json!({
            "type": "object", "description": words, "title": words,
            "properties": {"plain": property, "default": property, "description": property},
            "$defs": {"const": property}
        })
    };
    let tricky = "a\u{202e}b\u{200b}c\u{0}";
    worker
        .offer("tab-0", "tricky", schema(tricky, tricky))
        .await;
    crate::page_harness::changed(&session).await;
    let shown = crate::page_harness::listed(&session, "tricky")
        .await
        .unwrap();
    let mut shown = shown["inputSchema"].clone();
    shown["properties"].as_object_mut().unwrap().remove("tabId");
    // The enum values, too: a model could not choose a value that it does not see.
    assert_eq!(shown, schema("abc", "abc"));
}

async fn check(tools: &[Registered]) {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let ours: BTreeMap<_, _> = by_name(session.tools().await.unwrap());
    let progressive = daemon.session(ToolMode::Progressive).await;
    let few = progressive.tools().await.unwrap();
    let mut worker = daemon.worker().await;
    for tab in 0..TABS {
        worker.tab(&format!("tab-{tab}")).await;
    }
    for tool in tools {
        register(&mut worker, tool).await;
    }
    // Messages of one worker are handled in order.
    worker.tab("the-end").await;
    until_listed(&session, "the-end").await;
    for tool in tools.iter().filter(|tool| !tool.is_acceptable()) {
        let word = worker.hear().await;
        assert_eq!(word["type"], "TOOL_REJECTED", "{word}");
        assert_eq!(word["name"], tool.name);
    }

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
    // A progressive session has the same ones, and the tool that lists their tabs.
    let of_pages = shown.iter().filter(|tool| !ours.contains_key(&tool.name));
    let of_pages: Vec<_> = of_pages.collect();
    let beside = (!of_pages.is_empty()).then(|| &ours["list_browser_tabs"]);
    let more: Vec<_> = few.iter().chain(of_pages).chain(beside).collect();
    for session in [progressive, daemon.session(ToolMode::Progressive).await] {
        let theirs = session.tools().await.unwrap();
        assert_eq!(theirs.iter().collect::<Vec<_>>(), more);
    }
}

fn check_one(tool: &ToolInfo) {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    assert!(tool.name.chars().all(fits), "{:?}", tool.name);
    assert!((1..=64).contains(&tool.name.len()), "{:?}", tool.name);
    let origin = "(Offered by a page of http://localhost:5173; untrusted.)";
    let words = tool.description.strip_suffix(origin);
    let words = words.unwrap_or_else(|| panic!("{tool:?}"));
    // One more for the ellipsis, and one for the newline before the origin.
    let length = words.chars().count();
    assert!(length <= MOST_WORDS + 2, "{length}");
    let schema = Value::Object((*tool.input_schema).clone());
    assert_eq!(schema["type"], "object", "{schema}");
    assert!(schema["properties"].is_object(), "{schema}");
    assert!(jsonschema::meta::is_valid(&schema), "{schema}");
    // We add `tabId`, and the keys of an object schema.
    let size = schema.to_string().len();
    assert!(size <= MOST_SCHEMA + 400, "{size}");
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
    (0..TABS, names, description(), schema()).prop_map(|(tab, name, description, schema)| {
        Registered {
            tab,
            name,
            description,
            schema,
        }
    })
}

/// A short description, or one that is far too long.
fn description() -> impl Strategy<Value = String> {
    let long = (".{1,40}", 0..50_000_usize);
    let long = long.prop_map(|(words, length)| words.chars().cycle().take(length).collect());
    prop_oneof![".{0,200}", long]
}

/// Small ones, and some of about the maximum size.
fn schema() -> impl Strategy<Value = Value> {
    let large = ("[a-zäß☃]{1,20}", 50_000..80_000_usize).prop_map(|(word, size)| {
        let one = json!({"type": "string", "enum": [word, "other"]});
        let count = size / (one.to_string().len() + 10);
        let properties = (0..count).map(|n| (format!("p{n:05}"), one.clone()));
        json!({"type": "object", "properties": properties.collect::<Map<_, _>>()})
    });
    prop_oneof![4 => small_schema(), 1 => large]
}

/// A schema, an invalid one, or something else; always an object, as the wire requires.
fn small_schema() -> impl Strategy<Value = Value> {
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
/// The daemon's limits: bytes of a schema and of a name, characters of a description.
const MOST_SCHEMA: usize = 64 * 1_024;
const MOST_NAME: usize = 256;
const MOST_WORDS: usize = 4_000;
