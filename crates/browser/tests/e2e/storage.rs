//! Cookies, local and session storage, and the file with all of them.

use crate::harness::{BrowserHarness, refused};
use serde_json::{Value, json};
use tabmux_testkit::Response;

#[tokio::test]
async fn cookies_are_seen_set_and_deleted() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/page",
        Response::html("<p>page</p>").with_header("Set-Cookie", "id=7; HttpOnly; SameSite=Strict"),
    );
    let tab = harness.open("page").await;
    let text = harness.text(&tab, "cookies", json!({})).await;
    assert_eq!(
        text,
        "1 to 1 of 1 cookies.\nid=7; Domain=127.0.0.1; Path=/; HttpOnly; SameSite=Strict"
    );
    let text = harness
        .text(
            &tab,
            "cookies",
            json!({ "name": "theme", "value": "dark", "expires": 4_000_000_000_u32 }),
        )
        .await;
    assert_eq!(text, "Set the cookie theme.");
    assert_eq!(
        harness.page_value(&tab, "document.cookie").await,
        "theme=dark"
    );
    let long = "x".repeat(3_000);
    harness
        .text(&tab, "cookies", json!({ "name": "long", "value": long }))
        .await;
    let list = harness.text(&tab, "cookies", json!({})).await;
    assert!(
        list.contains("… (3000 bytes; give its name to see more)") && list.len() < 800,
        "{list}"
    );
    let one = harness
        .text(&tab, "cookies", json!({ "name": "long" }))
        .await;
    assert!(one.contains(&long), "{one}");
    let text = harness
        .text(&tab, "cookies", json!({ "name": "id", "delete": true }))
        .await;
    assert_eq!(text, "Deleted 1 cookie.");
    let text = harness
        .text(&tab, "cookies", json!({ "delete": true }))
        .await;
    assert_eq!(text, "Deleted 2 cookies.");
    assert_eq!(
        harness.text(&tab, "cookies", json!({})).await,
        "There are no cookies."
    );
}

#[tokio::test]
async fn storages_are_seen_set_and_deleted() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    // The page redefines globals; that has no effect here.
    let html = "<script>localStorage.setItem('a', 'one'); localStorage.setItem('b', 'y'.repeat(50_000)); \
                localStorage.setItem('odd\\ud800', '\\n[evil] \\ud800'); \
                Storage.prototype.getItem = () => 'forged'; delete window.localStorage</script>";
    harness.server.route("/page", Response::html(html));
    let tab = harness.open("page").await;
    let list = harness.text(&tab, "local_storage", json!({})).await;
    let lines: Vec<_> = list.lines().collect();
    assert_eq!(lines.len(), 4, "{list}");
    assert_eq!(lines[0], "1 to 3 of 3 entries.");
    assert_eq!(lines[1], "a = one");
    assert!(lines[2].ends_with("y… (50000 characters)"), "{list}");
    assert_eq!(lines[3], "odd\u{fffd} = [evil] \u{fffd}");
    let whole = harness
        .text(&tab, "local_storage", json!({ "key": "b" }))
        .await;
    assert!(
        whole.len() < 21_000
            && whole.ends_with("… 50000 characters in all; save_storage writes all of them."),
        "{}",
        whole.len()
    );
    harness
        .text(
            &tab,
            "session_storage",
            json!({ "key": "__proto__", "value": "s" }),
        )
        .await;
    assert_eq!(
        harness
            .text(&tab, "session_storage", json!({ "key": "__proto__" }))
            .await,
        "s"
    );
    let text = harness
        .text(&tab, "local_storage", json!({ "key": "a", "delete": true }))
        .await;
    assert_eq!(text, "Deleted 1 entry.");
    let error = harness
        .error(&tab, "local_storage", json!({ "key": "a" }))
        .await;
    assert_eq!(
        error,
        "The page's local storage has no such entry. Omit the key to list all entries."
    );
    let huge = json!({ "key": "huge", "value": "z".repeat(6_000_000) });
    let error = harness.error(&tab, "local_storage", huge).await;
    assert!(
        error.contains("quota") && error.ends_with("Nothing was changed."),
        "{error}"
    );
    let text = harness
        .text(&tab, "local_storage", json!({ "delete": true }))
        .await;
    assert_eq!(text, "Deleted 2 entries.");
}

