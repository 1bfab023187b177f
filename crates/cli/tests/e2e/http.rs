//! `tabmux serve`: clients over HTTP, beside each other and beside those over stdio.

mod limits;
mod resources;
mod server;
mod structured;

use crate::crowd::Crowd;
use serde_json::json;
use server::{HttpServer, Request};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use tabmux_testkit::{certificate, patiently};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

const READ_TITLE: &str = "() => document.title";

#[tokio::test]
async fn clients_of_both_eras_and_of_stdio_share_one_daemon_and_its_browser() {
    let Some(crowd) = Crowd::gather() else { return };
    let beside = crowd.client(&[]).await;
    let server = HttpServer::start(&crowd).await;
    let token = server.token("ci");
    let client = server.handshake(&token, "a-client").await;
    let list = client.request("tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().unwrap();
    assert!(tools.len() > 40, "{} tools", tools.len());

    let url = crowd.secret_of("legacy");
    let opened = client.call("new_page", json!({"url": url})).await;
    assert!(!opened.is_error, "{}", opened.text);
    let title = client
        .call("evaluate_script", json!({"function": READ_TITLE}))
        .await;
    assert!(title.text.contains("legacy"), "{}", title.text);

    for name in ["one", "two"] {
        let url = crowd.secret_of(name);
        let arguments = json!({"url": url, "session": name});
        let opened = server.call_alone(&token, "new_page", arguments).await;
        assert!(!opened.is_error, "{}", opened.text);
    }
    for name in ["one", "two"] {
        let arguments = json!({"function": READ_TITLE, "session": name});
        let title = server
            .call_alone(&token, "evaluate_script", arguments)
            .await;
        assert!(title.text.contains(name), "{}", title.text);
    }
    let told = beside
        .call_tool("browser_get_connection_status", json!({}))
        .await
        .ok()
        .json();
    assert_eq!(told["activeSessions"], 4, "{told}");
    let sessions = server.tabmux(&["sessions"]);
    assert!(
        sessions.contains("a-client") && sessions.contains("ci"),
        "{sessions}"
    );
}

#[tokio::test]
async fn who_may_not_connect_gets_the_status_that_says_why() {
    let Some(crowd) = Crowd::gather() else { return };
    let server = HttpServer::start(&crowd).await;
    let (one, two) = (server.token("one"), server.token("two"));
    let client = server.handshake(&one, "a-client").await;
    let (port, id) = (server.port(), client.id());
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#;
    let with =
        |token: &str| Request::post(list).header("Authorization", &format!("Bearer {token}"));
    let large = "x".repeat(5 << 20);
    let cases = [
        ("without a token", Request::post(list), 401),
        ("with another token", with("tabmux_wrong"), 401),
        (
            "with another scheme",
            Request::post(list).header("Authorization", &format!("Basic {one}")),
            401,
        ),
        (
            "with two tokens",
            with(&one).header("Authorization", &format!("Bearer {two}")),
            401,
        ),
        (
            "under another host",
            with(&one).host(&format!("evil.com:{port}")),
            403,
        ),
        (
            "under a host with a user",
            with(&one).host(&format!("localhost:{port}@evil.com")),
            403,
        ),
        (
            "from a page elsewhere",
            with(&one).header("Origin", "http://evil.com"),
            403,
        ),
        (
            "from a sandboxed page",
            with(&one).header("Origin", "null"),
            403,
        ),
        ("at another path", with(&one).path("/mcp/x"), 404),
        (
            "in a session of another token",
            with(&two).header("Mcp-Session-Id", id),
            404,
        ),
        (
            "in a session that is not there",
            with(&one).header("Mcp-Session-Id", "none"),
            404,
        ),
        (
            "to end a session of another token",
            with(&two).method("DELETE").header("Mcp-Session-Id", id),
            404,
        ),
        (
            "to hear a session of another token",
            with(&two)
                .method("GET")
                .header("Accept", "text/event-stream")
                .header("Mcp-Session-Id", id),
            404,
        ),
        (
            "with a body that is no JSON",
            with(&one).header("Mcp-Session-Id", id).body("{"),
            400,
        ),
        (
            "with a batch",
            with(&one).header("Mcp-Session-Id", id).body("[]"),
            400,
        ),
        (
            "with too much",
            with(&one).header("Mcp-Session-Id", id).body(&large),
            413,
        ),
        (
            "with another type",
            with(&one).header("Mcp-Session-Id", id).kind("text/plain"),
            415,
        ),
    ];
    for (what, request, expected) in cases {
        let answer = server.send(&request).await;
        assert_eq!(answer.status, expected, "a request {what}: {}", answer.body);
    }
    let alone = server.alone(&one, "initialize", json!({})).await;
    assert_eq!(
        (alone.status, &alone.json()["error"]["code"]),
        (404, &json!(-32601))
    );
    let answer = server
        .send(&with(&one).header("Mcp-Session-Id", id).body("{"))
        .await;
    assert_eq!(answer.json()["error"]["code"], -32700, "{}", answer.body);
    let refused = server.send(&Request::post(list)).await;
    assert_eq!(refused.header("www-authenticate"), Some("Bearer"));

    // All that has harmed nobody.
    let pages = client.call("list_pages", json!({})).await;
    assert!(!pages.is_error, "{}", pages.text);
}

#[tokio::test]
async fn connections_that_say_nothing_do_not_keep_clients_out() {
    let Some(crowd) = Crowd::gather() else { return };
    let server = HttpServer::start(&crowd).await;
    let token = server.token("ci");
    let client = server.handshake(&token, "a-client").await;
    let mut silent = Vec::new();
    for _ in 0..300 {
        let stream = TcpStream::connect(("127.0.0.1", server.port())).await;
        silent.push(stream.unwrap());
    }
    let pages = client.call("list_pages", json!({})).await;
    assert!(!pages.is_error, "{}", pages.text);
    // The first ones made room for others.
    let mut byte = [0];
    let ended = silent[0].read(&mut byte);
    let ended = patiently(ended, || "the oldest connection is still open".into()).await;
    assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?}");
}

