//! The fixture server against plain sockets.

use super::*;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

#[tokio::test]
async fn files_routes_and_their_absence_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("page.html"), "<h1>hello</h1>").unwrap();
    let server = FixtureServer::serving(folder.path());
    server.route("/away", Response::redirect("/page.html"));
    server.route("/file", Response::download("a.bin", b"bytes".to_vec()));
    server.route_with("/echo", |request| Response::text(request.query.clone()));
    server.route("nothing", Response::no_content());

    for (path, expected) in [
        ("/page.html?x", &["200", "text/html", "<h1>hello</h1>"][..]),
        ("/away", &["302", "Location: /page.html"]),
        ("/file", &["200", "attachment; filename=\"a.bin\"", "bytes"]),
        ("/echo?a=b", &["200", "a=b"]),
        ("/nothing", &["204"]),
        ("/favicon.ico", &["204"]),
        ("/absent.html", &["404"]),
        ("/../routes.rs", &["404"]),
    ] {
        let answer = get(&server, path).await;
        for part in expected {
            assert!(answer.contains(part), "{path}: {part} in {answer}");
        }
    }
    assert_eq!(server.requests().len(), 8);
    assert_eq!(server.count("page.html"), 1);
}

#[tokio::test]
async fn a_held_answer_comes_when_the_gate_opens() {
    let server = FixtureServer::start();
    let gate = server.hold("/slow", Response::text("at last"));
    let half = server.hold_body("/half", Response::text("first, second"), 5);

    let slow = tokio::spawn(read_all(ask(&server, "/slow").await));
    server.wait_for_request("/slow").await;
    let mut stream = ask(&server, "/half").await;
    let mut seen = String::new();
    while !seen.ends_with("first") {
        seen.push(stream.read_u8().await.unwrap().into());
    }
    assert!(!slow.is_finished());

    gate.open();
    half.open();
    assert!(slow.await.unwrap().ends_with("at last"));
    assert!(read_all(stream).await.ends_with(", second"));
}

#[tokio::test]
async fn a_client_that_gives_up_is_noticed() {
    let server = FixtureServer::start();
    server.hang("/never");
    server.hang_up("/gone");
    let stream = ask(&server, "/never").await;
    server.wait_for_request("/never").await;
    drop(stream);
    server.wait_for_abandoned("/never", 1).await;
    assert_eq!(get(&server, "/gone").await, "");
}

#[tokio::test]
async fn a_connection_serves_several_requests_with_bodies() {
    let server = FixtureServer::start();
    server.route_with("/post", |request| Response::text(request.body.clone()));
    let mut stream = TcpStream::connect(("localhost", server.port()))
        .await
        .unwrap();
    for body in ["one", "two"] {
        let request = format!("POST /post HTTP/1.1\r\nContent-Length: 3\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut seen = String::new();
        while !seen.ends_with(body) {
            seen.push(stream.read_u8().await.unwrap().into());
        }
    }
    assert_eq!(server.wait_for_nth_request("/post", 2).await.body, b"two");
}

#[test]
fn one_server_is_two_sites() {
    let server = FixtureServer::start();
    let port = server.port();
    assert_eq!(server.url("a"), format!("http://127.0.0.1:{port}/a"));
    assert_eq!(
        server.cross_site_url("/a"),
        format!("http://localhost:{port}/a")
    );
}

async fn get(server: &FixtureServer, path: &str) -> String {
    read_all(ask(server, path).await).await
}

async fn ask(server: &FixtureServer, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port()))
        .await
        .unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn read_all(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}
