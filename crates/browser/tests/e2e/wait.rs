//! wait_for and scroll.

use crate::harness::BrowserHarness;
use crate::pick::pick;
use serde_json::json;
use tabmux_testkit::Response;

#[tokio::test]
async fn a_text_that_is_there_is_found_at_once_and_one_that_comes_later_when_it_comes() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness
        .server
        .route("/page", Response::html("<p>Hello <b>World</b></p>"));
    let tab = harness.open("page").await;
    let text = harness
        .text(
            &tab,
            "wait_for",
            json!({ "text": ["nothing", "hello world"] }),
        )
        .await;
    assert_eq!(text, "\"hello world\" is there.");
    let later = async {
        let add =
            "new Promise((done) => setTimeout(() => done(document.body.append('Later')), 200))";
        harness.page_value(&tab, add).await
    };
    let waiting = harness.text(&tab, "wait_for", json!({ "text": ["later"] }));
    let (text, _) = tokio::join!(waiting, later);
    assert_eq!(text, "\"later\" is there.");
}

#[tokio::test]
async fn a_text_that_never_comes_is_an_error_at_the_timeout() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness
        .server
        .route("/page", Response::html("<p hidden>secret</p>"));
    let tab = harness.open("page").await;
    let error = harness
        .error(
            &tab,
            "wait_for",
            json!({ "text": ["secret"], "timeout": 300 }),
        )
        .await;
    assert_eq!(
        error,
        "The appearance of \"secret\" did not happen within 300 ms. Call take_snapshot to see what the page shows."
    );
}

#[tokio::test]
async fn waiting_goes_on_over_navigations_and_into_frames_of_other_sites() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness
        .server
        .route("/inside", Response::html("<p>In the frame</p>"));
    let html = format!(
        "<iframe src='{}'></iframe>",
        harness.server.cross_site_url("inside")
    );
    harness.server.route("/next", Response::html(html));
    let tab = harness.open_url("about:blank").await;
    let next = harness.server.url("next");
    let waiting = harness.text(
        &tab,
        "wait_for",
        json!({ "text": ["in the frame"], "timeout": 20_000 }),
    );
    let going = harness.text(&tab, "navigate_page", json!({ "url": next }));
    let (text, _) = tokio::join!(waiting, going);
    assert_eq!(text, "\"in the frame\" is there.");
}

#[tokio::test]
async fn scrolling_says_how_far_it_went_and_what_is_left() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/long",
        Response::html(
            "<!doctype html><body style='margin: 0; height: 2700px'><div id=d style='height: 100px; overflow: auto'>\
             <p id=p style='margin: 0; height: 500px'></div><canvas id=c onwheel='turned = event.deltaY'></canvas>",
        ),
    );
    let tab = harness.open("long").await;
    let scroll = async |arguments| harness.text(&tab, "scroll", arguments).await;
    assert_eq!(
        scroll(json!({ "direction": "down", "amount": 500 })).await,
        "Scrolled the page by 500 pixels; now at 500 of 2000 pixels, more follows."
    );
    assert_eq!(
        scroll(json!({ "direction": "bottom" })).await,
        "Scrolled the page by 1500 pixels; now at 2000 of 2000 pixels, at the end."
    );
    assert_eq!(
        scroll(json!({ "direction": "down" })).await,
        "Nothing moved: the page is now at 2000 of 2000 pixels, at the end."
    );
    let inside = pick(&tab, "#p").await;
    assert_eq!(
        scroll(json!({ "uid": inside, "direction": "down", "amount": 100 })).await,
        "Scrolled <div#d> by 100 pixels; now at 100 of 400 pixels, more follows."
    );
    assert_eq!(
        scroll(json!({ "uid": inside })).await,
        "Scrolled to the element."
    );
    let error = harness
        .error(&tab, "scroll", json!({ "direction": "left" }))
        .await;
    assert_eq!(error, "Nothing on this page can be scrolled that way.");
}

#[tokio::test]
async fn what_listens_to_the_wheel_gets_it() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/map",
        Response::html(
            "<canvas id=c></canvas><script>c.onwheel = (e) => turned = e.deltaY</script>",
        ),
    );
    let tab = harness.open("map").await;
    let map = pick(&tab, "#c").await;
    let text = harness
        .text(
            &tab,
            "scroll",
            json!({ "uid": map, "direction": "up", "amount": 120 }),
        )
        .await;
    assert!(text.contains("turned the mouse wheel"), "{text}");
    assert_eq!(harness.page_value(&tab, "turned").await, -120);
}

/// Spec: multi-browser 64.
#[tokio::test]
async fn every_kind_of_waiting_ends_when_it_comes() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let gate = harness.server.hold("/slow", Response::text("late"));
    harness.server.route(
        "/page",
        Response::html("<p id=p>Loading things</p><script>const after = (f) => setTimeout(f, 100);\
            after(() => { p.remove(); after(() => { document.body.innerHTML += '<b class=done>x</b>';\
            after(() => { history.pushState(0, '', '/page#arrived'); ready = 7; }) }) })</script>"),
    );
    let tab = harness.open("page").await;
    let wait = async |arguments| harness.text(&tab, "wait_for", arguments).await;
    assert_eq!(
        wait(json!({ "textGone": ["loading things"] })).await,
        "\"loading things\" is not there."
    );
    let text = wait(json!({ "selector": "b.done" })).await;
    assert!(text.ends_with(" is there."), "{text}");
    let text = wait(json!({ "url": "#arrived" })).await;
    assert!(text.ends_with("/page#arrived"), "{text}");
    assert_eq!(
        wait(json!({ "function": "() => window.ready === 7" })).await,
        "The function returned true."
    );
    harness
        .page_value(&tab, "void fetch('/slow').then((r) => r.text())")
        .await;
    harness.server.wait_for_request("/slow").await;
    let error = harness
        .error(
            &tab,
            "wait_for",
            json!({ "networkIdle": true, "timeout": 900 }),
        )
        .await;
    assert!(
        error.contains("A quiet network did not happen within 900 ms"),
        "{error}"
    );
    gate.open();
    assert_eq!(
        wait(json!({ "networkIdle": true })).await,
        "The network is quiet."
    );
    let error = harness
        .error(&tab, "wait_for", json!({ "selector": "::::" }))
        .await;
    assert!(error.contains("not a CSS selector"), "{error}");
    let error = harness
        .error(
            &tab,
            "wait_for",
            json!({ "function": "() => { throw new Error('no') }" }),
        )
        .await;
    assert!(error.contains("Error: no"), "{error}");
}

/// Spec: multi-browser 64.
#[tokio::test]
async fn a_condition_is_waited_for_over_a_navigation() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/first",
        Response::html("<script>setTimeout(() => location = '/second', 200)</script>"),
    );
    harness
        .server
        .route("/second", Response::html("<script>there = true</script>"));
    let tab = harness.open("first").await;
    let text = harness
        .text(
            &tab,
            "wait_for",
            json!({ "function": "() => window.there" }),
        )
        .await;
    assert_eq!(text, "The function returned true.");
}
