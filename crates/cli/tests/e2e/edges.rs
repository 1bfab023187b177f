//! What the user and the browser do by themselves: the specification's table of edge cases.

use crate::harness::{ACTIONS, FOCUSED, McpHarness, Tabs, assert_names};
use crate::over_extension::Capability;
use crate::user::User;
use serde_json::json;
use tabmux_testkit::{Chromium, OverExtension, Response, patiently};

/// The user's browser with tab A, which the agent has focused, and tab B.
struct Scene {
    harness: McpHarness,
    user: User,
    /// `None` if another process keeps it.
    chromium: Option<Chromium>,
    a: String,
    b: String,
}

impl Scene {
    async fn set() -> Option<Self> {
        Self::set_with(&[]).await
    }

    async fn set_with(flags: &[&str]) -> Option<Self> {
        let executable = tabmux_testkit::real_browser()?;
        let (harness, user, chromium) = match OverExtension::here() {
            Some(over) => {
                let harness = McpHarness::disconnected(flags).await?;
                let user = User::at(&over.websocket()).await;
                user.opens("about:blank").await;
                harness.step("connect_browser", json!({})).await.json();
                (harness, user, None)
            }
            None => {
                let chromium = Chromium::start(&executable);
                let harness = McpHarness::attached(&chromium, flags).await;
                let user = User::at(chromium.websocket_url()).await;
                (harness, user, Some(chromium))
            }
        };
        let [a, b] = ["a", "b"].map(|path| harness.pages.url(path));
        harness
            .text("open_tab", json!({"url": b, "focus": false}))
            .await;
        harness.text("open_tab", json!({"url": a})).await;
        harness.client.take_notifications().await;
        Some(Self {
            harness,
            user,
            chromium,
            a,
            b,
        })
    }

    /// Checks that no notification comes: waits in the server, longer than the server gathers changes.
    async fn stays_silent(&self) {
        let wait = json!({"text": ["what no page says"], "timeout": 200});
        self.harness
            .client
            .call_tool("wait_for", wait)
            .await
            .expect_error();
        self.harness.client.assert_no_notification().await;
    }
}

/// Spec: dynamic-tools 83.
#[tokio::test]
async fn the_user_closes_the_focused_tab() {
    let Some(scene) = Scene::set().await else {
        return;
    };
    let Scene {
        harness,
        user,
        a,
        b,
        ..
    } = &scene;
    let lost = harness.tabs().await.id_of(a);
    user.closes(a).await;
    harness.one_notice().await;
    assert_names(
        &harness.names().await,
        &["list_tabs", "open_tab", "focus_tab"],
    );
    let tabs = harness.tabs().await;
    assert_eq!(tabs.urls(), ["about:blank", b]);
    assert_eq!(tabs.focused(), None);
    for tool in ["close_tab", "take_snapshot"] {
        let expected = format!(
            "{tool} needs a focused tab, and tab {lost} was closed. Call focus_tab first; list_tabs \
             shows the tabs."
        );
        assert_eq!(harness.refusal(tool, json!({})).await, expected);
    }
}

/// Spec: dynamic-tools 84.
#[tokio::test]
async fn the_user_opens_and_closes_other_tabs_in_silence() {
    let Some(scene) = Scene::set().await else {
        return;
    };
    let Scene {
        harness,
        user,
        a,
        b,
        ..
    } = &scene;
    let c = harness.pages.url("c");
    user.opens(&c).await;
    let tabs = harness
        .tabs_until(|tabs| tabs.rows().iter().any(|row| row["title"] == "C"))
        .await;
    assert_eq!(tabs.urls(), ["about:blank", b, a, &c]);
    assert_eq!(tabs.focused(), Some(tabs.id_of(a)));
    user.closes(b).await;
    let tabs = harness.tabs_until(|tabs| tabs.rows().len() == 3).await;
    assert_eq!(tabs.urls(), ["about:blank", a, &c]);
    scene.stays_silent().await;
    assert_names(&harness.names().await, &[&FOCUSED[..], &ACTIONS].concat());
}

/// Following the user is off by default.
/// Spec: dynamic-tools 85.
#[tokio::test]
async fn the_user_switches_tabs_without_moving_the_agents_focus() {
    let Some(scene) = Scene::set().await else {
        return;
    };
    let Scene {
        harness,
        user,
        a,
        b,
        ..
    } = &scene;
    user.switches_to(b).await;
    scene.stays_silent().await;
    let tabs = harness.tabs().await;
    assert_eq!(tabs.focused(), Some(tabs.id_of(a)));
    assert_eq!(harness.evaluate("() => document.title").await, "A");
}

