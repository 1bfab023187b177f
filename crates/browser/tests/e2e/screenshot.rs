//! Screenshots: of the requested part, within the size limit, also of background tabs.

use crate::harness::{BrowserHarness, text_of};
use crate::pick::{frame, pick, pick_in};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use tabmux_browser::Tab;
use tabmux_browser::tools::{Block, ToolOutput};
use tabmux_testkit::Response;

async fn shoot(harness: &BrowserHarness, tab: &Tab, arguments: Value) -> ToolOutput {
    harness
        .run(tab, "take_screenshot", arguments)
        .await
        .unwrap()
}

fn picture(output: &ToolOutput) -> Vec<u8> {
    let image = output.blocks.iter().find_map(|block| match block {
        Block::Image { base64, .. } => Some(base64),
        Block::Text(_) => None,
    });
    BASE64_STANDARD.decode(image.expect("a picture")).unwrap()
}

/// Width and height from a PNG's header.
fn size(png: &[u8]) -> (u32, u32) {
    assert_eq!(&png[1..4], b"PNG");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

fn coloured(harness: &BrowserHarness) {
    harness.server.route(
        "/coloured",
        Response::html(
            "<!doctype html><body style='margin: 0; height: 3000px'><div id=d style='position: absolute; top: 2000px; \
             left: 50px; width: 200px; height: 100px; background: lime'></div>",
        ),
    );
}

/// Spec: multi-browser 62.
#[tokio::test]
async fn the_visible_part_the_whole_page_and_an_element_have_their_own_sizes() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    coloured(&harness);
    let tab = harness.open("coloured").await;
    let visible = shoot(&harness, &tab, json!({})).await;
    assert_eq!(size(&picture(&visible)), (1000, 700));
    assert_eq!(text_of(&visible), "The picture is 1000 × 700.");
    let element = shoot(&harness, &tab, json!({ "uid": pick(&tab, "#d").await })).await;
    assert_eq!(size(&picture(&element)), (200, 100));
    let whole = shoot(&harness, &tab, json!({ "fullPage": true })).await;
    assert_eq!(
        text_of(&whole),
        "The picture is 523 × 1568, scaled from 1000 × 3000."
    );
    let (width, height) = size(&picture(&whole));
    assert!(
        height <= 1568 && width.abs_diff(523) <= 1,
        "{width} × {height}"
    );
}

#[tokio::test]
async fn other_formats_and_files_are_written_where_asked() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    coloured(&harness);
    let tab = harness.open("coloured").await;
    let jpeg = shoot(&harness, &tab, json!({ "format": "jpeg", "quality": 50 })).await;
    assert_eq!(&picture(&jpeg)[..3], b"\xff\xd8\xff");
    let webp = shoot(&harness, &tab, json!({ "format": "webp" })).await;
    assert_eq!(&picture(&webp)[8..12], b"WEBP");
    let saved = shoot(
        &harness,
        &tab,
        json!({ "fullPage": true, "filePath": "page.png" }),
    )
    .await;
    let place = harness
        .files
        .path()
        .canonicalize()
        .unwrap()
        .join("page.png");
    assert_eq!(
        text_of(&saved),
        format!("The picture is 1000 × 3000. Saved to {}.", place.display())
    );
    assert_eq!(size(&std::fs::read(place).unwrap()), (1000, 3000));
    let error = harness
        .error(
            &tab,
            "take_screenshot",
            json!({ "filePath": "/etc/page.png" }),
        )
        .await;
    assert!(
        error.starts_with("/etc/page.png cannot be written"),
        "{error}"
    );
}

#[tokio::test]
async fn an_element_in_a_frame_of_another_site_is_found() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/inside",
        Response::html("<body style='margin: 0; height: 3000px'><div id=d style='margin-top: 1000px; height: 40px; background: lime'>"),
    );
    let html = format!(
        "<body style='height: 3000px'><iframe style='margin: 900px 0 0 90px; border: 5px solid; width: 200px' src='{}'></iframe>",
        harness.server.cross_site_url("inside")
    );
    harness.server.route("/outer", Response::html(html));
    let tab = harness.open("outer").await;
    let inside = frame(&tab, "/inside").await;
    let uid = pick_in(&tab, &inside, "#d").await;
    let path = harness.files.path().join("element.png");
    let arguments = json!({ "uid": uid, "format": "png", "filePath": path });
    shoot(&harness, &tab, arguments).await;
    // An image for a file is compressed as well as Chrome can.
    let png = std::fs::read(path).unwrap();
    assert_eq!(size(&png).1, 40);
    // A single colour compresses to almost nothing; anything else in the image would not.
    assert!(png.len() < 300, "{} bytes", png.len());
}

#[tokio::test]
async fn ten_background_tabs_are_captured_in_parallel() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    coloured(&harness);
    let mut tabs = Vec::new();
    for _ in 0..10 {
        tabs.push(harness.open("coloured").await);
    }
    let pictures = tabs.iter().map(|tab| shoot(&harness, tab, json!({})));
    for output in futures_util::future::join_all(pictures).await {
        assert_eq!(size(&picture(&output)), (1000, 700));
    }
}

