//! One tab: what it shows, whether sessions are shown it, and who holds it.

use crate::lane::Lane;
use crate::{BrowserId, SessionId, TabFacts, TabId, TabRow, TargetId, ToolName};
use std::collections::BTreeSet;
use std::sync::Arc;

/// One tab of a connected browser.
#[derive(Debug)]
pub(crate) struct Tab {
    pub(crate) browser: BrowserId,
    pub(crate) target: TargetId,
    pub(crate) url: Arc<str>,
    pub(crate) title: Option<Arc<str>>,
    pub(crate) stage: Stage,
    /// The session in whose own context it is: for others it does not exist.
    pub(crate) context: Option<SessionId>,
    /// The session it was opened for, by a call or as a popup.
    pub(crate) owner: Option<SessionId>,
    /// The sessions that have it focused: those that are bound to it.
    pub(crate) focused_by: BTreeSet<SessionId>,
    pub(crate) lane: Lane,
}

/// Whether sessions are shown a tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It exists for a call that has not finished: not shown.
    Opening,
    /// It exists for a call that came to nothing and is being closed: never shown.
    Discarded,
    /// It is empty and nobody has used it: not shown until it is.
    Unused,
    /// It is a tab like any other.
    Open,
}

impl Tab {
    pub(crate) fn new(browser: BrowserId, facts: TabFacts, stage: Stage) -> Self {
        Self {
            browser,
            target: facts.target,
            url: facts.url,
            title: facts.title,
            stage,
            context: facts.context,
            owner: None,
            focused_by: BTreeSet::new(),
            lane: Lane::default(),
        }
    }

    /// Takes over what is known now. An unused tab that shows something is used.
    pub(crate) fn change(&mut self, facts: TabFacts) {
        if self.stage == Stage::Unused && !facts.blank {
            self.stage = Stage::Open;
        }
        self.url = facts.url;
        self.title = facts.title;
    }

    pub(crate) fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    /// Whether it is in that browser, or in any.
    pub(crate) fn is_in(&self, browser: Option<BrowserId>) -> bool {
        browser.is_none_or(|browser| self.browser == browser)
    }

    /// The sessions that hold it: the one it was opened for comes first.
    pub(crate) fn holders(&self) -> impl Iterator<Item = SessionId> {
        self.owner
            .into_iter()
            .chain(self.focused_by.iter().copied())
    }

    /// Whether it is in the part of its browser that a session has to do with.
    pub(crate) fn is_within_reach(&self, session: SessionId, isolated: bool) -> bool {
        match self.context {
            Some(owner) => owner == session,
            None => !isolated,
        }
    }

    pub(crate) fn is_held(&self) -> bool {
        self.holders().next().is_some()
    }

    pub(crate) fn is_held_by(&self, session: SessionId) -> bool {
        self.holders().any(|holder| holder == session)
    }

    /// Whether a session other than this one holds it.
    pub(crate) fn is_shared_with_others(&self, session: SessionId) -> bool {
        self.holders().any(|holder| holder != session)
    }

    /// The session its popups belong to.
    pub(crate) fn heir(&self) -> Option<SessionId> {
        self.holders().next()
    }

    /// The page-specific tools. No page can register any yet.
    pub(crate) fn page_tools(&self) -> &[ToolName] {
        &[]
    }

    pub(crate) fn row(&self, id: TabId, session: SessionId) -> TabRow {
        TabRow {
            id,
            title: self.title.clone().unwrap_or_else(|| LOADING.into()),
            url: self.url.clone(),
            focused: self.focused_by.contains(&session),
            shared: self.is_shared_with_others(session),
            tool_count: self.page_tools().len(),
        }
    }
}

const LOADING: &str = "Loading...";
