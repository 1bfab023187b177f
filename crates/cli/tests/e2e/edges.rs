//! What the user and the browser do by themselves: the seed's table of edge cases.

use crate::desk::{ACTIONS, Desk, FOCUSED, Tabs, assert_names};
use crate::over_extension::Capability;
use crate::user::User;
use serde_json::json;
use tabmux_testkit::{Chromium, OverExtension, patiently};

/// A browser of the user's with A focused by the agent, and B.
struct Scene {
    desk: Desk,
    user: User,
    /// None if it is kept by somebody else.
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
        let (desk, user, chromium) = match OverExtension::here() {
            Some(over) => {
                let desk = Desk::disconnected(flags).await?;
                let user = User::at(&over.websocket()).await;
                user.opens("about:blank").await;
                desk.step("connect_browser", json!({})).await.json();
                (desk, user, None)
            }
            None => {
                let chromium = Chromium::start(&executable);
                let desk = Desk::attached(&chromium, flags).await;
                let user = User::at(chromium.websocket_url()).await;
                (desk, user, Some(chromium))
            }
        };
        let [a, b] = ["a", "b"].map(|path| desk.pages.url(path));
        desk.text("open_tab", json!({"url": b, "focus": false}))
            .await;
        desk.text("open_tab", json!({"url": a})).await;
        desk.client.take_notifications().await;
        Some(Self {
            desk,
            user,
            chromium,
            a,
            b,
        })
    }

    /// Time for a notification that should not come: the wait is the server's own, and longer than
    /// the time in which it gathers changes.
    async fn stays_silent(&self) {
        let wait = json!({"text": ["what no page says"], "timeout": 200});
        self.desk
            .client
            .call_tool("wait_for", wait)
            .await
            .expect_error();
        self.desk.client.assert_no_notification().await;
    }
}

/// Spec: dynamic-tools 83.
#[tokio::test]
async fn the_user_closes_the_focused_tab() {
    let Some(scene) = Scene::set().await else {
        return;
    };
    let Scene {
        desk, user, a, b, ..
    } = &scene;
    let lost = desk.tabs().await.id_of(a);
    user.closes(a).await;
    desk.one_notice().await;
    assert_names(&desk.names().await, &["list_tabs", "open_tab", "focus_tab"]);
    let tabs = desk.tabs().await;
    assert_eq!(tabs.urls(), ["about:blank", b]);
    assert_eq!(tabs.focused(), None);
    for tool in ["close_tab", "take_snapshot"] {
        let expected = format!(
            "{tool} needs a focused tab, and tab {lost} was closed. Call focus_tab first; list_tabs \
             shows the tabs."
        );
        assert_eq!(desk.refusal(tool, json!({})).await, expected);
    }
}

/// Spec: dynamic-tools 84.
#[tokio::test]
async fn the_user_opens_and_closes_other_tabs_in_silence() {
    let Some(scene) = Scene::set().await else {
        return;
    };
    let Scene {
        desk, user, a, b, ..
    } = &scene;
    let c = desk.pages.url("c");
    user.opens(&c).await;
    let tabs = desk
        .tabs_until(|tabs| tabs.rows().iter().any(|row| row["title"] == "C"))
        .await;
    assert_eq!(tabs.urls(), ["about:blank", b, a, &c]);
    assert_eq!(tabs.focused(), Some(tabs.id_of(a)));
    user.closes(b).await;
    let tabs = desk.tabs_until(|tabs| tabs.rows().len() == 3).await;
    assert_eq!(tabs.urls(), ["about:blank", a, &c]);
    scene.stays_silent().await;
    assert_names(&desk.names().await, &[&FOCUSED[..], &ACTIONS].concat());
}

/// Following the user is off unless it is asked for.
/// Spec: dynamic-tools 85.
#[tokio::test]
async fn the_user_switches_tabs_without_moving_the_agents_focus() {
    let Some(scene) = Scene::set().await else {
        return;
    };
    let Scene {
        desk, user, a, b, ..
    } = &scene;
    user.switches_to(b).await;
    scene.stays_silent().await;
    let tabs = desk.tabs().await;
    assert_eq!(tabs.focused(), Some(tabs.id_of(a)));
    assert_eq!(desk.evaluate("() => document.title").await, "A");
}

