//! Nothing is left of the server, however it ends.

use crate::harness::{McpHarness, page};
use serde_json::{Value, json};
use std::time::Duration;
use tabmux_testkit::process;
use tokio::time::Instant;

#[tokio::test]
async fn after_kill_9_no_browser_process_is_left() {
    let calm = async |harness: &McpHarness| {
        harness.open("a").await;
    };
    kill_hard_and_look(calm).await;
}

#[tokio::test]
async fn after_kill_9_of_a_server_with_a_looping_tab_no_browser_process_is_left() {
    let looping = async |harness: &McpHarness| {
        harness.open("a").await;
        let arguments = json!({"function": "() => { fetch('/looping'); for (;;) {} }"});
        let _ = harness
            .client
            .begin_call("evaluate_script", arguments)
            .await;
        harness.open("b").await;
    };
    kill_hard_and_look(looping).await;
}

#[tokio::test]
async fn after_kill_9_of_a_server_with_an_open_dialog_no_browser_process_is_left() {
    let asking = async |harness: &McpHarness| {
        harness.pages.route(
            "/ask",
            page("Ask", "<button onclick=\"confirm('Stay?')\">Ask</button>"),
        );
        harness.open("ask").await;
        let uid = harness.uid("button \"Ask\"").await;
        let said = harness.text("click", json!({"uid": uid})).await;
        assert!(said.contains("Stay?"), "{said}");
    };
    kill_hard_and_look(asking).await;
}

/// The limit is two seconds. A busy machine may exceed it once, but not three times.
async fn kill_hard_and_look(prepare: impl AsyncFn(&McpHarness)) {
    let mut taken = Vec::new();
    for _ in 0..TRIES {
        let Some(harness) = McpHarness::launched(&[]).await else {
            return;
        };
        prepare(&harness).await;
        let browser = browser_of(&harness);
        let killed = Instant::now();
        process::kill_hard(harness.client.pid());
        process::wait_until_gone(&browser).await;
        taken.push(killed.elapsed());
        if killed.elapsed() <= Duration::from_secs(2) {
            return;
        }
    }
    panic!("browser processes were there for {taken:?} after the server was killed");
}

#[tokio::test]
async fn at_the_end_of_its_input_the_server_ends_and_leaves_nothing() {
    let quietly = async |harness: &McpHarness| harness.client.close_input().await;
    end_and_look(quietly).await;
}

#[tokio::test]
async fn at_sigterm_the_server_ends_and_leaves_nothing() {
    let terminate = async |harness: &McpHarness| {
        let pid = harness.client.pid().to_string();
        let kill = tokio::process::Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .await;
        assert!(kill.unwrap().success());
    };
    end_and_look(terminate).await;
}

/// The limit is one second. A busy machine may exceed it once, but not three times.
async fn end_and_look(end: impl AsyncFn(&McpHarness)) {
    let mut taken = Vec::new();
    for _ in 0..TRIES {
        let Some(mut harness) = McpHarness::launched(&[]).await else {
            return;
        };
        harness.open("a").await;
        let arguments = json!({"function": "() => { for (;;) {} }"});
        let _ = harness
            .client
            .begin_call("evaluate_script", arguments)
            .await;
        let browser = browser_of(&harness);
        let profile = profiles(&harness);
        assert_eq!(profile.len(), 1);

        let told = Instant::now();
        end(&harness).await;
        let status = harness.client.wait_for_exit().await;
        let time = told.elapsed();
        assert_eq!(status.code(), Some(0), "{}", harness.client.transcript());
        process::wait_until_gone(&browser).await;
        assert_eq!(
            profiles(&harness),
            Vec::<String>::new(),
            "the temporary profile is removed"
        );
        let left = std::fs::read_dir(harness.temporary()).unwrap().flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        assert!(left.is_empty(), "{left:?} is left in the temporary folder");
        only_messages(&harness);
        taken.push(time);
        if time <= Duration::from_secs(1) {
            return;
        }
    }
    panic!("the server took {taken:?} to end");
}

#[tokio::test]
async fn a_server_without_a_handshake_ends_with_its_input() {
    let Some(mut harness) = McpHarness::silent(&[]) else {
        return;
    };
    harness.client.close_input().await;
    assert_eq!(harness.client.wait_for_exit().await.code(), Some(0));
    assert_eq!(harness.client.received(), Vec::<Value>::new());
}

#[tokio::test]
async fn input_that_ends_while_a_browser_is_launched_leaves_no_browser() {
    let Some(mut harness) = McpHarness::disconnected(&[]).await else {
        return;
    };
    let launch = json!({"launch": true});
    let _ = harness.client.begin_call("connect_browser", launch).await;
    // The profile exists before the browser does.
    let begun = async {
        while profiles(&harness).is_empty() {
            tokio::task::yield_now().await
        }
    };
    tabmux_testkit::patiently(begun, || "a launch".to_owned()).await;
    harness.client.close_input().await;
    assert_eq!(harness.client.wait_for_exit().await.code(), Some(0));
    let home = harness.home.path().display().to_string();
    process::wait_until_none_with(&home).await;
    assert_eq!(profiles(&harness), Vec::<String>::new());
}

/// Invariant 5: stdout carries only MCP, also during failures.
#[tokio::test]
async fn stdout_carries_nothing_but_json_rpc() {
    let Some(harness) = McpHarness::launched(&["--logFile=log"]).await else {
        return;
    };
    harness.pages.route(
        "/noise",
        page("Noise", "<script>console.error('noise'); throw 1</script>"),
    );
    harness.open("noise").await;
    harness
        .client
        .call_tool("evaluate_script", json!({"function": "() => { throw 1 }"}))
        .await;
    harness.client.send_raw("garbage").await;
    harness.client.call_tool("close_tab", json!({})).await.ok();
    harness.client.close_input().await;
    harness.client.wait_for_end_of_output().await;
    only_messages(&harness);
    let log = std::fs::read_to_string(harness.home.path().join("log")).unwrap();
    assert!(log.contains("launched a browser"), "{log}");
}

/// Every process that the server started.
fn browser_of(harness: &McpHarness) -> Vec<u32> {
    let processes = process::descendants(harness.client.pid());
    assert!(processes.len() > 2, "{processes:?}");
    processes.iter().map(|process| process.pid).collect()
}

fn profiles(harness: &McpHarness) -> Vec<String> {
    let entries = std::fs::read_dir(harness.temporary()).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names
        .filter(|name| name.starts_with("tabmux-profile-"))
        .collect()
}

fn only_messages(harness: &McpHarness) {
    let transcript = harness.client.transcript();
    assert!(!transcript.contains("<-- (no JSON!)"), "{transcript}");
    for message in harness.client.received() {
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
    }
}

const TRIES: usize = 3;
