//! Every state of the specification's table over the wire: the names, the literal answers, and a
//! notification exactly when the list or the agent's focus changed.

mod core_tools;

use crate::harness::{ACTIONS, FOCUSED, McpHarness, assert_names, page};
use crate::over_extension::Capability;
use core_tools::{connect_browser, core_tools};
use serde_json::{Value, json};
use tabmux_testkit::patiently;

/// Spec: dynamic-tools 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 58; decisions 2, 11, 14.
#[tokio::test]
async fn every_state_with_the_bare_lists() {
    let Some(harness) = McpHarness::disconnected(&["--pageActions=off"]).await else {
        return;
    };
    walk(&harness, &[]).await;
}

/// The same with the generic page actions after the core tools.
/// Spec: dynamic-tools 15, 16, 17, 18, 91; decisions 19.
#[tokio::test]
async fn every_state_with_the_page_actions() {
    let Some(harness) = McpHarness::disconnected(&[]).await else {
        return;
    };
    walk(&harness, &ACTIONS).await;
}

async fn walk(harness: &McpHarness, actions: &[&str]) {
    let focused_names = &[&FOCUSED[..], actions].concat();
    let [a, b, c] = ["a", "b", "c"].map(|path| harness.pages.url(path));

    // Spec: dynamic-tools 5, 15.
    // DISCONNECTED.
    assert_names(&harness.names().await, &["connect_browser"]);
    harness.client.assert_no_notification().await;
    // Spec: dynamic-tools 6, 7, 16, 22, 24.
    // CONNECTED, no tabs.
    // The session's flags say that it launches its browser; the call does not have to repeat it.
    let connected = harness.step("connect_browser", json!({})).await;
    let browser = connected.json()["browser"].clone();
    for key in ["name", "version"] {
        assert!(
            browser[key].as_str().is_some_and(|text| !text.is_empty()),
            "{browser}"
        );
    }
    connected.is(
        1,
        &json!({"connected": true, "browser": browser, "tabCount": 0}),
    );
    assert_names(&harness.names().await, &["list_tabs", "open_tab"]);
    // Spec: dynamic-tools 31.
    harness
        .step("list_tabs", json!({}))
        .await
        .is(0, &json!({"tabs": [], "focusedTabId": null}));

    // Spec: dynamic-tools 8, 17, 99; decisions 11.
    // CONNECTED, tabs, none focused: the first tab changes the list.
    let opened = harness
        .step("open_tab", json!({"url": a, "focus": false}))
        .await;
    let title = opened.json()["tab"]["title"].clone();
    assert!(title == "A" || title == "Loading...", "{title}");
    let first = opened.json()["tab"]["id"].as_u64().unwrap();
    let tab = json!({"id": first, "title": title, "url": a});
    opened.is(
        1,
        &json!({"tab": tab, "focused": false, "toolsAvailable": []}),
    );
    assert_names(
        &harness.names().await,
        &["list_tabs", "open_tab", "focus_tab"],
    );
    harness
        .tabs_until(|tabs| tabs.rows()[0]["title"] == "A")
        .await;
    // Spec: dynamic-tools 27, 28.
    let row_a = |focused| row(first, "A", &a, focused);
    let listed = harness.step("list_tabs", json!({})).await;
    listed.is(0, &json!({"tabs": [row_a(false)], "focusedTabId": null}));

    // Spec: dynamic-tools 9, 11, 18, 40.
    // TAB FOCUSED.
    let focused = harness.step("focus_tab", json!({"tabId": first})).await;
    let tab_a = json!({"id": first, "title": "A", "url": a});
    let focused_a = json!({"success": true, "tab": tab_a, "toolsAvailable": []});
    focused.is(1, &focused_a);
    assert_names(&harness.names().await, focused_names);

    // Spec: dynamic-tools 34, 35, 36.
    // Another tab, focused at once: the names stay, but mean another tab.
    let opened = harness.step("open_tab", json!({"url": b})).await;
    let second = first + 1;
    let tab_b = json!({"id": second, "title": "B", "url": b});
    opened.is(
        1,
        &json!({"tab": tab_b, "focused": true, "toolsAvailable": []}),
    );
    assert_names(&harness.names().await, focused_names);
    // Spec: dynamic-tools 30.
    let listed = harness.step("list_tabs", json!({})).await;
    let row_b = row(second, "B", &b, true);
    listed.is(
        0,
        &json!({"tabs": [row_a(false), row_b], "focusedTabId": second}),
    );

    // Spec: dynamic-tools 12.
    // Back, and the same again: no change of focus, no notification.
    harness
        .step("focus_tab", json!({"tabId": first}))
        .await
        .is(1, &focused_a);
    assert_names(&harness.names().await, focused_names);
    harness
        .step("focus_tab", json!({"tabId": first}))
        .await
        .is(0, &focused_a);

    // Spec: dynamic-tools 37, 44, 46.
    // A background tab opens and closes without a notification.
    let opened = harness
        .step("open_tab", json!({"url": c, "focus": false}))
        .await;
    let third = second + 1;
    assert_eq!(
        (opened.notices, &opened.json()["tab"]["id"]),
        (0, &json!(third)),
        // Spec: dynamic-tools 37.
    );
    assert_names(&harness.names().await, focused_names);
    let closed = harness.step("close_tab", json!({"tabId": third})).await;
    closed.is(0, &json!({"closed": true, "tabId": third}));
    assert_names(&harness.names().await, focused_names);

    // Spec: dynamic-tools 13, 43, 45.
    // The focused tab is closed, and another stays open.
    let closed = harness.step("close_tab", json!({})).await;
    closed.is(1, &json!({"closed": true, "tabId": first}));
    assert_names(
        &harness.names().await,
        &["list_tabs", "open_tab", "focus_tab"],
    );
    assert_eq!(harness.tabs().await.focused(), None);

    // Spec: dynamic-tools 14, 47.
    // The last tab is closed.
    assert_eq!(
        harness
            .step("focus_tab", json!({"tabId": second}))
            .await
            .notices,
        1
    );
    let closed = harness.step("close_tab", json!({"tabId": second})).await;
    closed.is(1, &json!({"closed": true, "tabId": second}));
    assert_names(&harness.names().await, &["list_tabs", "open_tab"]);
    harness
        .step("list_tabs", json!({}))
        .await
        .is(0, &json!({"tabs": [], "focusedTabId": null}));

    // Spec: dynamic-tools 10; decisions 14.
    // The browser keeps running without tabs, and numbers are not used again.
    let opened = harness
        .step("open_tab", json!({"url": a, "focus": true}))
        .await;
    let id = opened.json()["tab"]["id"].as_u64().unwrap();
    assert!(id > third, "{id}");
    let tab = json!({"id": id, "title": "A", "url": a});
    opened.is(
        1,
        &json!({"tab": tab, "focused": true, "toolsAvailable": []}),
    );
    assert_names(&harness.names().await, focused_names);
}

