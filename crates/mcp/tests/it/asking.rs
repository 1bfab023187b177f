//! Questions to the user: asked by the client, answered once, and withdrawn when the call is cancelled.

use crate::server_harness::ServerHarness;
use serde_json::{Value, json};
use tabmux_protocol::{Asking, CallReply, Decision};
use tabmux_testkit::McpClient;

/// A client of the handshake era that can show forms.
async fn legacy(capability: Value) -> (ServerHarness, McpClient) {
    let (server_harness, mut client) = ServerHarness::set_silent();
    client.can(json!({ "elicitation": capability }));
    client.initialize().await;
    (server_harness, client)
}

fn question() -> CallReply {
    CallReply::question("ask-1".into(), "May it?\nTool: \"buy\"".into())
}

fn said(allowed: bool) -> Option<Decision> {
    let question = "ask-1".into();
    Some(Decision { question, allowed })
}

/// Spec: security 24.
#[tokio::test]
async fn a_person_agrees_and_the_call_goes_on() {
    for capability in [
        json!({}),
        json!({"form": {}}),
        json!({"form": {}, "url": {}}),
    ] {
        let (mut server_harness, client) = legacy(capability).await;
        let pending = client.begin_call("ant", json!({"a": 1})).await;
        let call = server_harness.next_call().await;
        let can_ask = true;
        assert_eq!(
            call.request.asking,
            Asking {
                can_ask,
                word: None
            }
        );
        let first = call.request.request_id.clone();
        call.finish(Ok(question()));
        let asked = client.nth_request(0).await;
        assert_eq!(asked["method"], "elicitation/create");
        assert_eq!(asked["params"]["message"], "May it?\nTool: \"buy\"");
        let schema = &asked["params"]["requestedSchema"];
        assert_eq!(schema["properties"]["run"]["type"], "boolean");
        assert_eq!(schema["required"], json!(["run"]));
        client
            .answer(
                &asked,
                json!({"action": "accept", "content": {"run": true}}),
            )
            .await;
        let again = server_harness.next_call().await;
        assert_eq!(again.request.asking.word, said(true));
        assert_eq!(again.request.request_id, first);
        assert_eq!(again.arguments(), json!({"a": 1}));
        again.reply("bought");
        assert_eq!(pending.tool_reply().await.ok().text(), "bought");
    }
}

/// Spec: security 24.
#[tokio::test]
async fn only_a_yes_is_a_yes() {
    for answer in [
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
        json!({"action": "accept"}),
        json!({"action": "accept", "content": {}}),
        json!({"action": "accept", "content": {"run": false}}),
        json!({"action": "accept", "content": {"run": "true"}}),
        json!({"action": "decline", "content": {"run": true}}),
        json!({}),
    ] {
        let (mut server_harness, client) = legacy(json!({})).await;
        let pending = client.begin_call("ant", json!({})).await;
        server_harness.next_call().await.finish(Ok(question()));
        let asked = client.nth_request(0).await;
        client.answer(&asked, answer.clone()).await;
        let again = server_harness.next_call().await;
        assert_eq!(again.request.asking.word, said(false), "{answer}");
        again.finish(Ok(CallReply::error("no")));
        pending.tool_reply().await.expect_error();
    }
    // An error is not a yes either.
    let (mut server_harness, client) = legacy(json!({})).await;
    let _pending = client.begin_call("ant", json!({})).await;
    server_harness.next_call().await.finish(Ok(question()));
    let asked = client.nth_request(0).await;
    let error =
        json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -1, "message": "no"}});
    client.send_raw(error.to_string()).await;
    assert_eq!(
        server_harness.next_call().await.request.asking.word,
        said(false)
    );
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_not_asked() {
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}})] {
        let (mut server_harness, mut client) = ServerHarness::set_silent();
        client.can(capabilities);
        client.initialize().await;
        let _pending = client.begin_call("ant", json!({})).await;
        assert_eq!(
            server_harness.next_call().await.request.asking,
            Asking::default()
        );
    }
}

#[tokio::test]
async fn a_cancelled_call_withdraws_its_question() {
    let (mut server_harness, client) = legacy(json!({})).await;
    let pending = client.begin_call("ant", json!({})).await;
    server_harness.next_call().await.finish(Ok(question()));
    let asked = client.nth_request(0).await;
    let cancel = json!({"requestId": pending.id()});
    client.notify("notifications/cancelled", cancel).await;
    let notice = client.next_notification().await;
    assert_eq!(notice["method"], "notifications/cancelled");
    assert_eq!(notice["params"]["requestId"], asked["id"]);
    server_harness.next_cancelled().await;
    // A late answer has no effect.
    let yes = json!({"action": "accept", "content": {"run": true}});
    client.answer(&asked, yes).await;
    let next = client.begin_call("ant", json!({"next": true})).await;
    let call = server_harness.next_call().await;
    assert_eq!(call.arguments(), json!({"next": true}));
    call.reply("fine");
    next.tool_reply().await.ok();
}

#[tokio::test]
async fn the_wait_is_reported_as_progress() {
    let (mut server_harness, client) = legacy(json!({})).await;
    let params = json!({"name": "ant", "arguments": {}, "_meta": {"progressToken": 7}});
    let _pending = client.begin("tools/call", params).await;
    server_harness.next_call().await.finish(Ok(question()));
    let notice = client.next_notification().await;
    assert_eq!(notice["method"], "notifications/progress");
    assert_eq!(
        notice["params"]["message"],
        "Waiting for an answer to the question whether this may run."
    );
}

/// Spec: security 24.
#[tokio::test]
async fn a_client_of_2026_asks_and_calls_again() {
    let (mut server_harness, mut client) = ServerHarness::set_silent();
    client.can(json!({"elicitation": {"form": {}}}));
    client.speak_2026();
    for (said_by_person, allowed) in [
        (
            json!({"confirm": {"action": "accept", "content": {"run": true}}}),
            true,
        ),
        (json!({"confirm": {"action": "decline"}}), false),
        (json!({}), false),
    ] {
        let pending = client.begin_call("ant", json!({"a": 1})).await;
        let call = server_harness.next_call().await;
        assert!(call.request.asking.can_ask);
        call.finish(Ok(question()));
        let result = pending.answer().await.unwrap();
        assert_eq!(result["resultType"], "input_required");
        assert_eq!(result["requestState"], "ask-1");
        let asked = &result["inputRequests"]["confirm"];
        assert_eq!(asked["method"], "elicitation/create");
        assert_eq!(asked["params"]["message"], "May it?\nTool: \"buy\"");
        let params = json!({
            "name": "ant", "arguments": {"a": 1}, "requestState": "ask-1", "inputResponses": said_by_person,
        });
        let pending = client.begin("tools/call", params).await;
        let again = server_harness.next_call().await;
        assert_eq!(again.request.asking.word, said(allowed));
        again.reply("done");
        assert_eq!(pending.tool_reply().await.ok().text(), "done");
    }
    // A client that cannot ask has no answer to give.
    let (mut server_harness, mut client) = ServerHarness::set_silent();
    client.speak_2026();
    let params = json!({"name": "ant", "requestState": "ask-1", "inputResponses": {}});
    let _pending = client.begin("tools/call", params).await;
    assert_eq!(
        server_harness.next_call().await.request.asking,
        Asking::default()
    );
}
