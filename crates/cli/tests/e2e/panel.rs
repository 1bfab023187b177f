//! The side panel in a real browser: what the person sees, and what they can do.

use crate::inside::{Inside, kill_worker};
use crate::own_browser::OwnBrowser;
use crate::user::User;
use serde_json::json;
use tabmux_testkit::McpClient;

/// Two agents, each with a page, and the panel next to the person's own page.
pub(crate) struct Scene {
    pub(crate) own: OwnBrowser,
    pub(crate) user: User,
    pub(crate) one: McpClient,
    pub(crate) two: McpClient,
    pub(crate) panel: Inside,
}

impl Scene {
    pub(crate) async fn set() -> Option<Self> {
        let own = OwnBrowser::open().await?;
        let mut user = User::at(own.chromium.websocket_url()).await;
        let mine = own.pages.url("mine");
        user.opens(&mine).await;
        user.switches_to(&mine).await;
        let one = own.agent_named("Claude Code", &[]).await;
        let two = own.agent_named("Cursor", &[]).await;
        for (agent, page) in [(&one, "form?one"), (&two, "form?two")] {
            let url = own.pages.url(page);
            agent.call_tool("new_page", json!({"url": url})).await.ok();
        }
        let panel = Inside::panel(&mut user).await;
        panel.reads("Connected").await;
        Some(Self {
            own,
            user,
            one,
            two,
            panel,
        })
    }
}

pub(crate) async fn search_of(agent: &McpClient) -> String {
    let script = json!({"function": "() => document.title + location.search"});
    agent.call_tool("evaluate_script", script).await.ok().text()
}

pub(crate) async fn refused(agent: &McpClient) -> String {
    let script = json!({"function": "() => 1"});
    agent
        .call_tool("evaluate_script", script)
        .await
        .expect_error()
}

/// Spec: multi-client 13.
#[tokio::test]
async fn the_panel_shows_who_works_where_and_pauses_all() {
    let Some(scene) = Scene::set().await else {
        return;
    };
    let Scene {
        one, two, panel, ..
    } = &scene;
    for text in ["Claude Code", "Cursor", "Form", "Waiting for its next call"] {
        panel.reads(text).await;
    }
    let cards = "[...document.querySelectorAll('.agent')].map((it) => it.querySelectorAll('.tab').length).join()";
    assert_eq!(panel.eval(cards).await, "1,1");
    // The panel shows what an agent is doing now, with its tab, but no text of the page.
    let slow = json!({"function": "() => new Promise(() => {})"});
    let slow = one.begin_call("evaluate_script", slow).await;
    panel.reads("evaluate_script").await;
    panel.presses("Pause all").await;
    let ended = slow.answer().await;
    let text = format!("{ended:?}");
    assert!(text.contains("The person paused all agents"), "{text}");
    panel.reads("All agents are paused").await;
    for agent in [one, two] {
        let text = refused(agent).await;
        assert!(text.starts_with("The person paused all agents"), "{text}");
    }
    panel.presses("Resume all").await;
    panel.reads("Pause all").await;
    assert!(search_of(one).await.contains("?one"));
    assert!(search_of(two).await.contains("?two"));
}

#[tokio::test]
async fn the_person_takes_a_tab_back_and_gives_another() {
    let Some(mut scene) = Scene::set().await else {
        return;
    };
    let worker = Inside::worker(&mut scene.user).await;
    let Scene {
        one, panel, own, ..
    } = &scene;
    let mine = own.pages.url("mine");
    panel.reads("No agent works in this tab.").await;
    panel.presses("Give it to Claude Code").await;
    panel.reads("Claude Code works in this tab.").await;
    let told = refused(one).await;
    assert!(told.contains("the person gave this session tab"), "{told}");
    assert!(search_of(one).await.contains("Mine"));
    panel.presses("Take it back").await;
    panel.reads("No agent works in this tab.").await;
    let told = refused(one).await;
    assert!(told.contains("was taken back by the person"), "{told}");
    let (first, second) = (own.pages.url("form?one"), own.pages.url("form?two"));
    worker.until_held(&[&first, &second]).await;
    // A tab that the agent opened also leaves its group, and stays open when the agent ends.
    let group = "chrome.tabs.query({url: '*://*/form?two'}).then(([tab]) => tab.groupId)";
    assert_ne!(worker.eval(group).await, -1);
    let row = "[...document.querySelectorAll('.agent')].find((it) => it.innerText.startsWith('Cursor')).querySelector('.back').click()";
    panel.eval(row).await;
    worker.until_held(&[&first]).await;
    worker
        .until(&format!("{group}.then((id) => id === -1)"))
        .await;
    let told = refused(&scene.two).await;
    assert!(told.contains("was taken back by the person"), "{told}");
    // The next call gets a new tab.
    assert!(!search_of(&scene.two).await.contains("?two"));
    let urls = scene.user.urls().await;
    assert!(urls.contains(&second) && urls.contains(&mine), "{urls:?}");
}

