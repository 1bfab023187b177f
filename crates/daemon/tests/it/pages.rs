//! Pages that offer tools over the loopback listener; the tests play the library's worker.

use crate::page_harness::{Daemon, changed, listed, request, text};
use serde_json::{Value, json};
use std::sync::Arc;
use tabmux_daemon::policy::{PageOrigin, PolicyChange};
use tabmux_protocol::Backend;
use tabmux_protocol::session::ToolMode;

/// Spec: security 2, 3; decisions 23.
#[tokio::test]
async fn only_allowed_pages_may_connect() {
    let daemon = Daemon::start().await;
    let host = format!("127.0.0.1:{}", daemon.port);
    let local = Some("http://localhost:5173");
    for (host, origin) in [
        ("evil.example:8765", local),
        (&*format!("evil.example:{}", daemon.port), local),
        (&*host, None),
        (&*host, Some("null")),
        (&*host, Some("file://")),
        (&*host, Some("chrome-extension://abcdefghijklmnop")),
    ] {
        let refused = daemon.dial(host, origin).await.err();
        assert_eq!(refused, Some(403), "{host} {origin:?}");
    }
    let mut outsider = daemon
        .dial(&host, Some("https://evil.example"))
        .await
        .ok()
        .unwrap();
    assert_eq!(
        outsider.greet().await,
        json!({
            "type": "REFUSED",
            "reason": "Pages of https://evil.example may not offer tools; run `tabmux policy page-origins \
                       add https://evil.example` to allow them."
        })
    );
    let mut invited = daemon
        .dial(&host, Some("https://app.example"))
        .await
        .ok()
        .unwrap();
    assert_eq!(invited.greet().await["type"], "WELCOME");
}

/// Spec: decisions 23.
#[tokio::test]
async fn a_person_allows_and_forbids_pages_while_the_daemon_runs() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let host = format!("127.0.0.1:{}", daemon.port);
    let origin: PageOrigin = "https://shop.example".parse().unwrap();
    let come = async || {
        daemon
            .dial(&host, Some(origin.as_str()))
            .await
            .ok()
            .unwrap()
    };
    assert_eq!(come().await.greet().await["type"], "REFUSED");
    daemon.change_policy(&PolicyChange::AddPages(origin.clone()));
    let mut worker = come().await;
    assert_eq!(worker.greet().await["type"], "WELCOME");
    worker.tab("tab-1").await;
    worker.tool("tab-1", "who").await;
    changed(&session).await;
    worker.is_heard().await;
    daemon.change_policy(&PolicyChange::RemovePages(origin.clone()));
    // A later call does not reach the page, and the next keep-alive closes the connection.
    let arguments = json!({});
    let (reply, heard) = tokio::join!(session.call(request("who", &arguments)), worker.hear());
    assert_eq!(heard["type"], "REFUSED", "{heard}");
    assert!(reply.unwrap().is_error);
    assert_eq!(come().await.greet().await["type"], "REFUSED");
}

/// Spec: decisions 23.
#[tokio::test]
async fn a_forbidden_page_is_closed_at_its_next_keep_alive() {
    let daemon = Daemon::start().await;
    let host = format!("127.0.0.1:{}", daemon.port);
    let origin: PageOrigin = "https://shop.example".parse().unwrap();
    daemon.change_policy(&PolicyChange::AddPages(origin.clone()));
    let mut worker = daemon
        .dial(&host, Some(origin.as_str()))
        .await
        .ok()
        .unwrap();
    assert_eq!(worker.greet().await["type"], "WELCOME");
    worker.is_heard().await;
    daemon.change_policy(&PolicyChange::RemovePages(origin));
    worker.say(json!({"type": "PING"})).await;
    assert_eq!(worker.hear().await["type"], "REFUSED");
}

