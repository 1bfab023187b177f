//! Login state by name: what one session leaves, the next one has.

use crate::crowd::Crowd;
use serde_json::json;
use std::path::PathBuf;
use tabmux_testkit::{McpClient, Response};

/// A page that shows who is logged in.
const PAGE: &str = "<title>Site</title><script>
    document.title = [document.cookie, localStorage.getItem('token')].join(' ');
    </script>";

fn serve(crowd: &Crowd) {
    crowd.pages.route("/site", Response::html(PAGE));
    let login = "<script>localStorage.setItem('token', 'local-token')</script>";
    let cookie = "user=cookie-token; Max-Age=3600; Path=/";
    let login = Response::html(login).with_header("Set-Cookie", cookie);
    crowd.pages.route("/login", login);
}

async fn client(crowd: &Crowd, key: Option<&str>, flags: &[&str]) -> McpClient {
    let browser = tabmux_testkit::real_browser().unwrap();
    let mut command = crowd.tabmux();
    command.env_remove("XDG_STATE_HOME");
    command.envs(key.map(|key| ("TABMUX_STATE_KEY", key)));
    command.args(["mcp", "--tools=static", "--headless"]);
    command.arg(format!("--executablePath={}", browser.display()));
    command.args(flags);
    let client = McpClient::spawn(command);
    client.initialize().await;
    client
}

/// What the page says in a new tab.
async fn opened(client: &McpClient, url: &str) -> String {
    let reply = client.call_tool("new_page", json!({"url": url})).await;
    reply.text()
}

async fn log_in(crowd: &Crowd, client: &McpClient) {
    opened(client, &crowd.pages.url("login")).await;
    let told = opened(client, &crowd.pages.url("site")).await;
    assert!(told.contains("user=cookie-token local-token"), "{told}");
}

/// A service worker whose start page forgets the login: saving the state must not load it.
async fn add_service_worker(crowd: &Crowd, client: &McpClient) {
    let worker = "oninstall = () => skipWaiting(); onfetch = (e) => { if (new URL(e.request.url).pathname === '/') \
                  e.respondWith(new Response(\"<script>localStorage.setItem('token', 'gone')</script>\", { headers: { \
                  'content-type': 'text/html' } })) }";
    let worker = Response::new(200, "text/javascript", worker);
    crowd.pages.route("/service.js", worker);
    let register = "async () => { await navigator.serviceWorker.register('/service.js'); return (await \
                    navigator.serviceWorker.ready).active ? 'ready' : 'none' }";
    let reply = client.call_tool("evaluate_script", json!({"function": register}));
    let told = reply.await.text();
    assert!(told.contains("ready"), "{told}");
}

async fn end(mut client: McpClient) {
    client.close_input().await;
    client.wait_for_exit().await;
}

fn state(crowd: &Crowd, words: &[&str]) -> String {
    let mut command = crowd.tabmux();
    command
        .env_remove("XDG_STATE_HOME")
        .arg("state")
        .args(words);
    let output = command.output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

fn file(crowd: &Crowd, name: &str) -> PathBuf {
    let folder = crowd.home().join(".local/state/tabmux/states");
    folder.join(format!("{name}.json"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_lasts_in_its_state() {
    let Some(crowd) = Crowd::gather() else { return };
    serve(&crowd);
    let key = Some("a key of some length");
    let first = client(&crowd, key, &["--state=work"]).await;
    log_in(&crowd, &first).await;
    add_service_worker(&crowd, &first).await;
    end(first).await;
    // Waits until the first one has saved it.
    let second = client(&crowd, key, &["--state=work"]).await;
    let told = opened(&second, &crowd.pages.url("site")).await;
    assert!(told.contains("user=cookie-token local-token"), "{told}");
    let text = std::fs::read_to_string(file(&crowd, "work")).unwrap();
    assert!(text.contains("sealed") && !text.contains("token"), "{text}");

    // Others do not share it, and cannot overwrite it.
    let third = client(&crowd, key, &["--state=work"]).await;
    let told = opened(&third, &crowd.pages.url("site")).await;
    assert!(
        told.contains("Another session uses the state work."),
        "{told}"
    );
    assert!(state(&crowd, &["delete", "work"]).contains("Another session uses the state work."));
    end(second).await;

    let without = client(&crowd, None, &["--state=work"]).await;
    let told = opened(&without, &crowd.pages.url("site")).await;
    assert!(
        told.contains("The state work is encrypted. Set TABMUX_STATE_KEY"),
        "{told}"
    );
    let wrong = client(&crowd, Some("another key"), &["--state=work"]).await;
    let told = opened(&wrong, &crowd.pages.url("site")).await;
    assert!(told.contains("was encrypted with another key"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_is_saved_without_a_daemon() {
    let Some(crowd) = Crowd::gather() else { return };
    serve(&crowd);
    assert!(state(&crowd, &["list"]).contains("There are no states."));
    let mut command = crowd.tabmux();
    command
        .env_remove("TABMUX_SOCKET")
        .env_remove("XDG_STATE_HOME");
    let browser = tabmux_testkit::real_browser().unwrap();
    command.args([
        "mcp",
        "--no-daemon",
        "--tools=static",
        "--headless",
        "--state=alone",
    ]);
    command.arg(format!("--executablePath={}", browser.display()));
    let alone = McpClient::spawn(command);
    alone.initialize().await;
    log_in(&crowd, &alone).await;
    end(alone).await;
    let shown = state(&crowd, &["show", "alone"]);
    assert!(
        shown.contains("127.0.0.1 ") && !shown.contains("token"),
        "{shown}"
    );
    assert!(state(&crowd, &["list"]).contains("alone"));
    assert!(state(&crowd, &["delete", "alone"]).contains("Deleted the state alone."));
    assert!(!file(&crowd, "alone").exists());
    assert!(state(&crowd, &["show", "alone"]).contains("There is no state alone."));
}
