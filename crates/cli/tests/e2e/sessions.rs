//! Many agents in one browser: each has its own tab, gets its own answers, and a correct status.

use crate::crowd::Crowd;
use crate::over_extension::Capability;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tabmux_testkit::{McpClient, OverExtension, process};

async fn status(client: &McpClient) -> Value {
    client
        .call_tool("browser_get_connection_status", json!({}))
        .await
        .ok()
        .json()
}

async fn title(client: &McpClient, more: Value) -> String {
    let mut arguments = json!({"function": "() => document.title"});
    arguments
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    client
        .call_tool("evaluate_script", arguments)
        .await
        .ok()
        .text()
        .replace('"', "")
}

/// The verification plan of the specification: distinct sessions, distinct tabs, the right tab for explicit ids,
/// a correct status when the browser ends.
async fn verify_with(count: usize) {
    let Some(crowd) = Crowd::gather() else { return };
    let mut clients = Vec::new();
    for _ in 0..count {
        clients.push(crowd.client(&[]).await);
    }
    // The handshake is answered before the session is open; a call waits for the session.
    for client in &clients {
        status(client).await;
    }
    // Spec: multi-client 28, 40, 44.
    // Each client has its own session, as the daemon reports.
    let mut sessions = BTreeSet::new();
    for client in &clients {
        let told = status(client).await;
        assert_eq!(
            (&told["connected"], &told["mode"]),
            (&json!(false), &json!("daemon"))
        );
        assert_eq!(told["activeSessions"], count);
        sessions.insert(told["sessionId"].as_str().unwrap().to_owned());
    }
    assert_eq!(sessions.len(), count);
    // Spec: multi-client 41.
    // A tool without a tab opens one, for all clients at once.
    let goings = clients.iter().enumerate().map(|(number, client)| {
        let url = crowd.secret_of(&format!("agent{number}"));
        async move {
            client
                .call_tool("navigate_page", json!({"url": url}))
                .await
                .ok()
        }
    });
    futures_util::future::join_all(goings).await;
    for (number, client) in clients.iter().enumerate() {
        assert_eq!(title(client, json!({})).await, format!("agent{number}"));
    }
    let tabs = crowd.asked("tabs");
    assert_eq!(tabs.as_array().unwrap().len(), count);
    let holders: BTreeSet<_> = tabs
        .as_array()
        .unwrap()
        .iter()
        .map(|tab| tab["holder"].to_string())
        .collect();
    assert_eq!(holders.len(), count);
    // Spec: security 20.
    // No client sees the tab of another.
    for (number, client) in clients.iter().enumerate() {
        let pages = client.call_tool("list_pages", json!({})).await.ok().text();
        assert_eq!(pages.lines().count(), 1, "{pages}");
        assert!(pages.contains(&format!("agent{number} (")), "{pages}");
    }
    // Spec: multi-client 42.
    // An explicit id reaches that tab, and binds the session to it.
    let name = format!("agent{}", count - 1);
    let mut found = tabs.as_array().unwrap().iter();
    let last = found
        .find(|tab| tab["title"] == name)
        .expect("everybody's title is known");
    let everybodys = format!("#{}", last["id"]);
    let named = title(&clients[0], json!({"tabId": everybodys})).await;
    assert!(
        named.starts_with(last["title"].as_str().unwrap()),
        "{named}"
    );
    assert!(named.contains("also held by another session"), "{named}");
    assert_eq!(
        title(&clients[0], json!({})).await,
        last["title"].as_str().unwrap()
    );
    // Spec: multi-client 43.
    // The browser ends, and the status of every client says so.
    crowd.kill_browser().await;
    // A person's browser is waited for.
    let state = match OverExtension::here() {
        Some(_) => "connecting",
        None => "disconnected",
    };
    for client in &clients {
        let mut told = status(client).await;
        // The daemon notices the end a moment after the process is gone.
        let patience = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while told["connected"] == json!(true) {
            assert!(std::time::Instant::now() < patience, "{told}");
            told = status(client).await;
        }
        assert_eq!(told["browsers"][0]["state"], state);
    }
    if let Some(over) = OverExtension::here() {
        over.start_browser();
    }
    // Every client recovers by itself: one error that names the tab, then a new tab.
    let lost = clients[0]
        .call_tool("take_snapshot", json!({}))
        .await
        .expect_error();
    assert!(
        lost.contains("the browser is gone") || lost.contains("tab"),
        "{lost}"
    );
    clients[0].call_tool("take_snapshot", json!({})).await.ok();
    if !crowd.can(Capability::Launch) {
        // The person restarted it, so only the loss of the tab is reported, to every client.
        let lost = clients[1].call_tool("take_snapshot", json!({})).await;
        let lost = lost.expect_error();
        assert!(lost.contains("was closed"), "{lost}");
        clients[1].call_tool("take_snapshot", json!({})).await.ok();
        return;
    }
    // A client that only lists pages is told once, too.
    for expected in [true, false] {
        let seen = clients[1].call_tool("list_pages", json!({})).await.ok();
        let told = seen.text().contains("had ended and was started again");
        assert_eq!(told, expected, "{}", seen.text());
    }
}

