//! The console: recorded from the first script of every tab and popup, paged, with mapped stacks.

use crate::harness::{BrowserHarness, Capability};
use base64::Engine;
use serde_json::json;
use std::time::Duration;
use tabmux_browser::Tab;
use tabmux_testkit::Response;

async fn page_with(harness: &BrowserHarness, html: &str) -> Tab {
    harness.server.route("/page", Response::html(html));
    harness.open("page").await
}

async fn list(harness: &BrowserHarness, tab: &Tab, arguments: serde_json::Value) -> String {
    harness.text(tab, "list_console_messages", arguments).await
}

/// The number in front of the one line that contains `part`.
fn number(list: &str, part: &str) -> u64 {
    let line = list
        .lines()
        .find(|line| line.contains(part))
        .unwrap_or_else(|| panic!("{list}"));
    let number = line.split(['=', ' ']).nth(1).unwrap();
    number.parse().unwrap()
}

/// Spec: multi-browser 66.
#[tokio::test]
async fn console_messages_are_listed_from_the_first_script_on() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let html = "<script>console.log('first', {a: 1, b: 'x'}, [1, 2]); console.warn('%s of %d', 'two', 2);\
                for (let i = 0; i < 3; i++) console.error('again');</script>\
                <script>setTimeout(() => { throw new Error('boom') })</script>";
    let tab = page_with(&harness, html).await;
    harness
        .text(
            &tab,
            "evaluate_script",
            json!({ "function": "() => new Promise(done => setTimeout(done))" }),
        )
        .await;
    let text = list(&harness, &tab, json!({})).await;
    assert_eq!(
        text,
        "1 to 4 of 4 messages.\n\
         msgid=1 [log] first {a: 1, b: \"x\"} [1, 2] (3 args)\n\
         msgid=2 [warn] two of 2 (3 args)\n\
         msgid=3 [error] again [3 times]\n\
         msgid=4 [error] Uncaught Error: boom"
    );
    let errors = list(&harness, &tab, json!({ "types": ["error"], "pageSize": 1 })).await;
    assert_eq!(
        errors,
        "1 to 1 of 2 messages. More with pageIdx 1.\nmsgid=3 [error] again [3 times]"
    );
    let error = harness
        .error(&tab, "list_console_messages", json!({ "pageIdx": 9 }))
        .await;
    assert!(error.contains("There is no page 9"), "{error}");
}

/// Spec: multi-browser 66.
#[tokio::test]
async fn messages_survive_three_navigations_and_no_more() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    for n in 1..=5 {
        harness.server.route(
            &format!("/{n}"),
            Response::html(format!("<script>console.log('page {n}')</script>")),
        );
    }
    let tab = harness.open("1").await;
    for n in 2..=5 {
        harness
            .text(
                &tab,
                "navigate_page",
                json!({ "url": harness.server.url(&n.to_string()) }),
            )
            .await;
    }
    let now = list(&harness, &tab, json!({})).await;
    assert!(now.contains("page 5") && !now.contains("page 4"), "{now}");
    let all = list(&harness, &tab, json!({ "includePreservedMessages": true })).await;
    assert!(all.contains("page 2") && !all.contains("page 1"), "{all}");
}

/// Spec: multi-browser 66.
#[tokio::test]
async fn a_popups_console_is_recorded_from_its_first_script() {
    let Some(mut harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/popup",
        Response::html("<script>console.log('from the popup')</script>"),
    );
    let tab = page_with(
        &harness,
        "<button onclick='window.open(`/popup`)'>b</button>",
    )
    .await;
    let uid = harness.uid(&tab, "button").await;
    harness.text(&tab, "click", json!({ "uid": uid })).await;
    harness.appeared().await;
    let (popup, _) = harness.appeared().await;
    let popup = harness.browser.tab(&popup).await.unwrap();
    if !harness.can(Capability::PopupsFromTheirFirstByte) {
        // Recorded from the moment the session attached.
        harness.page_value(&popup, "void console.log('seen')").await;
        let text = list(&harness, &popup, json!({})).await;
        assert!(text.contains("seen"), "{text}");
        return;
    }
    let heard = popup.until(Duration::from_secs(20), |state| {
        state.load == tabmux_browser::tab::Load::Complete && state.console.iter().next().is_some()
    });
    assert!(heard.await.unwrap());
    let text = list(&harness, &popup, json!({})).await;
    assert!(text.contains("from the popup"), "{text}");
    let requests = harness
        .text(&popup, "list_network_requests", json!({}))
        .await;
    assert!(requests.contains("/popup [200] document"), "{requests}");
}

