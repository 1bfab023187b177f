//! The order that is kept although requests run concurrently.

use crate::{eras::listen, server_harness::ServerHarness};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_reach_the_backend_in_the_order_they_were_written() {
    let (mut server_harness, client) = ServerHarness::set().await;
    for number in 0..500 {
        client.begin_call("act", json!({"number": number})).await;
    }
    for number in 0..500 {
        let call = server_harness.next_call().await;
        assert_eq!(call.arguments(), json!({"number": number}));
        call.reply("");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_change_before_an_answer_is_sent_before_the_answer() {
    for modern in [false, true] {
        let (mut server_harness, client) = if modern {
            let (server_harness, client) = ServerHarness::set_2026();
            client.begin("subscriptions/listen", listen()).await;
            client.next_notification().await;
            (server_harness, client)
        } else {
            ServerHarness::set().await
        };
        for _ in 0..300 {
            let pending = client.begin_call("focus_tab", json!({})).await;
            let call = server_harness.next_call().await;
            server_harness.change_tools();
            call.reply("focused");
            pending.tool_reply().await;
            let told = client.take_notifications_before(pending.id());
            assert_eq!(told.len(), 1, "{}", client.transcript());
        }
    }
}

#[tokio::test]
async fn a_client_may_send_everything_at_once() {
    let (mut server_harness, client) = ServerHarness::set_silent();
    let hello = json!({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "script", "version": "0"},
    }});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x"}});
    client.send_raw(format!("{hello}\n{ready}\n{call}")).await;
    let call = server_harness.next_call().await;
    server_harness.change_tools();
    call.reply("done");
    client
        .wait("the answer", |messages| {
            let answered = |message: &tabmux_testkit::Message| message.is_answer_to(&json!(1));
            messages.iter().any(answered).then_some(())
        })
        .await;
    assert_eq!(client.take_notifications_before(&json!(1)).len(), 1);
}
