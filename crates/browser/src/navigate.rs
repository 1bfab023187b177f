//! Navigates a tab and reports whether it arrived.

use crate::address::Address;
use crate::error::ToolError;
use crate::tab::{DocumentId, NetworkRequest, Tab, TabState};
use std::time::Duration;
use tabmux_cdp::types::page;

/// Navigates the tab to `address`. Resolves when the new document is there, or with the reason why it is not.
pub(crate) async fn go(tab: &Tab, address: &Address) -> Result<(), ToolError> {
    let command = page::Navigate {
        url: address.as_str().to_owned(),
        ..Default::default()
    };
    let before = Position::of(tab);
    let answer = tab
        .session()
        .send_within(command, crate::script::LONGEST)
        .await?;
    if let Some(code) = answer.error_text.filter(|text| !text.is_empty()) {
        // Chrome's error page has not arrived yet.
        tab.until(EVENT_LIMIT, |state| !state.navigating).await?;
        tab.catch_up().await;
        let status = document_since(&tab.state(), before.next_request).and_then(|it| it.status);
        return Err(failed(address.as_str(), &code, status));
    }
    match answer.loader_id {
        // Ignore a document of an earlier navigation, such as a new tab's blank one.
        Some(loader) => {
            tab.until(crate::script::LONGEST, |state| {
                state.arrivals.contains(&loader) || before.was_overtaken(state)
            })
            .await?
        }
        // A navigation within the document (to a fragment) brings no new document.
        None => tab.until(EVENT_LIMIT, |state| before.moved(state)).await?,
    };
    Ok(())
}

/// Reloads the page. Resolves when the new document is there.
pub(crate) async fn reload(tab: &Tab, ignore_cache: bool) -> Result<(), ToolError> {
    let before = Position::of(tab);
    let reload = page::Reload {
        ignore_cache: Some(ignore_cache),
        ..Default::default()
    };
    tab.session().send(reload).await?;
    before.left(tab).await
}

/// Goes `by` steps through the tab's history. Resolves when that document is there.
pub(crate) async fn travel(tab: &Tab, by: i64) -> Result<(), ToolError> {
    let history = tab
        .session()
        .send(page::GetNavigationHistory::default())
        .await?;
    let index = usize::try_from(history.current_index + by).ok();
    let Some(entry) = index.and_then(|index| history.entries.get(index)) else {
        let way = if by < 0 { "back" } else { "forward" };
        return Err(ToolError::NotActionable {
            why: format!("There is no page to go {way} to. Go to a URL instead."),
        });
    };
    if !tab.policy().permits(&entry.url) {
        return Err(ToolError::ForbiddenPage {
            url: tabmux_text::one_line(&entry.url, 200),
        });
    }
    crate::bounds::may_open(&entry.url)?;
    let before = Position::of(tab);
    let go = page::NavigateToHistoryEntry { entry_id: entry.id };
    tab.session().send(go).await?;
    before.left(tab).await
}

/// Where a tab was before a navigation.
struct Position {
    document: Option<DocumentId>,
    moves_within: u64,
    navigations_begun: u64,
    next_request: u64,
}

impl Position {
    fn of(tab: &Tab) -> Self {
        let state = tab.state();
        Self {
            document: state.frames.main().map(|main| main.document),
            moves_within: state.moves_within,
            navigations_begun: state.navigations_begun,
            next_request: state.network.next(),
        }
    }

    /// Whether the tab shows another document now.
    fn differs(&self, state: &TabState) -> bool {
        state.frames.main().map(|main| main.document) != self.document
    }

    /// Whether a different navigation than the requested one brought another document.
    fn was_overtaken(&self, state: &TabState) -> bool {
        let others = state.navigations_begun > self.navigations_begun + 1;
        others && !state.navigating && self.differs(state)
    }

    /// Whether the tab has navigated, within this document or to another.
    fn moved(&self, state: &TabState) -> bool {
        self.differs(state) || state.moves_within != self.moves_within
    }

    /// Waits until the tab has navigated, or the navigation has failed.
    async fn left(&self, tab: &Tab) -> Result<(), ToolError> {
        let given_up = |state: &TabState| {
            state.navigations_begun > self.navigations_begun && !state.navigating
        };
        tab.until(crate::script::LONGEST, |state| {
            self.moved(state) || given_up(state)
        })
        .await?;
        // A page from the cache finishes loading before it is shown.
        tab.until(EVENT_LIMIT, |state| self.moved(state)).await?;
        let state = tab.state();
        match self.moved(&state) && !shows_failure(&state) {
            true => Ok(()),
            false => Err(failure_since(&state, self.next_request)),
        }
    }
}

/// Why a new tab shows Chrome's error page, if it does.
pub(crate) fn failure_of_new(tab: &Tab) -> Option<ToolError> {
    let state = tab.state();
    shows_failure(&state).then(|| failure_since(&state, 0))
}

fn shows_failure(state: &TabState) -> bool {
    let main = state.frames.main();
    main.is_some_and(|main| main.url.starts_with("chrome-error:"))
}

