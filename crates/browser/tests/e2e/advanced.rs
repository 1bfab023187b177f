//! The clipboard, passwords of HTTP authentication, permissions, scripts that stay, computed styles, and downloads that
//! are waited for.

use crate::harness::{BrowserHarness, Capability, refused};
use crate::pick::{frame, pick};
use serde_json::json;
use std::time::Duration;
use tabmux_browser::bounds::within;
use tabmux_browser::profile::ProfileChoice;
use tabmux_browser::tab::{Download, Progress, TabState};
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

/// A page that needs a name and a password.
fn protect(harness: &BrowserHarness, path: &str) {
    harness.server.route_with(path, |request| {
        // me:open-17
        match request.header("authorization") {
            Some("Basic bWU6b3Blbi0xNw==") => Response::html("<h1>Inside</h1>"),
            _ => Response::html("<h1>Who are you?</h1>")
                .with_status(401)
                .with_header("www-authenticate", "Basic realm=\"all\""),
        }
    });
}

#[tokio::test]
async fn the_clipboard_is_written_and_read() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let html = "<input id=field><script>states = []; navigator.permissions.query({ name: 'clipboard-read' }).then((it) \
                => it.onchange = () => states.push(it.state))</script>";
    let tab = page_with(&harness, html).await;
    let write = json!({ "action": "write", "text": "grüße\n2" });
    let text = harness.text(&tab, "clipboard", write).await;
    assert_eq!(text, "Wrote the text to the clipboard.");
    if !harness.can(Capability::Permissions) {
        let read = json!({ "action": "read" });
        let error = harness.error(&tab, "clipboard", read).await;
        assert!(error.contains("reached through the extension"), "{error}");
        return;
    }
    let asked = "navigator.permissions.query({ name: 'clipboard-read' }).then(() => states)";
    let states = harness.page_value(&tab, asked).await;
    assert_eq!(states, json!([]), "writing needs no permission");
    let text = harness
        .text(&tab, "clipboard", json!({ "action": "read" }))
        .await;
    assert_eq!(text, "The clipboard has this text:\ngrüße\n2");
    let uid = pick(&tab, "#field").await;
    harness.text(&tab, "click", json!({ "uid": uid })).await;
    harness
        .text(&tab, "press_key", json!({ "key": "Control+V" }))
        .await;
    assert_eq!(harness.page_value(&tab, "field.value").await, "grüße 2");
    let query = "navigator.permissions.query({ name: 'clipboard-read' }).then((it) => it.state)";
    let state = harness.page_value(&tab, query).await;
    assert_ne!(state, "granted", "only for the call");
}

