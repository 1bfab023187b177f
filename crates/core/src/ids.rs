//! Ids, each with a type of its own.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// One MCP client's session. Chosen by the driver and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(pub u64);

/// One tool call. Chosen by the driver, which keeps the call's arguments and result under it, and never
/// reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u64);

/// One entry of the browser registry. Chosen by the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BrowserId(pub u32);

/// One tab, as agents know it: counted from 1 over all browsers and never reused. Chosen by the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TabId(pub u32);

/// Identifies a browser: sessions with equal keys share one connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BrowserKey(pub Arc<str>);

/// The browser's own id of a tab. Unique within its browser.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetId(pub Arc<str>);

/// One connection of a worker of the page library. Chosen by the driver and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

/// The id that a tab with the page library gave itself, usually a UUID. It is not secret and proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageId(pub Arc<str>);

/// One document of a tab. Chosen by the driver; later documents have higher numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocumentId(pub u64);

/// One tool of one document. Chosen by the driver, which keeps its details; unique within its tab and
/// source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolKey(pub u64);

/// The published content of a page tool: schemas, description and annotations, without the name. Chosen
/// by the driver: equal numbers mean equal content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SchemaId(pub u64);

/// How the driver reaches a tab.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TabLocation {
    /// Through a connected browser.
    Browser {
        /// The browser.
        browser: BrowserId,
        /// The browser's id of the tab.
        target: TargetId,
    },
    /// Through a worker of the page library.
    Page {
        /// The worker's connection.
        connection: ConnectionId,
        /// The id that the tab gave itself.
        page: PageId,
    },
}

/// A tab as texts name it: by the id that its page gave it, or else by its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TabName {
    /// The tab does not use the page library.
    Number(TabId),
    /// The tab uses it.
    Page(PageId),
}

/// The client's id of a call. Unique among the session's unanswered calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub Arc<str>);

/// A tab as the agent wrote it: a number or a string. The core resolves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabRef(String);

impl TabRef {
    /// The tab's number, if it is a number.
    pub(crate) fn number(&self) -> Option<TabId> {
        self.0.parse().ok().map(TabId)
    }

    /// The tab's shared number, if it is one: `#7`. No page id can have this form.
    pub(crate) fn shared_number(&self) -> Option<TabId> {
        self.0.strip_prefix('#')?.parse().ok().map(TabId)
    }

    /// What the agent wrote, as the id of a page.
    pub(crate) fn as_page(&self) -> &str {
        &self.0
    }

    /// What the agent wrote, without quotes, shortened if it is long.
    pub(crate) fn bare(&self) -> String {
        let mut bare: String = self
            .0
            .chars()
            .take(LONGEST_BARE)
            .flat_map(char::escape_debug)
            .collect();
        if self.0.chars().nth(LONGEST_BARE).is_some() {
            bare.push('…');
        }
        bare
    }
}

impl From<&str> for TabRef {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// JSON has one kind of number, so `3` and `3.0` are the same tab, and `3.5` is none.
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

/// What the agent wrote, shortened if it is long.
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

impl Borrow<str> for PageId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for TabName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(tab) => tab.fmt(f),
            Self::Page(page) => page.fmt(f),
        }
    }
}

impl From<TabId> for TabName {
    fn from(tab: TabId) -> Self {
        Self::Number(tab)
    }
}

impl PageId {
    /// Whether it can name a tab: a page must not use the number of another tab, nor insert text into what
    /// agents read.
    pub(crate) fn is_valid(&self) -> bool {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        !self.0.is_empty()
            && self.0.len() <= LONGEST_BARE
            && self.0.bytes().all(fits)
            && !self.0.bytes().all(|byte| byte.is_ascii_digit())
    }
}

const LONGEST_QUOTE: usize = 40;
const LONGEST_BARE: usize = 64;
