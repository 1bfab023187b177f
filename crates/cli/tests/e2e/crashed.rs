//! A tab that crashed while no client was attached to it. Chrome reports a crash once, and later only to clients that
//! attach: without that every call would wait for a dead page.

use crate::harness::McpHarness;
use crate::own_browser::OwnBrowser;
use crate::user::User;
use serde_json::json;
use tabmux_testkit::{Chromium, FixtureServer, McpClient, Response};

/// Spec: dynamic-tools 87.
#[tokio::test]
async fn before_a_browser_is_attached() {
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    let chromium = Chromium::start(&browser);
    let pages = FixtureServer::start();
    pages.route("/mine", Response::html("<title>Mine</title><p>Hello"));
    let mine = pages.url("mine");
    let mut user = User::at(chromium.websocket_url()).await;
    user.opens(&mine).await;
    user.crashes(&mine).await;
    let address = format!("--browserUrl={}", chromium.http_url());
    let harness = McpHarness::start(&[&address, "--tools=static"]);
    harness.client.initialize().await;
    is_found_gone(&harness.client, &mine).await;
}

/// Spec: dynamic-tools 87.
#[tokio::test]
async fn in_a_persons_browser() {
    let Some(own) = OwnBrowser::open().await else {
        return;
    };
    let mine = own.pages.url("mine");
    let mut user = User::at(own.chromium.websocket_url()).await;
    user.opens(&mine).await;
    user.crashes(&mine).await;
    let agent = own.agent(&["--extension", "--tools=static"]).await;
    is_found_gone(&agent, &mine).await;
}

/// The first call reports the crash, and the next list does not have the page.
async fn is_found_gone(agent: &McpClient, url: &str) {
    let list = agent.call_tool("list_pages", json!({})).await.ok().text();
    let row = list.lines().find(|line| line.contains(url));
    let number = row.and_then(|row| row.trim().split(':').next()?.parse::<u32>().ok());
    let number = number.unwrap_or_else(|| panic!("{list}"));
    let select = agent.call_tool("select_page", json!({"pageId": number}));
    assert_eq!(
        select.await.expect_error(),
        format!(
            "select_page was not finished because tab {number} crashed. Call list_pages to see the tabs that are left."
        )
    );
    let list = agent.call_tool("list_pages", json!({})).await.ok().text();
    assert!(!list.contains(url), "{list}");
}
