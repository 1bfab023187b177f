//! Sends a tab somewhere and tells truthfully whether it got there.

use crate::address::Address;
use crate::error::ToolError;
use crate::tab::{DocumentId, Tab, TabState};
use std::time::Duration;
use tabmux_cdp::types::page;

/// Sends the tab to `address`. Resolves when the new document is there, or with why it is not.
pub async fn go(tab: &Tab, address: &Address) -> Result<(), ToolError> {
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
        // Chrome's page about the failure is still on its way.
        tab.until(EVENT_LIMIT, |state| !state.navigating).await?;
        return Err(failed(address.as_str(), &code));
    }
    match answer.loader_id {
        // A document that was on its way before, such as a new tab's blank one, is not what we wait for.
        Some(loader) => {
            tab.until(crate::script::LONGEST, |state| {
                state.arrivals.contains(&loader) || before.was_overtaken(state)
            })
            .await?
        }
        // Within one document (a fragment) no new one comes.
        None => tab.until(EVENT_LIMIT, |state| before.moved(state)).await?,
    };
    Ok(())
}

/// Loads the page again. Resolves when the new document is there.
pub async fn reload(tab: &Tab, ignore_cache: bool) -> Result<(), ToolError> {
    let before = Position::of(tab);
    let reload = page::Reload {
        ignore_cache: Some(ignore_cache),
        ..Default::default()
    };
    tab.session().send(reload).await?;
    before.left(tab).await
}

/// Goes `by` steps through the tab's history. Resolves when that document is there.
pub async fn travel(tab: &Tab, by: i64) -> Result<(), ToolError> {
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
            url: crate::text::one_line(&entry.url, 200),
        });
    }
    crate::bounds::may_open(&entry.url)?;
    let before = Position::of(tab);
    let go = page::NavigateToHistoryEntry { entry_id: entry.id };
    tab.session().send(go).await?;
    before.left(tab).await
}

/// Where a tab was before it was sent elsewhere.
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

    /// Whether the tab shows another document by now.
    fn differs(&self, state: &TabState) -> bool {
        state.frames.main().map(|main| main.document) != self.document
    }

    /// Whether another navigation than the one asked for has brought another document.
    fn was_overtaken(&self, state: &TabState) -> bool {
        let others = state.navigations_begun > self.navigations_begun + 1;
        others && !state.navigating && self.differs(state)
    }

    /// Whether the tab is elsewhere by now, in this document or another.
    fn moved(&self, state: &TabState) -> bool {
        self.differs(state) || state.moves_within != self.moves_within
    }

    /// Waits until the tab is elsewhere, or has given up going there.
    async fn left(&self, tab: &Tab) -> Result<(), ToolError> {
        let given_up = |state: &TabState| {
            state.navigations_begun > self.navigations_begun && !state.navigating
        };
        tab.until(crate::script::LONGEST, |state| {
            self.moved(state) || given_up(state)
        })
        .await?;
        // A page from the cache is done loading before it is shown.
        tab.until(EVENT_LIMIT, |state| self.moved(state)).await?;
        let state = tab.state();
        match self.moved(&state) && !shows_failure(&state) {
            true => Ok(()),
            false => Err(failure_since(&state, self.next_request)),
        }
    }
}

/// Why a new tab shows Chrome's page about a failure, if it does.
pub fn failure_of_new(tab: &Tab) -> Option<ToolError> {
    let state = tab.state();
    shows_failure(&state).then(|| failure_since(&state, 0))
}

fn shows_failure(state: &TabState) -> bool {
    let main = state.frames.main();
    main.is_some_and(|main| main.url.starts_with("chrome-error:"))
}

fn failure_since(state: &TabState, first_request: u64) -> ToolError {
    let recent = state.network.iter().rev();
    let mut recent = recent.take_while(|it| it.number >= first_request);
    let main_request = recent.find(|request| request.kind == "Document");
    let url = main_request.map_or("The page", |request| request.url.as_str());
    let code = main_request.and_then(|request| request.failure.as_deref());
    failed(url, code.unwrap_or("net::ERR_ABORTED"))
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

/// How long the events of one step may lie apart.
const EVENT_LIMIT: Duration = Duration::from_millis(500);
