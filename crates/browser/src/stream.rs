//! Copies a stream of Chrome's into a file, in parts.

use crate::error::ToolError;
use crate::files::Draft;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use tabmux_cdp::Session;
use tabmux_cdp::types::io;

/// Writes a whole stream to `file` and closes it. Returns its length.
pub(crate) async fn save(
    session: &Session,
    stream: Option<io::StreamHandle>,
    file: &mut Draft,
) -> Result<u64, ToolError> {
    let Some(handle) = stream else {
        return Err(ToolError::Internal {
            detail: "Chrome offered no stream".into(),
        });
    };
    let saved = copy(session, &handle, file).await;
    session.post(io::Close { handle });
    saved
}

async fn copy(
    session: &Session,
    handle: &io::StreamHandle,
    file: &mut Draft,
) -> Result<u64, ToolError> {
    let mut length = 0;
    loop {
        let read = io::Read {
            handle: handle.clone(),
            size: Some(PART),
            ..Default::default()
        };
        let part = session.send(read).await?;
        let bytes = match part.base64_encoded {
            Some(true) => {
                BASE64_STANDARD
                    .decode(&part.data)
                    .map_err(|error| ToolError::Internal {
                        detail: error.to_string(),
                    })?
            }
            _ => part.data.into_bytes(),
        };
        length += bytes.len() as u64;
        file.write(bytes).await?;
        if part.eof {
            return Ok(length);
        }
    }
}

const PART: i64 = 1_000_000;
