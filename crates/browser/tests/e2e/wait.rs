//! wait_for and scroll.

use crate::lab::Lab;
use crate::pick::pick;
use serde_json::json;
use tabmux_testkit::Response;

#[tokio::test]
async fn a_text_that_is_there_is_found_at_once_and_one_that_comes_later_when_it_comes() {
    let Some(lab) = Lab::start().await else {
        return;
    };
    lab.server
        .route("/page", Response::html("<p>Hello <b>World</b></p>"));
    let tab = lab.open("page").await;
    let text = lab
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
        lab.page_value(&tab, add).await
    };
    let waiting = lab.text(&tab, "wait_for", json!({ "text": ["later"] }));
    let (text, _) = tokio::join!(waiting, later);
    assert_eq!(text, "\"later\" is there.");
}

#[tokio::test]
async fn a_text_that_never_comes_is_an_error_at_the_timeout() {
    let Some(lab) = Lab::start().await else {
        return;
    };
    lab.server
        .route("/page", Response::html("<p hidden>secret</p>"));
    let tab = lab.open("page").await;
    let error = lab
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
    let Some(lab) = Lab::start().await else {
        return;
    };
    lab.server
        .route("/inside", Response::html("<p>In the frame</p>"));
    let html = format!(
        "<iframe src='{}'></iframe>",
        lab.server.cross_site_url("inside")
    );
    lab.server.route("/next", Response::html(html));
    let tab = lab.open_url("about:blank").await;
    let next = lab.server.url("next");
    let waiting = lab.text(
        &tab,
        "wait_for",
        json!({ "text": ["in the frame"], "timeout": 20_000 }),
    );
    let going = lab.text(&tab, "navigate_page", json!({ "url": next }));
    let (text, _) = tokio::join!(waiting, going);
    assert_eq!(text, "\"in the frame\" is there.");
}

#[tokio::test]
async fn scrolling_tells_how_far_it_went_and_what_is_left() {
    let Some(lab) = Lab::start().await else {
        return;
    };
    lab.server.route(
        "/long",
        Response::html(
            "<!doctype html><body style='margin: 0; height: 2700px'><div id=d style='height: 100px; overflow: auto'>\
             <p id=p style='margin: 0; height: 500px'></div><canvas id=c onwheel='turned = event.deltaY'></canvas>",
        ),
    );
    let tab = lab.open("long").await;
    let scroll = async |arguments| lab.text(&tab, "scroll", arguments).await;
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
    let error = lab
        .error(&tab, "scroll", json!({ "direction": "left" }))
        .await;
    assert_eq!(error, "Nothing on this page can be scrolled that way.");
}

#[tokio::test]
async fn what_listens_to_the_wheel_gets_it() {
    let Some(lab) = Lab::start().await else {
        return;
    };
    lab.server.route(
        "/map",
        Response::html(
            "<canvas id=c></canvas><script>c.onwheel = (e) => turned = e.deltaY</script>",
        ),
    );
    let tab = lab.open("map").await;
    let map = pick(&tab, "#c").await;
    let text = lab
        .text(
            &tab,
            "scroll",
            json!({ "uid": map, "direction": "up", "amount": 120 }),
        )
        .await;
    assert!(text.contains("turned the mouse wheel"), "{text}");
    assert_eq!(lab.page_value(&tab, "turned").await, -120);
}

/// Spec: multi-browser 64.
#[tokio::test]
async fn every_kind_of_waiting_ends_when_it_comes() {
    let Some(lab) = Lab::start().await else {
        return;
    };
    let gate = lab.server.hold("/slow", Response::text("late"));
    lab.server.route(
        "/page",
        Response::html("<p id=p>Loading things</p><script>const after = (f) => setTimeout(f, 100);\
            after(() => { p.remove(); after(() => { document.body.innerHTML += '<b class=done>x</b>';\
            after(() => { history.pushState(0, '', '/page#arrived'); ready = 7; }) }) })</script>"),
    );
    let tab = lab.open("page").await;
    let wait = async |arguments| lab.text(&tab, "wait_for", arguments).await;
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
    lab.page_value(&tab, "void fetch('/slow').then((r) => r.text())")
        .await;
    lab.server.wait_for_request("/slow").await;
    let error = lab
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
    let error = lab
        .error(&tab, "wait_for", json!({ "selector": "::::" }))
        .await;
    assert!(error.contains("not a CSS selector"), "{error}");
    let error = lab
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
    let Some(lab) = Lab::start().await else {
        return;
    };
    lab.server.route(
        "/first",
        Response::html("<script>setTimeout(() => location = '/second', 200)</script>"),
    );
    lab.server
        .route("/second", Response::html("<script>there = true</script>"));
    let tab = lab.open("first").await;
    let text = lab
        .text(
            &tab,
            "wait_for",
            json!({ "function": "() => window.there" }),
        )
        .await;
    assert_eq!(text, "The function returned true.");
}
