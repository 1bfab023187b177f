//! The side panel and sites: rules that the person sets there apply at once, and `tabmux policy` shows them.

use crate::inside::{Inside, allow_in_private_windows};
use crate::own_browser::OwnBrowser;
use crate::panel::{Scene, refused, search_of};
use crate::user::User;
use serde_json::json;

pub(crate) fn policy(own: &OwnBrowser, arguments: &[&str]) -> String {
    let output = own.tabmux(&["policy"]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test]
async fn the_person_blocks_the_site_in_front_and_allows_it_again() {
    let Some(scene) = Scene::set().await else {
        return;
    };
    let Scene {
        own, one, panel, ..
    } = &scene;
    let origin = own.pages.url("").trim_end_matches('/').to_owned();
    panel.reads("Agents may act on this site.").await;
    // Running calls there end.
    let slow = json!({"function": "() => new Promise(() => {})"});
    let slow = one.begin_call("evaluate_script", slow).await;
    panel.reads("evaluate_script").await;
    panel.presses("Block this site").await;
    let stopped = slow.tool_reply().await.expect_error();
    assert!(
        stopped.contains("is blocked by the person") && stopped.contains("was stopped"),
        "{stopped}"
    );
    panel
        .reads("Agents may not act on this site: you block it.")
        .await;
    assert!(policy(own, &["list"]).contains(&origin));
    let told = refused(one).await;
    assert!(told.contains("is blocked by the person"), "{told}");
    panel.presses(&format!("Unblock: {origin}")).await;
    panel.reads("Agents may act on this site.").await;
    assert_eq!(policy(own, &["list"]), "Agents may see every site.\n");
    assert!(search_of(one).await.contains("?one"));
    // Rules set in a terminal are shown here, and the other way round.
    policy(own, &["allow", "https://other.test"]);
    panel
        .reads("Agents may not act on this site: you allow only other sites.")
        .await;
    panel.presses("Allow this site").await;
    panel
        .reads("Agents may act on this site: you allow it.")
        .await;
    let rules = policy(own, &["list", "--json"]);
    assert!(
        rules.contains(&origin) && rules.contains("other.test"),
        "{rules}"
    );
    assert!(search_of(one).await.contains("?one"));
    panel.presses("Stop allowing: https://other.test").await;
    // Without the last allowed site every site is allowed, and the button says so.
    panel.presses(&format!("Allow all sites: {origin}")).await;
    panel.reads("Allow only this site").await;
    assert_eq!(policy(own, &["list"]), "Agents may see every site.\n");
}

#[tokio::test]
async fn tabs_of_private_windows_are_hidden_until_the_person_allows_them() {
    let Some(own) = OwnBrowser::open().await else {
        return;
    };
    let mut user = User::at(own.chromium.websocket_url()).await;
    allow_in_private_windows(&mut user).await;
    let worker =
        Inside::worker_that(&mut user, "chrome.extension.isAllowedIncognitoAccess()").await;
    own.until_connected(true).await;
    let secret = own.pages.url("form?secret");
    let open = format!(
        "chrome.windows.create({{incognito: true, url: '{secret}'}}).then((it) => it.incognito)"
    );
    assert_eq!(worker.eval(&open).await, true);
    worker
        .until(&format!(
            "chrome.tabs.query({{url: '{secret}'}}).then(([it]) => it?.incognito === true)"
        ))
        .await;
    let agent = own.agent_named("Cursor", &[]).await;
    // The agent opens its tab in a normal window, though a private one is in front.
    let url = own.pages.url("form?open");
    agent.call_tool("new_page", json!({"url": url})).await.ok();
    worker
        .until(&format!(
            "chrome.tabs.query({{url: '{url}'}}).then(([it]) => it?.incognito === false)"
        ))
        .await;
    let pages = async || agent.call_tool("list_pages", json!({})).await.ok().text();
    let listed = pages().await;
    assert!(
        listed.contains("?open") && !listed.contains("?secret"),
        "{listed}"
    );
    let panel = Inside::panel(&mut user).await;
    panel.reads("Agents may not work in private windows.").await;
    policy(&own, &["private-windows", "allow"]);
    panel.reads("Agents may work in private windows.").await;
    let seen = async { while !pages().await.contains("?secret") {} };
    tabmux_testkit::patiently(seen, || "the private tab".to_owned()).await;
    let listed = pages().await;
    let line = listed
        .lines()
        .find(|line| line.contains("?secret"))
        .unwrap();
    let tab = line.split(':').next().unwrap().trim().to_owned();
    let look = json!({"tabId": tab, "function": "() => location.search"});
    let looked = agent.call_tool("evaluate_script", look.clone()).await.ok();
    assert!(looked.text().contains("?secret"));
    panel.presses("Block private windows").await;
    panel.reads("Agents may not work in private windows.").await;
    let told = agent
        .call_tool("evaluate_script", look)
        .await
        .expect_error();
    assert!(!told.contains("?secret"), "{told}");
    assert!(!pages().await.contains("?secret"));
    worker.until_held(&[&url]).await;
    assert_eq!(policy(&own, &["list"]), "Agents may see every site.\n");
}
