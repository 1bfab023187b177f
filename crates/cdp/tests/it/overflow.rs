//! A consumer that does not keep up loses lossy events first, and finally its queue; nothing else is affected.

use serde_json::json;
use tabmux_cdp::{CdpError, types::runtime::Evaluate};

use crate::fake_browser::{connect, next_child};

#[tokio::test]
async fn lossy_events_are_dropped_and_counted_while_the_rest_is_kept() {
    let (session, mut events, mut browser) = connect();
    for _ in 0..LOSSY_CAPACITY {
        browser.event(None, "Network.dataReceived", json!({})).await;
    }
    for method in [
        "Network.dataReceived",
        "Runtime.consoleAPICalled",
        "Log.entryAdded",
    ] {
        browser.event(None, method, json!({})).await;
    }
    browser.event(None, "Page.loadEventFired", json!({})).await;
    browser.settle(&session).await;
    assert_eq!(events.dropped(), 3);
    for _ in 0..LOSSY_CAPACITY {
        assert_eq!(
            events.next().await.unwrap().method(),
            "Network.dataReceived"
        );
    }
    assert_eq!(events.next().await.unwrap().method(), "Page.loadEventFired");

    // There is space again.
    browser.event(None, "Log.entryAdded", json!({})).await;
    assert_eq!(events.next().await.unwrap().method(), "Log.entryAdded");
    assert_eq!(events.dropped(), 3);
}

#[tokio::test]
async fn a_queue_full_of_essential_events_ends_without_affecting_others() {
    let (session, mut events, mut browser) = connect();
    browser.attach(None, "slow").await;
    browser.attach(None, "other").await;
    let (slow, mut slow_events) = next_child(&mut events).await;
    let (other, mut other_events) = next_child(&mut events).await;
    for _ in 0..=CAPACITY {
        browser
            .event(Some("slow"), "Page.frameNavigated", json!({}))
            .await;
    }
    browser
        .event(Some("other"), "Page.loadEventFired", json!({}))
        .await;
    browser.settle(&session).await;
    browser.settle(&slow).await;
    browser.settle(&other).await;

    for _ in 0..CAPACITY {
        slow_events.next().await.unwrap();
    }
    assert!(slow_events.next().await.is_none());
    assert_eq!(
        other_events.next().await.unwrap().method(),
        "Page.loadEventFired"
    );
}

#[tokio::test]
async fn a_child_whose_attachment_is_lost_is_dropped() {
    let (session, mut events, mut browser) = connect();
    browser.attach(None, "tab").await;
    let (tab, tab_events) = next_child(&mut events).await;
    drop(tab_events);
    browser.attach(Some("tab"), "frame").await;
    browser
        .event(Some("frame"), "Page.loadEventFired", json!({}))
        .await;
    browser.settle(&session).await;

    // The tab's own commands still work, and its end is still noticed.
    browser.settle(&tab).await;
    browser.detach(None, "tab").await;
    browser.settle(&session).await;
    let error = tab.send(Evaluate::default()).await.unwrap_err();
    assert!(matches!(error, CdpError::Detached { .. }));
}

const LOSSY_CAPACITY: usize = 4_096;
const CAPACITY: usize = 32_768;
