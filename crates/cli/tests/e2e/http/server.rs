//! A running `tabmux serve`, and clients that speak HTTP by hand.

use crate::crowd::Crowd;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use tabmux_testkit::{patiently, process};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(super) struct HttpServer<'a> {
    crowd: &'a Crowd,
    process: Child,
    port: u16,
}

impl<'a> HttpServer<'a> {
    /// Serves at any port, with the crowd's daemon and browser.
    pub(super) async fn start(crowd: &'a Crowd) -> Self {
        let mut command = crowd.serve();
        command.args(["--listen", "127.0.0.1:0"]);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let output = process.stdout.take().unwrap();
        let mut lines = BufReader::new(output).lines();
        let greeting = lines.next().unwrap().unwrap();
        let port = greeting
            .trim_end_matches("/mcp")
            .rsplit_once(':')
            .and_then(|(_, port)| port.parse().ok());
        let port = port.unwrap_or_else(|| panic!("{greeting}"));
        Self {
            crowd,
            process,
            port,
        }
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// A new token.
    pub(super) fn token(&self, name: &str) -> String {
        self.limited_token(name, &[])
    }

    /// A new token with these flags.
    pub(super) fn limited_token(&self, name: &str, flags: &[&str]) -> String {
        let words = [&["token", "add", name], flags].concat();
        self.tabmux(&words).trim().to_owned()
    }

    /// What a command prints.
    pub(super) fn tabmux(&self, words: &[&str]) -> String {
        let mut command: Command = self.crowd.tabmux();
        let output = command.args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(super) fn kill_daemon(&self) {
        let home = self.crowd.home().display().to_string();
        let all = process::processes_with(&home);
        let daemon = all.iter().find(|one| one.command.contains(" daemon run "));
        process::kill_hard(daemon.unwrap().pid);
    }

    /// Waits until the daemon's sessions are as wanted.
    pub(super) async fn until_sessions(&self, wanted: impl Fn(&str) -> bool) {
        let waiting = async {
            while !wanted(&self.tabmux(&["sessions"])) {
                tokio::task::yield_now().await;
            }
        };
        patiently(waiting, || self.tabmux(&["sessions"])).await;
    }

    /// A client that begins with a handshake.
    pub(super) async fn handshake(&self, token: &str, name: &str) -> HttpClient<'_> {
        let hello = json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": name, "version": "1"}
            }
        });
        let request = Request::post(&hello.to_string()).token(token);
        let answer = self.send(&request).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.json()["result"]["serverInfo"]["title"], "tabmux");
        let client = HttpClient {
            server: self,
            token: token.to_owned(),
            id: answer.header("mcp-session-id").unwrap().to_owned(),
            next: AtomicU64::new(1),
        };
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let ready = Request::post(&ready.to_string()).token(token);
        let answer = self.send(&ready.header("Mcp-Session-Id", &client.id)).await;
        assert_eq!(answer.status, 202, "{}", answer.body);
        client
    }

    /// A call of a client without a handshake.
    pub(super) async fn call_alone(&self, token: &str, tool: &str, arguments: Value) -> ToolAnswer {
        let params = json!({"name": tool, "arguments": arguments});
        let answer = self.alone(token, "tools/call", params).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        ToolAnswer::of(&answer.json())
    }

    /// A request of a client without a handshake.
    pub(super) async fn alone(&self, token: &str, method: &str, mut params: Value) -> Answer {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "alone", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}
        });
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut request = Request::post(&body.to_string())
            .token(token)
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", method);
        if let Some(name) = params["name"].as_str().or_else(|| params["uri"].as_str()) {
            request = request.header("Mcp-Name", name);
        }
        if let Some(session) = params["arguments"]["session"].as_str() {
            request = request.header("Mcp-Param-Session", session);
        }
        self.send(&request).await
    }

    pub(super) async fn send(&self, request: &Request) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let own = format!("127.0.0.1:{}", self.port);
        let text = request.text(&own);
        // A server that refuses a request need not read all of it.
        let _ = stream.write_all(text.as_bytes()).await;
        let mut answer = Vec::new();
        let reading = stream.read_to_end(&mut answer);
        let _ = patiently(reading, || format!("no answer to {}", request.head(&own))).await;
        Answer::read(&String::from_utf8_lossy(&answer))
    }
}

