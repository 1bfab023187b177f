//! Bad input: one sentence that says what happened and what to do, no notification, no change.

use crate::harness::{McpHarness, page};
use serde_json::{Value, json};
use tabmux_testkit::OverExtension;

/// Makes each call and compares its sentence; `…` stands for any text. Nothing may change.
async fn check(harness: &McpHarness, table: &[(&str, Value, &str)]) {
    let before = harness.client.list_tools().await;
    let connected = before.len() > 1;
    let tabs = if connected {
        Some(harness.tabs().await)
    } else {
        None
    };
    for (tool, arguments, expected) in table {
        let said = harness.refusal(tool, arguments.clone()).await;
        assert!(
            matches(&said, expected),
            "{tool} {arguments}\n  said {said:?}\n  not  {expected:?}"
        );
    }
    assert_eq!(harness.client.list_tools().await, before);
    if connected {
        assert_eq!(Some(harness.tabs().await), tabs);
    }
}

fn matches(said: &str, pattern: &str) -> bool {
    match pattern.split_once('…') {
        None => said == pattern,
        Some((start, end)) => {
            said.len() >= start.len() + end.len() && said.starts_with(start) && said.ends_with(end)
        }
    }
}

const SCHEMA: &str = "Check the tool's input schema and call it again.";

fn bad(tool: &str, detail: &str) -> String {
    format!("Invalid arguments for {tool}: {detail}. {SCHEMA}")
}

#[tokio::test]
async fn arguments_of_the_core_tools_are_checked_before_anything_else() {
    let Some(harness) = McpHarness::disconnected(&[]).await else {
        return;
    };
    let table = [
        (
            "connect_browser",
            json!({"launch": "yes"}),
            "invalid type: string \"yes\", expected a boolean",
        ),
        (
            "connect_browser",
            json!({"lunch": true}),
            "unknown field `lunch`, expected `launch`",
        ),
        (
            "list_tabs",
            json!({"x": 1}),
            "unknown field `x`, expected `pageSize` or `pageIdx`",
        ),
        ("open_tab", json!({}), "missing field `url`"),
        (
            "open_tab",
            json!({"url": 5}),
            "invalid type: integer `5`, expected a string",
        ),
        (
            "open_tab",
            json!({"url": null}),
            "invalid type: null, expected a string",
        ),
        (
            "open_tab",
            json!({"url": "about:blank", "focus": "no"}),
            "invalid type: string \"no\", expected a boolean",
        ),
        (
            "open_tab",
            json!({"url": "about:blank", "at": 1}),
            "unknown field `at`, expected `url` or `focus`",
        ),
        ("focus_tab", json!({}), "missing field `tabId`"),
        (
            "focus_tab",
            json!({"tabId": true}),
            "invalid type: boolean `true`, expected the number of a tab",
        ),
        (
            "focus_tab",
            json!({"tabId": {}}),
            "invalid type: map, expected the number of a tab",
        ),
        (
            "close_tab",
            json!({"tabId": []}),
            "invalid type: sequence, expected the number of a tab",
        ),
        (
            "close_tab",
            json!({"tab": 1}),
            "unknown field `tab`, expected `tabId`",
        ),
    ];
    for (tool, arguments, detail) in table {
        check(&harness, &[(tool, arguments, &bad(tool, detail))]).await;
    }
}

/// Spec: dynamic-tools 89; security 25.
#[tokio::test]
async fn addresses_that_are_not_opened() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    harness.pages.hang_up("/nothing");
    let nobody = "http://no-such-host.invalid/";
    let nothing = harness.pages.url("nothing");
    let kinds = [
        "javascript:alert(1)",
        "javascript:1",
        "file:///etc/passwd",
        "chrome://version",
        "view-source:http://a/",
    ];
    for url in kinds {
        let scheme = url.split(':').next().unwrap();
        let expected = format!(
            "{scheme}: URLs are not opened. Use an http:, https: or data: URL, or about:blank."
        );
        check(&harness, &[("open_tab", json!({"url": url}), &expected)]).await;
    }
    check(
        &harness,
        &[
            (
                "open_tab",
                json!({"url": "not a url"}),
                "`not a url` is not a URL. Give a whole one, such as https://example.com/page.",
            ),
            (
                "open_tab",
                json!({"url": "example.com", "focus": false}),
                "`example.com` has no scheme. Did you mean https://example.com ?",
            ),
            (
                "open_tab",
                json!({"url": nobody}),
                &format!("{nobody} could not be loaded: ERR_NAME_NOT_RESOLVED …"),
            ),
            (
                "open_tab",
                json!({"url": nothing}),
                &format!("{nothing} could not be loaded: ERR_EMPTY_RESPONSE …"),
            ),
            (
                "open_tab",
                json!({"url": nothing, "focus": false}),
                &format!("{nothing} could not be loaded: ERR_EMPTY_RESPONSE …"),
            ),
        ],
    )
    .await;
}

