//! Sessions that began with a handshake: whose place they take, and what ends with them.

use crate::client::Request;
use crate::server::{Server, read};
use serde_json::json;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[tokio::test]
async fn a_handshake_that_failed_leaves_no_session() {
    let server = Server::start().await;
    let token = server.token("ci");
    let refuses = &server.controls.refuses_sessions;
    refuses.store(true, Ordering::Relaxed);
    for _ in 0..PLACES {
        let answer = server.send(&Request::initialize(&token)).await;
        assert!(answer.body.contains("Too many sessions"), "{answer:?}");
        assert_eq!(answer.header("mcp-session-id"), None, "{answer:?}");
    }
    refuses.store(false, Ordering::Relaxed);
    server.handshake(&token).await;
}

#[tokio::test]
async fn a_handshake_that_its_client_abandoned_makes_room_and_sessions_in_use_do_not() {
    let server = Server::start().await;
    let token = server.token("ci");
    let mut abandoned = Vec::new();
    for _ in 0..PLACES {
        abandoned.push(server.half_handshake(&token).await);
    }
    let mut used = Vec::new();
    for _ in 0..PLACES {
        used.push(server.handshake(&token).await);
    }
    let repeat = |id: &str| Request::call(&token, id, "repeat", json!({}));
    let gone = server.send(&repeat(&abandoned[0])).await;
    assert_eq!(gone.status, 404, "{}", gone.body);
    let refused = server.send(&Request::initialize(&token)).await;
    assert_eq!(refused.status, 503, "{}", refused.body);
    for id in &used {
        let answer = server.send(&repeat(id)).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
}

#[tokio::test]
async fn running_calls_of_a_revoked_token_end() {
    let server = Server::start().await;
    let (one, two) = (server.token("one"), server.token("two"));
    let session = server.handshake(&one).await;
    let other = server.handshake(&two).await;
    let wait = Request::call(&one, &session, "wait", json!({}));
    let running = server.begin(&wait).await;
    let others = server
        .begin(&Request::call(&two, &other, "wait", json!({})))
        .await;
    let alone = server
        .begin(&Request::call_alone(&one, "wait", json!({})))
        .await;
    server.controls.until_begun(3).await;
    server.revoke("one");
    // rmcp lets the calls of a session that ends run on for five seconds.
    let soon = server.controls.until_cancelled(2);
    let cancelled = tokio::time::timeout(Duration::from_secs(4), soon).await;
    cancelled.expect("calls of a revoked token still run");
    // Their clients are told by the end of the answer.
    read(running).await;
    read(alone).await;
    // The other token's call runs until its client ends its session.
    let end = Request::new("DELETE").token(&two).session(&other);
    let ended = server.send(&end).await;
    assert_eq!(ended.status, 202, "{}", ended.body);
    server.controls.until_cancelled(3).await;
    read(others).await;
}

#[tokio::test]
async fn answers_that_were_read_are_not_kept() {
    let server = Server::start().await;
    let token = server.token("ci");
    let session = server.handshake(&token).await;
    let large = Request::call(&token, &session, "large", json!({"bytes": 4 << 20}));
    for _ in 0..4 {
        server.send(&large).await;
    }
    let before = memory();
    for _ in 0..50 {
        let answer = server.send(&large).await;
        assert!(answer.body.len() > 4 << 20);
    }
    // 50 answers are 200 MiB.
    let grown = memory().saturating_sub(before);
    assert!(grown < 60 << 20, "{} MiB more", grown >> 20);
}

/// The resident memory of this process.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

/// Sessions that one token may have.
const PLACES: usize = 16;
