//! Every state of the seed's table over the wire: the names, the literal answers, and a
//! notification exactly when the list changed or the agent changed focus.

use crate::desk::{ACTIONS, Desk, FOCUSED, assert_names, page};
use crate::over_extension::Capability;
use serde_json::{Value, json};
use tabmux_testkit::patiently;

/// C-2, C-11, C-14.
#[tokio::test]
async fn r004_5_6_7_8_9_10_11_12_13_14_58_every_state_with_the_bare_lists() {
    // R004-5, R004-6, R004-7, R004-8, R004-9, R004-10, R004-11, R004-12, R004-13, R004-14, R004-58
    let Some(desk) = Desk::disconnected(&["--pageActions=off"]).await else {
        return;
    };
    walk(&desk, &[]).await;
}

/// C-19: the same with the generic page actions behind the core tools.
#[tokio::test]
async fn r004_15_16_17_18_91_every_state_with_the_page_actions() {
    // R004-15, R004-16, R004-17, R004-18, R004-91
    let Some(desk) = Desk::disconnected(&[]).await else {
        return;
    };
    walk(&desk, &ACTIONS).await;
}

async fn walk(desk: &Desk, actions: &[&str]) {
    let focused_names = &[&FOCUSED[..], actions].concat();
    let [a, b, c] = ["a", "b", "c"].map(|path| desk.pages.url(path));

    // DISCONNECTED: R004-5, R004-15
    assert_names(&desk.names().await, &["connect_browser"]);
    desk.client.assert_no_notification().await;
    // CONNECTED, no tabs: R004-6, R004-7, R004-16, R004-22, R004-24
    // The session's flags say that it launches its browser; the call need not say so again.
    let connected = desk.step("connect_browser", json!({})).await;
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
    assert_names(&desk.names().await, &["list_tabs", "open_tab"]);
    // R004-31
    desk.step("list_tabs", json!({}))
        .await
        .is(0, &json!({"tabs": [], "focusedTabId": null}));

    // CONNECTED, tabs, none focused: the first tab changes the list (C-11). R004-8, R004-17, R004-99
    let opened = desk
        .step("open_tab", json!({"url": a, "focus": false}))
        .await;
    let title = opened.json()["tab"]["title"].clone();
    assert!(title == "A" || title == "Loading...", "R004-99: {title}");
    let first = opened.json()["tab"]["id"].as_u64().unwrap();
    let tab = json!({"id": first, "title": title, "url": a});
    opened.is(
        1,
        &json!({"tab": tab, "focused": false, "toolsAvailable": []}),
    );
    assert_names(&desk.names().await, &["list_tabs", "open_tab", "focus_tab"]);
    desk.tabs_until(|tabs| tabs.rows()[0]["title"] == "A").await;
    // R004-27, R004-28
    let row_a = |focused| row(first, "A", &a, focused);
    let listed = desk.step("list_tabs", json!({})).await;
    listed.is(0, &json!({"tabs": [row_a(false)], "focusedTabId": null}));

    // TAB FOCUSED: R004-9, R004-11, R004-18, R004-40
    let focused = desk.step("focus_tab", json!({"tabId": first})).await;
    let tab_a = json!({"id": first, "title": "A", "url": a});
    let focused_a = json!({"success": true, "tab": tab_a, "toolsAvailable": []});
    focused.is(1, &focused_a);
    assert_names(&desk.names().await, focused_names);

    // Another tab, focused at once: the names stay, their tab is another. R004-34, R004-35, R004-36
    let opened = desk.step("open_tab", json!({"url": b})).await;
    let second = first + 1;
    let tab_b = json!({"id": second, "title": "B", "url": b});
    opened.is(
        1,
        &json!({"tab": tab_b, "focused": true, "toolsAvailable": []}),
    );
    assert_names(&desk.names().await, focused_names);
    // R004-30
    let listed = desk.step("list_tabs", json!({})).await;
    let row_b = row(second, "B", &b, true);
    listed.is(
        0,
        &json!({"tabs": [row_a(false), row_b], "focusedTabId": second}),
    );

    // Back, and once more the same: no change of focus, no notification. R004-12
    desk.step("focus_tab", json!({"tabId": first}))
        .await
        .is(1, &focused_a);
    assert_names(&desk.names().await, focused_names);
    desk.step("focus_tab", json!({"tabId": first}))
        .await
        .is(0, &focused_a);

    // A tab in the background comes and goes in silence: R004-37, R004-44, R004-46
    let opened = desk
        .step("open_tab", json!({"url": c, "focus": false}))
        .await;
    let third = second + 1;
    assert_eq!(
        (opened.notices, &opened.json()["tab"]["id"]),
        (0, &json!(third)),
        "R004-37"
    );
    assert_names(&desk.names().await, focused_names);
    let closed = desk.step("close_tab", json!({"tabId": third})).await;
    closed.is(0, &json!({"closed": true, "tabId": third}));
    assert_names(&desk.names().await, focused_names);

    // The focused tab is closed, and another is left: R004-13, R004-43, R004-45
    let closed = desk.step("close_tab", json!({})).await;
    closed.is(1, &json!({"closed": true, "tabId": first}));
    assert_names(&desk.names().await, &["list_tabs", "open_tab", "focus_tab"]);
    assert_eq!(desk.tabs().await.focused(), None);

    // The last tab is closed: R004-14, R004-47
    assert_eq!(
        desk.step("focus_tab", json!({"tabId": second}))
            .await
            .notices,
        1
    );
    let closed = desk.step("close_tab", json!({"tabId": second})).await;
    closed.is(1, &json!({"closed": true, "tabId": second}));
    assert_names(&desk.names().await, &["list_tabs", "open_tab"]);
    desk.step("list_tabs", json!({}))
        .await
        .is(0, &json!({"tabs": [], "focusedTabId": null}));

    // The browser lives on without tabs (C-14), and numbers are not used again. R004-10
    let opened = desk
        .step("open_tab", json!({"url": a, "focus": true}))
        .await;
    let id = opened.json()["tab"]["id"].as_u64().unwrap();
    assert!(id > third, "{id}");
    let tab = json!({"id": id, "title": "A", "url": a});
    opened.is(
        1,
        &json!({"tab": tab, "focused": true, "toolsAvailable": []}),
    );
    assert_names(&desk.names().await, focused_names);
}

