//! A page in an endless loop blocks no other tab, and its own tab only for a limited time.

use crate::harness::{McpHarness, page};
use serde_json::json;

/// A page whose script runs forever once its button is clicked, and reports its start.
const LOOP: &str = "() => { const x = new XMLHttpRequest(); x.open('GET', '/looping', false); x.send(); \
                    for (;;) {} }";

async fn harness() -> Option<McpHarness> {
    harness_with(&[]).await
}

async fn harness_with(flags: &[&str]) -> Option<McpHarness> {
    let harness = McpHarness::launched(flags).await?;
    harness
        .pages
        .route("/looping", tabmux_testkit::Response::text("go"));
    Some(harness)
}

#[tokio::test]
async fn other_tabs_answer_while_one_loops_and_cancelling_ends_the_loop() {
    let Some(harness) = harness().await else {
        return;
    };
    let other = harness.open("b").await;
    let stuck = harness.open("a").await;
    let looping = harness
        .client
        .begin_call("evaluate_script", json!({"function": LOOP}))
        .await;
    harness.pages.wait_for_request("/looping").await;

    // Other tabs work, including opening and closing.
    harness.focus(other).await;
    assert_eq!(harness.evaluate("() => document.title").await, "B");
    assert!(
        harness
            .text("take_snapshot", json!({}))
            .await
            .contains("This is B.")
    );
    harness.text("take_screenshot", json!({})).await;
    let third = harness.open("c").await;
    harness.text("close_tab", json!({"tabId": third})).await;
    harness.client.take_notifications().await;
    assert!(!looping.is_answered(), "{}", harness.client.transcript());

    // Cancelled: no answer, and the tab is free again.
    looping.cancel().await;
    harness.focus(stuck).await;
    assert_eq!(harness.evaluate("() => document.title").await, "A");
    assert!(!looping.is_answered(), "a cancelled call gets no answer");
}

/// A page with a tool. When the server lets it, it loops for most of a second, and tells when it begins and ends.
const LOOPS_FOR_A_WHILE: &str = "<form aria-label='Find a book'><label>Title <input name=title></label><button>Find</button></form>\
    <script>const tell = (path) => { const x = new XMLHttpRequest(); x.open('GET', path, false); x.send(); };\
    const loop = () => { tell('/looping'); const end = Date.now() + 800; while (Date.now() < end); tell('/ended'); };\
    fetch(location.href.replace('loop', 'start')).then(loop);</script>";

/// Nothing measures the time: the loop takes the second in which the list must come.
#[tokio::test]
async fn tabs_are_listed_before_a_loop_ends() {
    let Some(harness) = harness().await else {
        return;
    };
    let go = || tabmux_testkit::Response::text("go");
    harness.pages.route("/ended", go());
    let other = harness.open("b").await;
    // While the browser itself is slow, a list waits longer for a page. A page for which it has waited is known.
    for round in 1..=ROUNDS {
        let path = format!("/loop{round}");
        harness.pages.route(&path, page("Loop", LOOPS_FOR_A_WHILE));
        let start = harness.pages.hold(&format!("/start{round}"), go());
        let tab = harness.open(&path).await;
        // The page of a focused tab is not read for a list.
        harness.focus(other).await;
        let before = harness.tabs().await;
        assert_eq!(before.rows()[1]["toolCount"], 1, "{before:?}");
        start.open();
        harness.pages.wait_for_nth_request("/looping", round).await;
        assert_eq!(harness.tabs().await, before);
        if harness.pages.count("/ended") < round {
            return;
        }
        harness.text("close_tab", json!({"tabId": tab})).await;
    }
    panic!("in {ROUNDS} rounds each list of tabs waited for the page that loops");
}

const ROUNDS: usize = 10;

/// The one test that waits for a deadline. Calls have 30 s; the test sets less.
#[tokio::test]
async fn a_looping_call_ends_at_its_deadline_and_its_tab_works_again() {
    let Some(harness) = harness_with(&["TABMUX_CALL_SECONDS=10"]).await else {
        return;
    };
    harness.open("a").await;
    let looping = harness
        .client
        .begin_call("evaluate_script", json!({"function": LOOP}))
        .await;
    harness.pages.wait_for_request("/looping").await;
    let waiting = harness
        .client
        .begin_call("evaluate_script", json!({"function": "() => 7"}))
        .await;
    let said = looping.tool_reply().await.expect_error();
    assert!(
        said.starts_with("evaluate_script was stopped: it had not finished after 10 s. "),
        "{said}"
    );
    // Calls queued behind it had the same deadline, and were stopped or answered.
    waiting.tool_reply().await;
    assert_eq!(harness.evaluate("() => document.title").await, "A");
    assert_eq!(harness.tabs().await.rows().len(), 1);
}

/// Cancelling a call does not stop the page's own script: the tab reports that it is stuck, and the agent can use
/// another.
#[tokio::test]
async fn a_page_that_loops_by_itself_says_that_it_is_stuck_and_can_be_left() {
    let Some(harness) = harness().await else {
        return;
    };
    let script = "<button onclick='setInterval(() => { for (;;) {} })'>Loop</button>";
    harness.pages.route("/loop", page("Loop", script));
    let other = harness.open("b").await;
    let stuck = harness.open("loop").await;
    let uid = harness.uid("button \"Loop\"").await;
    harness.client.call_tool("click", json!({"uid": uid})).await;
    let looking = harness.client.begin_call("take_snapshot", json!({})).await;

    harness.focus(other).await;
    assert_eq!(harness.evaluate("() => document.title").await, "B");
    looking.cancel().await;
    harness
        .client
        .call_tool("focus_tab", json!({"tabId": stuck}))
        .await
        .ok();
    let said = harness
        .client
        .call_tool("evaluate_script", json!({"function": "() => 1"}))
        .await;
    if said.is_error() {
        assert_eq!(
            said.text(),
            "The page does not respond: a script on it keeps it busy. Call navigate_page to leave \
             it, or close the tab."
        );
    }
    let url = harness.pages.url("c");
    harness.text("navigate_page", json!({"url": url})).await;
    assert_eq!(harness.evaluate("() => document.title").await, "C");
}

#[tokio::test]
async fn a_looping_tab_can_be_closed() {
    let Some(harness) = harness().await else {
        return;
    };
    let tab = harness.open("a").await;
    let looping = harness
        .client
        .begin_call("evaluate_script", json!({"function": LOOP}))
        .await;
    harness.pages.wait_for_request("/looping").await;
    let closed = harness.text("close_tab", json!({})).await;
    assert_eq!(closed, json!({"closed": true, "tabId": tab}).to_string());
    let said = looping.tool_reply().await.expect_error();
    assert!(
        said.contains("was closed. Call list_tabs to see "),
        "{said}"
    );
    assert!(harness.tabs().await.rows().is_empty());
}