#[tokio::test]
async fn a_site_with_a_password_opens_and_it_is_not_repeated() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    protect(&harness, "/inside");
    let tab = page_with(&harness, "<p>outside</p>").await;
    let url = harness.server.url("inside");
    let login = json!({ "origin": url, "username": "me", "password": "open-17" });
    let said = harness.text(&tab, "set_credentials", login).await;
    assert!(
        said.starts_with("The password for http://127.0.0.1"),
        "{said}"
    );
    harness
        .text(&tab, "navigate_page", json!({ "url": url }))
        .await;
    let snapshot = harness.text(&tab, "take_snapshot", json!({})).await;
    assert!(snapshot.contains("Inside"), "{snapshot}");
    let list = harness.text(&tab, "list_network_requests", json!({})).await;
    let line = list.lines().find(|line| line.contains("/inside")).unwrap();
    let number = line
        .split(|it: char| !it.is_ascii_digit())
        .find(|it| !it.is_empty())
        .unwrap();
    let reqid: u64 = number.parse().unwrap();
    let shown = harness
        .text(&tab, "get_network_request", json!({ "reqid": reqid }))
        .await;
    for said in [said, list, shown] {
        assert!(
            !said.contains("open-17") && !said.contains("bWU6b3Blbi0xNw"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn a_wrong_password_ends_in_the_sites_answer() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    protect(&harness, "/inside");
    let tab = page_with(&harness, "<p>outside</p>").await;
    let url = harness.server.url("inside");
    let login = json!({ "origin": url, "username": "me", "password": "wrong" });
    harness.text(&tab, "set_credentials", login).await;
    harness
        .run(&tab, "navigate_page", json!({ "url": url }))
        .await
        .ok();
    let snapshot = harness.text(&tab, "take_snapshot", json!({})).await;
    assert!(snapshot.contains("Who are you?"), "{snapshot}");
}

#[tokio::test]
async fn passwords_and_permissions_need_an_allowed_site() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = page_with(&harness, "<p>here</p>").await;
    let away = harness.server.cross_site_url("");
    for (tool, arguments) in [
        (
            "set_credentials",
            json!({ "origin": away, "username": "a", "password": "b" }),
        ),
        (
            "set_permission",
            json!({ "origin": away, "name": "geolocation", "state": "granted" }),
        ),
    ] {
        let error = within(policy(), harness.error(&tab, tool, arguments)).await;
        assert!(error.contains("localhost"), "{tool}: {error}");
        assert!(!error.contains("is set"), "{tool}: {error}");
    }
}

#[tokio::test]
async fn a_permission_lasts_until_the_tab_is_released() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = page_with(&harness, "<p>here</p>").await;
    let state = "navigator.permissions.query({ name: 'geolocation' }).then((it) => it.state)";
    let grant = json!({ "name": "geolocation", "state": "granted" });
    if !harness.can(Capability::Permissions) {
        let error = harness.error(&tab, "set_permission", grant).await;
        assert!(error.contains("reached through the extension"), "{error}");
        return;
    }
    let said = harness.text(&tab, "set_permission", grant).await;
    assert!(
        said.starts_with("geolocation is granted for http://127.0.0.1"),
        "{said}"
    );
    assert_eq!(harness.page_value(&tab, state).await, "granted");
    let deny = json!({ "name": "geolocation", "state": "denied" });
    harness.text(&tab, "set_permission", deny).await;
    assert_eq!(harness.page_value(&tab, state).await, "denied");
    harness.browser.hold(tab.target(), false).await;
    assert_eq!(harness.page_value(&tab, state).await, "prompt");
    let unknown = json!({ "name": "flying", "state": "granted" });
    let error = harness.error(&tab, "set_permission", unknown).await;
    assert!(error.contains("Use another name"), "{error}");
}

#[tokio::test]
async fn a_permission_of_another_tab_stays_and_that_of_a_closed_tab_ends() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = page_with(&harness, "<p>here</p>").await;
    let other = harness.open("page").await;
    if !harness.can(Capability::Permissions) {
        return;
    }
    let state = |name: &str| {
        format!("navigator.permissions.query({{ name: '{name}' }}).then((it) => it.state)")
    };
    let grant = |name: &str| json!({ "name": name, "state": "granted" });
    for (tab, name) in [
        (&tab, "geolocation"),
        (&tab, "clipboard-read"),
        (&other, "notifications"),
        (&other, "geolocation"),
    ] {
        harness.text(tab, "set_permission", grant(name)).await;
    }
    let read = json!({ "action": "read" });
    harness.text(&other, "clipboard", read).await;
    harness
        .browser
        .close_tab(other.target(), false)
        .await
        .unwrap();
    let ended = "new Promise((end) => navigator.permissions.query({ name: 'notifications' }).then((it) => { const look \
                 = () => it.state == 'granted' ? setTimeout(look, 20) : end(it.state); look() }))";
    assert_ne!(harness.page_value(&tab, ended).await, "granted");
    for name in ["geolocation", "clipboard-read"] {
        assert_eq!(harness.page_value(&tab, &state(name)).await, "granted");
    }
    harness.browser.hold(tab.target(), false).await;
    assert_eq!(
        harness.page_value(&tab, &state("geolocation")).await,
        "prompt"
    );
}

