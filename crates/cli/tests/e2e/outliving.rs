//! Sessions outlive their daemon, named sessions outlive their callers, and nothing stays longer than needed.

use crate::crowd::Crowd;
use crate::running_browser::RunningBrowser;
use serde_json::{Value, json};
use tabmux_testkit::{McpClient, OverExtension, process};

async fn evaluate(client: &McpClient, script: &str) -> String {
    let arguments = json!({"function": format!("() => {script}")});
    let reply = client.call_tool("evaluate_script", arguments).await.ok();
    reply.text().replace('"', "")
}

async fn session_of(client: &McpClient) -> Value {
    let status = client.call_tool("browser_get_connection_status", json!({}));
    status.await.ok().json()["sessionId"].clone()
}

fn rows(crowd: &Crowd, what: &str) -> Vec<Value> {
    crowd.asked(what).as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_in_a_users_browser_finds_its_tab_again_after_its_daemon_died() {
    let Some(crowd) = Crowd::gather() else { return };
    let browser = RunningBrowser::start(&crowd).await;
    let mut client = browser.guest(&crowd, &[]).await;
    let url = crowd.secret_of("mine");
    client.call_tool("new_page", json!({"url": url})).await.ok();
    let before = rows(&crowd, "tabs");
    let session = session_of(&client).await;

    process::kill_hard(crowd.daemon().expect("a daemon runs"));
    client.next_notification().await;
    assert_eq!(evaluate(&client, "document.title").await, "mine");
    assert_eq!(session_of(&client).await, session);
    // The tab has the same number, and the user's tab still belongs to the user.
    let held = |rows: &[Value]| rows.iter().find(|row| row["title"] == "mine").cloned();
    let (old, new) = (held(&before).unwrap(), held(&rows(&crowd, "tabs")).unwrap());
    assert_eq!((&old["id"], &old["holder"]), (&new["id"], &new["holder"]));

    client.close_input().await;
    assert!(client.wait_for_exit().await.success());
    while rows(&crowd, "tabs")
        .iter()
        .any(|row| row["title"] == "mine")
    {
        tokio::task::yield_now().await;
    }
    assert_eq!(rows(&crowd, "tabs").len(), 1, "the user's own tab stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_with_a_changing_list_continues_in_its_tab_after_its_daemon_died() {
    let Some(crowd) = Crowd::gather() else { return };
    let browser = RunningBrowser::start(&crowd).await;
    let client = browser.guest(&crowd, &["--tools=progressive"]).await;
    client.call_tool("connect_browser", json!({})).await.ok();
    let url = crowd.secret_of("mine");
    client.call_tool("open_tab", json!({"url": url})).await.ok();
    let held = |rows: Vec<Value>| rows.into_iter().find(|row| row["title"] == "mine").unwrap();
    let old = held(rows(&crowd, "tabs"));

    process::kill_hard(crowd.daemon().expect("a daemon runs"));
    client.next_notification().await;
    let tools = client.tool_names().await;
    assert!(tools.contains(&"take_snapshot".to_owned()), "{tools:?}");
    let seen = client.call_tool("take_snapshot", json!({})).await.ok();
    assert!(seen.text().contains("mine"), "{}", seen.text());
    let new = held(rows(&crowd, "tabs"));
    assert_eq!((&old["id"], &old["holder"]), (&new["id"], &new["holder"]));
}

/// Kills the daemon, and then the next one as soon as the client has reconnected.
async fn outlive_two_daemons(crowd: &Crowd, client: &McpClient) {
    for _ in 0..2 {
        process::kill_hard(crowd.daemon().expect("a daemon runs"));
        client.next_notification().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tab_is_found_again_though_the_second_daemon_died_before_it_was_needed() {
    let Some(crowd) = Crowd::gather() else { return };
    let browser = RunningBrowser::start(&crowd).await;
    let client = browser.guest(&crowd, &[]).await;
    let url = crowd.secret_of("mine");
    client.call_tool("new_page", json!({"url": url})).await.ok();
    outlive_two_daemons(&crowd, &client).await;
    assert_eq!(evaluate(&client, "document.title").await, "mine");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_tab_is_reported_though_the_second_daemon_died_first() {
    let Some(crowd) = Crowd::gather() else { return };
    let client = crowd.client(&[]).await;
    let url = crowd.secret_of("mine");
    let to = json!({"url": url});
    client.call_tool("navigate_page", to).await.ok();
    outlive_two_daemons(&crowd, &client).await;
    let looked = client.call_tool("take_snapshot", json!({})).await;
    let told = looked.expect_error();
    assert!(told.contains("is gone with its browser"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tabs_of_sessions_that_do_not_come_back_are_closed() {
    let Some(crowd) = Crowd::gather() else { return };
    let browser = RunningBrowser::start(&crowd).await;
    let client = browser.guest(&crowd, &[]).await;
    let url = crowd.secret_of("abandoned");
    client.call_tool("new_page", json!({"url": url})).await.ok();
    let daemon = crowd.daemon().expect("a daemon runs");
    // A daemon that notices its client's end would close the tab itself.
    process::freeze(daemon);
    process::kill_hard(client.pid());
    process::kill_hard(daemon);
    process::wait_until_gone(&[client.pid(), daemon]).await;

    let user = &browser.user;
    let left = user.urls().await;
    assert!(left.contains(&url), "the tab outlives both: {left:?}");
    let mut next = crowd.tabmux();
    next.args(["daemon", "run", "--grace=0"]);
    let mut next = next.spawn().unwrap();
    while user.urls().await.contains(&url) {
        assert_eq!(next.try_wait().unwrap(), None, "the next daemon has ended");
        tokio::task::yield_now().await;
    }
    assert_eq!(user.urls().await.len(), 1, "the user's own tab stays");
    process::kill_hard(next.id());
    next.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_daemon_stays_down_until_it_is_needed() {
    let Some(crowd) = Crowd::gather() else { return };
    let client = crowd.client(&[]).await;
    let url = crowd.secret_of("one");
    client
        .call_tool("navigate_page", json!({"url": url}))
        .await
        .ok();
    let waiting = client
        .begin_call("wait_for", json!({"text": ["never"], "timeout": 60_000}))
        .await;
    while crowd.asked("sessions")[0]["calls"] != json!(1) {
        tokio::task::yield_now().await;
    }
    let daemon = crowd.daemon().expect("a daemon runs");
    assert!(
        crowd
            .tabmux()
            .args(["daemon", "stop"])
            .status()
            .unwrap()
            .success()
    );
    let told = waiting.tool_reply().await.expect_error();
    assert!(told.contains("daemon was stopped"), "{told}");
    process::wait_until_gone(&[daemon]).await;
    assert_eq!(crowd.daemon(), None, "nobody has started another");
    client
        .call_tool("navigate_page", json!({"url": url}))
        .await
        .ok();
    assert_eq!(evaluate(&client, "document.title").await, "one");
}

/// The next daemon waits for the end of the previous one: otherwise it finds the profile in use and launches its
/// browser with a temporary one, where the agent is logged out.
#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_is_needed_as_it_stops_is_followed_by_one_with_the_same_profile() {
    let Some(crowd) = Crowd::gather() else { return };
    if OverExtension::here().is_some() {
        return; // In a person's browser the profile is the person's.
    }
    let client = crowd.client_in(&[]).await;
    let url = crowd.secret_of("one");
    let profiles = || {
        let processes = process::processes_with("--remote-debugging-pipe").into_iter();
        let ours = processes.filter(|process| process.command.contains(&crowd.mark()));
        let browsers = ours.filter(|process| !process.command.contains("--type="));
        let profile = |command: &str| {
            let mut words = command.split(' ');
            words.find(|word| word.starts_with("--user-data-dir="))?;
            Some(command.contains("/tabmux/profile"))
        };
        let profiles = browsers.map(|browser| profile(&browser.command));
        profiles.collect::<Vec<_>>()
    };
    for _ in 0..3 {
        let to = json!({"url": url});
        client.call_tool("navigate_page", to).await.ok();
        assert_eq!(profiles(), [Some(true)]);
        let stopped = crowd.tabmux().args(["daemon", "stop"]).status().unwrap();
        assert!(stopped.success());
        // The client notices it, and starts the next daemon with its next call.
        let looked = client.call_tool("list_pages", json!({})).await;
        drop(looked);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn isolated_sessions_share_a_browser_and_nothing_in_it() {
    let Some(crowd) = Crowd::gather() else { return };
    let [one, mut two] = [
        crowd.client_in(&["--isolated"]).await,
        crowd.client_in(&["--isolated"]).await,
    ];
    for (client, name) in [(&one, "one"), (&two, "two")] {
        let url = crowd.secret_of("same");
        client
            .call_tool("navigate_page", json!({"url": url}))
            .await
            .ok();
        evaluate(client, &format!("document.cookie = 'who={name}'")).await;
    }
    for (client, name) in [(&one, "one"), (&two, "two")] {
        assert_eq!(
            evaluate(client, "document.cookie").await,
            format!("who={name}")
        );
        let pages = client.call_tool("list_pages", json!({})).await.ok().text();
        assert_eq!(pages.lines().count(), 1, "{pages}");
    }
    assert_eq!(rows(&crowd, "browsers").len(), 1);
    two.close_input().await;
    assert!(two.wait_for_exit().await.success());
    while rows(&crowd, "tabs").len() > 1 {
        tokio::task::yield_now().await;
    }
    assert_eq!(evaluate(&one, "document.cookie").await, "who=one");
}
