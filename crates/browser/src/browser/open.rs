//! Opens a tab: first blank, then it is set up, then navigated, so that no event of the page is missed.

use super::actor_requests::ActorRequest;
use super::{Browser, ContextId, TabOpener, report_tools};
use crate::address::Address;
use crate::bounds::{self, PolicyCheck};
use crate::error::ToolError;
use crate::files::OutputFolder;
use crate::navigate;
use crate::tab::{Load, TargetId};
use std::time::Duration;
use tabmux_cdp::types::target;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// How a tab is opened, and for which call.
pub(super) struct Opening {
    pub(super) context: Option<ContextId>,
    pub(super) tag: u64,
    pub(super) whole: bool,
    pub(super) limit: Duration,
    pub(super) session: Option<OutputFolder>,
}

pub(super) async fn open(
    browser: &Browser,
    address: &Address,
    opening: Opening,
) -> Result<TargetId, ToolError> {
    let Opening {
        context,
        tag,
        whole,
        limit,
        session,
    } = opening;
    bounds::may_open(address.as_str())?;
    let deadline = Instant::now() + limit;
    let target = make(browser, context, TabOpener::Call(tag)).await?;
    let tab = browser.tab(&target).await?;
    if let Some(session) = session {
        tab.used_by(session);
    }
    // It is our tab, even in a person's browser.
    browser.guard_new_tabs().await;
    let watch = PolicyCheck::begin(&tab, true).await;
    match address.as_str() {
        // The blank page is already there.
        BLANK => tab.note_blank(),
        _ => match tokio::time::timeout_at(deadline, navigate::go(&tab, address)).await {
            Ok(result) => watch.end(result).await?,
            // The navigation may have failed before we were listening.
            Err(_) => navigate::failure_of_new(&tab).map_or(Ok(()), Err)?,
        },
    }
    if whole {
        let left = deadline.saturating_duration_since(Instant::now());
        tab.until(left, |state| state.load == Load::Complete)
            .await?;
    }
    let url = address.as_str().to_owned();
    browser
        .request(ActorRequest::NavigatingTo {
            target: target.clone(),
            url,
        })
        .await?;
    browser.report_title(&tab).await?;
    if whole {
        report_tools(&tab).await;
    }
    Ok(target)
}

/// Creates a blank tab in the background and reports it with its opener. Runs to its end even if the caller is
/// cancelled: otherwise nothing would know the tab, and it would never be closed.
pub(super) async fn make(
    browser: &Browser,
    context: Option<ContextId>,
    origin: TabOpener,
) -> Result<TargetId, ToolError> {
    let made = tokio::spawn(make_whole(browser.clone(), context, origin));
    made.await.map_err(|_| ToolError::BrowserGone)?
}

async fn make_whole(
    browser: Browser,
    context: Option<ContextId>,
    origin: TabOpener,
) -> Result<TargetId, ToolError> {
    let (done, begun) = oneshot::channel();
    browser.request(ActorRequest::BeginMaking { done }).await?;
    let _ = begun.await;
    let create = target::CreateTarget {
        url: BLANK.into(),
        background: Some(true),
        browser_context_id: context,
        ..Default::default()
    };
    let created = browser.0.session.send(create).await;
    let made = created.as_ref().ok().map(|made| made.target_id.clone());
    let (done, ended) = oneshot::channel();
    browser
        .request(ActorRequest::EndMaking {
            made: made.clone().map(|made| (made, origin)),
            done,
        })
        .await?;
    let _ = ended.await;
    created?;
    made.ok_or(ToolError::BrowserGone)
}

const BLANK: &str = "about:blank";
