//! Sessions and connections end, and every waiting caller is notified.

use serde_json::json;
use tabmux_cdp::{
    CdpError,
    types::{browser::Close, page::Navigate, runtime::Evaluate},
};

use crate::fake_browser::{connect, next_child};

fn detached() -> CdpError {
    CdpError::Detached {
        method: "Runtime.evaluate".to_owned(),
    }
}

fn disconnected() -> CdpError {
    CdpError::Disconnected {
        method: "Runtime.evaluate".to_owned(),
    }
}

#[tokio::test]
async fn detaching_ends_the_queue_and_fails_only_that_sessions_commands() {
    let (session, mut events, mut browser) = connect();
    browser.attach(None, "A").await;
    browser.attach(None, "B").await;
    let (a, mut a_events) = next_child(&mut events).await;
    let (b, _b_events) = next_child(&mut events).await;
    let (on_a, on_b, ()) = tokio::join!(
        a.send(Evaluate::default()),
        b.send(Evaluate::default()),
        async {
            let _on_a = browser.command().await;
            let on_b = browser.command().await;
            browser
                .event(Some("A"), "Page.loadEventFired", json!({}))
                .await;
            browser.detach(None, "A").await;
            browser.answer(&on_b, json!({})).await;
        }
    );
    assert_eq!(on_a.unwrap_err(), detached());
    on_b.unwrap();

    // Earlier events are still there; then the queue ends, and the parent learns why.
    assert_eq!(
        a_events.next().await.unwrap().method(),
        "Page.loadEventFired"
    );
    assert!(a_events.next().await.is_none());
    assert_eq!(
        events.next().await.unwrap().method(),
        "Target.detachedFromTarget"
    );

    assert_eq!(a.send(Evaluate::default()).await.unwrap_err(), detached());
    a.post(Evaluate::default());
    browser.settle(&session).await;
}

#[tokio::test]
async fn detaching_a_tab_ends_its_frames_too() {
    let (_session, mut events, mut browser) = connect();
    browser.attach(None, "tab").await;
    browser.attach(Some("tab"), "frame").await;
    browser.attach(Some("frame"), "inner").await;
    let (_tab, mut tab_events) = next_child(&mut events).await;
    let (_frame, mut frame_events) = next_child(&mut tab_events).await;
    let (inner, mut inner_events) = next_child(&mut frame_events).await;
    let (waiting, ()) = tokio::join!(inner.send(Evaluate::default()), async {
        browser.command().await;
        browser.detach(None, "tab").await;
    });
    assert_eq!(waiting.unwrap_err(), detached());
    assert!(inner_events.next().await.is_none());
    assert!(frame_events.next().await.is_none());
    assert!(tab_events.next().await.is_none());
}

#[tokio::test]
async fn a_session_that_the_browser_does_not_know_is_detached() {
    let (_session, mut events, mut browser) = connect();
    browser.attach(None, "A").await;
    let (a, _a_events) = next_child(&mut events).await;
    let (answer, ()) = tokio::join!(a.send(Evaluate::default()), async {
        let command = browser.command().await;
        let error = json!({ "code": -32001, "message": "Session with given id not found." });
        browser
            .send(json!({ "id": command["id"], "error": error }))
            .await;
    });
    assert_eq!(answer.unwrap_err(), detached());
}

#[tokio::test]
async fn the_end_of_the_transport_fails_everything_and_ends_every_queue() {
    let (session, mut events, mut browser) = connect();
    browser.attach(None, "A").await;
    let (a, mut a_events) = next_child(&mut events).await;
    let closed = session.connection().closed();
    let (on_browser, on_a, ()) = tokio::join!(
        session.send(Evaluate::default()),
        a.send(Evaluate::default()),
        async {
            browser.command().await;
            browser.command().await;
            drop(browser);
        }
    );
    assert_eq!(on_browser.unwrap_err(), disconnected());
    assert_eq!(on_a.unwrap_err(), disconnected());
    closed.await;
    assert!(events.next().await.is_none());
    assert!(a_events.next().await.is_none());
    assert_eq!(
        session.send(Evaluate::default()).await.unwrap_err(),
        disconnected()
    );
    assert_eq!(
        a.send(Evaluate::default()).await.unwrap_err(),
        disconnected()
    );
}

#[tokio::test]
async fn closing_fails_pending_commands_at_once() {
    let (session, mut events, mut browser) = connect();
    let (answer, ()) = tokio::join!(session.send(Evaluate::default()), async {
        browser.command().await;
        session.connection().close();
    });
    assert_eq!(answer.unwrap_err(), disconnected());
    session.connection().closed().await;
    assert!(events.next().await.is_none());
    assert_eq!(browser.command_or_end().await, None);
}

#[tokio::test]
async fn commands_posted_before_closing_are_still_written() {
    let (session, _events, mut browser) = connect();
    for _ in 0..100 {
        session.post(Navigate::default());
    }
    session.post(Close {});
    session.connection().close();
    for _ in 0..100 {
        assert_eq!(browser.command().await["method"], "Page.navigate");
    }
    assert_eq!(browser.command().await["method"], "Browser.close");
    assert_eq!(browser.command_or_end().await, None);
}

#[tokio::test]
async fn dropping_the_last_handle_ends_the_connection() {
    let (session, mut events, mut browser) = connect();
    browser.attach(None, "A").await;
    let (a, mut a_events) = next_child(&mut events).await;
    let closed = session.connection().closed();

    drop(session);
    browser.settle(&a).await;
    drop(a);
    closed.await;
    assert!(events.next().await.is_none());
    assert!(a_events.next().await.is_none());
    assert_eq!(browser.command_or_end().await, None);
}

#[tokio::test]
async fn a_consumer_that_is_gone_does_not_stop_its_sessions_commands() {
    let (session, events, mut browser) = connect();
    drop(events);
    browser.event(None, "Page.loadEventFired", json!({})).await;
    browser.attach(None, "A").await;
    browser
        .event(Some("A"), "Page.loadEventFired", json!({}))
        .await;
    browser.settle(&session).await;
}
