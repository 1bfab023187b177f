//! Chrome's debugger is attached to a tab only while a session needs it.

use crate::inside::Inside;
use crate::own_browser::OwnBrowser;
use crate::user::User;
use serde_json::json;

#[tokio::test]
async fn a_tab_is_detached_once_no_agent_holds_it() {
    let Some(own) = OwnBrowser::open().await else {
        return;
    };
    let mut user = User::at(own.chromium.websocket_url()).await;
    let (mine, form) = (own.pages.url("mine"), own.pages.url("form"));
    user.opens(&mine).await;
    let worker = Inside::worker(&mut user).await;
    worker.until_held(&[]).await;
    let agent = own.agent_named("Agent", &[]).await;
    let pages = agent.call_tool("list_pages", json!({})).await.ok().text();
    let line = pages.lines().find(|line| line.contains("/mine")).unwrap();
    let number: u32 = line.split(':').next().unwrap().trim().parse().unwrap();
    worker.until_held(&[]).await;
    // The agent names the person's tab, and so works in it.
    let named = json!({"tabId": number});
    agent.call_tool("take_snapshot", named.clone()).await.ok();
    worker.until_held(&[&mine]).await;
    // The agent continues in its own tab, and the person's is detached.
    agent.call_tool("new_page", json!({"url": form})).await.ok();
    worker.until_held(&[&form]).await;
    // The agent can return to it.
    let text = agent.call_tool("take_snapshot", named.clone()).await;
    assert!(text.ok().text().contains("Private."));
    worker.until_held(&[&form, &mine]).await;
    // The agent ends, and the tabs that it opened are closed.
    drop(agent);
    worker.until_held(&[]).await;
    assert!(user.urls().await.contains(&mine));
}

#[tokio::test]
async fn listing_the_tools_of_a_tab_does_not_hold_it() {
    let Some(own) = OwnBrowser::open().await else {
        return;
    };
    let mut user = User::at(own.chromium.websocket_url()).await;
    let mine = own.pages.url("mine");
    user.opens(&mine).await;
    let worker = Inside::worker(&mut user).await;
    let agent = own.agent_named("Agent", &[]).await;
    let pages = agent.call_tool("list_pages", json!({})).await.ok().text();
    let line = pages.lines().find(|line| line.contains("/mine")).unwrap();
    let number: u32 = line.split(':').next().unwrap().trim().parse().unwrap();
    agent
        .call_tool("list_page_tools", json!({"tabId": number}))
        .await
        .ok();
    worker.until_held(&[]).await;
}

#[tokio::test]
async fn when_the_daemon_is_gone_nothing_stays_attached() {
    let Some(mut own) = OwnBrowser::open().await else {
        return;
    };
    let mut user = User::at(own.chromium.websocket_url()).await;
    let form = own.pages.url("form");
    let worker = Inside::worker(&mut user).await;
    let agent = own.agent_named("Agent", &[]).await;
    agent.call_tool("new_page", json!({"url": form})).await.ok();
    worker.until_held(&[&form]).await;
    own.kill_daemon();
    worker.until_held(&[]).await;
}
