//! Tools that few agents need: the clipboard, passwords of HTTP authentication, permissions, scripts that run in every
//! document, computed styles, and downloads.

mod clipboard;
mod credentials;
mod download;
mod permission;
mod script;
mod styles;

pub(super) use clipboard::Clipboard;
pub(super) use credentials::SetCredentials;
pub(super) use download::WaitForDownload;
pub(super) use permission::SetPermission;
pub(super) use script::AddInitScript;
pub(super) use styles::GetCssStyles;

use crate::bounds;
use crate::error::ToolError;
use crate::tab::Tab;
use url::Url;

/// Resets a tab: removes the passwords, permissions and scripts that these tools gave it.
pub(super) async fn reset(tab: &Tab) -> Result<(), ToolError> {
    let removed = credentials::clear(tab).await;
    tab.permissions().clear().await;
    tab.added_scripts().clear();
    download::clear(tab);
    removed
}

/// The origin of the page, or the given one, if this session may use it.
fn origin(tab: &Tab, given: Option<&str>) -> Result<String, ToolError> {
    let shown = || {
        let main = tab.state().frames.main().map(|main| main.url.clone());
        main.unwrap_or_default()
    };
    let url = given.map_or_else(shown, str::to_owned);
    let origin = web_origin(&url).ok_or_else(|| {
        ToolError::Arguments(
            "There is no web site here. Open one, or give `origin`, such as https://example.com."
                .into(),
        )
    })?;
    bounds::may_open(&origin)?;
    Ok(origin)
}

/// The origin of an address of a web server.
fn web_origin(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    matches!(url.scheme(), "http" | "https").then(|| url.origin().ascii_serialization())
}

/// Checks an `origin` argument. The error completes "Invalid arguments: …".
fn check_origin(given: &str) -> Result<(), String> {
    match web_origin(given) {
        Some(_) if given.len() <= 300 => Ok(()),
        _ => Err("`origin` is an address such as https://example.com".into()),
    }
}
