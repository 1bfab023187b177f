//! What is asked of the actor that follows a browser.

use super::letting_go::Which;
use super::{TabFacts, TabOpener};
use crate::error::ToolError;
use crate::page_tools::Findings;
use crate::tab::{Tab, TargetId};
use tabmux_cdp::CdpError;
use tabmux_cdp::types::target;
use tokio::sync::oneshot;

/// What the handle, and those who watch over tabs, ask of the actor.
#[derive(Debug)]
pub(super) enum Order {
    /// The tab's handle, attached if it was not yet. Dropped when there is no such tab.
    Attach {
        target: TargetId,
        answer: oneshot::Sender<Result<Tab, ToolError>>,
    },
    /// The tab's handle, if it is attached.
    Attached {
        target: TargetId,
        answer: oneshot::Sender<Tab>,
    },
    /// Chrome does not let anybody attach to a tab.
    Unattachable { target: TargetId, why: CdpError },
    /// The tab that we are attached to by this session says that it crashed.
    Crashed { session: target::SessionId },
    /// Word that the tab is gone.
    AwaitGone {
        target: TargetId,
        done: oneshot::Sender<()>,
    },
    /// A tab is about to be made; until it is named, new tabs wait to be announced.
    BeginMaking { done: oneshot::Sender<()> },
    /// The tab that was to be made, if it was.
    EndMaking {
        made: Option<(TargetId, TabOpener)>,
        done: oneshot::Sender<()>,
    },
    /// Where a tab is being sent, as long as it is blank.
    Head { target: TargetId, url: String },
    /// How tabs are called now. Chrome does not tell by itself when a title changes.
    Refresh {
        tabs: Vec<TabFacts>,
        done: oneshot::Sender<()>,
    },
    /// The tools that a tab's page has of its own now.
    TellTools {
        target: TargetId,
        findings: Box<Findings>,
        done: Option<oneshot::Sender<()>>,
    },
    /// Tabs need not be attached any longer. Says whether some were used too short a time ago.
    LetGo {
        which: Which,
        done: oneshot::Sender<bool>,
    },
    /// Other tabs may be private now than before.
    LookAgain,
    /// The end.
    ShutDown { done: oneshot::Sender<()> },
}
