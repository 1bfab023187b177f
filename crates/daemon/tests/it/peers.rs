//! What our clients may expect: their own session, correct status, one daemon.

use crate::server::Server;
use crate::wire::{Wire, register};
use serde_json::json;
use std::time::Duration;
use tabmux_daemon::socket::{ListenError, Listening, ServeOptions};
use tabmux_protocol::wire::PROTOCOL;

/// Spec: multi-client 9, 15, 40.
#[tokio::test]
async fn each_client_gets_a_session_of_its_own() {
    let server = Server::start();
    let (mut one, mut two) = (
        Wire::connect(server.socket()).await,
        Wire::connect(server.socket()).await,
    );
    let (first, second) = (one.register().await, two.register().await);
    assert_ne!(first, second);
    for id in [first, second] {
        let digits = id.strip_prefix("sess_").unwrap();
        assert!(
            digits.len() == 32 && digits.bytes().all(|b| b.is_ascii_hexdigit()),
            "{id}"
        );
    }
}

/// Spec: multi-client 12, 26, 27, 45, 47.
#[tokio::test]
async fn status_needs_no_session_and_counts_those_there_are() {
    let server = Server::start();
    let mut asker = Wire::connect(server.socket()).await;
    let status = json!({"type": "STATUS", "id": "status_1"});
    assert_eq!(
        asker.ask(status.clone()).await,
        json!({"type": "STATUS_OK", "id": "status_1", "extensionConnected": false, "activeSessions": 0})
    );
    let mut client = Wire::connect(server.socket()).await;
    let session = client.register().await;
    assert_eq!(asker.ask(status.clone()).await["activeSessions"], 1);
    client
        .send(json!({"type": "DISCONNECT", "sessionId": session}))
        .await;
    assert_eq!(client.next().await, None);
    assert_eq!(asker.ask(status).await["activeSessions"], 0);
}

/// Spec: multi-client 21, 24.
#[tokio::test]
async fn answers_carry_the_callers_own_request_id_whatever_it_is() {
    let server = Server::start();
    let mut client = Wire::connect(server.socket()).await;
    let session = client.register().await;
    let call = |request: &str, action: &str| json!({"type": "REQUEST", "sessionId": session, "requestId": request, "action": action, "params": {}});
    client.send(call("a:1", "list_tabs")).await;
    let odd = "☃ \" {\"x\": 1}";
    client.send(call(odd, "no_such_tool")).await;
    let (one, two) = (client.next().await.unwrap(), client.next().await.unwrap());
    let by_id = |id: &str| {
        [&one, &two]
            .into_iter()
            .find(|answer| answer["requestId"] == id)
            .unwrap()
    };
    assert_eq!(by_id("a:1")["reply"]["isError"], true);
    assert_eq!(
        by_id(odd)["failure"],
        json!({"kind": "unknownTool", "name": "no_such_tool"})
    );
}

#[tokio::test]
async fn the_tool_list_of_a_session_is_sent() {
    let server = Server::start();
    let mut client = Wire::connect(server.socket()).await;
    let session = client.register().await;
    let answer = client
        .ask(json!({"type": "TOOLS", "id": "t", "sessionId": session}))
        .await;
    assert_eq!(answer["tools"][0]["name"], "list_pages");
    assert!(answer["tools"].as_array().unwrap().len() > 10);
}

/// Spec: security 14.
#[tokio::test]
async fn there_is_one_daemon_per_socket_and_a_dead_ones_socket_is_replaced() {
    let server = Server::start();
    assert!(matches!(
        Listening::start(&server.place),
        Err(ListenError::Taken(_))
    ));
    server.stop.cancel();
    drop(server.task.await.unwrap());
    assert!(!server.place.socket().exists());
    // The socket of a daemon that was killed.
    drop(std::os::unix::net::UnixListener::bind(server.place.socket()).unwrap());
    assert!(server.place.socket().exists());
    Listening::start(&server.place).unwrap();
}

/// Spec: security 31.
#[tokio::test]
async fn a_client_of_another_protocol_gets_an_error_with_the_next_step() {
    let server = Server::start();
    let unreadable = json!({"browser": {"choice": "launch"}, "folder": [1]});
    for (protocol, options) in [
        (
            1,
            json!({"pageActions": true, "browser": {"launches": true}}),
        ),
        (1, unreadable.clone()),
        // The last one without limits: its daemon would not hold a token to them.
        (3, json!({"limits": {"readOnly": true}})),
        (99, unreadable),
    ] {
        let mut hello = register(protocol);
        hello["options"] = options;
        let answer = Wire::connect(server.socket()).await.ask(hello).await;
        let error = format!(
            "This daemon speaks protocol {PROTOCOL} (tabmux {}), the client {protocol} (tabmux 0.0.0). \
             Stop the daemon with `tabmux daemon stop` and try again",
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!(answer, json!({"type": "ERROR", "id": "r", "error": error}));
    }
}

/// Spec: security 31.
#[tokio::test(start_paused = true)]
async fn an_idle_daemon_ends() {
    let server = Server::start_with(ServeOptions {
        idle: Some(Duration::from_secs(60)),
    });
    // The clock jumps as soon as all tasks wait.
    drop(server.task.await.unwrap());
    assert!(!server.place.socket().exists());
}

#[tokio::test]
async fn stopping_says_so_and_hangs_up() {
    let server = Server::start();
    let mut client = Wire::connect(server.socket()).await;
    client.register().await;
    let mut person = Wire::connect(server.socket()).await;
    assert_eq!(
        person.ask(json!({"type": "STOP", "id": "s"})).await,
        json!({"type": "STOPPING", "id": "s"})
    );
    let event = json!({"type": "EVENT", "event": "stopping"});
    assert_eq!(client.next().await, Some(event));
    assert_eq!(client.next().await, None);
    drop(server.task.await.unwrap());
}
