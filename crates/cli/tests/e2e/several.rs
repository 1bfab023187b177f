//! Several real browsers in one session: the manual test plan of the specification.

use crate::crowd::Crowd;
use serde_json::{Value, json};
use tabmux_testkit::{Chromium, McpClient, patiently, process};

/// Running browsers, and a client that is attached to all of them.
struct Scene {
    crowd: Crowd,
    browsers: Vec<Chromium>,
    client: McpClient,
}

impl Scene {
    async fn with(count: usize, flag: impl Fn(&Chromium) -> String) -> Option<Self> {
        let crowd = Crowd::gather()?;
        let browsers: Vec<_> = (0..count).map(|_| crowd.running_browser()).collect();
        let flags: Vec<_> = browsers.iter().map(flag).collect();
        let flags: Vec<_> = flags.iter().map(String::as_str).collect();
        let client = crowd.visitor(&flags).await;
        Some(Self {
            crowd,
            browsers,
            client,
        })
    }

    async fn text(&self, tool: &str, arguments: Value) -> String {
        self.client.call_tool(tool, arguments).await.ok().text()
    }

    async fn title(&self, browser: usize) -> String {
        let arguments = json!({"browserIndex": browser, "function": "() => document.title"});
        self.text("evaluate_script", arguments)
            .await
            .replace('"', "")
    }

    async fn goes_to(&self, browser: usize, name: &str) {
        let url = self.crowd.secret_of(name);
        let arguments = json!({"browserIndex": browser, "type": "url", "url": url});
        self.text("navigate_page", arguments).await;
    }
}

fn by_url(chromium: &Chromium) -> String {
    format!("--browserUrl={}", chromium.http_url())
}

fn by_web_socket(chromium: &Chromium) -> String {
    format!("--wsEndpoint={}", chromium.websocket_url())
}

async fn manual_plan(count: usize, flag: impl Fn(&Chromium) -> String) {
    let Some(scene) = Scene::with(count, &flag).await else {
        return;
    };
    let labels: Vec<_> = scene.browsers.iter().map(&flag).collect();
    let list_of = |state: &str| {
        let rows = labels.iter().enumerate().map(|(index, label)| {
            let (_, address) = label.split_once('=').unwrap();
            format!("[{}] {address} - {state}\n", index + 1)
        });
        format!(
            "Total browsers: {count}\n\n{}\nMultiple browsers detected. You MUST specify browserIndex \
             parameter in all tool calls to target a specific browser.",
            rows.collect::<String>()
        )
    };
    // Spec: multi-browser 36, 45, 57, 104.
    // Each is listed, and nothing is connected before it is needed.
    let list = scene.text("list_browsers", json!({})).await;
    assert_eq!(list, list_of("pending"));
    // Spec: multi-browser 1, 7, 54, 73.
    // Each browser navigates to its own page.
    for browser in 1..=count {
        scene.goes_to(browser, &format!("number{browser}")).await;
    }
    // Spec: multi-browser 53, 74.
    // And no other browser does.
    let mut pictures = Vec::new();
    for browser in 1..=count {
        assert_eq!(scene.title(browser).await, format!("number{browser}"));
        let pages = scene
            .text("list_pages", json!({"browserIndex": browser}))
            .await;
        assert!(pages.contains(&format!("number{browser} (")), "{pages}");
        assert_eq!(pages.lines().count(), 1, "{pages}");
        // Spec: multi-browser 52, 74.
        // A screenshot of each, and all differ.
        let picture = json!({"browserIndex": browser, "format": "png"});
        let reply = scene.client.call_tool("take_screenshot", picture).await;
        let reply = reply.ok();
        let mut blocks = reply.content().iter();
        let picture = blocks.find_map(|block| block["data"].as_str());
        let picture = picture.unwrap_or_else(|| panic!("no picture: {}", reply.text()));
        for (other, earlier) in pictures.iter().enumerate() {
            assert_ne!(picture, earlier, "browsers {} and {browser}", other + 1);
        }
        pictures.push(picture.to_owned());
    }
    // Spec: multi-browser 47, 70, 92.
    let list = scene.text("list_browsers", json!({})).await;
    assert_eq!(list, list_of("connected"));
    // Spec: multi-browser 43, 106.
    // Every tool that works in a browser needs its index.
    for tool in scene.client.list_tools().await {
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        let exempt = [
            "list_browsers",
            "add_browser",
            "browser_get_connection_status",
            "list_browser_tabs",
            "list_page_tools",
            "call_page_tool",
        ];
        let first = properties.keys().next().map(String::as_str);
        if !exempt.contains(&tool["name"].as_str().unwrap()) {
            assert_eq!(first, Some("browserIndex"), "{tool}");
        }
    }
    // Spec: multi-browser 55, 79.
    let missing = scene
        .client
        .call_tool("take_snapshot", json!({}))
        .await
        .expect_error();
    let start = "browserIndex parameter is required when multiple browsers are connected";
    assert!(missing.starts_with(start), "{missing}");
    for wrong in [
        json!(0),
        json!(count + 1),
        json!(-1),
        json!(1.5),
        json!("1"),
    ] {
        let arguments = json!({"browserIndex": wrong});
        scene
            .client
            .call_tool("take_snapshot", arguments)
            .await
            .expect_error();
    }
    // Spec: multi-browser 21.
    // Attached browsers are detached, never closed.
    let pids: Vec<_> = scene.browsers.iter().map(Chromium::pid).collect();
    let Scene {
        crowd,
        mut client,
        browsers: _browsers,
        ..
    } = scene;
    client.close_input().await;
    assert!(client.wait_for_exit().await.success());
    assert!(
        crowd
            .tabmux()
            .args(["daemon", "stop"])
            .status()
            .unwrap()
            .success()
    );
    assert!(pids.into_iter().all(process::is_alive));
}

