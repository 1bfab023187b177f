//! The stdio transport: serves one client over a pair of streams until it disconnects.
//!
//! - `streams`: the process's own streams, without a thread where the system allows it.
//! - `transport`: bytes to messages and back; rejects malformed input.

pub(crate) mod inspect;
mod lines;
mod streams;
mod transport;
mod writer;

use crate::{ServeError, connection::Connection};
use rmcp::service::{ServerInitializeError, serve_server};
use std::{future::pending, sync::Arc, time::Duration};
use tabmux_protocol::Backend;
use tokio::io::{AsyncRead, AsyncWrite};
use transport::LineTransport;

/// Serves the client at the other end of this process's stdin and stdout until it closes stdin.
///
/// Nothing else may read stdin or write stdout. If stdin is neither a pipe nor a socket (a
/// terminal, a file), reading it blocks a thread of the runtime, so a process that ends for
/// another reason than the end of its input must not wait for the runtime's threads.
///
/// # Errors
/// As [`serve()`].
pub async fn serve_stdio<B: Backend>(backend: impl Into<Arc<B>>) -> Result<(), ServeError> {
    serve(backend, streams::input(), streams::output()).await
}

/// Serves one client until its input ends: then calls still running are cancelled, and the
/// backend is dropped.
///
/// # Errors
/// When a stream breaks, or the backend has stopped.
pub async fn serve<B: Backend>(
    backend: impl Into<Arc<B>>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), ServeError> {
    let (handler, notifier) = Connection::start(backend);
    let ending = handler.ending();
    let (transport, writer) = LineTransport::start(input, output, handler.intake(), ending.clone());

    let serving = async {
        match serve_server(handler, transport).await {
            Ok(running) => {
                if let Err(error) = running.waiting().await {
                    ending.end_with(ServeError::Protocol {
                        detail: error.to_string(),
                    });
                }
            }
            Err(ServerInitializeError::ConnectionClosed(_)) => {}
            Err(error) => ending.end_with(ServeError::Protocol {
                detail: error.to_string(),
            }),
        }
        // The last answers may still be in its queue.
        let _ = writer.await;
    };
    let notifying = async {
        notifier.run().await;
        pending().await
    };
    let timed_out = async {
        ending.ended().await;
        tokio::time::sleep(FLUSH_TIMEOUT).await;
        tracing::warn!("the client took too long to read the last answers");
    };
    tokio::select! {
        () = serving => {}
        () = notifying => {}
        () = timed_out => {}
    }
    ending.result()
}

/// How long answers may take to be written once the client has gone.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);
