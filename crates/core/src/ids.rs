//! Names: who is who, in types that cannot be mixed up.

use std::fmt;
use std::sync::Arc;

/// One MCP client's session. Chosen by the driver; one number means one session for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(pub u64);

/// One tool call. Chosen by the driver, which keeps the call's arguments and payload under it; one
/// number means one call for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u64);

/// One entry of the browser registry. Chosen by the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BrowserId(pub u32);

/// One tab, as agents know it: counted from 1 over all browsers and never reused. Chosen by the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TabId(pub u32);

/// What makes two sessions mean the same browser: equal keys share one connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BrowserKey(pub Arc<str>);

/// The browser's own name of a tab. Unique within its browser.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetId(pub Arc<str>);

/// The client's own name of a call. Unique within its session while the call lives.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub Arc<str>);

/// A tab as the agent wrote it: a number, or a string. The core finds out which tab it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabRef(String);

impl TabRef {
    /// The tab's number, if this can be one.
    pub(crate) fn number(&self) -> Option<TabId> {
        self.0.parse().ok().map(TabId)
    }
}

impl From<&str> for TabRef {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// JSON knows one kind of number, so `3` and `3.0` are the same tab, and `3.5` is none.
impl From<f64> for TabRef {
    fn from(number: f64) -> Self {
        Self(number.to_string())
    }
}

impl From<TabId> for TabRef {
    fn from(tab: TabId) -> Self {
        Self(tab.to_string())
    }
}

/// What the agent wrote, shortened if it wrote a lot.
impl fmt::Display for TabRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.number().is_some() {
            return f.write_str(&self.0);
        }
        match self.0.char_indices().nth(LONGEST_QUOTE) {
            None => write!(f, "{:?}", self.0),
            Some((end, _)) => write!(f, "{:?}…", &self.0[..end]),
        }
    }
}

impl fmt::Display for TabId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

const LONGEST_QUOTE: usize = 40;