/// Spec: multi-client 40, 41, 42, 43.
#[tokio::test(flavor = "multi_thread")]
async fn two_clients_share_one_browser() {
    verify_with(2).await;
}

/// Spec: multi-client 40, 41, 42, 43.
#[tokio::test(flavor = "multi_thread")]
async fn twenty_clients_share_one_browser() {
    verify_with(20).await;
}

/// Spec: multi-client 6, 22.
#[tokio::test(flavor = "multi_thread")]
async fn answers_belong_to_their_callers_however_many_calls_are_under_way() {
    let Some(crowd) = Crowd::gather() else { return };
    let mut clients = Vec::new();
    for _ in 0..10 {
        clients.push(crowd.client(&[]).await);
    }
    let works = clients.iter().enumerate().map(|(number, client)| {
        let name = format!("agent{number}");
        let url = crowd.secret_of(&name);
        async move {
            client
                .call_tool("navigate_page", json!({"url": url}))
                .await
                .ok();
            let calls = (0..40).map(|call| {
                let name = &name;
                async move {
                    match call % 4 {
                        0 => assert_eq!(title(client, json!({})).await, *name),
                        1 => {
                            let told = client
                                .call_tool("find", json!({"text": name}))
                                .await
                                .ok()
                                .text();
                            assert!(told.contains(name.as_str()), "{told}");
                        }
                        2 => {
                            let told = client
                                .call_tool("take_snapshot", json!({}))
                                .await
                                .ok()
                                .text();
                            assert!(
                                told.contains(name.as_str()) && !told.contains("agent99"),
                                "{told}"
                            );
                        }
                        _ => {
                            let page = client.call_tool("list_pages", json!({})).await.ok().text();
                            assert!(page.contains(&format!("{name} (")), "{page}");
                        }
                    }
                }
            });
            futures_util::future::join_all(calls).await;
        }
    });
    futures_util::future::join_all(works).await;
}

