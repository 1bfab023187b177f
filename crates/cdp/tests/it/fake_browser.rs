//! An in-memory browser: the test reads commands and writes any messages.

use serde_json::{Value, json};
use tabmux_cdp::{
    Connection, Events, PipeTransport, Session,
    types::{browser::GetVersion, target::AttachedToTarget},
};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};

/// The browser's end of a connection.
pub(crate) struct FakeBrowser {
    read: BufReader<ReadHalf<DuplexStream>>,
    write: WriteHalf<DuplexStream>,
}

/// A connection to a fake browser.
pub(crate) fn connect() -> (Session, Events, FakeBrowser) {
    connect_with_buffer(64 * 1024)
}

/// The same, with a pipe that holds `bytes` before the writer has to wait.
pub(crate) fn connect_with_buffer(bytes: usize) -> (Session, Events, FakeBrowser) {
    let (ours, theirs) = duplex(bytes);
    let (read, write) = split(ours);
    let (session, events) = Connection::start(PipeTransport::new(read, write));
    let (read, write) = split(theirs);
    (
        session,
        events,
        FakeBrowser {
            read: BufReader::new(read),
            write,
        },
    )
}

impl FakeBrowser {
    /// The next command that arrives.
    pub(crate) async fn command(&mut self) -> Value {
        self.command_or_end()
            .await
            .expect("a command, but the client hung up")
    }

    /// The next command that arrives; `None` when the client has disconnected.
    pub(crate) async fn command_or_end(&mut self) -> Option<Value> {
        let mut frame = Vec::new();
        self.read.read_until(0, &mut frame).await.unwrap();
        (frame.pop()? == 0).then(|| serde_json::from_slice(&frame).unwrap())
    }

    /// Answers a command.
    pub(crate) async fn answer(&mut self, command: &Value, result: Value) {
        self.send(json!({ "id": command["id"], "result": result }))
            .await;
    }

    /// Sends an event of the browser, or of a session.
    pub(crate) async fn event(&mut self, session: Option<&str>, method: &str, params: Value) {
        let mut message = json!({ "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        self.send(message).await;
    }

    /// Reports that a session is attached under `parent`.
    pub(crate) async fn attach(&mut self, parent: Option<&str>, session: &str) {
        let params = json!({
            "sessionId": session,
            "targetInfo": { "targetId": format!("target of {session}"), "type": "page" },
            "waitingForDebugger": true,
        });
        self.event(parent, "Target.attachedToTarget", params).await;
    }

    /// Reports that a session is gone.
    pub(crate) async fn detach(&mut self, parent: Option<&str>, session: &str) {
        self.event(
            parent,
            "Target.detachedFromTarget",
            json!({ "sessionId": session }),
        )
        .await;
    }

    /// Sends a message.
    pub(crate) async fn send(&mut self, message: Value) {
        self.send_bytes(message.to_string().as_bytes()).await;
    }

    /// Sends a frame of any bytes.
    pub(crate) async fn send_bytes(&mut self, frame: &[u8]) {
        self.write.write_all(frame).await.unwrap();
        self.write.write_all(&[0]).await.unwrap();
    }

    /// Returns once the client has read everything that was sent before: responses are processed in
    /// order.
    pub(crate) async fn settle(&mut self, session: &Session) {
        let (answered, ()) = tokio::join!(session.send(GetVersion::default()), async {
            let command = self.command().await;
            self.answer(&command, json!({})).await;
        });
        answered.unwrap();
    }
}

/// The child session of the next event, which must be an attachment.
pub(crate) async fn next_child(events: &mut Events) -> (Session, Events) {
    let mut event = events.next().await.expect("an event");
    event.decode::<AttachedToTarget>().expect("an attachment");
    event.child.take().expect("a child session")
}
