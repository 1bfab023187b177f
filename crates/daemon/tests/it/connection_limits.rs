//! Many connections of one kind do not lock others out.

use crate::fake_extension;
use crate::page_harness::{Daemon, Worker, changed, listed, worker_at};
use serde_json::json;
use tabmux_protocol::session::ToolMode;
use tabmux_testkit::patiently;

#[tokio::test]
async fn connections_that_prove_nothing_do_not_keep_the_extension_out() {
    let daemon = fake_extension::Daemon::start().await;
    let mut unproved = Vec::new();
    for _ in 0..40 {
        unproved.push(daemon.unproved().await);
    }
    // Some are refused, and do not close their connection.
    for one in &mut unproved[20..] {
        one.say(json!({"type": "proof", "proof": ""})).await;
    }
    let mut extension = daemon.extension("0123456789").await;
    // Nor do they evict it afterwards.
    for _ in 0..40 {
        unproved.push(daemon.unproved().await);
    }
    extension.say(json!({"type": "ping"})).await;
    assert_eq!(extension.hear().await, Some(json!({"type": "pong"})));
    // The oldest were evicted.
    assert_eq!(unproved[0].hear().await, None);
    let last = unproved.last_mut().unwrap();
    last.say(json!({"type": "ping"})).await;
    assert_eq!(last.hear().await, Some(json!({"type": "pong"})));
}

#[tokio::test]
async fn connections_that_say_no_hello_do_not_keep_pages_out() {
    let daemon = Daemon::start().await;
    let mut early = worker_at(daemon.port).await;
    let mut silent = Vec::new();
    for _ in 0..150 {
        silent.push(worker_of(&daemon, 1).await);
    }
    let mut late = worker_at(daemon.port).await;
    early.is_heard().await;
    late.is_heard().await;
}

#[tokio::test]
async fn one_origin_with_many_connections_makes_room_for_others() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut greedy = Vec::new();
    for _ in 0..SLOTS {
        let mut worker = worker_of(&daemon, 1).await;
        assert_eq!(worker.greet().await["type"], "WELCOME");
        greedy.push(worker);
    }
    // The origin itself gets no more.
    let mut more = worker_of(&daemon, 1).await;
    assert_eq!(
        more.greet().await,
        json!({"type": "REFUSED", "reason": "Pages of this origin have too many connections to tabmux. Close some of its tabs."})
    );
    let mut other = worker_of(&daemon, 2).await;
    assert_eq!(other.greet().await["type"], "WELCOME");
    other.tab("calm").await;
    other.tool("calm", "who").await;
    changed(&session).await;
    assert!(listed(&session, "who").await.is_some());
    let mut last = greedy.pop().unwrap();
    let told = patiently(last.hear(), || "a refusal".to_owned()).await;
    assert_eq!(
        told,
        json!({"type": "REFUSED", "reason": "Closed to make room for pages of other sites. Close some of this site's tabs."})
    );
    for worker in &mut greedy {
        worker.is_heard().await;
    }
}

/// A worker of one of several applications, before its hello.
async fn worker_of(daemon: &Daemon, application: u16) -> Worker {
    let host = format!("127.0.0.1:{}", daemon.port);
    let origin = format!("http://localhost:{application}");
    daemon.dial(&host, Some(&origin)).await.ok().unwrap()
}

/// The limit for connections of pages.
const SLOTS: usize = 64;
