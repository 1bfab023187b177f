//! A session that works in the browser of an extension, which the test plays.

use crate::fake_extension::{Daemon, Extension, through_extension};
use serde_json::{Value, json, value::to_raw_value};
use tabmux_daemon::{Client, Handle, SessionOptions};
use tabmux_protocol::session::{self as wire, ToolMode};
use tabmux_protocol::{Backend, BackendEvent, CallReply, CallRequest, Content, RequestId};
use tabmux_testkit::patiently;

/// Spec: dynamic-tools 65, 67, 69, 70, 71, 81, 84.
#[tokio::test]
async fn list_tabs_shows_the_tabs_that_the_extension_reports() {
    let (daemon, mut extension) = introduced().await;
    let session = session(&daemon, None).await;
    // Spec: dynamic-tools 81.
    // A connecting extension changes no session's state.
    let names = session.tools().await.unwrap();
    assert_eq!(names.len(), 1, "{names:?}");
    assert_eq!(
        call(&session, "connect_browser", json!({})).await,
        Ok(
            json!({"connected": true, "browser": {"name": "Chrome", "version": "156.0.1"}, "tabCount": 1})
        )
    );
    assert_eq!(session.next_event().await, Some(BackendEvent::ToolsChanged));
    let tab = |id: u32, title: &str, url: &str| json!({"id": id, "title": title, "url": url});
    extension
        .say(json!({"type": "tabCreated", "tab": tab(8, "", "http://b.example/")}))
        .await;
    extension
        .say(json!({"type": "tabUpdated", "tab": tab(8, "B", "http://b.example/2")}))
        .await;
    until(&session, &["A http://a.example/", "B http://b.example/2"]).await;
    extension
        .say(json!({"type": "tabClosed", "tabId": 7}))
        .await;
    until(&session, &["B http://b.example/2"]).await;
    // Invalid and unknown tabs change nothing.
    extension
        .say(json!({"type": "tabClosed", "tabId": 99}))
        .await;
    extension
        .say(json!({"type": "tabUpdated", "tab": {"id": -1}}))
        .await;
    extension
        .say(json!({"type": "cdpEvent", "tabId": 8, "method": "Page.loadEventFired"}))
        .await;
    extension
        .say(json!({"type": "cdp", "requestId": 12345, "result": {}}))
        .await;
    extension
        .say(json!({"type": "done", "requestId": 12345, "tabId": 1}))
        .await;
    until(&session, &["B http://b.example/2"]).await;
}

/// Spec: multi-client 35, 43; dynamic-tools 68, 82, 101.
#[tokio::test]
async fn an_extension_that_goes_ends_the_connection_and_says_so() {
    for last_word in [Some(json!({"type": "disconnected"})), None] {
        let (daemon, mut extension) = introduced().await;
        let session = session(&daemon, None).await;
        call(&session, "connect_browser", json!({})).await.unwrap();
        assert_eq!(session.next_event().await, Some(BackendEvent::ToolsChanged));
        if let Some(word) = last_word {
            extension.say(word).await;
            while extension.hear().await.is_some() {}
        }
        drop(extension);
        let told = patiently(session.next_event(), || "a report of the loss".to_owned()).await;
        assert_eq!(told, Some(BackendEvent::ToolsChanged));
        let names = session.tools().await.unwrap();
        assert_eq!(names.len(), 1, "{names:?}");
        assert_eq!(names[0].name, "connect_browser");
    }
}

/// Spec: multi-client 35.
#[tokio::test(start_paused = true)]
async fn a_session_that_means_an_extension_says_that_it_is_away() {
    let daemon = Daemon::start().await;
    let session = session(&daemon, None).await;
    // The clock jumps as soon as all tasks wait; the extension does not reconnect.
    let refused = call(&session, "connect_browser", json!({})).await;
    let refused: Value = serde_json::from_str(&refused.unwrap_err()).unwrap();
    assert_eq!(refused["error"], "Browser extension not connected");
    let next = refused["instructions"].as_str().unwrap();
    assert!(next.contains("tabmux extension status"), "{next}");
}

/// Spec: multi-client 35.
#[tokio::test(start_paused = true)]
async fn a_call_that_needs_an_extension_says_that_it_is_away() {
    let daemon = Daemon::start().await;
    let options = SessionOptions::from_wire(through_extension()).unwrap();
    let session = daemon.hub.open(options, Client::default()).await;
    let refused = call(&session, "list_pages", json!({})).await.unwrap_err();
    assert!(
        refused.contains("Browser extension not connected"),
        "{refused}"
    );
}

/// Spec: decisions 24.
#[tokio::test]
async fn a_wait_for_an_extension_reports_progress_until_it_connects() {
    let daemon = Daemon::start().await;
    let session = session(&daemon, None).await;
    let request = CallRequest {
        progress: true,
        ..request("connect_browser", &json!({}))
    };
    let play = async {
        loop {
            let told = patiently(session.next_event(), || "a report of the wait".to_owned()).await;
            let Some(BackendEvent::Progress(progress)) = told else {
                panic!("{told:?}");
            };
            let message = progress.message.unwrap();
            if message.starts_with("Waiting for the tabmux extension: ") {
                break;
            }
            // Sent before the reason is known.
            assert_eq!(message, "Waiting for the browser");
        }
        let mut extension = daemon.extension("0123456789").await;
        introduce(&mut extension, json!([])).await;
        extension
    };
    let (reply, _extension) = tokio::join!(session.call(request), play);
    assert!(!reply.unwrap().is_error);
}

