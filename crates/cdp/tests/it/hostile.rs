//! Nothing that arrives can cause a panic, or stop the connection.

use std::{
    io,
    sync::{Arc, Mutex},
};

use proptest::prelude::*;
use serde_json::{Value, json};
use tabmux_cdp::types::{page::FrameNavigated, runtime::Evaluate};

use crate::fake_browser::connect;

#[tokio::test]
async fn frames_that_are_not_messages_are_ignored_with_a_log_line() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);

    let (session, mut events, mut browser) = connect();
    let frames: &[&[u8]] = &[
        b"",
        b"{",
        b"[]",
        b"null",
        b"17",
        b"{}",
        b"\xff\xfe",
        br#"{"id":-1,"result":{}}"#,
        br#"{"id":"1"}"#,
        br#"{"id":1.5}"#,
        br#"{"method":17}"#,
        br#"{"method":"Page.loadEventFired","sessionId":[]}"#,
    ];
    for frame in frames {
        browser.send_bytes(frame).await;
    }
    browser.event(None, "Page.loadEventFired", json!({})).await;
    browser.settle(&session).await;
    assert_eq!(events.next().await.unwrap().method(), "Page.loadEventFired");
    assert_eq!(log.lines_with("ignored a frame"), frames.len());
}

#[tokio::test]
async fn messages_of_odd_shapes_are_used_as_far_as_possible() {
    let (session, mut events, mut browser) = connect();
    for message in [
        json!({ "id": 999, "result": {} }),
        json!({ "id": 999, "error": "text instead of an object" }),
        json!({ "method": "Page.frameNavigated", "sessionId": "unknown", "params": {} }),
        json!({ "method": "Target.attachedToTarget" }),
        json!({ "method": "Target.attachedToTarget", "params": [] }),
        json!({ "method": "Target.attachedToTarget", "params": { "sessionId": {} } }),
        json!({ "method": "Target.detachedFromTarget", "params": { "sessionId": "unknown" } }),
        json!({ "method": "Page.frameNavigated", "params": "text" }),
        json!({ "method": "Page.frameNavigated", "params": null, "extra": [1, 2, 3] }),
    ] {
        browser.send(message).await;
    }
    browser.settle(&session).await;
    for _ in 0..3 {
        let event = events.next().await.unwrap();
        assert_eq!(event.method(), "Target.attachedToTarget");
        assert!(event.child.is_none());
    }
    assert_eq!(
        events.next().await.unwrap().method(),
        "Target.detachedFromTarget"
    );
    for understood in [false, true] {
        let event = events.next().await.unwrap();
        assert_eq!(event.decode::<FrameNavigated>().is_some(), understood);
    }
}

#[tokio::test]
async fn an_escaped_method_name_is_the_same_name() {
    let (_session, mut events, mut browser) = connect();
    browser
        .send_bytes(br#"{"method":"Page\u002eloadEventFired","params":{}}"#)
        .await;
    assert_eq!(events.next().await.unwrap().method(), "Page.loadEventFired");
}

#[tokio::test]
async fn refusals_of_odd_shapes_are_refusals() {
    let (session, _events, mut browser) = connect();
    for (error, expected) in [
        (json!("no"), "\"no\""),
        (json!({ "message": "no" }), "no"),
        (json!({ "code": 1 }), "{\"code\":1}"),
        (
            json!({ "code": 1, "message": "no", "data": { "deep": true } }),
            "no",
        ),
    ] {
        let (answer, ()) = tokio::join!(session.send(Evaluate::default()), async {
            let command = browser.command().await;
            browser
                .send(json!({ "id": command["id"], "error": error }))
                .await;
        });
        let text = answer.unwrap_err().to_string();
        assert_eq!(
            text,
            format!("the browser refused Runtime.evaluate: {expected}")
        );
    }
}

#[tokio::test]
async fn an_answer_of_the_wrong_shape_is_an_error_and_one_that_is_missing_is_the_default() {
    let (session, _events, mut browser) = connect();
    for (answer, understood) in [
        (json!({ "result": [] }), false),
        (json!({ "result": "text" }), false),
        (json!({ "result": { "result": 17 } }), false),
        (json!({ "result": null }), true),
        (json!({}), true),
    ] {
        let (outcome, ()) = tokio::join!(session.send(Evaluate::default()), async {
            let mut message = answer.clone();
            message["id"] = browser.command().await["id"].clone();
            browser.send(message).await;
        });
        assert_eq!(outcome.is_ok(), understood, "{answer}: {outcome:?}");
    }
}

proptest! {
    #[test]
    fn no_frames_whatever_stop_the_connection(frames in prop::collection::vec(any_frame(), 0..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (session, events, mut browser) = connect();
            for frame in &frames {
                browser.send_bytes(frame).await;
            }
            browser.settle(&session).await;
            drop(events);
            browser.settle(&session).await;
        });
    }
}

/// Bytes without NUL, or a message with a few parts of the right or the wrong kind.
fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let session = prop_oneof![Just(Value::Null), any_session(), Just(json!(5))];
    let method = prop::sample::select(vec![
        json!("Target.attachedToTarget"),
        json!("Target.detachedFromTarget"),
        json!("Page.loadEventFired"),
        json!(null),
    ]);
    let id = prop::sample::select(vec![json!(null), json!(77), json!("77"), json!(-1)]);
    let message =
        (session, method, any_session(), id).prop_map(|(session, method, subject, id)| {
            let message = json!({
                "id": id,
                "method": method,
                "sessionId": session,
                "params": { "sessionId": subject },
            });
            message.to_string().into_bytes()
        });
    prop_oneof![prop::collection::vec(1..=u8::MAX, 0..64), message]
}

fn any_session() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![json!("A"), json!("B"), json!("C")])
}

/// What was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn lines_with(&self, needle: &str) -> usize {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().filter(|line| line.contains(needle)).count()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