#[tokio::test]
async fn r004_99_a_page_without_a_title_yet_is_loading() {
    let Some(desk) = Desk::launched(&[]).await else {
        return;
    };
    let whole = "<!doctype html><p>Slow.</p><title>At last</title>";
    let slow = tabmux_testkit::Response::html(whole);
    let gate = desk
        .pages
        .hold_body("/slow", slow, "<!doctype html><p>Slow.</p>".len());
    let url = desk.pages.url("slow");
    let opened = desk
        .step("open_tab", json!({"url": url, "focus": false}))
        .await;
    let tab = json!({"id": opened.json()["tab"]["id"], "title": "Loading...", "url": url});
    opened.is(
        1,
        &json!({"tab": tab, "focused": false, "toolsAvailable": []}),
    );
    gate.open();
    let tabs = desk
        .tabs_until(|tabs| tabs.rows()[0]["title"] == "At last")
        .await;
    assert_eq!(tabs.urls(), [url]);
    desk.client.assert_no_notification().await;
}

#[tokio::test]
async fn open_tab_answers_with_the_real_title_once_the_page_has_loaded() {
    let Some(desk) = Desk::launched(&[]).await else {
        return;
    };
    desk.pages.route("/", page("Start", "<img src=/picture>"));
    let gate = desk
        .pages
        .hold("/picture", tabmux_testkit::Response::no_content());
    let url = desk.pages.url("");
    let opening = desk
        .client
        .begin_call("open_tab", json!({"url": url}))
        .await;
    desk.pages.wait_for_request("/picture").await;
    assert!(
        desk.tabs().await.rows().is_empty(),
        "a tab that is being opened is not listed"
    );
    assert!(!opening.is_answered());
    gate.open();
    let opened = opening.tool_reply().await.ok().json();
    assert_eq!(opened["tab"]["title"], "Start");
    assert_eq!(opened["tab"]["url"], url);
}

