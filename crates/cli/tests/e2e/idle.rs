//! After a long idle time an agent continues in a person's browser.

use crate::inside::Inside;
use crate::own_browser::OwnBrowser;
use crate::user::User;
use serde_json::json;
use std::time::{Duration, Instant};
use tabmux_cdp::types::target::{CloseTarget, GetTargets};

/// Chrome ends an idle worker within half an hour. Here the test ends it at once; with `TABMUX_SOAK=1` it waits for
/// half an hour.
/// Spec: dynamic-tools 95, 96.
#[tokio::test]
async fn after_half_an_hour_of_silence_a_call_works_at_once() {
    let Some(own) = OwnBrowser::open().await else {
        return;
    };
    let mut user = User::at(own.chromium.websocket_url()).await;
    let agent = own.agent(&["--extension", "--tools=static"]).await;
    let form = json!({"url": own.pages.url("form")});
    agent.call_tool("new_page", form).await.ok();
    let note = json!({"function": "() => { window.kept = 'as it was'; }"});
    agent.call_tool("evaluate_script", note).await.ok();
    if std::env::var_os("TABMUX_SOAK").is_some() {
        let silence = std::future::pending::<()>();
        let _ = tokio::time::timeout(Duration::from_secs(1_800), silence).await;
    } else {
        // The daemon confirms a new tab a moment later; until then the tab is not yet the agent's.
        let worker = Inside::worker(&mut user).await;
        let known = "chrome.storage.session.get('fresh').then(({fresh}) => Object.keys(fresh ?? {}).length === 0)";
        worker.until(known).await;
        let targets = user.browser().send(GetTargets::default()).await.unwrap();
        let mut targets = targets.target_infos.into_iter();
        let worker = targets.find(|target| target.r#type == "service_worker");
        let target_id = worker.unwrap().target_id;
        user.browser()
            .send(CloseTarget { target_id })
            .await
            .unwrap();
        own.until_connected(false).await;
    }
    let begun = Instant::now();
    let look = json!({"function": "() => window.kept"});
    let kept = agent.call_tool("evaluate_script", look).await.ok().text();
    assert!(kept.contains("as it was"), "{kept}");
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
}

const AT_ONCE: Duration = Duration::from_secs(5);
