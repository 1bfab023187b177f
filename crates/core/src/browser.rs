//! One entry of the browser registry, and how it is connected.

use crate::{BrowserFacts, BrowserKey, BrowserRef, ConnectFailure, TabId, TargetId, Time};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The state of the connection to a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrowserState {
    /// No session has needed it yet.
    Pending,
    /// An attempt to connect is running.
    Connecting,
    /// Connected.
    Connected,
    /// The connection was lost, or the last attempt failed.
    Disconnected,
}

/// One browser that sessions use.
#[derive(Debug)]
pub(crate) struct Browser {
    pub(crate) key: BrowserKey,
    /// Whether a user named it by its address. Then tabmux does not launch it.
    pub(crate) named: bool,
    /// Whether it is disconnected when no session uses it any more.
    pub(crate) leased: bool,
    pub(crate) link: Link,
    /// Whether it was connected before.
    pub(crate) was_connected: bool,
    /// The number of failed attempts in a row.
    pub(crate) failures: u32,
    /// Why it is not connected.
    pub(crate) last_error: Option<Arc<str>>,
    /// The failure of the last attempt, if the extension was not connected.
    pub(crate) away: Option<ConnectFailure>,
    /// Until when calls are refused without another attempt.
    pub(crate) cooldown: Option<Time>,
}

/// The connection to a browser, or how far it is.
#[derive(Debug)]
pub(crate) enum Link {
    Pending,
    /// One attempt is running, and all calls that need this browser wait for it.
    Connecting {
        launch: bool,
        since: Time,
        /// When the next attempt starts, if the last one failed.
        retry_at: Option<Time>,
    },
    Connected(Connection),
    Disconnected,
}

/// A connected browser.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) about: BrowserFacts,
    /// All its tabs, including those hidden from sessions.
    pub(crate) tabs: BTreeMap<TargetId, TabId>,
    /// The tab that was active when we connected, until a session considered taking it over.
    pub(crate) front: Option<TargetId>,
}

impl BrowserState {
    /// Its name in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::Disconnected => "disconnected",
        }
    }
}

impl fmt::Display for BrowserState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Browser {
    pub(crate) fn new(wanted: &BrowserRef) -> Self {
        Self {
            key: wanted.key.clone(),
            named: wanted.attached,
            leased: wanted.leased,
            link: Link::Pending,
            was_connected: false,
            failures: 0,
            last_error: None,
            away: None,
            cooldown: None,
        }
    }

    pub(crate) fn state(&self) -> BrowserState {
        match self.link {
            Link::Pending => BrowserState::Pending,
            Link::Connecting { .. } => BrowserState::Connecting,
            Link::Connected(_) => BrowserState::Connected,
            Link::Disconnected => BrowserState::Disconnected,
        }
    }

    pub(crate) fn connection(&self) -> Option<&Connection> {
        match &self.link {
            Link::Connected(connection) => Some(connection),
            Link::Pending | Link::Connecting { .. } | Link::Disconnected => None,
        }
    }

    pub(crate) fn connection_mut(&mut self) -> Option<&mut Connection> {
        match &mut self.link {
            Link::Connected(connection) => Some(connection),
            Link::Pending | Link::Connecting { .. } | Link::Disconnected => None,
        }
    }
}

impl Connection {
    /// Its tabs, in no order that means anything.
    pub(crate) fn tabs(&self) -> Vec<TabId> {
        self.tabs.values().copied().collect()
    }

    pub(crate) fn new(about: BrowserFacts, front: Option<TargetId>) -> Self {
        Self {
            about,
            tabs: BTreeMap::new(),
            front,
        }
    }
}
