//! An accepted call, from its checks to its one answer.

use crate::{Access, BrowserId, RequestId, SessionId, Stuck, TabId, Time, ToolName};
use std::sync::Arc;
use std::time::Duration;

/// A call that will be answered later.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) session: SessionId,
    pub(crate) request: RequestId,
    pub(crate) browser: BrowserId,
    pub(crate) tool: ToolName,
    pub(crate) task: Task,
    pub(crate) limit: Duration,
    pub(crate) deadline: Time,
    /// Whether the driver was handed this call's work.
    pub(crate) at_work: bool,
}

/// What a call is about, with everything in it resolved.
#[derive(Clone, Debug)]
pub(crate) enum Task {
    Connect {
        launch: bool,
    },
    List,
    Open {
        url: Arc<str>,
        focus: bool,
        /// The new tab, once the browser has it.
        tab: Option<TabId>,
    },
    Focus {
        tab: TabId,
    },
    Close {
        tab: TabId,
    },
    Page {
        tab: TabId,
        access: Access,
    },
}

impl Call {
    /// What it waits for now.
    pub(crate) fn stuck(&self) -> Stuck {
        match self.task {
            Task::Connect { .. } => Stuck::Connecting,
            Task::List => Stuck::Listing,
            Task::Open { .. } => Stuck::Opening,
            Task::Focus { tab } | Task::Close { tab } => Stuck::Working(tab),
            Task::Page { tab, .. } if self.at_work => Stuck::Working(tab),
            Task::Page { tab, .. } => Stuck::Queueing(tab),
        }
    }
}

impl Task {
    /// The tab it is about, once there is one.
    pub(crate) fn tab(&self) -> Option<TabId> {
        match *self {
            Self::Connect { .. } | Self::List => None,
            Self::Open { tab, .. } => tab,
            Self::Focus { tab } | Self::Close { tab } | Self::Page { tab, .. } => Some(tab),
        }
    }

    pub(crate) fn closes(&self, id: TabId) -> bool {
        matches!(self, Self::Close { tab } if *tab == id)
    }
}