/// Spec: multi-browser 66.
#[tokio::test]
async fn a_stack_leads_back_to_the_source() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    // Column 0 of the script's first line is line 7, column 3 of hello.ts.
    let map = r#"{"version":3,"sources":["hello.ts"],"names":[],"mappings":"AAMG"}"#;
    let inline = base64::prelude::BASE64_STANDARD.encode(map);
    harness.server.route(
        "/inline.js",
        Response::new(
            200,
            "text/javascript",
            format!(
                "console.log('inline');\n//# sourceMappingURL=data:application/json;base64,{inline}"
            ),
        ),
    );
    harness.server.route(
        "/linked.js",
        Response::new(200, "text/javascript", "console.error(new Error('linked'), {deep: {er: [1]}});\n//# sourceMappingURL=linked.js.map"),
    );
    harness.server.route(
        "/linked.js.map",
        Response::new(200, "application/json", map),
    );
    harness.server.route(
        "/far.js",
        Response::new(
            200,
            "text/javascript",
            format!(
                "console.log('far');\n//# sourceMappingURL={}",
                harness.server.cross_site_url("far.map")
            ),
        ),
    );
    let tab = page_with(&harness, "<script src=inline.js></script><script src=linked.js></script><script src=far.js></script>").await;
    let all = list(&harness, &tab, json!({})).await;
    let get = async |part: &str| {
        let msgid = number(&all, part);
        harness
            .text(&tab, "get_console_message", json!({ "msgid": msgid }))
            .await
    };
    let text = get("inline").await;
    assert!(text.contains("at (anonymous) (hello.ts:7:4)"), "{text}");
    let text = get("linked").await;
    assert!(text.contains("(hello.ts:7:4)"), "{text}");
    assert!(text.contains("1: {\"deep\":{\"er\":[1]}}"), "{text}");
    // A source map of another origin is not fetched.
    let text = get("far").await;
    assert!(text.contains("/far.js:1:9)"), "{text}");
    assert_eq!(harness.server.count("/far.map"), 0);
    let error = harness
        .error(&tab, "get_console_message", json!({ "msgid": 99 }))
        .await;
    assert!(error.contains("list_console_messages"), "{error}");
}

#[tokio::test]
async fn a_chatty_page_is_kept_within_bounds() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = page_with(
        &harness,
        "<script>for (let i = 0; i < 6000; i++) console.log(i, 'x'.repeat(5000))</script>",
    )
    .await;
    let text = list(&harness, &tab, json!({ "pageSize": 200 })).await;
    assert!(text.len() < 40_000, "{}", text.len());
    let kept = tab.state().console.iter().count();
    assert!(kept <= 2_000, "{kept}");
}

#[tokio::test]
async fn what_a_worker_of_the_page_writes_is_listed_and_its_errors_are() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let script =
        "console.warn('from the worker', 2); setTimeout(() => { throw new Error('boom') })";
    harness
        .server
        .route("/worker.js", Response::new(200, "text/javascript", script));
    let tab = page_with(&harness, "<script>new Worker('worker.js')</script>").await;
    let heard = tab.until(Duration::from_secs(10), |state| {
        state.console.iter().count() >= 2
    });
    assert!(heard.await.unwrap());
    let text = list(&harness, &tab, json!({})).await;
    assert!(text.contains("[warn] from the worker 2 ("), "{text}");
    assert!(text.contains("[error] Uncaught Error: boom ("), "{text}");
    assert!(text.contains("/worker.js"), "{text}");
}

#[tokio::test]
async fn issues_can_be_asked_for_and_there_are_none() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = page_with(&harness, "<script>console.error('oh no')</script>").await;
    assert_eq!(
        list(&harness, &tab, json!({ "types": ["issue"] })).await,
        "There are no messages.\nIssues that only DevTools finds are not collected here."
    );
    let both = list(&harness, &tab, json!({ "types": ["issue", "error"] })).await;
    assert!(
        both.contains("oh no") && both.ends_with("collected here."),
        "{both}"
    );
}