#[tokio::test]
async fn what_a_site_keeps_is_saved_and_loaded_again() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/page", Response::html("<p>page</p>"));
    harness.server.route(
        "/login",
        Response::html("<script>localStorage.user = 'ann'; sessionStorage.step = '2'</script>")
            .with_header("Set-Cookie", "session=s3cret; HttpOnly; Max-Age=1000"),
    );
    let tab = harness.open("login").await;
    let text = harness
        .text(&tab, "save_storage", json!({ "filePath": "state.json" }))
        .await;
    assert!(
        text.starts_with(
            "Saved 1 cookies, 1 entries of local storage and 1 of session storage to "
        ),
        "{text}"
    );
    let place = harness.files.path().join("state.json");
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&place).unwrap().permissions());
    assert_eq!(mode & 0o077, 0, "it holds secrets");
    let state: Value = serde_json::from_slice(&std::fs::read(&place).unwrap()).unwrap();
    assert_eq!(state["cookies"][0]["name"], "session");
    assert_eq!(state["cookies"][0]["httpOnly"], true);
    assert_eq!(
        state["origins"][0]["localStorage"],
        json!([{ "name": "user", "value": "ann" }])
    );
    harness
        .text(&tab, "cookies", json!({ "delete": true }))
        .await;
    harness
        .text(&tab, "local_storage", json!({ "delete": true }))
        .await;

    let fresh = harness.open("page").await;
    let text = harness
        .text(&fresh, "load_storage", json!({ "filePath": "state.json" }))
        .await;
    assert_eq!(
        text,
        "Loaded 1 cookies, 1 entries of local storage and 1 of session storage. Reload the page so that it sees them."
    );
    harness
        .text(&fresh, "navigate_page", json!({ "type": "reload" }))
        .await;
    let request = harness.server.wait_for_nth_request("/page", 2).await;
    assert_eq!(request.header("cookie"), Some("session=s3cret"));
    let kept = harness
        .page_value(&fresh, "[localStorage.user, sessionStorage.step]")
        .await;
    assert_eq!(kept, json!(["ann", "2"]));

    // Another origin gets the cookies of the file, but not its storage.
    let elsewhere = harness
        .open_url(&harness.server.cross_site_url("page"))
        .await;
    let text = harness
        .text(
            &elsewhere,
            "load_storage",
            json!({ "filePath": "state.json" }),
        )
        .await;
    assert!(
        text.contains("Left out: the storages of 1 other origins. Open http://127.0.0.1:"),
        "{text}"
    );
}

/// A storage larger than one message is read in parts; pairs of UTF-16 units at their ends stay together.
#[tokio::test]
async fn large_storage_is_saved_whole() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/page",
        Response::html(
            "<script>
            localStorage['a'.repeat(1_100_000)] = 'value of a long key';
            localStorage.b = 'x'.repeat(999_990) + '\\u{1f600}'.repeat(20) + '\\u0001'.repeat(1_500_000);
            localStorage.c = '';
            localStorage.d = 'last';
            </script>",
        ),
    );
    let tab = harness.open("page").await;
    harness
        .text(&tab, "save_storage", json!({ "filePath": "state.json" }))
        .await;
    let place = harness.files.path().join("state.json");
    let state: Value = serde_json::from_slice(&std::fs::read(&place).unwrap()).unwrap();
    let saved = state["origins"][0]["localStorage"].as_array().unwrap();
    let expected = [
        ("a".repeat(1_100_000), "value of a long key".to_owned()),
        (
            "b".to_owned(),
            "x".repeat(999_990) + &"\u{1f600}".repeat(20) + &"\u{1}".repeat(1_500_000),
        ),
        ("c".to_owned(), String::new()),
        ("d".to_owned(), "last".to_owned()),
    ];
    assert_eq!(saved.len(), expected.len());
    for (saved, (name, value)) in saved.iter().zip(expected) {
        // Not assert_eq: it would print megabytes.
        assert!(saved["name"] == name && saved["value"] == value);
    }
    let list = harness.text(&tab, "local_storage", json!({})).await;
    assert!(list.len() < 5_000, "{} bytes", list.len());
}

