//! A backend that does what the test says, served over an in-memory stream.

use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tabmux_mcp::{ServeError, serve};
use tabmux_protocol::{
    Backend, BackendEvent, CallFailure, CallReply, CallRequest, Progress, RequestId,
    ResourceRequest, ToolHints, ToolInfo,
};
use tabmux_testkit::{McpClient, patiently};
use tokio::{
    io::DuplexStream,
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

/// A server without a client yet, and the controls of its backend.
pub(crate) struct ServerHarness {
    events: mpsc::UnboundedSender<BackendEvent>,
    pub(crate) tools: Arc<Mutex<Vec<ToolInfo>>>,
    calls: mpsc::UnboundedReceiver<Call>,
    resources: mpsc::UnboundedReceiver<Asked>,
    cancelled: mpsc::UnboundedReceiver<RequestId>,
    roots: mpsc::UnboundedReceiver<Vec<PathBuf>>,
    backend_gone: oneshot::Receiver<()>,
    serving: JoinHandle<Result<(), ServeError>>,
}

/// A call that has reached the backend and waits for its outcome.
pub(crate) struct Call {
    pub(crate) request: CallRequest,
    pub(crate) outcome: oneshot::Sender<Result<CallReply, CallFailure>>,
}

/// A request about resources that has reached the backend and waits for its outcome.
pub(crate) struct Asked {
    pub(crate) request: ResourceRequest,
    pub(crate) outcome: oneshot::Sender<Result<CallReply, CallFailure>>,
}

impl ServerHarness {
    /// A server and a client after its handshake.
    pub(crate) async fn set() -> (Self, McpClient) {
        let (server_harness, client) = Self::set_silent();
        client.initialize().await;
        (server_harness, client)
    }

    /// A server and a client of the 2026-07-28 era.
    pub(crate) fn set_2026() -> (Self, McpClient) {
        let (server_harness, mut client) = Self::set_silent();
        client.speak_2026();
        (server_harness, client)
    }

    /// A server and a client that has sent nothing yet.
    pub(crate) fn set_silent() -> (Self, McpClient) {
        let (server_harness, answers, questions) = Self::set_bare(1 << 20);
        (server_harness, McpClient::over(answers, questions))
    }

    /// A server, and what its client reads and writes.
    pub(crate) fn set_bare(capacity: usize) -> (Self, DuplexStream, DuplexStream) {
        let (events, upcoming) = mpsc::unbounded_channel();
        let (take_call, calls) = mpsc::unbounded_channel();
        let (take_resources, resources) = mpsc::unbounded_channel();
        let (take_cancel, cancelled) = mpsc::unbounded_channel();
        let (take_roots, roots) = mpsc::unbounded_channel();
        let (alive, backend_gone) = oneshot::channel();
        let tools = Arc::new(Mutex::new(vec![tool("zebra"), tool("ant")]));
        let backend = Scripted {
            tools: Arc::clone(&tools),
            calls: take_call,
            resources: take_resources,
            cancelled: take_cancel,
            roots: take_roots,
            events: tokio::sync::Mutex::new(upcoming),
            _alive: alive,
        };
        let (questions, their_input) = tokio::io::duplex(capacity);
        let (their_output, answers) = tokio::io::duplex(capacity);
        let serving = tokio::spawn(serve(backend, their_input, their_output));
        let server_harness = Self {
            events,
            tools,
            calls,
            resources,
            cancelled,
            roots,
            backend_gone,
            serving,
        };
        (server_harness, answers, questions)
    }

    pub(crate) fn change_tools(&self) {
        self.emit(BackendEvent::ToolsChanged);
    }

    pub(crate) fn progress(&self, call: &Call, value: f64) {
        let progress = Progress {
            request_id: call.request.request_id.clone(),
            value,
            total: Some(10.0),
            message: Some(format!("at {value}")),
        };
        self.emit(BackendEvent::Progress(progress));
    }

    pub(crate) fn emit(&self, event: BackendEvent) {
        self.events.send(event).expect("the server ended");
    }

    pub(crate) async fn next_call(&mut self) -> Call {
        let call = patiently(self.calls.recv(), || "a call".into()).await;
        call.expect("the server ended")
    }

    pub(crate) async fn next_asked(&mut self) -> Asked {
        let asked = patiently(self.resources.recv(), || "a request".into()).await;
        asked.expect("the server ended")
    }

    pub(crate) async fn next_cancelled(&mut self) -> RequestId {
        let call = patiently(self.cancelled.recv(), || "a cancellation".into()).await;
        call.expect("the server ended")
    }

    /// The next folders that the backend gets.
    pub(crate) async fn next_roots(&mut self) -> Vec<PathBuf> {
        let roots = patiently(self.roots.recv(), || "the client's roots".into()).await;
        roots.expect("the server ended")
    }

    /// Whether the backend got folders that the test has not taken yet.
    pub(crate) fn has_roots(&mut self) -> bool {
        !self.roots.is_empty()
    }

    /// Waits until `serve` has returned and the backend was dropped.
    pub(crate) async fn served(self) -> Result<(), ServeError> {
        let result = patiently(self.serving, || "the server to end".into()).await;
        let gone = patiently(self.backend_gone, || "the backend to be dropped".into()).await;
        assert!(gone.is_err());
        result.expect("the server panicked")
    }

    /// Drops the sender of events, which tells the server that the backend has stopped.
    pub(crate) fn lose_backend(self) -> JoinHandle<Result<(), ServeError>> {
        self.serving
    }
}

impl Call {
    pub(crate) fn reply(self, text: &str) {
        self.finish(Ok(CallReply::text(text)));
    }

    pub(crate) fn finish(self, outcome: Result<CallReply, CallFailure>) {
        // The answer to a cancelled call is not awaited.
        let _ = self.outcome.send(outcome);
    }

    pub(crate) fn arguments(&self) -> Value {
        serde_json::from_str(self.request.arguments.get()).expect("arguments are JSON")
    }
}

pub(crate) fn tool(name: &str) -> ToolInfo {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), json!({}));
    ToolInfo {
        name: name.to_owned(),
        description: format!("The {name}."),
        input_schema: schema.into(),
        output_schema: None,
        hints: Some(ToolHints::READS),
    }
}

