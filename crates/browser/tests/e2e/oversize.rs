//! A page makes Chrome send too much: only that call or message is lost.

use crate::harness::BrowserHarness;
use serde_json::json;
use tabmux_browser::{Source, Tab};
use tabmux_testkit::{Chromium, Response, real_browser};

#[tokio::test]
async fn a_huge_text_affects_only_its_own_call_over_the_pipe() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    // Chrome writes each of these characters in six bytes.
    harms_nobody(&harness, 95_000_000).await;
}

#[tokio::test]
async fn a_huge_text_affects_only_its_own_call_over_the_websocket() {
    let Some(executable) = real_browser() else {
        return;
    };
    let chromium = Chromium::start(&executable);
    let source = Source::WebSocket(chromium.websocket_url().to_owned().into());
    // Chrome itself does not send more than 256 MB there.
    harms_nobody(&BrowserHarness::connect(&source).await, 30_000_000).await;
}

async fn harms_nobody(harness: &BrowserHarness, length: usize) {
    let huge = format!(r"'\u0001'.repeat({length})");
    harness.server.route(
        "/page",
        Response::html("<title>t</title><button>Press</button>"),
    );
    let (loud, other) = (harness.open("page").await, harness.open("page").await);
    works(harness, &other).await;

    let written = format!("() => {{ console.log({huge}); console.warn('after'); }}");
    script(harness, &loud, &written).await;
    let list = harness
        .text(&loud, "list_console_messages", json!({}))
        .await;
    assert!(list.contains("[log] (a message of "), "{list}");
    assert!(list.contains("too large to be kept)"), "{list}");
    assert!(list.contains("[warn] after"), "{list}");
    works(harness, &other).await;

    // A function's result is cut in the page; Chrome sends a script's result completely.
    let cut = format!("the result has {} characters", length + 2);
    for function in [format!("() => {huge}"), format!("async () => {huge}")] {
        let shown = script(harness, &loud, &function).await;
        assert!(shown.contains(&cut), "{}", &shown[shown.len() - 200..]);
    }
    let arguments = json!({ "function": huge, "format": "script" });
    let error = harness.error(&loud, "evaluate_script", arguments).await;
    let refused = "Chrome's response to Runtime.evaluate has ";
    assert!(error.starts_with(refused), "{error}");
    works(harness, &loud).await;
    works(harness, &other).await;
}

async fn script(harness: &BrowserHarness, tab: &Tab, function: &str) -> String {
    harness
        .text(tab, "evaluate_script", json!({ "function": function }))
        .await
}

/// Checks that the tab still works.
async fn works(harness: &BrowserHarness, tab: &Tab) {
    let snapshot = harness.text(tab, "take_snapshot", json!({})).await;
    assert!(snapshot.contains("button \"Press\""), "{snapshot}");
}

#[tokio::test]
async fn a_long_result_is_written_to_a_file_in_parts_and_nothing_of_it_is_lost() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("page").await;
    let path = harness.files.path().join("out.json");
    let text = r"'\u{1F600}ä\u0001'.repeat(1_200_000)";
    for (function, whole) in [
        (format!("() => {text}"), false),
        (format!("() => [{text}]"), true),
    ] {
        let arguments = json!({ "function": function, "filePath": path });
        harness.text(&tab, "evaluate_script", arguments).await;
        let written = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let value: serde_json::Value = serde_json::from_str(&written).unwrap();
        let value = if whole { &value[0] } else { &value };
        assert!(value.as_str().unwrap() == "\u{1F600}ä\u{1}".repeat(1_200_000));
    }
}
