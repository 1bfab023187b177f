//! Dragging, clicking a point, uploading files.

use crate::harness::BrowserHarness;
use crate::pick::pick;
use serde_json::json;
use tabmux_browser::Tab;
use tabmux_testkit::Response;

async fn page_with(harness: &BrowserHarness, html: &str) -> Tab {
    harness.server.route("/page", Response::html(html));
    harness.open("page").await
}

/// Spec: multi-browser 63.
#[tokio::test]
async fn an_element_is_dragged_onto_another_with_drag_events() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let html = "<div id=a draggable=true style='width:80px;height:40px;background:red'>a</div>\
                <div style='height:1500px'></div><div id=b style='width:200px;height:100px;background:blue'>b</div>\
                <script>log = []; a.ondragstart = (e) => { log.push('start'); e.dataTransfer.setData('text', 'cargo') };\
                b.ondragover = (e) => e.preventDefault();\
                b.ondrop = (e) => log.push(e.dataTransfer.getData('text'));</script>";
    let tab = page_with(&harness, html).await;
    let (from, to) = (pick(&tab, "#a").await, pick(&tab, "#b").await);
    let text = harness
        .text(&tab, "drag", json!({ "from_uid": from, "to_uid": to }))
        .await;
    assert_eq!(text, "Dragged and dropped.");
    assert_eq!(
        harness.page_value(&tab, "log").await,
        json!(["start", "cargo"])
    );
}

/// Spec: multi-browser 63.
#[tokio::test]
async fn an_element_is_dragged_with_the_mouse() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let html = "<div id=a style='position:absolute;left:10px;top:10px;width:40px;height:40px;background:red'></div>\
                <div id=b style='position:absolute;left:300px;top:200px;width:100px;height:100px'></div>\
                <script>moves = 0; a.onpointerdown = (e) => { a.setPointerCapture(e.pointerId); a.onpointermove = (m) => {\
                moves++; a.style.left = m.clientX + 'px'; a.style.top = m.clientY + 'px' } };\
                a.onpointerup = (e) => { a.onpointermove = null; at = [e.clientX, e.clientY] }</script>";
    let tab = page_with(&harness, html).await;
    let (from, to) = (pick(&tab, "#a").await, pick(&tab, "#b").await);
    harness
        .text(&tab, "drag", json!({ "from_uid": from, "to_uid": to }))
        .await;
    assert_eq!(harness.page_value(&tab, "at").await, json!([350, 250]));
    assert!(harness.page_value(&tab, "moves").await.as_u64().unwrap() >= 8);
}

#[tokio::test]
async fn a_drop_that_misses_its_target_is_reported() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let html = "<body style='margin:0'><div id=a draggable=true style='width:80px;height:40px'>a</div>\
                <div id=b style='position:absolute;left:300px;top:200px;width:100px;height:100px'>b</div>\
                <div id=c style='position:absolute;left:300px;top:400px;width:100px;height:100px'>c</div>\
                <script>drops = []; a.ondragstart = (e) => e.dataTransfer.setData('text', 'cargo'); b.ondragover = () => { b.style.top = '400px'; c.style.top = '200px' };\
                ondragenter = ondragover = (e) => e.preventDefault(); ondrop = (e) => drops.push(e.target.id)</script>";
    let tab = page_with(&harness, html).await;
    let (from, to) = (pick(&tab, "#a").await, pick(&tab, "#b").await);
    let drag = json!({ "from_uid": from, "to_uid": to });
    let text = harness.text(&tab, "drag", drag.clone()).await;
    assert_eq!(harness.page_value(&tab, "drops").await, json!(["c"]));
    assert!(text.contains("<div#c>"), "{text}");
    assert_eq!(
        harness.text(&tab, "drag", drag).await,
        "Dragged and dropped."
    );
    // A frame that moved there gets the drop, and the target's document does not even see it.
    let frame = "const f = document.createElement('iframe'); f.style = 'position:absolute;left:0;top:0;width:900px;\
                 height:900px;pointer-events:none'; document.body.append(f);\
                 addEventListener('dragover', (e) => { if (e.clientY > 400) f.style.pointerEvents = '' })";
    harness
        .page_value(&tab, &format!("void (() => {{ {frame} }})()"))
        .await;
    let drag = json!({ "from_uid": from, "to_uid": to });
    let error = harness.error(&tab, "drag", drag).await;
    assert!(error.contains("<iframe>"), "{error}");
}

