//! Sites that a session may not see: however a tab gets to them, their content is withheld.

use crate::harness::{BrowserHarness, Capability, text_of};
use serde_json::{Value, json};
use tabmux_browser::bounds::within;
use tabmux_browser::{OriginPolicy, OriginRules, RuledBy, Tab, ToolError};
use tabmux_testkit::Response;

/// Only the server's own address is allowed; under its other name it is another site.
fn policy() -> OriginPolicy {
    OriginPolicy::of([OriginRules {
        by: RuledBy::Flags,
        allowed: vec!["http://127.0.0.1:*".parse().unwrap()],
        blocked: Vec::new(),
    }])
}

async fn start() -> Option<BrowserHarness> {
    let harness = BrowserHarness::start().await?;
    let secret = harness.server.cross_site_url("secret");
    harness.server.route(
        "/page",
        Response::html(format!(
            "<title>Open</title><a href='{secret}'>link</a><button onclick='location = \"{secret}\"'>go</button>\
             <a href='{secret}' target=_blank>popup</a>"
        )),
    );
    harness.server.route(
        "/secret",
        Response::html("<title>Top secret</title><p>the code is 1234</p><script>console.log('code 1234')</script>"),
    );
    harness.server.route("/away", Response::redirect(&secret));
    Some(harness)
}

/// Runs a tool as a session under the policy.
async fn bounded(
    harness: &BrowserHarness,
    tab: &Tab,
    tool: &str,
    arguments: Value,
) -> Result<String, String> {
    let run = within(policy(), harness.run(tab, tool, arguments)).await;
    run.map(|output| text_of(&output))
        .map_err(|error| error.to_string())
}

#[track_caller]
fn tells_nothing(said: &Result<String, String>) {
    let (Ok(said) | Err(said)) = said;
    for part in ["secret", "1234"] {
        assert!(!said.contains(part), "{said}");
    }
}

#[track_caller]
fn is_refused(harness: &BrowserHarness, said: Result<String, String>) {
    tells_nothing(&said);
    let said = said.unwrap_err();
    let origin = format!("http://localhost:{}", harness.server.port());
    assert!(
        said.contains(&origin) && said.contains("--allowedOrigins"),
        "{said}"
    );
}

/// A tab of ours that shows the allowed page.
async fn opened(harness: &BrowserHarness) -> Tab {
    within(policy(), harness.open("page")).await
}

#[tokio::test]
async fn a_blocked_site_is_not_opened_and_nothing_is_sent() {
    let Some(harness) = start().await else { return };
    let secret = harness.server.cross_site_url("secret");
    let refused = within(policy(), harness.try_open(&secret)).await;
    assert!(matches!(refused, Err(ToolError::Blocked(_))), "{refused:?}");
    let tab = opened(&harness).await;
    is_refused(
        &harness,
        bounded(&harness, &tab, "navigate_page", json!({ "url": secret })).await,
    );
    let text = bounded(&harness, &tab, "take_snapshot", json!({}))
        .await
        .unwrap();
    assert!(text.contains("link"), "the tab is where it was: {text}");
    assert_eq!(harness.server.count("/secret"), 0);
}

#[tokio::test]
async fn a_redirect_to_a_blocked_site_is_stopped() {
    let Some(harness) = start().await else { return };
    let away = harness.server.url("away");
    let refused = within(policy(), harness.try_open(&away)).await;
    assert!(matches!(refused, Err(ToolError::Stopped(_))), "{refused:?}");
    let tab = opened(&harness).await;
    is_refused(
        &harness,
        bounded(&harness, &tab, "navigate_page", json!({ "url": away })).await,
    );
    assert_eq!(harness.server.count("/secret"), 0);
    tells_nothing(&bounded(&harness, &tab, "list_network_requests", json!({})).await);
}

