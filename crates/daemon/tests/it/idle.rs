//! When an idle daemon ends: a minute after its last user is gone.

use crate::fake_extension::{self, pass};
use crate::page_harness::{self, Worker, changed};
use crate::server::Server;
use crate::wire::Wire;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tabmux_daemon::Hub;
use tabmux_daemon::socket::ServeOptions;
use tabmux_protocol::session::ToolMode;
use tabmux_testkit::patiently;
use tokio::time::Instant;

/// Spec: security 31.
#[tokio::test]
async fn a_pages_worker_holds_the_daemon_until_it_goes() {
    let pages = page_harness::Daemon::start().await;
    let server = server_with_idle_minute(&pages.hub);
    pass(ALMOST).await;
    let mut worker = pages.worker().await;
    answers(&mut worker).await;
    for _ in 0..3 {
        pass(ALMOST).await;
        answers(&mut worker).await;
        is_up(&server).await;
    }
    // This session notices when the worker is gone.
    let session = pages.session(ToolMode::Static).await;
    worker.tab("tab-1").await;
    worker.tool("tab-1", "who").await;
    changed(&session).await;
    let left = Instant::now();
    drop(worker);
    changed(&session).await;
    drop(session);
    ends_a_minute_after(left, server).await;
}

/// Spec: security 31.
#[tokio::test]
async fn an_extension_holds_the_daemon_until_it_goes() {
    let persons = fake_extension::Daemon::start().await;
    let server = server_with_idle_minute(&persons.hub);
    pass(ALMOST).await;
    let mut extension = persons.extension("0123456789").await;
    for _ in 0..3 {
        pass(ALMOST).await;
        extension.say(json!({"type": "ping"})).await;
        assert_eq!(extension.hear().await, Some(json!({"type": "pong"})));
        is_up(&server).await;
    }
    let left = Instant::now();
    drop(extension);
    let mut asker = Wire::connect(server.socket()).await;
    let status = json!({"type": "STATUS", "id": "s"});
    let gone = async { while asker.ask(status.clone()).await["extensionConnected"] != false {} };
    patiently(gone, || "no extension".to_owned()).await;
    ends_a_minute_after(left, server).await;
}

/// Spec: security 31.
#[tokio::test]
async fn a_session_holds_the_daemon_until_it_goes_and_a_mere_connection_does_not() {
    let server = server_with_idle_minute(&Arc::new(Hub::start()));
    let mut asker = Wire::connect(server.socket()).await;
    // A silent connection is closed.
    assert_eq!(
        asker.ask(json!({"type": "PING", "id": "p"})).await["type"],
        "PONG"
    );
    let mut client = Wire::connect(server.socket()).await;
    let session = client.register().await;
    for _ in 0..3 {
        pass(ALMOST).await;
        is_up(&server).await;
    }
    let left = Instant::now();
    let leave = json!({"type": "DISCONNECT", "sessionId": session});
    client.send(leave).await;
    assert_eq!(client.next().await, None);
    let status = asker.ask(json!({"type": "STATUS", "id": "s"})).await;
    assert_eq!(status["activeSessions"], 0);
    ends_a_minute_after(left, server).await;
}

/// Spec: security 31.
#[tokio::test]
async fn a_session_of_any_transport_holds_the_daemon_until_it_goes() {
    let pages = page_harness::Daemon::start().await;
    let server = server_with_idle_minute(&pages.hub);
    // It has no connection to the socket.
    let session = pages.session(ToolMode::Static).await;
    for _ in 0..3 {
        pass(ALMOST).await;
        is_up(&server).await;
    }
    let mut asker = Wire::connect(server.socket()).await;
    let status = asker.ask(json!({"type": "STATUS", "id": "s"})).await;
    assert_eq!(status["activeSessions"], 1);
    let left = Instant::now();
    drop(session);
    ends_a_minute_after(left, server).await;
}

fn server_with_idle_minute(hub: &Arc<Hub>) -> Server {
    let idle = Some(MINUTE);
    Server::around(Arc::clone(hub), ServeOptions { idle })
}

async fn answers(worker: &mut Worker) {
    worker.say(json!({"type": "PING"})).await;
    assert_eq!(worker.hear().await["type"], "PONG");
}

/// The daemon answers requests.
async fn is_up(server: &Server) {
    let mut asker = Wire::connect(server.socket()).await;
    let answer = asker.ask(json!({"type": "PING", "id": "p"})).await;
    assert_eq!(answer["type"], "PONG");
}

/// The daemon is idle. The clock jumps as soon as all tasks wait.
async fn ends_a_minute_after(left: Instant, server: Server) {
    tokio::time::pause();
    let ended = tokio::time::timeout(10 * MINUTE, server.task);
    drop(ended.await.expect("the daemon ends by itself").unwrap());
    let taken = left.elapsed();
    assert!((MINUTE..2 * MINUTE).contains(&taken), "{taken:?}");
    assert!(!server.place.socket().exists());
}

const MINUTE: Duration = Duration::from_secs(60);
/// Less than a minute, with a margin for what takes real time.
const ALMOST: Duration = Duration::from_secs(50);