/// Spec: dynamic-tools 85.
#[tokio::test]
async fn an_agent_that_follows_the_user_works_where_the_user_is() {
    let Some(scene) = Scene::set_with(&["--followUserFocus"]).await else {
        return;
    };
    let Scene {
        harness,
        user,
        a,
        b,
        ..
    } = &scene;
    for (url, title) in [(b, "B"), (a, "A"), (b, "B")] {
        user.switches_to(url).await;
        harness
            .tabs_until(|tabs| tabs.focused() == Some(tabs.id_of(url)))
            .await;
        assert_eq!(harness.evaluate("() => document.title").await, title);
        assert_names(&harness.names().await, &[&FOCUSED[..], &ACTIONS].concat());
    }
    assert!(!harness.client.take_notifications().await.is_empty());
    // The agent may choose another tab, until the user switches tabs.
    harness.focus(harness.tabs().await.id_of(a)).await;
    assert_eq!(harness.evaluate("() => document.title").await, "A");
}

/// Spec: dynamic-tools 86, 101.
#[tokio::test]
async fn a_navigation_in_the_same_tab_changes_the_row_and_is_silent() {
    let Some(mut scene) = Scene::set().await else {
        return;
    };
    let c = scene.harness.pages.url("c");
    let number = scene.harness.tabs().await.id_of(&scene.a);
    scene.user.navigates(&scene.a, &c).await;
    let tabs = scene
        .harness
        .tabs_until(|tabs| tabs.rows()[2]["title"] == "C")
        .await;
    assert_eq!((tabs.id_of(&c), tabs.focused()), (number, Some(number)));
    scene.stays_silent().await;

    let step = scene
        .harness
        .step("navigate_page", json!({"url": scene.a}))
        .await;
    assert_eq!(step.notices, 0);
    step.reply.ok();
    scene
        .harness
        .tabs_until(|tabs| tabs.rows()[2]["title"] == "A")
        .await;
    scene.stays_silent().await;
}

/// Spec: dynamic-tools 87.
#[tokio::test]
async fn the_focused_tab_crashes() {
    let Some(mut scene) = Scene::set().await else {
        return;
    };
    let lost = scene.harness.tabs().await.id_of(&scene.a);
    scene.user.crashes(&scene.a).await;
    let Scene { harness, b, .. } = &scene;
    harness.one_notice().await;
    assert_names(
        &harness.names().await,
        &["list_tabs", "open_tab", "focus_tab"],
    );
    let tabs = harness.tabs().await;
    assert_eq!(tabs.urls(), ["about:blank", b]);
    assert_eq!(tabs.focused(), None);
    let expected = format!(
        "take_snapshot needs a focused tab, and tab {lost} crashed. Call focus_tab first; list_tabs \
         shows the tabs."
    );
    assert_eq!(harness.refusal("take_snapshot", json!({})).await, expected);
}

/// Spec: dynamic-tools 87.
#[tokio::test]
async fn another_tab_crashes_in_silence() {
    let Some(mut scene) = Scene::set().await else {
        return;
    };
    scene.user.crashes(&scene.b).await;
    let tabs = scene
        .harness
        .tabs_until(|tabs| tabs.rows().len() == 2)
        .await;
    assert_eq!(tabs.urls(), ["about:blank", &scene.a]);
    scene.stays_silent().await;
    assert_names(
        &scene.harness.names().await,
        &[&FOCUSED[..], &ACTIONS].concat(),
    );
}

/// A tab of the user, to which no client is attached.
/// Spec: dynamic-tools 87.
#[tokio::test]
async fn a_tab_without_an_agent_crashes() {
    let Some(mut scene) = Scene::set().await else {
        return;
    };
    let c = scene.harness.pages.url("c");
    scene.user.opens(&c).await;
    let is_there = |tabs: &Tabs| tabs.rows().iter().any(|row| row["title"] == "C");
    let tabs = scene.harness.tabs_until(is_there).await;
    let number = tabs.id_of(&c);
    scene.user.crashes(&c).await;
    if !scene.harness.can(Capability::CrashesElsewhere) {
        // The crash is detected when the agent uses the tab.
        let turn = json!({"tabId": number});
        let said = scene.harness.refusal("focus_tab", turn).await;
        assert!(said.contains("crashed"), "{said}");
    }
    let tabs = scene
        .harness
        .tabs_until(|tabs| tabs.rows().len() == 3)
        .await;
    assert_eq!(tabs.urls(), ["about:blank", &scene.b, &scene.a]);
    scene.stays_silent().await;
}

#[tokio::test]
async fn a_call_on_a_tab_that_crashes_is_answered() {
    let Some(mut scene) = Scene::set().await else {
        return;
    };
    let wait = json!({"text": ["what no page says"], "timeout": 25_000});
    let waiting = scene.harness.client.begin_call("wait_for", wait).await;
    scene.user.crashes(&scene.a).await;
    let said = waiting.tool_reply().await.expect_error();
    assert!(said.contains("crashed") && said.contains("tab"), "{said}");
    scene.harness.one_notice().await;
}