#[tokio::test]
async fn a_link_and_a_script_to_a_blocked_site_are_stopped() {
    let Some(harness) = start().await else { return };
    let tab = opened(&harness).await;
    for name in ["link \"link\"", "button \"go\""] {
        let uid = harness.uid(&tab, name).await;
        let said = bounded(&harness, &tab, "click", json!({ "uid": uid })).await;
        tells_nothing(&said);
        let said = said.unwrap();
        assert!(said.contains("was blocked: http://localhost:"), "{said}");
    }
    let text = bounded(&harness, &tab, "take_snapshot", json!({}))
        .await
        .unwrap();
    assert!(text.contains("link"), "the page is still there: {text}");
    assert_eq!(harness.server.count("/secret"), 0);
}

#[tokio::test]
async fn a_popup_may_go_where_its_opener_may() {
    let Some(mut harness) = start().await else {
        return;
    };
    let tab = opened(&harness).await;
    harness.appeared().await;
    let uid = harness.uid(&tab, "link \"popup\"").await;
    tells_nothing(&bounded(&harness, &tab, "click", json!({ "uid": uid })).await);
    let (popup, _) = harness.appeared().await;
    let popup = harness.browser.tab(&popup).await.unwrap();
    tells_nothing(&bounded(&harness, &popup, "take_snapshot", json!({})).await);
    if harness.can(Capability::PopupsFromTheirFirstByte) {
        assert_eq!(harness.server.count("/secret"), 0);
    }
}

#[tokio::test]
async fn the_answer_is_withheld_if_the_page_navigates_during_a_call() {
    let Some(harness) = start().await else { return };
    let secret = harness.server.cross_site_url("secret");
    // A tab of a session without a policy; no navigation in it is stopped.
    let tab = harness.open("page").await;
    let leave = format!(
        "async () => {{ location = {secret:?}; await new Promise((done) => setTimeout(done, 20000)); return \
         document.body.innerText; }}"
    );
    let said = bounded(
        &harness,
        &tab,
        "evaluate_script",
        json!({ "function": leave }),
    )
    .await;
    tells_nothing(&said);
    let wait = format!(
        "() => {{ location = {secret:?}; return document.body.innerText.includes('1234'); }}"
    );
    let wait = json!({ "function": wait, "timeout": 1500 });
    tells_nothing(&bounded(&harness, &tab, "wait_for", wait).await);
}

#[tokio::test]
async fn a_tab_that_shows_a_blocked_site_is_refused_to_every_tool() {
    let Some(harness) = start().await else { return };
    let tab = harness
        .open_url(&harness.server.cross_site_url("secret"))
        .await;
    for (tool, arguments) in [
        ("take_snapshot", json!({})),
        ("take_screenshot", json!({})),
        ("find", json!({ "text": "code" })),
        (
            "evaluate_script",
            json!({ "function": "() => document.title" }),
        ),
        (
            "evaluate_script",
            json!({ "function": "document.title", "format": "script" }),
        ),
        ("click_at", json!({ "x": 5, "y": 5 })),
        ("press_key", json!({ "key": "a" })),
        ("wait_for", json!({ "text": ["code"] })),
        ("list_console_messages", json!({})),
        ("list_network_requests", json!({})),
        ("cookies", json!({})),
        ("local_storage", json!({})),
        ("screencast_stop", json!({})),
    ] {
        is_refused(&harness, bounded(&harness, &tab, tool, arguments).await);
    }
    let page = harness.server.url("page");
    let left = bounded(&harness, &tab, "navigate_page", json!({ "url": page })).await;
    if harness.browser.is_personal() {
        // A tab that a user has open stays where it is.
        return is_refused(&harness, left);
    }
    // The session can navigate it away, and does not see its earlier content.
    left.unwrap();
    for (tool, arguments) in [
        (
            "list_console_messages",
            json!({ "includePreservedMessages": true }),
        ),
        (
            "list_network_requests",
            json!({ "includePreservedRequests": true }),
        ),
        ("get_network_request", json!({ "reqid": 1 })),
        ("get_console_message", json!({ "msgid": 1 })),
    ] {
        tells_nothing(&bounded(&harness, &tab, tool, arguments).await);
    }
    // Back leads to it, also from the back/forward cache.
    is_refused(
        &harness,
        bounded(&harness, &tab, "navigate_page", json!({ "type": "back" })).await,
    );
    let back = json!({ "function": "() => { history.back(); }" });
    tells_nothing(&bounded(&harness, &tab, "evaluate_script", back).await);
}

