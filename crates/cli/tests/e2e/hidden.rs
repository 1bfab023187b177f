//! Characters that nobody sees do not leave a page, and calls that are too large fail alone: with a real page, all the way.

use crate::crowd::Crowd;
use crate::desk::page;
use serde_json::{Value, json};

/// Each kind of character that is not seen, or that changes how others are.
const HIDDEN: &[char] = &[
    '\u{1b}',
    '\u{9b}',
    '\u{ad}',
    '\u{61c}',
    '\u{200b}',
    '\u{200e}',
    '\u{202e}',
    '\u{2066}',
    '\u{206a}',
    '\u{3164}',
    '\u{feff}',
    '\u{e0041}',
    '\u{e007f}',
    '\u{e0100}',
];

#[tokio::test(flavor = "multi_thread")]
async fn no_character_that_is_not_seen_leaves_a_page_through_any_tool() {
    let Some(crowd) = Crowd::gather() else { return };
    // With every tool in its list.
    let client = crowd.client(&[]).await;
    let bad: String = HIDDEN.iter().collect();
    let dirty = format!("a{bad}b");
    let script = format!(
        "<script>const dirty = {}; document.title = dirty; document.body.append(dirty);\
         for (const name of ['button', 'h1']) {{ const it = document.createElement(name); it.textContent = dirty;\
         it.title = dirty; it.setAttribute('aria-label', dirty); document.body.append(it); }}\
         console.log(dirty, {{[dirty]: dirty}}); console.error(new Error(dirty));\
         location.hash = dirty; fetch('/dirty?' + dirty);</script>",
        json!(dirty)
    );
    crowd.pages.route("/page", page("Dirty", &script));
    crowd.pages.route("/dirty", page(&dirty, &dirty));
    let url = json!({"url": crowd.pages.url("/page")});
    client.call_tool("new_page", url).await.ok();
    for (tool, arguments) in [
        ("take_snapshot", json!({})),
        ("take_snapshot", json!({"verbose": true})),
        ("find", json!({"text": "a"})),
        ("list_pages", json!({})),
        ("list_console_messages", json!({})),
        ("get_console_message", json!({"msgid": 1})),
        ("get_console_message", json!({"msgid": 2})),
        ("list_network_requests", json!({})),
        ("get_network_request", json!({"reqid": 2})),
        ("evaluate_script", json!({"function": "() => dirty"})),
        (
            "evaluate_script",
            json!({"function": "() => ({[dirty]: [dirty]})"}),
        ),
        (
            "evaluate_script",
            json!({"function": "() => { throw new Error(dirty); }"}),
        ),
        (
            "evaluate_script",
            json!({"function": "() => Symbol(dirty)"}),
        ),
    ] {
        let call = json!({"name": tool, "arguments": arguments});
        let told = client.request("tools/call", call).await.unwrap();
        // A refusal of ours would show nothing of the page.
        let fails = ["throw", "Symbol"].map(|word| arguments.to_string().contains(word));
        let failed = told["isError"] == true;
        assert_eq!(failed, fails.contains(&true), "{tool}: {told}");
        let texts = texts(&told);
        assert!(texts.iter().any(|text| text.contains('a')), "{tool}");
        for text in texts {
            let hidden: Vec<_> = text.chars().filter(|c| HIDDEN.contains(c)).collect();
            assert!(
                hidden.is_empty(),
                "{hidden:?} by {tool} {arguments}: {text:?}"
            );
        }
    }
    // What a script returns is written out, and says the same.
    let function = json!({"function": "() => dirty"});
    let told = client.call_tool("evaluate_script", function).await.ok();
    let told: String = serde_json::from_str(&told.text()).unwrap();
    assert_eq!(told, dirty);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_as_long_as_a_line_may_be_fails_alone_and_the_tab_is_kept() {
    let Some(crowd) = Crowd::gather() else { return };
    crowd.pages.route("/page", page("Long", "<p>here</p>"));
    let client = crowd.client(&[]).await;
    let url = json!({"url": crowd.pages.url("/page")});
    client.call_tool("navigate_page", url).await.ok();
    // As long as a line of MCP may be, and longer.
    for (length, limit) in [(16 << 20, "4 MiB"), ((16 << 20) + 300, "16 MiB")] {
        let function = format!("() => 1 //{}", "x".repeat(length - 130));
        let call = json!({"name": "evaluate_script", "arguments": {"function": function}});
        let told = format!("{:?}", client.request("tools/call", call).await);
        assert!(told.contains(limit), "{}", &told[..told.len().min(300)]);
        let snapshot = client
            .call_tool("take_snapshot", json!({}))
            .await
            .ok()
            .text();
        assert!(snapshot.contains("here"), "{snapshot}");
    }
}

/// All texts in a value, names included.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => {
            let inside = fields.values().flat_map(texts);
            fields.keys().map(String::as_str).chain(inside).collect()
        }
        _ => Vec::new(),
    }
}
