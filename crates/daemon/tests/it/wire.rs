//! A raw client of the socket: sends and receives lines.

use serde_json::{Value, json};
use std::path::Path;
use tabmux_protocol::wire::PROTOCOL;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

pub(crate) struct Wire {
    lines: tokio::io::Lines<BufReader<OwnedReadHalf>>,
    write: OwnedWriteHalf,
}

impl Wire {
    pub(crate) async fn connect(socket: &Path) -> Self {
        let (read, write) = UnixStream::connect(socket).await.unwrap().into_split();
        Self {
            lines: BufReader::new(read).lines(),
            write,
        }
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.send_bytes(format!("{message}\n").as_bytes()).await;
    }

    /// Writes raw bytes; the daemon may close the connection meanwhile.
    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        let _ = self.write.write_all(bytes).await;
    }

    /// The next line, or `None` when the daemon has closed the connection.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let next =
            tabmux_testkit::patiently(self.lines.next_line(), || "the daemon is silent".into());
        let line = next.await.ok().flatten()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    pub(crate) async fn ask(&mut self, message: Value) -> Value {
        self.send(message).await;
        self.next().await.expect("the daemon answers")
    }

    /// Opens a session and returns its name.
    pub(crate) async fn register(&mut self) -> String {
        let answer = self.ask(register(PROTOCOL)).await;
        assert_eq!(answer["type"], "REGISTERED", "{answer}");
        answer["sessionId"].as_str().unwrap().to_owned()
    }
}

pub(crate) fn register(protocol: u32) -> Value {
    json!({
        "type": "REGISTER", "id": "r", "protocol": protocol, "version": "0.0.0",
        "client": {"name": "test", "pid": 1},
        "options": {"pageActions": true}
    })
}
