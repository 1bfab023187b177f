//! One entry of the browser registry, and how it is connected.

use crate::{BrowserFacts, BrowserKey, ConnectFailure, TabId, TargetId, Time};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// How far the connection to a browser is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrowserState {
    /// Nobody has needed it yet.
    Pending,
    /// An attempt is under way.
    Connecting,
    /// It is there.
    Connected,
    /// It is gone, or the last attempt failed.
    Disconnected,
}

/// One browser that sessions mean.
#[derive(Debug)]
pub(crate) struct Browser {
    pub(crate) key: BrowserKey,
    /// Whether a user named it by its address, so that it is not ours to launch.
    pub(crate) named: bool,
    pub(crate) link: Link,
    /// Whether it was connected before.
    pub(crate) was_connected: bool,
    /// How often it was tried in vain, in a row.
    pub(crate) failures: u32,
    /// Why it is not connected.
    pub(crate) last_error: Option<Arc<str>>,
    /// That whoever leads to it is away, if they were when it was last tried.
    pub(crate) away: Option<ConnectFailure>,
    /// Until when it is left alone, because it was tried in vain.
    pub(crate) cooldown: Option<Time>,
}

/// The connection to a browser, as far as there is one.
#[derive(Debug)]
pub(crate) enum Link {
    Pending,
    /// One attempt is under way, and everybody who wants this browser waits for it.
    Connecting {
        launch: bool,
        since: Time,
        /// When the next attempt begins, between two of them.
        retry_at: Option<Time>,
    },
    Connected(Connection),
    Disconnected,
}

/// A browser that is there.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) about: BrowserFacts,
    /// All its tabs, those included that no session is shown.
    pub(crate) tabs: BTreeMap<TargetId, TabId>,
    /// The tab that the user had in front when we came, until a session was offered it.
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
    pub(crate) fn new(key: BrowserKey, named: bool) -> Self {
        Self {
            key,
            named,
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
    pub(crate) fn new(about: BrowserFacts, front: Option<TargetId>) -> Self {
        Self {
            about,
            tabs: BTreeMap::new(),
            front,
        }
    }
}
