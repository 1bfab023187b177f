//! Serves one client until it goes away.

use crate::{
    ServeError, audience::Audience, ending::Ending, handler::Handler, herald::Herald,
    session::Session, stdio, transport::LineTransport,
};
use rmcp::service::{ServerInitializeError, serve_server};
use std::{future::pending, sync::Arc, time::Duration};
use tabmux_protocol::Backend;
use tokio::io::{AsyncRead, AsyncWrite};

/// Serves the client at the other end of this process's stdin and stdout until it closes stdin.
///
/// Nothing else may read stdin or write stdout. If stdin is neither a pipe nor a socket (a
/// terminal, a file), reading it blocks a thread of the runtime, so a process that ends for
/// another reason than the end of its input must not wait for the runtime's threads.
///
/// # Errors
/// As [`serve()`].
pub async fn serve_stdio<B: Backend>(backend: impl Into<Arc<B>>) -> Result<(), ServeError> {
    serve(backend, stdio::input(), stdio::output()).await
}

/// Serves one client until its input ends: then calls still running are cancelled, and the
/// backend is let go.
///
/// # Errors
/// When a stream breaks, or the backend is gone.
pub async fn serve<B: Backend>(
    backend: impl Into<Arc<B>>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), ServeError> {
    let backend = backend.into();
    let ending = Ending::default();
    let audience = Arc::new(Audience::default());
    let (herald, settling) = Herald::new(Arc::clone(&backend), Arc::clone(&audience));
    let (transport, writer) =
        LineTransport::start(input, output, Arc::clone(&audience), ending.clone());
    let session = Session::new(backend, audience, ending.clone(), settling);

    let serving = async {
        match serve_server(Handler::new(session), transport).await {
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
        // Answers given last are still in its queue.
        let _ = writer.await;
    };
    let telling = async {
        herald.run().await;
        ending.end_with(ServeError::BackendGone);
        pending().await
    };
    let out_of_patience = async {
        ending.ended().await;
        tokio::time::sleep(LAST_WORDS).await;
        tracing::warn!("the client took too long to read the last answers");
    };
    tokio::select! {
        () = serving => {}
        () = telling => {}
        () = out_of_patience => {}
    }
    ending.result()
}

/// How long answers may take to be written once the client has gone.
const LAST_WORDS: Duration = Duration::from_millis(500);
