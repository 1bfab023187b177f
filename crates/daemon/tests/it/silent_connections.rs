//! Silent connections: their number and time are limited, and others are served meanwhile.

use crate::fake_extension::pass;
use crate::page_harness::{Daemon, changed, listed};
use crate::server::Server;
use crate::wire::Wire;
use serde_json::json;
use std::time::Duration;
use tabmux_daemon::socket::ServeOptions;
use tabmux_protocol::session::ToolMode;
use tabmux_testkit::patiently;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// More than the limit for connections without a request.
const MANY: usize = 300;

#[tokio::test(flavor = "multi_thread")]
async fn pages_and_clients_are_served_beside_many_connections_that_say_nothing() {
    let daemon = Daemon::start().await;
    let options = ServeOptions { idle: None };
    let server = Server::around(daemon.hub.clone(), options);
    let session = daemon.session(ToolMode::Static).await;
    let mut silent = Vec::new();
    for number in 0..MANY {
        let mut socket = connect(&daemon).await;
        // Some send half a request.
        if number % 2 == 0 {
            let _ = socket.write_all(b"GET /page HTTP/1.1\r\nHost: l").await;
        }
        silent.push(socket);
    }
    let mut worker = daemon.worker().await;
    worker.tab("calm").await;
    worker.tool("calm", "who").await;
    changed(&session).await;
    assert!(listed(&session, "who").await.is_some());
    let mut client = Wire::connect(server.socket()).await;
    client.register().await;
    // The daemon has closed all but a few.
    for socket in &mut silent[..MANY - 64] {
        ends(socket).await;
    }
}

#[tokio::test]
async fn a_connection_without_a_request_is_closed_after_five_seconds() {
    let daemon = Daemon::start().await;
    let mut sockets = [connect(&daemon).await, connect(&daemon).await];
    sockets[1].write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
    // A later connection has been accepted later.
    let mut worker = daemon.worker().await;
    pass(Duration::from_secs(6)).await;
    for socket in &mut sockets {
        ends(socket).await;
    }
    worker.is_heard().await;
}

#[tokio::test]
async fn a_request_that_is_too_long_is_refused() {
    let daemon = Daemon::start().await;
    let mut socket = connect(&daemon).await;
    let head = format!(
        "GET /page HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nX: {}\r\n",
        daemon.port,
        "x".repeat(20_000)
    );
    let _ = socket.write_all(head.as_bytes()).await;
    let mut answer = String::new();
    let _ = patiently(socket.read_to_string(&mut answer), || "an end".to_owned()).await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_are_served_beside_many_connections_of_the_socket_that_say_nothing() {
    let server = Server::start();
    let mut silent = Vec::new();
    for _ in 0..MANY {
        silent.push(Wire::connect(server.socket()).await);
    }
    let mut client = Wire::connect(server.socket()).await;
    let session = client.register().await;
    // A connection with a session is not evicted, however many follow.
    for _ in 0..MANY {
        silent.push(Wire::connect(server.socket()).await);
    }
    let mut status = Wire::connect(server.socket()).await;
    let answer = status.ask(json!({"type": "STATUS", "id": "s"})).await;
    assert_eq!(answer["activeSessions"], 1);
    let tools = json!({"type": "TOOLS", "id": "t", "sessionId": session});
    assert_eq!(client.ask(tools).await["type"], "TOOLS_OK");
    let told = silent[0].next().await.unwrap();
    assert_eq!(
        told["error"],
        "Closed to make room for other connections, because it has no session. Connect again when you have a request"
    );
    assert_eq!(silent[0].next().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_are_served_beside_connections_that_ask_and_do_not_read() {
    let server = Server::start();
    let ping = format!("{}\n", json!({"type": "PING", "id": "p"}));
    let mut deaf = Vec::new();
    for _ in 0..64 {
        let mut wire = Wire::connect(server.socket()).await;
        // The replies fill the socket's buffers, so the rest is not read.
        let pings = ping.repeat(40_000);
        deaf.push(tokio::spawn(async move {
            wire.send_bytes(pings.as_bytes()).await;
            wire
        }));
    }
    for _ in 0..65 {
        let mut client = Wire::connect(server.socket()).await;
        client.register().await;
    }
    for flood in deaf {
        flood.abort();
    }
}

#[tokio::test]
async fn a_connection_of_the_socket_without_a_line_is_closed_after_ten_seconds() {
    let server = Server::start();
    let (mut silent, mut half) = (
        Wire::connect(server.socket()).await,
        Wire::connect(server.socket()).await,
    );
    half.send_bytes(b"{\"type\":").await;
    let mut asker = Wire::connect(server.socket()).await;
    let ping = json!({"type": "PING", "id": "p"});
    assert_eq!(asker.ask(ping.clone()).await["type"], "PONG");
    pass(Duration::from_secs(11)).await;
    for wire in [&mut silent, &mut half] {
        let told = wire.next().await.unwrap();
        let why = "Closed because no message came in time. Connect again when you have a request";
        assert_eq!(told["error"], why);
        assert_eq!(wire.next().await, None);
    }
    // A connection that has sent a request may stay.
    assert_eq!(asker.ask(ping).await["type"], "PONG");
}

async fn connect(daemon: &Daemon) -> TcpStream {
    let connecting = TcpStream::connect(("127.0.0.1", daemon.port));
    connecting.await.unwrap()
}

/// The daemon closes the connection.
async fn ends(socket: &mut TcpStream) {
    let mut nothing = Vec::new();
    let end = socket.read_to_end(&mut nothing);
    let _ = patiently(end, || "the end of a connection".to_owned()).await;
}
