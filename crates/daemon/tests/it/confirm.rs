//! A tool whose effects may be hard to undo waits for a person's confirmation.

use crate::page_harness::{Daemon, Worker, changed, request, text};
use serde_json::{Value, json};
use std::sync::Arc;
use tabmux_daemon::{Client, Handle, SessionOptions};
use tabmux_protocol::session::{self as wire, Confirm, ToolMode};
use tabmux_protocol::{Asking, Backend, CallFailure, CallReply, CallRequest, Decision};
use tabmux_testkit::patiently;

async fn session(daemon: &Daemon, confirm: Confirm) -> Handle {
    let options = wire::SessionOptions {
        tools: ToolMode::Static,
        confirm,
        ..wire::SessionOptions::default()
    };
    let options = SessionOptions::from_wire(options).unwrap();
    daemon.hub.open(options, Client::default()).await
}

/// A page with a tool that buys, and a harmless one.
async fn shop(daemon: &Daemon, session: &Handle) -> Worker {
    let mut worker = daemon.worker().await;
    worker.tab("tab-1").await;
    offer(&mut worker, "buy", json!({"destructiveHint": true})).await;
    offer(&mut worker, "look", json!({"readOnlyHint": true})).await;
    offer(&mut worker, "turn", json!({})).await;
    changed(session).await;
    worker
}

pub(crate) async fn offer(worker: &mut Worker, name: &str, annotations: Value) {
    worker
        .say(json!({
            "type": "REGISTER_TOOL", "tabId": "tab-1", "name": name, "description": "A tool.",
            "inputSchema": {"type": "object", "properties": {"item": {"type": "string"}}},
            "handlerType": "proxy", "webMcp": false, "annotations": annotations
        }))
        .await;
}

fn asked(tool: &str, arguments: &Value, word: Option<Decision>) -> CallRequest {
    let can_ask = true;
    CallRequest {
        asking: Asking { can_ask, word },
        ..request(tool, arguments)
    }
}

fn word(reply: &CallReply, allowed: bool) -> Option<Decision> {
    let question = reply.question.clone().expect("a question").id;
    Some(Decision { question, allowed })
}

/// Spec: security 24.
#[tokio::test]
async fn a_client_that_can_ask_gets_the_question_and_brings_the_answer() {
    let daemon = Daemon::start().await;
    let session = session(&daemon, Confirm::Ask).await;
    let mut worker = shop(&daemon, &session).await;
    let tea = json!({"item": "tea\nSite: https://bank.test"});
    let reply = session.call(asked("buy", &tea, None)).await.unwrap();
    let message = &reply.question.as_ref().unwrap().message;
    assert_eq!(message.lines().count(), 5, "{message}");
    assert!(
        message.contains("\nSite: http://localhost:5173\nTool: \"buy\"\n"),
        "{message}"
    );

    let yes = word(&reply, true);
    let (called, call) = tokio::join!(
        session.call(asked("buy", &tea, yes.clone())),
        worker.answers()
    );
    assert_eq!(text(&called.unwrap()), "I am tab-1");
    assert_eq!(call["args"], tea);

    // A yes is valid once, for these arguments and this session.
    let late = session.call(asked("buy", &tea, yes)).await.unwrap();
    assert!(
        late.is_error && text(&late).contains("was not answered in time"),
        "{late:?}"
    );
    let reply = session.call(asked("buy", &tea, None)).await.unwrap();
    let other = asked("buy", &json!({"item": "gold"}), word(&reply, true));
    let other = session.call(other).await.unwrap();
    assert!(text(&other).contains("yes to other arguments"), "{other:?}");
    let reply = session.call(asked("buy", &tea, None)).await.unwrap();
    let outsider = self::session(&daemon, Confirm::Ask).await;
    let stolen = outsider
        .call(asked("buy", &tea, word(&reply, true)))
        .await
        .unwrap();
    assert!(stolen.is_error, "{stolen:?}");
    // A declined call does not run.
    let no = session
        .call(asked("buy", &tea, word(&reply, false)))
        .await
        .unwrap();
    assert!(
        text(&no).starts_with("buy was not run: this client was asked whether it may"),
        "{no:?}"
    );
    // The daemon does not know whether the client asked a person.
    for reply in [&late, &other, &no] {
        assert!(!text(reply).contains("The person"), "{reply:?}");
    }
    // The person is not asked about a call that would be refused anyway.
    let wrong = session
        .call(asked("buy", &json!({"item": 5}), None))
        .await
        .unwrap();
    assert!(
        text(&wrong).starts_with("Invalid arguments for buy"),
        "{wrong:?}"
    );
}

