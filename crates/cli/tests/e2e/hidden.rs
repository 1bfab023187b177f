//! Invisible characters do not leave a page, and calls that are too large fail without side effects: end to end.

use crate::crowd::Crowd;
use crate::harness::page;
use serde_json::{Value, json};

/// Each kind of character that is invisible, or that changes how others look.
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
async fn no_invisible_character_leaves_a_page_through_any_tool() {
    let Some(crowd) = Crowd::gather() else { return };
    // With every tool listed.
    let client = crowd.client(&[]).await;
    let bad: String = HIDDEN.iter().collect();
    let dirty = format!("a{bad}b");
    let script = format!(
        "<body><script>const dirty = {}; document.title = dirty; document.body.append(dirty);\
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
    let list = async |tool| client.call_tool(tool, json!({})).await.ok().text();
    let messages = numbers(&list("list_console_messages").await, "msgid=");
    let requests = list("list_network_requests").await;
    assert!(requests.contains("/dirty?"), "{requests}");
    let requests = numbers(&requests, "reqid=");
    assert!(
        messages.len() >= 2 && requests.len() >= 2,
        "{messages:?} {requests:?}"
    );
    let messages = messages
        .iter()
        .map(|it| ("get_console_message", json!({"msgid": it})));
    let requests = requests
        .iter()
        .map(|it| ("get_network_request", json!({"reqid": it})));
    let calls = [
        ("take_snapshot", json!({})),
        ("take_snapshot", json!({"verbose": true})),
        ("find", json!({"text": "a"})),
        ("read_page", json!({"scope": "all"})),
        ("list_pages", json!({})),
        ("list_console_messages", json!({})),
        ("list_network_requests", json!({})),
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
    ];
    for (tool, arguments) in calls.into_iter().chain(messages).chain(requests) {
        let call = json!({"name": tool, "arguments": arguments});
        let told = client.request("tools/call", call).await.unwrap();
        // An error of ours would not show text of the page.
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
    // The result of a script is escaped, and has the same meaning.
    let function = json!({"function": "() => dirty"});
    let told = client.call_tool("evaluate_script", function).await.ok();
    let told: String = serde_json::from_str(&told.text()).unwrap();
    assert_eq!(told, dirty);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_too_long_fails_and_the_tab_is_kept() {
    let Some(crowd) = Crowd::gather() else { return };
    crowd.pages.route("/page", page("Long", "<p>here</p>"));
    let client = crowd.client(&[]).await;
    let url = json!({"url": crowd.pages.url("/page")});
    client.call_tool("navigate_page", url).await.ok();
    // As long as an MCP line may be, and longer.
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

/// The numbers of the lines of a list.
fn numbers(list: &str, sign: &str) -> Vec<u64> {
    let parts = list.split(sign).skip(1);
    let digits = |part: &str| {
        part.chars()
            .take_while(char::is_ascii_digit)
            .collect::<String>()
    };
    parts.filter_map(|part| digits(part).parse().ok()).collect()
}

/// All strings in a value, names included.
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
