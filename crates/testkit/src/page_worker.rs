//! A worker of the page library, played by a test: it sends the library's messages, and answers calls.

use crate::patiently;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderMap;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// One worker, and its websocket.
#[derive(Debug)]
pub struct PageWorker(pub Socket);

/// A websocket to the daemon.
pub(crate) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Opens a websocket with these headers in addition to the usual ones.
pub(crate) async fn open(
    address: &str,
    headers: &[(&'static str, &str)],
) -> Result<(Socket, HeaderMap), Error> {
    let mut request = address.into_client_request()?;
    for (name, value) in headers {
        request
            .headers_mut()
            .insert(*name, value.parse().expect("a header"));
    }
    let (socket, answer) = connect_async(request).await?;
    Ok((socket, answer.headers().clone()))
}

impl PageWorker {
    /// Opens its websocket at `127.0.0.1:8765` or similar, with these headers. Returns the daemon's headers, or the
    /// status of a refusal.
    pub async fn dial(
        address: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<(Self, HeaderMap), u16> {
        match open(&format!("ws://{address}/page"), headers).await {
            Ok((socket, headers)) => Ok((Self(socket), headers)),
            Err(Error::Http(answer)) => Err(answer.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    /// Sends a message.
    pub async fn say(&mut self, message: Value) {
        let message = Message::text(message.to_string());
        self.0.send(message).await.expect("the daemon listens");
    }

    /// The daemon's next message.
    pub async fn hear(&mut self) -> Value {
        let next = patiently(self.0.next(), || "a word of the daemon".to_owned());
        let word = next.await.expect("the daemon stays");
        let word = word.expect("a whole message");
        let text = word.to_text().expect("text");
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Returns once the daemon has processed everything that was sent before.
    pub async fn is_heard(&mut self) {
        self.say(json!({"type": "PING"})).await;
        assert_eq!(self.hear().await["type"], "PONG");
    }

    /// Says hello; returns the response.
    pub async fn greet(&mut self) -> Value {
        self.say(json!({"type": "HELLO", "version": 1, "library": "0", "worker": "shared"}))
            .await;
        self.hear().await
    }

    /// Registers a tab.
    pub async fn tab(&mut self, id: &str) {
        self.tab_with(id, &format!("doc-{id}")).await;
    }

    /// Registers a tab with a document of this name.
    pub async fn tab_with(&mut self, id: &str, document: &str) {
        self.say(json!({
            "type": "REGISTER_TAB", "tabId": id, "documentId": document,
            "url": format!("http://localhost:5173/{id}"), "title": id, "visible": true,
            "focused": false, "lastSeen": 0
        }))
        .await;
    }

    /// Registers a tool in a tab, with one optional argument.
    pub async fn tool(&mut self, tab: &str, name: &str) {
        let schema = json!({"type": "object", "properties": {"loud": {"type": "boolean"}}});
        self.offer(tab, name, schema).await;
    }

    /// Registers a tool in a tab.
    pub async fn offer(&mut self, tab: &str, name: &str, schema: Value) {
        self.say(json!({
            "type": "REGISTER_TOOL", "tabId": tab, "name": name, "description": "Says who it is.",
            "inputSchema": schema, "handlerType": "proxy", "webMcp": false
        }))
        .await;
    }

    /// Answers the next call with the name of its tab.
    pub async fn answers(&mut self) -> Value {
        let call = self.hear().await;
        assert_eq!(call["type"], "CALL_TOOL", "{call}");
        let tab = call["targetTabId"].as_str().expect("a call names its tab");
        let text = format!("I am {tab}");
        self.say(json!({
            "type": "TOOL_CALL_RESULT", "callId": call["callId"], "success": true,
            "result": {"content": [{"type": "text", "text": text}]}
        }))
        .await;
        call
    }
}
