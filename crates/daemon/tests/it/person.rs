//! Requests of the person, sent by an extension that the test plays.

use crate::fake_extension::{Daemon, Extension, pass, through_extension};
use serde_json::{Value, json, value::to_raw_value};
use std::time::Duration;
use tabmux_daemon::{Client, Handle, SessionOptions};
use tabmux_protocol::{Backend, CallRequest, Content, RequestId};

const SESSION: &str = "sess_one";

async fn session(daemon: &Daemon, session: &str) -> Handle {
    let options = SessionOptions::from_wire(through_extension()).unwrap();
    let client = Client {
        session: session.to_owned(),
        name: "Claude Code".to_owned(),
        ..Client::default()
    };
    daemon.hub.open(options, client).await
}

/// A daemon, an extension with two tabs, and an agent.
async fn scene() -> (Daemon, Extension, Handle) {
    let daemon = Daemon::start().await;
    let mut extension = daemon.extension("0123456789").await;
    let tab = |id: u32, url: &str| json!({"id": id, "title": "T", "url": url, "windowId": 1});
    let tabs = json!([tab(7, "http://a.example/"), tab(8, "chrome://version/")]);
    let browser = json!({"name": "Chrome", "version": "156.0.1"});
    extension
        .say(json!({"type": "connected", "browser": browser, "tabs": tabs}))
        .await;
    let agent = session(&daemon, SESSION).await;
    (daemon, extension, agent)
}

async fn call(session: &Handle, id: &str, tool: &str) -> String {
    let request = CallRequest {
        request_id: RequestId(id.into()),
        tool: tool.to_owned(),
        arguments: to_raw_value(&json!({})).unwrap(),
        progress: false,
        asking: Default::default(),
    };
    let reply = session.call(request).await.unwrap();
    let Some(Content::Text { text }) = reply.content.first() else {
        panic!("{reply:?}");
    };
    text.clone()
}

#[tokio::test]
async fn the_overview_shows_agents_and_what_they_do() {
    let (daemon, mut extension, _agent) = scene().await;
    let shown = extension.shown(|it| it["agents"][0]["here"] == true).await;
    assert_eq!(shown["paused"], false);
    let agent = &shown["agents"][0];
    assert_eq!(
        (&agent["session"], &agent["name"]),
        (&json!(SESSION), &json!("Claude Code"))
    );
    assert_eq!((&agent["tabs"], &agent["doing"]), (&json!([]), &json!([])));
    let second = session(&daemon, "sess_two").await;
    let shown = extension.shown(|it| it["agents"][1] != Value::Null).await;
    assert_eq!(shown["agents"][1]["name"], "Claude Code · 2");
    assert_ne!(shown["agents"][1]["colour"], shown["agents"][0]["colour"]);
    drop(second);
    extension.shown(|it| it["agents"][1] == Value::Null).await;
}

#[tokio::test]
async fn pause_refuses_calls_until_resume() {
    let (_daemon, mut extension, agent) = scene().await;
    extension.say(json!({"type": "pause"})).await;
    extension.shown(|it| it["paused"] == true).await;
    let text = call(&agent, "1", "list_pages").await;
    assert!(text.starts_with("The person paused all agents"), "{text}");
    extension.say(json!({"type": "resume"})).await;
    extension.shown(|it| it["paused"] == false).await;
    let text = call(&agent, "2", "list_pages").await;
    assert!(text.contains("http://a.example/"), "{text}");
}

#[tokio::test]
async fn a_pause_that_another_browser_ended_is_not_brought_back() {
    let (_daemon, mut extension, agent) = scene().await;
    extension.say(json!({"type": "pause"})).await;
    extension.shown(|it| it["paused"] == true).await;
    extension.say(json!({"type": "resume"})).await;
    extension.shown(|it| it["paused"] == false).await;
    // As an extension repeats it after a reconnect. The next request is denied once this one was handled.
    extension.say(json!({"type": "pause", "again": true})).await;
    let nobody = json!({"type": "give", "tabId": 7, "session": "nobody"});
    extension.say(nobody).await;
    while extension.hear().await.expect("it is connected")["type"] != "denied" {}
    let text = call(&agent, "1", "list_pages").await;
    assert!(text.contains("http://a.example/"), "{text}");
    // A new request of the person always counts.
    extension.say(json!({"type": "pause"})).await;
    extension.shown(|it| it["paused"] == true).await;
}

