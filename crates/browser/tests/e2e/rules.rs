//! Rules for requests: blocked, mocked, or sent with other headers, in every frame.

use crate::harness::{BrowserHarness, is_taken, refused};
use serde_json::{Value, json};
use tabmux_browser::Tab;
use tabmux_testkit::Response;

/// A tab with a page on a server whose `/data` returns JSON.
async fn page(harness: &BrowserHarness) -> Tab {
    harness.server.route("/page", Response::html("<p>page</p>"));
    harness
        .server
        .route("/data", Response::json(&json!({ "from": "server" })));
    harness.open("page").await
}

/// The result of a fetch by the page: the status and the text, or the failure.
async fn fetched(harness: &BrowserHarness, tab: &Tab, url: &str) -> Value {
    let ask =
        format!("fetch({url:?}).then(async (r) => [r.status, await r.text()], (e) => [0, e.name])");
    harness.page_value(tab, &ask).await
}

#[tokio::test]
async fn requests_are_blocked_until_the_rule_is_removed() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = page(&harness).await;
    let data = harness.server.url("data");
    let text = harness
        .text(&tab, "route", json!({ "url": "*/data", "block": true }))
        .await;
    assert_eq!(
        text,
        "Rules in this tab; the last match wins:\n*/data blocked"
    );
    assert_eq!(
        fetched(&harness, &tab, "/data").await,
        json!([0, "TypeError"])
    );
    let log = harness.text(&tab, "list_network_requests", json!({})).await;
    assert!(log.contains("ERR_BLOCKED_BY_CLIENT"), "{log}");
    assert_eq!(harness.server.count("/data"), 0);
    let error = harness
        .error(&tab, "navigate_page", json!({ "url": data }))
        .await;
    assert!(error.contains("ERR_BLOCKED_BY_CLIENT"), "{error}");
    let text = harness
        .text(&tab, "unroute", json!({ "url": "*/data" }))
        .await;
    assert_eq!(text, "No rule is active in this tab.");
    harness
        .text(&tab, "navigate_page", json!({ "url": data }))
        .await;
}

#[tokio::test]
async fn requests_are_answered_here() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = page(&harness).await;
    harness
        .text(
            &tab,
            "route",
            json!({ "url": harness.server.url("data"), "body": "{\"from\":\"rule\"}" }),
        )
        .await;
    let kind = "fetch('/data').then(async (r) => [r.headers.get('content-type'), await r.json()])";
    assert_eq!(
        harness.page_value(&tab, kind).await,
        json!(["application/json", { "from": "rule" }])
    );
    // The last matching rule wins; a rule for the same requests replaces the earlier one.
    harness.text(&tab, "route", json!({ "url": "*/da*", "status": 503, "body": "gone", "responseHeaders": { "X-Why": "test" } }))
        .await;
    assert_eq!(fetched(&harness, &tab, "/data").await, json!([503, "gone"]));
    let why = "fetch('/data').then((r) => r.headers.get('x-why'))";
    assert_eq!(harness.page_value(&tab, why).await, "test");
    std::fs::write(
        harness.files.path().join("page.html"),
        "<title>Mock ü</title>",
    )
    .unwrap();
    harness
        .text(
            &tab,
            "route",
            json!({ "url": "*/page", "filePath": "page.html" }),
        )
        .await;
    harness
        .text(&tab, "navigate_page", json!({ "type": "reload" }))
        .await;
    assert_eq!(harness.page_value(&tab, "document.title").await, "Mock ü");
    assert_eq!(harness.server.count("/data"), 0);
    let text = harness.text(&tab, "unroute", json!({})).await;
    assert_eq!(text, "No rule is active in this tab.");
    harness
        .text(&tab, "navigate_page", json!({ "type": "reload" }))
        .await;
    let whole = fetched(&harness, &tab, "/data").await;
    assert_eq!(whole, json!([200, "{\"from\":\"server\"}"]));
}

