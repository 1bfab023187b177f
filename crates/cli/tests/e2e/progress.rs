//! A client that asks for progress learns that a call is still running, and what it waits for.

use crate::crowd::Crowd;
use crate::harness::McpHarness;
use serde_json::{Value, json};
use tabmux_testkit::{McpClient, Message};

/// Makes calls that wait in one page, and waits until each has sent progress.
async fn hears_of_all(client: &McpClient) {
    let call = async |token: u64, tool: &str, arguments: Value| {
        let meta = json!({"progressToken": token});
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        client.begin("tools/call", params).await
    };
    let never = json!({"text": ["never"], "timeout": 60_000});
    let hang = json!({"function": "() => new Promise(() => {})"});
    let first = call(1, "wait_for", never).await;
    let second = call(2, "evaluate_script", hang.clone()).await;
    let third = call(3, "evaluate_script", hang).await;
    let told = |messages: &[Message], token: u64| {
        let received = messages.iter().filter_map(Message::as_received);
        let progress = received.filter(|it| it["method"] == "notifications/progress");
        let progress = progress.filter(|it| it["params"]["progressToken"] == token);
        let progress: Vec<Value> = progress.map(|it| it["params"].clone()).collect();
        progress
    };
    let says = |told: &[Value], words: &str| {
        let mut messages = told.iter().filter_map(|it| it["message"].as_str());
        messages.any(|message| message.starts_with(words))
    };
    client
        .wait("progress of three calls", |messages| {
            let all = [1, 2, 3].map(|token| told(messages, token));
            let is_rising = |told: &[Value]| {
                let values: Vec<_> = told.iter().map(|it| it["progress"].as_f64()).collect();
                values.is_sorted_by(|one, next| one < next)
            };
            assert!(all.iter().all(|told| is_rising(told)), "{all:?}");
            let heard = says(&all[0], "Running wait_for in page 1")
                && says(&all[1], "Running evaluate_script in page 1")
                && says(&all[2], "Waiting for earlier calls in page 1");
            let twice = all.iter().all(|told| told.len() > 1);
            (heard && twice).then_some(())
        })
        .await;
    for pending in [third, second, first] {
        pending.cancel().await;
    }
    client.call_tool("list_pages", json!({})).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn long_calls_report_what_they_wait_for_with_and_without_a_daemon() {
    let Some(crowd) = Crowd::gather() else { return };
    hears_of_all(&crowd.client(&[]).await).await;
    let Some(harness) = McpHarness::disconnected(&["--tools=static"]).await else {
        return;
    };
    hears_of_all(&harness.client).await;
}