/// Spec: multi-browser 48, 52, 53, 54, 70, 73, 74.
#[tokio::test(flavor = "multi_thread")]
async fn two_browsers_by_their_addresses() {
    manual_plan(2, by_url).await;
}

/// Spec: multi-browser 49.
#[tokio::test(flavor = "multi_thread")]
async fn two_browsers_by_their_web_sockets() {
    manual_plan(2, by_web_socket).await;
}

/// Spec: multi-browser 92.
#[tokio::test(flavor = "multi_thread")]
async fn three_browsers() {
    manual_plan(3, by_url).await;
}

/// Spec: multi-browser 46, 50, 51, 58, 60, 91, 103.
#[tokio::test(flavor = "multi_thread")]
async fn one_browser_is_as_before() {
    let Some(scene) = Scene::with(1, by_url).await else {
        return;
    };
    let picture = scene
        .client
        .call_tool("take_screenshot", json!({"format": "png"}));
    picture.await.ok();
    let indexed = json!({"browserIndex": 1, "format": "png"});
    assert_eq!(
        scene
            .client
            .call_tool("take_screenshot", indexed)
            .await
            .expect_error(),
        "browserIndex must NOT be specified when only one browser is connected. Remove the \
         browserIndex parameter from your tool call."
    );
    let list = scene.text("list_browsers", json!({})).await;
    assert!(list.ends_with("Single browser mode: browserIndex parameter must NOT be specified."));
    for tool in scene.client.list_tools().await {
        assert!(!tool.to_string().contains("browserIndex"), "{tool}");
    }
}

/// Spec: multi-browser 78, 81, 84, 85.
#[tokio::test(flavor = "multi_thread")]
async fn browsers_come_go_and_die_without_disturbing_each_other() {
    let Some(mut scene) = Scene::with(1, by_url).await else {
        return;
    };
    let other = scene.crowd.running_browser();
    scene
        .text(
            "add_browser",
            json!({"url": other.http_url(), "name": "other"}),
        )
        .await;
    scene.client.next_notification().await;
    scene.goes_to(1, "first").await;
    scene.goes_to(2, "second").await;

    let far = json!({"url": "http://192.0.2.1:9222"});
    let refused = scene
        .client
        .call_tool("add_browser", far)
        .await
        .expect_error();
    assert!(refused.contains("--allowRemoteBrowsers"), "{refused}");

    scene.browsers[0].kill();
    assert_eq!(scene.title(2).await, "second");
    let gone = || "the first browser to be known as gone".to_owned();
    patiently(
        async {
            while scene
                .text("list_browsers", json!({}))
                .await
                .contains("[1] http://127.0.0.1")
            {
                let list = scene.text("list_browsers", json!({})).await;
                if list.contains(" - disconnected (") {
                    return;
                }
            }
        },
        gone,
    )
    .await;
    scene
        .text("disconnect_browser", json!({"browserIndex": 1}))
        .await;
    scene.client.next_notification().await;
    let title = json!({"function": "() => document.title"});
    assert!(
        scene
            .text("evaluate_script", title)
            .await
            .contains("second")
    );
}

/// Spec: multi-browser 29, 32, 33.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_command_runs_when_a_reconnect_is_asked_for() {
    let Some(crowd) = Crowd::gather() else { return };
    let chromium = crowd.running_browser();
    let port = chromium.http_url();
    drop(chromium);
    let mark = crowd.home().join("started");
    let command = format!("--browserUrl={port}|touch {}", mark.display());
    let client = crowd.visitor(&[&command]).await;
    let told = client
        .call_tool("list_pages", json!({}))
        .await
        .expect_error();
    assert!(!mark.exists(), "not before it is asked for: {told}");
    let cooling = client
        .call_tool("list_pages", json!({}))
        .await
        .expect_error();
    assert!(
        cooling.contains("call reconnect_browser with force: true"),
        "{cooling}"
    );
    let reconnect = client
        .begin_call("reconnect_browser", json!({"force": true}))
        .await;
    let ran = || "the start command to run".to_owned();
    patiently(
        async {
            while !mark.exists() {
                tokio::task::yield_now().await;
            }
        },
        ran,
    )
    .await;
    drop(reconnect);
}
