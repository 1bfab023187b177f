//! Clicks with other buttons, with modifiers, several in a row, and held ones.

use crate::harness::{BrowserHarness, refused};
use crate::pick::{frame, pick};
use serde_json::json;
use tabmux_browser::bounds::within;
use tabmux_browser::{OriginPolicy, OriginRules, RuledBy, Tab};
use tabmux_testkit::Response;

async fn page_with(harness: &BrowserHarness, html: &str) -> Tab {
    harness.server.route("/page", Response::html(html));
    harness.open("page").await
}

const LOGGED: &str = "<body style='margin:0'><button id=b style='position:absolute;left:20px;top:20px;width:200px;\
     height:80px'>B</button><script>log = []; for (const type of ['click', 'auxclick', 'contextmenu', 'dblclick'])\
     addEventListener(type, (e) => { e.preventDefault(); log.push([e.type, e.button, e.detail, e.ctrlKey + 2 * \
     e.shiftKey + 4 * e.altKey + 8 * e.metaKey].join(' ')) })</script>";

/// Only the server's own address is allowed; under its other name it is another site.
fn policy() -> OriginPolicy {
    OriginPolicy::of([OriginRules {
        by: RuledBy::Flags,
        allowed: vec!["http://127.0.0.1:*".parse().unwrap()],
        blocked: Vec::new(),
    }])
}

#[tokio::test]
async fn a_right_click_opens_the_context_menu() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = page_with(&harness, LOGGED).await;
    let uid = pick(&tab, "#b").await;
    let right = json!({ "uid": uid, "button": "right" });
    assert_eq!(harness.text(&tab, "click", right).await, "Right-clicked.");
    let log = harness.page_value(&tab, "log").await;
    assert!(
        log.as_array()
            .unwrap()
            .contains(&json!("contextmenu 2 0 0")),
        "{log}"
    );
    assert!(!log.to_string().contains("\"click"), "{log}");
    harness.page_value(&tab, "void log.splice(0)").await;
    let at = json!({ "x": 30, "y": 30, "button": "right" });
    let text = harness.text(&tab, "click_at", at).await;
    assert_eq!(text, "Right-clicked on <button#b>.");
    let log = harness.page_value(&tab, "log").await;
    assert!(log.to_string().contains("contextmenu"), "{log}");
}

#[tokio::test]
async fn a_swallowed_context_menu_is_an_error() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let html =
        format!("{LOGGED}<script>b.onpointerdown = b.onmousedown = () => b.remove()</script>");
    let tab = page_with(&harness, &html).await;
    let uid = pick(&tab, "#b").await;
    let right = json!({ "uid": uid, "button": "right" });
    let error = harness.error(&tab, "click", right).await;
    assert!(
        error.contains("no click followed: it is no longer on the page"),
        "{error}"
    );
}

#[tokio::test]
async fn modifiers_and_counts_reach_the_page() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = page_with(&harness, LOGGED).await;
    let uid = pick(&tab, "#b").await;
    let held = json!({ "uid": uid, "modifiers": ["Control", "Shift", "Alt", "Meta"] });
    let text = harness.text(&tab, "click", held).await;
    assert_eq!(text, "Clicked with Control+Shift+Alt+Meta.");
    let three = json!({ "uid": uid, "clickCount": 3 });
    assert_eq!(harness.text(&tab, "click", three).await, "Clicked 3 times.");
    let middle = json!({ "uid": uid, "button": "middle" });
    assert_eq!(harness.text(&tab, "click", middle).await, "Middle-clicked.");
    assert_eq!(
        harness.page_value(&tab, "log").await,
        json!([
            "click 0 1 15",
            "click 0 1 0",
            "click 0 2 0",
            "dblclick 0 2 0",
            "click 0 3 0",
            "auxclick 1 1 0"
        ])
    );
}

#[tokio::test]
async fn a_held_button_is_released_after_its_time() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let html = format!(
        "{LOGGED}<script>b.onpointerdown = (e) => from = e.timeStamp; b.onpointerup = (e) => held = e.timeStamp - from\
         </script>"
    );
    let tab = page_with(&harness, &html).await;
    let uid = pick(&tab, "#b").await;
    let hold = json!({ "uid": uid, "holdMs": 700 });
    let text = harness.text(&tab, "click", hold).await;
    assert_eq!(text, "Clicked, holding the button for 700 ms.");
    let held = harness.page_value(&tab, "held").await;
    assert!(held.as_f64().unwrap() >= 650.0, "{held}");
}

#[tokio::test]
async fn a_held_press_is_not_released_in_a_disallowed_frame() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/bank",
        Response::html("<body onpointerup='parent.postMessage(1, `*`)' onmouseup='parent.postMessage(1, `*`)'>"),
    );
    let html = format!(
        "<body style='margin:0'><button id=b style='position:absolute;left:20px;top:20px;width:200px;height:80px'>B\
         </button><iframe id=bank src='{}' style='position:absolute;left:20px;top:300px;width:200px;height:80px;\
         border:0'></iframe><script>got = 0; onmessage = () => got++;\
         b.onpointerdown = () => bank.style.top = '20px'</script>",
        harness.server.cross_site_url("bank")
    );
    harness.server.route("/page", Response::html(html));
    let tab = harness.open("page").await;
    frame(&tab, "/bank").await;
    let uid = pick(&tab, "#b").await;
    let hold = json!({ "uid": uid, "holdMs": 300 });
    let error = within(policy(), harness.error(&tab, "click", hold)).await;
    assert!(error.contains("a frame of a disallowed site"), "{error}");
    assert_eq!(harness.page_value(&tab, "got").await, 0);
}

#[tokio::test]
async fn a_tab_of_a_modified_click_is_named() {
    let Some(mut harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/next", Response::html("next"));
    let tab = page_with(&harness, "<a id=link href='/next'>next</a>").await;
    harness.appeared().await;
    let uid = pick(&tab, "#link").await;
    for how in [
        json!({ "uid": uid, "button": "middle" }),
        json!({ "uid": uid, "modifiers": ["Control"] }),
    ] {
        let output = harness.run(&tab, "click", how.clone()).await.unwrap();
        let (new, _) = harness.appeared().await;
        assert_eq!(output.opened, [new], "{how}");
    }
}

#[test]
fn click_arguments_have_bounds() {
    for (more, why) in [
        (
            json!({ "clickCount": 0 }),
            "`clickCount` must be between 1 and 10",
        ),
        (
            json!({ "clickCount": 11 }),
            "`clickCount` must be between 1 and 10",
        ),
        (
            json!({ "holdMs": 10_001 }),
            "`holdMs` must be at most 10000",
        ),
        (
            json!({ "holdMs": 6_000, "clickCount": 2 }),
            "`holdMs` times `clickCount` must be at most 10000",
        ),
        (
            json!({ "dblClick": true, "clickCount": 2 }),
            "give either `dblClick` or `clickCount`",
        ),
    ] {
        let mut arguments = json!({ "x": 1, "y": 1 });
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        assert_eq!(
            refused("click_at", arguments),
            format!("Invalid arguments for click_at: {why}.")
        );
    }
    let unknown = refused("click", json!({ "uid": "1", "button": "fourth" }));
    assert!(
        unknown.contains("expected one of `left`, `middle`, `right`"),
        "{unknown}"
    );
}