/// Spec: dynamic-tools 99.
#[tokio::test]
async fn a_page_without_a_title_yet_is_loading() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    let whole = "<!doctype html><p>Slow.</p><title>At last</title>";
    let slow = tabmux_testkit::Response::html(whole);
    let gate = harness
        .pages
        .hold_body("/slow", slow, "<!doctype html><p>Slow.</p>".len());
    let url = harness.pages.url("slow");
    let opened = harness
        .step("open_tab", json!({"url": url, "focus": false}))
        .await;
    let tab = json!({"id": opened.json()["tab"]["id"], "title": "Loading...", "url": url});
    opened.is(
        1,
        &json!({"tab": tab, "focused": false, "toolsAvailable": []}),
    );
    gate.open();
    let tabs = harness
        .tabs_until(|tabs| tabs.rows()[0]["title"] == "At last")
        .await;
    assert_eq!(tabs.urls(), [url]);
    harness.client.assert_no_notification().await;
}

#[tokio::test]
async fn open_tab_answers_with_the_real_title_once_the_page_has_loaded() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    harness
        .pages
        .route("/", page("Start", "<img src=/picture>"));
    let gate = harness
        .pages
        .hold("/picture", tabmux_testkit::Response::no_content());
    let url = harness.pages.url("");
    let opening = harness
        .client
        .begin_call("open_tab", json!({"url": url}))
        .await;
    harness.pages.wait_for_request("/picture").await;
    assert!(
        harness.tabs().await.rows().is_empty(),
        "a tab that is being opened is not listed"
    );
    assert!(!opening.is_answered());
    gate.open();
    let opened = opening.tool_reply().await.ok().json();
    assert_eq!(opened["tab"]["title"], "Start");
    assert_eq!(opened["tab"]["url"], url);
}

