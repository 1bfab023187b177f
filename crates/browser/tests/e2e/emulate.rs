//! Emulation, page sizes, and output to files: PDF and heap.

use crate::harness::{BrowserHarness, Capability};
use crate::pick::frame;
use serde_json::json;
use tabmux_cdp::types::browser::{PermissionDescriptor, SetPermission};
use tabmux_testkit::Response;

/// Spec: multi-browser 65.
#[tokio::test]
async fn each_call_changes_only_what_it_names() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/page",
        Response::html("<meta name=viewport content='width=device-width'><p>page</p>"),
    );
    let tab = harness.open("page").await;
    let text = harness
        .text(
            &tab,
            "emulate",
            json!({ "colorScheme": "dark", "timezone": "Asia/Tokyo", "locale": "de-DE" }),
        )
        .await;
    assert_eq!(
        text,
        "Active in this tab: color scheme dark; locale de-DE; timezone Asia/Tokyo."
    );
    let text = harness
        .text(&tab, "emulate", json!({ "userAgent": "Test/1", "extraHttpHeaders": "{\"X-Test\": \"yes\"}", "geolocation": "52.5,13.4", "viewport": "390x844x2,mobile,touch" }))
        .await;
    assert!(
        text.contains("color scheme dark") && text.contains("user agent \"Test/1\""),
        "{text}"
    );
    harness
        .text(&tab, "navigate_page", json!({ "type": "reload" }))
        .await;
    let request = harness.server.wait_for_nth_request("/page", 2).await;
    assert_eq!(request.header("x-test"), Some("yes"));
    assert_eq!(request.header("user-agent"), Some("Test/1"));
    assert!(
        request
            .header("accept-language")
            .unwrap()
            .starts_with("de-DE")
    );
    let seen = harness
        .page_value(&tab, "[matchMedia('(prefers-color-scheme: dark)').matches, Intl.DateTimeFormat().resolvedOptions().timeZone, (1.5).toLocaleString(), navigator.language, navigator.userAgent, innerWidth, devicePixelRatio, navigator.maxTouchPoints]")
        .await;
    assert_eq!(
        seen,
        json!([true, "Asia/Tokyo", "1,5", "de-DE", "Test/1", 390, 2, 5])
    );
    let text = harness
        .text(&tab, "emulate", json!({ "colorScheme": "auto", "timezone": "", "locale": "", "userAgent": "", "extraHttpHeaders": "", "geolocation": "", "viewport": "" }))
        .await;
    assert_eq!(text, "Nothing is emulated in this tab.");
    let seen = harness.page_value(&tab, "[matchMedia('(prefers-color-scheme: dark)').matches, innerWidth, navigator.userAgent.includes('Chrome'), navigator.maxTouchPoints]").await;
    assert_eq!(seen, json!([false, 1000, true, 0]));
}

/// Spec: multi-browser 65.
#[tokio::test]
async fn network_and_processor_are_slowed_down() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/page", Response::html("<p>page</p>"));
    let tab = harness.open("page").await;
    harness
        .text(
            &tab,
            "emulate",
            json!({ "networkConditions": "Offline", "cpuThrottlingRate": 4 }),
        )
        .await;
    assert_eq!(harness.page_value(&tab, "navigator.onLine").await, false);
    let error = harness
        .error(&tab, "navigate_page", json!({ "type": "reload" }))
        .await;
    assert!(error.contains("ERR_INTERNET_DISCONNECTED"), "{error}");
    let text = harness
        .text(
            &tab,
            "emulate",
            json!({ "networkConditions": "No throttling" }),
        )
        .await;
    assert_eq!(text, "Active in this tab: CPU 4 times slower.");
    harness
        .text(
            &tab,
            "navigate_page",
            json!({ "url": harness.server.url("page") }),
        )
        .await;
}

/// Spec: multi-browser 65.
#[tokio::test]
async fn a_page_with_permission_gets_the_emulated_location() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/page", Response::html("<p>page</p>"));
    let tab = harness.open("page").await;
    let grant = SetPermission {
        permission: PermissionDescriptor {
            name: "geolocation".into(),
            ..Default::default()
        },
        setting: "granted".into(),
        ..Default::default()
    };
    // A permission granted this way ends with the connection that granted it.
    let person = harness.as_person(&tab).await;
    person.send(grant).await.unwrap();
    let place = "new Promise((done) => navigator.geolocation.getCurrentPosition(\
                 ({ coords }) => done([coords.latitude, coords.longitude]), (error) => done(error.message)))";
    for (given, seen) in [("52.5,13.4", [52.5, 13.4]), ("-33.9,18.4", [-33.9, 18.4])] {
        harness
            .text(&tab, "emulate", json!({ "geolocation": given }))
            .await;
        assert_eq!(harness.page_value(&tab, place).await, json!(seen));
    }
}

