//! Tabs: opening, closing, popups, frames, capture from the first byte, crashes.

use crate::harness::{BrowserHarness, Capability};
use std::time::Duration;
use tabmux_browser::tab::Load;
use tabmux_browser::{BrowserEvent, Gone, TabOpener};
use tabmux_testkit::Response;

const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn an_opened_tab_is_announced_as_ours_and_loaded() {
    let Some(mut harness) = BrowserHarness::start().await else {
        return;
    };
    harness
        .server
        .route("/hello", Response::html("<title>Hello</title><h1>Hi</h1>"));
    let opened = harness
        .try_open(&harness.server.url("hello"))
        .await
        .unwrap();
    let (target, origin) = harness.appeared().await;
    assert_eq!((&target, origin), (&opened, TabOpener::Call(1)));
    let tab = harness.browser.tab(&opened).await.unwrap();
    assert_eq!(tab.state().load, Load::Complete);
    harness
        .event(|event| match event {
            BrowserEvent::TabChanged(tab) if tab.title == "Hello" => Some(()),
            _ => None,
        })
        .await;
    harness.browser.close_tab(&opened, false).await.unwrap();
    let gone = harness
        .event(|event| match event {
            BrowserEvent::TabGone { target, gone } => Some((target, gone)),
            _ => None,
        })
        .await;
    assert_eq!(gone, (opened, Gone::Closed));
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn console_and_network_are_captured_from_the_first_byte() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/first",
        Response::html("<script>console.log('first', 1)</script><img src=/pixel>"),
    );
    harness.server.route("/pixel", Response::no_content());
    let tab = harness.open("first").await;
    tab.until(PATIENCE, |state| {
        !state.console.is_empty()
            && state
                .network
                .iter()
                .any(|request| request.url.ends_with("/pixel"))
    })
    .await
    .unwrap();
    let state = tab.state();
    assert!(
        state
            .console
            .iter()
            .any(|message| message.text == "first 1"),
        "{:?}",
        state.console
    );
    let first = state.network.iter().next().unwrap();
    assert!(first.url.ends_with("/first"), "{first:?}");
    assert_eq!(first.status, Some(200));
}

#[tokio::test]
async fn a_popup_is_captured_from_the_first_byte_and_knows_its_opener() {
    let Some(mut harness) = BrowserHarness::start().await else {
        return;
    };
    harness
        .server
        .route("/opener", Response::html("<title>Opener</title>"));
    harness.server.route(
        "/popup",
        Response::html("<title>Popup</title><script>console.log('from popup')</script>"),
    );
    let tab = harness.open("opener").await;
    harness.appeared().await;
    harness.page_value(&tab, "void window.open('/popup')").await;
    let (target, origin) = harness.appeared().await;
    assert_eq!(
        origin,
        TabOpener::Popup {
            opener: tab.target().clone()
        }
    );
    let popup = harness.browser.tab(&target).await.unwrap();
    if harness.can(Capability::PopupsFromTheirFirstByte) {
        assert!(
            popup
                .until(PATIENCE, |state| !state.console.is_empty())
                .await
                .unwrap()
        );
        let state = popup.state();
        assert_eq!(state.console.iter().next().unwrap().text, "from popup");
        assert!(state.network.iter().next().unwrap().url.ends_with("/popup"));
    }
    assert!(
        tab.until(PATIENCE, |state| state.popups.contains(&target))
            .await
            .unwrap()
    );
}

#[tokio::test]
async fn cross_site_frames_are_reached_over_sessions_of_their_own() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let inner = harness.server.cross_site_url("inner");
    harness
        .server
        .route("/inner", Response::html("<p>inner</p>"));
    harness.server.route(
        "/outer",
        Response::html(format!("<iframe src='{inner}'></iframe>")),
    );
    let tab = harness.open("outer").await;
    let arrived = tab
        .until(PATIENCE, |state| {
            state
                .frames
                .iter()
                .any(|frame| frame.url.ends_with("/inner"))
        })
        .await
        .unwrap();
    assert!(arrived, "{:?}", tab.state().frames);
    let frame = tab
        .state()
        .frames
        .iter()
        .find(|frame| frame.url.ends_with("/inner"))
        .cloned()
        .unwrap();
    assert_ne!(frame.session.id(), tab.session().id());
    let world = tab.world_of(&frame).await.unwrap();
    let document: u32 = world.call("(() => tabmux.document)", ()).await.unwrap();
    assert_eq!(document, frame.document.0);
}

