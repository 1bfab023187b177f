//! What a tab's actor publishes about its tab, for everybody to read and to wait on.

use super::frames::{DocumentId, Frames};
use std::collections::{BTreeMap, VecDeque};
use tabmux_cdp::types::network::{LoaderId, RequestId};
use tabmux_cdp::types::target::TargetId;

/// A tab as of now. Read it through a watch; wait on it with [`super::Tab::until`].
#[derive(Debug, Default)]
pub struct TabState {
    /// Whether every set-up command has been answered.
    pub ready: bool,
    /// All frames, parents before their children; the first is the main frame.
    pub frames: Frames,
    /// How far the main frame's document has loaded.
    pub load: Load,
    /// Navigations of the main frame that its page asked for. Each begins a little later, or never.
    pub navigations_requested: u64,
    /// Navigations of the main frame that began, failed ones included.
    pub navigations_begun: u64,
    /// Whether one of them is still on its way.
    pub navigating: bool,
    /// The documents that the main frame came to show last, oldest first.
    pub(crate) arrivals: VecDeque<LoaderId>,
    /// Moves within the document, by history or fragment.
    pub moves_within: u64,
    /// The dialog that blocks the page.
    pub dialog: Option<Dialog>,
    /// Requests that count for "is it done yet", by their order of start.
    pub in_flight: BTreeMap<u64, RequestId>,
    /// Requests begun so far; the next one gets this number.
    pub requests_begun: u64,
    /// Tabs that this one opened, in order.
    pub popups: Vec<TargetId>,
    /// Downloads that this tab began, by file name.
    pub downloads: Vec<String>,
    /// Why the tab is no more.
    pub gone: Option<Gone>,
    /// Console messages, oldest first.
    pub console: VecDeque<ConsoleMessage>,
    /// Requests, oldest first.
    pub requests: VecDeque<NetworkRequest>,
}

/// How far a document has loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Load {
    /// Bytes are still being parsed.
    #[default]
    Loading,
    /// The DOM is whole, pictures and frames may be missing.
    Interactive,
    /// Everything the document names is here, or loading was stopped.
    Complete,
}

/// A dialog that the page has opened and that blocks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialog {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    pub kind: String,
    /// What it says, on one line and shortened.
    pub message: String,
    /// What a prompt offers as its answer.
    pub default: String,
}

/// Why a tab is no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// It was closed, or its browser went away.
    Closed,
    /// Its renderer died.
    Crashed,
}

/// One line of a page's console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleMessage {
    /// `log`, `warning`, `error`, `exception`, …
    pub kind: String,
    /// The text as a console would show it, shortened.
    pub text: String,
    /// The main document that was shown when it came.
    pub document: Option<DocumentId>,
}

/// One request of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkRequest {
    /// Chrome's name of it.
    pub id: RequestId,
    /// `GET` and the like.
    pub method: String,
    /// Where it went, shortened.
    pub url: String,
    /// `Document`, `Script`, `Fetch`, …
    pub kind: String,
    /// The HTTP status, once there is one.
    pub status: Option<i64>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// Whether it has ended, well or not.
    pub ended: bool,
}
