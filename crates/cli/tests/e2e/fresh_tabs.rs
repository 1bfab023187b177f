//! Tabs that the extension opened for an agent: the daemon knows them, and unknown ones are closed.

use crate::inside::{Inside, kill_worker};
use crate::own_browser::OwnBrowser;
use crate::user::User;
use serde_json::json;
use tabmux_testkit::patiently;

/// Where the worker stores tabs that it opened and that the daemon has not confirmed yet.
const FRESH: &str =
    "chrome.storage.session.get('fresh').then(({fresh}) => Object.keys(fresh ?? {x: 1}).length)";

#[tokio::test]
async fn a_worker_that_dies_before_a_tab_is_confirmed_closes_only_unknown_tabs() {
    let Some(own) = OwnBrowser::open().await else {
        return;
    };
    let mut user = User::at(own.chromium.websocket_url()).await;
    let worker = Inside::worker(&mut user).await;
    let agent = own.agent_named("Cursor", &[]).await;
    let [known, orphan] = ["form?known", "form?orphan"].map(|page| own.pages.url(page));
    agent
        .call_tool("new_page", json!({"url": known}))
        .await
        .ok();
    worker
        .until(&format!("{FRESH}.then((it) => it === 0)"))
        .await;

    // Both look unconfirmed: one belongs to the agent, the other was opened for a call that failed.
    let forget = format!(
        "chrome.tabs.create({{url: '{orphan}', active: false}}).then(async (orphan) => {{
           const [known] = await chrome.tabs.query({{url: '{known}'}});
           await chrome.storage.session.set({{fresh: {{[known.id]: Date.now(), [orphan.id]: Date.now()}}}});
           return true; }})"
    );
    assert_eq!(worker.eval(&forget).await, true);
    kill_worker(&user).await;
    let tidied = async { while user.urls().await.contains(&orphan) {} };
    patiently(tidied, || {
        "the tab that nobody knows to be closed".to_owned()
    })
    .await;
    let worker = Inside::worker_that(&mut user, &format!("{FRESH}.then((it) => it === 0)")).await;
    assert_eq!(worker.eval(FRESH).await, 0);
    assert!(user.urls().await.contains(&known));
    let here = json!({"function": "() => location.search"});
    let here = agent.call_tool("evaluate_script", here).await.ok().text();
    assert!(here.contains("?known"), "{here}");
}
