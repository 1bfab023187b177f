//! Calls: what goes in, what comes out, progress, cancellation.

use crate::server_harness::ServerHarness;
use serde_json::{json, value::to_raw_value};
use std::time::Duration;
use tabmux_protocol::{BackendEvent, CallFailure, CallReply, Content, Progress};

#[tokio::test]
async fn a_call_and_its_reply_pass_unchanged() {
    for modern in [false, true] {
        let (mut server_harness, client) = if modern {
            ServerHarness::set_2026()
        } else {
            ServerHarness::set().await
        };
        let arguments = json!({"url": "http://x/ä", "deep": [1, {"n": 2.5}], "none": null});
        let pending = client.begin_call("open_tab", arguments.clone()).await;
        let call = server_harness.next_call().await;
        assert_eq!(call.request.tool, "open_tab");
        assert_eq!(call.arguments(), arguments);
        assert!(!call.request.progress);
        call.finish(Ok(CallReply {
            content: vec![
                Content::Text {
                    text: "line\n\"two\" \u{2028}".into(),
                },
                Content::Image {
                    data: "AAAA".into(),
                    mime_type: "image/png".into(),
                },
            ],
            structured: Some(to_raw_value(&json!({"tab": {"id": 1}})).unwrap()),
            is_error: true,
            question: None,
        }));
        let mut expected = json!({
            "content": [
                {"type": "text", "text": "line\n\"two\" \u{2028}"},
                {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            ],
            "structuredContent": {"tab": {"id": 1}},
            "isError": true,
        });
        if modern {
            expected["resultType"] = json!("complete");
        }
        assert_eq!(pending.answer().await, Ok(expected));
    }
}

#[tokio::test]
async fn missing_arguments_are_an_empty_object() {
    let (mut server_harness, client) = ServerHarness::set().await;
    for params in [
        json!({"name": "list_tabs"}),
        json!({"name": "list_tabs", "arguments": null}),
        json!({"name": "list_tabs", "arguments": {}}),
    ] {
        client.begin("tools/call", params).await;
        let call = server_harness.next_call().await;
        assert_eq!(call.request.arguments.get(), "{}");
    }
}

#[tokio::test]
async fn failures_and_unreadable_params_are_json_rpc_errors() {
    let (mut server_harness, client) = ServerHarness::set().await;
    for (failure, code) in [
        (
            CallFailure::UnknownTool {
                name: "nope".into(),
            },
            -32602,
        ),
        (CallFailure::Closed, -32603),
    ] {
        let pending = client.begin_call("nope", json!({})).await;
        server_harness.next_call().await.finish(Err(failure));
        let error = pending.answer().await.unwrap_err();
        assert_eq!(error.code, code, "{error}");
    }
    for (method, params) in [
        ("tools/call", json!({"name": "x", "arguments": "text"})),
        ("tools/call", json!({"name": "x", "arguments": [1]})),
        ("tools/call", json!({"name": 5})),
        ("tools/call", json!({})),
        ("tools/list", json!({"cursor": "page 2"})),
        ("initialize", json!({"protocolVersion": 7})),
    ] {
        let error = client.request(method, params).await.unwrap_err();
        assert_eq!(error.code, -32602, "{method}: {error}");
    }
    client.call_tool_answered_by(&mut server_harness).await;
}

#[tokio::test]
async fn calls_run_at_the_same_time() {
    let (mut server_harness, client) = ServerHarness::set().await;
    let mut pending = Vec::new();
    let mut calls = Vec::new();
    for number in 0..10 {
        pending.push(client.begin_call("wait", json!({"number": number})).await);
        calls.push(server_harness.next_call().await);
    }
    for (number, call) in calls.into_iter().enumerate().rev() {
        call.reply(&number.to_string());
        assert_eq!(
            pending[number].tool_reply().await.text(),
            number.to_string()
        );
    }
}

#[tokio::test]
async fn too_many_calls_at_once_are_refused_and_later_ones_are_not() {
    let (mut server_harness, client) = ServerHarness::set().await;
    let mut calls = Vec::new();
    for _ in 0..1_024 {
        client.begin_call("wait", json!({})).await;
        calls.push(server_harness.next_call().await);
    }
    let refused = client.call_tool("wait", json!({})).await;
    assert!(refused.expect_error().contains("Too many calls"));
    calls.pop().unwrap().reply("done");
    client
        .wait("the first answer", |messages| {
            let done = |message: &tabmux_testkit::Message| message.to_string().contains("done");
            messages.iter().any(done).then_some(())
        })
        .await;
    client.call_tool_answered_by(&mut server_harness).await;
}

#[tokio::test]
async fn progress_rises_and_ends_with_the_call() {
    for modern in [false, true] {
        let (mut server_harness, client) = if modern {
            ServerHarness::set_2026()
        } else {
            ServerHarness::set().await
        };
        let params = json!({"name": "wait", "arguments": {}, "_meta": {"progressToken": "t1"}});
        let pending = client.begin("tools/call", params).await;
        let call = server_harness.next_call().await;
        assert!(call.request.progress);
        for value in [1.0, 2.0, 2.0, 1.5, f64::NAN, 3.0] {
            server_harness.progress(&call, value);
        }
        let name = call.request.request_id.clone();
        call.reply("done");
        pending.tool_reply().await;
        let told = client.take_notifications_before(pending.id());
        assert_eq!(
            told,
            [1.0, 2.0, 3.0].map(|value| json!({
                "jsonrpc": "2.0",
                "method": "notifications/progress",
                "params": {
                    "progressToken": "t1",
                    "progress": value,
                    "total": 10.0,
                    "message": format!("at {value}"),
                },
            }))
        );
        let progress = Progress {
            request_id: name,
            value: 9.0,
            total: None,
            message: None,
        };
        server_harness.emit(BackendEvent::Progress(progress));
        client.call_tool_answered_by(&mut server_harness).await;
        client.assert_no_notification().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_over_a_second_sends_heartbeats() {
    for modern in [false, true] {
        let (mut server_harness, client) = if modern {
            ServerHarness::set_2026()
        } else {
            ServerHarness::set().await
        };
        let params = json!({"name": "wait", "arguments": {}, "_meta": {"progressToken": "t1"}});
        let pending = client.begin("tools/call", params).await;
        let call = server_harness.next_call().await;
        let mut told = Vec::new();
        let mut hear = async |client: &tabmux_testkit::McpClient| {
            let notice = client.next_notification().await;
            assert_eq!(notice["method"], "notifications/progress");
            assert_eq!(notice["params"]["progressToken"], "t1");
            let value = notice["params"]["progress"].as_f64().unwrap();
            let message = notice["params"]["message"].as_str().unwrap().to_owned();
            told.push((value, message));
        };
        hear(&client).await;
        hear(&client).await;
        server_harness.emit(BackendEvent::Progress(Progress {
            request_id: call.request.request_id.clone(),
            value: 1.0,
            total: None,
            message: Some("Waiting for the browser to connect.".into()),
        }));
        hear(&client).await;
        hear(&client).await;
        let told: Vec<_> = told.iter().map(|(at, text)| (*at, text.as_str())).collect();
        assert_eq!(
            told,
            [
                (1.0, "Running wait (1 s)"),
                (2.0, "Running wait (2 s)"),
                (3.0, "Waiting for the browser to connect."),
                (4.0, "Waiting for the browser to connect (3 s)"),
            ]
        );
        call.reply("done");
        pending.tool_reply().await;
        tokio::time::advance(Duration::from_secs(5)).await;
        client.assert_no_notification().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_call_without_a_token_sends_no_progress() {
    let (mut server_harness, client) = ServerHarness::set().await;
    let pending = client.begin_call("wait", json!({})).await;
    let call = server_harness.next_call().await;
    tokio::time::advance(Duration::from_secs(10)).await;
    call.reply("done");
    pending.tool_reply().await;
    client.assert_no_notification().await;
}

#[tokio::test]
async fn progress_is_sent_only_on_request() {
    let (mut server_harness, client) = ServerHarness::set().await;
    let pending = client.begin_call("wait", json!({})).await;
    let call = server_harness.next_call().await;
    server_harness.progress(&call, 1.0);
    call.reply("done");
    pending.tool_reply().await;
    client.assert_no_notification().await;
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_in_the_backend_and_never_answered() {
    let (mut server_harness, client) = ServerHarness::set().await;
    let pending = client.begin_call("wait", json!({})).await;
    let other = client.begin_call("wait", json!({})).await;
    let call = server_harness.next_call().await;
    pending.cancel().await;
    assert_eq!(
        server_harness.next_cancelled().await,
        call.request.request_id
    );
    call.finish(Err(CallFailure::Cancelled));
    server_harness.next_call().await.reply("the other");
    assert_eq!(other.tool_reply().await.text(), "the other");
    client.assert_no_notification().await;
    assert!(!pending.is_answered());
}

#[tokio::test]
async fn an_answer_that_comes_after_the_cancel_is_dropped() {
    let (mut server_harness, client) = ServerHarness::set().await;
    let params = json!({"name": "wait", "arguments": {}, "_meta": {"progressToken": 5}});
    let pending = client.begin("tools/call", params).await;
    let call = server_harness.next_call().await;
    pending.cancel().await;
    server_harness.next_cancelled().await;
    server_harness.progress(&call, 1.0);
    call.reply("too late");
    client.call_tool_answered_by(&mut server_harness).await;
    client.assert_no_notification().await;
    assert!(!pending.is_answered());
}

#[tokio::test]
async fn cancelling_nothing_does_nothing() {
    let (mut server_harness, client) = ServerHarness::set().await;
    for params in [
        json!({"requestId": 99}),
        json!({"requestId": {}}),
        json!({}),
        json!(7),
    ] {
        client.notify("notifications/cancelled", params).await;
    }
    client.call_tool_answered_by(&mut server_harness).await;
}

/// One more call works as if nothing had happened.
pub(crate) trait StillAlive {
    async fn call_tool_answered_by(&self, server_harness: &mut ServerHarness);
}

impl StillAlive for tabmux_testkit::McpClient {
    async fn call_tool_answered_by(&self, server_harness: &mut ServerHarness) {
        let pending = self.begin_call("alive", json!({})).await;
        server_harness.next_call().await.reply("alive");
        assert_eq!(pending.tool_reply().await.text(), "alive");
    }
}
