//! Responses reach their caller, events reach their session, and none is lost.

use serde_json::json;
use tabmux_cdp::{
    CdpError,
    types::{
        page::{FrameNavigated, LoadEventFired, Navigate},
        runtime::{Evaluate, RunIfWaitingForDebugger},
        target::AttachedToTarget,
    },
};

use crate::fake_browser::{connect, next_child};

#[tokio::test]
async fn a_command_carries_its_name_parameters_and_nothing_that_was_left_out() {
    let (session, _events, mut browser) = connect();
    let command = Navigate {
        url: "https://example.com/".to_owned(),
        ..Default::default()
    };
    let (answer, ()) = tokio::join!(session.send(command), async {
        let command = browser.command().await;
        assert_eq!(
            command,
            json!({ "id": 1, "method": "Page.navigate", "params": { "url": "https://example.com/" } })
        );
        browser
            .answer(&command, json!({ "frameId": "F", "loaderId": "L" }))
            .await;
    });
    let answer = answer.unwrap();
    assert_eq!(answer.frame_id, "F");
    assert_eq!(answer.error_text, None);
}

#[tokio::test]
async fn responses_out_of_order_reach_their_callers() {
    let (session, _events, mut browser) = connect();
    let evaluate = |text: &str| Evaluate {
        expression: text.to_owned(),
        ..Default::default()
    };
    let (first, second, ()) = tokio::join!(
        session.send(evaluate("first")),
        session.send(evaluate("second")),
        async {
            let commands = [browser.command().await, browser.command().await];
            for command in commands.iter().rev() {
                let value = &command["params"]["expression"];
                browser
                    .answer(command, json!({ "result": { "value": value } }))
                    .await;
            }
        }
    );
    let value = |answer: tabmux_cdp::types::runtime::EvaluateResponse| -> String {
        answer.result.value.unwrap().decode().unwrap()
    };
    assert_eq!(value(first.unwrap()), "first");
    assert_eq!(value(second.unwrap()), "second");
}

#[tokio::test]
async fn a_refusal_has_the_browsers_code_and_message() {
    let (session, _events, mut browser) = connect();
    let (answer, ()) = tokio::join!(session.send(Navigate::default()), async {
        let command = browser.command().await;
        let error =
            json!({ "code": -32602, "message": "Invalid parameters", "data": "url: required" });
        browser
            .send(json!({ "id": command["id"], "error": error }))
            .await;
    });
    assert_eq!(
        answer.unwrap_err(),
        CdpError::Rejected {
            method: "Page.navigate".to_owned(),
            code: -32602,
            message: "Invalid parameters (url: required)".to_owned(),
        }
    );
}

