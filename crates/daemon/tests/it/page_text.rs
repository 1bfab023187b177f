//! Invisible characters in page text are removed on every path to a client, and a huge reply fails only its own call.

use crate::page_harness::{Daemon, Worker, changed, listed, request};
use serde_json::{Value, json};
use tabmux_daemon::Handle;
use tabmux_protocol::Backend;
use tabmux_protocol::session::ToolMode;

/// Each kind of character that is invisible, or changes how others are displayed.
const HIDDEN: &[char] = &[
    '\u{1}',
    '\u{1b}',
    '\u{7f}',
    '\u{9b}',
    '\u{ad}',
    '\u{61c}',
    '\u{180e}',
    '\u{200b}',
    '\u{200e}',
    '\u{202e}',
    '\u{2066}',
    '\u{2069}',
    '\u{206a}',
    '\u{3164}',
    '\u{fe00}',
    '\u{feff}',
    '\u{fff9}',
    '\u{e0001}',
    '\u{e0041}',
    '\u{e007f}',
    '\u{e0100}',
];

#[tokio::test]
async fn invisible_characters_of_pages_are_always_removed() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    let bad: String = HIDDEN.iter().collect();
    let dirty = format!("a{bad}b");
    worker
        .say(json!({
            "type": "REGISTER_TAB", "tabId": "tab-1", "documentId": "doc", "title": dirty, "visible": true,
            "url": format!("http://localhost:5173/#{dirty}"), "focused": false, "lastSeen": 0
        }))
        .await;
    let part = json!({"type": "string", "title": dirty, "description": dirty, "enum": [dirty], "default": dirty});
    worker
        .say(json!({
            "type": "REGISTER_TOOL", "tabId": "tab-1", "name": "who", "description": dirty,
            "inputSchema": {"type": "object", "$comment": dirty, "properties": {"plain": part, &dirty: part}},
            "handlerType": "proxy", "webMcp": false
        }))
        .await;
    changed(&session).await;
    let mut ways = vec![("the list", listed(&session, "who").await.unwrap())];
    for tool in ["list_browser_tabs", "list_page_tools"] {
        let reply = session.call(request(tool, &json!({}))).await.unwrap();
        ways.push((tool, serde_json::to_value(reply).unwrap()));
    }
    let answers = [
        json!({"success": true, "result": {"content": [{"type": "text", "text": dirty}]}}),
        json!({"success": true, "result": {"content": [{"type": "other", "x": dirty}]}}),
        json!({"success": true, "result": {"content": [], "structuredContent": {&dirty: [dirty]}}}),
        json!({"success": true, "result": {&dirty: dirty}}),
        json!({"success": false, "error": dirty, "code": "failed"}),
        json!({"success": false, "error": dirty, "code": "gone"}),
    ];
    for answer in answers {
        ways.push(("an answer", answered(&session, &mut worker, answer).await));
    }
    for (way, told) in ways {
        let texts = texts(&told);
        assert!(texts.iter().any(|text| text.contains('a')), "{way}");
        for text in texts {
            let hidden: Vec<_> = text.chars().filter(|c| HIDDEN.contains(c)).collect();
            assert!(hidden.is_empty(), "{way}: {hidden:?} in {text:?}");
        }
    }
}

#[tokio::test]
async fn an_answer_of_control_characters_costs_no_more_than_its_call() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    worker.tab("tab-1").await;
    worker.tool("tab-1", "who").await;
    changed(&session).await;
    // Escaped twice on arrival, and six times as long when it is sent.
    let data = "\u{1}".repeat(4_000_000);
    let picture = json!({"type": "image", "data": data, "mimeType": "image/png"});
    let answer = json!({"success": true, "result": {"content": [picture]}});
    let told = answered(&session, &mut worker, answer).await;
    assert_eq!(
        told["content"],
        json!([{"type": "text", "text": "[A picture was left out: it is not valid base64.]"}])
    );
    let (reply, _) = tokio::join!(session.call(request("who", &json!({}))), worker.answers());
    assert!(!reply.unwrap().is_error);
}

/// The session's reply if the page answers its call with this.
async fn answered(session: &Handle, worker: &mut Worker, mut answer: Value) -> Value {
    let arguments = json!({});
    let (reply, ()) = tokio::join!(session.call(request("who", &arguments)), async {
        let call = worker.hear().await;
        assert_eq!(call["type"], "CALL_TOOL", "{call}");
        answer["type"] = json!("TOOL_CALL_RESULT");
        answer["callId"] = call["callId"].clone();
        worker.say(answer).await;
    });
    serde_json::to_value(reply.unwrap()).unwrap()
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
