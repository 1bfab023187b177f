//! Tabs whose pages are paused when they are attached, whose rules Chrome refuses, or whose events are too large.

use crate::error::ToolError;
use crate::fake::{self, Asked, FakeBrowser};
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn a_tab_whose_page_is_paused_is_ready_when_it_continues() {
    for seconds in [31, 700] {
        let mut harness = FakeBrowser::new(|asked: &Asked| match asked.session_id {
            Some(_) => vec![],
            None => fake::usual(asked),
        })
        .await;
        // Each try takes ten seconds of the test's clock.
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(seconds) {
            let stuck = harness.tab().await.map(drop);
            assert!(matches!(stuck, Err(ToolError::Stuck)), "{stuck:?}");
        }
        for asked in harness.fake.heard_so_far() {
            for frame in fake::usual(&asked) {
                harness.fake.say(frame).await;
            }
        }
        let tab = harness.tab().await;
        assert!(tab.is_ok(), "after {seconds} s: {tab:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_fails_at_once_if_chrome_refuses_its_rule() {
    for rule in [
        json!({ "url": "*", "status": 204 }),
        json!({ "url": "*", "requestHeaders": { "A": "b" } }),
        json!({ "url": "*", "responseHeaders": { "A": "b" } }),
    ] {
        let mut harness = FakeBrowser::new(|asked: &Asked| match asked.method.as_str() {
            "Fetch.fulfillRequest" | "Fetch.continueRequest" | "Fetch.continueResponse" => {
                vec![asked.refuse("Unsafe header: A")]
            }
            _ => fake::usual(asked),
        })
        .await;
        harness.tab().await.unwrap();
        let answered = rule["responseHeaders"].is_object();
        harness.run("route", rule).await.unwrap();
        let mut paused =
            json!({"requestId": "REQUEST", "request": {"url": "http://a/", "headers": {}}});
        if answered {
            paused["responseStatusCode"] = json!(200);
        }
        harness
            .fake
            .say(fake::event("Fetch.requestPaused", paused))
            .await;
        let ended = harness.fake.hears("Fetch.failRequest").await.unwrap();
        assert_eq!(ended.params["requestId"], "REQUEST");
    }
}

#[tokio::test(start_paused = true)]
async fn an_oversize_request_continues_unless_a_rule_matches_it() {
    for (rule, word) in [
        ("http://elsewhere/*", "Fetch.continueRequest"),
        ("http://here/*", "Fetch.failRequest"),
    ] {
        let mut harness = FakeBrowser::new(fake::usual).await;
        harness.tab().await.unwrap();
        let rule = json!({ "url": rule, "requestHeaders": { "A": "b" } });
        harness.run("route", rule).await.unwrap();
        let head = r#"{"requestId":"REQUEST","request":{"url":"http://here/x","postData":"xxx"#;
        harness.fake.say_cut("Fetch.requestPaused", head).await;
        let asked = harness.fake.hears(word).await.unwrap();
        assert_eq!(asked.params["requestId"], "REQUEST");
    }
}

#[tokio::test(start_paused = true)]
async fn a_challenge_for_an_oversize_request_is_cancelled() {
    let mut harness = FakeBrowser::new(fake::usual).await;
    harness.tab().await.unwrap();
    let head = r#"{"requestId":"REQUEST","request":{"url":"http://here/x","postData":"xxx"#;
    let method = "Fetch.authRequired";
    for of_tab in [true, false] {
        match of_tab {
            true => harness.fake.say_cut(method, head).await,
            false => harness.fake.say_browser_cut(method, head).await,
        }
        let asked = harness.fake.hears("Fetch.continueWithAuth").await.unwrap();
        assert_eq!(asked.session_id.is_some(), of_tab);
        assert_eq!(asked.params["requestId"], "REQUEST");
        let answer = &asked.params["authChallengeResponse"]["response"];
        assert_eq!(answer, "CancelAuth");
    }
}

#[tokio::test(start_paused = true)]
async fn oversize_events_are_noted_and_an_oversize_dialog_is_open() {
    let harness = FakeBrowser::new(fake::usual).await;
    let tab = harness.tab().await.unwrap();
    for (method, head) in [
        (
            "Runtime.consoleAPICalled",
            r#"{"type":"warning","args":["xxx"#,
        ),
        (
            "Runtime.exceptionThrown",
            r#"{"timestamp":1,"exceptionDetails":{"text":"xxx"#,
        ),
        (
            "Log.entryAdded",
            r#"{"entry":{"source":"network","level":"info","text":"xxx"#,
        ),
        (
            "Network.requestWillBeSent",
            r#"{"requestId":"1","request":{"url":"data:xxx"#,
        ),
        (
            "Page.javascriptDialogOpening",
            r#"{"url":"http://here.test/","message":"xxx"#,
        ),
    ] {
        harness.fake.say_cut(method, head).await;
    }
    let opened = tab.until(Duration::from_secs(60), |state| state.dialog.is_some());
    assert_eq!(opened.await, Ok(true));
    let state = tab.state();
    let told = state.console.iter();
    let told: Vec<_> = told
        .map(|it| (it.kind.as_str(), it.text.as_str()))
        .collect();
    let text = "(a message of 99000000 bytes, too large to be kept)";
    assert_eq!(told, [("warn", text), ("error", text), ("info", text)]);
    assert_eq!(state.network.too_large, 1);
}