/// Spec: multi-tab 30, 31, 38, 41, 62; page-proxy 31.
#[tokio::test]
async fn a_tool_is_listed_while_a_tab_has_it_with_a_tab_id_of_ours() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    worker.tab("tab-1").await;
    worker.tool("tab-1", "who").await;
    changed(&session).await;
    let tool = listed(&session, "who").await.unwrap();
    let tab_id = json!({
        "type": "string",
        "description": "Optional: Target specific tab by ID. If not provided, uses the currently focused tab. Use list_browser_tabs to discover available tabs."
    });
    let loud = json!({"type": "boolean"});
    assert_eq!(
        tool["inputSchema"],
        json!({"type": "object", "properties": {"loud": loud, "tabId": tab_id}})
    );
    let description = tool["description"].as_str().unwrap();
    assert!(
        description.starts_with("Says who it is.\n"),
        "{description}"
    );
    assert!(
        description.contains("http://localhost:5173; untrusted"),
        "{description}"
    );
    // A second tab with the tool changes nothing; the list changes when the last tab is closed.
    worker.tab("tab-2").await;
    worker.tool("tab-2", "who").await;
    worker
        .say(json!({"type": "UNREGISTER_TAB", "tabId": "tab-1"}))
        .await;
    worker
        .say(json!({"type": "UNREGISTER_TOOL", "tabId": "tab-2", "name": "who"}))
        .await;
    changed(&session).await;
    assert_eq!(listed(&session, "who").await, None);
}

/// Spec: multi-tab 32, 33; page-proxy 38.
#[tokio::test]
async fn whatever_schema_the_author_gave_gets_an_optional_tab_id() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    worker.tab("tab-1").await;
    let id = json!({"type": "string", "pattern": "^u", "description": "Whose."});
    let own = json!({
        "type": "object", "properties": {"id": id}, "required": ["id"], "additionalProperties": false
    });
    worker.offer("tab-1", "strict", own.clone()).await;
    worker.offer("tab-1", "plain", json!({})).await;
    changed(&session).await;
    for (name, own) in [
        ("strict", own),
        ("plain", json!({"type": "object", "properties": {}})),
    ] {
        let mut schema = listed(&session, name).await.unwrap()["inputSchema"].take();
        let properties = schema["properties"].as_object_mut().unwrap();
        let tab_id = properties.remove("tabId").unwrap();
        assert_eq!(tab_id["type"], "string");
        assert_eq!(schema, own, "the rest is the author's");
    }
}

/// Spec: multi-tab 13, 15, 22, 34, 36, 49, 51, 64, 77; page-proxy 2, 5, 16, 17.
#[tokio::test]
async fn calls_go_to_the_right_tab() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    for tab in ["tab-1", "tab-2"] {
        worker.tab(tab).await;
        worker.tool(tab, "who").await;
    }
    worker
        .say(json!({"type": "SET_ACTIVE_TAB", "tabId": "tab-2", "at": 1}))
        .await;
    changed(&session).await;
    for (arguments, expected) in [
        (json!({}), "I am tab-2"),
        (json!({"tabId": "tab-1"}), "I am tab-1"),
        (json!({"loud": true}), "I am tab-2"),
    ] {
        let (reply, call) =
            tokio::join!(session.call(request("who", &arguments)), worker.answers());
        assert_eq!(text(&reply.unwrap()), expected);
        assert_eq!(call["args"].get("tabId"), None, "{call}");
        assert_eq!(call["toolName"], "who");
        assert!(call["callId"].is_string(), "{call}");
        assert_eq!(
            call["documentId"],
            format!("doc-{}", call["targetTabId"].as_str().unwrap())
        );
    }
    let (reply, _) = tokio::join!(
        session.call(request(
            "call_page_tool",
            &json!({"name": "who", "tabId": "tab-1"})
        )),
        worker.answers()
    );
    assert_eq!(text(&reply.unwrap()), "I am tab-1");
    let wrong = session
        .call(request("who", &json!({"tabId": "invalid-id"})))
        .await
        .unwrap();
    assert!(wrong.is_error);
    assert_eq!(
        text(&wrong),
        "Tool 'who' not available in tab 'invalid-id'. Available tabs: tab-1, tab-2"
    );
    // The tool's schema is checked before the page is called.
    let wrong = session
        .call(request("who", &json!({"loud": "yes"})))
        .await
        .unwrap();
    assert!(wrong.is_error && text(&wrong).contains("loud"), "{wrong:?}");
}

