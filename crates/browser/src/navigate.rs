//! Sends a tab somewhere and tells truthfully whether it got there.

use crate::address::Address;
use crate::error::ToolError;
use crate::tab::Tab;
use tabmux_cdp::types::page;

/// Sends the tab to `address`. Resolves when the new document is there, or with why it is not.
pub async fn go(tab: &Tab, address: &Address) -> Result<(), ToolError> {
    let command = page::Navigate {
        url: address.as_str().to_owned(),
        ..Default::default()
    };
    let before = tab.state().frames.main().map(|main| main.document);
    let answer = tab
        .session()
        .send_within(command, crate::script::LONGEST)
        .await?;
    if let Some(code) = answer.error_text.filter(|text| !text.is_empty()) {
        return Err(failed(address.as_str(), &code));
    }
    // Within one document (a fragment) no new one comes.
    if answer.loader_id.is_some() {
        tab.until(crate::script::LONGEST, |state| {
            state.frames.main().map(|main| main.document) != before
        })
        .await?;
    }
    Ok(())
}

/// The error for a navigation that Chrome gave up with `code`, such as `net::ERR_ABORTED`.
pub fn failed(url: &str, code: &str) -> ToolError {
    let code = code.trim_start_matches("net::");
    let hint = match code {
        "ERR_NAME_NOT_RESOLVED" => "no host has that name; check the spelling",
        "ERR_CONNECTION_REFUSED" => "nothing listens there; check host and port",
        "ERR_CONNECTION_RESET" | "ERR_EMPTY_RESPONSE" | "ERR_CONNECTION_CLOSED" => {
            "the server closed the connection; try again later"
        }
        "ERR_ABORTED" => "it is a download or has no content to show, or the page stopped it",
        "ERR_INTERNET_DISCONNECTED" => "there is no network",
        "ERR_TOO_MANY_REDIRECTS" => "it redirects in a circle",
        code if code.starts_with("ERR_CERT") || code.starts_with("ERR_SSL") => {
            "its certificate is not trusted; --acceptInsecureCerts takes any"
        }
        "ERR_UNSAFE_PORT" => "Chrome never connects to that port",
        "ERR_BLOCKED_BY_CLIENT" | "ERR_BLOCKED_BY_RESPONSE" => "it was blocked",
        _ => "try another address",
    };
    ToolError::Navigation {
        url: crate::text::shorten(url, 200),
        reason: format!("{code} ({hint})"),
    }
}