/// What is published is the seed's JSON.
#[tokio::test]
async fn r004_21_26_33_34_39_43_98_102_core_tools_are_published_as_the_seed_has_them() {
    // R004-21, R004-26, R004-33, R004-34, R004-39, R004-43, R004-98, R004-102
    let Some(desk) = Desk::disconnected(&["--pageActions=off"]).await else {
        return;
    };
    assert_eq!(desk.client.list_tools().await, [connect_browser()]);
    desk.text("connect_browser", json!({"launch": true})).await;
    let tools = core_tools();
    assert_eq!(desk.client.list_tools().await, tools[..2]);
    desk.text("open_tab", json!({"url": "about:blank", "focus": false}))
        .await;
    assert_eq!(desk.client.list_tools().await, tools[..3]);
    let tab = desk.tabs().await.ids()[0];
    desk.text("focus_tab", json!({"tabId": tab})).await;
    assert_eq!(desk.client.list_tools().await, tools);
}

#[tokio::test]
async fn r004_19_25_32_38_42_97_a_tool_outside_its_state_names_the_call_to_make() {
    // R004-19, R004-25, R004-32, R004-38, R004-42, R004-97
    let Some(desk) = Desk::disconnected(&[]).await else {
        return;
    };
    let url = desk.pages.url("a");
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
        assert_eq!(desk.refusal(tool, arguments).await, expected);
    }
    assert_names(&desk.names().await, &["connect_browser"]);

    desk.text("connect_browser", json!({"launch": true})).await;
    desk.client.take_notifications().await;
    assert_eq!(
        desk.refusal("connect_browser", json!({"launch": true}))
            .await,
        "A browser is already connected. Call list_tabs to see its tabs."
    );
    for (tool, arguments) in [
        ("focus_tab", json!({"tabId": 1})),
        ("close_tab", json!({})),
        ("take_snapshot", json!({})),
    ] {
        let expected = format!("{tool} needs a tab and none is open. Call open_tab first.");
        assert_eq!(desk.refusal(tool, arguments).await, expected);
    }
    assert_names(&desk.names().await, &["list_tabs", "open_tab"]);

    desk.text("open_tab", json!({"url": url, "focus": false}))
        .await;
    desk.client.take_notifications().await;
    let tab = desk.tabs().await.ids()[0];
    for (tool, arguments) in [
        ("close_tab", json!({})),
        ("close_tab", json!({"tabId": tab})),
        ("take_snapshot", json!({})),
    ] {
        let expected = format!(
            "{tool} needs a focused tab, and none is focused. Call focus_tab first; list_tabs shows the tabs."
        );
        assert_eq!(desk.refusal(tool, arguments).await, expected);
    }
    assert_names(&desk.names().await, &["list_tabs", "open_tab", "focus_tab"]);
    assert_eq!(desk.tabs().await.ids(), [tab]);
}

#[tokio::test]
async fn page_actions_that_are_off_are_not_run() {
    let Some(desk) = Desk::launched(&["--pageActions=off"]).await else {
        return;
    };
    desk.open("a").await;
    assert_eq!(
        desk.refusal("take_snapshot", json!({})).await,
        "take_snapshot is switched off in this session by the flags that tabmux was started with. Work \
         with other tools, or ask the user to change them."
    );
}

