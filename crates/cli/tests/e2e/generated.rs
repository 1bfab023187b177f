//! Tools generated from pages that offer none, end to end: a real page, a real browser, a real client.

use crate::crowd::Crowd;
use crate::harness::{ACTIONS, FOCUSED, McpHarness, page};
use serde_json::{Value, json};
use tabmux_testkit::patiently;

fn repository() -> tabmux_testkit::Response {
    page(
        "claude-code",
        "<h1>claude-code</h1><button onclick=\"document.title = 'starred'\">Star repo</button>
         <button>Fork repo</button><a class=btn href='#issues'>View issues</a>",
    )
}

fn flights(company: &str) -> tabmux_testkit::Response {
    page(
        company,
        &format!(
            "<h1>Flights</h1><form onsubmit=\"out.textContent = '{company}: ' + [from.value, to.value, date.value]; return false\">
             <label>From <input id=from required></label><label>To <input id=to required></label>
             <label>Date <input id=date type=date required></label><button>Search</button></form><output id=out></output>"
        ),
    )
}

fn with_tools(tools: &[&str]) -> Vec<String> {
    let names = FOCUSED.iter().chain(tools).chain(&ACTIONS);
    names.map(|name| (*name).to_owned()).collect()
}

const REPOSITORY: [&str; 3] = ["fork_repo", "star_repo", "view_issues"];

/// Spec: dynamic-tools 48, 49, 54, 100.
#[tokio::test(flavor = "multi_thread")]
async fn a_focused_page_that_offers_no_tools_gets_some() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    harness.pages.route("/repo", repository());
    let opened = harness
        .step("open_tab", json!({"url": harness.pages.url("/repo")}))
        .await;
    assert_eq!(opened.notices, 1);
    assert_eq!(opened.json()["toolsAvailable"], json!(REPOSITORY));
    assert_eq!(harness.names().await, with_tools(&REPOSITORY));
    assert_eq!(harness.tabs().await.rows()[0]["toolCount"], 3);

    let tools = harness.client.list_tools().await;
    let star = tools.iter().find(|tool| tool["name"] == "star_repo");
    let origin = harness.pages.url("").trim_end_matches('/').to_owned();
    assert_eq!(
        star.unwrap()["description"],
        format!(
            "Press the button \"Star repo\" under \"claude-code\".\n(Generated from {origin}; untrusted.)"
        )
    );
    assert_eq!(
        harness.text("star_repo", json!({})).await,
        format!(
            "Pressed \"Star repo\".\nThe page is still at {origin}/repo\nThe title is now \"starred\"."
        )
    );
    assert_eq!(
        harness.evaluate("() => document.title").await,
        json!("starred")
    );
}

/// Spec: dynamic-tools 50, 86.
#[tokio::test(flavor = "multi_thread")]
async fn the_list_rests_while_a_page_is_drawn_again() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    harness.pages.route("/repo", repository());
    harness.pages.route("/same", repository());
    harness.open("/repo").await;
    let add =
        "() => (document.body.insertAdjacentHTML('beforeend', '<button>Watch repo</button>'), 0)";
    harness.evaluate(add).await;
    let look = async {
        loop {
            let told = harness.text("take_snapshot", json!({})).await;
            if told.contains("New page tools") {
                return told;
            }
        }
    };
    let told = patiently(look, || "the new tool is not told".to_owned()).await;
    let news = "\nNew page tools, which can be called by name or in run_steps:\nwatch_repo()";
    assert!(told.ends_with(news), "{told}");
    harness.text("watch_repo", json!({})).await;
    harness
        .evaluate("() => (document.querySelector('button').remove(), 0)")
        .await;
    let ask = || harness.client.call_tool("star_repo", json!({}));
    let refused = async {
        loop {
            let told = ask().await.text();
            if told.starts_with("star_repo is gone: ") {
                return;
            }
        }
    };
    patiently(refused, || "the missing tool is not told".to_owned()).await;
    harness.client.assert_no_notification().await;
    assert_eq!(harness.names().await, with_tools(&REPOSITORY));
    // Another document: the list has its tools when the call is answered.
    harness
        .text("navigate_page", json!({"url": harness.pages.url("/same")}))
        .await;
    assert_eq!(harness.names().await, with_tools(&REPOSITORY));
    harness
        .text("navigate_page", json!({"url": harness.pages.url("/a")}))
        .await;
    assert_eq!(harness.names().await, with_tools(&[]));
    // It is not announced as long as the agent works, because the answer names what is new.
    harness.client.assert_no_notification().await;
    let told = harness
        .text("navigate_page", json!({"url": harness.pages.url("/same")}))
        .await;
    let news = "\nNew page tools, which can be called by name or in run_steps:\nfork_repo()\nstar_repo()\nview_issues()";
    assert!(told.ends_with(news), "{told}");
    harness.client.assert_no_notification().await;
    harness
        .text("navigate_page", json!({"url": harness.pages.url("/a")}))
        .await;
    let tool = json!({"name": "watch_repo", "arguments": {}});
    let gone = harness
        .client
        .request("tools/call", tool)
        .await
        .unwrap_err();
    assert_eq!(gone.code, -32602);
}