/// Spec: multi-client 33, 34.
#[tokio::test(flavor = "multi_thread")]
async fn tabs_of_a_session_close_with_it_unless_it_keeps_them() {
    let Some(crowd) = Crowd::gather() else { return };
    let stays = crowd.client(&[]).await;
    stays
        .call_tool("navigate_page", json!({"url": crowd.secret_of("stays")}))
        .await
        .ok();
    for (flags, left) in [(&[][..], 1), (&["--onSessionEnd=keep"][..], 2)] {
        let mut leaves = crowd.client(flags).await;
        leaves
            .call_tool("new_page", json!({"url": crowd.secret_of("leaves")}))
            .await
            .ok();
        assert_eq!(crowd.asked("tabs").as_array().unwrap().len(), 2);
        leaves.close_input().await;
        assert!(leaves.wait_for_exit().await.success());
        while crowd.asked("sessions").as_array().unwrap().len() > 1
            || crowd.asked("tabs").as_array().unwrap().len() != left
        {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exclusive_tab_is_usable_only_by_its_holder() {
    let Some(crowd) = Crowd::gather() else { return };
    let owner = crowd.client(&["--tabPolicy=exclusive"]).await;
    owner
        .call_tool("navigate_page", json!({"url": crowd.secret_of("owner")}))
        .await
        .ok();
    let tab = format!("#{}", crowd.asked("tabs")[0]["id"]);
    let other = crowd.client(&[]).await;
    let refused = other
        .call_tool("take_snapshot", json!({"tabId": tab}))
        .await
        .expect_error();
    assert!(refused.contains("held"), "{refused}");
    assert_eq!(title(&owner, json!({})).await, "owner");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_daemon_is_replaced_and_the_next_call_works() {
    let Some(crowd) = Crowd::gather() else { return };
    let client = crowd.client(&[]).await;
    client
        .call_tool("navigate_page", json!({"url": crowd.secret_of("one")}))
        .await
        .ok();
    let waiting = client
        .begin_call("wait_for", json!({"text": ["never"], "timeout": 60_000}))
        .await;
    let first = crowd.daemon().expect("a daemon runs");
    while crowd.asked("sessions")[0]["calls"] != json!(1) {
        tokio::task::yield_now().await;
    }
    process::kill_hard(first);
    let told = waiting.tool_reply().await.expect_error();
    assert!(told.contains("daemon went away"), "{told}");
    let notice = client.next_notification().await;
    assert_eq!(notice["method"], "notifications/tools/list_changed");
    client
        .call_tool("navigate_page", json!({"url": crowd.secret_of("two")}))
        .await
        .ok();
    assert_eq!(title(&client, json!({})).await, "two");
    assert_ne!(crowd.daemon(), Some(first));
}

/// Spec: multi-client 10, 15.
#[tokio::test(flavor = "multi_thread")]
async fn clients_that_start_at_once_find_one_daemon() {
    let Some(crowd) = Crowd::gather() else { return };
    let arrivals = (0..8).map(|_| crowd.client(&[]));
    let clients = futures_util::future::join_all(arrivals).await;
    let asked = clients.iter().map(status);
    for told in futures_util::future::join_all(asked).await {
        assert!(told["sessionId"].as_str().unwrap().starts_with("sess_"));
    }
    assert_eq!(status(&clients[0]).await["activeSessions"], 8);
    // The other daemons find the socket in use, and end.
    let daemons = || {
        let processes = process::processes_with(&crowd.mark());
        let runs = |process: &&process::Process| process.command.contains("daemon run");
        processes.iter().filter(runs).count()
    };
    while daemons() > 1 {
        tokio::task::yield_now().await;
    }
    assert_eq!(daemons(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_users_browser_the_first_session_uses_the_page_in_front_and_closes_nothing() {
    let Some(crowd) = Crowd::gather() else { return };
    let chromium = crowd.running_browser();
    let (mut first, mut second) = (crowd.guest(&chromium).await, crowd.guest(&chromium).await);
    first
        .call_tool("navigate_page", json!({"url": crowd.secret_of("users")}))
        .await
        .ok();
    assert_eq!(
        crowd.asked("tabs").as_array().unwrap().len(),
        1,
        "no tab was opened"
    );
    second
        .call_tool("navigate_page", json!({"url": crowd.secret_of("second")}))
        .await
        .ok();
    assert_eq!(title(&first, json!({})).await, "users");
    for client in [&mut first, &mut second] {
        client.close_input().await;
        assert!(client.wait_for_exit().await.success());
    }
    while !crowd.asked("sessions").as_array().unwrap().is_empty()
        || crowd.asked("tabs").as_array().unwrap().len() != 1
    {
        tokio::task::yield_now().await;
    }
    assert_eq!(crowd.asked("tabs")[0]["title"], "users");
    assert!(process::is_alive(chromium.pid()));
}
