//! One entry of the browser registry, and how it is connected.

use crate::{BrowserFacts, BrowserKey, TabId, TargetId};
use std::collections::BTreeMap;

/// One browser that sessions mean.
#[derive(Debug)]
pub(crate) struct Browser {
    pub(crate) key: BrowserKey,
    pub(crate) link: Link,
}

/// How far the connection to a browser is.
#[derive(Debug)]
pub(crate) enum Link {
    Disconnected,
    /// One attempt is under way, and everybody who wants this browser waits for it.
    Connecting {
        launch: bool,
    },
    Connected(Connection),
}

/// A browser that is there.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) about: BrowserFacts,
    /// All its tabs, those included that no session is shown.
    pub(crate) tabs: BTreeMap<TargetId, TabId>,
}

impl Browser {
    pub(crate) fn new(key: BrowserKey) -> Self {
        Self {
            key,
            link: Link::Disconnected,
        }
    }

    pub(crate) fn connection(&self) -> Option<&Connection> {
        match &self.link {
            Link::Connected(connection) => Some(connection),
            Link::Connecting { .. } | Link::Disconnected => None,
        }
    }

    pub(crate) fn connection_mut(&mut self) -> Option<&mut Connection> {
        match &mut self.link {
            Link::Connected(connection) => Some(connection),
            Link::Connecting { .. } | Link::Disconnected => None,
        }
    }
}

impl Connection {
    pub(crate) fn new(about: BrowserFacts) -> Self {
        Self {
            about,
            tabs: BTreeMap::new(),
        }
    }
}
