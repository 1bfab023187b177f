//! The client against a scripted server, and against processes.

use super::*;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream},
    process::Command,
};

#[tokio::test]
async fn answers_find_their_requests_whatever_the_order() {
    let (client, mut server) = pair();
    let (first, second) = (
        client.begin("a", json!({})).await,
        client.begin("b", json!({})).await,
    );
    assert!(!first.is_answered());
    server.expect("a").await;
    server.expect("b").await;
    server.say(json!({"id": 2, "result": "two"})).await;
    server
        .say(json!({"id": 1, "error": {"code": -32602, "message": "no"}}))
        .await;
    let error = first.answer().await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (-32602, "no"));
    assert_eq!(second.answer().await, Ok(json!("two")));
}

#[tokio::test]
async fn notifications_are_taken_once_and_only_up_to_the_barrier() {
    let (client, mut server) = pair();
    let told = |n: i64| json!({"method": "told", "params": n});
    let script = async {
        server.say(told(1)).await;
        server.say(told(2)).await;
        server.expect("ping").await;
        server.say(json!({"id": 1, "result": {}})).await;
        server.say(told(3)).await;
        server
    };
    let (taken, mut server) = tokio::join!(client.take_notifications(), script);
    assert_eq!(taken, [told(1), told(2)]);
    assert_eq!(client.next_notification().await, told(3));

    let script = async {
        server.expect("ping").await;
        server.say(json!({"id": 2, "result": {}})).await;
    };
    tokio::join!(client.assert_no_notification(), script);
}

#[tokio::test]
async fn requests_of_2026_carry_their_meta() {
    let (mut client, mut server) = pair();
    client.speak_2026();
    client
        .begin("x", json!({"_meta": {"progressToken": 7}}))
        .await;
    let message = server.expect("x").await;
    let meta = &message["params"]["_meta"];
    assert_eq!(meta["progressToken"], 7);
    assert_eq!(
        meta["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );
}

#[tokio::test]
async fn a_process_answers_and_its_exit_is_seen() {
    let mut script = Command::new("sh");
    script.args([
        "-c",
        "echo oops >&2; read line; echo \"$line\"; cat >/dev/null; exit 3",
    ]);
    let mut client = McpClient::spawn(script);
    client
        .send_raw(r#"{"id":9,"result":{"content":[{"type":"text","text":"hi"}]}}"#)
        .await;
    let echoed = client.wait("the echo", |messages| {
        messages.iter().find_map(Message::as_received).cloned()
    });
    assert_eq!(
        ToolReply::new(echoed.await["result"].clone()).ok().text(),
        "hi"
    );
    client.close_input().await;
    client.wait_for_end_of_output().await;
    assert_eq!(client.wait_for_exit().await.code(), Some(3));
    assert!(client.transcript().contains("oops"));
}

#[tokio::test]
#[should_panic(expected = "closed its output")]
async fn a_server_that_dies_fails_the_waiting_test_at_once() {
    let client = McpClient::spawn(Command::new("true"));
    let _ = client.request("anything", json!({})).await;
}

fn pair() -> (McpClient, Script) {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(ours);
    (
        McpClient::over(input, output),
        Script(BufReader::new(theirs)),
    )
}

struct Script(BufReader<DuplexStream>);

impl Script {
    async fn say(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.0.write_all(line.as_bytes()).await.unwrap();
    }

    async fn expect(&mut self, method: &str) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).await.unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["method"], method);
        message
    }
}