/// Spec: multi-browser 65.
#[tokio::test]
async fn a_slow_network_makes_the_same_request_slow() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/page", Response::html("<p>page</p>"));
    harness
        .server
        .route("/data", Response::text("z".repeat(20_000)));
    let tab = harness.open("page").await;
    let fetch = "(async () => { const start = performance.now(); await (await fetch('/data', { cache: 'no-store' })).text(); \
                 return performance.now() - start })()";
    let mut took = Vec::new();
    for conditions in ["No throttling", "Slow 3G", "No throttling"] {
        let emulate = json!({ "networkConditions": conditions });
        harness.text(&tab, "emulate", emulate).await;
        let millis = harness.page_value(&tab, fetch).await.as_f64().unwrap();
        took.push(millis);
    }
    // 2 s for the latency alone; without it, a few milliseconds on the same machine.
    let (slow, plain) = (took[1], took[0].min(took[2]));
    assert!(slow > 3.0 * plain, "{took:?} ms");
}

/// Spec: multi-browser 65.
#[tokio::test]
async fn a_refused_setting_changes_nothing() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/page", Response::html("<p>page</p>"));
    let tab = harness.open("page").await;
    let error = harness
        .error(
            &tab,
            "emulate",
            json!({ "timezone": "Mars/Base", "viewport": "300x300" }),
        )
        .await;
    assert!(error.contains("imezone"), "{error}");
    assert_eq!(harness.page_value(&tab, "innerWidth").await, 1000);
    let text = harness.text(&tab, "emulate", json!({})).await;
    assert_eq!(text, "Nothing is emulated in this tab.");
}

#[tokio::test]
async fn frames_of_other_sites_are_emulated_too() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness
        .server
        .route("/inner", Response::html("<p>inner</p>"));
    harness.server.route("/page", Response::html(format!("<body><script>add = () => {{ const f = document.createElement('iframe'); f.src = '{}'; document.body.append(f) }}</script>", harness.server.cross_site_url("inner"))));
    let tab = harness.open("page").await;
    harness
        .text(&tab, "emulate", json!({ "timezone": "Asia/Tokyo" }))
        .await;
    harness.page_value(&tab, "add()").await;
    let inner = frame(&tab, "/inner").await;
    let world = tab.world_of(&inner).await.unwrap();
    let zone: String = world
        .call(
            "(() => Intl.DateTimeFormat().resolvedOptions().timeZone)",
            (),
        )
        .await
        .unwrap();
    assert_eq!(zone, "Asia/Tokyo");
}

/// Spec: multi-browser 65.
#[tokio::test]
async fn a_page_is_resized() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/page", Response::html("<p>page</p>"));
    let tab = harness.open("page").await;
    let text = harness
        .text(&tab, "resize_page", json!({ "width": 640, "height": 480 }))
        .await;
    assert_eq!(text, "The page is now 640x480 pixels.");
    assert_eq!(
        harness.page_value(&tab, "[innerWidth, innerHeight]").await,
        json!([640, 480])
    );
}

/// Spec: multi-browser 65.
#[tokio::test]
async fn pdf_and_heap_go_to_files() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/page",
        Response::html("<h1>Print me</h1><script>class Marker {}; kept = new Marker()</script>"),
    );
    let tab = harness.open("page").await;
    let text = harness
        .text(&tab, "save_pdf", json!({ "filePath": "page.pdf" }))
        .await;
    assert!(text.starts_with("Saved the page to "), "{text}");
    let pdf = std::fs::read(harness.files.path().join("page.pdf")).unwrap();
    assert!(pdf.starts_with(b"%PDF-"));
    let heap = json!({ "filePath": "page.heapsnapshot" });
    if !harness.can(Capability::Memory) {
        let error = harness.error(&tab, "take_heapsnapshot", heap).await;
        assert!(
            error
                .contains("cannot inspect a page's memory; work in a browser that tabmux launches"),
            "{error}"
        );
        return;
    }
    harness.text(&tab, "take_heapsnapshot", heap).await;
    let heap = std::fs::read(harness.files.path().join("page.heapsnapshot")).unwrap();
    let heap: serde_json::Value = serde_json::from_slice(&heap).unwrap();
    assert!(
        heap["strings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|it| it == "Marker")
    );
    let error = harness
        .error(&tab, "take_heapsnapshot", json!({ "filePath": "../x" }))
        .await;
    assert!(error.contains("outside"), "{error}");
}

#[tokio::test]
async fn a_released_tab_is_reset() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("fields.html").await;
    let look = "() => [matchMedia('(prefers-color-scheme: dark)').matches, innerWidth, navigator.userAgent]";
    let found = harness
        .text(&tab, "evaluate_script", json!({ "function": look }))
        .await;
    harness
        .text(
            &tab,
            "emulate",
            json!({ "colorScheme": "dark", "viewport": "400x300", "userAgent": "Other/1" }),
        )
        .await;
    harness
        .text(&tab, "route", json!({ "url": "*gone*", "block": true }))
        .await;
    let pretended = harness
        .text(&tab, "evaluate_script", json!({ "function": look }))
        .await;
    assert_eq!(pretended, r#"[true,400,"Other/1"]"#);

    harness.browser.hold(tab.target(), false).await;
    let left = harness
        .text(&tab, "evaluate_script", json!({ "function": look }))
        .await;
    assert_eq!(left, found);
    let other = json!({ "url": "*other*", "block": true });
    let rules = harness.text(&tab, "route", other).await;
    assert!(!rules.contains("gone"), "{rules}");
    let nothing = harness.text(&tab, "emulate", json!({})).await;
    assert_eq!(nothing, "Nothing is emulated in this tab.");
}
