//! One entry of the browser registry, and how it is connected.

use crate::{BrowserFacts, BrowserKey, CallId, TabId, TargetId};
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
        waiting: Vec<CallId>,
    },
    Connected {
        about: BrowserFacts,
        /// All its tabs, those included that no session is shown.
        tabs: BTreeMap<TargetId, TabId>,
    },
}

impl Browser {
    pub(crate) fn new(key: BrowserKey) -> Self {
        Self {
            key,
            link: Link::Disconnected,
        }
    }
}
