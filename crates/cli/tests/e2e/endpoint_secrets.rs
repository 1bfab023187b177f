//! Passwords, tokens and headers of browsers' addresses are never shown or stored.

use crate::crowd::Crowd;
use serde_json::{Value, json};
use std::path::Path;
use tabmux_testkit::{FixtureServer, McpClient, Response, TlsProxy, certificate};

/// Part of every secret in this test, and of nothing else.
const SECRET: &str = "hushhush";

/// Calls a tool; checks that its answer, successful or not, has no secret in it.
async fn said(client: &McpClient, tool: &str, arguments: Value) -> String {
    let text = client.call_tool(tool, arguments).await.text();
    assert!(!text.contains(SECRET), "{tool}: {text}");
    text
}

/// Runs the commands that show browsers; checks that their output has no secret in it.
fn said_by_commands(crowd: &Crowd) {
    for command in [
        &["browsers"][..],
        &["browsers", "--json"],
        &["status"],
        &["status", "--json"],
        &["sessions", "--json"],
        &["logs"],
        &["doctor"],
    ] {
        let output = crowd.tabmux().args(command).output().unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(!text.contains(SECRET), "{command:?}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_of_endpoints_are_shown_nowhere() {
    let Some(crowd) = Crowd::gather() else { return };
    let chromium = crowd.running_browser();
    let remote = FixtureServer::start();
    for (path, status) in [("/json/version", 401), ("/full", 429), ("/gone", 404)] {
        remote.route(path, Response::new(status, "text/plain", "no"));
    }
    let browser = chromium.http_url().replace("//", "//me:hushhush-1@");
    let guarded = remote.url("?token=hushhush-2");
    let socket = |path: &str| remote.url(path).replace("http:", "ws:");
    let flags = [
        format!("--browserUrl={browser}"),
        format!("--browserUrl=cloud={guarded}"),
        format!("--wsEndpoint={}", socket("full?token=hushhush-3")),
        r#"--wsHeaders={"Authorization":"Bearer hushhush-4"}"#.to_owned(),
    ];
    let client = crowd.visitor(&flags.each_ref().map(String::as_str)).await;

    let opened = said(
        &client,
        "new_page",
        json!({"browserIndex": 1, "url": crowd.secret_of("page")}),
    );
    assert!(opened.await.contains("/secret?of=page"));
    for (index, sentence) in [(2, "answered 401: "), (3, "answered 429: ")] {
        let asked = json!({"browserIndex": index, "force": true});
        let answer = said(&client, "reconnect_browser", asked).await;
        assert!(answer.contains(sentence), "{answer}");
        let pages = said(&client, "list_pages", json!({"browserIndex": index})).await;
        assert!(pages.contains(sentence), "{pages}");
    }
    for address in [
        socket("gone?token=hushhush-5"),
        "me:hushhush-6@127.0.0.1:9222".to_owned(),
        "http://me:hushhush-7@127.0.0.1:1".to_owned(),
    ] {
        said(&client, "add_browser", json!({"url": address})).await;
    }
    let listed = said(&client, "list_browsers", json!({})).await;
    let port = chromium.port();
    for line in [
        format!("[1] http://…@127.0.0.1:{port} - connected"),
        format!("[2] cloud ({}?token=…) - ", remote.url("")),
        format!("[3] {}?token=… - ", socket("full")),
    ] {
        assert!(listed.contains(&line), "{listed}");
    }
    said(&client, "disconnect_browser", json!({"browserIndex": 3})).await;

    said_by_commands(&crowd);
    assert_eq!(files_with(SECRET, crowd.home()), [""; 0]);
}

/// Also those of grids, proxies and keys, when they are wrong.
#[tokio::test(flavor = "multi_thread")]
async fn secrets_of_grids_proxies_and_keys_are_shown_nowhere() {
    let Some(crowd) = Crowd::gather() else { return };
    let remote = FixtureServer::start();
    let ready = Response::json(&json!({"value": {"ready": true}}));
    remote.route("/grid/status", ready);
    let message = "nobody has hushhush-3 or hushhush-4 for me:hushhush-2";
    let refusal = json!({"value": {"error": "session not created", "message": message}});
    let refusal = Response::json(&refusal).with_status(500);
    remote.route("/grid/session", refusal);
    let secure = TlsProxy::start(remote.port(), "server");
    let key = crowd.home().join("key.pem");
    std::fs::write(&key, "hushhush-1").unwrap();
    let grid = remote.url("grid").replace("//", "//me:hushhush-2@");
    let options = "cloud:options=%7B%22key%22:%22hushhush-4%22%7D";
    let mut command = crowd.tabmux();
    command.env("HTTP_PROXY", "http://me:hushhush-5@127.0.0.1:1");
    command.env_remove("NO_PROXY").env_remove("no_proxy");
    command.args(["mcp", "--tools=static"]);
    command.arg(format!(
        "--browserUrl=grid+{grid}?cloud:key=hushhush-3&{options}"
    ));
    command.arg(format!("--browserUrl=https://127.0.0.1:{}", secure.port()));
    command.arg("--browserUrl=http://browser.test:9222");
    let file = |flag: &str, path: &Path| format!("--{flag}={}", path.display());
    command.arg(file("clientCert", &certificate("client.pem")));
    command.arg(file("clientKey", &key));
    let client = McpClient::spawn(command);
    client.initialize().await;
    for (index, sentence) in [
        (1, "(session not created: nobody has … or … for me:…)"),
        (2, "has no private key in PEM"),
        (3, "127.0.0.1:1"),
    ] {
        let asked = json!({"browserIndex": index, "force": true});
        let answer = said(&client, "reconnect_browser", asked).await;
        assert!(answer.contains(sentence), "{answer}");
    }
    said(&client, "list_browsers", json!({})).await;
    said_by_commands(&crowd);
    std::fs::remove_file(&key).unwrap();
    assert_eq!(files_with(SECRET, crowd.home()), [""; 0]);
}

#[tokio::test]
async fn a_malformed_header_is_not_repeated() {
    let home = tempfile::tempdir().unwrap();
    let mut tabmux = std::process::Command::new(env!("CARGO_BIN_EXE_tabmux"));
    tabmux.env("HOME", home.path()).args([
        "mcp",
        "--wsEndpoint=ws://127.0.0.1:1/",
        "--wsHeaders={\"Authorization\": hushhush}",
    ]);
    let output = tabmux.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && text.contains("--wsHeaders"),
        "{text}"
    );
    assert!(!text.contains(SECRET), "{text}");
}

/// The files below a folder that have a secret in them.
pub(crate) fn files_with(secret: &str, folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let found = entries.flat_map(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return files_with(secret, &path);
        }
        let text = std::fs::read(&path).unwrap_or_default();
        let has = text
            .windows(secret.len())
            .any(|part| part == secret.as_bytes());
        has.then(|| path.display().to_string())
            .into_iter()
            .collect()
    });
    found.collect()
}
