//! A grid that is one process, with two browsers at a time and a password.

use super::{REPLACED, flag, hears, open, pages, setup};
use crate::crowd::Crowd;
use crate::endpoint_secrets::files_with;
use serde_json::json;
use tabmux_testkit::{GridSetup, McpClient, SeleniumGrid, process};

const PASSWORD: &str = "pst-9173";

/// One test, because a grid takes long to start.
#[tokio::test(flavor = "multi_thread")]
async fn a_grid_hands_out_browsers_in_turn_and_gets_all_of_them_back() {
    let Some(crowd) = Crowd::gather() else { return };
    let Some(setup) = setup(20, 2) else { return };
    let grid = SeleniumGrid::standalone(GridSetup {
        login: Some(("me", PASSWORD)),
        ..setup
    });
    wrong_password(&crowd, &grid).await;
    let idle = queue(&crowd, &grid).await;
    keep_alive(&grid, &idle).await;
    ended_behind_its_back(&crowd, &grid, &idle).await;
    killed_daemon(&crowd, &grid, &idle).await;
    drop(idle);
    grid.wait_until("all browsers are given back", |grid| {
        grid.sessions().is_empty()
    });
    assert_eq!(files_with(PASSWORD, crowd.home()), [""; 0]);
}

async fn wrong_password(crowd: &Crowd, grid: &SeleniumGrid) {
    let flag = flag(grid).replace(PASSWORD, "wrong-5512");
    let client = crowd.visitor(&[&flag]).await;
    let said = pages(&client).await;
    let shown = format!("grid+http://…@127.0.0.1:{}?platformName=…", grid.port());
    assert!(said.contains(&format!("{shown} answered 401: ")), "{said}");
    assert!(!said.contains("wrong-5512"), "{said}");
}

/// Two have a browser, the third waits: cancelling gives its place in the queue back, and the end of one gives it a
/// browser. Returns a client with a browser and a page.
async fn queue(crowd: &Crowd, grid: &SeleniumGrid) -> McpClient {
    let flag = flag(grid);
    let first = crowd.visitor(&[&flag]).await;
    open(crowd, &first, "first").await;
    let idle = crowd.visitor(&[&flag]).await;
    open(crowd, &idle, "idle").await;
    assert_eq!(grid.sessions().len(), 2);
    assert!(!pages(&idle).await.contains("of=first"), "it has its own");

    let third = crowd.visitor(&[&flag]).await;
    let call = async |token: u64| {
        let params =
            json!({"name": "list_pages", "arguments": {}, "_meta": {"progressToken": token}});
        third.begin("tools/call", params).await
    };
    let cancelled = call(1).await;
    hears(
        &third,
        1,
        "Waiting for a browser of grid+http://…@127.0.0.1",
    )
    .await;
    grid.wait_until("it is queued", |grid| grid.queue() == 1);
    cancelled.cancel().await;
    grid.wait_until("its place is given back", |grid| grid.queue() == 0);

    let waiting = call(2).await;
    grid.wait_until("it is queued again", |grid| grid.queue() == 1);
    drop(first);
    waiting.tool_reply().await.ok();
    idle
}

/// Another client's session, which nobody uses, ends by the grid's timeout; ours, which is as idle, does not.
async fn keep_alive(grid: &SeleniumGrid, idle: &McpClient) {
    grid.wait_until("the third is gone", |grid| grid.sessions().len() == 1);
    let unused = grid.make_session();
    grid.wait_until("an unused session ends", |grid| {
        grid.sessions().iter().all(|(id, _)| *id != unused)
    });
    let said = pages(idle).await;
    assert!(said.contains("of=idle") && !said.contains("lost"), "{said}");
}

/// The grid keeps the socket of a session that has ended, so only an unanswered command tells.
async fn ended_behind_its_back(crowd: &Crowd, grid: &SeleniumGrid, idle: &McpClient) {
    let [(id, _)] = &grid.sessions()[..] else {
        panic!("there is one session");
    };
    grid.end_session(id);
    let ask = json!({"function": "() => document.title"});
    let failed = idle.call_tool("evaluate_script", ask).await.expect_error();
    assert!(
        failed.contains("the grid that handed it out says \""),
        "{failed}"
    );
    let told = pages(idle).await;
    assert!(told.contains(REPLACED), "{told}");
    assert!(!pages(idle).await.contains(REPLACED), "it is told once");
    open(crowd, idle, "again").await;
}

async fn killed_daemon(crowd: &Crowd, grid: &SeleniumGrid, idle: &McpClient) {
    let before = grid.sessions();
    let daemon = crowd.daemon().unwrap();
    process::kill_hard(daemon);
    process::wait_until_gone(&[daemon]).await;
    assert_eq!(grid.sessions(), before, "nobody gave it back yet");
    // Its client starts the next daemon with the next call.
    let _ = pages(idle).await;
    grid.wait_until("the next daemon gives it back", |grid| {
        grid.sessions().iter().all(|now| !before.contains(now))
    });
}