#[tokio::test]
async fn steps_stop_when_the_person_takes_their_tab_back() {
    let Some(scene) = Scene::set().await else {
        return;
    };
    let form = scene.own.pages.url("form?one");
    scene.user.switches_to(&form).await;
    let Scene { one, panel, .. } = &scene;
    panel.reads("Claude Code works in this tab.").await;
    let steps = json!([
        {"tool": "wait_for", "arguments": {"text": ["never shown"], "timeout": 60_000}},
        {"tool": "press_key", "arguments": {"key": "x"}},
    ]);
    let running = one.begin_call("run_steps", json!({"steps": steps})).await;
    panel.reads("wait_for").await;
    panel.presses("Take it back").await;
    let told = running.tool_reply().await.text();
    assert!(
        told.contains("Stopped at step 1: wait_for failed: ")
            && told.contains("was taken back by the person"),
        "{told}"
    );
    assert!(told.contains("0 of at most 2 calls were made"), "{told}");
}

#[tokio::test]
async fn the_panel_recovers_from_every_failure_and_says_what_is_missing() {
    let Some(mut scene) = Scene::set().await else {
        return;
    };
    kill_worker(&scene.user).await;
    // What is pressed before the panel has noticed that is not sent, and the panel says so.
    scene.panel.reads("tabmux is not connected.").await;
    scene.own.until_connected(true).await;
    scene.panel.reads("Claude Code").await;
    scene.panel.presses("Pause all").await;
    scene.panel.reads("All agents are paused").await;
    // The pause survives the end of the worker and the daemon.
    kill_worker(&scene.user).await;
    scene.panel.reads("tabmux is not connected.").await;
    scene.panel.reads("All agents are paused").await;
    scene.own.kill_daemon();
    scene.panel.reads("tabmux is not connected.").await;
    scene.own.start_daemon();
    scene.panel.reads("All agents are paused").await;
    let text = refused(&scene.one).await;
    assert!(text.starts_with("The person paused all agents"), "{text}");
    scene.panel.presses("Resume all").await;
    scene.panel.reads("Pause all").await;
    // Their tabs are shown again before the next call.
    let tabs = "document.querySelectorAll('.tab').length === 2";
    scene.panel.until(tabs).await;
    assert!(search_of(&scene.one).await.contains("?one"));
    // Without agents no daemon is started.
    let Scene {
        mut own,
        one,
        two,
        panel,
        ..
    } = scene;
    drop((one, two));
    panel.reads("No agent is connected.").await;
    // The running daemon may be one that an agent started.
    let stopped = own.tabmux(&["daemon", "stop"]).output().unwrap();
    assert!(stopped.status.success());
    panel.reads("The daemon is not running").await;
    own.start_daemon();
    panel.reads("No agent is connected.").await;
}

#[tokio::test]
async fn hostile_titles_are_text_and_nothing_is_fetched() {
    let Some(scene) = Scene::set().await else {
        return;
    };
    let Scene { one, panel, .. } = &scene;
    let name = "<img src=x onerror=alert(1)>\u{202e}\n<script>window.hurt=1</script>";
    let title =
        json!({"function": format!("() => {{ document.title = {}; }}", json!(name.repeat(50)))});
    one.call_tool("evaluate_script", title).await.ok();
    panel.reads("<img src=x onerror=alert(1)>").await;
    assert_eq!(panel.eval("document.images.length").await, 0);
    assert_eq!(panel.eval("document.scripts.length").await, 1);
    assert_eq!(panel.eval("window.hurt === undefined").await, true);
    let foreign = "performance.getEntriesByType('resource').filter((it) => !it.name.startsWith(location.origin)).length";
    assert_eq!(panel.eval(foreign).await, 0);
    panel
        .command(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": 280, "height": 600, "deviceScaleFactor": 1, "mobile": false}),
        )
        .await;
    panel
        .until("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        .await;
}

/// Spec: dynamic-tools 85.
#[tokio::test]
async fn an_agent_that_follows_the_person_turns_to_the_tab_in_front() {
    let Some(own) = OwnBrowser::open().await else {
        return;
    };
    let user = User::at(own.chromium.websocket_url()).await;
    let [here, there] = ["form?here", "form?there"].map(|page| own.pages.url(page));
    user.opens(&here).await;
    user.opens(&there).await;
    let agent = own.agent_named("Cursor", &["--followUserFocus"]).await;
    agent.call_tool("list_pages", json!({})).await.ok();
    for url in [&here, &there, &here] {
        user.switches_to(url).await;
        let selected = format!("({url}) [selected]");
        let turned = async {
            loop {
                let pages = agent.call_tool("list_pages", json!({})).await.ok().text();
                if pages.contains(&selected) {
                    return;
                }
            }
        };
        tabmux_testkit::patiently(turned, || format!("it did not turn to {url}")).await;
        let search = url.split_once('?').unwrap().1;
        assert!(search_of(&agent).await.ends_with(&format!("?{search}\"")));
    }
}
