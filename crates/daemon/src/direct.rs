//! A session in this process, opened when its client has identified itself.

use crate::handle::{Client, Handle, Hub};
use crate::options::SessionOptions;
use crate::policy;
use std::path::PathBuf;
use tabmux_daemon_client::{instructions, modes};
use tabmux_protocol::session as wire;
use tabmux_protocol::{
    Backend, BackendEvent, CallFailure, CallReply, CallRequest, ClientFacts, RequestId,
    ResourceRequest, ToolInfo,
};
use tokio::sync::{Notify, OnceCell};

/// The only session of a main loop that is not shared.
#[derive(Debug)]
pub struct DirectSession {
    hub: Hub,
    options: wire::SessionOptions,
    handle: OnceCell<Handle>,
    opened: Notify,
}

impl DirectSession {
    /// Creates a session. Returns a sentence if the options are invalid.
    pub fn new(options: wire::SessionOptions) -> Result<Self, String> {
        SessionOptions::from_wire(options.clone())?;
        Ok(Self {
            hub: Hub::start_under(policy::usual_place()),
            options,
            handle: OnceCell::new(),
            opened: Notify::new(),
        })
    }

    /// Ends the main loop and every browser that it launched.
    pub async fn shut_down(&self) {
        self.hub.shut_down().await;
    }

    async fn open(&self, client: Option<ClientFacts>) -> Result<&Handle, CallFailure> {
        let open = || async {
            let tools = modes::choose(&self.options, client.as_ref());
            let options = wire::SessionOptions {
                tools,
                ..self.options.clone()
            };
            let options = SessionOptions::from_wire(options).map_err(|_| CallFailure::Closed)?;
            let client = Client {
                name: client.map(|client| client.name).unwrap_or_default(),
                ..Client::default()
            };
            Ok(self.hub.open(options.alone(), client).await)
        };
        let handle = self.handle.get_or_try_init(open).await?;
        self.opened.notify_waiters();
        Ok(handle)
    }
}

impl Backend for DirectSession {
    async fn introduce(&self, client: ClientFacts) {
        let _ = self.open(Some(client)).await;
    }

    fn instructions(&self, client: Option<&ClientFacts>) -> Option<String> {
        instructions(&self.options, client)
    }

    async fn works_in(&self, roots: Vec<PathBuf>) {
        if let Ok(handle) = self.open(None).await {
            handle.works_in(roots).await;
        }
    }

    async fn tools(&self) -> Result<Vec<ToolInfo>, CallFailure> {
        self.open(None).await?.tools().await
    }

    async fn call(&self, request: CallRequest) -> Result<CallReply, CallFailure> {
        self.open(None).await?.call(request).await
    }

    async fn resources(&self, request: ResourceRequest) -> Result<CallReply, CallFailure> {
        self.open(None).await?.resources(request).await
    }

    async fn watch(&self, uris: Vec<String>) {
        if let Ok(handle) = self.open(None).await {
            handle.watch(uris).await;
        }
    }

    fn cancel(&self, request: &RequestId) {
        if let Some(handle) = self.handle.get() {
            handle.cancel(request);
        }
    }

    async fn next_event(&self) -> Option<BackendEvent> {
        // There are no events before the session is open.
        loop {
            let opened = self.opened.notified();
            if let Some(handle) = self.handle.get() {
                return handle.next_event().await;
            }
            opened.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json, value::to_raw_value};
    use tabmux_protocol::Content;

    /// Spec: multi-client 29.
    #[tokio::test]
    async fn direct_mode_reports_its_own_state() {
        let session = DirectSession::new(wire::SessionOptions::default()).unwrap();
        let status = CallRequest {
            request_id: RequestId("1".into()),
            tool: "browser_get_connection_status".into(),
            arguments: to_raw_value(&json!({})).unwrap(),
            progress: false,
            asking: Default::default(),
        };
        let reply = session.call(status).await.unwrap();
        let Some(Content::Text { text }) = reply.content.first() else {
            panic!("{reply:?}");
        };
        let mut told: Value = serde_json::from_str(text).unwrap();
        let browsers = told["browsers"].take();
        let id = told["sessionId"].take();
        assert!(id.is_string(), "{id}");
        assert_eq!(
            told,
            json!({
                "connected": false, "mode": "direct", "sessionId": null, "extensionConnected": false,
                "activeSessions": 1, "browsers": null
            })
        );
        assert_eq!(browsers[0]["state"], "pending", "{browsers}");
        session.shut_down().await;
    }
}
