//! Serving ends at once and cleanly, whatever the reason.

use crate::{eras::listen, server_harness::ServerHarness};
use serde_json::json;
use std::io;
use tabmux_mcp::ServeError;
use tabmux_testkit::{McpClient, patiently};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

#[tokio::test]
async fn the_end_of_input_ends_the_server() {
    let (server_harness, client) = ServerHarness::set().await;
    client.close_input().await;
    client.wait_for_end_of_output().await;
    assert_eq!(server_harness.served().await, Ok(()));
}

#[tokio::test]
async fn the_end_of_input_before_the_first_message_ends_the_server() {
    let (server_harness, client) = ServerHarness::set_silent();
    client.close_input().await;
    client.wait_for_end_of_output().await;
    assert_eq!(server_harness.served().await, Ok(()));
}

#[tokio::test]
async fn calls_that_still_run_are_cancelled() {
    let (mut server_harness, client) = ServerHarness::set().await;
    let pending = client.begin_call("wait", json!({})).await;
    let call = server_harness.next_call().await;
    client.close_input().await;
    assert_eq!(
        server_harness.next_cancelled().await,
        call.request.request_id
    );
    client.wait_for_end_of_output().await;
    assert_eq!(pending.answer().await.unwrap_err().code, -32603);
    assert_eq!(server_harness.served().await, Ok(()));
}

#[tokio::test]
async fn subscriptions_are_closed_gracefully() {
    let (server_harness, client) = ServerHarness::set_2026();
    let pending = client.begin("subscriptions/listen", listen()).await;
    client.next_notification().await;
    client.close_input().await;
    assert_eq!(pending.answer().await.unwrap()["resultType"], "complete");
    assert_eq!(server_harness.served().await, Ok(()));
}

#[tokio::test]
async fn last_messages_are_answered_before_the_end() {
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#;
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    for (said, expected) in [
        ("garbage\n".to_owned(), 1),
        ("garbage without an end".to_owned(), 1),
        (format!("{hello}\n{list}\n"), 2),
        (format!("{hello}\n{list}"), 2),
    ] {
        let (server_harness, mut input, mut output) = ServerHarness::set_bare(1 << 20);
        output.write_all(said.as_bytes()).await.unwrap();
        output.shutdown().await.unwrap();
        let mut answers = String::new();
        patiently(input.read_to_string(&mut answers), || said.clone())
            .await
            .unwrap();
        assert_eq!(answers.lines().count(), expected, "{said}: {answers}");
        assert_eq!(server_harness.served().await, Ok(()));
    }
}

#[tokio::test]
async fn a_client_that_closes_its_output_ends_the_server() {
    let (server_harness, answers, mut questions) = ServerHarness::set_bare(1 << 20);
    drop(answers);
    questions.write_all(b"garbage\n").await.unwrap();
    let result = server_harness.served().await;
    let closed = io::ErrorKind::BrokenPipe;
    assert_eq!(result, Err(ServeError::Write { kind: closed }));
}

#[tokio::test]
async fn a_backend_that_is_gone_ends_the_server() {
    let (server_harness, client) = ServerHarness::set().await;
    let serving = server_harness.lose_backend();
    client.wait_for_end_of_output().await;
    let result = patiently(serving, || "the server to end".into()).await;
    assert_eq!(result.unwrap(), Err(ServeError::BackendGone));
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_not_read_from_any_more() {
    let (_stage, answers, mut questions) = ServerHarness::set_bare(1 << 10);
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n".repeat(5_000);
    // The server would have to keep 5,000 answers if it kept reading.
    let all_read = questions.write_all(ping.as_bytes());
    tokio::select! {
        biased;
        result = all_read => panic!("everything was read: {result:?}"),
        () = until_idle() => {}
    }
    let client = McpClient::over(answers, questions);
    client
        .wait("the first answer", |messages| {
            (!messages.is_empty()).then_some(())
        })
        .await;
}

// On a runtime of one thread, all other tasks are idle after this many yields.
async fn until_idle() {
    for _ in 0..10_000 {
        tokio::task::yield_now().await;
    }
}
