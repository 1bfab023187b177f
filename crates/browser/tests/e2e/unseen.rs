//! Frames of forbidden sites on an allowed page: they are in no picture, and no input goes to them.

use crate::harness::{BrowserHarness, text_of};
use crate::pick::{frame, pick};
use flate2::read::ZlibDecoder;
use serde_json::{Value, json};
use std::io::Read as _;
use tabmux_browser::bounds::within;
use tabmux_browser::tools::Block;
use tabmux_browser::{OriginPolicy, OriginRules, RuledBy, Tab};
use tabmux_testkit::{Response, patiently};

/// Only the server's own address is allowed; under its other name it is another site.
fn policy() -> OriginPolicy {
    OriginPolicy::of([OriginRules {
        by: RuledBy::Flags,
        allowed: vec!["http://127.0.0.1:*".parse().unwrap()],
        blocked: Vec::new(),
    }])
}

/// A green page with a red frame of the other site, directly and inside a frame of its own site.
async fn start(style: &str) -> Option<(BrowserHarness, Tab)> {
    start_with(style, "").await
}

/// The same, with a script that runs before the frames have loaded.
async fn start_with(style: &str, script: &str) -> Option<(BrowserHarness, Tab)> {
    let harness = BrowserHarness::start().await?;
    let red = "<body style='margin:0;background:rgb(255,0,0)'><input id=field autofocus style='width:100%;height:90%'>\
               <script>ondragover = (e) => e.preventDefault(); onpointerdown = onkeydown = oninput = onwheel = ondrop = \
               onmouseover = (e) => parent.postMessage(e.type, `*`)</script>\
               <a href='http://unseen.test/' style='color:rgb(255,0,0)'>link</a>";
    harness.server.route("/red", Response::html(red));
    let url = harness.server.cross_site_url("red");
    let inner = format!(
        "<body style='margin:0;background:rgb(0,255,0)'><iframe src='{url}#inner' style='width:90px;height:60px;\
         border:0'></iframe><script>onmessage = (e) => parent.postMessage(e.data, `*`)</script>"
    );
    harness.server.route("/inner", Response::html(inner));
    let page = format!(
        "<body style='margin:0;background:rgb(0,255,0)'><style>{style}</style><iframe id=red src='{url}#outer' \
         style='position:absolute;left:20px;top:20px;width:200px;height:100px;border:0'></iframe><iframe id=inner \
         src=/inner style='position:absolute;left:300px;top:20px;width:200px;height:100px;border:0'></iframe>\
         <p id=free draggable=true style='position:absolute;left:20px;top:200px;width:100px;height:30px'>free</p>\
         <input id=field style='position:absolute;left:20px;top:300px'>\
         <script>heard = []; onmessage = (e) => heard.push(e.data); free.ondragstart = (e) => e.dataTransfer.setData('text', 'x');\
         {script}</script>"
    );
    harness.server.route("/page", Response::html(page));
    let tab = harness.open("page").await;
    for ending in ["#outer", "#inner"] {
        frame(&tab, ending).await;
    }
    Some((harness, tab))
}

async fn bounded(
    harness: &BrowserHarness,
    tab: &Tab,
    tool: &str,
    arguments: Value,
) -> Result<String, String> {
    let run = within(policy(), harness.run(tab, tool, arguments)).await;
    run.map(|output| text_of(&output))
        .map_err(|error| error.to_string())
}

/// How many red pixels the resulting image of such a call has. Another page counts them.
async fn red_pixels(
    harness: &BrowserHarness,
    tab: &Tab,
    arguments: &Value,
    policy: OriginPolicy,
) -> Value {
    let output = within(
        policy,
        harness.run(tab, "take_screenshot", arguments.clone()),
    )
    .await;
    let output = output.unwrap();
    let picture = output.blocks.iter().find_map(|block| match block {
        Block::Image { base64, mime_type } => Some(format!("data:{mime_type};base64,{base64}")),
        Block::Text(_) => None,
    });
    let count = "(async (picture) => {
        const image = await createImageBitmap(await (await fetch(picture)).blob());
        const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
        canvas.drawImage(image, 0, 0);
        const { data } = canvas.getImageData(0, 0, image.width, image.height);
        let red = 0;
        for (let i = 0; i < data.length; i += 4) if (data[i] > 200 && data[i + 1] < 80 && data[i + 2] < 80) red++;
        return red;
    })";
    harness.server.route("/counter", Response::html("counter"));
    let counter = harness.open("counter").await;
    let picture = json!(picture.unwrap());
    harness
        .page_value(&counter, &format!("{count}({picture})"))
        .await
}