#[tokio::test]
async fn a_page_that_cannot_be_loaded_is_an_error() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let error = harness.try_open("http://127.0.0.1:1/").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "http://127.0.0.1:1/ could not be loaded: ERR_UNSAFE_PORT (Chrome never connects to that port)."
    );
}

/// Spec: dynamic-tools 87.
#[tokio::test]
async fn a_crashed_tab_is_gone() {
    let Some(mut harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open_url("about:blank").await;
    tab.session()
        .post(tabmux_cdp::types::page::Crash::default());
    let gone = harness
        .event(|event| match event {
            BrowserEvent::TabGone { target, gone } => Some((target, gone)),
            _ => None,
        })
        .await;
    assert_eq!(gone, (tab.target().clone(), Gone::Crashed));
}

#[tokio::test]
async fn the_last_tab_is_replaced_by_a_spare_one() {
    let Some(mut harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open_url("about:blank").await;
    harness.appeared().await;
    harness.browser.close_tab(tab.target(), true).await.unwrap();
    let (_, origin) = harness.appeared().await;
    assert_eq!(origin, TabOpener::Spare);
}

/// Spec: multi-browser 21.
#[tokio::test]
async fn shutting_down_ends_the_browser_and_its_profile() {
    let Some(mut harness) = BrowserHarness::start().await else {
        return;
    };
    harness.browser.shut_down().await;
    harness
        .event(|event| (event == BrowserEvent::Gone).then_some(()))
        .await;
    if !harness.can(Capability::Launch) {
        // The session releases it, and the next one finds it.
        assert!(BrowserHarness::start().await.is_some());
        return;
    }
    let tag = format!("tabmux-profile-{}-", std::process::id());
    tabmux_testkit::process::wait_until_none_with(&tag).await;
}

/// Chrome pauses every target that could be attached, including those that we do not attach to.
#[tokio::test]
async fn workers_of_every_kind_run() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    for (path, script) in [
        (
            "/nested.js",
            "new Worker('/worker.js').onmessage = (e) => postMessage(e.data)",
        ),
        ("/worker.js", "postMessage('hello')"),
        (
            "/shared.js",
            "onconnect = (e) => e.ports[0].postMessage('hello')",
        ),
        (
            "/service.js",
            "oninstall = () => skipWaiting(); onactivate = (e) => e.waitUntil(clients.claim()); onmessage = (e) => e.source.postMessage('hello')",
        ),
    ] {
        let script = Response::new(200, "text/javascript", script);
        harness.server.route(path, script);
    }
    harness.server.route("/page", Response::html("<p>page</p>"));
    let tab = harness.open("page").await;
    for ask in [
        "new Promise((done) => { (w = new Worker('/worker.js')).onmessage = (e) => done(e.data) })",
        "new Promise((done) => { (n = new Worker('/nested.js')).onmessage = (e) => done(e.data) })",
        "new Promise((done) => { (s = new SharedWorker('/shared.js')).port.onmessage = (e) => done(e.data) })",
        "new Promise((done) => { navigator.serviceWorker.onmessage = (e) => done(e.data); \
         navigator.serviceWorker.register('/service.js').then(() => navigator.serviceWorker.ready) \
         .then((r) => r.active.postMessage('hi')) })",
    ] {
        let within = format!(
            "Promise.race([{ask}, new Promise((done) => setTimeout(() => done('hung'), 5000))])"
        );
        assert_eq!(harness.page_value(&tab, &within).await, "hello", "{ask}");
    }
}
