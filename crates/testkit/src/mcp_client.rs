//! Speaks JSON-RPC to a server under test and records every line.

mod child;
mod pending;
mod reply;
mod wire;

pub use pending::Pending;
pub use reply::{RpcError, ToolReply};
pub use wire::Message;

use crate::patiently;
use serde_json::{Value, json};
use std::{
    process::ExitStatus,
    sync::atomic::{AtomicI64, AtomicUsize, Ordering},
};
use tokio::io::{AsyncRead, AsyncWrite};
use wire::Wire;

/// A raw MCP client. It knows only as much MCP as a test needs, so that the test sees the server's own messages.
///
/// Clients of the handshake era call [`McpClient::initialize`] first; [`McpClient::speak_2026`] makes a client of the
/// 2026-07-28 era, which has no handshake.
#[derive(Debug)]
pub struct McpClient {
    wire: Wire,
    child: Option<child::Child>,
    next_id: AtomicI64,
    taken_notifications: AtomicUsize,
    request_meta: Option<Value>,
    capabilities: Value,
}

impl McpClient {
    /// Starts a server and speaks to it over its stdin and stdout. Its stderr is kept. The server
    /// is killed when the client is dropped.
    pub fn spawn(command: impl Into<tokio::process::Command>) -> Self {
        let (child, stdout, stdin) = child::spawn(command.into());
        Self {
            child: Some(child),
            ..Self::over(stdout, stdin)
        }
    }

    /// Speaks to a server over any pair of streams.
    pub fn over(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self {
            wire: Wire::start(input, output),
            child: None,
            next_id: AtomicI64::new(1),
            taken_notifications: AtomicUsize::new(0),
            request_meta: None,
            capabilities: json!({}),
        }
    }

