//! What a tab's actor publishes about its tab, for everybody to read and to wait on.

use super::console::Console;
use super::frames::Frames;
use super::network::Network;
use super::past::Past;
use crate::page_tools::web_mcp::Registered;
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
    /// The same with what is known of them.
    pub(crate) documents: VecDeque<Past>,
    /// Moves within the document, by history or fragment.
    pub moves_within: u64,
    /// The dialog that blocks the page.
    pub dialog: Option<Dialog>,
    /// Dialogs that the page has opened so far.
    pub dialogs_opened: u64,
    /// Requests that count for "is it done yet", by their order of start.
    pub in_flight: BTreeMap<u64, RequestId>,
    /// Tabs that this one opened, in order.
    pub popups: Vec<TargetId>,
    /// Tabs without an opener that its pages asked for last, oldest first.
    pub(crate) new_tabs: VecDeque<String>,
    /// Downloads that the page asked for by a link that says so.
    pub downloads_requested: u64,
    /// Downloads that this tab began, in order.
    pub downloads: Vec<Download>,
    /// Why the tab is no more.
    pub gone: Option<Gone>,
    /// Documents that the main frame has come to show so far.
    pub epoch: u64,
    /// What was written to the console.
    pub console: Console,
    /// What was asked of the network.
    pub network: Network,
    /// The tools that its documents registered with Chrome.
    pub(crate) registered: Registered,
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
    /// Which of the tab's it is: the next one may say the same.
    pub number: u64,
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

/// A file that a page had the browser download.
#[derive(Clone, Debug, PartialEq)]
pub struct Download {
    /// Chrome's name of it.
    pub guid: String,
    /// The file's name, as the page or the server proposed it.
    pub name: String,
    /// How far it is.
    pub progress: Progress,
    /// Bytes that have come.
    pub received: f64,
}

/// How far a download is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is coming.
    Running,
    /// It is whole; where it lies, if Chrome tells.
    Saved(Option<String>),
    /// It was stopped.
    Stopped,
    /// It was stopped by us; the text says why, and ends the sentence.
    Refused(String),
}

impl Download {
    /// Everything about it in a sentence or two.
    pub fn tell(&self) -> String {
        let name = &self.name;
        match &self.progress {
            Progress::Running => format!(
                "A download started: {name}. It is still coming; list_network_requests tells when it is there."
            ),
            Progress::Saved(Some(path)) => {
                format!(
                    "A download started: {name}. It is saved as {path} ({} bytes).",
                    self.received
                )
            }
            Progress::Saved(None) => format!("A download started: {name}. It is saved."),
            Progress::Stopped => {
                format!("A download started: {name}. It was stopped before it was whole.")
            }
            Progress::Refused(why) => {
                format!("A download started: {name}. It was stopped: {why}")
            }
        }
    }
}
