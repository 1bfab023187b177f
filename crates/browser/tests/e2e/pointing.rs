//! The wheel at a point, drags along points, and files that are dropped.

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

/// Only the server's own address is allowed; under its other name it is another site.
fn policy() -> OriginPolicy {
    OriginPolicy::of([OriginRules {
        by: RuledBy::Flags,
        allowed: vec!["http://127.0.0.1:*".parse().unwrap()],
        blocked: Vec::new(),
    }])
}

const CANVAS: &str = "<body style='margin:0'><canvas id=c width=400 height=300 style='position:absolute;left:0;top:0'>\
     </canvas><script>turns = []; path = []; let down = false;\
     c.addEventListener('wheel', (e) => { e.preventDefault(); turns.push([e.clientX, e.clientY, e.deltaX, e.deltaY]) });\
     c.onpointerdown = (e) => { down = true; path.push(e.clientX, e.clientY) };\
     c.onpointermove = (e) => { if (down) path.push(e.clientX, e.clientY) };\
     c.onpointerup = (e) => { down = false; path.push('up', e.clientX, e.clientY) }</script>";

#[tokio::test]
async fn the_wheel_is_turned_at_a_point() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = page_with(&harness, CANVAS).await;
    let wheel = json!({ "x": 50, "y": 60, "deltaY": -120, "deltaX": 30 });
    let text = harness.text(&tab, "scroll", wheel).await;
    assert_eq!(text, "Turned the mouse wheel over <canvas#c>.");
    assert_eq!(
        harness.page_value(&tab, "turns").await,
        json!([[50, 60, 30, -120]])
    );
    let error = harness
        .error(&tab, "scroll", json!({ "x": 5000, "y": 60, "deltaY": 1 }))
        .await;
    assert!(error.contains("outside the viewport"), "{error}");
}

#[tokio::test]
async fn a_drag_follows_its_points() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = page_with(&harness, CANVAS).await;
    let points = json!({ "points": [[10, 10], [100, 10], [100, 200]] });
    let text = harness.text(&tab, "drag", points).await;
    assert_eq!(text, "Dragged from <canvas#c> to <canvas#c>.");
    let path = harness.page_value(&tab, "path").await;
    let path = path.as_array().unwrap();
    assert_eq!(path[..2], [json!(10), json!(10)]);
    let pairs: Vec<_> = path.windows(2).collect();
    assert!(pairs.contains(&&[json!(100), json!(10)][..]), "{path:?}");
    assert_eq!(
        path[path.len() - 3..],
        [json!("up"), json!(100), json!(200)]
    );
}

#[tokio::test]
async fn files_are_dropped_onto_a_zone() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    std::fs::write(harness.files.path().join("a.txt"), "aaa").unwrap();
    std::fs::write(harness.files.path().join("b.txt"), "bb").unwrap();
    let html = "<div id=zone style='width:300px;height:100px'>Drop here</div><script>got = []; ended = new Promise(\
                (end) => { zone.ondragover = (e) => e.preventDefault(); zone.ondrop = async (e) => { \
                e.preventDefault(); for (const file of [...e.dataTransfer.files]) got.push(file.name + '=' + await \
                file.text()); end() } })</script>";
    for drop in [json!(true), json!(false)] {
        let tab = page_with(&harness, html).await;
        let uid = pick(&tab, "#zone").await;
        let give = json!({ "uid": uid, "filePaths": ["a.txt", "b.txt"], "drop": drop });
        let text = harness.text(&tab, "upload_file", give).await;
        assert_eq!(text, "Dropped 2 files on the element.");
        assert_eq!(
            harness.page_value(&tab, "ended.then(() => got)").await,
            json!(["a.txt=aaa", "b.txt=bb"])
        );
    }
    // A page that accepts the drag and forgets to do so for the drop keeps its document, too.
    let html = "<div id=zone style='width:300px;height:100px'>Drop here</div><script>ended = new Promise((end) => { \
                zone.ondragover = (e) => e.preventDefault(); zone.ondrop = (e) => end(e.defaultPrevented) })</script>";
    let tab = page_with(&harness, html).await;
    let uid = pick(&tab, "#zone").await;
    let give = json!({ "uid": uid, "filePath": "a.txt", "drop": true });
    harness.text(&tab, "upload_file", give).await;
    assert_eq!(harness.page_value(&tab, "ended").await, true);
}

