//! A daemon with its loopback listener, and workers that behave like those of the page library.

pub(crate) use tabmux_testkit::PageWorker as Worker;

use serde_json::Value;
use serde_json::value::to_raw_value;
use std::sync::Arc;
use tabmux_daemon::listener::{self, Bound, ListenerAccess, PageOrigins};
use tabmux_daemon::policy::{PolicyChange, change_file};
use tabmux_daemon::{Client, Handle, Hub, SessionOptions};
use tabmux_protocol::session::{self as wire, ToolMode};
use tabmux_protocol::{Backend, BackendEvent, CallReply, CallRequest, Content, RequestId};
use tabmux_testkit::patiently;
use tokio_util::sync::CancellationToken;

pub(crate) struct Daemon {
    pub(crate) hub: Arc<Hub>,
    pub(crate) port: u16,
    /// The folder of the person's rules.
    policy: tempfile::TempDir,
    stop: CancellationToken,
}

impl Daemon {
    pub(crate) async fn start() -> Self {
        let (hub, stop) = (Arc::new(Hub::start()), CancellationToken::new());
        let policy = tempfile::tempdir().unwrap();
        let bound = Bound::take(0).await.unwrap();
        let port = bound.port();
        let access = ListenerAccess {
            origins: PageOrigins::of(vec!["https://app.example".parse().unwrap()])
                .and_in_file(policy.path().join("policy.json")),
            secret: "/nonexistent/secret".into(),
            other_users: false,
        };
        tokio::spawn(listener::serve(
            bound,
            Arc::clone(&hub),
            access,
            stop.clone(),
        ));
        Self {
            hub,
            port,
            policy,
            stop,
        }
    }

    pub(crate) async fn session(&self, tools: ToolMode) -> Handle {
        let options = wire::SessionOptions {
            tools,
            page_actions: true,
            ..wire::SessionOptions::default()
        };
        let options = SessionOptions::from_wire(options).unwrap();
        self.hub.open(options, Client::default()).await
    }

    /// The person changes the rules.
    pub(crate) fn change_policy(&self, change: &PolicyChange) {
        change_file(&self.policy.path().join("policy.json"), change).unwrap();
    }

    pub(crate) async fn dial(&self, host: &str, origin: Option<&str>) -> Result<Worker, u16> {
        dial(self.port, host, origin).await
    }

    /// A worker that was accepted.
    pub(crate) async fn worker(&self) -> Worker {
        worker_at(self.port).await
    }
}

/// A worker that was accepted by the daemon at this port.
pub(crate) async fn worker_at(port: u16) -> Worker {
    let host = format!("127.0.0.1:{port}");
    let worker = dial(port, &host, Some("http://localhost:5173")).await;
    let mut worker = worker.ok().unwrap();
    assert_eq!(worker.greet().await["type"], "WELCOME");
    worker
}

async fn dial(port: u16, host: &str, origin: Option<&str>) -> Result<Worker, u16> {
    let origin = origin.map(|origin| ("Origin", origin));
    let headers: Vec<_> = [("Host", host)].into_iter().chain(origin).collect();
    let address = format!("127.0.0.1:{port}");
    let (worker, _) = Worker::dial(&address, &headers).await?;
    Ok(worker)
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

pub(crate) fn request(tool: &str, arguments: &Value) -> CallRequest {
    static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    CallRequest {
        request_id: RequestId(number.to_string()),
        tool: tool.to_owned(),
        arguments: to_raw_value(arguments).unwrap(),
        progress: false,
        asking: Default::default(),
    }
}

pub(crate) fn text(reply: &CallReply) -> String {
    let Some(Content::Text { text }) = reply.content.first() else {
        panic!("{reply:?}");
    };
    text.clone()
}

pub(crate) async fn changed(session: &Handle) {
    let event = patiently(session.next_event(), || "a changed list".to_owned());
    assert_eq!(event.await, Some(BackendEvent::ToolsChanged));
}

pub(crate) async fn listed(session: &Handle, name: &str) -> Option<Value> {
    let tools = session.tools().await.unwrap();
    let tool = tools.into_iter().find(|tool| tool.name == name)?;
    Some(serde_json::to_value(tool).unwrap())
}
