//! Requests to the actor of a browser.

use super::detach::ToDetach;
use super::{TabFacts, TabOpener};
use crate::error::ToolError;
use crate::page_tools::Findings;
use crate::tab::{Tab, TargetId};
use tabmux_cdp::CdpError;
use tabmux_cdp::types::target;
use tokio::sync::oneshot;

/// What the handle and the tasks that watch tabs ask of the actor.
#[derive(Debug)]
pub(super) enum ActorRequest {
    /// Returns the tab's handle, attached now if needed. Dropped if there is no such tab.
    Attach {
        target: TargetId,
        answer: oneshot::Sender<Result<Tab, ToolError>>,
    },
    /// Returns the tab's handle, if it is attached.
    Attached {
        target: TargetId,
        answer: oneshot::Sender<Tab>,
    },
    /// Chrome refuses to attach to a tab.
    Unattachable { target: TargetId, why: CdpError },
    /// The tab with this session reports that it crashed.
    Crashed { session: target::SessionId },
    /// Resolves `done` when the tab is gone.
    AwaitGone {
        target: TargetId,
        done: oneshot::Sender<()>,
    },
    /// A tab is about to be created; until its id is known, new tabs are not reported.
    BeginMaking { done: oneshot::Sender<()> },
    /// The tab that was created, if that succeeded.
    EndMaking {
        made: Option<(TargetId, TabOpener)>,
        done: oneshot::Sender<()>,
    },
    /// Where a tab is navigating to, while it is blank.
    NavigatingTo { target: TargetId, url: String },
    /// Current titles of tabs. Chrome does not report changes of titles.
    Refresh {
        tabs: Vec<TabFacts>,
        done: oneshot::Sender<()>,
    },
    /// The current tools of a tab's page.
    ReportTools {
        target: TargetId,
        findings: Box<Findings>,
        done: Option<oneshot::Sender<()>>,
    },
    /// Detaches tabs. Returns whether some were used too recently.
    Detach {
        which: ToDetach,
        done: oneshot::Sender<bool>,
    },
    /// Checks again which tabs are private.
    RecheckPrivacy,
    /// Ends the actor.
    ShutDown { done: oneshot::Sender<()> },
}