/// Spec: security 24.
#[tokio::test]
async fn a_yes_is_for_the_page_that_was_asked_about() {
    let daemon = Daemon::start().await;
    let session = session(&daemon, Confirm::Ask).await;
    let mut worker = shop(&daemon, &session).await;
    let reply = session.call(asked("buy", &json!({}), None)).await.unwrap();
    // The page registers again, with a tool of the same name.
    worker
        .say(json!({
            "type": "UPDATE_TAB", "tabId": "tab-1", "documentId": "another", "url": "http://localhost:5173/",
            "title": "Again", "visible": true, "focused": false, "lastSeen": 0
        }))
        .await;
    offer(&mut worker, "buy", json!({"destructiveHint": true})).await;
    while session
        .tools()
        .await
        .unwrap()
        .iter()
        .any(|tool| tool.name == "look")
    {
        changed(&session).await;
    }
    let called = session
        .call(asked("buy", &json!({}), word(&reply, true)))
        .await
        .unwrap();
    assert!(
        text(&called).starts_with("The page changed its tool while the question was open"),
        "{called:?}"
    );
}

/// Spec: security 24.
#[tokio::test]
async fn a_tool_does_not_run_if_no_person_can_be_asked() {
    let daemon = Daemon::start().await;
    let asking = session(&daemon, Confirm::Ask).await;
    let mut worker = shop(&daemon, &asking).await;
    let refused = asking.call(request("buy", &json!({}))).await.unwrap();
    assert!(
        refused.is_error && text(&refused).contains("--confirm never"),
        "{refused:?}"
    );
    for tool in ["look", "turn"] {
        let (called, _) = tokio::join!(asking.call(request(tool, &json!({}))), worker.answers());
        assert!(!called.unwrap().is_error);
    }
    let never = session(&daemon, Confirm::Never).await;
    let (called, _) = tokio::join!(never.call(request("buy", &json!({}))), worker.answers());
    assert!(!called.unwrap().is_error);
    let always = session(&daemon, Confirm::Always).await;
    assert!(
        always
            .call(request("turn", &json!({})))
            .await
            .unwrap()
            .is_error
    );
    let (called, _) = tokio::join!(always.call(request("look", &json!({}))), worker.answers());
    assert!(!called.unwrap().is_error);
}

/// Spec: security 24.
#[tokio::test]
async fn a_question_can_be_answered_outside_of_the_client() {
    let daemon = Daemon::start().await;
    daemon.hub.asking().show(true);
    let session = Arc::new(session(&daemon, Confirm::Ask).await);
    let mut worker = shop(&daemon, &session).await;
    let mut open = daemon.hub.state();
    for (allowed, is_error) in [(true, false), (false, true)] {
        let call = {
            let session = Arc::clone(&session);
            tokio::spawn(async move { session.call(request("buy", &json!({}))).await })
        };
        let shown = patiently(open.wait_for(|state| state.questions().len() > 0), || {
            "a question".into()
        });
        let question = shown.await.unwrap().questions().next().unwrap().clone();
        assert_eq!(
            (&*question.tool, &*question.origin),
            ("buy", "http://localhost:5173")
        );
        assert!(!daemon.hub.answer_question("ask-0".into(), true).await);
        assert!(
            daemon
                .hub
                .answer_question(question.id.clone(), allowed)
                .await
        );
        assert!(
            !daemon.hub.answer_question(question.id, true).await,
            "it is answered"
        );
        if allowed {
            worker.answers().await;
        }
        assert_eq!(call.await.unwrap().unwrap().is_error, is_error);
        let gone = open.wait_for(|state| state.questions().len() == 0);
        patiently(gone, || "no question".into()).await.unwrap();
    }
}

#[tokio::test]
async fn a_question_goes_with_its_call_and_with_its_session() {
    let daemon = Daemon::start().await;
    daemon.hub.asking().show(true);
    let first = session(&daemon, Confirm::Ask).await;
    let _worker = shop(&daemon, &first).await;
    let mut open = daemon.hub.state();
    for cancels in [true, false] {
        let session = Arc::new(session(&daemon, Confirm::Ask).await);
        let buy = request("buy", &json!({}));
        let name = buy.request_id.clone();
        let reply = {
            let session = Arc::clone(&session);
            tokio::spawn(async move { session.call(buy).await })
        };
        let shown = patiently(open.wait_for(|state| state.questions().len() > 0), || {
            "a question".into()
        });
        let id = shown.await.unwrap().questions().next().unwrap().id.clone();
        if cancels {
            session.cancel(&name);
            assert!(matches!(reply.await.unwrap(), Err(CallFailure::Cancelled)));
        } else {
            reply.abort();
            let _ = reply.await;
            drop(session);
        }
        let gone = patiently(open.wait_for(|state| state.questions().len() == 0), || {
            "no question".into()
        });
        gone.await.unwrap();
        assert!(!daemon.hub.answer_question(id, true).await);
    }
}
