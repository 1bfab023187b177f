//! A frame that is too large is skipped: its command fails, or its session learns which event it was. Nothing else is
//! affected.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tabmux_cdp::{
    CdpError, Connection, MAX_ANSWER, MAX_EVENT, Session, WebSocketTransport,
    types::runtime::{ConsoleAPICalled, Evaluate},
};
use tokio::net::TcpListener;
use tokio_tungstenite::{accept_async, tungstenite::Message};

use crate::fake_browser::{FakeBrowser, connect, next_child};

#[tokio::test]
async fn an_answer_that_is_too_large_fails_its_command_alone() {
    let (session, mut events, mut browser) = connect();
    browser.attach(None, "tab").await;
    let (tab, _tab_events) = next_child(&mut events).await;
    for length in [MAX_ANSWER, 3 * MAX_ANSWER] {
        let (large, small, ()) = tokio::join!(
            tab.send(Evaluate::default()),
            session.send(Evaluate::default()),
            async {
                let (large, small) = two_commands(&mut browser).await;
                browser.send_bytes(answer(&large, length).as_bytes()).await;
                browser.answer(&small, json!({})).await;
            }
        );
        small.unwrap();
        let error = large.unwrap_err();
        assert!(
            matches!(&error, CdpError::TooLarge { bytes, .. } if *bytes > length as u64),
            "{error}"
        );
        browser.settle(&tab).await;
    }
}

#[tokio::test]
async fn an_answer_that_just_fits_is_an_answer() {
    let (session, _events, mut browser) = connect();
    let (answered, ()) = tokio::join!(session.send(Evaluate::default()), async {
        let command = browser.command().await;
        browser
            .send_bytes(answer(&command, MAX_ANSWER - 1_000).as_bytes())
            .await;
    });
    let value = answered.unwrap().result.value.unwrap();
    assert_eq!(value.decode::<String>().unwrap().len(), MAX_ANSWER - 1_000);
}

#[tokio::test]
async fn an_oversize_event_is_reported_by_name_and_later_ones_arrive() {
    let (session, mut events, mut browser) = connect();
    browser.attach(None, "loud").await;
    browser.attach(None, "quiet").await;
    let (_loud, mut loud_events) = next_child(&mut events).await;
    let (_quiet, mut quiet_events) = next_child(&mut events).await;
    browser
        .send_bytes(message("loud", MAX_EVENT).as_bytes())
        .await;
    browser
        .event(Some("loud"), "Page.loadEventFired", json!({}))
        .await;
    browser
        .event(Some("quiet"), "Page.loadEventFired", json!({}))
        .await;
    browser.settle(&session).await;

    let event = loud_events.next().await.unwrap();
    assert_eq!(event.method(), "Runtime.consoleAPICalled");
    assert!(event.decode::<ConsoleAPICalled>().is_none());
    let cut = event.too_large().unwrap();
    assert!(cut.bytes > MAX_EVENT as u64);
    assert_eq!(cut.find("type").as_deref(), Some("log"));
    assert_eq!(cut.find("value"), None);
    for events in [&mut loud_events, &mut quiet_events] {
        let next = events.next().await.unwrap();
        assert_eq!(next.method(), "Page.loadEventFired");
        assert!(next.too_large().is_none());
    }
}

#[tokio::test]
async fn oversize_frames_over_a_websocket_are_skipped_too() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    let browser = async {
        let (stream, _) = listener.accept().await.unwrap();
        let mut socket = accept_async(stream).await.unwrap();
        socket
            .send(Message::text(message("unknown", MAX_EVENT)))
            .await
            .unwrap();
        let console = message("", MAX_EVENT).replace(r#","sessionId":"""#, "");
        socket.send(Message::text(console)).await.unwrap();
        for length in [2 * MAX_ANSWER, 10] {
            let command = socket.next().await.unwrap().unwrap();
            let command = serde_json::from_str(command.to_text().unwrap()).unwrap();
            let answer = answer(&command, length);
            socket.send(Message::text(answer)).await.unwrap();
        }
    };
    let client = async {
        let transport = WebSocketTransport::connect(&url, &[]).await.unwrap();
        let (session, mut events) = Connection::start(transport);
        let event = events.next().await.unwrap();
        assert!(event.too_large().is_some());
        let refused = session.send(Evaluate::default()).await.unwrap_err();
        assert!(matches!(refused, CdpError::TooLarge { .. }), "{refused}");
        session.send(Evaluate::default()).await.unwrap();
    };
    tokio::join!(browser, client);
}

#[tokio::test]
async fn large_lossy_events_are_dropped_and_counted_before_memory_fills() {
    let (session, mut events, mut browser) = connect();
    attach(&mut browser, &session).await;
    let (_tab, mut tab_events) = next_child(&mut events).await;
    for _ in 0..50 {
        browser
            .send_bytes(message("tab", MAX_EVENT / 3).as_bytes())
            .await;
    }
    browser
        .event(Some("tab"), "Page.loadEventFired", json!({}))
        .await;
    browser.settle(&session).await;
    assert_eq!(tab_events.dropped(), 48);
    for method in [
        "Runtime.consoleAPICalled",
        "Runtime.consoleAPICalled",
        "Page.loadEventFired",
    ] {
        assert_eq!(tab_events.next().await.unwrap().method(), method);
    }
    // There is space again.
    browser
        .send_bytes(message("tab", MAX_EVENT / 3).as_bytes())
        .await;
    browser.settle(&session).await;
    assert_eq!(tab_events.dropped(), 48);
}

#[tokio::test]
async fn a_queue_with_too_many_essential_bytes_ends_without_affecting_others() {
    let (session, mut events, mut browser) = connect();
    attach(&mut browser, &session).await;
    let (_tab, mut tab_events) = next_child(&mut events).await;
    for _ in 0..20 {
        let frame = message("tab", MAX_EVENT / 3).replace("consoleAPICalled", "bindingCalled");
        browser.send_bytes(frame.as_bytes()).await;
    }
    browser.event(None, "Page.loadEventFired", json!({})).await;
    browser.settle(&session).await;
    let mut taken = 0;
    while tab_events.next().await.is_some() {
        taken += 1;
    }
    assert!((5..12).contains(&taken), "{taken}");
    assert_eq!(events.next().await.unwrap().method(), "Page.loadEventFired");
}

async fn attach(browser: &mut FakeBrowser, session: &Session) {
    browser.attach(None, "tab").await;
    browser.settle(session).await;
}

/// The command of the tab, and that of the browser.
async fn two_commands(browser: &mut FakeBrowser) -> (Value, Value) {
    let (first, second) = (browser.command().await, browser.command().await);
    match first["sessionId"].is_null() {
        true => (second, first),
        false => (first, second),
    }
}

/// An answer as Chrome writes it, with a text of this length.
fn answer(command: &Value, length: usize) -> String {
    let value = "x".repeat(length);
    let id = &command["id"];
    format!(
        r#"{{"id":{id},"result":{{"result":{{"type":"string","value":"{value}"}}}},"sessionId":"tab"}}"#
    )
}

/// The event that Chrome sends when a page writes a text of this length to its console.
fn message(session: &str, length: usize) -> String {
    let value = "x".repeat(length);
    format!(
        r#"{{"method":"Runtime.consoleAPICalled","params":{{"type":"log","args":[{{"type":"string","value":"{value}"}}]}},"sessionId":"{session}"}}"#
    )
}
