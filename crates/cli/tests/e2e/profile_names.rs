//! A person's browser has the name that it read when it loaded the extension.

use crate::inside::reload;
use crate::own_browser::OwnBrowser;
use crate::user::User;
use serde_json::json;
use tabmux_testkit::patiently;

#[tokio::test]
async fn a_browser_keeps_its_name_until_the_person_reloads_the_extension() {
    let Some(mut own) = OwnBrowser::open().await else {
        return;
    };
    // A new name applies to the next browser that loads the folder.
    let mut install = own.tabmux(&["extension", "install", "--wait=0", "--name=Other"]);
    assert!(install.output().unwrap().status.success());
    own.kill_daemon();
    own.start_daemon();
    own.until_connected(true).await;
    answers_to(&own, "Work").await;
    let mut user = User::at(own.chromium.websocket_url()).await;
    reload(&mut user).await;
    answers_to(&own, "Other").await;
}

/// Waits until an agent that names this browser finds it.
async fn answers_to(own: &OwnBrowser, name: &str) {
    let browser = format!("--browser={name}");
    let asking = async {
        let agent = own.agent_named("tester", &[&browser]).await;
        while agent.call_tool("list_pages", json!({})).await.is_error() {
            tokio::task::yield_now().await;
        }
    };
    patiently(asking, || format!("a browser named {name}\n{}", own.log())).await;
}