#[tokio::test]
async fn a_page_that_takes_no_files_keeps_its_document() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    std::fs::write(harness.files.path().join("a.txt"), "aaa").unwrap();
    let tab = page_with(
        &harness,
        "<p id=none>nothing</p><script>drops = 0; ondrop = () => drops++</script>",
    )
    .await;
    let uid = pick(&tab, "#none").await;
    let give = json!({ "uid": uid, "filePath": "a.txt", "drop": true });
    let error = harness.error(&tab, "upload_file", give).await;
    assert!(
        error.contains("takes no files that are dropped on it"),
        "{error}"
    );
    assert_eq!(harness.page_value(&tab, "drops").await, 0);
    let outside = json!({ "uid": uid, "filePath": "/etc/hostname", "drop": true });
    let error = harness.error(&tab, "upload_file", outside).await;
    assert!(error.contains("outside"), "{error}");
}

#[tokio::test]
async fn disallowed_frames_get_no_wheel_drag_or_files() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    std::fs::write(harness.files.path().join("a.txt"), "aaa").unwrap();
    harness.server.route(
        "/bank",
        Response::html(
            "<body><script>for (const type of ['wheel', 'pointerdown', 'pointerup', 'dragenter', 'dragover', 'drop'])\
             addEventListener(type, (e) => { e.preventDefault(); parent.postMessage(type, '*') }, { passive: false })\
             </script>",
        ),
    );
    let html = format!(
        "<body style='margin:0'><div id=zone style='position:absolute;left:20px;top:20px;width:200px;height:80px'>\
         </div><iframe src='{}' style='position:absolute;left:20px;top:20px;width:200px;height:80px;border:0'>\
         </iframe><script>got = []; onmessage = (e) => got.push(e.data)</script>",
        harness.server.cross_site_url("bank")
    );
    harness.server.route("/page", Response::html(html));
    let tab = harness.open("page").await;
    frame(&tab, "/bank").await;
    let uid = pick(&tab, "iframe").await;
    for (tool, arguments) in [
        ("scroll", json!({ "x": 50, "y": 50, "deltaY": 100 })),
        ("drag", json!({ "points": [[50, 50], [400, 400]] })),
        ("drag", json!({ "points": [[400, 400], [50, 50]] })),
        (
            "upload_file",
            json!({ "uid": uid, "filePath": "a.txt", "drop": true }),
        ),
    ] {
        let error = within(policy(), harness.error(&tab, tool, arguments)).await;
        assert!(
            error.contains("a frame of a disallowed site"),
            "{tool}: {error}"
        );
    }
    assert_eq!(harness.page_value(&tab, "got").await, json!([]));
}

#[test]
fn pointing_arguments_are_checked() {
    for (tool, arguments, why) in [
        (
            "scroll",
            json!({ "x": 1, "y": 1 }),
            "turning the wheel needs `x`, `y`, and `deltaX` or `deltaY`",
        ),
        (
            "scroll",
            json!({ "x": 1, "y": 1, "deltaY": 5, "direction": "up" }),
            "give a point and deltas, or a `uid` or `direction`, but not both",
        ),
        (
            "scroll",
            json!({ "x": 1, "y": 1, "deltaY": 10_001 }),
            "deltas must be between -10000 and 10000",
        ),
        (
            "drag",
            json!({ "points": [[1, 1]] }),
            "`points` must have 2 to 50 points",
        ),
        (
            "drag",
            json!({ "from_uid": "1" }),
            "give `from_uid` and `to_uid`, or `points`",
        ),
    ] {
        assert_eq!(
            refused(tool, arguments),
            format!("Invalid arguments for {tool}: {why}.")
        );
    }
}
