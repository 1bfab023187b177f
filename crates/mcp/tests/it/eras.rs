//! Both eras of the protocol: the handshake until 2025-11-25, and 2026-07-28 without one.

use crate::server_harness::{ServerHarness, tool};
use serde_json::{Value, json};

/// The specification fixes name and version; title and description are for people.
fn about() -> Value {
    let version = env!("CARGO_PKG_VERSION");
    json!({
        "name": "browser",
        "version": "1.0.0",
        "title": "tabmux",
        "description": format!(
            "tabmux {version}: browsers, their tabs and the tools of their pages, shared by MCP clients."
        ),
    })
}

/// Spec: dynamic-tools 59, 60.
#[tokio::test]
async fn the_handshake_names_the_server_and_its_one_capability() {
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let (_stage, client) = ServerHarness::set_silent();
        let result = client.initialize_as(asked).await;
        assert_eq!(
            result,
            json!({
                "protocolVersion": answered,
                "capabilities": {"resources": {"subscribe": true}, "tools": {"listChanged": true}},
                "serverInfo": about(),
            })
        );
    }
}

#[tokio::test]
async fn discovery_names_the_same_and_leaves_both_eras_open() {
    let (_stage, client) = ServerHarness::set_2026();
    let result = client.request("server/discover", json!({})).await.unwrap();
    assert_eq!(
        result["capabilities"],
        json!({"resources": {"subscribe": true}, "tools": {"listChanged": true}})
    );
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"],
        about()
    );
    let versions = result["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")));
    assert!(versions.contains(&json!("2025-11-25")));
    assert_eq!(client.tool_names().await, ["zebra", "ant"]);

    let (_stage, client) = ServerHarness::set_2026();
    client.request("server/discover", json!({})).await.unwrap();
    client.initialize().await;
    assert_eq!(client.tool_names().await, ["zebra", "ant"]);
}

/// Spec: dynamic-tools 56.
#[tokio::test]
async fn the_list_is_the_present_one_in_the_given_order() {
    let (server_harness, client) = ServerHarness::set().await;
    assert_eq!(client.tool_names().await, ["zebra", "ant"]);
    server_harness.tools.lock().unwrap().insert(1, tool("mole"));
    let result = client.request("tools/list", json!({})).await.unwrap();
    assert_eq!(
        result["tools"][1],
        json!({
            "name": "mole",
            "description": "The mole.",
            "inputSchema": {"type": "object", "properties": {}},
            "annotations": {"readOnlyHint": true},
        })
    );
    assert_eq!(result.as_object().unwrap().len(), 1, "{result}");
}

#[tokio::test]
async fn lists_of_2026_are_private_and_stale_at_once() {
    let (_stage, client) = ServerHarness::set_2026();
    let result = client.request("tools/list", json!({})).await.unwrap();
    assert_eq!(result["ttlMs"], 0);
    assert_eq!(result["cacheScope"], "private");
    assert_eq!(result["resultType"], "complete");
}

#[tokio::test]
async fn undeclared_methods_are_not_found() {
    for method in [
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "logging/setLevel",
        "tasks/get",
        "no/such/method",
    ] {
        let params = json!({
            "name": "x", "uri": "x://y", "level": "info", "taskId": "t",
            "ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": "b"},
        });
        let (_stage, client) = ServerHarness::set().await;
        let error = client.request(method, params.clone()).await.unwrap_err();
        assert_eq!(error.code, -32601, "{method}: {error}");
        let (_stage, client) = ServerHarness::set_2026();
        let error = client.request(method, params).await.unwrap_err();
        assert_eq!(error.code, -32601, "{method} in 2026: {error}");
    }
    let (_stage, client) = ServerHarness::set().await;
    let error = client.request("subscriptions/listen", listen()).await;
    assert_eq!(error.unwrap_err().code, -32601);
    let (_stage, client) = ServerHarness::set_2026();
    client.list_tools().await;
    let error = client.request("ping", json!({})).await.unwrap_err();
    assert_eq!(error.code, -32601);
}

#[tokio::test]
async fn an_unknown_version_is_refused_with_those_we_know() {
    let (_stage, client) = ServerHarness::set_silent();
    let params = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2199-01-01",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let error = client.request("tools/list", params).await.unwrap_err();
    assert_eq!(error.code, -32022);
    assert!(
        error.data["supported"]
            .as_array()
            .unwrap()
            .contains(&json!("2026-07-28"))
    );
    client.initialize().await;
    assert_eq!(client.tool_names().await, ["zebra", "ant"]);
}

pub(crate) fn listen() -> Value {
    json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}})
}