#[tokio::test]
async fn more_tools_leads_to_every_page_action() {
    let Some(desk) = Desk::launched(&[]).await else {
        return;
    };
    desk.pages.route(
        "/logs",
        page("Logs", "<script>console.log('so it is')</script>"),
    );
    desk.open("logs").await;
    // What is not listed can be called, unless it has to be asked for.
    let requests = desk.text("list_network_requests", json!({})).await;
    assert!(requests.contains("/logs"), "{requests}");
    assert_eq!(
        desk.refusal("cookies", json!({})).await,
        "cookies belongs to the category storage. Call more_tools with category: \"storage\" first."
    );
    assert_eq!(
        desk.refusal("list_pages", json!({})).await,
        "list_pages is not needed in this session. Call list_tabs instead."
    );
    let wrong = desk
        .refusal("more_tools", json!({"category": "console"}))
        .await;
    assert_eq!(
        wrong,
        "There is no category `console`. Call more_tools with one of debugging, emulation, input, network, \
         performance, rules, screencast, storage."
    );
    let more = json!({"category": "debugging"});
    let added = desk.step("more_tools", more.clone()).await;
    assert_eq!(added.notices, 1);
    let tools = added.json()["toolsAvailable"].clone();
    let listed = desk.names().await;
    for tool in tools.as_array().unwrap() {
        assert!(listed.iter().any(|name| tool == name), "{tool}");
    }
    let console = desk.text("list_console_messages", json!({})).await;
    assert!(console.contains("so it is"), "{console}");
    assert_eq!(desk.step("more_tools", more).await.notices, 0);
    let categories = ["emulation", "input", "network", "performance"];
    for category in categories.iter().chain(&["rules", "screencast", "storage"]) {
        let added = desk.step("more_tools", json!({"category": category})).await;
        assert_eq!(added.notices, 1, "{category}");
    }
    let mut all: Vec<_> = tabmux_browser::tools::all()
        .iter()
        .map(|tool| tool.name)
        .collect();
    all.sort_unstable();
    assert_names(&desk.names().await, &[&FOCUSED[..], &all].concat());
    desk.text("cookies", json!({})).await;
}

/// The seed's second workflow, without the page tools that come later.
#[tokio::test]
async fn r004_55_two_tabs_are_compared_by_changing_focus() {
    let Some(desk) = Desk::launched(&[]).await else {
        return;
    };
    for (path, price) in [("/expedia", 450), ("/kayak", 520)] {
        desk.pages
            .route(path, page(path, &format!("<p id=price>{price}</p>")));
        desk.open(path).await;
    }
    let price = "() => Number(document.getElementById('price').textContent)";
    assert_eq!(desk.evaluate(price).await, 520);
    let expedia = desk.tabs().await.id_of(&desk.pages.url("expedia"));
    desk.focus(expedia).await;
    assert_eq!(desk.evaluate(price).await, 450);
}

#[tokio::test]
async fn two_calls_to_connect_share_one_browser_and_one_notification() {
    let Some(desk) = Desk::disconnected(&[]).await else {
        return;
    };
    let launch = || json!({"launch": true});
    let first = desk.client.begin_call("connect_browser", launch()).await;
    let second = desk.client.begin_call("connect_browser", launch()).await;
    let (first, second) = (
        first.tool_reply().await.ok(),
        second.tool_reply().await.ok(),
    );
    assert_eq!(first.json(), second.json());
    assert_eq!(desk.client.take_notifications().await.len(), 1);
    if !desk.can(Capability::Launch) {
        return; // There is only one.
    }
    let browsers = || {
        let mut processes = tabmux_testkit::process::descendants(desk.client.pid());
        processes.retain(|process| process.parent == desk.client.pid());
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

fn connect_browser() -> Value {
    json!({
        "name": "connect_browser",
        "description": "Establish connection to browser (attach to existing or launch new)",
        "inputSchema": {
            "type": "object",
            "properties": {
                "launch": {
                    "type": "boolean",
                    "description": "Launch new browser instance if none found",
                    "default": false
                }
            }
        }
    })
}

fn core_tools() -> [Value; 4] {
    [
        json!({
            "name": "list_tabs",
            "description": "See all open tabs without loading their tools",
            "inputSchema": {"type": "object", "properties": {}}
        }),
        json!({
            "name": "open_tab",
            "description": "Open a new browser tab",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "url": {"type": "string", "description": "URL to open"},
                    "focus": {
                        "type": "boolean",
                        "description": "Focus the new tab after opening",
                        "default": true
                    }
                },
                "required": ["url"]
            }
        }),
        json!({
            "name": "focus_tab",
            "description": "Switch focus to a different tab, loading its tools",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "tabId": {"type": "number", "description": "ID of the tab to focus"}
                },
                "required": ["tabId"]
            }
        }),
        json!({
            "name": "close_tab",
            "description": "Close a tab",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "tabId": {
                        "type": "number",
                        "description": "ID of tab to close. Defaults to focused tab."
                    }
                }
            }
        }),
    ]
}