#[tokio::test]
async fn headers_are_set_and_removed_both_ways() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = page(&harness).await;
    harness.server.route(
        "/data",
        Response::text("data").with_header("X-Secret", "42"),
    );
    let rule = json!({
        "url": "*/data?x=*",
        "requestHeaders": { "X-Key": "mine", "user-agent": "Rule/1" },
        "responseHeaders": { "X-Secret": "", "X-Added": "yes" },
    });
    let text = harness.text(&tab, "route", rule).await;
    assert!(
        text.ends_with("*/data?x=* changed: request headers X-Key, user-agent; response headers X-Added, X-Secret"),
        "{text}"
    );
    let seen = "fetch('/data?x=1').then(async (r) => [r.headers.get('x-secret'), r.headers.get('x-added'), await r.text()])";
    assert_eq!(
        harness.page_value(&tab, seen).await,
        json!([null, "yes", "data"])
    );
    let request = harness.server.wait_for_request("/data").await;
    assert_eq!(request.header("x-key"), Some("mine"));
    assert_eq!(request.header("user-agent"), Some("Rule/1"));
    assert!(request.header("accept").is_some());
    // A question mark is not a wildcard.
    fetched(&harness, &tab, "/data").await;
    let request = harness.server.wait_for_nth_request("/data", 2).await;
    assert_eq!(request.header("x-key"), None);
}

#[tokio::test]
async fn rules_hold_in_frames_of_other_sites_also_in_later_ones_and_not_in_other_tabs() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let other = harness.server.cross_site_url("inner");
    let inner = "<script>fetch('/data').then((r) => r.text()).then((t) => parent.postMessage(t, '*'))</script>";
    harness.server.route("/inner", Response::html(inner));
    harness.server.route("/page", Response::html(format!("<body><script>\
        add = () => new Promise((done) => {{ onmessage = (e) => done(e.data); \
        const f = document.createElement('iframe'); f.src = '{other}'; document.body.append(f) }})</script>")));
    harness.server.route("/data", Response::text("server"));
    let tab = harness.open("page").await;
    let quiet = harness.open("page").await;
    assert_eq!(harness.page_value(&tab, "add()").await, "server");
    harness
        .text(&tab, "route", json!({ "url": "*/data", "body": "rule" }))
        .await;
    let again = "(() => { const f = document.querySelector('iframe'); return new Promise((done) => { onmessage = (e) => done(e.data); f.src += '?again' }) })()";
    assert_eq!(harness.page_value(&tab, again).await, "rule");
    assert_eq!(harness.page_value(&tab, "add()").await, "rule");
    assert_eq!(harness.page_value(&quiet, "add()").await, "server");
    // A mocked response is visible across origins if its headers allow it.
    let far = harness.server.cross_site_url("data");
    assert_eq!(fetched(&harness, &tab, &far).await, json!([0, "TypeError"]));
    harness.text(&tab, "route", json!({ "url": "*/data", "body": "rule", "responseHeaders": { "Access-Control-Allow-Origin": "*" } }))
        .await;
    assert_eq!(fetched(&harness, &tab, &far).await, json!([200, "rule"]));
}

