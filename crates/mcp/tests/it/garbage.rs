//! Malformed input: answered where JSON-RPC requires it, and never ends the server.

use crate::{calls::StillAlive as _, server_harness::ServerHarness};
use serde_json::{Value, json};

#[tokio::test]
async fn garbage_is_refused_and_survived_whenever_it_comes() {
    let deep = |method: &str| {
        let nested = "[".repeat(5_000) + &"]".repeat(5_000);
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{"a":{nested}}}}}"#)
    };
    let null = Value::Null;
    let cases: Vec<(Vec<u8>, i64, Value)> = [
        ("hello", -32700, null.clone()),
        ("{", -32700, null.clone()),
        ("[[[[", -32700, null.clone()),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#,
            -32700,
            null.clone(),
        ),
        ("[]", -32600, null.clone()),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            -32600,
            null.clone(),
        ),
        ("7", -32600, null.clone()),
        ("null", -32600, null.clone()),
        (r#""text""#, -32600, null.clone()),
        ("{}", -32600, null.clone()),
        (r#"{"jsonrpc":"2.0","id":7}"#, -32600, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"params":{}}"#, -32600, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, -32600, json!(7)),
        (
            r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#,
            -32600,
            json!(7),
        ),
        (r#"{"id":"seven","method":"ping"}"#, -32600, json!("seven")),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            -32600,
            null.clone(),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            -32600,
            null.clone(),
        ),
        (
            r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
            -32600,
            null.clone(),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
            -32600,
            null.clone(),
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}"#,
            -32600,
            json!(7),
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\ud800"}}"#,
            -32600,
            json!(7),
        ),
        (&deep("tools/call"), -32600, json!(7)),
    ]
    .into_iter()
    .map(|(line, code, id)| (line.as_bytes().to_vec(), code, id))
    .chain([
        (vec![0xff, 0xfe, 0x00, 0x01], -32700, null.clone()),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}".to_vec(),
            -32700,
            null.clone(),
        ),
        (vec![b'x'; (16 << 20) + 1], -32600, null),
    ])
    .collect();

    let (mut server_harness, client) = ServerHarness::set_silent();
    for greeted in [false, true] {
        if greeted {
            client.initialize().await;
        }
        for (line, code, id) in &cases {
            let before = client.received().len();
            client.send_raw(line).await;
            let answer = client
                .wait("a refusal", |messages| {
                    let mut received = messages.iter().filter_map(|message| message.as_received());
                    received.nth(before).cloned()
                })
                .await;
            let shown = String::from_utf8_lossy(&line[..line.len().min(80)]);
            assert_eq!(answer["error"]["code"], *code, "{shown}: {answer}");
            assert_eq!(answer["jsonrpc"], "2.0");
            assert_eq!(answer.get("id"), Some(id), "{shown}: {answer}");
        }
    }
    client.call_tool_answered_by(&mut server_harness).await;
}

#[tokio::test]
async fn malformed_input_without_an_id_gets_no_answer() {
    let lines = [
        "",
        "   ",
        "\r",
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/nonsense","params":{"a":1}}"#,
        r#"{"jsonrpc":"2.0","method":"textDocument/didOpen"}"#,
        r#"{"jsonrpc":"1.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#,
        r#"{"id":1,"error":"what"}"#,
    ];
    let (mut server_harness, client) = ServerHarness::set_silent();
    for line in lines {
        client.send_raw(line).await;
    }
    client.initialize().await;
    assert_eq!(client.received().len(), 1, "{}", client.transcript());
    for line in lines {
        client.send_raw(line).await;
    }
    client.call_tool_answered_by(&mut server_harness).await;
    assert_eq!(client.received().len(), 2, "{}", client.transcript());
}

#[tokio::test]
async fn requests_before_the_handshake_are_answered() {
    let (_stage, client) = ServerHarness::set_silent();
    assert_eq!(client.request("ping", json!({})).await, Ok(json!({})));
    for method in [
        "tools/list",
        "tools/call",
        "prompts/list",
        "server/discover",
        "no/such",
    ] {
        let error = client
            .request(method, json!({"name": "x"}))
            .await
            .unwrap_err();
        assert_eq!(error.code, -32602, "{method}: {error}");
    }
    client.initialize().await;
    assert_eq!(client.tool_names().await, ["zebra", "ant"]);
}

#[tokio::test]
async fn line_ends_and_byte_order_marks_of_other_systems_are_fine() {
    let (_stage, client) = ServerHarness::set().await;
    client
        .send_raw("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}\r")
        .await;
    client
        .wait("an answer", |messages| {
            messages
                .iter()
                .any(|message| message.is_answer_to(&json!("a")))
                .then_some(())
        })
        .await;
}
