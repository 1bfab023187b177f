//! Secret values on a page, and pictures of it.

use crate::harness::BrowserHarness;
use crate::pick::{frame, pick};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use tabmux_browser::Tab;
use tabmux_browser::tools::{Block, ToolOutput};
use tabmux_testkit::Response;
use tabmux_text::secrets;

const VALUE: &str = "lunar-value-27";

/// Shows the value in text, in parts, in fields, in slots, in a closed shadow root and in frames.
const PAGE: &str = r#"<!doctype html><title>Shown</title>
    <style>
    body { margin: 0; font: 20px monospace }
    .at { position: absolute; left: 50px }
    </style>
    <p class=at style="top: 20px">Got <span id=text>lunar-value-27</span> today</p>
    <p class=at style="top: 60px">Got <span id=parts>lunar-<b>value</b>-<i>27</i></span></p>
    <p class=at style="top: 100px">See ?q=<span id=escaped>lunar%2Dvalue%2D27</span></p>
    <div id=slotted class=at style="top: 140px">lunar-value-27</div>
    <input id=field class=at style="top: 180px; width: 300px" value=lunar-value-27>
    <textarea id=area class=at style="top: 220px; width: 300px" placeholder=lunar-value-27></textarea>
    <select id=list class=at style="top: 300px"><option>One<option selected>lunar-value-27</select>
    <div id=host class=at style="top: 340px"></div>
    <iframe id=same class=at style="top: 400px; height: 60px; border: 3px solid" src=/inner></iframe>
    <iframe id=other class=at style="top: 480px; height: 60px; border: 3px solid"></iframe>
    <input id=password class=at style="top: 560px; width: 300px" type=password value=lunar-value-27>
    <script>host.attachShadow({ mode: "closed" }).innerHTML = "<span>lunar-value-27</span>";
    slotted.attachShadow({ mode: "open" }).innerHTML = "<slot></slot>"</script>"#;

const INNER: &str = "<body style='margin: 0; font: 20px monospace'><span>lunar-value-27</span>";

async fn open(harness: &BrowserHarness) -> Tab {
    secrets::hide([VALUE]).unwrap();
    harness.server.route("/inner", Response::html(INNER));
    harness.server.route("/other", Response::html(INNER));
    let other = harness.server.cross_site_url("other");
    let page = format!("{PAGE}<script>other.src = '{other}'</script>");
    harness.server.route("/shown", Response::html(page));
    let tab = harness.open("shown").await;
    frame(&tab, "/inner").await;
    frame(&tab, "/other").await;
    tab
}

/// The colours of pixels, in rows.
struct Pixels {
    width: usize,
    colours: Vec<[u8; 3]>,
}

impl Pixels {
    async fn of(harness: &BrowserHarness, tab: &Tab, arguments: Value) -> Self {
        let shot = harness.run(tab, "take_screenshot", arguments).await;
        Self::read(&shot.unwrap())
    }

    fn read(shot: &ToolOutput) -> Self {
        let image = shot.blocks.iter().find_map(|block| match block {
            Block::Image { base64, .. } => Some(BASE64_STANDARD.decode(base64).unwrap()),
            Block::Text(_) => None,
        });
        let image = image.expect("a picture");
        let file = std::io::Cursor::new(image);
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut bytes).unwrap();
        let pixels = bytes.chunks(frame.color_type.samples());
        Self {
            width: frame.width as usize,
            colours: pixels.map(|it| [it[0], it[1], it[2]]).collect(),
        }
    }

    /// The different colours in a box.
    fn colours_in(&self, rect: &Value) -> Vec<[u8; 3]> {
        let number = |name: &str| rect[name].as_f64().unwrap() as usize;
        let rows = number("y")..number("y") + number("height");
        let row = |y: usize| {
            let start = y * self.width + number("x");
            &self.colours[start..start + number("width")]
        };
        let mut colours: Vec<_> = rows.flat_map(row).copied().collect();
        colours.sort_unstable();
        colours.dedup();
        colours
    }
}

async fn rect(harness: &BrowserHarness, tab: &Tab, element: &str) -> Value {
    let rect = format!("{element}.getBoundingClientRect().toJSON()");
    harness.page_value(tab, &rect).await
}

const BLACK: [u8; 3] = [0; 3];

#[tokio::test]
async fn shown_secret_values_are_black_in_pictures() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = open(&harness).await;
    let pixels = Pixels::of(&harness, &tab, json!({})).await;
    for element in [
        "text", "parts", "escaped", "slotted", "field", "area", "list", "host",
    ] {
        let rect = rect(&harness, &tab, element).await;
        assert_eq!(pixels.colours_in(&rect), [BLACK], "{element}");
    }
    for element in ["same", "other"] {
        let mut rect = rect(&harness, &tab, element).await;
        let (x, y) = (rect["x"].as_f64().unwrap(), rect["y"].as_f64().unwrap());
        rect = json!({"x": x + 3.0, "y": y + 3.0, "width": 160, "height": 22});
        assert_eq!(pixels.colours_in(&rect), [BLACK], "{element}");
    }
    let dots = rect(&harness, &tab, "password").await;
    assert!(pixels.colours_in(&dots).len() > 1, "dots stay");
    let beside = json!({"x": 400, "y": 0, "width": 500, "height": 600});
    assert_eq!(pixels.colours_in(&beside), [[255; 3]]);
    let uid = pick(&tab, "#text").await;
    let element = Pixels::of(&harness, &tab, json!({ "uid": uid })).await;
    assert!(element.colours.iter().all(|colour| *colour == BLACK));
}

#[tokio::test]
async fn what_cannot_be_covered_is_refused() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = open(&harness).await;
    let refused = [
        ("take_screenshot", json!({"format": "jpeg"})),
        ("take_screenshot", json!({"fullPage": true})),
        ("save_pdf", json!({})),
        ("screencast_start", json!({})),
    ];
    for (tool, arguments) in &refused {
        let error = harness.error(&tab, tool, arguments.clone()).await;
        assert!(
            error.starts_with("The page shows a secret value"),
            "{error}"
        );
    }
    harness
        .page_value(&tab, "document.body.textContent = 'nothing'")
        .await;
    for (tool, arguments) in &refused[..3] {
        harness.text(&tab, tool, arguments.clone()).await;
    }
}

#[tokio::test]
async fn a_page_with_too_much_text_has_no_picture() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = open(&harness).await;
    let long = "document.body.innerHTML = '<p hidden></p>'; \
                document.querySelector('p').textContent = 'long '.repeat(900_000)";
    harness.page_value(&tab, long).await;
    let error = harness.error(&tab, "take_screenshot", json!({})).await;
    assert!(error.starts_with("The page has too much text"), "{error}");
}