/// Spec: dynamic-tools 57, 101.
#[tokio::test]
async fn a_browser_that_ends_disconnects_and_can_be_connected_again() {
    let Some(Scene {
        harness, chromium, ..
    }) = Scene::set().await
    else {
        return;
    };
    let _held = harness.pages.hold("/held", Response::text("too late"));
    let ask = json!({"function": "async () => (await fetch('/held')).status"});
    let waiting = harness.client.begin_call("evaluate_script", ask).await;
    harness.pages.wait_for_request("/held").await;
    match chromium {
        Some(chromium) => drop(chromium),
        None => harness.kill_browser(),
    }
    let said = waiting.tool_reply().await.expect_error();
    assert!(
        said.starts_with("evaluate_script was not finished because the browser is gone: "),
        "{said}"
    );
    // A person's browser may only be disconnected for a moment.
    let next = match OverExtension::here() {
        Some(_) => "Call evaluate_script to connect again.",
        None => "Call connect_browser to connect again.",
    };
    assert!(said.ends_with(next), "{said}");
    harness.one_notice().await;
    assert_names(&harness.names().await, &["connect_browser"]);
    if let Some(over) = OverExtension::here() {
        // The person starts it again, with a blank tab.
        over.start_browser();
        let again = harness.step("connect_browser", json!({})).await;
        assert_eq!((again.notices, &again.json()["tabCount"]), (1, &json!(1)));
        return;
    }
    let again = harness
        .step("connect_browser", json!({"launch": true}))
        .await;
    assert_eq!((again.reply.is_error(), again.notices), (true, 0));
    assert_eq!(again.reply.structured()["connected"], false);
    assert_names(&harness.names().await, &["connect_browser"]);
}

/// Spec: dynamic-tools 101.
#[tokio::test]
async fn a_launched_browser_that_dies_can_be_launched_again() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    let first = harness.open("a").await;
    harness.kill_browser();
    harness.one_notice().await;
    assert_names(&harness.names().await, &["connect_browser"]);
    let again = harness
        .step("connect_browser", json!({"launch": true}))
        .await;
    assert_eq!((again.notices, &again.json()["tabCount"]), (1, &json!(0)));
    let tab = harness.open("b").await;
    assert!(tab > first, "numbers are not used again");
    let left = || {
        std::fs::read_dir(harness.temporary())
            .unwrap()
            .flatten()
            .filter(is_profile)
            .count()
    };
    patiently(async { while left() != 1 {} }, || {
        "the dead browser's profile to go".to_owned()
    })
    .await;
}

/// A browser that is quit closes its tabs first, so the list may change before it disconnects.
/// Spec: dynamic-tools 101.
#[tokio::test]
async fn a_browser_that_the_user_quits_disconnects() {
    let Some(Scene { harness, user, .. }) = Scene::set().await else {
        return;
    };
    user.quits().await;
    if let Some(over) = OverExtension::here() {
        over.end_browser();
    }
    while harness.names().await != ["connect_browser"] {
        harness.client.next_notification().await;
    }
    let said = harness
        .client
        .call_tool("list_tabs", json!({}))
        .await
        .expect_error();
    assert_eq!(
        said,
        "list_tabs needs a browser and none is connected. Call connect_browser first."
    );
}

/// The list changes when the user opens the first tab and closes the last.
/// Spec: dynamic-tools 94; decisions 11.
#[tokio::test]
async fn the_users_first_and_last_tab_change_the_list() {
    let profile = tempfile::tempdir().unwrap();
    let folder = format!("--userDataDir={}", profile.path().display());
    let port = "--chromeArg=--remote-debugging-port=0";
    let (harness, user) = match OverExtension::here() {
        Some(over) => {
            let harness = McpHarness::launched(&[]).await;
            (harness.unwrap(), User::at(&over.websocket()).await)
        }
        None => {
            let Some(harness) = harness_with_profile(&[&folder, port]).await else {
                return;
            };
            (harness, User::of_profile(profile.path()).await)
        }
    };
    let a = harness.pages.url("a");
    user.opens(&a).await;
    harness.one_notice().await;
    assert_names(
        &harness.names().await,
        &["list_tabs", "open_tab", "focus_tab"],
    );
    user.closes(&a).await;
    harness.one_notice().await;
    assert_names(&harness.names().await, &["list_tabs", "open_tab"]);
}

pub(crate) async fn harness_with_profile(flags: &[&str]) -> Option<McpHarness> {
    let browser = tabmux_testkit::real_browser()?;
    let named = format!("--executablePath={}", browser.display());
    let own = ["--headless", "--chromeArg=--disable-quic", &named];
    let harness = McpHarness::start(&[&own, flags].concat());
    harness.client.initialize().await;
    harness
        .text("connect_browser", json!({"launch": true}))
        .await;
    assert_eq!(harness.client.take_notifications().await.len(), 1);
    Some(harness)
}

fn is_profile(entry: &std::fs::DirEntry) -> bool {
    entry
        .file_name()
        .to_string_lossy()
        .starts_with("tabmux-profile-")
}