#[tokio::test]
async fn what_the_user_granted_stays_granted() {
    let profile = tempfile::tempdir().unwrap();
    std::fs::create_dir(profile.path().join("Default")).unwrap();
    let chosen = json!({ "geolocation": 1, "clipboard": 1 });
    let chosen = json!({ "profile": { "default_content_setting_values": chosen } });
    let preferences = profile.path().join("Default/Preferences");
    std::fs::write(preferences, chosen.to_string()).unwrap();
    let profile = ProfileChoice::At(profile.path().to_owned());
    let Some(harness) = BrowserHarness::start_in(profile, &[]).await else {
        return;
    };
    let tab = page_with(&harness, "<p>here</p>").await;
    if !harness.can(Capability::Permissions) {
        return;
    }
    let state = |name: &str| {
        format!("navigator.permissions.query({{ name: '{name}' }}).then((it) => it.state)")
    };
    let (place, clipboard) = (state("geolocation"), state("clipboard-read"));
    for query in [&place, &clipboard] {
        assert_eq!(harness.page_value(&tab, query).await, "granted", "{query}");
    }
    let deny = json!({ "name": "geolocation", "state": "denied" });
    harness.text(&tab, "set_permission", deny).await;
    let read = json!({ "action": "read" });
    harness.text(&tab, "clipboard", read).await;
    assert_eq!(harness.page_value(&tab, &clipboard).await, "granted");
    assert_eq!(harness.page_value(&tab, &place).await, "denied");
    harness.browser.hold(tab.target(), false).await;
    assert_eq!(harness.page_value(&tab, &place).await, "granted");
}

#[tokio::test]
async fn an_added_script_runs_in_every_document() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/inner",
        Response::html("<script>parent.postMessage(self.added ?? 'none', '*')</script>"),
    );
    let html = format!(
        "<script>first = self.added; heard = []; onmessage = (e) => heard.push(e.data)</script>\
         <iframe src='/inner'></iframe><iframe src='{}#other'></iframe>",
        harness.server.cross_site_url("inner")
    );
    let tab = page_with(&harness, &html).await;
    let script = json!({ "script": "self.added = 'yes'" });
    let said = harness.text(&tab, "add_init_script", script).await;
    assert!(said.contains("1 in this tab"), "{said}");
    for _ in 0..2 {
        harness
            .text(&tab, "navigate_page", json!({ "type": "reload" }))
            .await;
        frame(&tab, "#other").await;
        assert_eq!(harness.page_value(&tab, "first").await, "yes");
        let heard = "new Promise((end) => { const look = () => heard.length == 2 ? end(heard) : setTimeout(look, 20); look() })";
        assert_eq!(harness.page_value(&tab, heard).await, json!(["yes", "yes"]));
    }
    harness.browser.hold(tab.target(), false).await;
    harness
        .text(&tab, "navigate_page", json!({ "type": "reload" }))
        .await;
    assert_eq!(harness.page_value(&tab, "first ?? 'none'").await, "none");
}

#[tokio::test]
async fn under_a_policy_an_added_script_keeps_its_site() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let both = || {
        OriginPolicy::of([OriginRules {
            by: RuledBy::Flags,
            allowed: vec![
                "http://127.0.0.1:*".parse().unwrap(),
                "http://localhost:*".parse().unwrap(),
            ],
            blocked: Vec::new(),
        }])
    };
    harness.server.route(
        "/inner",
        Response::html("<script>parent.postMessage(self.added ?? 'none', '*')</script>"),
    );
    let html = format!(
        "<script>heard = []; onmessage = (e) => heard.push(e.data)</script><iframe src='{}#other'></iframe>",
        harness.server.cross_site_url("inner")
    );
    let tab = page_with(&harness, &html).await;
    for escape in [
        "} self.added = 'escaped'; if (0) {",
        "*/ } self.added = 'escaped'; {",
        "#!\nself.added = 'escaped'",
    ] {
        let script = json!({ "script": escape });
        let error = within(both(), harness.error(&tab, "add_init_script", script)).await;
        assert!(error.contains("`script` cannot be parsed"), "{error}");
    }
    let script = json!({ "script": "self.added = 'yes'" });
    let said = within(both(), harness.text(&tab, "add_init_script", script)).await;
    assert!(
        said.contains("every new document of http://127.0.0.1"),
        "{said}"
    );
    let reload = json!({ "type": "reload" });
    within(both(), harness.text(&tab, "navigate_page", reload)).await;
    frame(&tab, "#other").await;
    let heard = "new Promise((end) => { const look = () => heard.length ? end([self.added, heard]) : \
                 setTimeout(look, 20); look() })";
    assert_eq!(
        harness.page_value(&tab, heard).await,
        json!(["yes", ["none"]])
    );
}

