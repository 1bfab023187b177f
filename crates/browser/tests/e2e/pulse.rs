//! An unresponsive browser.

use crate::harness::Event;
use std::time::Duration;
use tabmux_browser::{Browser, BrowserEvent, Heartbeat, OutputRoot, Source, TabSettings};
use tabmux_testkit::{Chromium, process};
use tokio::sync::mpsc;

/// Spec: multi-browser 88.
#[tokio::test]
async fn an_unresponsive_attached_browser_is_detached_and_can_be_attached_again() {
    let Some(executable) = tabmux_testkit::real_browser() else {
        return;
    };
    let chromium = Chromium::start(&executable);
    let source = Source::Url(chromium.http_url().into());
    let connected = Browser::connect(&source, TabSettings::default(), &OutputRoot::usual()).await;
    let pulse = Heartbeat {
        every: Duration::from_millis(50),
        within: Duration::from_secs(3),
    };
    let (report, mut events) = mpsc::channel::<Event>(100);
    let _browser = connected.unwrap().with_heartbeat(pulse).follow(0, report);

    process::freeze(chromium.pid());
    loop {
        let event = events.recv().await.unwrap().0;
        if matches!(event, BrowserEvent::Gone) {
            break;
        }
    }
    process::thaw(chromium.pid());
    let again = Browser::connect(&source, TabSettings::default(), &OutputRoot::usual()).await;
    assert!(again.is_ok(), "{again:?}");
}