struct Scripted {
    tools: Arc<Mutex<Vec<ToolInfo>>>,
    calls: mpsc::UnboundedSender<Call>,
    resources: mpsc::UnboundedSender<Asked>,
    cancelled: mpsc::UnboundedSender<RequestId>,
    roots: mpsc::UnboundedSender<Vec<PathBuf>>,
    events: tokio::sync::Mutex<mpsc::UnboundedReceiver<BackendEvent>>,
    _alive: oneshot::Sender<()>,
}

impl Backend for Scripted {
    async fn works_in(&self, roots: Vec<PathBuf>) {
        let _ = self.roots.send(roots);
    }

    async fn tools(&self) -> Result<Vec<ToolInfo>, CallFailure> {
        Ok(self.tools.lock().expect("no test panicked").clone())
    }

    async fn call(&self, request: CallRequest) -> Result<CallReply, CallFailure> {
        let (outcome, finished) = oneshot::channel();
        let call = Call { request, outcome };
        self.calls.send(call).map_err(|_| CallFailure::Closed)?;
        finished.await.unwrap_or(Err(CallFailure::Closed))
    }

    async fn resources(&self, request: ResourceRequest) -> Result<CallReply, CallFailure> {
        let (outcome, finished) = oneshot::channel();
        let asked = Asked { request, outcome };
        self.resources
            .send(asked)
            .map_err(|_| CallFailure::Closed)?;
        finished.await.unwrap_or(Err(CallFailure::Closed))
    }

    fn cancel(&self, request: &RequestId) {
        let _ = self.cancelled.send(request.clone());
    }

    async fn next_event(&self) -> Option<BackendEvent> {
        self.events.lock().await.recv().await
    }
}
