//! A small MCP client: JSON-RPC, one message per line, over the standard streams of a server process.

use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A server process and the connection to it. Dropping it ends the server.
#[derive(Debug)]
pub(super) struct Client {
    server: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    log: Log,
    next_id: u64,
    list_changed: bool,
}

/// The result of a tool call.
#[derive(Debug)]
pub(super) struct Answer {
    /// All text blocks.
    pub(super) text: String,
    /// The first picture, in base64.
    pub(super) image: Option<String>,
    pub(super) is_error: bool,
    /// From the last byte of the question to the last byte of the answer.
    pub(super) took: Duration,
    /// Whether the server notified a changed tool list meanwhile.
    pub(super) list_changed: bool,
}

impl Client {
    pub(super) fn start(program: &Path, arguments: &[String]) -> anyhow::Result<Self> {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut server = command
            .spawn()
            .with_context(|| format!("{} did not start", program.display()))?;
        let input = server.stdin.take();
        let output = server.stdout.take().context("the server has no output")?;
        let log = Log::follow(server.stderr.take());
        let messages = read_messages(output);
        Ok(Self {
            server,
            input,
            messages,
            log,
            next_id: 1,
            list_changed: false,
        })
    }

    /// The process id of the server.
    pub(super) fn pid(&self) -> u32 {
        self.server.id()
    }

    /// The last lines that the server logged.
    pub(super) fn log(&self) -> Log {
        self.log.clone()
    }

    /// Does the handshake. Returns what the server says about itself.
    pub(super) fn initialize(&mut self) -> anyhow::Result<Value> {
        let about = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "tabmux-demo", "version": env!("CARGO_PKG_VERSION")},
        });
        let answer = self.request("initialize", about)?;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(answer)
    }

    /// The names of the tools that the server offers now.
    pub(super) fn tool_names(&mut self) -> anyhow::Result<Vec<String>> {
        let list = self.request("tools/list", json!({}))?;
        let tools = list["tools"]
            .as_array()
            .context("the tool list is not a list")?;
        Ok(tools
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .map(str::to_owned)
            .collect())
    }

    /// Calls a tool. A tool error is an `Answer` too.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Answer> {
        self.list_changed = false;
        let start = Instant::now();
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}))?;
        let took = start.elapsed();
        let blocks = result["content"]
            .as_array()
            .context("the answer has no content")?;
        let texts: Vec<&str> = blocks
            .iter()
            .filter_map(|block| block["text"].as_str())
            .collect();
        let image = blocks.iter().find(|block| block["type"] == "image");
        Ok(Answer {
            text: texts.join("\n"),
            image: image
                .and_then(|block| block["data"].as_str())
                .map(str::to_owned),
            is_error: result["isError"] == true,
            took,
            list_changed: self.list_changed,
        })
    }

    /// Disconnects, and waits until the server has ended with success.
    pub(super) fn disconnect(mut self) -> anyhow::Result<Duration> {
        let start = Instant::now();
        if !self.ends_within(ANSWER_TIMEOUT) {
            bail!("the server did not end within {ANSWER_TIMEOUT:?} after the client disconnected");
        }
        let status = self
            .server
            .wait()
            .context("the exit status of the server is unknown")?;
        if !status.success() {
            bail!("the server ended with {status}");
        }
        Ok(start.elapsed())
    }

    /// Closes the server's input. Returns whether the server ended, which closes its output.
    fn ends_within(&mut self, limit: Duration) -> bool {
        drop(self.input.take());
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.messages.recv_timeout(left) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => return true,
                Err(RecvTimeoutError::Timeout) => return false,
            }
        }
    }

    fn request(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut message = match self.messages.recv_timeout(left) {
                Ok(message) => message,
                Err(RecvTimeoutError::Disconnected) => {
                    bail!("the server ended before it answered {method}")
                }
                Err(RecvTimeoutError::Timeout) => {
                    bail!("{method} was not answered within {ANSWER_TIMEOUT:?}")
                }
            };
            if message["method"] == "notifications/tools/list_changed" {
                self.list_changed = true;
            }
            if message["id"] != id {
                continue;
            }
            if let Some(error) = message.get("error") {
                bail!(
                    "{method} was refused: {}",
                    error["message"].as_str().unwrap_or("no reason given")
                );
            }
            return Ok(message["result"].take());
        }
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("the connection is closed")?;
        let sent = input.write_all(format!("{message}\n").as_bytes());
        sent.context("the server closed its input")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Give the server time to clean up. If it is killed, its browser ends too.
        if !self.ends_within(GRACE) {
            let _ = self.server.kill();
        }
        let _ = self.server.wait();
    }
}

/// The last lines of a server's standard error.
#[derive(Clone, Debug, Default)]
pub(super) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn follow(stderr: Option<impl Read + Send + 'static>) -> Self {
        let log = Self::default();
        let lines = log.clone();
        thread::spawn(move || {
            for line in stderr
                .into_iter()
                .flat_map(|stderr| BufReader::new(stderr).lines())
                .map_while(Result::ok)
            {
                lines.push(line);
            }
        });
        log
    }

    fn push(&self, line: String) {
        if let Ok(mut lines) = self.0.lock() {
            if lines.len() == LINES_KEPT {
                lines.remove(0);
            }
            lines.push(line);
        }
    }

    pub(super) fn last_lines(&self) -> Vec<String> {
        self.0.lock().map(|lines| lines.clone()).unwrap_or_default()
    }
}

/// Reads messages until the server closes its output. Lines that are not JSON are dropped.
fn read_messages(output: impl Read + Send + 'static) -> Receiver<Value> {
    let (sender, messages) = mpsc::sync_channel(MESSAGES_QUEUED);
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if let Ok(message) = serde_json::from_str(&line)
                && sender.send(message).is_err()
            {
                return;
            }
        }
    });
    messages
}

const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
const GRACE: Duration = Duration::from_secs(5);
const MESSAGES_QUEUED: usize = 64;
const LINES_KEPT: usize = 12;
