//! Questions in the side panel, for clients that cannot ask; and the switch for following the person.

use crate::harness::page;
use crate::inside::Inside;
use crate::own_browser::OwnBrowser;
use crate::panel::{refused, search_of};
use crate::policy::{bought, shop};
use crate::user::User;
use serde_json::{Value, json};

/// Spec: security 24.
#[tokio::test]
async fn a_client_that_cannot_ask_is_answered_in_the_real_side_panel() {
    let Some(own) = OwnBrowser::open().await else {
        return;
    };
    let mut user = User::at(own.chromium.websocket_url()).await;
    own.pages.route("/shop", shop());
    own.pages.route("/mine", page("Mine", ""));
    let mine = own.pages.url("mine");
    user.opens(&mine).await;
    user.switches_to(&mine).await;
    let agent = own.agent_named("Claude Code", &[]).await;
    let url = own.pages.url("shop");
    agent.call_tool("new_page", json!({"url": url})).await.ok();
    let worker = Inside::worker(&mut user).await;
    let badge = |text: &str| {
        let text = Value::from(text);
        format!("chrome.action.getBadgeText({{}}).then((it) => it === {text})")
    };
    worker.until(&badge("")).await;
    let buy = |item: &str| json!({"name": "buy", "arguments": {"item": item}});
    // The badge alerts the person, who then opens the panel.
    let pending = agent.begin_call("call_page_tool", buy("tea")).await;
    worker.until(&badge("1")).await;
    let panel = Inside::side_panel(&mut user, &mine).await;
    panel.reads("Claude Code asks you").await;
    panel.reads("may be hard to undo").await;
    panel
        .until("document.getElementById('said').textContent.includes('asks whether buy may run on http://127.0.0.1')")
        .await;
    panel.presses("Allow buy").await;
    assert_eq!(pending.tool_reply().await.ok().text(), "bought tea");
    panel
        .until("document.getElementById('questions').hidden && document.getElementById('said').textContent === ''")
        .await;
    worker.until(&badge("")).await;
    // Text from the page is shown as text.
    let evil = "<img src=x onerror=\"window.hurt=1\">\u{202e}\n<script>window.hurt=1</script>";
    let pending = agent
        .begin_call("call_page_tool", buy(&evil.repeat(30)))
        .await;
    panel.reads("<img src=x onerror=").await;
    assert_eq!(panel.eval("document.images.length").await, 0);
    assert_eq!(panel.eval("window.hurt === undefined").await, true);
    assert_eq!(
        panel
            .eval("document.querySelector('.values').textContent.includes('\\u202e')")
            .await,
        false
    );
    panel.presses("Refuse buy").await;
    let told = pending.tool_reply().await.expect_error();
    assert!(told.contains("does not want buy to run"), "{told}");
    // The call is cancelled, and so the question disappears.
    let pending = agent.begin_call("call_page_tool", buy("gold")).await;
    panel.reads("Claude Code asks you").await;
    pending.cancel().await;
    panel
        .until("document.getElementById('questions').hidden")
        .await;
    assert_eq!(bought(&agent).await, "[\"tea\"]");
    // Pausing refuses the question.
    let pending = agent.begin_call("call_page_tool", buy("gold")).await;
    panel.reads("Claude Code asks you").await;
    panel.presses("Pause all").await;
    let told = pending.tool_reply().await.expect_error();
    assert!(told.starts_with("The person paused all agents"), "{told}");
    let status = own.tabmux(&["status"]).output().unwrap();
    let status = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(status.contains("paused all agents"), "{status}");
    panel.presses("Resume all").await;
    panel.reads("Pause all").await;
}

/// Spec: dynamic-tools 85.
#[tokio::test]
async fn an_agent_follows_the_person_while_its_switch_is_on() {
    let Some(own) = OwnBrowser::open().await else {
        return;
    };
    let mut user = User::at(own.chromium.websocket_url()).await;
    let [mine, there] = ["mine", "form?there"].map(|page| own.pages.url(page));
    user.opens(&mine).await;
    user.opens(&there).await;
    user.switches_to(&mine).await;
    let two = &own.agent_named("Cursor", &[]).await;
    let url = own.pages.url("form?two");
    two.call_tool("new_page", json!({"url": url})).await.ok();
    let panel = Inside::side_panel(&mut user, &mine).await;
    panel.reads("No agent works in this tab.").await;
    let switch = |on: bool| {
        format!(
            "(() => {{ const it = [...document.querySelectorAll('.switch')].find((it) => it.ariaLabel.startsWith('Cursor')); \
             if (!it || it.checked === {on}) return !!it; it.click(); return true; }})()"
        )
    };
    panel.until(&switch(true)).await;
    panel
        .reads("Cursor follows you and works in this tab.")
        .await;
    let told = refused(two).await;
    assert!(told.contains("the person gave this session tab"), "{told}");
    assert!(search_of(two).await.contains("Mine"));
    user.switches_to(&there).await;
    panel
        .reads("Cursor follows you and works in this tab.")
        .await;
    let turned = async { while !search_of(two).await.contains("?there") {} };
    tabmux_testkit::patiently(turned, || "the turn".to_owned()).await;
    panel.until(&switch(false)).await;
    panel.reads("Cursor works in this tab.").await;
    user.switches_to(&mine).await;
    panel.reads("No agent works in this tab.").await;
    assert!(search_of(two).await.contains("?there"));
}
