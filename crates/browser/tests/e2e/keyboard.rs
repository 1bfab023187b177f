//! Typing and pressing keys.

use crate::harness::BrowserHarness;
use crate::pick::pick;
use serde_json::json;
use tabmux_testkit::Response;

#[tokio::test]
async fn text_is_typed_key_by_key_where_the_focus_is() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/keys",
        Response::html(
            "<form onsubmit='sent = i.value; return false'><input id=i value='x'></form><script>keys = [];\
             i.onkeydown = (e) => keys.push([e.key, e.code, e.shiftKey, e.isTrusted].join())</script>",
        ),
    );
    let tab = harness.open("keys").await;
    let uid = pick(&tab, "#i").await;
    harness.text(&tab, "click", json!({ "uid": uid })).await;
    let text = harness
        .text(
            &tab,
            "type_text",
            json!({ "text": "aB é!", "submitKey": "Enter" }),
        )
        .await;
    assert_eq!(text, "Typed into <input#i>.");
    assert_eq!(harness.page_value(&tab, "sent").await, "xaB é!");
    assert_eq!(
        harness.page_value(&tab, "keys").await,
        json!([
            "a,KeyA,false,true",
            "B,KeyB,true,true",
            " ,Space,false,true",
            "!,Digit1,true,true",
            "Enter,Enter,false,true"
        ])
    );
}

#[tokio::test]
async fn typing_without_a_focused_field_says_so() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/game",
        Response::html("<script>heard = ''; onkeydown = (e) => heard += e.key</script>"),
    );
    let tab = harness.open("game").await;
    let text = harness
        .text(&tab, "type_text", json!({ "text": "wasd" }))
        .await;
    assert!(
        text.starts_with("Typed, but no field had the focus"),
        "{text}"
    );
    assert_eq!(harness.page_value(&tab, "heard").await, "wasd");
}

#[tokio::test]
async fn chords_reach_the_page_and_the_editor() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("fields.html").await;
    let uid = pick(&tab, "#text").await;
    harness.text(&tab, "click", json!({ "uid": uid })).await;
    harness.page_value(
        &tab,
        "void addEventListener('keydown', (e) => (chord = [e.key, e.ctrlKey, e.shiftKey].join()))",
    )
    .await;
    harness
        .text(&tab, "press_key", json!({ "key": "Control+A" }))
        .await;
    assert_eq!(
        harness
            .page_value(&tab, "[chord, getSelection().toString()]")
            .await,
        json!(["a,true,false", "old"])
    );
    harness
        .text(&tab, "press_key", json!({ "key": "Backspace" }))
        .await;
    assert_eq!(harness.page_value(&tab, "text.value").await, "");
    harness
        .text(&tab, "press_key", json!({ "key": "Control+Shift+R" }))
        .await;
    assert_eq!(harness.page_value(&tab, "chord").await, "R,true,true");
    harness
        .text(&tab, "press_key", json!({ "key": "Tab" }))
        .await;
    assert_eq!(
        harness.page_value(&tab, "document.activeElement.id").await,
        "short"
    );
}

#[tokio::test]
async fn a_long_text_is_typed_whole() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("fields.html").await;
    let uid = pick(&tab, "#area").await;
    harness
        .text(&tab, "fill", json!({ "uid": uid, "value": "" }))
        .await;
    let text = "All of it, in order. ".repeat(30);
    harness
        .text(&tab, "type_text", json!({ "text": text }))
        .await;
    assert_eq!(harness.page_value(&tab, "area.value").await, text);
    harness
        .text(&tab, "fill", json!({ "uid": uid, "value": "" }))
        .await;
    let text = text.repeat(3);
    harness
        .text(&tab, "type_text", json!({ "text": text }))
        .await;
    assert_eq!(harness.page_value(&tab, "area.value").await, text);
}

#[tokio::test]
async fn keys_go_into_frames_of_other_sites() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness
        .server
        .route("/inside", Response::html("<input id=i>"));
    let inside = harness.server.cross_site_url("inside");
    let html = format!("<iframe src='{inside}'></iframe>");
    harness.server.route("/outer", Response::html(html));
    let tab = harness.open("outer").await;
    let frame = crate::pick::frame(&tab, "/inside").await;
    let uid = crate::pick::pick_in(&tab, &frame, "#i").await;
    harness
        .text(&tab, "fill", json!({ "uid": uid, "value": "filled" }))
        .await;
    let text = harness
        .text(&tab, "type_text", json!({ "text": "+typed" }))
        .await;
    assert_eq!(text, "Typed into <iframe>.");
    let value = json!({ "function": "(field) => field.value", "args": [uid] });
    assert_eq!(
        harness.text(&tab, "evaluate_script", value).await,
        "\"filled+typed\""
    );
}