/// The published schemas are the specification's JSON.
/// Spec: dynamic-tools 21, 26, 33, 34, 39, 43, 98, 102.
#[tokio::test]
async fn core_tools_are_published_as_the_specification_has_them() {
    let Some(harness) = McpHarness::disconnected(&["--pageActions=off"]).await else {
        return;
    };
    assert_eq!(harness.client.list_tools().await, [connect_browser()]);
    harness
        .text("connect_browser", json!({"launch": true}))
        .await;
    let tools = core_tools();
    assert_eq!(harness.client.list_tools().await, tools[..2]);
    harness
        .text("open_tab", json!({"url": "about:blank", "focus": false}))
        .await;
    assert_eq!(harness.client.list_tools().await, tools[..3]);
    let tab = harness.tabs().await.ids()[0];
    harness.text("focus_tab", json!({"tabId": tab})).await;
    assert_eq!(harness.client.list_tools().await, tools);
}

/// Spec: dynamic-tools 19, 25, 32, 38, 42, 97.
#[tokio::test]
async fn a_tool_outside_its_state_names_the_call_to_make() {
    let Some(harness) = McpHarness::disconnected(&[]).await else {
        return;
    };
    let url = harness.pages.url("a");
    let open = json!({"url": url});
    for (tool, arguments) in [
        ("list_tabs", json!({})),
        ("open_tab", open.clone()),
        ("focus_tab", json!({"tabId": 1})),
        ("close_tab", json!({})),
        ("take_snapshot", json!({})),
    ] {
        let expected =
            format!("{tool} needs a browser and none is connected. Call connect_browser first.");
        assert_eq!(harness.refusal(tool, arguments).await, expected);
    }
    assert_names(&harness.names().await, &["connect_browser"]);

    harness
        .text("connect_browser", json!({"launch": true}))
        .await;
    harness.client.take_notifications().await;
    assert_eq!(
        harness
            .refusal("connect_browser", json!({"launch": true}))
            .await,
        "A browser is already connected. Call list_tabs to see its tabs."
    );
    for (tool, arguments) in [
        ("focus_tab", json!({"tabId": 1})),
        ("close_tab", json!({})),
        ("take_snapshot", json!({})),
    ] {
        let expected = format!("{tool} needs a tab and none is open. Call open_tab first.");
        assert_eq!(harness.refusal(tool, arguments).await, expected);
    }
    assert_names(&harness.names().await, &["list_tabs", "open_tab"]);

    harness
        .text("open_tab", json!({"url": url, "focus": false}))
        .await;
    harness.client.take_notifications().await;
    let tab = harness.tabs().await.ids()[0];
    for (tool, arguments) in [
        ("close_tab", json!({})),
        ("close_tab", json!({"tabId": tab})),
        ("take_snapshot", json!({})),
    ] {
        let expected = format!(
            "{tool} needs a focused tab, and none is focused. Call focus_tab first; list_tabs shows the tabs."
        );
        assert_eq!(harness.refusal(tool, arguments).await, expected);
    }
    assert_names(
        &harness.names().await,
        &["list_tabs", "open_tab", "focus_tab"],
    );
    assert_eq!(harness.tabs().await.ids(), [tab]);
}

#[tokio::test]
async fn page_actions_that_are_off_are_not_run() {
    let Some(harness) = McpHarness::launched(&["--pageActions=off"]).await else {
        return;
    };
    harness.open("a").await;
    assert_eq!(
        harness.refusal("take_snapshot", json!({})).await,
        "take_snapshot is switched off in this session by the flags that tabmux was started with. Work \
         with other tools, or ask the user to change them."
    );
}