#[tokio::test]
async fn a_pause_survives_a_short_absence_and_not_the_end_of_its_browser() {
    let (daemon, mut extension, agent) = scene().await;
    extension.say(json!({"type": "pause"})).await;
    extension.shown(|it| it["paused"] == true).await;
    drop(extension);
    gone(&agent).await;
    pass(Duration::from_secs(30)).await;
    assert!(
        call(&agent, "2", "list_pages")
            .await
            .starts_with("The person paused")
    );
    let mut back = daemon.extension("0123456789").await;
    back.shown(|it| it["paused"] == true).await;
    // The last disconnection counts.
    drop(back);
    gone(&agent).await;
    pass(Duration::from_secs(40)).await;
    assert!(
        call(&agent, "3", "list_pages")
            .await
            .starts_with("The person paused")
    );
    let mut back = daemon.extension("0123456789").await;
    back.shown(|it| it["paused"] == true).await;
    pass(Duration::from_secs(50)).await;
    assert!(
        call(&agent, "4", "list_pages")
            .await
            .starts_with("The person paused")
    );
    drop(back);
    gone(&agent).await;
    pass(Duration::from_secs(61)).await;
    // The extension does not reconnect after so long, and calls report that instead.
    let over = async {
        loop {
            let text = call(&agent, "5", "list_pages").await;
            if !text.starts_with("The person paused") {
                break assert!(text.contains("Browser extension not connected"), "{text}");
            }
        }
    };
    tabmux_testkit::patiently(over, || "the end of the pause".to_owned()).await;
}

/// Waits until the daemon has seen that the extension is gone.
async fn gone(agent: &Handle) {
    let gone = async {
        let status = "browser_get_connection_status";
        while call(agent, "s", status)
            .await
            .contains("\"extensionConnected\":true")
        {}
    };
    tabmux_testkit::patiently(gone, || "the end of the extension".to_owned()).await;
}

#[tokio::test]
async fn cancel_in_chromes_bar_takes_the_tab_back_and_says_so() {
    let (_daemon, mut extension, agent) = scene().await;
    extension
        .say(json!({"type": "give", "tabId": 7, "session": SESSION}))
        .await;
    // Messages are handled in order.
    extension.say(json!({"type": "ping"})).await;
    assert_eq!(extension.hear().await, Some(json!({"type": "pong"})));
    let play = async {
        let asked = extension.hear().await.unwrap();
        assert_eq!(
            (&asked["type"], &asked["tabId"]),
            (&json!("attach"), &json!(7))
        );
        extension
            .say(json!({"type": "done", "requestId": asked["requestId"]}))
            .await;
        let asked = extension.hear().await.unwrap();
        assert_eq!(asked["type"], "cdp");
        extension
            .say(json!({"type": "detached", "tabId": 7, "reason": "canceled_by_user"}))
            .await;
    };
    let (text, ()) = tokio::join!(call(&agent, "1", "take_snapshot"), play);
    assert!(text.contains("was taken back by the person"), "{text}");
    // The next call does not take it again.
    let next = call(&agent, "2", "take_snapshot");
    tokio::pin!(next);
    let asked = tokio::select! {
        text = &mut next => panic!("{text}"),
        asked = opened(&mut extension) => asked,
    };
    assert_eq!(asked["url"], "about:blank");
}

/// The next message, except those for the detached tab.
async fn opened(extension: &mut Extension) -> Value {
    loop {
        let asked = extension.hear().await.unwrap();
        assert_ne!(asked["type"], "attach", "{asked}");
        if asked["type"] == "openTab" {
            return asked;
        }
    }
}

#[tokio::test]
async fn impossible_requests_are_denied_with_a_sentence() {
    let (_daemon, mut extension, agent) = scene().await;
    let pages = call(&agent, "1", "list_pages").await;
    let wrong = [
        (
            json!({"type": "give", "tabId": 7, "session": "sess_gone"}),
            "This agent is gone.",
        ),
        (
            json!({"type": "give", "tabId": 8, "session": SESSION}),
            "Chrome keeps extensions out of this page, so no agent can work in it.",
        ),
    ];
    for (request, reason) in wrong {
        extension.say(request).await;
        assert_eq!(
            extension.hear().await,
            Some(json!({"type": "denied", "reason": reason}))
        );
    }
    for ignored in [
        json!({"type": "takeBack", "tabId": 99}),
        json!({"type": "give", "tabId": -1, "session": SESSION}),
        json!({"type": "give", "tabId": 99, "session": SESSION}),
        json!({"type": "pause", "for": "ever"}),
        json!({"type": "resume"}),
    ] {
        extension.say(ignored).await;
    }
    extension.say(json!({"type": "ping"})).await;
    assert_eq!(extension.hear().await, Some(json!({"type": "pong"})));
    let again = async {
        loop {
            let text = call(&agent, "2", "list_pages").await;
            if !text.starts_with("The person paused") {
                return text;
            }
        }
    };
    assert_eq!(
        tabmux_testkit::patiently(again, || "the list".to_owned()).await,
        pages
    );
}