#[tokio::test]
async fn no_picture_shows_a_frame_that_may_not_be_seen() {
    // Also if the page mirrors the frame, or delays hiding it.
    for style in [
        "",
        "iframe { -webkit-box-reflect: below; transition: visibility 99s }",
    ] {
        let Some((harness, tab)) = start(style).await else {
            return;
        };
        let uid = pick(&tab, "body").await;
        for arguments in [
            json!({}),
            json!({ "fullPage": true }),
            json!({ "uid": uid }),
            json!({ "format": "jpeg" }),
        ] {
            let open = OriginPolicy::default();
            assert!(
                red_pixels(&harness, &tab, &arguments, open).await != 0,
                "{arguments}"
            );
            assert_eq!(
                red_pixels(&harness, &tab, &arguments, policy()).await,
                0,
                "{arguments}"
            );
        }
        // The page is unchanged.
        let style = harness.page_value(&tab, "red.getAttribute('style')").await;
        assert!(!style.as_str().unwrap().contains("hidden"), "{style}");
    }
}

#[tokio::test]
async fn a_page_that_shows_the_frame_again_gets_no_picture() {
    let Some((harness, tab)) = start("").await else {
        return;
    };
    let script = "void new MutationObserver(() => red.style.visibility = 'visible').observe(red, { attributes: true })";
    harness.page_value(&tab, script).await;
    let error = bounded(&harness, &tab, "take_screenshot", json!({}))
        .await
        .unwrap_err();
    assert!(
        error.starts_with("The page has a frame of a disallowed site that could not be hidden."),
        "{error}"
    );
}

#[tokio::test]
async fn styles_that_count_for_more_than_the_frames_own_get_no_picture() {
    let wrap = "const host = document.createElement('div'); const root = host.attachShadow({ mode: 'closed' });\
                root.innerHTML = '<style>::slotted(iframe.show) { visibility: visible !important }</style><slot></slot>';\
                document.body.append(host); host.append(red)";
    let Some((harness, tab)) = start_with("", wrap).await else {
        return;
    };
    let error = bounded(&harness, &tab, "take_screenshot", json!({})).await;
    let error = error.unwrap_err();
    assert!(
        error.starts_with("The page has a frame of a disallowed site that could not be hidden"),
        "{error}"
    );
}

#[tokio::test]
async fn nothing_is_recorded_of_a_page_with_such_a_frame() {
    let Some((harness, tab)) = start("").await else {
        return;
    };
    for tool in [
        "screencast_start",
        "performance_start_trace",
        "take_heapsnapshot",
    ] {
        let error = bounded(&harness, &tab, tool, json!({})).await.unwrap_err();
        assert!(
            error.starts_with(
                "The page shows a frame of a disallowed site, so it cannot be recorded."
            ),
            "{tool}: {error}"
        );
    }
    // A recording started by a session that may see the frame is not given to one that may not.
    let begin = json!({ "autoStop": false, "reload": false });
    let free = OriginPolicy::default();
    let begun = within(free, harness.run(&tab, "performance_start_trace", begin)).await;
    begun.unwrap();
    harness
        .page_value(
            &tab,
            "document.querySelectorAll('iframe').forEach((it) => it.remove())",
        )
        .await;
    let error = bounded(&harness, &tab, "performance_stop_trace", json!({}))
        .await
        .unwrap_err();
    assert!(
        error.starts_with("The page showed a frame of a disallowed site"),
        "{error}"
    );
}

#[tokio::test]
async fn no_pdf_shows_a_disallowed_frame() {
    // Also if the page shows its frames in prints only.
    for style in [
        "",
        "@media print { iframe { visibility: visible !important } }",
    ] {
        let Some((harness, tab)) = start(style).await else {
            return;
        };
        let open = pdf(&harness, &tab, OriginPolicy::default()).await;
        assert_eq!(open, Ok(vec![GREEN, RED, LINK]), "without a policy");
        let bounded = pdf(&harness, &tab, policy()).await;
        assert_eq!(bounded, Ok(vec![GREEN]), "{style}");
    }
}

#[tokio::test]
async fn a_frame_shown_for_printing_gets_no_pdf() {
    let Some((harness, tab)) = start("").await else {
        return;
    };
    for script in [
        "onbeforeprint = () => red.style.visibility = 'visible'",
        "onbeforeprint = () => { red.remove(); document.body.append(red) }",
    ] {
        harness.page_value(&tab, &format!("void ({script})")).await;
        let error = pdf(&harness, &tab, policy()).await.unwrap_err();
        assert!(
            error
                .starts_with("The page has a frame of a disallowed site that could not be hidden."),
            "{script}: {error}"
        );
    }
    let place = harness.files.path().join("page.pdf");
    let gone = async {
        while place.exists() {
            tokio::task::yield_now().await;
        }
    };
    patiently(gone, || "the file is still there".to_owned()).await;
}