#[tokio::test]
async fn bad_rules_are_refused_and_change_nothing() {
    for (arguments, part) in [
        (json!({}), "missing field `url`"),
        (json!({ "url": "*" }), "say what to do with these requests"),
        (
            json!({ "url": "/api", "block": true }),
            "starts with http://, https:// or *",
        ),
        (
            json!({ "url": "file:///x", "block": true }),
            "starts with http://",
        ),
        (
            json!({ "url": "http://[x", "block": true }),
            "`url` is not a URL",
        ),
        (
            json!({ "url": "*", "block": true, "status": 200 }),
            "`block` cannot be combined with another action",
        ),
        (
            json!({ "url": "*", "status": 99 }),
            "`status` must be between 200 and 599",
        ),
        (
            json!({ "url": "*", "body": "a", "filePath": "b" }),
            "either `body` or `filePath`",
        ),
        (
            json!({ "url": "*", "body": "a", "requestHeaders": { "A": "b" } }),
            "is never sent",
        ),
        (
            json!({ "url": "*", "requestHeaders": { "A b": "c" } }),
            "not a header name",
        ),
        (
            json!({ "url": "*", "requestHeaders": { "A": "b\r\nC: d" } }),
            "a value for A that is invalid",
        ),
        (
            json!({ "url": "*", "requestHeaders": { "Host": "elsewhere" } }),
            "has Host, which Chrome sets itself",
        ),
        (
            json!({ "url": "*", "requestHeaders": { "Proxy-Authorization": "x" } }),
            "has Proxy-Authorization, which Chrome sets itself",
        ),
        (
            json!({ "url": "*".repeat(3_000), "block": true }),
            "`url` is longer than 2000 bytes",
        ),
        (json!({ "url": "*", "block": "yes" }), "invalid type"),
        (
            json!({ "url": "*", "blocked": true }),
            "unknown field `blocked`",
        ),
    ] {
        let said = refused("route", arguments);
        assert!(
            said.starts_with("Invalid arguments for route: ") && said.contains(part),
            "{said}"
        );
    }
    assert!(refused("unroute", json!({ "url": "x" })).contains("starts with http://"));
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = page(&harness).await;
    harness
        .text(&tab, "route", json!({ "url": "*/data", "status": 204 }))
        .await;
    let error = harness
        .error(&tab, "unroute", json!({ "url": "*/date" }))
        .await;
    assert_eq!(
        error,
        "There is no rule for */date. Rules in this tab; the last match wins:\n*/data answered with 204 and 0 bytes"
    );
    let outside = json!({ "url": "*", "filePath": "/etc/hostname" });
    let error = harness.error(&tab, "route", outside).await;
    assert!(error.contains("outside"), "{error}");
    assert_eq!(fetched(&harness, &tab, "/data").await, json!([204, ""]));
}

#[tokio::test]
async fn no_accepted_header_is_one_that_chrome_rejects() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = page(&harness).await;
    harness.server.route("/data", Response::text("data"));
    let names = "A accept accept-charset accept-encoding access-control-request-headers connection content-length \
                 content-type cookie cookie2 date dnt expect host keep-alive origin permissions-policy referer \
                 sec-fetch-mode set-cookie te trailer transfer-encoding upgrade user-agent via proxy-x";
    let values = ["x", "é", "日本", " padded ", "\u{202e}"];
    for (index, name) in names.split_whitespace().enumerate() {
        let value = values[index % values.len()];
        for argument in ["requestHeaders", "responseHeaders"] {
            let rule = json!({ "url": "*/data", argument: { name: value } });
            // What the tool rejects has an error; everything else Chrome must accept.
            if is_taken("route", &rule) {
                harness.text(&tab, "route", rule).await;
                let answer = fetched(&harness, &tab, "/data").await;
                assert_eq!(answer, json!([200, "data"]), "{argument} {name}: {value}");
            }
        }
    }
}

#[tokio::test]
async fn rules_hold_for_workers_of_the_page() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = page(&harness).await;
    let script = "fetch('/data').then((r) => r.text()).then((t) => postMessage(t))";
    let script = Response::new(200, "text/javascript", script);
    harness.server.route("/worker.js", script);
    let ask = "new Promise((done) => { (kept = new Worker('/worker.js')).onmessage = (e) => done(e.data) })";
    let server = json!({ "from": "server" }).to_string();
    assert_eq!(harness.page_value(&tab, ask).await, server);
    harness
        .text(&tab, "route", json!({ "url": "*/data", "body": "rule" }))
        .await;
    assert_eq!(harness.page_value(&tab, ask).await, "rule");
    harness.text(&tab, "unroute", json!({})).await;
    assert_eq!(harness.page_value(&tab, ask).await, server);
}
