//! Typing and pressing keys.

use crate::lab::Lab;
use crate::pick::pick;
use serde_json::json;
use tabmux_testkit::Response;

#[tokio::test]
async fn text_is_typed_key_by_key_where_the_focus_is() {
    let Some(lab) = Lab::start().await else {
        return;
    };
    lab.server.route(
        "/keys",
        Response::html(
            "<form onsubmit='sent = i.value; return false'><input id=i value='x'></form><script>keys = [];\
             i.onkeydown = (e) => keys.push([e.key, e.code, e.shiftKey, e.isTrusted].join())</script>",
        ),
    );
    let tab = lab.open("keys").await;
    let uid = pick(&tab, "#i").await;
    lab.text(&tab, "click", json!({ "uid": uid })).await;
    let text = lab
        .text(
            &tab,
            "type_text",
            json!({ "text": "aB é!", "submitKey": "Enter" }),
        )
        .await;
    assert_eq!(text, "Typed into <input#i>.");
    assert_eq!(lab.page_value(&tab, "sent").await, "xaB é!");
    assert_eq!(
        lab.page_value(&tab, "keys").await,
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
async fn typing_without_a_focused_field_is_not_passed_off_as_filling_one() {
    let Some(lab) = Lab::start().await else {
        return;
    };
    lab.server.route(
        "/game",
        Response::html("<script>heard = ''; onkeydown = (e) => heard += e.key</script>"),
    );
    let tab = lab.open("game").await;
    let text = lab.text(&tab, "type_text", json!({ "text": "wasd" })).await;
    assert!(
        text.starts_with("Typed, but no field had the focus"),
        "{text}"
    );
    assert_eq!(lab.page_value(&tab, "heard").await, "wasd");
}

#[tokio::test]
async fn chords_reach_the_page_and_the_editor() {
    let Some(lab) = Lab::start().await else {
        return;
    };
    let tab = lab.open("fields.html").await;
    let uid = pick(&tab, "#text").await;
    lab.text(&tab, "click", json!({ "uid": uid })).await;
    lab.page_value(
        &tab,
        "void addEventListener('keydown', (e) => (chord = [e.key, e.ctrlKey, e.shiftKey].join()))",
    )
    .await;
    lab.text(&tab, "press_key", json!({ "key": "Control+A" }))
        .await;
    assert_eq!(
        lab.page_value(&tab, "[chord, getSelection().toString()]")
            .await,
        json!(["a,true,false", "old"])
    );
    lab.text(&tab, "press_key", json!({ "key": "Backspace" }))
        .await;
    assert_eq!(lab.page_value(&tab, "text.value").await, "");
    lab.text(&tab, "press_key", json!({ "key": "Control+Shift+R" }))
        .await;
    assert_eq!(lab.page_value(&tab, "chord").await, "R,true,true");
    lab.text(&tab, "press_key", json!({ "key": "Tab" })).await;
    assert_eq!(
        lab.page_value(&tab, "document.activeElement.id").await,
        "short"
    );
}

#[tokio::test]
async fn a_long_text_is_typed_whole() {
    let Some(lab) = Lab::start().await else {
        return;
    };
    let tab = lab.open("fields.html").await;
    let uid = pick(&tab, "#area").await;
    lab.text(&tab, "fill", json!({ "uid": uid, "value": "" }))
        .await;
    let text = "All of it, in order. ".repeat(30);
    lab.text(&tab, "type_text", json!({ "text": text })).await;
    assert_eq!(lab.page_value(&tab, "area.value").await, text);
    lab.text(&tab, "fill", json!({ "uid": uid, "value": "" }))
        .await;
    let text = text.repeat(3);
    lab.text(&tab, "type_text", json!({ "text": text })).await;
    assert_eq!(lab.page_value(&tab, "area.value").await, text);
}

#[tokio::test]
async fn keys_go_into_frames_of_other_sites() {
    let Some(lab) = Lab::start().await else {
        return;
    };
    lab.server.route("/inside", Response::html("<input id=i>"));
    let inside = lab.server.cross_site_url("inside");
    let html = format!("<iframe src='{inside}'></iframe>");
    lab.server.route("/outer", Response::html(html));
    let tab = lab.open("outer").await;
    let frame = crate::pick::frame(&tab, "/inside").await;
    let uid = crate::pick::pick_in(&tab, &frame, "#i").await;
    lab.text(&tab, "fill", json!({ "uid": uid, "value": "filled" }))
        .await;
    let text = lab
        .text(&tab, "type_text", json!({ "text": "+typed" }))
        .await;
    assert_eq!(text, "Typed into <iframe>.");
    let value = json!({ "function": "(field) => field.value", "args": [uid] });
    assert_eq!(
        lab.text(&tab, "evaluate_script", value).await,
        "\"filled+typed\""
    );
}