/// Spec: multi-tab 25, 27, 28, 29; page-proxy 32.
#[tokio::test]
async fn the_tabs_are_listed_as_they_are() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    for tab in ["tab-1", "tab-2"] {
        worker.tab(tab).await;
        worker.tool(tab, "who").await;
    }
    worker
        .say(json!({"type": "SET_ACTIVE_TAB", "tabId": "tab-1", "at": 1}))
        .await;
    changed(&session).await;
    let reply = session
        .call(request("list_browser_tabs", &json!({})))
        .await
        .unwrap();
    let rows: Vec<Value> = serde_json::from_str(&text(&reply)).unwrap();
    for (row, (tab, active)) in rows.iter().zip([("tab-1", true), ("tab-2", false)]) {
        let seen = row["lastSeen"].as_str().unwrap();
        assert!(seen.len() == 24 && seen.ends_with('Z'), "{seen}");
        let url = format!("http://localhost:5173/{tab}");
        assert_eq!(
            row,
            &json!({"tabId": tab, "url": url, "title": tab, "isActive": active, "lastSeen": seen})
        );
    }
    assert_eq!(rows.len(), 2);
    let tools = session
        .call(request("list_page_tools", &json!({})))
        .await
        .unwrap();
    assert!(
        text(&tools).starts_with("who in tab tab-1 (http://localhost:5173/tab-1)"),
        "{tools:?}"
    );
}

/// Spec: security 22.
#[tokio::test]
async fn a_page_cannot_say_that_it_is_of_another_site() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    let places = [
        ("https://bank.example/", "http://localhost:5173"),
        (
            "http://localhost:5173@bank.example/",
            "http://localhost:5173",
        ),
        ("nowhere", "http://localhost:5173"),
        ("http://localhost:5173/a?b#c", "http://localhost:5173/a?b#c"),
    ];
    for (said, shown) in places {
        worker
            .say(json!({
                "type": "REGISTER_TAB", "tabId": "tab-1", "documentId": "d", "url": said, "title": "T",
                "visible": true, "focused": false, "lastSeen": 0
            }))
            .await;
        worker.is_heard().await;
        let reply = session.call(request("list_browser_tabs", &json!({})));
        let rows: Vec<Value> = serde_json::from_str(&text(&reply.await.unwrap())).unwrap();
        assert_eq!(rows[0]["url"], shown);
    }
}

/// Spec: multi-tab 52.
#[tokio::test]
async fn if_no_tab_is_in_front_the_first_is_used_and_the_log_warns() {
    let log = Log::default();
    let to_log = log.clone();
    let _guard = tracing::subscriber::set_default(
        tracing_subscriber::fmt()
            .with_writer(move || to_log.clone())
            .finish(),
    );
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    for tab in ["tab-1", "tab-2"] {
        worker.tab(tab).await;
        worker.tool(tab, "who").await;
    }
    changed(&session).await;
    let warning = "no tab is in front; using the first one that has the tool";
    assert!(!log.text().contains(warning));
    let who = request("who", &json!({}));
    let (reply, _) = tokio::join!(session.call(who), worker.answers());
    assert_eq!(text(&reply.unwrap()), "I am tab-1");
    let log = log.text();
    let line = log.lines().find(|line| line.contains(warning)).unwrap();
    assert!(line.contains("WARN"), "{line}");
}

/// The log of this thread, which is the only one of such a test.
#[derive(Clone, Default)]
struct Log(Arc<std::sync::Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_worker_that_goes_away_answers_its_calls_and_takes_its_tools_along() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    worker.tab("tab-1").await;
    worker.tool("tab-1", "who").await;
    changed(&session).await;
    let leave = async {
        worker.hear().await;
        drop(worker);
    };
    let who = request("who", &json!({}));
    let (reply, ()) = tokio::join!(session.call(who), leave);
    assert!(reply.unwrap().is_error);
    changed(&session).await;
    assert_eq!(listed(&session, "who").await, None);
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_in_the_page() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    worker.tab("tab-1").await;
    worker.tool("tab-1", "who").await;
    changed(&session).await;
    let call = request("who", &json!({}));
    let name = call.request_id.clone();
    let page = async {
        let call = worker.hear().await;
        session.cancel(&name);
        let cancelled = worker.hear().await;
        assert_eq!(cancelled["type"], "CANCEL_CALL");
        assert_eq!(cancelled["callId"], call["callId"]);
    };
    let (outcome, ()) = tokio::join!(session.call(call), page);
    assert!(outcome.is_err());
}