#[tokio::test]
async fn a_revoked_token_is_refused_at_once_and_its_sessions_end() {
    let Some(crowd) = Crowd::gather() else { return };
    let server = HttpServer::start(&crowd).await;
    let token = server.token("short");
    let client = server.handshake(&token, "leaver").await;
    client.call("list_pages", json!({})).await;
    server.call_alone(&token, "list_pages", json!({})).await;
    assert!(server.tabmux(&["sessions"]).contains("leaver"));
    assert_eq!(
        server.tabmux(&["token", "revoke", "short"]),
        "Revoked the token short.\n"
    );
    let refused = server
        .send(&client.request_to("tools/list", json!({})))
        .await;
    assert_eq!(refused.status, 401, "{}", refused.body);
    server
        .until_sessions(|sessions| !sessions.contains("leaver") && !sessions.contains("short"))
        .await;
}

#[tokio::test]
async fn clients_work_again_after_the_daemon_was_killed() {
    let Some(crowd) = Crowd::gather() else { return };
    let server = HttpServer::start(&crowd).await;
    let token = server.token("ci");
    let client = server.handshake(&token, "a-client").await;
    client.call("list_pages", json!({})).await;
    server.kill_daemon();
    // A call that was sent before the end was noticed is answered with what is known of it.
    let first = client.call("list_pages", json!({})).await;
    assert!(
        !first.is_error || first.text.ends_with("call again."),
        "{}",
        first.text
    );
    let url = crowd.secret_of("again");
    let opened = client.call("new_page", json!({"url": url})).await;
    assert!(!opened.is_error, "{}", opened.text);
    let title = client
        .call("evaluate_script", json!({"function": READ_TITLE}))
        .await;
    assert!(title.text.contains("again"), "{}", title.text);
}

#[tokio::test]
async fn those_that_watch_the_server_see_whether_it_is_ready_and_what_it_does() {
    let Some(crowd) = Crowd::gather() else { return };
    let server = HttpServer::start(&crowd).await;
    let token = server.token("prometheus");
    let get = |path: &str| Request::post("").method("GET").path(path);
    let ready = server.send(&get("/readyz")).await;
    assert_eq!((ready.status, &*ready.body), (200, "ready\n"));
    let refused = server.send(&get("/metrics")).await;
    assert_eq!(refused.status, 401, "{}", refused.body);
    server.call_alone(&token, "list_pages", json!({})).await;
    let bearer = format!("Bearer {token}");
    let looking = async {
        loop {
            let numbers = get("/metrics").header("Authorization", &bearer);
            let numbers = server.send(&numbers).await.body;
            // What is known of the daemon may be a second old.
            if numbers.contains("tabmux_daemon_up 1") {
                return numbers;
            }
        }
    };
    let numbers = patiently(looking, || "the daemon to be seen".into()).await;
    for line in [
        "tabmux_sessions 1",
        "tabmux_http_requests 0",
        "tabmux_http_calls_total{tool=\"list_pages\",outcome=\"done\"} 1",
        "tabmux_http_call_seconds_count 1",
    ] {
        assert!(numbers.lines().any(|it| it == line), "{line}: {numbers}");
    }
}

#[test]
fn an_address_that_other_machines_reach_is_refused_without_tls() {
    let said = |flags: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_tabmux"))
            .args(["serve", "--listen", "0.0.0.0:0"])
            .args(flags)
            .output()
            .unwrap();
        assert!(!output.status.success(), "{flags:?}: {output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let refused = said(&[]);
    assert!(refused.contains("tokens need TLS"), "{refused}");
    let missing = said(&["--tlsCert=/missing.pem", "--tlsKey=/missing.key"]);
    let expected = "--tlsCert /missing.pem cannot be read";
    assert!(missing.contains(expected), "{missing}");
    let half = said(&["--tlsCert=/missing.pem"]);
    assert!(half.contains("--tlsKey"), "{half}");
}

#[tokio::test]
async fn other_machines_are_served_over_tls_or_behind_a_proxy() {
    let Some(crowd) = Crowd::gather() else { return };
    let [chain, key] = ["server.pem", "server.key"].map(certificate);
    let (chain, key) = (chain.display(), key.display());
    let tls = [format!("--tlsCert={chain}"), format!("--tlsKey={key}")];
    for (flags, scheme) in [
        (&tls[..], "https"),
        (&["--tlsByProxy".to_owned()][..], "http"),
    ] {
        let mut command = crowd.serve();
        command.args(["--listen", "0.0.0.0:0"]).args(flags);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let output = process.stdout.take().unwrap();
        let greeting = BufReader::new(output).lines().next();
        process.kill().unwrap();
        process.wait().unwrap();
        let greeting = greeting.unwrap().unwrap();
        let expected = format!("MCP is served at {scheme}://0.0.0.0:");
        assert!(greeting.starts_with(&expected), "{greeting}");
    }
}