impl Drop for HttpServer<'_> {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A client with a session of its own.
pub(super) struct HttpClient<'a> {
    server: &'a HttpServer<'a>,
    token: String,
    id: String,
    next: AtomicU64,
}

impl HttpClient<'_> {
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn request_to(&self, method: &str, params: Value) -> Request {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        Request::post(&body.to_string())
            .token(&self.token)
            .header("Mcp-Session-Id", &self.id)
    }

    pub(super) async fn request(&self, method: &str, params: Value) -> Value {
        let answer = self.server.send(&self.request_to(method, params)).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    }

    pub(super) async fn call(&self, tool: &str, arguments: Value) -> ToolAnswer {
        let params = json!({"name": tool, "arguments": arguments});
        ToolAnswer::of(&self.request("tools/call", params).await)
    }
}

pub(super) struct ToolAnswer {
    pub(super) is_error: bool,
    pub(super) text: String,
}

impl ToolAnswer {
    fn of(message: &Value) -> Self {
        let result = &message["result"];
        let text = result["content"][0]["text"].as_str();
        Self {
            is_error: result["isError"] == true,
            text: text.unwrap_or_else(|| panic!("{message}")).to_owned(),
        }
    }
}

/// One HTTP request.
#[derive(Clone)]
pub(super) struct Request {
    method: String,
    path: String,
    host: Option<String>,
    kind: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Request {
    pub(super) fn post(body: &str) -> Self {
        Self {
            method: "POST".into(),
            path: "/mcp".into(),
            host: None,
            kind: "application/json".into(),
            headers: Vec::new(),
            body: body.into(),
        }
    }

    fn token(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub(super) fn method(mut self, method: &str) -> Self {
        self.method = method.into();
        self
    }

    pub(super) fn path(mut self, path: &str) -> Self {
        self.path = path.into();
        self
    }

    pub(super) fn host(mut self, host: &str) -> Self {
        self.host = Some(host.into());
        self
    }

    pub(super) fn kind(mut self, kind: &str) -> Self {
        self.kind = kind.into();
        self
    }

    pub(super) fn body(mut self, body: &str) -> Self {
        self.body = body.into();
        self
    }

    fn head(&self, own: &str) -> String {
        let host = self.host.as_deref().unwrap_or(own);
        let mut head = format!(
            "{} {} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n",
            self.method,
            self.path,
            self.kind,
            self.body.len()
        );
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        head
    }

    fn text(&self, own: &str) -> String {
        self.head(own) + &self.body
    }
}

/// One HTTP answer.
pub(super) struct Answer {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Answer {
    fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let mut lines = head.lines();
        let status = lines
            .next()
            .and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let headers = lines.filter_map(|line| line.split_once(": "));
        let is_chunked = head
            .to_ascii_lowercase()
            .contains("transfer-encoding: chunked");
        let whole = is_chunked.then(|| without_chunks(body));
        let body = whole.as_deref().unwrap_or(body);
        Self {
            status: status.unwrap_or_else(|| panic!("{text}")),
            headers: headers
                .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
                .collect(),
            body: body.to_owned(),
        }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter();
        all.find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// The JSON-RPC answer in the body, which may be a stream of events.
    pub(super) fn json(&self) -> Value {
        let lines = self.body.lines();
        let mut texts = lines.map(|line| line.strip_prefix("data: ").unwrap_or(line));
        texts
            .find_map(|text| {
                let message: Value = serde_json::from_str(text).ok()?;
                message.get("jsonrpc").is_some().then_some(message)
            })
            .unwrap_or_else(|| panic!("{}", self.body))
    }
}

/// The body that came in these chunks, as far as they are there.
fn without_chunks(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, more)) = rest.split_once("\r\n")
        && let Ok(size) = usize::from_str_radix(size, 16)
    {
        let end = size.min(more.len());
        body.push_str(&more[..end]);
        rest = more.get(end + 2..).unwrap_or_default();
    }
    body
}
