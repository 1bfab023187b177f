//! Bytes to messages and back; rejects malformed input.
//!
//! rmcp's own transport ignores lines that are not JSON, and its handshake fails if the first message
//! is not a request. Here every line is checked before rmcp gets it.

pub(crate) mod inspect;
mod lines;
mod turn;
mod writer;

pub(crate) use turn::{Arrival, Turn};

use crate::{ServeError, ending::Ending, subscribers::Subscribers};
use inspect::{Verdict, inspect, refuse_long_line};
use lines::{Line, LineReader};
use rmcp::{
    RoleServer,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, GetExtensions as _, GetMeta as _,
        JsonRpcMessage, ProtocolVersion, ServerJsonRpcMessage,
    },
    transport::Transport,
};
use std::{future::Future, io, sync::Arc};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
    task::JoinHandle,
};
use turn::Turns;

/// One JSON-RPC message per line, in both directions.
pub(crate) struct LineTransport<R> {
    lines: LineReader<R>,
    outgoing: mpsc::Sender<Vec<u8>>,
    subscribers: Arc<Subscribers>,
    ending: Ending,
    has_begun: bool,
    turns: Turns,
}

impl<R: AsyncRead + Send + Unpin> LineTransport<R> {
    /// Also returns the task that writes; it ends when the transport is dropped and all is written.
    pub(crate) fn start(
        input: R,
        output: impl AsyncWrite + Send + Unpin + 'static,
        subscribers: Arc<Subscribers>,
        ending: Ending,
    ) -> (Self, JoinHandle<()>) {
        let (outgoing, writer) = writer::start(output, ending.clone());
        let transport = Self {
            lines: LineReader::new(input),
            outgoing,
            subscribers,
            ending,
            has_begun: false,
            turns: Turns::default(),
        };
        (transport, writer)
    }

    async fn next_message(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // Reserve a slot for a refusal first. A client that does not read its answers is not read
            // from.
            let slot = self.outgoing.reserve().await.ok()?;
            let turn = self.turns.next().await?;
            let verdict = match self.lines.next().await {
                Ok(Some(Line::Whole(line))) => inspect(&line),
                Ok(Some(Line::TooLong(head, end))) => refuse_long_line(&head, &end),
                Ok(None) => {
                    self.ending.end();
                    return None;
                }
                Err(error) => {
                    let kind = error.kind();
                    self.ending.end_with(ServeError::Read { kind });
                    return None;
                }
            };
            match verdict {
                Verdict::Refuse(answer) => slot.send(answer),
                Verdict::Ignore => {}
                Verdict::Deliver(message) => {
                    drop(slot);
                    if let Some(message) = self.admit(*message, turn) {
                        return Some(message);
                    }
                }
            }
        }
    }

    fn admit(
        &mut self,
        mut message: ClientJsonRpcMessage,
        turn: Turn,
    ) -> Option<ClientJsonRpcMessage> {
        match &mut message {
            JsonRpcMessage::Request(request) => {
                self.has_begun |= begins_session(&request.request);
                if needs_turn(&request.request) {
                    let changes_before = self.subscribers.changes();
                    request.request.extensions_mut().insert(Arrival {
                        turn,
                        changes_before,
                    });
                }
                Some(message)
            }
            JsonRpcMessage::Notification(_) if !self.has_begun => None,
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::InitializedNotification(_) = notification.notification {
                    self.subscribers.client_is_ready();
                }
                Some(message)
            }
            // Before the session begins we have sent no request.
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {
                Some(message).filter(|_| self.has_begun)
            }
        }
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for LineTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        async move {
            let line = serde_json::to_vec(&message)?;
            let sent = outgoing.send(line).await;
            sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    // rmcp drops this future whenever something else happens first. Nothing is awaited once a
    // line is complete, and a partial line stays in the reader, so nothing gets lost.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let ending = self.ending.clone();
        tokio::select! {
            biased;
            () = ending.ended() => None,
            message = self.next_message() => message,
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        Ok(())
    }
}

/// Whether later requests must not overtake this one.
fn needs_turn(request: &ClientRequest) -> bool {
    matches!(
        request,
        ClientRequest::CallToolRequest(_) | ClientRequest::SubscriptionsListenRequest(_)
    )
}

/// Whether this request ends rmcp's handshake. Before that rmcp accepts no notification.
fn begins_session(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
        _ => {
            let meta = request.get_meta();
            let newest = ProtocolVersion::V_2026_07_28;
            meta.missing_required_keys(&newest).is_empty()
                && meta
                    .protocol_version()
                    .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}