    /// From now on every request carries the `_meta` of the 2026-07-28 era.
    pub fn speak_2026(&mut self) {
        self.request_meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "testkit", "version": "0"},
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
        }));
    }

    /// Sets the client's capabilities. Call it before any message is sent.
    pub fn can(&mut self, capabilities: Value) {
        self.capabilities = capabilities;
    }

    /// The n-th request of the server, counted from 0, with its id; waits for it if needed.
    pub async fn nth_request(&self, n: usize) -> Value {
        self.wait("a request of the server", |messages| {
            let received = messages.iter().filter_map(Message::as_received);
            let mut requests =
                received.filter(|it| it.get("method").is_some() && it.get("id").is_some());
            requests.nth(n).cloned()
        })
        .await
    }

    /// Answers a request of the server.
    pub async fn answer(&self, request: &Value, result: Value) {
        let message = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        self.send_raw(&message.to_string()).await;
    }

    /// Does the handshake as a client of 2025-11-25; returns the server's response.
    pub async fn initialize(&self) -> Value {
        self.initialize_as("2025-11-25").await
    }

    /// Does the handshake as a client of some version; returns the server's response.
    pub async fn initialize_as(&self, version: &str) -> Value {
        let result = self.initialize_request(version).await;
        self.notify("notifications/initialized", json!({})).await;
        result
    }

    /// Does the handshake under some name; returns the server's response.
    pub async fn initialize_named(&self, name: &str) -> Value {
        let result = self.introduce(name, "2025-11-25").await;
        self.notify("notifications/initialized", json!({})).await;
        result
    }

    /// The first half of the handshake only.
    pub async fn initialize_request(&self, version: &str) -> Value {
        self.introduce(FOLLOWER, version).await
    }

    async fn introduce(&self, name: &str, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version,
            "capabilities": self.capabilities,
            "clientInfo": {"name": name, "version": "0"},
        });
        match self.request("initialize", params).await {
            Ok(result) => result,
            Err(error) => panic!("initialize was refused: {error}\n{}", self.transcript()),
        }
    }

    /// Sends a request and waits for the response.
    pub async fn request(&self, method: &str, params: Value) -> Result<Value, RpcError> {
        self.begin(method, params).await.answer().await
    }

    /// Sends a request without waiting.
    pub async fn begin(&self, method: &str, mut params: Value) -> Pending<'_> {
        if let (Some(meta), Some(params)) = (&self.request_meta, params.as_object_mut()) {
            let own = params.entry("_meta").or_insert_with(|| json!({}));
            for (key, value) in meta.as_object().into_iter().flatten() {
                own[key] = value.clone();
            }
        }
        let id = json!(self.next_id.fetch_add(1, Ordering::Relaxed));
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send_raw(&message.to_string()).await;
        Pending::new(self, id)
    }

    /// Sends a notification.
    pub async fn notify(&self, method: &str, params: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.send_raw(&message.to_string()).await;
    }

    /// Sends a line as it is, valid or not; the newline is added.
    pub async fn send_raw(&self, line: impl AsRef<[u8]>) {
        let line = line.as_ref();
        patiently(self.wire.send(line), || {
            format!("the server to read a line\n{}", self.transcript())
        })
        .await;
    }

    /// Calls a tool; fails the test if the response is a JSON-RPC error.
    pub async fn call_tool(&self, name: &str, arguments: Value) -> ToolReply {
        let pending = self.begin_call(name, arguments).await;
        pending.tool_reply().await
    }

    /// Calls a tool without waiting.
    pub async fn begin_call(&self, name: &str, arguments: Value) -> Pending<'_> {
        let params = json!({"name": name, "arguments": arguments});
        self.begin("tools/call", params).await
    }

    /// The tool list as the server publishes it.
    pub async fn list_tools(&self) -> Vec<Value> {
        match self.request("tools/list", json!({})).await {
            Ok(Value::Object(mut result)) => match result.remove("tools") {
                Some(Value::Array(tools)) => tools,
                _ => panic!("tools/list without tools\n{}", self.transcript()),
            },
            other => panic!("tools/list answered {other:?}\n{}", self.transcript()),
        }
    }

    /// The names of the tool list, in order.
    pub async fn tool_names(&self) -> Vec<String> {
        let tools = self.list_tools().await;
        let names = tools.iter().filter_map(|tool| tool["name"].as_str());
        names.map(str::to_owned).collect()
    }

    /// The next notification that no call of this or [`McpClient::take_notifications`] returned before, in order of
    /// arrival; waits for it if needed.
    pub async fn next_notification(&self) -> Value {
        let n = self.taken_notifications.fetch_add(1, Ordering::Relaxed);
        self.wait("a notification", |messages| {
            notifications(messages).nth(n).cloned()
        })
        .await
    }

    /// Takes every notification that arrived before the response to a request made now. This is a barrier: it
    /// includes what the server wrote before that response, and nothing later.
    pub async fn take_notifications(&self) -> Vec<Value> {
        let barrier = if self.request_meta.is_some() {
            "server/discover"
        } else {
            "ping"
        };
        let pending = self.begin(barrier, json!({})).await;
        let id = pending.id().clone();
        let _ = pending.answer().await;
        self.take_notifications_before(&id)
    }

    /// Fails the test if there is a notification that was not taken, up to a request made now.
    pub async fn assert_no_notification(&self) {
        let surprise = self.take_notifications().await;
        assert!(
            surprise.is_empty(),
            "unexpected notifications: {surprise:#?}\n{}",
            self.transcript()
        );
    }

    /// Takes the notifications that arrived before the (already received) response to a request.
    pub fn take_notifications_before(&self, id: &Value) -> Vec<Value> {
        let messages = self.wire.messages();
        let answered = messages
            .iter()
            .position(|message| message.is_answer_to(id))
            .unwrap_or(messages.len());
        let taken = self.taken_notifications.load(Ordering::Relaxed);
        let fresh: Vec<Value> = notifications(&messages[..answered])
            .skip(taken)
            .cloned()
            .collect();
        self.taken_notifications
            .fetch_add(fresh.len(), Ordering::Relaxed);
        fresh
    }

    /// Everything the server wrote so far, in order.
    pub fn received(&self) -> Vec<Value> {
        let messages = self.wire.messages();
        let received = messages.iter().filter_map(Message::as_received);
        received.cloned().collect()
    }

    /// Waits for a message of the server: `found` gets all messages so far.
    pub async fn wait<T>(&self, what: &str, found: impl FnMut(&[Message]) -> Option<T>) -> T {
        let event = self.wire.wait(found);
        match patiently(event, || format!("{what}\n{}", self.transcript())).await {
            Some(hit) => hit,
            None => panic!(
                "the server closed its output before {what} came\n{}",
                self.transcript()
            ),
        }
    }

    /// Closes the server's input, as a client that disconnects does.
    pub async fn close_input(&self) {
        self.wire.close().await;
    }

    /// Waits until the server has closed its output.
    pub async fn wait_for_end_of_output(&self) {
        patiently(self.wire.ended(), || {
            format!("the server to close its output\n{}", self.transcript())
        })
        .await;
    }

    /// Waits until the started server exits; returns its status.
    pub async fn wait_for_exit(&mut self) -> ExitStatus {
        let transcript = self.transcript();
        let child = self.child.as_mut().expect("a client made by `spawn`");
        patiently(child.wait(), || format!("the server to exit\n{transcript}")).await
    }

    /// The id of the started server's process.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("a client made by `spawn`").pid()
    }

    /// What the started server wrote to stderr so far.
    pub fn stderr(&self) -> String {
        self.child
            .as_ref()
            .map(child::Child::stderr)
            .unwrap_or_default()
    }

    /// Both directions and stderr, for debugging.
    pub fn transcript(&self) -> String {
        use std::fmt::Write as _;
        let mut text = String::from("--- transcript ---\n");
        for message in self.wire.messages().iter() {
            let _ = writeln!(text, "{message}");
        }
        let stderr = self.stderr();
        if !stderr.is_empty() {
            let _ = write!(text, "--- stderr ---\n{stderr}");
        }
        text
    }
}

fn notifications(messages: &[Message]) -> impl Iterator<Item = &Value> {
    messages
        .iter()
        .filter(|message| message.is_notification())
        .filter_map(Message::as_received)
}

/// A client that is known to fetch its list again when it is notified, as this one does when a test wants it.
const FOLLOWER: &str = "claude-code";

#[cfg(test)]
mod tests;