#[tokio::test]
async fn computed_styles_are_read() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let html = "<style>:root { --accent: teal } #box { color: rgb(1, 2, 3); width: 50px; display: block }</style>\
                <button id=box>B</button>";
    let tab = page_with(&harness, html).await;
    let uid = pick(&tab, "#box").await;
    let some = json!({ "uid": uid, "properties": ["color", "--accent", "--none"] });
    assert_eq!(
        harness.text(&tab, "get_css_styles", some).await,
        "color: rgb(1, 2, 3)\n--accent: teal\n--none: (none)"
    );
    let all = harness
        .text(&tab, "get_css_styles", json!({ "uid": uid }))
        .await;
    assert!(
        all.contains("display: block\n") && all.contains("\nwidth: 50px\n"),
        "{all}"
    );
    assert!(all.len() < 4_000, "{all}");
}

#[tokio::test]
async fn downloads_are_waited_for_and_fetched() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    if !harness.can(Capability::Downloads) {
        return;
    }
    harness
        .server
        .route("/a", Response::download("a.csv", "a,b"));
    let gate = harness
        .server
        .hold("/b", Response::download("b.csv", "c,d"));
    let html = "<a id=a href=/a download>a</a><a id=b href=/b download>b</a>";
    let tab = page_with(&harness, html).await;
    let none = harness
        .error(&tab, "wait_for_download", json!({ "timeout": 50 }))
        .await;
    assert!(
        none.contains("A download did not happen within 50 ms"),
        "{none}"
    );
    let uid = pick(&tab, "#a").await;
    harness.text(&tab, "click", json!({ "uid": uid })).await;
    let outside = json!({ "filePath": "/elsewhere/mine.csv" });
    let error = harness.error(&tab, "wait_for_download", outside).await;
    assert!(
        error.contains("a.csv") && error.contains("cannot be written"),
        "{error}"
    );
    let wait = json!({ "content": true, "filePath": "mine.csv" });
    let said = harness.text(&tab, "wait_for_download", wait).await;
    assert!(said.ends_with("Its text:\na,b"), "{said}");
    let copy = harness.files.path().join("mine.csv");
    assert_eq!(std::fs::read(copy).unwrap(), b"a,b");
    harness.page_value(&tab, "b.click()").await;
    gate.open();
    let said = harness
        .text(&tab, "wait_for_download", json!({ "content": true }))
        .await;
    assert!(
        said.contains("b.csv") && said.ends_with("Its text:\nc,d"),
        "{said}"
    );
    // The next session does not get a download of this one.
    harness.text(&tab, "click", json!({ "uid": uid })).await;
    let done = |state: &TabState| {
        let ended = |it: &Download| it.progress != Progress::Running;
        state.downloads.len() == 3 && state.downloads.iter().all(ended)
    };
    assert!(tab.until(Duration::from_secs(20), done).await.unwrap());
    harness.browser.hold(tab.target(), false).await;
    let none = harness.error(&tab, "wait_for_download", json!({ "timeout": 50 }));
    let none = none.await;
    assert!(none.contains("A download did not happen"), "{none}");
}

#[test]
fn advanced_arguments_are_checked() {
    for (tool, arguments, why) in [
        (
            "clipboard",
            json!({ "action": "write" }),
            "writing needs a `text`",
        ),
        (
            "clipboard",
            json!({ "action": "read", "text": "a" }),
            "`text` is for writing only",
        ),
        (
            "set_credentials",
            json!({ "origin": "file:///etc", "username": "a", "password": "b" }),
            "`origin` is an address such as https://example.com",
        ),
        (
            "set_permission",
            json!({ "name": "a b", "state": "granted" }),
            "`name` is one such as geolocation or clipboard-read",
        ),
        (
            "get_css_styles",
            json!({ "uid": "1", "properties": ["a;b"] }),
            "`properties` has names such as color, margin-top or --accent",
        ),
        (
            "wait_for_download",
            json!({ "timeout": 600_001 }),
            "`timeout` must be at most 600000",
        ),
    ] {
        assert_eq!(
            refused(tool, arguments),
            format!("Invalid arguments for {tool}: {why}.")
        );
    }
}
