//! The one task that writes, so that lines are never interleaved.

use crate::{ServeError, ending::Ending};
use std::io;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    sync::mpsc,
    task::JoinHandle,
};

/// Starts the task. It adds the newline to each message, and ends when all senders are dropped
/// or the output is closed.
pub(super) fn start(
    output: impl AsyncWrite + Send + Unpin + 'static,
    ending: Ending,
) -> (mpsc::Sender<Vec<u8>>, JoinHandle<()>) {
    let (sender, messages) = mpsc::channel(QUEUE);
    let task = tokio::spawn(async move {
        if let Err(error) = write(output, messages).await {
            let kind = error.kind();
            ending.end_with(ServeError::Write { kind });
        }
    });
    (sender, task)
}

async fn write(
    mut output: impl AsyncWrite + Unpin,
    mut messages: mpsc::Receiver<Vec<u8>>,
) -> io::Result<()> {
    while let Some(mut message) = messages.recv().await {
        message.push(b'\n');
        output.write_all(&message).await?;
        if messages.is_empty() {
            output.flush().await?;
        }
    }
    output.flush().await
}

/// How many messages may wait to be written before the client is no longer read from.
const QUEUE: usize = 64;
