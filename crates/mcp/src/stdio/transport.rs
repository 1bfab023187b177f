//! Bytes to messages and back; rejects malformed input.
//!
//! rmcp's own transport ignores lines that are not JSON, and its handshake fails if the first message
//! is not a request. Here every line is checked before rmcp gets it.

use super::{
    inspect::{Verdict, inspect, refuse_long_line},
    lines::{Line, LineReader},
    writer,
};
use crate::{ServeError, ending::Ending, intake::Intake};
use rmcp::{
    RoleServer,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::Transport,
};
use std::{future::Future, io};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
    task::JoinHandle,
};

/// One JSON-RPC message per line, in both directions.
pub(crate) struct LineTransport<R> {
    lines: LineReader<R>,
    outgoing: mpsc::Sender<Vec<u8>>,
    intake: Intake,
    ending: Ending,
}

impl<R: AsyncRead + Send + Unpin> LineTransport<R> {
    /// Also returns the task that writes; it ends when the transport is dropped and all is written.
    pub(crate) fn start(
        input: R,
        output: impl AsyncWrite + Send + Unpin + 'static,
        intake: Intake,
        ending: Ending,
    ) -> (Self, JoinHandle<()>) {
        let (outgoing, writer) = writer::start(output, ending.clone());
        let transport = Self {
            lines: LineReader::new(input),
            outgoing,
            intake,
            ending,
        };
        (transport, writer)
    }

    async fn next_message(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // Reserve a slot for a refusal first. A client that does not read its answers is not read
            // from.
            let slot = self.outgoing.reserve().await.ok()?;
            let turn = self.intake.next_turn().await?;
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
                    if let Some(message) = self.intake.admit(*message, turn) {
                        return Some(message);
                    }
                }
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