/// Which of the marks are in a PDF of the tab.
async fn pdf(
    harness: &BrowserHarness,
    tab: &Tab,
    policy: OriginPolicy,
) -> Result<Vec<&'static str>, String> {
    let arguments = json!({ "filePath": "page.pdf", "overwrite": true });
    let saved = within(policy, harness.run(tab, "save_pdf", arguments)).await;
    saved.map_err(|error| error.to_string())?;
    let path = harness.files.path().join("page.pdf");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let text = readable(&bytes);
    let marks = [GREEN, RED, LINK].into_iter();
    Ok(marks.filter(|mark| text.contains(mark)).collect())
}

/// All of a PDF, with what is compressed in it appended.
fn readable(pdf: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(pdf).into_owned();
    let begins = (0..pdf.len()).filter(|at| pdf[..*at].ends_with(b"stream\n"));
    for at in begins {
        let mut stream = Vec::new();
        // A stream that is not compressed is in the text already.
        if ZlibDecoder::new(&pdf[at..])
            .read_to_end(&mut stream)
            .is_ok()
        {
            text += &String::from_utf8_lossy(&stream);
        }
    }
    text
}

#[tokio::test]
async fn a_film_that_showed_such_a_frame_is_withheld() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/red", Response::html("red"));
    let url = harness.server.cross_site_url("red");
    let page = format!(
        "<p id=n></p><script>let count = 0; const draw = () => {{ n.textContent = count++; requestAnimationFrame(draw) }};
         draw(); come = () => {{ red = document.createElement('iframe'); red.src = '{url}'; document.body.append(red) }};
         drawn = () => new Promise((done) => {{ const end = count + 30;
             const look = () => count >= end ? done() : requestAnimationFrame(look); look() }})</script>"
    );
    harness.server.route("/page", Response::html(page));
    let tab = harness.open("page").await;
    let free = OriginPolicy::default();
    let film = json!({ "filePath": "film.mp4" });
    let begun = within(free.clone(), harness.run(&tab, "screencast_start", film)).await;
    begun.unwrap();
    harness.page_value(&tab, "come()").await;
    frame(&tab, "/red").await;
    harness
        .page_value(&tab, "drawn().then(() => red.remove())")
        .await;
    let error = bounded(&harness, &tab, "screencast_stop", json!({})).await;
    let error = error.unwrap_err();
    assert!(
        error.starts_with("The page showed a frame of a disallowed site"),
        "{error}"
    );
    // It can be had by a session that may see the frame.
    let saved = within(free, harness.run(&tab, "screencast_stop", json!({}))).await;
    let saved = text_of(&saved.unwrap());
    assert!(saved.contains("film.mp4: MP4 with "), "{saved}");
}

#[tokio::test]
async fn presses_and_keys_do_not_go_to_such_a_frame() {
    let Some((harness, tab)) = start("").await else {
        return;
    };
    for point in [json!({ "x": 60, "y": 60 }), json!({ "x": 330, "y": 40 })] {
        let error = bounded(&harness, &tab, "click_at", point)
            .await
            .unwrap_err();
        assert!(error.starts_with(AT_POINT), "{error}");
    }
    // A point next to it can be clicked, also in the frame around it.
    bounded(&harness, &tab, "click_at", json!({ "x": 450, "y": 110 }))
        .await
        .unwrap();
    harness
        .page_value(&tab, "void heard.splice(0); red.focus()")
        .await;
    for (tool, arguments) in [
        ("press_key", json!({ "key": "a" })),
        ("type_text", json!({ "text": "abc" })),
    ] {
        let error = bounded(&harness, &tab, tool, arguments).await.unwrap_err();
        assert!(error.starts_with(FOCUS), "{error}");
    }
    assert_eq!(harness.page_value(&tab, "heard").await, json!([]));
    // A session that may see the frame may click it.
    let free = OriginPolicy::default();
    let pressed = within(
        free,
        harness.run(&tab, "click_at", json!({ "x": 60, "y": 60 })),
    );
    pressed.await.unwrap();
    // The frame is of another process, and what it reports comes later.
    let heard = async {
        loop {
            let heard = harness.page_value(&tab, "heard").await;
            if heard.to_string().contains("pointerdown") {
                return;
            }
        }
    };
    patiently(heard, || "the frame to report the press".to_owned()).await;
}