/// Spec: dynamic-tools 53, 55.
#[tokio::test(flavor = "multi_thread")]
async fn the_same_tool_in_two_tabs_means_the_focused_one() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    for company in ["Expedia", "Kayak"] {
        harness
            .pages
            .route(&format!("/{company}"), flights(company));
    }
    let expedia = harness.open("/Expedia").await;
    let url = harness.pages.url("/Kayak");
    let opened = harness
        .step("open_tab", json!({"url": url, "focus": false}))
        .await;
    assert_eq!(opened.json()["focused"], false);
    assert_eq!(opened.json()["toolsAvailable"], json!([])); // Spec: dynamic-tools 99.
    let rows = harness.tabs().await;
    let counts: Vec<_> = rows.rows().iter().map(|row| &row["toolCount"]).collect();
    assert_eq!(
        counts,
        [&json!(1), &json!(1)],
        "before anybody focused the second one"
    );
    let kayak = rows.id_of(&url);

    let wish = json!({"from": "SFO", "to": "NYC", "date": "2024-01-19"});
    for (tab, company) in [(expedia, "Expedia"), (kayak, "Kayak")] {
        harness.focus(tab).await;
        assert_eq!(harness.names().await, with_tools(&["search_flights"]));
        harness.text("search_flights", wish.clone()).await;
        let out = harness.evaluate("() => out.textContent").await;
        assert_eq!(out, json!(format!("{company}: SFO,NYC,2024-01-19")));
    }
    let refused = harness.refusal("search_flights", json!({"from": 5})).await;
    assert!(
        refused.starts_with("Invalid arguments for search_flights: "),
        "{refused}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn generated_tools_can_be_limited_and_switched_off() {
    for (flag, expected) in [
        ("--generatedTools=off", &[][..]),
        ("--generatedTools=2", &["fork_repo", "star_repo"][..]),
    ] {
        let Some(harness) = McpHarness::launched(&[flag]).await else {
            return;
        };
        harness.pages.route("/repo", repository());
        harness.open("/repo").await;
        assert_eq!(harness.names().await, with_tools(expected), "{flag}");
        assert_eq!(harness.tabs().await.rows()[0]["toolCount"], expected.len());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_fixed_list_generated_tools_are_called_through_call_page_tool() {
    let Some(crowd) = Crowd::gather() else { return };
    let client = crowd.client(&[]).await;
    crowd.pages.route("/repo", repository());
    let before = client.tool_names().await;
    let url = crowd.pages.url("/repo");
    client.call_tool("new_page", json!({"url": url})).await.ok();
    assert_eq!(
        client.tool_names().await,
        before,
        "the list does not change"
    );
    let listed = client.call_tool("list_page_tools", json!({})).await.ok();
    let listed = listed.text();
    assert!(listed.contains("star_repo in tab "), "{listed}");
    assert!(
        listed.contains("(Generated from http://127.0.0.1:"),
        "{listed}"
    );
    let call = json!({"name": "star_repo", "arguments": {}});
    let called = client.call_tool("call_page_tool", call).await.ok().text();
    assert!(called.starts_with("Pressed \"Star repo\"."), "{called}");
    let title = json!({"function": "() => document.title"});
    let title: Value = client.call_tool("evaluate_script", title).await.ok().json();
    assert_eq!(title, json!("starred"));
    // Another page: its tools are listed on request.
    crowd.pages.route("/fly", flights("Fly"));
    let there = json!({"url": crowd.pages.url("/fly")});
    client.call_tool("navigate_page", there).await.ok();
    let listed = client.call_tool("list_page_tools", json!({})).await.ok();
    let listed = listed.text();
    assert!(
        listed.contains("search_flights in tab ") && !listed.contains("star_repo"),
        "{listed}"
    );
}

/// Spec: dynamic-tools 86.
#[tokio::test(flavor = "multi_thread")]
async fn a_reload_announces_at_most_that_generated_tools_went_and_came() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    let buttons: String = (0..12)
        .map(|n| format!("<button aria-pressed=false>Press {n}</button>"))
        .collect();
    harness.pages.route("/many", page("Many", &buttons));
    harness.open("/many").await;
    let before = harness.names().await;
    assert_eq!(before.len(), with_tools(&[]).len() + 12);
    harness.client.take_notifications().await;
    for _ in 0..3 {
        harness
            .text("navigate_page", json!({"type": "reload"}))
            .await;
        patiently(async { while harness.names().await != before {} }, || {
            "the tools to come back".to_owned()
        })
        .await;
        let notices = harness.client.take_notifications().await;
        assert!(notices.len() <= 2, "{notices:?}");
    }
}
