//! Recording a page: the file plays, and shows what was on the page.

use crate::harness::{BrowserHarness, refused};
use serde_json::json;
use tabmux_testkit::Response;

/// A page that turns green on request, and draws frames all the time.
const PAGE: &str = "<body style='background: rgb(255, 0, 0); margin: 0'><p id=n style='position: fixed; bottom: 0'></p><script>\
    let count = 0; const draw = () => { n.textContent = count++; requestAnimationFrame(draw) }; draw();\
    drawn = (more) => new Promise((done) => { const end = count + more; \
        const look = () => count >= end ? done(count) : requestAnimationFrame(look); look() })</script>";

#[tokio::test]
async fn a_recording_of_the_page_plays_and_shows_its_content() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/page", Response::html(PAGE));
    let tab = harness.open("page").await;
    // The recorded tab is in the background.
    let player = harness.open_url("about:blank").await;
    let text = harness
        .text(&tab, "screencast_start", json!({ "filePath": "film.mp4" }))
        .await;
    assert!(text.starts_with("Recording the page to "), "{text}");
    let again = harness.error(&tab, "screencast_start", json!({})).await;
    assert_eq!(
        again,
        "This tab is already being recorded. Call screencast_stop first."
    );
    harness.page_value(&tab, "drawn(30)").await;
    // Other tools see the page being drawn meanwhile, and do not end the recording.
    harness
        .run(&tab, "take_screenshot", json!({}))
        .await
        .unwrap();
    harness
        .page_value(
            &tab,
            "document.body.style.background = 'rgb(0, 128, 0)'; drawn(60)",
        )
        .await;
    let text = harness.text(&tab, "screencast_stop", json!({})).await;
    assert!(
        text.contains("film.mp4: MP4 with ") && text.contains(" video, "),
        "{text}"
    );

    let film = std::fs::read(harness.files.path().join("film.mp4")).unwrap();
    harness
        .server
        .route("/film.mp4", Response::new(200, "video/mp4", film));
    harness
        .server
        .route("/player", Response::html("<video id=v muted></video>"));
    harness
        .text(
            &player,
            "navigate_page",
            json!({ "url": harness.server.url("player") }),
        )
        .await;
    // The first frame is red, the last one green. A player on a busy machine skips frames while it plays, so the test
    // seeks to each. `seeked` comes before the frame is shown; the frame's own callback does not,
    // but it may be that of the frame before.
    let look = "(async () => { \
        const film = await (await fetch('film.mp4')).blob(); \
        const happens = (name) => new Promise((done, fail) => { v.onerror = () => fail(new Error(v.error.message)); v['on' + name] = done }); \
        const ready = happens('loadeddata'); v.src = URL.createObjectURL(film); await ready; \
        const c = document.createElement('canvas'); c.width = v.videoWidth; c.height = v.videoHeight; \
        const g = c.getContext('2d'); \
        let time = Infinity; \
        const colour = async (at, isIt) => { const shown = new Promise((done) => { \
                const look = (_, { mediaTime }) => isIt(mediaTime) ? done(mediaTime) : v.requestVideoFrameCallback(look); \
                v.requestVideoFrameCallback(look) }); \
            v.currentTime = at; time = await shown; \
            g.drawImage(v, 0, 0); const [r, green] = g.getImageData(c.width / 2, c.height / 2, 1, 1).data; return r > green ? 'red' : 'green' }; \
        const ended = happens('ended'); v.playbackRate = 16; await v.play(); await ended; \
        return [await colour(0, (now) => now < v.duration / 2), await colour(v.duration, (now) => now > time), v.videoWidth > 500] })()";
    assert_eq!(
        harness.page_value(&player, look).await,
        json!(["red", "green", true])
    );
}

#[tokio::test]
async fn a_recording_continues_over_navigations() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/page", Response::html(PAGE));
    let tab = harness.open("page").await;
    harness.text(&tab, "screencast_start", json!({})).await;
    let elsewhere = json!({ "url": harness.server.cross_site_url("page") });
    harness.text(&tab, "navigate_page", elsewhere).await;
    harness.page_value(&tab, "drawn(30)").await;
    let text = harness.text(&tab, "screencast_stop", json!({})).await;
    let place = text.split(" of video to ").nth(1).unwrap();
    let place = place.split(": MP4 with ").next().unwrap();
    assert!(std::fs::metadata(place).unwrap().len() > 1_000, "{text}");
    std::fs::remove_file(place).unwrap();
    // The tab is as before.
    harness
        .run(&tab, "take_screenshot", json!({}))
        .await
        .unwrap();
}

#[tokio::test]
async fn bad_screencast_arguments_are_refused_and_leave_no_file() {
    assert!(
        refused("screencast_start", json!({ "filePath": "film.gif" }))
            .contains("must end with .mp4")
    );
    assert!(
        refused("screencast_stop", json!({ "filePath": "film.mp4" })).contains("unknown field")
    );
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/page", Response::html(PAGE));
    let tab = harness.open("page").await;
    let error = harness.error(&tab, "screencast_stop", json!({})).await;
    assert_eq!(
        error,
        "This tab is not being recorded. Call screencast_start first."
    );
    let error = harness
        .error(
            &tab,
            "screencast_start",
            json!({ "filePath": "../film.mp4" }),
        )
        .await;
    assert!(error.contains("outside"), "{error}");
    // A recording that was never stopped leaves no file.
    harness
        .text(&tab, "screencast_start", json!({ "filePath": "film.mp4" }))
        .await;
    let place = harness.files.path().join("film.mp4");
    assert!(place.exists());
    harness
        .browser
        .close_tab(tab.target(), false)
        .await
        .unwrap();
    drop(tab);
    tabmux_testkit::patiently(
        async {
            while place.exists() {
                tokio::task::yield_now().await;
            }
        },
        || "the file is still there".into(),
    )
    .await;
}