/// Spec: dynamic-tools 85.
#[tokio::test]
async fn an_agent_that_follows_the_user_works_where_the_user_is() {
    let Some(scene) = Scene::set_with(&["--followUserFocus"]).await else {
        return;
    };
    let Scene {
        desk, user, a, b, ..
    } = &scene;
    for (url, title) in [(b, "B"), (a, "A"), (b, "B")] {
        user.switches_to(url).await;
        desk.tabs_until(|tabs| tabs.focused() == Some(tabs.id_of(url)))
            .await;
        assert_eq!(desk.evaluate("() => document.title").await, title);
        assert_names(&desk.names().await, &[&FOCUSED[..], &ACTIONS].concat());
    }
    assert!(!desk.client.take_notifications().await.is_empty());
    // The agent may go elsewhere, until the user turns to another tab.
    desk.focus(desk.tabs().await.id_of(a)).await;
    assert_eq!(desk.evaluate("() => document.title").await, "A");
}

/// Spec: dynamic-tools 86, 101.
#[tokio::test]
async fn a_navigation_in_the_same_tab_changes_the_row_and_is_silent() {
    let Some(mut scene) = Scene::set().await else {
        return;
    };
    let c = scene.desk.pages.url("c");
    let number = scene.desk.tabs().await.id_of(&scene.a);
    scene.user.navigates(&scene.a, &c).await;
    let tabs = scene
        .desk
        .tabs_until(|tabs| tabs.rows()[2]["title"] == "C")
        .await;
    assert_eq!((tabs.id_of(&c), tabs.focused()), (number, Some(number)));
    scene.stays_silent().await;

    let step = scene
        .desk
        .step("navigate_page", json!({"url": scene.a}))
        .await;
    assert_eq!(step.notices, 0);
    step.reply.ok();
    scene
        .desk
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
    let lost = scene.desk.tabs().await.id_of(&scene.a);
    scene.user.crashes(&scene.a).await;
    let Scene { desk, b, .. } = &scene;
    desk.one_notice().await;
    assert_names(&desk.names().await, &["list_tabs", "open_tab", "focus_tab"]);
    let tabs = desk.tabs().await;
    assert_eq!(tabs.urls(), ["about:blank", b]);
    assert_eq!(tabs.focused(), None);
    let expected = format!(
        "take_snapshot needs a focused tab, and tab {lost} crashed. Call focus_tab first; list_tabs \
         shows the tabs."
    );
    assert_eq!(desk.refusal("take_snapshot", json!({})).await, expected);
}

/// Spec: dynamic-tools 87.
#[tokio::test]
async fn another_tab_crashes_in_silence() {
    let Some(mut scene) = Scene::set().await else {
        return;
    };
    scene.user.crashes(&scene.b).await;
    let tabs = scene.desk.tabs_until(|tabs| tabs.rows().len() == 2).await;
    assert_eq!(tabs.urls(), ["about:blank", &scene.a]);
    scene.stays_silent().await;
    assert_names(
        &scene.desk.names().await,
        &[&FOCUSED[..], &ACTIONS].concat(),
    );
}

/// A tab of the user's, which nobody is attached to.
/// Spec: dynamic-tools 87.
#[tokio::test]
async fn a_tab_in_which_nobody_works_crashes() {
    let Some(mut scene) = Scene::set().await else {
        return;
    };
    let c = scene.desk.pages.url("c");
    scene.user.opens(&c).await;
    let is_there = |tabs: &Tabs| tabs.rows().iter().any(|row| row["title"] == "C");
    let tabs = scene.desk.tabs_until(is_there).await;
    let number = tabs.id_of(&c);
    scene.user.crashes(&c).await;
    if !scene.desk.can(Capability::CrashesElsewhere) {
        // It is found out when the agent turns to it.
        let turn = json!({"tabId": number});
        let said = scene.desk.refusal("focus_tab", turn).await;
        assert!(said.contains("crashed"), "{said}");
    }
    let tabs = scene.desk.tabs_until(|tabs| tabs.rows().len() == 3).await;
    assert_eq!(tabs.urls(), ["about:blank", &scene.b, &scene.a]);
    scene.stays_silent().await;
}

#[tokio::test]
async fn a_call_on_a_tab_that_crashes_is_answered() {
    let Some(mut scene) = Scene::set().await else {
        return;
    };
    let wait = json!({"text": ["what no page says"], "timeout": 25_000});
    let waiting = scene.desk.client.begin_call("wait_for", wait).await;
    scene.user.crashes(&scene.a).await;
    let said = waiting.tool_reply().await.expect_error();
    assert!(said.contains("crashed") && said.contains("tab"), "{said}");
    scene.desk.one_notice().await;
}

