//! Replies for sessions with a fixed tool list: plain lines about pages.

use super::answers::json;
use super::parts::{Part, label};
use serde::Serialize;
use std::fmt::Write;
use tabmux_core::{BrowserRow, Reply, TabId, TabRow};
use tabmux_protocol::{CallFailure, CallReply, Content};

/// Converts a reply of the core for a session with a fixed list.
pub(super) fn reply(
    reply: Reply,
    payload: Option<CallReply>,
    part: Part,
) -> Result<CallReply, CallFailure> {
    Ok(match reply {
        Reply::Pages { pages, selected } => match list(&pages, selected, part) {
            Ok(text) => CallReply::text(text),
            Err(error) => CallReply::error(error),
        },
        Reply::Opened { tab, .. } => {
            CallReply::text(format!("Opened and selected page {}", line(&tab)))
        }
        Reply::Focused { tab, shared, .. } => CallReply::text(format!(
            "Selected page {}{}",
            line(&tab),
            also_held(shared, tab.id)
        )),
        Reply::Closed { tab, shared } => {
            CallReply::text(format!("Closed page {tab}.{}", also_held(shared, tab)))
        }
        Reply::Done { tab, shared } => {
            let mut reply = payload.unwrap_or_default();
            if shared {
                let text = also_held(shared, tab).trim_start().to_owned();
                reply.content.push(Content::Text { text });
            }
            reply
        }
        Reply::Browsers { browsers } => CallReply::text(super::browsers::list(&browsers)),
        Reply::Browser { browser } => CallReply::text(super::browsers::line(&browser)),
        Reply::Disconnected { number } => CallReply::text(format!(
            "Disconnected browser {number}. It keeps running, unless tabmux launched it."
        )),
        Reply::Cancelled => return Err(CallFailure::Cancelled),
        // The main loop answers these itself, or these sessions cannot make such calls.
        Reply::Failed { .. }
        | Reply::Refused(_)
        | Reply::Connected { .. }
        | Reply::NotConnected(_)
        | Reply::Tabs { .. }
        | Reply::Added { .. }
        | Reply::PageTools { .. }
        | Reply::BrowserTabs { .. }
        | Reply::Status { .. } => CallReply::default(),
    })
}

/// `browser_get_connection_status`, the same for every session.
pub(crate) fn status(
    connected: bool,
    session: &str,
    shared: bool,
    extension_connected: bool,
    active_sessions: usize,
    browsers: &[BrowserRow],
) -> CallReply {
    let browsers = browsers.iter().map(|browser| Browser {
        index: browser.index,
        name: browser.name.as_deref().unwrap_or(&browser.label),
        state: browser.state.as_str(),
    });
    json(&Status {
        connected,
        mode: if shared { "daemon" } else { "direct" },
        session_id: session,
        extension_connected,
        active_sessions,
        browsers: browsers.collect(),
    })
}

fn list(pages: &[TabRow], selected: Option<TabId>, part: Part) -> Result<String, String> {
    if pages.is_empty() {
        return Ok("No page is open. Call new_page, or any tool: it opens one.".to_owned());
    }
    let row = |page: &TabRow| {
        let mark = if Some(page.id) == selected {
            " [selected]"
        } else {
            ""
        };
        let held = if page.shared {
            " [another session works here]"
        } else {
            ""
        };
        format!("{}{mark}{held}", line(page))
    };
    let shown = part.of("list_pages", pages, row, String::len)?;
    let mut lines = shown.rows;
    if let Some(mut note) = shown.note {
        if let Some(selected) = selected {
            let _ = write!(note, " Page {selected} is selected.");
        }
        lines.push(note);
    }
    Ok(lines.join("\n"))
}

fn line(page: &TabRow) -> String {
    format!("{}: {} ({})", page.id, label(&page.title), label(&page.url))
}

fn also_held(shared: bool, tab: TabId) -> String {
    match shared {
        true => format!(" Page {tab} is also held by another session."),
        false => String::new(),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Status<'a> {
    connected: bool,
    mode: &'static str,
    session_id: &'a str,
    extension_connected: bool,
    active_sessions: usize,
    browsers: Vec<Browser<'a>>,
}

#[derive(Serialize)]
struct Browser<'a> {
    index: usize,
    name: &'a str,
    state: &'a str,
}
