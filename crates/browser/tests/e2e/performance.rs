//! Traces of a page that does everything wrong, and their insights.

use crate::harness::BrowserHarness;
use crate::pick::pick;
use serde_json::json;
use tabmux_browser::Tab;
use tabmux_testkit::Response;

/// A page with a blocking style sheet that imports another, a late image without a size, a long task, a shift.
async fn slow_page(harness: &BrowserHarness) -> Tab {
    let pixels = include_bytes!("../../../../fixtures/pixels.png");
    harness.server.route(
        "/s.css",
        Response::new(200, "text/css", "@import '/t.css'; body { margin: 0 }"),
    );
    harness
        .server
        .route("/t.css", Response::new(200, "text/css", "p { color: red }"));
    harness.server.route(
        "/hero.png",
        Response::new(200, "image/png", pixels.to_vec()),
    );
    harness.server.route(
        "/third.js",
        Response::new(200, "text/javascript", "third = 1"),
    );
    let html = format!(
        "<!doctype html><title>Slow</title><link rel=stylesheet href=/s.css><img src=/hero.png style='width:600px'>\
         <p>text</p><button onclick='slowly(250)'>b</button><script src='{}' async></script><script>\
         function slowly(ms) {{ const end = performance.now() + ms; while (performance.now() < end); }}\
         new PerformanceObserver((list, me) => {{ me.disconnect(); slowly(120); const ad = document.createElement('div');\
         ad.style.height = '200px'; document.body.prepend(ad) }}).observe({{ type: 'largest-contentful-paint', buffered: true }})</script>",
        harness.server.cross_site_url("third.js")
    );
    harness.server.route("/page", Response::html(html));
    harness.open("page").await
}

/// Spec: multi-browser 69.
#[tokio::test]
async fn a_trace_shows_the_vitals_and_what_to_improve() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = slow_page(&harness).await;
    let error = harness
        .error(
            &tab,
            "performance_analyze_insight",
            json!({ "insightName": "LongTasks" }),
        )
        .await;
    assert!(error.contains("performance_start_trace"), "{error}");
    let text = harness
        .text(
            &tab,
            "performance_start_trace",
            json!({ "filePath": "trace.json" }),
        )
        .await;
    for part in [
        "Insight set NAVIGATION_0: http://127.0.0.1",
        "LCP (largest content): ",
        "hero.png",
        "time to first byte",
        "FCP (first content): ",
        "CLS (layout shifts): 0.",
        "Long tasks: ",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let file = std::fs::read_to_string(harness.files.path().join("trace.json")).unwrap();
    let trace: serde_json::Value = serde_json::from_str(&file).unwrap();
    assert!(trace["traceEvents"].as_array().unwrap().len() > 100);
    let insight = async |name: &str| {
        harness
            .text(
                &tab,
                "performance_analyze_insight",
                json!({ "insightSetId": "NAVIGATION_0", "insightName": name }),
            )
            .await
    };
    assert!(insight("LongTasks").await.contains("ms"));
    let blocking = insight("RenderBlocking").await;
    assert!(
        blocking.contains("/s.css"),
        "{blocking}\n{text}\n{}",
        insight("NetworkDependencyTree").await
    );
    assert!(insight("NetworkDependencyTree").await.contains("/t.css"));
    assert!(insight("ThirdParties").await.contains("localhost"));
    assert!(insight("DocumentLatency").await.contains("first byte"));
    let shifts = insight("CLSCulprits").await;
    assert!(shifts.contains("moved"), "{shifts}");
    for name in [
        "LCPBreakdown",
        "INPBreakdown",
        "ImageDelivery",
        "FontDisplay",
    ] {
        insight(name).await;
    }
}

/// Spec: multi-browser 69.
#[tokio::test]
async fn a_slow_click_is_reported_with_the_call_that_made_it_slow() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = slow_page(&harness).await;
    let begun = json!({ "reload": false, "autoStop": false });
    let text = harness
        .text(&tab, "performance_start_trace", begun.clone())
        .await;
    assert!(text.contains("performance_stop_trace"), "{text}");
    let error = harness
        .error(&tab, "performance_start_trace", begun.clone())
        .await;
    assert!(error.contains("running already"), "{error}");
    let other = harness.open("page").await;
    let error = harness
        .error(&other, "performance_start_trace", begun)
        .await;
    assert!(error.contains("one at a time"), "{error}");
    let uid = pick(&tab, "button").await;
    harness.text(&tab, "click", json!({ "uid": uid })).await;
    let text = harness
        .text(
            &tab,
            "performance_stop_trace",
            json!({ "filePath": "click.json" }),
        )
        .await;
    assert!(
        text.contains(
            "; click
"
        ),
        "{text}"
    );
    let text = harness
        .text(
            &tab,
            "performance_analyze_insight",
            json!({ "insightName": "INPBreakdown" }),
        )
        .await;
    let handling = text.split("processing ").nth(1).unwrap();
    let handling: u32 = handling.split(' ').next().unwrap().parse().unwrap();
    assert!(handling >= 250 && text.contains("onclick"), "{text}");
    let error = harness
        .error(&tab, "performance_stop_trace", json!({}))
        .await;
    assert!(error.contains("No trace is running"), "{error}");
}

/// A missing font still hides its text while it is requested.
/// Spec: multi-browser 69.
#[tokio::test]
async fn a_font_that_hides_its_text_is_named() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let html = "<!doctype html><title>Fonts</title><style>\
        @font-face { font-family: Hiding; src: url(/hiding.woff2) }\
        @font-face { font-family: Showing; src: url(/showing.woff2); font-display: swap }\
        h1 { font-family: Hiding } p { font-family: Showing }</style><h1>one</h1><p>two</p>";
    harness.server.route("/page", Response::html(html));
    for font in ["/hiding.woff2", "/showing.woff2"] {
        harness
            .server
            .route(font, Response::new(200, "font/woff2", "no font"));
    }
    let tab = harness.open("page").await;
    let file = json!({ "filePath": "fonts.json" });
    harness.text(&tab, "performance_start_trace", file).await;
    let insight = json!({ "insightSetId": "NAVIGATION_0", "insightName": "FontDisplay" });
    let text = harness
        .text(&tab, "performance_analyze_insight", insight)
        .await;
    assert!(
        text.contains("2 web fonts, of which 1 hide their text"),
        "{text}"
    );
    assert!(
        text.contains("/hiding.woff2") && !text.contains("/showing.woff2"),
        "{text}"
    );
}
