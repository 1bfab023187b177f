//! Draws on a picture that Chrome has taken.

use crate::error::ToolError;
use crate::files::FileThreads;
use crate::picture::Picture;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// The picture with what `draw` draws on it; both are PNG files in base64.
pub(in crate::tools) async fn repaint(
    picture: &str,
    draw: impl FnOnce(&mut Picture) + Send + 'static,
) -> Result<String, ToolError> {
    let file = BASE64_STANDARD.decode(picture);
    let file = file.map_err(|error| failed(&error.to_string()))?;
    let work = move || {
        let mut picture = Picture::decode(file)?;
        draw(&mut picture);
        picture.encode()
    };
    let drawn = FileThreads::new().run(work).await;
    let drawn = drawn.map_err(|stuck| failed(&stuck.to_string()))?;
    Ok(BASE64_STANDARD.encode(drawn.map_err(|error| failed(&error))?))
}

fn failed(why: &str) -> ToolError {
    ToolError::Internal {
        detail: format!("the screenshot could not be drawn on: {why}"),
    }
}
