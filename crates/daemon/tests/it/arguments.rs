//! The memory budget for arguments of calls, and that other sessions are not affected.

use crate::page_harness::{Daemon, Worker, request, text};
use serde_json::{Value, json};
use std::sync::Arc;
use std::task::Poll;
use tabmux_daemon::Handle;
use tabmux_protocol::Backend;
use tabmux_protocol::session::ToolMode;
use tabmux_testkit::patiently;

async fn with_a_tool() -> (Daemon, Handle, Worker) {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    worker.tab("tab").await;
    worker.offer("tab", "keep", json!({"type": "object"})).await;
    worker.is_heard().await;
    (daemon, session, worker)
}

fn long(bytes: usize) -> Value {
    json!({"text": "x".repeat(bytes)})
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_are_too_much_fail_their_call_alone() {
    let (_daemon, session, mut worker) = with_a_tool().await;
    let five = 5 * 1_024 * 1_024;
    let many = json!({"list": vec![0; 100_001]});
    for (arguments, why) in [(long(five), "more than 4 MiB"), (many, "at most 100000")] {
        let reply = session.call(request("keep", &arguments)).await.unwrap();
        assert!(reply.is_error && text(&reply).contains(why), "{reply:?}");
    }
    let call = session.call(request("keep", &long(3_000_000)));
    let (reply, _) = tokio::join!(patiently(call, || "an answer".to_owned()), worker.answers());
    assert_eq!(text(&reply.unwrap()), "I am tab");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_without_an_answer_keep_a_bounded_amount_of_arguments() {
    let (daemon, session, mut worker) = with_a_tool().await;
    let keep = |session: &Arc<Handle>| {
        let session = Arc::clone(session);
        let request = request("keep", &long(3_500_000));
        Box::pin(async move { session.call(request).await.unwrap() })
    };
    let [session, other] = [session, daemon.session(ToolMode::Static).await].map(Arc::new);
    let mut waiting = Vec::new();
    let refused = loop {
        let mut call = keep(&session);
        match futures_util::poll!(&mut call) {
            Poll::Ready(refused) => break refused,
            Poll::Pending => waiting.push(tokio::spawn(call)),
        }
    };
    assert_eq!(waiting.len(), 4);
    assert!(text(&refused).contains("of this session"), "{refused:?}");
    // Another session has its own budget.
    waiting.push(tokio::spawn(keep(&other)));
    for _ in 0..waiting.len() {
        worker.answers().await;
    }
    for call in waiting {
        assert_eq!(text(&call.await.unwrap()), "I am tab");
    }
    // The replies have freed the budget.
    let call = patiently(keep(&session), || "an answer".to_owned());
    let (reply, _) = tokio::join!(call, worker.answers());
    assert_eq!(text(&reply), "I am tab");
}