fn failure_since(state: &TabState, first_request: u64) -> ToolError {
    let main_request = document_since(state, first_request);
    let url = main_request.map_or("The page", |request| request.url.as_str());
    let code = main_request.and_then(|request| request.failure.as_deref());
    let status = main_request.and_then(|request| request.status);
    failed(url, code.unwrap_or("net::ERR_ABORTED"), status)
}

/// The last request for a document, if any.
fn document_since(state: &TabState, first_request: u64) -> Option<&NetworkRequest> {
    let recent = state.network.iter().rev();
    let mut recent = recent.take_while(|it| it.number >= first_request);
    recent.find(|request| request.kind == "Document")
}

/// The error for a navigation that failed with `code`, such as `net::ERR_ABORTED`, after a response with `status` if
/// there was one.
fn failed(url: &str, code: &str, status: Option<i64>) -> ToolError {
    let code = code.trim_start_matches("net::");
    let hint = match code {
        _ if status == Some(407) => PROXY_PASSWORD,
        "ERR_PROXY_AUTH_UNSUPPORTED" | "ERR_PROXY_AUTH_REQUESTED" => PROXY_PASSWORD,
        "ERR_INVALID_AUTH_CREDENTIALS" => SITE_PASSWORD,
        "ERR_HTTP_RESPONSE_CODE_FAILURE" if status == Some(401) => SITE_PASSWORD,
        "ERR_HTTP_RESPONSE_CODE_FAILURE" => {
            "the server answered with an error and an empty page; check the address, or try again later"
        }
        "ERR_PROXY_CONNECTION_FAILED" => {
            "the proxy does not answer; check host and port of --proxyServer"
        }
        "ERR_TUNNEL_CONNECTION_FAILED" => {
            "the proxy answers, but does not reach that host or does not allow it; check the address"
        }
        "ERR_NO_SUPPORTED_PROXIES" => {
            "Chrome cannot use that proxy; write --proxyServer=http://HOST:PORT"
        }
        "ERR_SOCKS_CONNECTION_FAILED" | "ERR_SOCKS_CONNECTION_HOST_UNREACHABLE" => {
            "the SOCKS proxy does not reach that host; check --proxyServer and the address"
        }
        "ERR_ADDRESS_UNREACHABLE" | "ERR_ADDRESS_INVALID" => {
            "there is no route to that host; check the address and this machine's network"
        }
        "ERR_CONNECTION_TIMED_OUT" | "ERR_TIMED_OUT" => {
            "that host does not answer; check host and port, or try again later"
        }
        "ERR_NAME_NOT_RESOLVED" => "no host has that name; check the spelling",
        "ERR_CONNECTION_REFUSED" => "nothing listens there; check host and port",
        "ERR_CONNECTION_RESET" | "ERR_EMPTY_RESPONSE" | "ERR_CONNECTION_CLOSED" => {
            "the server closed the connection; try again later"
        }
        "ERR_ABORTED" => "it is a download, it has no content, or the page cancelled it",
        "ERR_INTERNET_DISCONNECTED" => "there is no network",
        "ERR_TOO_MANY_REDIRECTS" => "it redirects in a loop",
        code if code.starts_with("ERR_CERT") || code.starts_with("ERR_SSL") => {
            "its certificate is not trusted; use --acceptInsecureCerts to accept any"
        }
        "ERR_UNSAFE_PORT" => "Chrome never connects to that port",
        "ERR_BLOCKED_BY_CLIENT" | "ERR_BLOCKED_BY_RESPONSE" => "it was blocked",
        _ => "try another address",
    };
    ToolError::Navigation {
        url: tabmux_text::shorten(url, 200),
        reason: format!("{code} ({hint})"),
    }
}

const SITE_PASSWORD: &str = "the site asks for a user and a password, and they are missing or wrong; put them into the \
     address, http://USER:PASSWORD@HOST/";
const PROXY_PASSWORD: &str = "the proxy asks for a user and a password, and they are missing or wrong; start tabmux with \
     --proxyServer=http://USER:PASSWORD@HOST:PORT";

/// The longest gap between the events of one step.
const EVENT_LIMIT: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxys_password_a_sites_and_a_missing_route_have_different_errors() {
        let said = |code: &str, status| failed("http://a/", code, status).to_string();
        let refused = "net::ERR_INVALID_AUTH_CREDENTIALS";
        let proxy = said(refused, Some(407));
        assert!(
            proxy.contains("the proxy asks for a user and a password"),
            "{proxy}"
        );
        // The same if the proxy's error page is empty.
        assert!(said("net::ERR_HTTP_RESPONSE_CODE_FAILURE", Some(407)).contains("the proxy asks"));
        let site = said(refused, Some(401));
        assert!(
            site.contains("the site asks for a user and a password"),
            "{site}"
        );
        let unreachable = said("net::ERR_ADDRESS_UNREACHABLE", None);
        assert!(unreachable.contains("there is no route"), "{unreachable}");
        let tunnel = said("net::ERR_TUNNEL_CONNECTION_FAILED", None);
        assert!(tunnel.contains("the proxy answers, but"), "{tunnel}");
        let gone = said("net::ERR_PROXY_CONNECTION_FAILED", None);
        assert!(gone.contains("the proxy does not answer"), "{gone}");
    }
}
