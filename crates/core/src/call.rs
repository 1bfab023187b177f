//! An accepted call, until it is answered.

mod table;

pub(crate) use table::CallTable;

use crate::offer::Source;
use crate::{
    Access, BrowserId, CallKind, DocumentId, Reason, RequestId, SessionId, Stuck, TabId, Time,
    ToolKey, ToolName,
};
use std::sync::Arc;
use std::time::Duration;

/// A call that will be answered later.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) session: SessionId,
    pub(crate) request: RequestId,
    /// The browser that it needs.
    browser: Option<BrowserId>,
    pub(crate) tool: ToolName,
    task: Task,
    pub(crate) limit: Duration,
    pub(crate) deadline: Time,
    /// A deadline that is moved never comes after this.
    pub(crate) latest: Time,
    /// Whether the driver is working on this call.
    pub(crate) at_work: bool,
    /// How often it was rerouted to another tab.
    pub(crate) moves: u8,
}

/// What a call does, with its arguments resolved.
#[derive(Clone, Debug)]
pub(crate) enum Task {
    Connect {
        launch: bool,
    },
    /// `reconnect_browser` and `add_browser`.
    Reconnect {
        /// Whether the browser is new to the session. Then it is removed if it cannot be reached.
        added: bool,
    },
    /// Waits until its session's browser is connected, and is resolved then.
    Await {
        kind: CallKind,
    },
    /// Lists tabs, after their titles are refreshed.
    List,
    /// Waits for its session's first tab. The call that is at work opens it.
    FindTab {
        kind: CallKind,
        /// The new tab, once the browser has opened it.
        tab: Option<TabId>,
    },
    Open {
        url: Arc<str>,
        focus: bool,
        /// The new tab, once the browser has opened it.
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
        /// Whether the agent named the tab.
        named: bool,
    },
    /// Runs a page tool, in the tab and document where it was found.
    PageTool {
        tab: TabId,
        name: ToolName,
        source: Source,
        key: ToolKey,
        document: DocumentId,
        access: Access,
        reason: Reason,
    },
}

impl Call {
    /// A call that has just been accepted.
    pub(crate) fn new(
        (session, request): (SessionId, RequestId),
        tool: ToolName,
        (browser, task): (Option<BrowserId>, Task),
        limit: Duration,
        (deadline, latest): (Time, Time),
    ) -> Self {
        Self {
            session,
            request,
            browser,
            tool,
            task,
            limit,
            deadline,
            latest,
            at_work: false,
            moves: 0,
        }
    }

    pub(crate) fn browser(&self) -> Option<BrowserId> {
        self.browser
    }

    pub(crate) fn task(&self) -> &Task {
        &self.task
    }

    /// What it waits for now.
    pub(crate) fn stuck(&self) -> Stuck {
        match self.task {
            Task::Connect { .. } | Task::Reconnect { .. } | Task::Await { .. } | Task::List => {
                Stuck::Connecting
            }
            Task::FindTab { .. } => Stuck::Settling,
            Task::Open { .. } => Stuck::Opening,
            Task::Focus { tab } | Task::Close { tab } => Stuck::Working(tab),
            Task::Page { tab, .. } | Task::PageTool { tab, .. } if self.at_work => {
                Stuck::Working(tab)
            }
            Task::Page { tab, .. } | Task::PageTool { tab, .. } => Stuck::Queueing(tab),
        }
    }

    /// Whether the driver is opening a tab for it and has not reported it yet.
    pub(crate) fn wants_tab(&self) -> bool {
        let opens = matches!(self.task, Task::Open { .. } | Task::FindTab { .. });
        opens && self.at_work && self.task.tab().is_none()
    }
}

impl Task {
    /// Its tab, once there is one.
    pub(crate) fn tab(&self) -> Option<TabId> {
        match *self {
            Self::Connect { .. } | Self::Reconnect { .. } | Self::Await { .. } | Self::List => None,
            Self::Open { tab, .. } | Self::FindTab { tab, .. } => tab,
            Self::Focus { tab }
            | Self::Close { tab }
            | Self::Page { tab, .. }
            | Self::PageTool { tab, .. } => Some(tab),
        }
    }

    pub(crate) fn closes(&self, id: TabId) -> bool {
        matches!(self, Self::Close { tab } if *tab == id)
    }
}
