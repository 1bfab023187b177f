//! The fixed list: pages and their options, and the categories of tools.

use crate::crowd::Crowd;
use crate::over_extension::Capability;
use serde_json::{Value, json};
use tabmux_testkit::McpClient;

async fn text(client: &McpClient, tool: &str, arguments: Value) -> String {
    client.call_tool(tool, arguments).await.ok().text()
}

async fn evaluate(client: &McpClient, script: &str) -> String {
    let arguments = json!({"function": format!("() => {script}")});
    text(client, "evaluate_script", arguments)
        .await
        .replace('"', "")
}

async fn names(client: &McpClient) -> Vec<String> {
    let tools = client.list_tools().await.into_iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

/// Spec: multi-browser 61, 64, 65, 66, 67, 68.
#[tokio::test(flavor = "multi_thread")]
async fn a_tool_of_every_family_answers() {
    let Some(crowd) = Crowd::gather() else { return };
    let client = crowd.client(&[]).await;
    let url = crowd.secret_of("family");
    text(
        &client,
        "new_page",
        json!({"url": url, "timeout": 20_000, "background": true}),
    )
    .await;
    for (tool, arguments, expected) in [
        ("take_snapshot", json!({}), "family"),
        ("list_network_requests", json!({}), "secret?of=family"),
        ("list_console_messages", json!({}), ""),
        ("emulate", json!({"timezone": "Asia/Tokyo"}), "Asia/Tokyo"),
        ("resize_page", json!({"width": 500, "height": 400}), "500"),
        ("wait_for", json!({"text": ["family"]}), "family"),
        ("list_page_tools", json!({}), "Press the button"),
    ] {
        let told = text(&client, tool, arguments).await;
        assert!(told.contains(expected), "{tool}: {told}");
    }
    let zone = "Intl.DateTimeFormat().resolvedOptions().timeZone";
    assert_eq!(evaluate(&client, zone).await, "Asia/Tokyo");
    let none = client.call_tool("call_page_tool", json!({"name": "buy"}));
    assert!(none.await.expect_error().contains("list_page_tools"));
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_an_isolated_context_share_cookies_with_each_other_only() {
    let Some(crowd) = Crowd::gather() else { return };
    let client = crowd.client(&[]).await;
    let url = crowd.secret_of("cookies");
    let open = async |context: Option<&str>| {
        let mut arguments = json!({"url": url});
        if let Some(context) = context {
            arguments["isolatedContext"] = json!(context);
        }
        text(&client, "new_page", arguments).await
    };
    open(None).await;
    evaluate(&client, "document.cookie = 'who=everybody'").await;
    if !crowd.can(Capability::Contexts) {
        let apart = json!({"url": url, "isolatedContext": "apart"});
        let refused = client.call_tool("new_page", apart).await.expect_error();
        assert!(
            refused.contains("cannot give an agent cookies and storage of its own"),
            "{refused}"
        );
        return;
    }
    open(Some("apart")).await;
    assert_eq!(evaluate(&client, "document.cookie").await, "");
    evaluate(&client, "document.cookie = 'who=apart'").await;
    open(Some("apart")).await;
    assert_eq!(evaluate(&client, "document.cookie").await, "who=apart");
    open(None).await;
    assert_eq!(evaluate(&client, "document.cookie").await, "who=everybody");
    let pages = text(&client, "list_pages", json!({})).await;
    assert_eq!(pages.lines().count(), 4, "{pages}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_select_page_with_bring_to_front_changes_what_the_user_sees() {
    let Some(crowd) = Crowd::gather() else { return };
    let chromium = crowd.running_browser();
    let client = crowd.guest(&chromium).await;
    text(
        &client,
        "navigate_page",
        json!({"url": crowd.secret_of("users")}),
    )
    .await;
    let users = crowd.asked("tabs")[0]["id"].clone();
    text(
        &client,
        "new_page",
        json!({"url": crowd.secret_of("agents")}),
    )
    .await;
    let tabs = crowd.asked("tabs");
    let mut tabs = tabs.as_array().unwrap().iter();
    let agents = tabs.find(|tab| tab["title"] == "agents").unwrap()["id"].clone();
    let user = crate::user::User::at(chromium.websocket_url()).await;
    assert_eq!(
        user.title_in_front().await,
        "users",
        "a new page stays behind"
    );
    text(&client, "select_page", json!({"pageId": users})).await;
    text(&client, "select_page", json!({"pageId": agents})).await;
    assert_eq!(user.title_in_front().await, "users");
    let front = json!({"pageId": agents, "bringToFront": true});
    text(&client, "select_page", front).await;
    assert_eq!(user.title_in_front().await, "agents");
}

#[tokio::test(flavor = "multi_thread")]
async fn categories_are_switched_by_flags() {
    let Some(crowd) = Crowd::gather() else { return };
    let all = names(&crowd.client(&[]).await).await;
    assert!(all.contains(&"emulate".to_owned()));
    let less = crowd.client(&["--categoryEmulation=false"]).await;
    let listed = names(&less).await;
    assert!(!listed.contains(&"emulate".to_owned()) && listed.contains(&"click".to_owned()));
    let refused = less.call_tool("emulate", json!({"locale": "de-DE"})).await;
    assert!(
        refused
            .expect_error()
            .contains("is switched off in this session")
    );
    let few = names(&crowd.client(&["--categories=debugging"]).await).await;
    assert!(few.contains(&"take_snapshot".to_owned()) && !few.contains(&"click".to_owned()));
}

/// The size of the list on the wire.
#[tokio::test(flavor = "multi_thread")]
async fn the_list_stays_within_its_budget_on_the_wire() {
    let Some(crowd) = Crowd::gather() else { return };
    let one = ["--browserUrl=http://127.0.0.1:1"];
    let two = [one[0], "--browserUrl=http://127.0.0.1:2"];
    // With two browsers every tool has an argument more, whose text of 400 bytes the specification fixes.
    for (flags, most) in [(&one[..], 16_000), (&two[..], 29_500)] {
        let client = crowd.visitor(flags).await;
        let tools = client.list_tools().await;
        let bytes = json!({"tools": tools}).to_string().len();
        assert!(bytes <= most, "{} browsers: {bytes} bytes", flags.len());
    }
}