/// Spec: security 22.
#[tokio::test]
async fn a_page_cannot_take_a_name_of_ours_nor_flood_the_list() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    worker.tab("tab-1").await;
    worker.tool("tab-1", "click").await;
    changed(&session).await;
    let ours = listed(&session, "click").await.unwrap();
    assert!(!ours.to_string().contains("untrusted"), "{ours}");
    assert!(listed(&session, "page_click").await.is_some());
    let big = json!({"x": "y".repeat(100_000)});
    worker
        .say(json!({
            "type": "REGISTER_TOOL", "tabId": "tab-1", "name": "big", "description": "",
            "inputSchema": {"type": "object", "properties": big}, "handlerType": "proxy", "webMcp": false
        }))
        .await;
    let rejected = worker.hear().await;
    assert_eq!(rejected["type"], "TOOL_REJECTED");
    assert!(
        rejected["reason"].as_str().unwrap().contains("65536"),
        "{rejected}"
    );
}

/// Spec: multi-tab 44.
#[tokio::test]
async fn a_refused_tab_learns_why_and_whether_another_id_helps() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut first = daemon.worker().await;
    first.tab("tab-1").await;
    first.tool("tab-1", "who").await;
    changed(&session).await;
    let taken = json!({
        "type": "TAB_REFUSED", "tabId": "tab-1", "anotherId": true,
        "reason": "Another tab already has this id. Make a new one."
    });
    // A page of another origin cannot take the id of this tab.
    let host = format!("127.0.0.1:{}", daemon.port);
    let mut outsider = daemon
        .dial(&host, Some("https://app.example"))
        .await
        .ok()
        .unwrap();
    assert_eq!(outsider.greet().await["type"], "WELCOME");
    outsider.tab("tab-1").await;
    assert_eq!(outsider.hear().await, taken);
    // A worker of the same application can, and the first one is told; further messages about the tab change nothing.
    let mut second = daemon.worker().await;
    second.tab("tab-1").await;
    second.tool("tab-1", "who").await;
    assert_eq!(first.hear().await, taken);
    first
        .say(json!({
            "type": "UPDATE_TAB", "tabId": "tab-1", "documentId": "doc-tab-1", "title": "Mine",
            "url": "http://localhost:5173/", "visible": true, "focused": true, "lastSeen": 0
        }))
        .await;
    first.tab("tab-2").await;
    first.tool("tab-2", "who").await;
    for (tab, worker) in [("tab-1", &mut second), ("tab-2", &mut first)] {
        // Earlier messages have been handled when the answer comes.
        worker.say(json!({"type": "PING"})).await;
        assert_eq!(worker.hear().await["type"], "PONG");
        let who = request("who", &json!({"tabId": tab}));
        let (reply, _) = tokio::join!(session.call(who), worker.answers());
        assert_eq!(text(&reply.unwrap()), format!("I am {tab}"));
    }
    first.tab("not an id").await;
    assert_eq!(
        first.hear().await,
        json!({
            "type": "TAB_REFUSED", "tabId": "not an id", "anotherId": true,
            "reason": "A tab id has 1 to 64 of the characters A-Z a-z 0-9 _ - and is not a number. Make a new one."
        })
    );
}

#[tokio::test]
async fn a_tool_over_the_limit_is_rejected_and_not_kept() {
    let daemon = Daemon::start().await;
    let mut worker = daemon.worker().await;
    worker.tab("tab-1").await;
    for n in 0..66 {
        worker.tool("tab-1", &format!("tool-{n}")).await;
    }
    let rejected = |name: &str| {
        json!({
            "type": "TOOL_REJECTED", "tabId": "tab-1", "name": name,
            "reason": "This tab already offers 64 tools. Unregister some, then register this one again."
        })
    };
    assert_eq!(worker.hear().await, rejected("tool-64"));
    assert_eq!(worker.hear().await, rejected("tool-65"));
    worker
        .say(json!({"type": "UNREGISTER_TOOL", "tabId": "tab-1", "name": "tool-0"}))
        .await;
    worker.tool("tab-1", "tool-65").await;
    worker.say(json!({"type": "PING"})).await;
    assert_eq!(worker.hear().await["type"], "PONG");
    let session = daemon.session(ToolMode::Static).await;
    assert!(listed(&session, "tool-65").await.is_some());
    assert!(listed(&session, "tool-64").await.is_none());
}
