//! The real extension in a real browser: it connects, comes back, and agents work through it.

use crate::own_browser::OwnBrowser;
use crate::user::User;
use serde_json::json;
use tabmux_cdp::types::target::{CloseTarget, GetTargets, TargetInfo};
use tabmux_testkit::McpClient;

#[tokio::test]
async fn r004_62_63_65_95_96_r002_12_the_extension_connects_and_comes_back_whatever_dies() {
    let Some(mut own) = OwnBrowser::open().await else {
        return;
    };
    let status = own.status();
    assert_eq!(
        (&status["installed"], &status["upToDate"], &status["paired"]),
        (&json!(true), &json!(true), &json!(true)),
        "{status}"
    );
    let user = User::at(own.chromium.websocket_url()).await;
    // Its service worker dies, as Chrome lets it at any time. The next event brings it back.
    let worker = service_worker(&user).await;
    user.browser()
        .send(CloseTarget {
            target_id: worker.target_id,
        })
        .await
        .unwrap();
    own.until_connected(false).await;
    user.opens(&own.pages.url("mine")).await;
    own.until_connected(true).await;
    // The daemon dies; the extension finds the next one by itself.
    own.kill_daemon();
    own.start_daemon();
    own.until_connected(true).await;
    // Another secret is taken up without anybody's help, too.
    let rotated = own.tabmux(&["extension", "rotate"]).output().unwrap();
    assert!(rotated.status.success());
    own.kill_daemon();
    own.start_daemon();
    own.until_connected(true).await;
}

#[tokio::test]
async fn r002_13_14_17_an_agent_works_in_a_persons_browser_beside_the_person() {
    let Some(own) = OwnBrowser::open().await else {
        return;
    };
    let user = User::at(own.chromium.websocket_url()).await;
    user.opens(&own.pages.url("mine")).await;
    let agent = own.agent(&["--extension", "--tools=static"]).await;
    let text = async |tool: &str, arguments| call(&agent, tool, arguments).await;
    let opened = text("new_page", json!({"url": own.pages.url("form")})).await;
    assert!(opened.contains("Form"), "{opened}\n{}", own.log());
    let pages = text("list_pages", json!({})).await;
    assert!(pages.contains("Mine") && pages.contains("Form"), "{pages}");
    let snapshot = text("take_snapshot", json!({})).await;
    let line = snapshot
        .lines()
        .find(|line| line.contains("Press"))
        .unwrap();
    let uid = line
        .split_once("uid=")
        .unwrap()
        .1
        .split(' ')
        .next()
        .unwrap();
    text("click", json!({"uid": uid})).await;
    let out = text(
        "evaluate_script",
        json!({"function": "() => out.textContent"}),
    )
    .await;
    assert!(out.contains("pressed true"), "{out}");
    let status = text("browser_get_connection_status", json!({})).await;
    assert!(status.contains("\"extensionConnected\":true"), "{status}");
    let number = pages.lines().find(|line| line.contains("Form")).unwrap();
    let number: u32 = number.split(':').next().unwrap().trim().parse().unwrap();
    text("close_page", json!({"pageId": number})).await;
    let pages = text("list_pages", json!({})).await;
    assert!(pages.contains("Mine") && !pages.contains("Form"), "{pages}");
}

async fn call(agent: &McpClient, tool: &str, arguments: serde_json::Value) -> String {
    agent.call_tool(tool, arguments).await.ok().text()
}

async fn service_worker(user: &User) -> TargetInfo {
    let targets = user.browser().send(GetTargets::default()).await.unwrap();
    let mut workers = targets.target_infos.into_iter();
    let worker = workers.find(|target| target.r#type == "service_worker");
    worker.unwrap()
}
