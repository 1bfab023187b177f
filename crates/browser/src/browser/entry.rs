//! What a browser's actor knows about one tab.

use super::{ContextId, TabFacts};
use crate::error::ToolError;
use crate::page_tools::Findings;
use crate::tab::{Guard, Tab, TargetId};
use tokio::sync::oneshot;
use tokio::time::Instant;

pub(super) struct Entry {
    pub(super) facts: TabFacts,
    /// The facts that were reported last.
    pub(super) told: TabFacts,
    /// The current tools of its page.
    pub(super) tools: Findings,
    /// The tools that were reported last.
    pub(super) told_tools: Findings,
    /// Where it is navigating to, while it is blank.
    pub(super) destination: Option<String>,
    pub(super) tab: Option<Tab>,
    /// The tab whose page opened it.
    pub(super) opener: Option<TargetId>,
    /// What blocks it from some sites.
    pub(super) guard: Guard,
    /// Whether it has no opener and has not sent a request yet.
    pub(super) is_stray: bool,
    /// Whether it has no opener, and the page that requested it is not known yet.
    pub(super) seeks_opener: bool,
    pub(super) attaching: bool,
    /// Whether any client is attached to it.
    pub(super) is_attached: bool,
    /// When it was last requested.
    pub(super) wanted_at: Instant,
    pub(super) awaiting_tab: Vec<oneshot::Sender<Result<Tab, ToolError>>>,
    pub(super) awaiting_gone: Vec<oneshot::Sender<()>>,
}

impl Entry {
    pub(super) fn new(facts: TabFacts) -> Self {
        Self {
            told: facts.clone(),
            facts,
            tools: Findings::default(),
            told_tools: Findings::default(),
            destination: None,
            tab: None,
            opener: None,
            guard: Guard::default(),
            is_stray: false,
            seeks_opener: false,
            attaching: false,
            is_attached: false,
            wanted_at: Instant::now(),
            awaiting_tab: Vec::new(),
            awaiting_gone: Vec::new(),
        }
    }

    /// Whether it is blank.
    pub(super) fn is_blank(&self) -> bool {
        self.facts.is_blank()
    }

    /// The context it is in.
    pub(super) fn context(&self) -> Option<ContextId> {
        self.facts.context.clone()
    }

    pub(super) fn facts(&self) -> &TabFacts {
        &self.facts
    }
}