#[tokio::test]
async fn bad_storage_arguments_are_refused_and_change_nothing() {
    for (tool, arguments, part) in [
        (
            "cookies",
            json!({ "value": "x" }),
            "`value` needs the `name`",
        ),
        ("cookies", json!({ "name": "" }), "`name` is empty"),
        (
            "cookies",
            json!({ "name": "a", "value": "b", "delete": true }),
            "either `value` or `delete`",
        ),
        (
            "cookies",
            json!({ "name": "a", "secure": true }),
            "need `value`",
        ),
        (
            "cookies",
            json!({ "name": "a", "path": "/" }),
            "`domain` and `path` need",
        ),
        (
            "cookies",
            json!({ "name": "a", "value": "b", "sameSite": "lax" }),
            "use one of Strict, Lax, None",
        ),
        (
            "cookies",
            json!({ "pageSize": 0 }),
            "`pageSize` starts at 1",
        ),
        (
            "local_storage",
            json!({ "value": "x" }),
            "`value` needs the `key`",
        ),
        (
            "session_storage",
            json!({ "key": "a", "value": "x", "delete": true }),
            "either `value` or `delete`",
        ),
        (
            "session_storage",
            json!({ "name": "a" }),
            "unknown field `name`",
        ),
        ("load_storage", json!({}), "missing field `filePath`"),
        ("save_storage", json!({ "filePath": 1 }), "invalid type"),
    ] {
        let said = refused(tool, arguments);
        assert!(said.contains(part), "{said}");
    }
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let blank = harness.open_url("about:blank").await;
    for tool in [
        "cookies",
        "local_storage",
        "session_storage",
        "save_storage",
    ] {
        let error = harness.error(&blank, tool, json!({})).await;
        assert!(error.contains("not from a web server"), "{error}");
    }
    harness.server.route("/page", Response::html("<p>page</p>"));
    let tab = harness.open("page").await;
    for wrong in [
        json!({ "name": "a;b", "value": "c" }),
        json!({ "name": "a", "value": "b\nc" }),
    ] {
        let error = harness.error(&tab, "cookies", wrong).await;
        assert!(error.starts_with("Chrome refused the cookie a"), "{error}");
    }
    let foreign = json!({ "name": "a", "value": "b", "domain": "example.com" });
    let error = harness.error(&tab, "cookies", foreign).await;
    assert!(
        error.starts_with("`domain` must be 127.0.0.1 or "),
        "{error}"
    );
    let good = json!({ "name": "good", "value": "1", "domain": "127.0.0.1", "path": "/" });
    for (name, text) in [
        ("text.json", "hello".to_owned()),
        ("shape.json", json!({ "cookies": [{ "name": "x" }] }).to_string()),
        ("cookie.json", json!({ "cookies": [good, { "name": "bad", "value": "1;\n", "domain": "", "path": "x" }] }).to_string()),
        ("site.json", json!({ "cookies": [{ "name": "x", "value": "1", "domain": "127.0.0.1", "path": "/", "sameSite": "Sometimes" }] }).to_string()),
    ] {
        std::fs::write(harness.files.path().join(name), text).unwrap();
        let error = harness.error(&tab, "load_storage", json!({ "filePath": name })).await;
        assert!(error.contains(name), "{error}");
    }
    for path in ["../state.json", "/etc/passwd", "nothing.json"] {
        let error = harness
            .error(&tab, "load_storage", json!({ "filePath": path }))
            .await;
        assert!(error.contains("cannot be read"), "{error}");
    }
    let error = harness
        .error(&tab, "save_storage", json!({ "filePath": "../state.json" }))
        .await;
    assert!(error.contains("outside"), "{error}");
    assert_eq!(
        harness.text(&tab, "cookies", json!({})).await,
        "There are no cookies."
    );
}
