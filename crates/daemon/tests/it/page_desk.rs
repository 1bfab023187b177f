//! A daemon with its loopback listener, and workers that speak to it as the page library's do.

use futures_util::{SinkExt, StreamExt};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use std::sync::Arc;
use tabmux_daemon::listener::{self, Bound, Guests, PageOrigins};
use tabmux_daemon::{Client, Handle, Hub, SessionOptions};
use tabmux_protocol::session::{self as wire, ToolMode};
use tabmux_protocol::{Backend, BackendEvent, CallReply, CallRequest, Content, RequestId};
use tabmux_testkit::patiently;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use tokio_util::sync::CancellationToken;

pub(crate) struct Daemon {
    pub(crate) hub: Arc<Hub>,
    pub(crate) port: u16,
    stop: CancellationToken,
}

impl Daemon {
    pub(crate) async fn start() -> Self {
        let (hub, stop) = (Arc::new(Hub::start()), CancellationToken::new());
        let bound = Bound::take(0).await.unwrap();
        let port = bound.port();
        let guests = Guests {
            origins: PageOrigins::new(&["https://app.example".into()]).unwrap(),
            secret: "/nonexistent/secret".into(),
        };
        tokio::spawn(listener::serve(
            bound,
            Arc::clone(&hub),
            guests,
            stop.clone(),
        ));
        Self { hub, port, stop }
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

    pub(crate) async fn dial(&self, host: &str, origin: Option<&str>) -> Result<Worker, u16> {
        let mut request = format!("ws://127.0.0.1:{}/page", self.port)
            .into_client_request()
            .unwrap();
        let headers = request.headers_mut();
        headers.insert("Host", host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert("Origin", origin.parse().unwrap());
        }
        match connect_async(request).await {
            Ok((socket, _)) => Ok(Worker(socket)),
            Err(tokio_tungstenite::tungstenite::Error::Http(answer)) => {
                Err(answer.status().as_u16())
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// A worker that is welcome.
    pub(crate) async fn worker(&self) -> Worker {
        let host = format!("127.0.0.1:{}", self.port);
        let mut worker = self
            .dial(&host, Some("http://localhost:5173"))
            .await
            .ok()
            .unwrap();
        assert_eq!(worker.greet().await["type"], "WELCOME");
        worker
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

pub(crate) struct Worker(pub(crate) WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Worker {
    pub(crate) async fn say(&mut self, message: Value) {
        self.0
            .send(Message::text(message.to_string()))
            .await
            .unwrap();
    }

    pub(crate) async fn hear(&mut self) -> Value {
        let next = patiently(self.0.next(), || "a word of the daemon".to_owned());
        let text = next.await.unwrap().unwrap();
        serde_json::from_str(text.to_text().unwrap()).unwrap()
    }

    pub(crate) async fn greet(&mut self) -> Value {
        self.say(json!({"type": "HELLO", "version": 1, "library": "0", "worker": "shared"}))
            .await;
        self.hear().await
    }

    pub(crate) async fn tab(&mut self, id: &str) {
        self.say(json!({
            "type": "REGISTER_TAB", "tabId": id, "documentId": format!("doc-{id}"),
            "url": format!("http://localhost:5173/{id}"), "title": id, "visible": true,
            "focused": false, "lastSeen": 0
        }))
        .await;
    }

    pub(crate) async fn tool(&mut self, tab: &str, name: &str) {
        let schema = json!({"type": "object", "properties": {"loud": {"type": "boolean"}}});
        self.offer(tab, name, schema).await;
    }

    pub(crate) async fn offer(&mut self, tab: &str, name: &str, schema: Value) {
        self.say(json!({
            "type": "REGISTER_TOOL", "tabId": tab, "name": name, "description": "Says who it is.",
            "inputSchema": schema, "handlerType": "proxy", "webMcp": false
        }))
        .await;
    }

    /// Answers the next call with the name of its tab.
    pub(crate) async fn answers(&mut self) -> Value {
        let call = self.hear().await;
        assert_eq!(call["type"], "CALL_TOOL", "{call}");
        let text = format!("I am {}", call["targetTabId"].as_str().unwrap());
        self.say(json!({
            "type": "TOOL_CALL_RESULT", "callId": call["callId"], "success": true,
            "result": {"content": [{"type": "text", "text": text}]}
        }))
        .await;
        call
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
