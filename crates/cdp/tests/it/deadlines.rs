//! Commands end in time, in virtual time.

use std::time::Duration;

use serde_json::json;
use tabmux_cdp::{
    CdpError, DEFAULT_DEADLINE,
    types::{page::Navigate, runtime::Evaluate},
};
use tokio::time::Instant;

use crate::fake_browser::{connect, connect_with_buffer};

#[tokio::test(start_paused = true)]
async fn a_command_without_an_answer_ends_at_its_limit() {
    let (session, _events, _browser) = connect();
    let start = Instant::now();
    let limit = Duration::from_secs(3);
    let error = session
        .send_within(Evaluate::default(), limit)
        .await
        .unwrap_err();
    assert_eq!(
        error,
        CdpError::TimedOut {
            method: "Runtime.evaluate".to_owned(),
            limit
        }
    );
    assert_eq!(start.elapsed().as_secs(), 3);

    let error = session.send(Evaluate::default()).await.unwrap_err();
    assert_eq!(
        error,
        CdpError::TimedOut {
            method: "Runtime.evaluate".to_owned(),
            limit: DEFAULT_DEADLINE
        }
    );
}

#[tokio::test(start_paused = true)]
async fn a_late_response_is_ignored() {
    let (session, _events, mut browser) = connect();
    session
        .send_within(Evaluate::default(), Duration::from_secs(1))
        .await
        .unwrap_err();
    let late = browser.command().await;
    browser
        .answer(&late, json!({ "result": { "value": "late" } }))
        .await;
    browser.settle(&session).await;
}

#[tokio::test(start_paused = true)]
async fn a_browser_that_does_not_read_cannot_block_a_command() {
    let (session, _events, _browser) = connect_with_buffer(16);
    let limit = Duration::from_secs(2);
    let mut commands = tokio::task::JoinSet::new();
    // More than the writer's queue holds: the last ones wait for space in it.
    for _ in 0..2_000 {
        let session = session.clone();
        commands.spawn(async move { session.send_within(Navigate::default(), limit).await });
    }
    while let Some(ended) = commands.join_next().await {
        assert!(matches!(ended.unwrap(), Err(CdpError::TimedOut { .. })));
    }
    // A posted command does not block, either.
    session.post(Navigate::default());
}

#[tokio::test(start_paused = true)]
async fn abandoned_commands_free_their_slots() {
    let (session, _events, mut browser) = connect_with_buffer(4 * 1024 * 1024);
    let limit = Duration::from_secs(600);
    let mut commands = tokio::task::JoinSet::new();
    for _ in 0..4_096 {
        let session = session.clone();
        commands.spawn(async move { session.send_within(Navigate::default(), limit).await });
    }
    for _ in 0..4_096 {
        browser.command().await;
    }
    let refused = session.send(Navigate::default()).await.unwrap_err();
    assert_eq!(
        refused,
        CdpError::Overloaded {
            method: "Page.navigate".to_owned()
        }
    );

    // The futures are dropped half-way; their entries are removed with them.
    commands.shutdown().await;
    browser.settle(&session).await;
}