#[tokio::test]
async fn a_page_too_long_to_be_read_when_scaled_goes_to_a_file() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/endless",
        Response::html("<body style='margin: 0; height: 30000px; background: lime'>"),
    );
    let tab = harness.open("endless").await;
    let output = shoot(&harness, &tab, json!({ "fullPage": true })).await;
    let text = text_of(&output);
    assert!(
        text.starts_with(
            "The picture is 1000 × 16000. It does not show the whole page. Saved to /"
        ),
        "{text}"
    );
    let place = text
        .split("Saved to ")
        .nth(1)
        .unwrap()
        .split(". It is")
        .next()
        .unwrap();
    assert_eq!(size(&std::fs::read(place).unwrap()), (1000, 16_000));
    std::fs::remove_file(place).unwrap();
}

#[tokio::test]
async fn a_picture_that_fits_only_when_packed_well_is_packed_well() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let style =
        "height: 1500px; background: repeating-radial-gradient(circle, red, blue 37px, red 90px)";
    let html = format!("<!doctype html><html style='{style}'>");
    harness.server.route("/rings", Response::html(html));
    let tab = harness.open("rings").await;
    let whole = shoot(&harness, &tab, json!({ "fullPage": true })).await;
    let bytes = picture(&whole);
    assert_eq!(size(&bytes), (1000, 1500));
    // With quick compression it has 1.2 MB.
    assert!(bytes.len() < 1_000_000, "{} bytes", bytes.len());
}

const MARKED: &str = "<body style='margin:0;font:16px sans-serif;background:#fff'><h1 style='margin:20px'>Orders</h1>\
     <button id=save style='position:absolute;left:40px;top:100px;width:200px;height:60px'>Save</button>\
     <a id=help href='/x' style='position:absolute;left:300px;top:100px;width:80px;height:20px'>Help</a>\
     <input aria-label=Name style='position:absolute;left:40px;top:200px;width:300px;height:30px'>\
     <button id=hidden style='position:absolute;left:500px;top:100px;width:90px;height:40px'>Hidden</button>\
     <div style='position:absolute;left:480px;top:80px;width:150px;height:90px;background:#ddd'>cover</div>\
     <button style='position:absolute;left:40px;top:5000px'>Far</button>\
     <iframe srcdoc='<body style=margin:0><button style=width:100px;height:40px>Inner</button>' \
     style='position:absolute;left:40px;top:300px;width:200px;height:80px;border:0'></iframe>";

#[tokio::test]
async fn marks_name_what_can_be_pressed() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/marked", Response::html(MARKED));
    let tab = harness.open("marked").await;
    let html = "document.documentElement.outerHTML";
    let before = harness.page_value(&tab, html).await;
    let marks = json!({ "marks": "interactive", "filePath": "marked.png" });
    let text = harness.text(&tab, "take_screenshot", marks).await;
    assert_eq!(
        harness.page_value(&tab, html).await,
        before,
        "the page is unchanged"
    );
    let save = harness.uid(&tab, "button \"Save\"").await;
    let lines: Vec<_> = text.lines().skip(1).collect();
    assert_eq!(
        lines[0],
        format!("{save} button \"Save\" 40,100,200,60"),
        "{text}"
    );
    for (part, place) in [
        ("link \"Help\"", "300,100,80,20"),
        ("\"Name\"", " 40,200,"),
        ("\"Inner\"", "40,300,100,40"),
    ] {
        let is_there = |line: &&&str| line.contains(part) && line.contains(place);
        assert_eq!(lines.iter().filter(is_there).count(), 1, "{part} in {text}");
    }
    assert!(!text.contains("Hidden") && !text.contains("Far"), "{text}");
    let plain = json!({ "filePath": "plain.png" });
    harness.text(&tab, "take_screenshot", plain).await;
    let file = |name: &str| std::fs::read(harness.files.path().join(name)).unwrap();
    assert_ne!(file("marked.png"), file("plain.png"));
    if let Ok(folder) = std::env::var("TABMUX_KEEP_PICTURES") {
        std::fs::write(format!("{folder}/marked.png"), file("marked.png")).unwrap();
    }
    let one = json!({ "marks": [save] });
    let output = harness.run(&tab, "take_screenshot", one).await.unwrap();
    let text = text_of(&output);
    assert!(text.ends_with("40,100,200,60"), "{text}");
    assert_eq!(output.blocks.len(), 2);
}

#[test]
fn marks_need_the_viewport_and_png() {
    let refused = crate::harness::refused;
    for more in [json!({ "fullPage": true }), json!({ "uid": "1_1" })] {
        let mut arguments = json!({ "marks": "interactive" });
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let why = refused("take_screenshot", arguments);
        assert!(why.contains("marks need the viewport"), "{why}");
    }
    let why = refused(
        "take_screenshot",
        json!({ "marks": "interactive", "format": "jpeg" }),
    );
    assert!(why.contains("png only"), "{why}");
    let why = refused("take_screenshot", json!({ "marks": [] }));
    assert!(why.contains("1 to 60 uids"), "{why}");
}
