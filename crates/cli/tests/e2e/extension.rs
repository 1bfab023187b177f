//! The real extension in a real browser: it connects and reconnects, and agents work through it.

use crate::own_browser::OwnBrowser;
use crate::user::User;
use serde_json::json;
use tabmux_cdp::types::target::{CloseTarget, GetTargets, TargetInfo};
use tabmux_testkit::{McpClient, patiently};

/// Spec: multi-client 12; dynamic-tools 62, 63, 65, 95, 96.
#[tokio::test]
async fn the_extension_connects_and_reconnects_after_every_failure() {
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
    // Its service worker ends, as Chrome may do at any time. The next event restarts it.
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
    // The daemon dies; the extension reconnects to the next one by itself.
    own.kill_daemon();
    own.start_daemon();
    own.until_connected(true).await;
    // A replaced secret is picked up automatically, too.
    let rotated = own.tabmux(&["extension", "rotate"]).output().unwrap();
    assert!(rotated.status.success());
    own.kill_daemon();
    own.start_daemon();
    own.until_connected(true).await;
}

/// Spec: multi-client 13, 14, 17.
#[tokio::test]
async fn an_agent_works_in_a_persons_browser_next_to_the_person() {
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
    // No agent named the person's tab, so none holds it. Chrome confirms it.
    text("list_page_tools", json!({})).await;
    assert_eq!(held(&user, &own.pages.url("mine")).await, Some(false));
    assert_eq!(held(&user, &own.pages.url("form")).await, Some(true));
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

/// Whether a client is attached to the tab that shows this page.
async fn held(user: &User, url: &str) -> Option<bool> {
    let targets = user.browser().send(GetTargets::default()).await.unwrap();
    let mut targets = targets.target_infos.into_iter();
    let tab = targets.find(|target| target.r#type == "page" && target.url == url);
    tab.map(|tab| tab.attached)
}

async fn service_worker(user: &User) -> TargetInfo {
    let targets = user.browser().send(GetTargets::default()).await.unwrap();
    let mut workers = targets.target_infos.into_iter();
    let worker = workers.find(|target| target.r#type == "service_worker");
    worker.unwrap()
}

/// Spec: multi-client 13, 46; dynamic-tools 77, 78.
#[tokio::test]
async fn agents_have_tabs_of_their_own_and_the_person_keeps_the_front() {
    let Some(own) = OwnBrowser::open().await else {
        return;
    };
    let user = User::at(own.chromium.websocket_url()).await;
    let mine = own.pages.url("mine");
    user.opens(&mine).await;
    user.switches_to(&mine).await;
    let (one, two) = (
        own.agent(&["--extension", "--tools=static"]).await,
        own.agent(&["--extension", "--tools=static"]).await,
    );
    // Spec: multi-client 46.
    // Without a tab, each gets a new one; the person's stays as it is.
    for (agent, name) in [(&one, "form?one"), (&two, "form?two")] {
        call(agent, "navigate_page", json!({"url": own.pages.url(name)})).await;
    }
    for (agent, name) in [(&one, "?one"), (&two, "?two")] {
        let place = call(
            agent,
            "evaluate_script",
            json!({"function": "() => location.search"}),
        )
        .await;
        assert!(place.contains(name), "{place}");
    }
    assert_eq!(user.title_in_front().await, "Mine");
    // Spec: dynamic-tools 78.
    // A tab is brought to the front only on request.
    let pages = call(&one, "list_pages", json!({})).await;
    let number = number_of(&pages, "?one");
    let show = json!({"pageId": number, "bringToFront": true});
    call(&one, "select_page", show).await;
    assert_eq!(user.title_in_front().await, "Form");
    // The tabs that the agent opened are closed with its session, and no others.
    drop(one);
    let gone = async {
        while user.urls().await.iter().any(|url| url.contains("?one")) {
            tokio::task::yield_now().await;
        }
    };
    patiently(gone, || "the end of the agent's tab".to_owned()).await;
    let urls = user.urls().await;
    assert!(urls.contains(&mine), "{urls:?}");
    assert!(urls.iter().any(|url| url.contains("?two")), "{urls:?}");
}

#[tokio::test]
async fn pages_that_chrome_denies_to_extensions_are_refused_with_a_sentence() {
    let Some(own) = OwnBrowser::open().await else {
        return;
    };
    let user = User::at(own.chromium.websocket_url()).await;
    user.opens("chrome://version/").await;
    let agent = own.agent(&["--extension", "--tools=static"]).await;
    call(&agent, "new_page", json!({"url": own.pages.url("form")})).await;
    let pages = call(&agent, "list_pages", json!({})).await;
    let number = number_of(&pages, "chrome://version");
    let snapshot = json!({"tabId": number});
    let refused = agent
        .call_tool("take_snapshot", snapshot)
        .await
        .expect_error();
    assert!(
        refused.contains("chrome://version/") && refused.contains("open"),
        "{refused}"
    );
    let isolated = json!({"url": own.pages.url("form"), "isolatedContext": "apart"});
    let refused = agent.call_tool("new_page", isolated).await.expect_error();
    assert!(
        refused.contains("reached through its extension"),
        "{refused}"
    );
    let data = json!({"url": "data:text/html,<p>x"});
    let refused = agent.call_tool("new_page", data).await.expect_error();
    assert!(refused.contains("cannot open data: addresses"), "{refused}");
    let still = call(
        &agent,
        "take_snapshot",
        json!({"tabId": number_of(&pages, "/form")}),
    )
    .await;
    assert!(still.contains("Press"), "{still}");
}

/// Spec: dynamic-tools 67, 76, 81, 82, 83, 86.
#[tokio::test]
async fn the_states_of_a_session_follow_the_extension() {
    let Some(mut own) = OwnBrowser::open().await else {
        return;
    };
    let user = User::at(own.chromium.websocket_url()).await;
    let agent = own.agent(&["--tools=progressive"]).await;
    // Spec: dynamic-tools 81.
    // The extension is connected, and no session yet. Without flags a session uses it.
    assert_eq!(agent.tool_names().await, ["connect_browser"]);
    let connected = agent
        .call_tool("connect_browser", json!({}))
        .await
        .ok()
        .json();
    assert_eq!(connected["connected"], true, "{connected}");
    agent.take_notifications().await;
    let form = own.pages.url("form");
    let opened = agent
        .call_tool("open_tab", json!({"url": form}))
        .await
        .ok()
        .json();
    assert_eq!(opened["focused"], true, "{opened}");
    agent.take_notifications().await;
    assert!(agent.tool_names().await.contains(&"close_tab".to_owned()));
    // Spec: dynamic-tools 83.
    // The person closes the tab that the agent works in.
    user.closes(&form).await;
    agent.next_notification().await;
    assert!(!agent.tool_names().await.contains(&"close_tab".to_owned()));
    // Spec: dynamic-tools 82.
    // The browser with the extension is closed.
    own.chromium.kill();
    agent.next_notification().await;
    assert_eq!(agent.tool_names().await, ["connect_browser"]);
    own.until_connected(false).await;
}

/// The number of the page whose line has this in it.
fn number_of(pages: &str, part: &str) -> u32 {
    let line = pages.lines().find(|line| line.contains(part));
    let line = line.unwrap_or_else(|| panic!("{part} is not in\n{pages}"));
    line.split(':').next().unwrap().trim().parse().unwrap()
}
