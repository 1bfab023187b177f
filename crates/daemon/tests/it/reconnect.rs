//! What survives when the extension or the daemon ends and reconnects. The test plays the extension.

use crate::fake_extension::{Daemon, Extension, through_extension};
use crate::page_harness::{request, text};
use serde_json::{Value, json};
use tabmux_core::RestoredTabs;
use tabmux_daemon::{Client, Handle, SessionOptions};
use tabmux_protocol::Backend;
use tabmux_protocol::wire::{Resume, SessionId};

const SESSION: &str = "sess_one";
const SECRET: &str = "s3cret";

/// An agent in the browser of the extension.
async fn agent(daemon: &Daemon, restored_tabs: RestoredTabs) -> Handle {
    let mut options = SessionOptions::from_wire(through_extension()).unwrap();
    options.restored_tabs = restored_tabs;
    let client = Client {
        session: SESSION.to_owned(),
        name: "Claude Code".to_owned(),
        secret: SECRET.to_owned(),
        screen: None,
    };
    daemon.hub.open(options, client).await
}

/// An extension with two tabs.
async fn extension(daemon: &Daemon) -> Extension {
    let mut extension = daemon.extension("0123456789").await;
    introduce(&mut extension).await;
    extension
}

async fn introduce(extension: &mut Extension) {
    let tab = |id: u32, url: &str| json!({"id": id, "title": "T", "url": url, "windowId": 1});
    let tabs = [tab(7, "http://a.test/"), tab(8, "https://b.test/x")];
    let browser = json!({"name": "Chrome", "version": "156.0.1"});
    extension
        .say(json!({"type": "connected", "browser": browser, "tabs": tabs}))
        .await;
}

/// The tabs that the side panel shows for the agent.
fn tabs_of(shown: &Value) -> Vec<u64> {
    let tabs = shown["agents"][0]["tabs"].as_array();
    let ids = tabs.into_iter().flatten().map(|tab| tab["tabId"].as_u64());
    ids.flatten().collect()
}

#[tokio::test]
async fn the_switch_to_follow_survives_the_daemon() {
    let folder = tempfile::tempdir().unwrap();
    for follows in [true, false] {
        let first = Daemon::start_shared(folder.path()).await;
        let mut panel = extension(&first).await;
        let agent_before = agent(&first, RestoredTabs::default()).await;
        let follow = json!({"type": "follow", "session": SESSION, "follows": follows});
        panel.say(follow).await;
        // The setting may already be visible, so wait for a later request to be handled.
        panel.say(json!({"type": "pause"})).await;
        panel
            .shown(|it| it["paused"] == true && it["agents"][0]["follows"] == follows)
            .await;
        first.hub.shut_down().await;
        drop((agent_before, panel, first));

        let second = Daemon::start_shared(folder.path()).await;
        let resume = |secret: &str| Resume {
            session_id: SessionId(SESSION.into()),
            secret: secret.into(),
            told: false,
        };
        assert!(second.hub.take_up(resume("a guess")).await.is_none());
        let restored_tabs = second.hub.take_up(resume(SECRET)).await.unwrap();
        let _agent = agent(&second, restored_tabs).await;
        let mut panel = extension(&second).await;
        let shown = panel.shown(|it| it["agents"][0] != Value::Null).await;
        assert_eq!(shown["agents"][0]["follows"], follows);
        // The second daemon stores it, too.
        second.hub.shut_down().await;
        let notes = std::fs::read_to_string(folder.path().join("sessions.json")).unwrap();
        let notes: Value = serde_json::from_str(&notes).unwrap();
        assert_eq!(notes["sessions"][SESSION]["follows"], follows);
    }
}

/// The worker of an extension can reconnect before its disconnection is noticed everywhere.
#[tokio::test(flavor = "multi_thread")]
async fn an_extension_that_comes_back_at_once_finds_its_agents_tabs() {
    let daemon = Daemon::start().await;
    let mut panel = extension(&daemon).await;
    let agent = agent(&daemon, RestoredTabs::default()).await;
    text(&agent.call(request("list_pages", &json!({}))).await.unwrap());
    panel
        .say(json!({"type": "give", "tabId": 7, "session": SESSION}))
        .await;
    panel.shown(|it| tabs_of(it) == [7]).await;
    for round in 0..50 {
        drop(panel);
        panel = loop {
            let mut next = daemon.unproved().await;
            let greeted = next.greet(&daemon.secret(), "0123456789").await;
            // The old connection may not have ended yet.
            if greeted["type"] == "welcome" {
                break next;
            }
        };
        // Sometimes it disconnects again while the daemon connects to it.
        if round % 3 < 2 {
            introduce(&mut panel).await;
        }
        if round % 3 == 0 {
            panel.shown(|it| tabs_of(it) == [7]).await;
        }
    }
    introduce(&mut panel).await;
    panel.shown(|it| tabs_of(it) == [7]).await;
}

#[tokio::test]
async fn unknown_tabs_that_an_extension_left_open_are_closed() {
    let folder = tempfile::tempdir().unwrap();
    let first = Daemon::start_shared(folder.path()).await;
    let mut panel = extension(&first).await;
    let agent_before = agent(&first, RestoredTabs::default()).await;
    let pages = request("list_pages", &json!({}));
    agent_before.call(pages).await.unwrap();
    panel
        .say(json!({"type": "give", "tabId": 7, "session": SESSION}))
        .await;
    panel.shown(|it| tabs_of(it) == [7]).await;
    let left = json!({"type": "leftTabs", "tabIds": [7, 8, 9]});
    let answers = [
        json!({"type": "tabKnown", "tabId": 7}),
        json!({"type": "closeTab", "requestId": 0, "tabId": 8}),
        json!({"type": "closeTab", "requestId": 0, "tabId": 9}),
    ];
    panel.say(left.clone()).await;
    for answer in &answers {
        assert_eq!(panel.hear().await.as_ref(), Some(answer));
    }
    // The same holds before the browser is connected again, and at a daemon without any restored session.
    drop(panel);
    let back = async {
        loop {
            let mut next = first.unproved().await;
            if next.greet(&first.secret(), "0123456789").await["type"] == "welcome" {
                return next;
            }
        }
    };
    let mut panel = back.await;
    assert_eq!(panel.hear().await, Some(json!({"type": "connect"})));
    panel.say(left.clone()).await;
    for answer in &answers {
        assert_eq!(panel.hear().await.as_ref(), Some(answer));
    }
    first.hub.shut_down().await;
    drop((agent_before, panel, first));
    let second = Daemon::start_shared(folder.path()).await;
    let mut panel = extension(&second).await;
    panel.say(left).await;
    for answer in &answers {
        assert_eq!(panel.hear().await.as_ref(), Some(answer));
    }
}