#[tokio::test]
async fn more_tools_leads_to_every_page_action() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    harness.pages.route(
        "/logs",
        page("Logs", "<script>console.log('so it is')</script>"),
    );
    harness.open("logs").await;
    // Tools that are not listed can be called, unless they are opt-in.
    let requests = harness.text("list_network_requests", json!({})).await;
    assert!(requests.contains("/logs"), "{requests}");
    assert_eq!(
        harness.refusal("cookies", json!({})).await,
        "cookies belongs to the category storage. Call more_tools with category: \"storage\" first."
    );
    assert_eq!(
        harness.refusal("list_pages", json!({})).await,
        "list_pages is not needed in this session. Call list_tabs instead."
    );
    let wrong = harness
        .refusal("more_tools", json!({"category": "console"}))
        .await;
    assert_eq!(
        wrong,
        "There is no category `console`. Call more_tools with one of advanced, debugging, emulation, input, \
         network, performance, rules, screencast, storage."
    );
    let more = json!({"category": "debugging"});
    let added = harness.step("more_tools", more.clone()).await;
    assert_eq!(added.notices, 1);
    let tools = added.json()["toolsAvailable"].clone();
    let listed = harness.names().await;
    for tool in tools.as_array().unwrap() {
        assert!(listed.iter().any(|name| tool == name), "{tool}");
    }
    let console = harness.text("list_console_messages", json!({})).await;
    assert!(console.contains("so it is"), "{console}");
    assert_eq!(harness.step("more_tools", more).await.notices, 0);
    let categories = ["emulation", "input", "network", "performance"];
    for category in categories
        .iter()
        .chain(&["rules", "screencast", "storage", "advanced"])
    {
        let added = harness
            .step("more_tools", json!({"category": category}))
            .await;
        assert_eq!(added.notices, 1, "{category}");
    }
    let mut all: Vec<_> = tabmux_browser::tools::all()
        .iter()
        .map(|tool| tool.name)
        // Only sessions with secrets have it.
        .filter(|name| *name != "list_secrets")
        .collect();
    all.sort_unstable();
    assert_names(&harness.names().await, &[&FOCUSED[..], &all].concat());
    harness.text("cookies", json!({})).await;
}

/// The specification's second workflow, without page tools.
/// Spec: dynamic-tools 55.
#[tokio::test]
async fn two_tabs_are_compared_by_changing_focus() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    for (path, price) in [("/expedia", 450), ("/kayak", 520)] {
        harness
            .pages
            .route(path, page(path, &format!("<p id=price>{price}</p>")));
        harness.open(path).await;
    }
    let price = "() => Number(document.getElementById('price').textContent)";
    assert_eq!(harness.evaluate(price).await, 520);
    let expedia = harness.tabs().await.id_of(&harness.pages.url("expedia"));
    harness.focus(expedia).await;
    assert_eq!(harness.evaluate(price).await, 450);
}

#[tokio::test]
async fn two_calls_to_connect_share_one_browser_and_one_notification() {
    let Some(harness) = McpHarness::disconnected(&[]).await else {
        return;
    };
    let launch = || json!({"launch": true});
    let first = harness.client.begin_call("connect_browser", launch()).await;
    let second = harness.client.begin_call("connect_browser", launch()).await;
    let (first, second) = (
        first.tool_reply().await.ok(),
        second.tool_reply().await.ok(),
    );
    assert_eq!(first.json(), second.json());
    assert_eq!(harness.client.take_notifications().await.len(), 1);
    if !harness.can(Capability::Launch) {
        return; // A person's browser is the only one.
    }
    let browsers = || {
        let mut processes = tabmux_testkit::process::descendants(harness.client.pid());
        processes.retain(|process| process.parent == harness.client.pid());
        processes.len()
    };
    patiently(async { while browsers() != 1 {} }, || {
        "one browser".to_owned()
    })
    .await;
}

fn row(id: u64, title: &str, url: &str, focused: bool) -> Value {
    json!({"id": id, "title": title, "url": url, "focused": focused, "toolCount": 0})
}
