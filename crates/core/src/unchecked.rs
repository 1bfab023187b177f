//! Which tool lists may have changed since they were last compared with what their clients know.

use crate::{BrowserId, SessionId};
use std::collections::BTreeSet;

/// What an input may have changed. Only the lists of these sessions are looked at afterwards.
#[derive(Debug, Default)]
pub(crate) struct Unchecked {
    /// Page tools that every session can have.
    pub(crate) everywhere: bool,
    /// Page tools in the lists of these sessions.
    pub(crate) sessions: BTreeSet<SessionId>,
    /// Page tools of tabs of these browsers.
    pub(crate) page_tools: BTreeSet<BrowserId>,
    /// Whether sessions are connected to these browsers, and the tabs that they see there.
    pub(crate) browsers: BTreeSet<BrowserId>,
}
