//! A call has one deadline, which the daemon sets. The client waits for its reply.

use crate::confirm::offer;
use crate::fake_extension::{self, pass, through_extension};
use crate::page_harness::{self, request, text};
use crate::remote;
use crate::server::Server;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tabmux_daemon::Hub;
use tabmux_daemon::socket::ServeOptions;
use tabmux_daemon_client::RemoteSession;
use tabmux_protocol::session::{SessionOptions, ToolMode};
use tabmux_protocol::{Backend, BackendEvent};
use tabmux_testkit::patiently;

/// A session of another process at this daemon.
fn session(hub: &Arc<Hub>, options: SessionOptions) -> (Server, Arc<RemoteSession>) {
    let server = Server::around(Arc::clone(hub), ServeOptions { idle: None });
    let session = remote::open_as(server.place.clone(), options);
    (server, Arc::new(session))
}

/// Spec: decisions 15.
#[tokio::test]
async fn a_person_who_agrees_late_does_not_cost_the_tool_its_time() {
    let daemon = page_harness::Daemon::start().await;
    daemon.hub.asking().show(true);
    let options = SessionOptions {
        tools: ToolMode::Static,
        ..SessionOptions::default()
    };
    let (_server, session) = session(&daemon.hub, options);
    session.tools().await.unwrap();
    let mut worker = daemon.worker().await;
    worker.tab("tab-1").await;
    offer(&mut worker, "buy", json!({"destructiveHint": true})).await;
    let news = patiently(session.next_event(), || "a changed list".to_owned());
    assert_eq!(news.await, Some(BackendEvent::ToolsChanged));

    let called = tokio::spawn({
        let session = Arc::clone(&session);
        async move { session.call(request("buy", &json!({}))).await }
    });
    let mut open = daemon.hub.state();
    let asked = open.wait_for(|state| state.questions().len() > 0);
    let asked = patiently(asked, || "a question".to_owned()).await;
    let question = asked.unwrap().questions().next().unwrap().id.clone();
    pass(Duration::from_secs(22)).await;
    assert!(daemon.hub.answer_question(question, true).await);
    let call = worker.hear().await;
    assert_eq!(call["type"], "CALL_TOOL", "{call}");
    pass(Duration::from_secs(11)).await;
    worker
        .say(json!({
            "type": "TOOL_CALL_RESULT", "callId": call["callId"], "success": true,
            "result": {"content": [{"type": "text", "text": "bought"}]}
        }))
        .await;
    let reply = called.await.unwrap().unwrap();
    assert_eq!(text(&reply), "bought");
}

/// Spec: decisions 15.
#[tokio::test]
async fn connecting_takes_as_long_as_an_extension_is_waited_for() {
    let daemon = fake_extension::Daemon::start().await;
    daemon.hub.expect_extension();
    let options = SessionOptions {
        tools: ToolMode::Progressive,
        ..through_extension()
    };
    let (_server, session) = session(&daemon.hub, options);
    let mut connect = request("connect_browser", &json!({}));
    connect.progress = true;
    let called = tokio::spawn({
        let session = Arc::clone(&session);
        async move { session.call(connect).await }
    });
    let waits = patiently(session.next_event(), || "news of the wait".to_owned());
    assert!(matches!(waits.await, Some(BackendEvent::Progress(_))));
    pass(Duration::from_secs(33)).await;
    let mut extension = daemon.extension("0123456789").await;
    let tab = json!({"id": 7, "title": "T", "url": "http://a.test/", "windowId": 1});
    let browser = json!({"name": "Chrome", "version": "156.0.1"});
    let connected = json!({"type": "connected", "browser": browser, "tabs": [tab]});
    extension.say(connected).await;
    let reply = called.await.unwrap().unwrap();
    assert!(!reply.is_error, "{reply:?}");
}