/// Spec: dynamic-tools 57, 101.
#[tokio::test]
async fn a_browser_that_ends_disconnects_and_can_be_connected_again() {
    let Some(Scene { desk, chromium, .. }) = Scene::set().await else {
        return;
    };
    let wait = json!({"text": ["what no page says"], "timeout": 25_000});
    let waiting = desk.client.begin_call("wait_for", wait).await;
    match chromium {
        Some(chromium) => drop(chromium),
        None => desk.kill_browser(),
    }
    let said = waiting.tool_reply().await.expect_error();
    assert!(
        said.starts_with("wait_for was not finished because the browser is gone: "),
        "{said}"
    );
    assert!(
        said.ends_with("Call connect_browser to connect again."),
        "{said}"
    );
    desk.one_notice().await;
    assert_names(&desk.names().await, &["connect_browser"]);
    if let Some(over) = OverExtension::here() {
        // Its person starts it again, and has a blank tab.
        over.start_browser();
        let again = desk.step("connect_browser", json!({})).await;
        assert_eq!((again.notices, &again.json()["tabCount"]), (1, &json!(1)));
        return;
    }
    let again = desk.step("connect_browser", json!({"launch": true})).await;
    assert_eq!((again.reply.is_error(), again.notices), (true, 0));
    assert_eq!(again.reply.structured()["connected"], false);
    assert_names(&desk.names().await, &["connect_browser"]);
}

/// Spec: dynamic-tools 101.
#[tokio::test]
async fn a_launched_browser_that_dies_can_be_launched_again() {
    let Some(desk) = Desk::launched(&[]).await else {
        return;
    };
    let first = desk.open("a").await;
    desk.kill_browser();
    desk.one_notice().await;
    assert_names(&desk.names().await, &["connect_browser"]);
    let again = desk.step("connect_browser", json!({"launch": true})).await;
    assert_eq!((again.notices, &again.json()["tabCount"]), (1, &json!(0)));
    let tab = desk.open("b").await;
    assert!(tab > first, "numbers are not used again");
    let left = || {
        std::fs::read_dir(desk.temporary())
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

/// A browser that is quit closes its tabs first, which may be seen on the way.
/// Spec: dynamic-tools 101.
#[tokio::test]
async fn a_browser_that_the_user_quits_disconnects() {
    let Some(Scene { desk, user, .. }) = Scene::set().await else {
        return;
    };
    user.quits().await;
    if let Some(over) = OverExtension::here() {
        over.end_browser();
    }
    while desk.names().await != ["connect_browser"] {
        desk.client.next_notification().await;
    }
    let said = desk
        .client
        .call_tool("list_tabs", json!({}))
        .await
        .expect_error();
    assert_eq!(
        said,
        "list_tabs needs a browser and none is connected. Call connect_browser first."
    );
}

/// The first and the last tab of the user's change the list.
/// Spec: dynamic-tools 94; decisions 11.
#[tokio::test]
async fn the_users_first_and_last_tab_change_the_list() {
    let profile = tempfile::tempdir().unwrap();
    let folder = format!("--userDataDir={}", profile.path().display());
    let port = "--chromeArg=--remote-debugging-port=0";
    let (desk, user) = match OverExtension::here() {
        Some(over) => {
            let desk = Desk::launched(&[]).await;
            (desk.unwrap(), User::at(&over.websocket()).await)
        }
        None => {
            let Some(desk) = desk_with_profile(&[&folder, port]).await else {
                return;
            };
            (desk, User::of_profile(profile.path()).await)
        }
    };
    let a = desk.pages.url("a");
    user.opens(&a).await;
    desk.one_notice().await;
    assert_names(&desk.names().await, &["list_tabs", "open_tab", "focus_tab"]);
    user.closes(&a).await;
    desk.one_notice().await;
    assert_names(&desk.names().await, &["list_tabs", "open_tab"]);
}

pub(crate) async fn desk_with_profile(flags: &[&str]) -> Option<Desk> {
    let browser = tabmux_testkit::real_browser()?;
    let named = format!("--executablePath={}", browser.display());
    let own = ["--headless", "--chromeArg=--disable-quic", &named];
    let desk = Desk::start(&[&own, flags].concat());
    desk.client.initialize().await;
    desk.text("connect_browser", json!({"launch": true})).await;
    assert_eq!(desk.client.take_notifications().await.len(), 1);
    Some(desk)
}

fn is_profile(entry: &std::fs::DirEntry) -> bool {
    entry
        .file_name()
        .to_string_lossy()
        .starts_with("tabmux-profile-")
}
