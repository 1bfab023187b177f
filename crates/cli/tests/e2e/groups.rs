//! The tabs of an agent are in a tab group with its name, in the background, also after restarts.
//! `TABMUX_SOAK=1` also limits how long the end of a stopped daemon takes.

use crate::inside::Inside;
use crate::own_browser::OwnBrowser;
use crate::user::User;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tabmux_testkit::{McpClient, patiently, process};

/// Spec: multi-client 13, 46.
#[tokio::test]
async fn an_agents_tabs_are_in_a_group_with_its_name_and_end_with_it() {
    let Some(mut own) = OwnBrowser::open().await else {
        return;
    };
    let mut user = User::at(own.chromium.websocket_url()).await;
    let mine = own.pages.url("mine");
    user.opens(&mine).await;
    user.switches_to(&mine).await;
    let worker = Inside::worker(&mut user).await;
    let one = own.agent_named("Claude Code", &[]).await;
    let two = own
        .agent_named("Claude Code", &["--onSessionEnd=keep"])
        .await;
    opens(&own, &one, "form?1").await;
    opens(&own, &one, "form?2").await;
    opens(&own, &two, "form?3").await;
    let groups = until_groups(&worker, &[("Claude Code", 2), ("Claude Code · 2", 1)]).await;
    let colours: Vec<_> = groups.iter().map(|group| group["color"].clone()).collect();
    assert_ne!(colours[0], colours[1]);
    assert!(groups.iter().all(|group| group["collapsed"] == false));
    assert_eq!(user.title_in_front().await, "Mine");

    // The extension's process dies: Chrome restarts it, the groups stay the same, and the next tab goes into the
    // right one.
    kill_extension(&own);
    own.until_connected(false).await;
    own.until_connected(true).await;
    let worker = Inside::worker(&mut user).await;
    opens(&own, &one, "form?4").await;
    until_groups(&worker, &[("Claude Code", 3), ("Claude Code · 2", 1)]).await;

    // The daemon dies: the next one knows the owner of each tab.
    own.kill_daemon();
    own.start_daemon();
    own.until_connected(true).await;
    opens(&own, &one, "form?5").await;
    until_groups(&worker, &[("Claude Code", 4), ("Claude Code · 2", 1)]).await;

    // The daemon is stopped: the first agent's tabs and group are closed with its session, and no group is there
    // twice later.
    let stopped = Instant::now();
    own.stop_daemon();
    until_groups(&worker, &[("Claude Code · 2", 1)]).await;
    check_time(stopped);
    own.start_daemon();
    own.until_connected(true).await;
    opens(&own, &one, "form?6").await;
    until_groups(&worker, &[("Claude Code", 1), ("Claude Code · 2", 1)]).await;

    // The end of the first agent closes its tabs and its group; the second keeps its tab open.
    drop(one);
    until_groups(&worker, &[("Claude Code · 2", 1)]).await;
    drop(two);
    let gone = async { while own.sessions() > 0 {} };
    patiently(gone, || "the end of all sessions".to_owned()).await;
    assert!(user.urls().await.contains(&own.pages.url("form?3")));
    assert!(user.urls().await.contains(&mine));
}

/// How fast a busy machine is says nothing about tabmux; `make soak` has the machine for itself.
fn check_time(stopped: Instant) {
    let took = stopped.elapsed();
    #[expect(
        clippy::print_stderr,
        reason = "the reader of a test run wants to know"
    )]
    {
        eprintln!("tabs and groups were closed {took:?} after `daemon stop`"); // Shown with `--no-capture`.
    }
    if std::env::var_os("TABMUX_SOAK").is_some() {
        assert!(took <= LIMIT, "{took:?}");
    }
}

/// Ends the process of the extension, as the system does when memory is short.
fn kill_extension(own: &OwnBrowser) {
    let profile = own.chromium.profile().display().to_string();
    let mut processes = process::processes_with(&profile).into_iter();
    let extension = processes.find(|process| process.command.contains("--extension-process"));
    process::kill_hard(extension.expect("an extension runs").pid);
}

async fn opens(own: &OwnBrowser, agent: &McpClient, page: &str) {
    let url = own.pages.url(page);
    agent.call_tool("new_page", json!({"url": url})).await.ok();
}

/// Waits until Chrome has these groups, each with this number of tabs.
async fn until_groups(worker: &Inside, wanted: &[(&str, u64)]) -> Vec<Value> {
    let script = "(async () => { const groups = await chrome.tabGroups.query({}); \
                  for (const group of groups) group.tabs = (await chrome.tabs.query({groupId: group.id})).length; \
                  return groups; })()";
    let mut latest = Value::Null;
    for _ in 0..10_000 {
        latest = worker.eval(script).await;
        let mut groups: Vec<_> = latest.as_array().unwrap().clone();
        groups.sort_by_key(|group| group["title"].as_str().unwrap_or_default().to_owned());
        let found: Vec<_> = groups
            .iter()
            .map(|group| {
                (
                    group["title"].as_str().unwrap(),
                    group["tabs"].as_u64().unwrap(),
                )
            })
            .collect();
        if found == wanted {
            return groups;
        }
        tokio::task::yield_now().await;
    }
    panic!("{wanted:?} are not {latest:#}");
}

/// After `daemon stop` the tabs and groups of its agents have to be closed within this time.
const LIMIT: Duration = Duration::from_secs(5);
