//! Tabs that change their documents during calls: a call for one document never reaches another.

use crate::page_harness::{Daemon, Worker, changed, listed, request, text};
use serde_json::json;
use tabmux_protocol::Backend;
use tabmux_protocol::session::ToolMode;

async fn shows(worker: &mut Worker, how: &str, document: &str) {
    worker
        .say(json!({
            "type": how, "tabId": "tab-1", "documentId": document, "visible": true, "focused": true,
            "url": format!("http://localhost:5173/{document}"), "title": document, "lastSeen": 0
        }))
        .await;
}

#[tokio::test]
async fn a_tab_that_registers_itself_again_is_another_document() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    shows(&mut worker, "REGISTER_TAB", "one").await;
    shows(&mut worker, "UPDATE_TAB", "two").await;
    worker.tool("tab-1", "who").await;
    changed(&session).await;

    // A call that started in the old document is not answered by the new one.
    let page = async {
        let call = worker.hear().await;
        assert_eq!(call["documentId"], "two", "{call}");
        shows(&mut worker, "REGISTER_TAB", "three").await;
        worker.tool("tab-1", "who").await;
        worker
            .say(json!({
                "type": "TOOL_CALL_RESULT", "callId": call["callId"], "success": true,
                "result": {"content": [{"type": "text", "text": "late"}]}
            }))
            .await;
    };
    let who = request("who", &json!({}));
    let (reply, ()) = tokio::join!(session.call(who), page);
    let reply = reply.unwrap();
    assert!(reply.is_error, "{reply:?}");

    let tabs = session.call(request("list_browser_tabs", &json!({})));
    let tabs = text(&tabs.await.unwrap());
    assert!(tabs.contains("http://localhost:5173/three"), "{tabs}");
    // The tool of the new document is prepared outside of the main loop.
    let asked = async {
        loop {
            let reply = session.call(request("who", &json!({}))).await;
            if let Some(reply) = reply.ok().filter(|reply| !reply.is_error) {
                return reply;
            }
        }
    };
    let page = async {
        // The first call is cancelled before, unless its reply was there already.
        let heard = worker.hear().await;
        let call = match heard["type"] == "CANCEL_CALL" {
            true => worker.hear().await,
            false => heard,
        };
        assert_eq!(
            (&call["type"], &call["documentId"]),
            (&json!("CALL_TOOL"), &json!("three"))
        );
        worker
            .say(json!({
                "type": "TOOL_CALL_RESULT", "callId": call["callId"], "success": true,
                "result": {"content": [{"type": "text", "text": "new"}]}
            }))
            .await;
    };
    let (reply, ()) = tokio::join!(asked, page);
    assert_eq!(text(&reply), "new");
}

/// Spec: multi-tab 23.
#[tokio::test]
async fn a_call_that_came_too_late_for_one_tab_runs_in_the_other() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    for tab in ["tab-1", "tab-2", "tab-3"] {
        worker.tab(tab).await;
        worker.tool(tab, "who").await;
    }
    changed(&session).await;
    assert!(listed(&session, "who").await.is_some());
    let arguments = json!({"loud": true});
    let page = async {
        // The page navigated before the call reached it; its worker had already reported that.
        let first = worker.hear().await;
        assert_eq!(first["targetTabId"], "tab-1", "{first}");
        worker
            .say(json!({"type": "UNREGISTER_TAB", "tabId": "tab-1"}))
            .await;
        let refuse = |call: &serde_json::Value, code: &str| {
            json!({
                "type": "TOOL_CALL_RESULT", "callId": call["callId"], "success": false,
                "error": "There is no such thing.", "code": code
            })
        };
        worker.say(refuse(&first, "no_tab")).await;
        let second = worker.hear().await;
        assert_eq!(second["targetTabId"], "tab-2", "{second}");
        assert_ne!(second["callId"], first["callId"]);
        // The second tab now shows a page without the tool.
        worker
            .say(json!({"type": "UNREGISTER_TOOL", "tabId": "tab-2", "name": "who"}))
            .await;
        worker.say(refuse(&second, "no_tool")).await;
        let third = worker.answers().await;
        assert_eq!(third["args"], arguments);
    };
    let who = request("who", &arguments);
    let (reply, ()) = tokio::join!(session.call(who), page);
    assert_eq!(text(&reply.unwrap()), "I am tab-3");
}
