//! evaluate_script: results, failures, and what JSON cannot represent.

use crate::harness::{BrowserHarness, refused};
use crate::pick::{frame, pick, pick_in};
use serde_json::json;
use tabmux_testkit::Response;
use tokio_util::sync::CancellationToken;

/// Spec: multi-browser 68.
#[tokio::test]
async fn results_come_back_as_json() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("fields.html").await;
    for (function, expected) in [
        ("() => 1 + 1", "2"),
        (
            "async () => ({ a: [1, null, 'ü'] })",
            r#"{"a":[1,null,"ü"]}"#,
        ),
        ("() => document.title", "\"Fields\""),
        (
            "function named() { return [...document.querySelectorAll('select')].map((s) => s.id); };",
            r#"["list","many"]"#,
        ),
        ("document.title // an expression", "\"Fields\""),
        ("() => {}", "undefined"),
        ("() => null", "null"),
        ("() => NaN", "NaN"),
        ("() => new Date(0)", "\"1970-01-01T00:00:00.000Z\""),
        ("() => ({ f() {}, x: undefined })", "{}"),
        ("() => '\\ud800'.length", "1"),
    ] {
        let text = harness
            .text(&tab, "evaluate_script", json!({ "function": function }))
            .await;
        assert_eq!(text, expected, "{function}");
    }
}

#[tokio::test]
async fn a_throwing_script_is_an_error() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("fields.html").await;
    for (function, expected) in [
        (
            "() => { throw new TypeError('boom') }",
            "The script failed: TypeError: boom. Correct it and try again; take_snapshot shows what the page has.",
        ),
        (
            "async () => { throw 'a string' }",
            "The script failed: \"a string\". Correct it and try again; take_snapshot shows what the page has.",
        ),
        (
            "() => nothing.here",
            "The script failed: ReferenceError: nothing is not defined. Correct it and try again; take_snapshot shows what the page has.",
        ),
        ("() => {", "The script failed: SyntaxError: "),
    ] {
        let error = harness
            .error(&tab, "evaluate_script", json!({ "function": function }))
            .await;
        assert!(error.starts_with(expected), "{function}: {error}");
    }
}

#[tokio::test]
async fn what_json_cannot_represent_is_an_error_that_says_what_to_return() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("fields.html").await;
    for (function, expected) in [
        (
            "() => document.body",
            "The function returned a DOM node (body), which JSON cannot represent. Return what you want to know of it, such as its textContent instead.",
        ),
        (
            "() => window",
            "The function returned the window, which JSON cannot represent. Return the properties you want to know instead.",
        ),
        (
            "() => () => 1",
            "The function returned a function, which JSON cannot represent. Return the result of calling it instead.",
        ),
        (
            "() => 10n",
            "The function returned the BigInt 10n, which JSON cannot represent. Return String(value) or Number(value) instead.",
        ),
        (
            "() => Symbol('s')",
            "The function returned a symbol, which JSON cannot represent. Return a string instead.",
        ),
        (
            "() => new Map()",
            "The function returned a Map, which JSON cannot represent. Return Array.from(value) instead.",
        ),
        (
            "() => { const a = {}; a.b = { a }; return a }",
            "The result contains a circular reference at b.a, which JSON cannot represent. Return plain data without it instead.",
        ),
        (
            "() => ({ links: [document.body] })",
            "The result contains a DOM node at links[0], which JSON cannot represent. Return what you want to know of it, such as its textContent instead.",
        ),
        (
            "() => [{ n: 1n }]",
            "The result contains a BigInt at [0].n, which JSON cannot represent. Return String(value) or Number(value) instead.",
        ),
    ] {
        let error = harness
            .error(&tab, "evaluate_script", json!({ "function": function }))
            .await;
        assert_eq!(error, expected, "{function}");
    }
}

#[tokio::test]
async fn a_large_result_is_cut_and_says_so() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("fields.html").await;
    // Also if the page lies about the length of its strings.
    let lie = "JSON.stringify = () => ({ length: 1, slice: () => ({ toWellFormed: () => 'x'.repeat(1e6) }) })";
    for function in [
        "() => 'x'.repeat(1e6)",
        "() => ['x'.repeat(1e6)]",
        &format!("() => {{ {lie}; return [] }}"),
    ] {
        let text = harness
            .text(&tab, "evaluate_script", json!({ "function": function }))
            .await;
        assert!(text.len() < 31_000, "{}", text.len());
        assert!(
            text.contains("only the first 30000 are shown"),
            "{function}"
        );
    }
}