/// Spec: dynamic-tools 88.
#[tokio::test]
async fn tabs_that_are_not_there() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    let (closed, tab) = (harness.open("a").await, harness.open("b").await);
    harness.text("close_tab", json!({"tabId": closed})).await;
    let rest = format!("Available tabs: {tab}. Call list_tabs to see the tabs.");
    for (given, named) in [
        (json!(999), "999".to_owned()),
        (json!(closed), closed.to_string()),
        (json!("999"), "999".to_owned()),
        (json!("abc"), "\"abc\"".to_owned()),
        (json!(0), "0".to_owned()),
        (json!(-1), "\"-1\"".to_owned()),
        (json!(1.5), "\"1.5\"".to_owned()),
        (json!(1e30), "…".to_owned()),
    ] {
        let expected = format!("There is no tab {named}. {rest}");
        for tool in ["focus_tab", "close_tab"] {
            check(&harness, &[(tool, json!({"tabId": given}), &expected)]).await;
        }
    }
    // Spec: decisions 1.
    // A number, its text, and its text with a point are one and the same tab.
    for same in [json!(tab), json!(tab.to_string()), json!(tab as f64)] {
        harness.text("focus_tab", json!({"tabId": same})).await;
    }
    harness.client.assert_no_notification().await;
}

#[tokio::test]
async fn elements_that_are_stale_covered_disabled_or_none() {
    let Some(harness) = McpHarness::launched(&["--generatedTools=off"]).await else {
        return;
    };
    let body = "<button disabled>Off</button><button>Under</button><input aria-label=Name>\
                <div id=cover style='position:fixed;inset:0'></div>";
    harness
        .pages
        .route("/old", page("Old", "<button>Gone</button>"));
    harness.pages.route("/form", page("Form", body));
    harness.open("old").await;
    let stale = harness.uid("\"Gone\"").await;
    let url = harness.pages.url("form");
    harness.text("navigate_page", json!({"url": url})).await;
    let off = harness.uid("\"Off\"").await;
    let under = harness.uid("\"Under\"").await;
    let name = harness.uid("\"Name\"").await;
    let document = off.split('_').next().unwrap().to_owned();
    let nowhere = format!("{document}_99999");
    let stale_text = format!(
        "uid {stale} is from a page that is no longer shown. Call take_snapshot for the present page."
    );
    let covered = format!("The element {under} is covered by <div#cover>. …");
    check(
        &harness,
        &[
            ("click", json!({"uid": stale}), &stale_text),
            ("hover", json!({"uid": stale}), &stale_text),
            ("fill", json!({"uid": stale, "value": "x"}), &stale_text),
            (
                "evaluate_script",
                json!({"function": "e => e.id", "args": [stale]}),
                &stale_text,
            ),
            ("take_screenshot", json!({"uid": stale}), &stale_text),
            (
                "click",
                json!({"uid": "nope"}),
                "`nope` is not a uid. Use one from take_snapshot or find, such as 3_14.",
            ),
            (
                "click",
                json!({"uid": nowhere}),
                &format!("The element {nowhere} is no longer on the page. …"),
            ),
            (
                "click",
                json!({"uid": off}),
                &format!("The element {off} is disabled. …"),
            ),
            ("click", json!({"uid": under}), &covered),
            (
                "fill",
                json!({"uid": off, "value": "x"}),
                &format!("The element {off} cannot be filled. …"),
            ),
            (
                "click",
                json!({}),
                &bad("click", "give a `uid`, or a `role`, `name` and `near`"),
            ),
            (
                "click",
                json!({"uid": 5}),
                &bad("click", "invalid type: integer `5`, expected a string"),
            ),
            (
                "click",
                json!({"uid": name, "force": true}),
                &bad("click", "unknown field `force`, …"),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn navigations_waits_and_scripts_that_fail() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    harness.pages.hang("/never");
    harness.open("a").await;
    let never = harness.pages.url("never");
    check(
        &harness,
        &[
            (
                "navigate_page",
                json!({"url": "file:///etc/passwd"}),
                "file: URLs are not opened. Use an http:, https: or data: URL, or about:blank.",
            ),
            (
                "navigate_page",
                json!({"url": never, "timeout": 300}),
                "The navigation did not happen within 300 ms. …",
            ),
            ("navigate_page", json!({"type": "forward"}), "There is no page to go forward to. Go to a URL instead."),
            ("navigate_page", json!({"type": "up"}), &bad("navigate_page", "unknown variant `up`, …")),
            (
                "wait_for",
                json!({"text": ["zzz"], "timeout": 50}),
                "The appearance of \"zzz\" did not happen within 50 ms. Call take_snapshot to see what the page shows.",
            ),
            ("evaluate_script", json!({"function": "() => { throw new Error('boom') }"}), "The script failed: Error: boom. Correct it and try again; take_snapshot shows what the page has."),
            ("evaluate_script", json!({"function": "() => Promise.reject(new TypeError('no'))"}), "The script failed: TypeError: no…"),
            ("evaluate_script", json!({"function": "() => {"}), "The script failed: SyntaxError: … Give a whole function, such as () => document.title."),
            (
                "evaluate_script",
                json!({"function": "() => window"}),
                "The function returned the window, which JSON cannot represent. …",
            ),
            (
                "evaluate_script",
                json!({"function": "() => { const a = {}; a.a = a; return a }"}),
                "The result contains a circular reference at a, which JSON cannot represent. …",
            ),
            (
                "evaluate_script",
                json!({"function": "() => 10n"}),
                "The function returned the BigInt 10n, which JSON cannot represent. …",
            ),
            ("handle_dialog", json!({"action": "accept"}), "No dialog is open. There is nothing to handle; go on."),
            ("take_screenshot", json!({"format": "gif"}), &bad("take_screenshot", "unknown variant `gif`, …")),
            ("press_key", json!({"key": "NoSuchKey"}), &bad("press_key", "`NoSuchKey` is not a key; …")),
        ],
    )
    .await;
    assert_eq!(
        harness.evaluate("() => document.title").await,
        "A",
        "the page is as it was"
    );
}

#[tokio::test]
async fn a_navigation_that_fails_keeps_the_tab_and_its_focus() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    harness.pages.hang_up("/nothing");
    let tab = harness.open("a").await;
    let nothing = harness.pages.url("nothing");
    let said = harness
        .refusal("navigate_page", json!({"url": nothing}))
        .await;
    assert!(
        said.starts_with(&format!(
            "{nothing} could not be loaded: ERR_EMPTY_RESPONSE ("
        )),
        "{said}"
    );
    assert_eq!(harness.tabs().await.focused(), Some(tab));
    let url = harness.pages.url("b");
    harness.text("navigate_page", json!({"url": url})).await;
    assert_eq!(harness.evaluate("() => document.title").await, "B");
}

/// A tab that shows an internal page of the browser is listed, but tools do not touch it.
/// Spec: decisions 22.
#[tokio::test]
async fn pages_of_the_browser_itself_are_not_touched() {
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    let chromium; // It ends with the test.
    let (harness, websocket) = match OverExtension::here() {
        Some(over) => {
            let harness = McpHarness::launched(&[]).await.unwrap();
            (harness, over.websocket())
        }
        None => {
            chromium = tabmux_testkit::Chromium::start(&browser);
            let harness = McpHarness::attached(&chromium, &[]).await;
            (harness, chromium.websocket_url().to_owned())
        }
    };
    let user = crate::user::User::at(&websocket).await;
    user.opens("chrome://version/").await;
    let tabs = harness
        .tabs_until(|tabs| tabs.urls().contains(&"chrome://version/"))
        .await;
    harness.focus(tabs.id_of("chrome://version/")).await;
    let expected = "This tab shows chrome://version/, which is not a web page that tools may touch. Use another \
                    tab, or open a new one.";
    for (tool, arguments) in [
        ("take_snapshot", json!({})),
        ("take_screenshot", json!({})),
        ("evaluate_script", json!({"function": "() => 1"})),
    ] {
        assert_eq!(harness.refusal(tool, arguments).await, expected);
    }
    harness.open("a").await;
    assert_eq!(harness.evaluate("() => document.title").await, "A");
}

#[tokio::test]
async fn an_unknown_tool_is_a_json_rpc_error_and_garbage_a_parse_error() {
    let Some(harness) = McpHarness::disconnected(&[]).await else {
        return;
    };
    let call = json!({"name": "teleport", "arguments": {}});
    let error = harness
        .client
        .request("tools/call", call)
        .await
        .unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        (-32602, "Unknown tool: teleport")
    );
    for params in [
        json!({}),
        json!({"arguments": {}}),
        json!({"name": "list_tabs", "arguments": [1]}),
    ] {
        assert_eq!(
            harness
                .client
                .request("tools/call", params)
                .await
                .unwrap_err()
                .code,
            -32602
        );
    }
    let before = harness.client.received().len();
    let lines = [
        (&b"garbage"[..], -32700),
        (b"{\"jsonrpc\":", -32700),
        (b"\xff\xfe\x00", -32700),
        (b"[]", -32600),
        (b"7", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"x\"}", -32600),
    ];
    for (seen, (line, code)) in (before..).zip(lines) {
        harness.client.send_raw(line).await;
        let answers = harness.client.wait("an error", |messages| {
            let received: Vec<_> = messages
                .iter()
                .filter_map(tabmux_testkit::Message::as_received)
                .collect();
            received.get(seen).map(|answer| (*answer).clone())
        });
        let answer = answers.await;
        assert_eq!(
            answer["error"]["code"],
            code,
            "{}: {answer}",
            String::from_utf8_lossy(line)
        );
    }
    assert_eq!(
        harness.names().await,
        ["connect_browser"],
        "the server lives on"
    );
    harness
        .text("connect_browser", json!({"launch": true}))
        .await;
}