#[tokio::test]
async fn going_back_by_script_shows_nothing() {
    let Some(harness) = start().await else { return };
    let tab = harness
        .open_url(&harness.server.cross_site_url("secret"))
        .await;
    let page = harness.server.url("page");
    harness
        .text(&tab, "navigate_page", json!({ "url": page }))
        .await;
    // The tab has no policy, so the page can navigate; the call is refused nevertheless.
    harness
        .page_value(&tab, "void setTimeout(() => history.back())")
        .await;
    let shows_secret = |state: &tabmux_browser::tab::TabState| {
        let main = state.frames.main();
        main.is_some_and(|main| main.url.contains("/secret"))
    };
    assert!(
        tab.until(std::time::Duration::from_secs(20), shows_secret)
            .await
            .unwrap()
    );
    is_refused(
        &harness,
        bounded(&harness, &tab, "take_snapshot", json!({})).await,
    );
}

#[tokio::test]
async fn a_frame_of_a_blocked_site_is_empty_or_left_out() {
    let Some(harness) = start().await else { return };
    let secret = harness.server.cross_site_url("secret");
    let frames = format!("<p>around</p><iframe src='{secret}' title=inner></iframe>");
    harness.server.route("/frames", Response::html(frames));
    // In a tab of the session the frame stays empty.
    let own = within(policy(), harness.open("frames")).await;
    let text = bounded(&harness, &own, "take_snapshot", json!({}))
        .await
        .unwrap();
    assert!(text.contains("around") && !text.contains("1234"), "{text}");
    assert_eq!(harness.server.count("/secret"), 0);
    // In a tab of another session the frame loads, and is left out.
    let other = harness.open("frames").await;
    assert!(
        harness
            .text(&other, "take_snapshot", json!({}))
            .await
            .contains("1234")
    );
    let text = bounded(&harness, &other, "take_snapshot", json!({}))
        .await
        .unwrap();
    assert!(!text.contains("1234"), "{text}");
    let uid = harness.uid(&other, "inner").await;
    let inside = json!({ "function": "() => document.body.innerText", "frameUid": uid });
    is_refused(
        &harness,
        bounded(&harness, &other, "evaluate_script", inside).await,
    );
    for (tool, arguments) in [
        ("find", json!({ "text": "code" })),
        (
            "wait_for",
            json!({ "text": ["code is 1234"], "timeout": 300 }),
        ),
        ("list_console_messages", json!({})),
        ("list_network_requests", json!({})),
        ("cookies", json!({})),
    ] {
        let said = bounded(&harness, &other, tool, arguments).await;
        let (Ok(said) | Err(said)) = said;
        // The error may repeat the requested address.
        let said = said.replace("\"code is 1234\"", "");
        assert!(
            !said.contains("code 1234") && !said.contains("is 1234\""),
            "{tool}: {said}"
        );
        assert!(
            tool == "find" || !said.contains("/secret"),
            "{tool}: {said}"
        );
    }
}

#[tokio::test]
async fn a_blank_page_has_the_origin_of_its_creator() {
    let Some(mut harness) = start().await else {
        return;
    };
    let tab = harness
        .open_url(&harness.server.cross_site_url("secret"))
        .await;
    harness.appeared().await;
    harness
        .page_value(
            &tab,
            "void window.open('about:blank').document.write('<p>the code is 1234</p>')",
        )
        .await;
    let (popup, _) = harness.appeared().await;
    let popup = harness.browser.tab(&popup).await.unwrap();
    is_refused(
        &harness,
        bounded(&harness, &popup, "take_snapshot", json!({})).await,
    );
}

#[tokio::test]
async fn without_a_policy_nothing_is_stopped_and_released_tabs_are_free() {
    let Some(harness) = start().await else { return };
    let tab = opened(&harness).await;
    harness.browser.hold(tab.target(), false).await;
    let secret = harness.server.cross_site_url("secret");
    harness
        .text(&tab, "navigate_page", json!({ "url": secret }))
        .await;
    let text = harness.text(&tab, "take_snapshot", json!({})).await;
    assert!(text.contains("1234"), "{text}");
}