#[tokio::test]
async fn a_raw_command_gives_the_raw_result() {
    let (session, _events, mut browser) = connect();
    let limit = tabmux_cdp::DEFAULT_DEADLINE;
    let params = json!({ "a": [1, 2] });
    let (answer, ()) = tokio::join!(session.send_raw("Some.method", &params, limit), async {
        let command = browser.command().await;
        assert_eq!(command["method"], "Some.method");
        assert_eq!(command["params"], params);
        browser
            .send_bytes(br#"{"id":1,"result":{ "as":  "it came"}}"#)
            .await;
    });
    assert_eq!(answer.unwrap().get(), r#"{ "as":  "it came"}"#);
}

#[tokio::test]
async fn each_session_sees_its_own_events_in_order() {
    let (session, mut events, mut browser) = connect();
    browser.attach(None, "A").await;
    browser.attach(None, "B").await;
    for index in 0..10 {
        for name in ["A", "B"] {
            let frame = json!({ "frame": { "id": format!("{name}{index}") } });
            browser
                .event(Some(name), "Page.frameNavigated", frame)
                .await;
        }
    }
    browser.settle(&session).await;
    for name in ["A", "B"] {
        let (child, mut child_events) = next_child(&mut events).await;
        assert_eq!(child.id().unwrap(), name);
        for index in 0..10 {
            let event = child_events.next().await.unwrap();
            let navigated: FrameNavigated = event.decode().unwrap();
            assert_eq!(navigated.frame.id, *format!("{name}{index}"));
        }
    }
}

#[tokio::test]
async fn a_child_loses_no_events_before_it_is_announced() {
    let (session, mut events, mut browser) = connect();
    browser.attach(None, "tab").await;
    browser.attach(Some("tab"), "frame").await;
    browser
        .event(
            Some("frame"),
            "Page.loadEventFired",
            json!({ "timestamp": 7 }),
        )
        .await;
    // No event has been read so far, and all of them are already dispatched.
    browser.settle(&session).await;

    let (tab, mut tab_events) = next_child(&mut events).await;
    let (frame, mut frame_events) = next_child(&mut tab_events).await;
    assert_eq!(
        (tab.id().unwrap().as_str(), frame.id().unwrap().as_str()),
        ("tab", "frame")
    );
    let loaded: LoadEventFired = frame_events.next().await.unwrap().decode().unwrap();
    assert_eq!(loaded.timestamp.0, 7.0);

    frame.post(RunIfWaitingForDebugger {});
    let command = browser.command().await;
    assert_eq!(command["sessionId"], "frame");
}

#[tokio::test]
async fn only_attachments_have_a_child_and_only_the_right_type_decodes() {
    let (_session, mut events, mut browser) = connect();
    browser.event(None, "Page.loadEventFired", json!({})).await;
    let event = events.next().await.unwrap();
    assert!(event.child.is_none());
    assert_eq!(event.method(), "Page.loadEventFired");
    assert!(event.decode::<AttachedToTarget>().is_none());
    assert!(event.decode::<LoadEventFired>().is_some());
}

#[tokio::test]
async fn an_attachment_under_a_known_id_does_not_take_the_queue_away() {
    let (session, mut events, mut browser) = connect();
    browser.attach(None, "tab").await;
    browser.attach(None, "tab").await;
    browser
        .event(Some("tab"), "Page.loadEventFired", json!({}))
        .await;
    browser.settle(&session).await;
    let (_tab, mut tab_events) = next_child(&mut events).await;
    assert!(events.next().await.unwrap().child.is_none());
    assert_eq!(
        tab_events.next().await.unwrap().method(),
        "Page.loadEventFired"
    );
}

#[tokio::test]
async fn posted_commands_arrive_in_order_and_their_responses_are_ignored() {
    let (session, _events, mut browser) = connect();
    session.post(Navigate {
        url: "about:blank".to_owned(),
        ..Default::default()
    });
    let (answer, ()) = tokio::join!(session.send(Evaluate::default()), async {
        let posted = browser.command().await;
        assert_eq!(posted["method"], "Page.navigate");
        browser
            .send(json!({ "id": posted["id"], "error": { "code": 1, "message": "no" } }))
            .await;
        let sent = browser.command().await;
        assert_eq!(sent["method"], "Runtime.evaluate");
        browser.answer(&sent, json!({})).await;
    });
    answer.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_tasks_at_once_each_get_their_own_answer() {
    let (session, _events, mut browser) = connect();
    let browser = tokio::spawn(async move {
        while let Some(command) = browser.command_or_end().await {
            let value = &command["params"]["expression"];
            browser
                .answer(&command, json!({ "result": { "value": value } }))
                .await;
        }
    });
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..16 {
        let session = session.clone();
        tasks.spawn(async move {
            for turn in 0..100 {
                let expression = format!("{task}/{turn}");
                let command = Evaluate {
                    expression: expression.clone(),
                    ..Default::default()
                };
                let answer = session.send(command).await.unwrap();
                assert_eq!(
                    answer.result.value.unwrap().decode::<String>().unwrap(),
                    expression
                );
            }
        });
    }
    drop(session);
    tasks.join_all().await;
    browser.await.unwrap();
}