/// Checks that a tool is refused with `error`, and that the frame receives nothing.
async fn refused(harness: &BrowserHarness, tab: &Tab, tool: &str, arguments: Value, error: &str) {
    let told = bounded(harness, tab, tool, arguments.clone()).await;
    let heard = harness.page_value(tab, "heard").await;
    assert_eq!(heard, json!([]), "{tool} {arguments}: {told:?}");
    let told = told.unwrap_err();
    assert!(told.starts_with(error), "{tool} {arguments}: {told}");
}

#[tokio::test]
async fn no_tool_reaches_such_a_frame_by_its_uid() {
    let Some((harness, tab)) = start("").await else {
        return;
    };
    std::fs::write(harness.files.path().join("a.txt"), "aaa").unwrap();
    let (red, free) = (pick(&tab, "#red").await, pick(&tab, "#free").await);
    for (tool, arguments) in [
        ("click", json!({ "uid": red })),
        ("hover", json!({ "uid": red })),
        ("drag", json!({ "from_uid": red, "to_uid": free })),
        ("scroll", json!({ "uid": red, "direction": "down" })),
        ("upload_file", json!({ "uid": red, "filePath": "a.txt" })),
    ] {
        refused(&harness, &tab, tool, arguments, AT_POINT).await;
    }
    let onto = json!({ "from_uid": free, "to_uid": red });
    refused(&harness, &tab, "drag", onto, AT_GOAL).await;
}

#[tokio::test]
async fn nothing_is_dropped_in_such_a_frame_that_came_under_the_pointer() {
    let moves = "ondragover = (e) => { if (e.clientY > 290) red.style = 'position:absolute;left:20px;top:260px;width:200px;height:200px;z-index:9' }";
    let Some((harness, tab)) = start_with("", moves).await else {
        return;
    };
    let (free, field) = (pick(&tab, "#free").await, pick(&tab, "#field").await);
    let arguments = json!({ "from_uid": free, "to_uid": field });
    let told = bounded(&harness, &tab, "drag", arguments).await;
    let heard = harness.page_value(&tab, "heard").await;
    assert!(!heard.to_string().contains("drop"), "{heard} {told:?}");
    assert!(told.clone().unwrap_err().starts_with(AT_GOAL), "{told:?}");
}

#[tokio::test]
async fn keys_do_not_follow_the_focus_into_such_a_frame() {
    let Some((harness, tab)) = start("").await else {
        return;
    };
    let uid = pick(&tab, "#field").await;
    let type_text = json!({ "text": "abcdefghijkl" });
    harness
        .page_value(
            &tab,
            "void (field.onkeydown = () => red.focus(), field.focus())",
        )
        .await;
    refused(&harness, &tab, "type_text", type_text, FOCUS).await;
    // After our script has focused the field.
    harness.page_value(
        &tab,
        "void (field.onkeydown = null, field.blur(), field.onfocus = () => queueMicrotask(() => red.focus()))",
    )
    .await;
    let fill = json!({ "uid": uid, "value": "secret" });
    refused(&harness, &tab, "fill", fill, FOCUS).await;
}

#[tokio::test]
async fn a_closed_shadow_root_does_not_hide_such_a_frame() {
    let wrap = "for (const it of [red, inner]) { const host = document.createElement('div'); document.body.append(host);\
                host.attachShadow({ mode: 'closed' }).append(it) } red = document.querySelector('div')";
    let wrap = format!("const frame = red; {wrap}; focusRed = () => frame.focus()");
    let Some((harness, tab)) = start_with("", &wrap).await else {
        return;
    };
    for point in [json!({ "x": 60, "y": 60 }), json!({ "x": 330, "y": 40 })] {
        refused(&harness, &tab, "click_at", point, AT_POINT).await;
    }
    harness.page_value(&tab, "focusRed()").await;
    let key = json!({ "key": "a" });
    refused(&harness, &tab, "press_key", key, FOCUS).await;
}

/// What only the frame draws in a PDF, and what the page around it draws.
const RED: &str = "1 0 0 rg";
const LINK: &str = "unseen.test";
const GREEN: &str = "0 1 0 rg";
const AT_POINT: &str =
    "At this point is a frame of a disallowed site; nothing was clicked. http://localhost:";
const AT_GOAL: &str =
    "At the drop point is a frame of a disallowed site; nothing was dropped. http://localhost:";
const FOCUS: &str = "The focus is in a frame of a disallowed site";