#[tokio::test]
async fn an_unreachable_drop_target_releases_the_button() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let html = "<div id=a>a</div><div id=b style='display:none'>b</div><script>ups = 0; onmouseup = () => ups++</script>";
    let tab = page_with(&harness, html).await;
    let (from, to) = (pick(&tab, "#a").await, pick(&tab, "#b").await);
    let error = harness
        .error(&tab, "drag", json!({ "from_uid": from, "to_uid": to }))
        .await;
    assert!(error.contains("not visible"), "{error}");
    assert_eq!(harness.page_value(&tab, "ups").await, 1);
}

/// Spec: multi-browser 63.
#[tokio::test]
async fn a_point_is_clicked_and_the_element_there_is_named() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let html = "<canvas width=200 height=100 style='position:absolute;left:0;top:0' \
                onclick='at = [event.clientX, event.clientY]'></canvas>";
    let tab = page_with(&harness, html).await;
    let text = harness
        .text(&tab, "click_at", json!({ "x": 42, "y": 24 }))
        .await;
    assert!(
        text.starts_with("Clicked on ") && text.contains("canvas"),
        "{text}"
    );
    assert_eq!(harness.page_value(&tab, "at").await, json!([42, 24]));
    let error = harness
        .error(&tab, "click_at", json!({ "x": 5000, "y": 24 }))
        .await;
    assert!(error.contains("outside the viewport"), "{error}");
}

/// Spec: multi-browser 63.
#[tokio::test]
async fn files_of_the_client_are_given_to_the_page() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    std::fs::write(harness.files.path().join("a.txt"), "aaa").unwrap();
    std::fs::write(harness.files.path().join("b.txt"), "bb").unwrap();
    let html = "<input type=file id=one><input type=file multiple id=many hidden>\
                <button onclick='many.click()'>Pick</button><p id=none>nothing</p><script>got = '';\
                for (const it of document.querySelectorAll('input')) it.onchange = async () => {\
                got = [...it.files].map((f) => f.name).join(); text = await it.files[0].text() }</script>";
    let tab = page_with(&harness, html).await;
    let uid = pick(&tab, "#one").await;
    let text = harness
        .text(
            &tab,
            "upload_file",
            json!({ "uid": uid, "filePath": "a.txt" }),
        )
        .await;
    assert_eq!(text, "Gave the file to the page.");
    assert_eq!(harness.page_value(&tab, "got").await, "a.txt");
    let error = harness
        .error(
            &tab,
            "upload_file",
            json!({ "uid": uid, "filePaths": ["a.txt", "b.txt"] }),
        )
        .await;
    assert!(error.contains("one file only"), "{error}");
    let error = harness
        .error(
            &tab,
            "upload_file",
            json!({ "uid": uid, "filePath": "/etc/hostname" }),
        )
        .await;
    assert!(error.contains("outside"), "{error}");
    let uid = pick(&tab, "button").await;
    let text = harness
        .text(
            &tab,
            "upload_file",
            json!({ "uid": uid, "filePaths": ["a.txt", "b.txt"] }),
        )
        .await;
    assert_eq!(text, "Gave 2 files to the page.");
    assert_eq!(harness.page_value(&tab, "got").await, "a.txt,b.txt");
    let uid = pick(&tab, "#none").await;
    let error = harness
        .error(
            &tab,
            "upload_file",
            json!({ "uid": uid, "filePath": "a.txt" }),
        )
        .await;
    assert!(
        error.contains("opens no file chooser, and it takes no files"),
        "{error}"
    );
}
