//! Limits for agents, end to end: flags, `tabmux policy`, and questions before a tool runs.

use crate::crowd::Crowd;
use crate::harness::{McpHarness, page};
use crate::over_extension::Capability;
use crate::running_browser::RunningBrowser;
use serde_json::json;
use tabmux_testkit::{McpClient, patiently};

fn secret(harness: &McpHarness) -> String {
    harness
        .pages
        .route("/secret", page("Top secret", "<p>1234</p>"));
    harness.pages.cross_site_url("/secret")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_sees_only_the_origins_that_its_flags_allow() {
    let Some(harness) = McpHarness::launched(&["--allowedOrigins=http://127.0.0.1:*"]).await else {
        return;
    };
    let secret = secret(&harness);
    let refused = harness.refusal("open_tab", json!({"url": secret})).await;
    assert!(
        refused.starts_with("http://localhost:") && refused.contains("--allowedOrigins"),
        "{refused}"
    );
    let link = format!("<a href='{secret}' target=_blank>popup</a><a href='{secret}'>link</a>");
    harness.pages.route("/links", page("Links", &link));
    harness.open("/links").await;
    let uid = harness.uid("link \"link\"").await;
    let clicked = harness.text("click", json!({"uid": uid})).await;
    assert!(
        clicked.contains("was blocked") && !clicked.contains("secret"),
        "{clicked}"
    );
    assert_eq!(harness.pages.count("/secret"), 0);
    // about:blank and data: have no origin of their own.
    let hello = json!({"url": "data:text/html,hello"});
    let went = harness.client.call_tool("navigate_page", hello).await;
    match harness.can(Capability::DataAddresses) {
        true => drop(went.ok()),
        false => {
            let refused = went.expect_error();
            assert!(refused.contains("cannot open data: addresses"), "{refused}");
        }
    }
    harness
        .text("navigate_page", json!({"url": "about:blank"}))
        .await;
    let refused = harness
        .client
        .call_tool("navigate_page", json!({"url": secret}));
    let refused = refused.await.expect_error();
    assert!(refused.contains("--allowedOrigins"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tab_that_may_not_be_seen_is_listed_by_its_origin() {
    let Some(crowd) = Crowd::gather() else { return };
    let browser = RunningBrowser::start(&crowd).await;
    let body = "<p>1234</p><script>fetch('/ready')</script>";
    crowd.pages.route("/secret", page("Top secret", body));
    let there = crowd.pages.cross_site_url("/secret?token=1");
    browser.user.opens(&there).await;
    crowd.pages.wait_for_request("/ready").await;
    let blocked = ["--blockedOrigins=localhost"];
    let client = browser.guest(&crowd, &blocked).await;
    let pages = client.call_tool("list_pages", json!({})).await.ok().text();
    let line = pages.lines().find(|line| line.contains("(blocked)"));
    let line = line.unwrap_or_else(|| panic!("{pages}"));
    assert!(
        line.contains("(blocked) (http://localhost:") && !pages.contains("secret"),
        "{pages}"
    );
    let tab = line.split(':').next().unwrap().trim();
    for (tool, arguments) in [
        ("take_snapshot", json!({"tabId": tab})),
        (
            "evaluate_script",
            json!({"tabId": tab, "function": "() => document.title"}),
        ),
        ("take_screenshot", json!({"tabId": tab})),
        ("list_page_tools", json!({"tabId": tab})),
        ("list_network_requests", json!({"tabId": tab})),
    ] {
        let refused = client.call_tool(tool, arguments).await.expect_error();
        assert!(
            refused.contains("--blockedOrigins localhost"),
            "{tool}: {refused}"
        );
    }
    let chosen = client.call_tool(
        "select_page",
        json!({"pageId": tab.parse::<u64>().unwrap()}),
    );
    let chosen = chosen.await.ok().text();
    assert!(!chosen.contains("secret"), "{chosen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_of_the_person_apply_to_all_sessions_at_once() {
    let Some(crowd) = Crowd::gather() else { return };
    let client = crowd.client(&[]).await;
    let url = crowd.pages.url("/");
    let origin = url.trim_end_matches('/').to_owned();
    client.call_tool("new_page", json!({"url": url})).await.ok();
    client.call_tool("take_snapshot", json!({})).await.ok();
    let policy = |arguments: &[&str]| {
        let output = crowd
            .tabmux()
            .arg("policy")
            .args(arguments)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.success(), text)
    };
    assert_eq!(policy(&["list"]).1, "Agents may see every site.\n");
    assert!(policy(&["block", &origin]).0);
    let refused = client
        .call_tool("take_snapshot", json!({}))
        .await
        .expect_error();
    assert!(refused.contains("`tabmux policy remove"), "{refused}");
    let refused = client
        .call_tool("new_page", json!({"url": url}))
        .await
        .expect_error();
    assert!(refused.contains("is blocked by the person"), "{refused}");
    assert!(policy(&["remove", &origin]).0);
    client.call_tool("take_snapshot", json!({})).await.ok();
    assert!(policy(&["allow", "https://other.test"]).0);
    let refused = client
        .call_tool("take_snapshot", json!({}))
        .await
        .expect_error();
    assert!(
        refused.contains(&format!("`tabmux policy allow '{origin}'`")),
        "{refused}"
    );
    assert!(!policy(&["allow", "https://other.test/path"]).0);
    assert!(!policy(&["remove", "https://unknown.test"]).0);
}

/// A page with a tool that buys.
pub(crate) fn shop() -> tabmux_testkit::Response {
    page(
        "Shop",
        r#"<script>
        window.bought = [];
        document.modelContext.registerTool({name: "buy", description: "Buys", annotations: {consequentialHint: true},
          inputSchema: {type: "object", properties: {item: {type: "string"}}},
          execute: ({item}) => { bought.push(item); return "bought " + item; }});
        </script>"#,
    )
}

pub(crate) async fn bought(client: &McpClient) -> String {
    let ask = json!({"function": "() => bought"});
    client.call_tool("evaluate_script", ask).await.ok().text()
}

/// Spec: security 24.
#[tokio::test(flavor = "multi_thread")]
async fn a_consequential_tool_runs_when_the_person_agrees() {
    let Some(mut harness) = McpHarness::silent(&[]) else {
        return;
    };
    harness.client.can(json!({"elicitation": {}}));
    harness.client.initialize().await;
    harness.pages.route("/shop", shop());
    harness
        .client
        .call_tool("connect_browser", json!({"launch": true}))
        .await
        .ok();
    harness.open("/shop").await;
    for (n, (answer, item)) in [
        (json!({"action": "decline"}), "tea"),
        (
            json!({"action": "accept", "content": {"run": true}}),
            "milk",
        ),
        (json!({"action": "cancel"}), "gold"),
    ]
    .into_iter()
    .enumerate()
    {
        let pending = harness
            .client
            .begin_call("buy", json!({"item": item}))
            .await;
        let asked = harness.client.nth_request(n).await;
        let message = asked["params"]["message"].as_str().unwrap();
        assert!(
            message.contains("Tool: \"buy\"") && message.contains(item),
            "{message}"
        );
        assert!(message.contains("Site: http://127.0.0.1:"), "{message}");
        harness.client.answer(&asked, answer.clone()).await;
        let reply = pending.tool_reply().await;
        match answer["action"] == "accept" {
            true => assert_eq!(reply.ok().text(), "bought milk"),
            false => assert!(reply.expect_error().contains("Nothing was done")),
        }
    }
    assert_eq!(bought(&harness.client).await, "[\"milk\"]");
}

/// Spec: security 24.
#[tokio::test(flavor = "multi_thread")]
async fn a_consequential_tool_does_not_run_where_nobody_can_be_asked() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    harness.pages.route("/shop", shop());
    harness.open("/shop").await;
    let refused = harness.refusal("buy", json!({"item": "tea"})).await;
    assert!(
        refused.contains("--confirm never") && refused.contains("Nothing was done"),
        "{refused}"
    );
    assert_eq!(bought(&harness.client).await, "[]");
}

/// Spec: security 24, 30.
#[tokio::test(flavor = "multi_thread")]
async fn over_the_daemon_the_question_arrives_and_is_logged() {
    let Some(crowd) = Crowd::gather() else { return };
    let mut client = crowd.client_working_in(crowd.home(), &[]);
    client.can(json!({"elicitation": {"form": {}}}));
    client.initialize().await;
    crowd.pages.route("/shop", shop());
    let url = crowd.pages.url("/shop");
    client.call_tool("new_page", json!({"url": url})).await.ok();
    for (n, run) in [false, true].into_iter().enumerate() {
        let buy = json!({"name": "buy", "arguments": {"item": "tea"}});
        let pending = client.begin_call("call_page_tool", buy).await;
        let asked = client.nth_request(n).await;
        let answer = json!({"action": "accept", "content": {"run": run}});
        client.answer(&asked, answer).await;
        let reply = pending.tool_reply().await;
        assert_eq!(reply.raw["isError"] == true, !run);
    }
    assert_eq!(bought(&client).await, "[\"tea\"]");
    let look = json!({"tool": "find", "arguments": {"text": "tea"}});
    let steps = json!({"steps": [look, look, look]});
    client.call_tool("run_steps", steps).await.ok();
    client.call_tool("list_pages", json!({})).await.ok();
    let log = crowd.home().join("run/daemon.sock.audit.jsonl");
    let audit = patiently(
        async {
            loop {
                let audit = std::fs::read_to_string(&log).unwrap_or_default();
                if audit.contains("list_pages") {
                    return audit;
                }
                tokio::task::yield_now().await;
            }
        },
        || "the audit log".into(),
    )
    .await;
    for outcome in ["asked", "declined", "accepted"] {
        let wanted = format!("\"outcome\":\"{outcome}\"");
        assert!(audit.contains(&wanted), "{outcome} in {audit}");
    }
    assert!(!audit.contains("tea"), "{audit}");
    // Steps are in it as calls, what tabmux looks at between them is not.
    let lines = ["\"find\"", "\"run_steps\""].map(|tool| audit.matches(tool).count());
    assert_eq!(lines, [3, 1], "{audit}");
}
