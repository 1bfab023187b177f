//! A backend that does what the test says.

use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tabmux_mcp::http::{OpenSession, Principal};
use tabmux_protocol::{
    Backend, BackendEvent, CallFailure, CallReply, CallRequest, RequestId, ToolInfo,
};
use tabmux_testkit::patiently;
use tokio::sync::watch;

/// What the backends of all sessions do, and what happened to them.
pub(crate) struct Controls {
    pub(crate) refuses_sessions: AtomicBool,
    begun: watch::Sender<usize>,
    cancelled: watch::Sender<usize>,
}

impl Controls {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            refuses_sessions: AtomicBool::new(false),
            begun: watch::Sender::new(0),
            cancelled: watch::Sender::new(0),
        })
    }

    /// Waits until so many calls have begun that do not end by themselves.
    pub(crate) async fn until_begun(&self, wanted: usize) {
        let mut begun = self.begun.subscribe();
        let waiting = begun.wait_for(|begun| *begun >= wanted);
        let _ = patiently(waiting, || format!("{wanted} calls to begin")).await;
    }

    /// Waits until so many calls have been cancelled.
    pub(crate) async fn until_cancelled(&self, wanted: usize) {
        let mut cancelled = self.cancelled.subscribe();
        let waiting = cancelled.wait_for(|cancelled| *cancelled >= wanted);
        let _ = patiently(waiting, || format!("{wanted} cancelled calls")).await;
    }
}

pub(crate) struct Opener(pub(crate) Arc<Controls>);

impl OpenSession for Opener {
    type Backend = Scripted;

    fn open(&self, _principal: &Principal) -> Result<Scripted, String> {
        match self.0.refuses_sessions.load(Ordering::Relaxed) {
            true => Err("Too many sessions are open.".to_owned()),
            false => Ok(Scripted(Arc::clone(&self.0))),
        }
    }
}

pub(crate) struct Scripted(Arc<Controls>);

impl Backend for Scripted {
    async fn tools(&self) -> Result<Vec<ToolInfo>, CallFailure> {
        Ok(vec![ToolInfo {
            name: "repeat".to_owned(),
            description: "Repeats its arguments.".to_owned(),
            input_schema: Map::from_iter([("type".to_owned(), json!("object"))]).into(),
            output_schema: None,
            hints: None,
        }])
    }

    async fn call(&self, request: CallRequest) -> Result<CallReply, CallFailure> {
        match request.tool.as_str() {
            "repeat" => Ok(CallReply::text(request.arguments.get())),
            "large" => {
                let arguments: Value = serde_json::from_str(request.arguments.get()).unwrap();
                let bytes = arguments["bytes"].as_u64().unwrap();
                Ok(CallReply::text("x".repeat(usize::try_from(bytes).unwrap())))
            }
            "wait" => {
                self.0.begun.send_modify(|begun| *begun += 1);
                std::future::pending().await
            }
            _ => Err(CallFailure::UnknownTool { name: request.tool }),
        }
    }

    fn cancel(&self, _request: &RequestId) {
        self.0.cancelled.send_modify(|cancelled| *cancelled += 1);
    }

    async fn next_event(&self) -> Option<BackendEvent> {
        std::future::pending().await
    }
}
