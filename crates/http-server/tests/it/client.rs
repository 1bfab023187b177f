//! HTTP by hand: requests as text, answers as text.

use serde_json::{Value, json};
use std::fmt::Write as _;

/// One request.
#[derive(Clone)]
pub(crate) struct Request {
    method: String,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn new(method: &str) -> Self {
        Self {
            method: method.to_owned(),
            headers: Vec::new(),
            body: String::new(),
        }
    }

    pub(crate) fn post(token: &str, body: &str) -> Self {
        let mut request = Self::new("POST").token(token);
        request.body = body.to_owned();
        request.header("Content-Type", "application/json")
    }

    /// The first request of a client with a handshake.
    pub(crate) fn initialize(token: &str) -> Self {
        let hello = json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "a-client", "version": "1"}
            }
        });
        Self::post(token, &hello.to_string())
    }

    /// The second one.
    pub(crate) fn initialized(token: &str, session: &str) -> Self {
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        Self::post(token, &ready.to_string()).session(session)
    }

    /// A call of a client with a handshake.
    pub(crate) fn call(token: &str, session: &str, tool: &str, arguments: Value) -> Self {
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}
        });
        Self::post(token, &body.to_string()).session(session)
    }

    /// A call of a client without one.
    pub(crate) fn call_alone(token: &str, tool: &str, arguments: Value) -> Self {
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "alone", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {}
            }}
        });
        Self::post(token, &body.to_string())
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", "tools/call")
            .header("Mcp-Name", tool)
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn session(self, id: &str) -> Self {
        self.header("Mcp-Session-Id", id)
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The head of the request, for a body of this length.
    pub(crate) fn head(&self, port: u16, length: usize) -> String {
        let mut head = format!(
            "{} /mcp HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: {length}\r\nConnection: close\r\n",
            self.method,
        );
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head + "\r\n"
    }
}

/// One answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let mut lines = head.lines();
        let status = lines
            .next()
            .and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let headers = lines.filter_map(|line| line.split_once(": "));
        Self {
            status: status.unwrap_or_else(|| panic!("no answer: {text:?}")),
            headers: headers
                .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
                .collect(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter();
        let found = all.find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}