/// Spec: dynamic-tools 77, 79.
#[tokio::test]
async fn tabs_are_opened_in_the_background_and_closed_by_name() {
    let (daemon, mut extension) = introduced().await;
    let session = session(&daemon, None).await;
    call(&session, "connect_browser", json!({})).await.unwrap();
    let open = call(&session, "open_tab", json!({"url": "http://new.example/"}));
    let play = async {
        let asked = extension.hear().await.unwrap();
        assert_eq!(
            (&asked["type"], &asked["url"], &asked["focus"]),
            (&json!("openTab"), &json!("about:blank"), &json!(false))
        );
        extension
            .say(json!({"type": "done", "requestId": asked["requestId"], "tabId": 9}))
            .await;
        let asked = extension.hear().await.unwrap();
        assert_eq!(
            (&asked["type"], &asked["tabId"]),
            (&json!("attach"), &json!(9))
        );
        let refusal = "The extensions gallery cannot be scripted.";
        extension
            .say(json!({"type": "done", "requestId": asked["requestId"], "error": refusal}))
            .await;
        // A tab that cannot be used is closed again.
        let asked = extension.hear().await.unwrap();
        assert_eq!(
            (&asked["type"], &asked["tabId"]),
            (&json!("closeTab"), &json!(9))
        );
        extension
            .say(json!({"type": "tabClosed", "tabId": 9}))
            .await;
        extension
            .say(json!({"type": "done", "requestId": asked["requestId"]}))
            .await;
    };
    let (opened, ()) = tokio::join!(open, play);
    let error = opened.unwrap_err();
    assert!(
        error.contains("The extensions gallery cannot be scripted."),
        "{error}"
    );
    until(&session, &["A http://a.example/"]).await;
}

#[tokio::test]
async fn several_browsers_are_distinguished_by_name() {
    let daemon = Daemon::start().await;
    let mut keep = Vec::new();
    for (instance, name) in [("firstprofile", "Work"), ("secondprofile", "Home")] {
        let mut extension = daemon.named_extension(instance, name).await;
        let tab = json!({"id": 1, "title": name, "url": format!("http://{name}.example/")});
        introduce(&mut extension, json!([tab])).await;
        keep.push(extension);
    }
    let work = session(&daemon, Some("Work")).await;
    call(&work, "connect_browser", json!({})).await.unwrap();
    until(&work, &["Work http://Work.example/"]).await;
    let latest = session(&daemon, None).await;
    call(&latest, "connect_browser", json!({})).await.unwrap();
    until(&latest, &["Home http://Home.example/"]).await;
}

/// A daemon, and an extension that has reported one tab.
async fn introduced() -> (Daemon, Extension) {
    let daemon = Daemon::start().await;
    let mut extension = daemon.extension("0123456789").await;
    let tab =
        json!({"id": 7, "title": "A", "url": "http://a.example/", "windowId": 1, "active": true});
    introduce(&mut extension, json!([tab])).await;
    (daemon, extension)
}

async fn introduce(extension: &mut Extension, tabs: Value) {
    let browser = json!({"name": "Chrome", "version": "156.0.1"});
    extension
        .say(json!({"type": "connected", "browser": browser, "tabs": tabs}))
        .await;
}

async fn session(daemon: &Daemon, name: Option<&str>) -> Handle {
    let options = wire::SessionOptions {
        browser: wire::BrowserOptions {
            choice: wire::BrowserChoice::Extension {
                name: name.map(str::to_owned),
            },
            ..wire::BrowserOptions::default()
        },
        tools: ToolMode::Progressive,
        ..wire::SessionOptions::default()
    };
    let options = SessionOptions::from_wire(options).unwrap();
    daemon.hub.open(options, Client::default()).await
}

/// Calls `list_tabs` until it returns these.
async fn until(session: &Handle, wanted: &[&str]) {
    let asking = async {
        loop {
            let tabs = call(session, "list_tabs", json!({})).await.unwrap();
            let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
            let rows = tabs["tabs"].as_array().unwrap().iter();
            let rows: Vec<_> = rows
                .map(|row| format!("{} {}", text(row, "title"), text(row, "url")))
                .collect();
            if rows == wanted {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    patiently(asking, || format!("{wanted:?}")).await;
}

/// A tool's reply: data, or a sentence if it fails.
async fn call(session: &Handle, tool: &str, arguments: Value) -> Result<Value, String> {
    let CallReply {
        content, is_error, ..
    } = session.call(request(tool, &arguments)).await.unwrap();
    let Some(Content::Text { text }) = content.first() else {
        panic!("{content:?}");
    };
    match is_error {
        true => Err(text.clone()),
        false => Ok(serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))),
    }
}

fn request(tool: &str, arguments: &Value) -> CallRequest {
    CallRequest {
        request_id: RequestId("1".into()),
        tool: tool.to_owned(),
        arguments: to_raw_value(arguments).unwrap(),
        progress: false,
        asking: Default::default(),
    }
}
