//! A running browser: found, listed, used, and left unchanged.

use crate::harness::{McpHarness, assert_names};
use crate::user::User;
use serde_json::{Value, json};
use tabmux_testkit::{Chromium, FixtureServer, Response, process};

/// Connecting binds nothing.
/// Spec: dynamic-tools 8, 20, 24; decisions 2.
#[tokio::test]
async fn a_named_browser_is_attached_and_nothing_in_it_is_adopted() {
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    let chromium = Chromium::start(&browser);
    for flag in [
        format!("--browserUrl={}", chromium.http_url()),
        format!("--wsEndpoint={}", chromium.websocket_url()),
    ] {
        let harness = McpHarness::start(&[&flag]);
        harness.client.initialize().await;
        let connected = harness.step("connect_browser", json!({})).await;
        assert_eq!(
            (connected.notices, &connected.json()["tabCount"]),
            (1, &json!(1)),
            "{flag}"
        );
        assert_names(
            &harness.names().await,
            &["list_tabs", "open_tab", "focus_tab"],
        );
        let row = json!({
            "id": 1, "title": "about:blank", "url": "about:blank", "focused": false, "toolCount": 0,
        });
        let tabs = harness
            .tabs_until(|tabs| tabs.rows()[0]["title"] != "Loading...")
            .await;
        assert_eq!(
            tabs.0,
            json!({"tabs": [row], "focusedTabId": null}),
            "{flag}"
        );
    }
}

/// Spec: multi-browser 21; security 29.
#[tokio::test]
async fn the_end_of_the_server_leaves_an_attached_browser_and_its_tabs_alone() {
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    let chromium = Chromium::start(&browser);
    let user = User::at(chromium.websocket_url()).await;
    let pages = FixtureServer::start();
    pages.route(
        "/mine",
        crate::harness::page("Mine", "<button>Press</button>"),
    );
    let mine = pages.url("mine");
    user.opens(&mine).await;
    let processes: Vec<u32> = family(chromium.pid());

    let mut harness = McpHarness::attached(&chromium, &[]).await;
    let tabs = harness
        .tabs_until(|tabs| tabs.urls().contains(&mine.as_str()))
        .await;
    harness.focus(tabs.id_of(&mine)).await;
    let press = harness.uid("Press").await;
    harness.text("click", json!({"uid": press})).await;
    let opened = harness.pages.url("a");
    harness.text("open_tab", json!({"url": opened})).await;
    harness.client.close_input().await;
    assert!(
        harness.client.wait_for_exit().await.success(),
        "{}",
        harness.client.transcript()
    );

    let mut urls = user.urls().await;
    urls.sort();
    assert!(
        urls.contains(&mine) && urls.contains(&"about:blank".to_owned()),
        "{urls:?}"
    );
    assert!(processes.iter().all(|pid| process::is_alive(*pid)));
}

#[tokio::test]
async fn two_servers_share_one_browser_and_each_keeps_its_own_focus() {
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    let chromium = Chromium::start(&browser);
    let one = McpHarness::attached(&chromium, &[]).await;
    let two = McpHarness::attached(&chromium, &[]).await;
    one.open("a").await;
    two.open("b").await;
    assert_eq!(one.evaluate("() => document.title").await, "A");
    assert_eq!(two.evaluate("() => document.title").await, "B");
}

#[tokio::test]
async fn a_running_browser_is_found_through_its_profile() {
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    let chromium = Chromium::start(&browser);
    let harness = McpHarness::start(&[]);
    harness.client.initialize().await;
    // Spec: dynamic-tools 23.
    let not_found = json!({
        "connected": false,
        "error": "No browser found",
        "instructions":
            "Please open Chrome with the Browser Tools extension enabled, or call with launch=true",
    });
    let lost = harness.step("connect_browser", json!({})).await;
    assert_eq!((lost.reply.is_error(), lost.notices), (true, 0));
    assert_eq!(lost.reply.text(), not_found.to_string());
    assert_eq!(lost.reply.structured(), &not_found);
    assert_names(&harness.names().await, &["connect_browser"]);

    let profile = harness.home.path().join(".config/chromium");
    std::fs::create_dir_all(&profile).unwrap();
    let port = chromium.profile().join("DevToolsActivePort");
    std::fs::copy(port, profile.join("DevToolsActivePort")).unwrap();
    let connect = harness.step("connect_browser", json!({})).await;
    assert_eq!(
        (connect.notices, &connect.json()["tabCount"]),
        (1, &json!(1))
    );
}

/// Files that an ended browser left in its profile do not count as a running browser.
#[tokio::test]
async fn a_browser_that_has_ended_is_not_found() {
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    let harness = McpHarness::start(&[]);
    harness.client.initialize().await;
    let profile = harness.home.path().join(".config/chromium");
    std::fs::create_dir_all(&profile).unwrap();
    {
        let chromium = Chromium::start(&browser);
        let port = chromium.profile().join("DevToolsActivePort");
        std::fs::copy(port, profile.join("DevToolsActivePort")).unwrap();
    }
    let connect = harness.step("connect_browser", json!({})).await;
    assert_eq!(connect.notices, 0);
    assert_eq!(connect.reply.structured()["error"], "No browser found");
    // The call that the answer suggests works.
    let launched = harness
        .step("connect_browser", json!({"launch": true}))
        .await;
    assert_eq!(launched.json()["connected"], true);
}

#[tokio::test]
async fn a_wrong_address_is_reported() {
    let page_server = FixtureServer::start();
    page_server.route("/json/version", Response::html("<p>Just a web server."));
    let nobody = format!("http://127.0.0.1:{}", closed_port());
    let not_a_browser = page_server.url("");
    let not_a_browser = not_a_browser.trim_end_matches('/');
    let ended = nobody.replace("http", "ws") + "/devtools/browser/1";
    for (flag, expected) in [
        (
            "--browserUrl",
            (&*nobody, format!("No browser answers at {nobody} (")),
        ),
        (
            "--browserUrl",
            (
                not_a_browser,
                format!("The server at {not_a_browser} is not a browser with remote debugging ("),
            ),
        ),
        (
            "--browserUrl",
            ("9222", "`9222` is not a browser's address.".to_owned()),
        ),
        (
            "--wsEndpoint",
            (&*ended, format!("No browser answers at {ended} (")),
        ),
        (
            "--wsEndpoint",
            ("nonsense", "No browser answers at nonsense (".to_owned()),
        ),
    ] {
        let (address, expected) = expected;
        let harness = McpHarness::start(&[&format!("{flag}={address}")]);
        harness.client.initialize().await;
        // A named browser is the only one that is used, even with `launch`.
        for launch in [false, true] {
            let connect = harness
                .step("connect_browser", json!({"launch": launch}))
                .await;
            assert_eq!(connect.notices, 0);
            let answer = connect.reply.structured();
            assert_eq!(answer["connected"], Value::Bool(false));
            let error = answer["error"].as_str().unwrap();
            assert!(error.starts_with(&expected), "{error}");
            assert!(
                answer["instructions"]
                    .as_str()
                    .is_some_and(|text| !text.is_empty())
            );
        }
        assert_names(&harness.names().await, &["connect_browser"]);
    }
}

/// A free port.
fn closed_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// The processes of a browser that live as long as it does.
fn family(pid: u32) -> Vec<u32> {
    let lasting = process::descendants(pid).into_iter().filter(|process| {
        process.command.contains("--type=gpu-process") || process.command.contains("--type=zygote")
    });
    lasting.map(|process| process.pid).chain([pid]).collect()
}
