//! Browsers that a real Selenium Grid hands out: in turn, one for each agent, and given back whatever happens.

mod connections;
mod nodes;
mod standalone;

use crate::crowd::Crowd;
use serde_json::{Value, json};
use std::process::Command;
use tabmux_testkit::{GridSetup, McpClient, Message, SeleniumGrid, process};

/// The flag of a client with a browser of this grid.
fn flag(grid: &SeleniumGrid) -> String {
    format!("--browserUrl=lab={}", grid.url("?platformName=linux"))
}

fn setup(session_timeout: u32, slots: u32) -> Option<GridSetup> {
    Some(GridSetup {
        browser: tabmux_testkit::real_browser()?,
        slots,
        session_timeout,
        login: None,
    })
}

/// What agents are told once when a grid has handed out another browser.
const REPLACED: &str =
    "its grid has handed out a new one: the pages and logins of the old one are gone";

/// Opens a page with this name in it.
async fn open(crowd: &Crowd, client: &McpClient, name: &str) {
    let url = crowd.secret_of(name);
    let opened = client.call_tool("new_page", json!({"url": url})).await;
    let text = opened.ok().text();
    assert!(text.contains(&format!("/secret?of={name}")), "{text}");
}

async fn pages(client: &McpClient) -> String {
    client.call_tool("list_pages", json!({})).await.text()
}

/// Waits until the client has progress that begins like this.
async fn hears(client: &McpClient, token: u64, words: &str) {
    let says = |it: &Value| {
        let params = &it["params"];
        let message = params["message"].as_str().unwrap_or_default();
        params["progressToken"] == token && message.starts_with(words)
    };
    client
        .wait("progress", |messages| {
            let mut received = messages.iter().filter_map(Message::as_received);
            received.any(says).then_some(())
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_driver_hands_out_browsers_by_the_same_code() {
    let Some(crowd) = Crowd::gather() else { return };
    let browser = tabmux_testkit::real_browser().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let mut driver = Command::new("chromedriver")
        .arg(format!("--port={port}"))
        .env("TMPDIR", crowd.home())
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("chromedriver: run scripts/ensure-grid");
    let up = async {
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            tokio::task::yield_now().await;
        }
    };
    tabmux_testkit::patiently(up, || "chromedriver".into()).await;
    let options = json!({"binary": browser, "args": ["--headless=new", "--no-sandbox"]});
    let mut url = url::Url::parse(&format!("http://127.0.0.1:{port}")).unwrap();
    url.query_pairs_mut()
        .append_pair("goog:chromeOptions", &options.to_string());
    let flag = format!("--browserUrl=grid+{url}");
    let client = crowd.visitor(&[&flag]).await;
    open(&crowd, &client, "driver").await;
    assert!(!process::descendants(driver.id()).is_empty());
    drop(client);
    let gone = async {
        while !process::descendants(driver.id()).is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tabmux_testkit::patiently(gone, || "the end of the browser".into()).await;
    driver.kill().unwrap();
    driver.wait().unwrap();
}