#[tokio::test]
async fn elements_are_passed_in_the_pages_own_world_and_frame() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/inside",
        Response::html("<p id=p>inside</p><script>mine = 'frame'</script>"),
    );
    let html = format!(
        "<p id=p>outside</p><script>mine = 'page'; p.extra = 1</script><iframe src='{}'></iframe>",
        harness.server.cross_site_url("inside")
    );
    harness.server.route("/outer", Response::html(html));
    let tab = harness.open("outer").await;
    let inside = frame(&tab, "/inside").await;
    let (out, inn) = (pick(&tab, "#p").await, pick_in(&tab, &inside, "#p").await);
    let function = "(a, b) => [mine, a.textContent, a.extra ?? 0, a === b]";
    let text = harness
        .text(
            &tab,
            "evaluate_script",
            json!({ "function": function, "args": [out, out] }),
        )
        .await;
    assert_eq!(text, r#"["page","outside",1,true]"#);
    let text = harness
        .text(
            &tab,
            "evaluate_script",
            json!({ "function": function, "args": [inn] }),
        )
        .await;
    assert_eq!(text, r#"["frame","inside",0,false]"#);
    let error = harness
        .error(
            &tab,
            "evaluate_script",
            json!({ "function": function, "args": [out, inn] }),
        )
        .await;
    assert!(error.contains("different frames"), "{error}");
}

#[tokio::test]
async fn a_dialog_ends_the_script_call_at_once() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("fields.html").await;
    let text = harness
        .text(
            &tab,
            "evaluate_script",
            json!({ "function": "() => alert('stop')" }),
        )
        .await;
    assert!(text.contains("An alert dialog is open: \"stop\""), "{text}");
    harness
        .text(&tab, "handle_dialog", json!({ "action": "dismiss" }))
        .await;
    assert_eq!(
        harness
            .text(&tab, "evaluate_script", json!({ "function": "() => 1" }))
            .await,
        "1"
    );
}

#[tokio::test]
async fn a_cancelled_loop_ends_and_leaves_a_working_page() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("fields.html").await;
    let cancel = CancellationToken::new();
    let looping = harness.run_until(
        &tab,
        "evaluate_script",
        json!({ "function": "() => { console.log('looping'); for (;;); }" }),
        cancel.clone(),
    );
    let stop = async {
        tab.until(std::time::Duration::from_secs(20), |state| {
            state
                .console
                .iter()
                .any(|message| message.text == "looping")
        })
        .await
        .unwrap();
        cancel.cancel();
    };
    let (ended, ()) = tokio::join!(looping, stop);
    assert!(ended.is_err());
    assert_eq!(
        harness
            .text(&tab, "evaluate_script", json!({ "function": "() => 1" }))
            .await,
        "1"
    );
}

/// Spec: multi-browser 68.
#[tokio::test]
async fn a_function_runs_in_the_page_inside_an_iframe() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness
        .server
        .route("/inner", Response::html("<script>mine = 'inner'</script>"));
    let html = format!(
        "<iframe src=/inner></iframe><iframe id=far src='{}'></iframe><p>no frame</p><script>mine = 'outer'</script>",
        harness.server.cross_site_url("inner")
    );
    harness.server.route("/page", Response::html(html));
    let tab = harness.open("page").await;
    for selector in ["iframe", "#far"] {
        let uid = pick(&tab, selector).await;
        let text = harness
            .text(
                &tab,
                "evaluate_script",
                json!({ "function": "() => mine", "frameUid": uid }),
            )
            .await;
        assert_eq!(text, "\"inner\"", "{selector}");
    }
    let uid = pick(&tab, "p").await;
    let error = harness
        .error(
            &tab,
            "evaluate_script",
            json!({ "function": "() => 1", "frameUid": uid }),
        )
        .await;
    assert!(error.contains("not an iframe"), "{error}");
}

/// Clients that validate calls before sending them must accept both forms.
#[test]
fn the_schema_takes_a_file_instead_of_a_function() {
    let spec = tabmux_browser::tools::find("evaluate_script").unwrap();
    let schema = spec.schema();
    assert_eq!(schema.get("required"), None, "{schema:?}");
    for arguments in [
        json!({ "function": "() => 1" }),
        json!({ "sourcePath": "x.js" }),
    ] {
        let raw = serde_json::value::to_raw_value(&arguments).unwrap();
        assert!(spec.prepare(&raw).is_ok(), "{arguments}");
    }
    let error = refused("evaluate_script", json!({}));
    assert!(error.contains("give `function`, such as"), "{error}");
}
