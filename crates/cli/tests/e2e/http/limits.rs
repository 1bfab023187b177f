//! Tokens that allow less than everything.

use super::server::HttpServer;
use crate::crowd::Crowd;
use serde_json::json;

#[tokio::test]
async fn a_token_allows_what_it_was_made_for_and_says_so_about_the_rest() {
    let Some(crowd) = Crowd::gather() else { return };
    let server = HttpServer::start(&crowd).await;
    let all = server.token("all");
    let reader = server.limited_token("reader", &["--readonly"]);
    let elsewhere = server.limited_token("elsewhere", &["--origins", "https://example.com"]);
    let url = crowd.secret_of("limits");
    let page = json!({"url": url});
    let opened = server.call_alone(&all, "new_page", page.clone()).await;
    assert!(!opened.is_error, "{}", opened.text);

    let reading = server.handshake(&reader, "reader").await;
    let list = reading.request("tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().unwrap().clone();
    assert!(tools.iter().any(|tool| tool["name"] == "take_snapshot"));
    for tool in &tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
    }
    let listed = reading.call("list_pages", json!({})).await;
    assert!(!listed.is_error, "{}", listed.text);
    for (tool, arguments) in [
        ("new_page", page.clone()),
        ("click", json!({"uid": "1_1"})),
        ("evaluate_script", json!({"function": "() => 1"})),
    ] {
        let refused = reading.call(tool, arguments).await;
        let expected = format!("{tool} can change things, and the token of this client");
        assert!(refused.text.starts_with(&expected), "{}", refused.text);
    }

    let refused = server.call_alone(&elsewhere, "new_page", page).await;
    assert!(
        refused.is_error && refused.text.contains("the token of this client allows"),
        "{}",
        refused.text
    );
    let table = server.tabmux(&["token", "list"]);
    for expected in [
        "everything",
        "tools that read",
        "origins https://example.com",
    ] {
        assert!(table.contains(expected), "{table}");
    }
}
