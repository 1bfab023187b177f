//! Workers of the page library behind an extension, which the test plays.

use crate::fake_extension::{Daemon, Extension};
use serde_json::{Value, json};
use tabmux_daemon::{Client, Handle, SessionOptions};
use tabmux_protocol::Backend;
use tabmux_protocol::page::LONGEST_FRAME;
use tabmux_protocol::session::{self as wire, ToolMode};
use tabmux_testkit::patiently;

#[tokio::test]
async fn a_page_behind_an_extension_offers_its_tools_until_either_goes() {
    for extension_goes in [false, true] {
        let daemon = Daemon::start().await;
        let session = session(&daemon).await;
        let mut extension = daemon.extension("0123456789").await;
        open(&mut extension, 1, "http://localhost:5173").await;
        page_says(&mut extension, 1, &tab("a")).await;
        page_says(&mut extension, 1, &tool("a", "paint")).await;
        until_listed(&session, "paint", true).await;
        match extension_goes {
            true => drop(extension),
            false => {
                extension
                    .say(json!({"type": "pageEnded", "connection": 1}))
                    .await;
            }
        }
        until_listed(&session, "paint", false).await;
    }
}

#[tokio::test]
async fn a_page_that_is_not_allowed_is_closed_silently() {
    let daemon = Daemon::start().await;
    let mut extension = daemon.extension("0123456789").await;
    for (connection, origin) in [
        "https://evil.example",
        "null",
        "",
        "file://",
        "http://localhost.evil.example",
    ]
    .into_iter()
    .enumerate()
    {
        extension
            .say(json!({"type": "pageOpened", "connection": connection, "origin": origin}))
            .await;
        page_says(
            &mut extension,
            connection,
            &json!({"type": "HELLO", "version": 1}),
        )
        .await;
        assert_eq!(
            about_pages(&mut extension).await,
            json!({"type": "pageEnded", "connection": connection}),
            "{origin}"
        );
    }
}

/// Spec: security 9.
#[tokio::test]
async fn a_page_that_floods_is_closed_and_others_work() {
    let daemon = Daemon::start().await;
    let session = session(&daemon).await;
    let mut extension = daemon.extension("0123456789").await;
    open(&mut extension, 1, "http://localhost:1").await;
    page_says(&mut extension, 1, &tab("flood")).await;
    open(&mut extension, 2, "http://localhost:2").await;
    let huge = "x".repeat(LONGEST_FRAME + 1);
    extension
        .say(json!({"type": "pageSaid", "connection": 1, "text": huge}))
        .await;
    assert_eq!(
        about_pages(&mut extension).await,
        json!({"type": "pageEnded", "connection": 1})
    );
    page_says(&mut extension, 2, &tab("calm")).await;
    page_says(&mut extension, 2, &tool("calm", "paint")).await;
    until_listed(&session, "paint", true).await;
}

/// A worker that was accepted.
async fn open(extension: &mut Extension, connection: usize, origin: &str) {
    extension
        .say(json!({"type": "pageOpened", "connection": connection, "origin": origin}))
        .await;
    assert_eq!(
        about_pages(extension).await,
        json!({"type": "pageTold", "connection": connection, "text": ""})
    );
    page_says(
        extension,
        connection,
        &json!({"type": "HELLO", "version": 1}),
    )
    .await;
    let told = about_pages(extension).await;
    assert_eq!(told["connection"], connection, "{told}");
    let text: Value = serde_json::from_str(told["text"].as_str().unwrap()).unwrap();
    assert_eq!(text["type"], "WELCOME");
}

async fn page_says(extension: &mut Extension, connection: usize, frame: &Value) {
    let text = frame.to_string();
    extension
        .say(json!({"type": "pageSaid", "connection": connection, "text": text}))
        .await;
}

/// The next message about pages.
async fn about_pages(extension: &mut Extension) -> Value {
    let hearing = async {
        loop {
            let message = extension.hear().await.unwrap();
            if message["type"].as_str().unwrap().starts_with("page") {
                return message;
            }
        }
    };
    patiently(hearing, || "a message about pages".to_owned()).await
}

async fn until_listed(session: &Handle, name: &str, wanted: bool) {
    let asking = async {
        loop {
            let tools = session.tools().await.unwrap();
            if tools.iter().any(|tool| tool.name == name) == wanted {
                return;
            }
            session.next_event().await;
        }
    };
    patiently(asking, || format!("{name} listed: {wanted}")).await;
}

async fn session(daemon: &Daemon) -> Handle {
    let options = wire::SessionOptions {
        tools: ToolMode::Static,
        ..wire::SessionOptions::default()
    };
    let options = SessionOptions::from_wire(options).unwrap();
    daemon.hub.open(options, Client::default()).await
}

fn tab(id: &str) -> Value {
    json!({"type": "REGISTER_TAB", "tabId": id, "documentId": "d", "url": "http://localhost/", "title": id,
           "visible": true, "focused": false, "lastSeen": 1})
}

fn tool(tab: &str, name: &str) -> Value {
    json!({"type": "REGISTER_TOOL", "tabId": tab, "name": name, "description": name, "inputSchema": {},
           "handlerType": "proxy"})
}
