//! The state of a tab, published by its actor to be read and waited on.

use super::console::Console;
use super::frames::Frames;
use super::network::Network;
use super::shown_documents::ShownDocument;
use crate::page_tools::web_mcp::Registered;
use std::collections::{BTreeMap, VecDeque};
use tabmux_cdp::types::network::{LoaderId, RequestId};
use tabmux_cdp::types::target::TargetId;
use tabmux_text::one_line;

/// The current state of a tab. Read it through a watch; wait on it with [`super::Tab::until`].
#[derive(Debug, Default)]
pub struct TabState {
    /// Whether every setup command has been answered.
    pub ready: bool,
    /// All frames, parents before their children; the first is the main frame.
    pub frames: Frames,
    /// How far the main frame's document has loaded.
    pub load: Load,
    /// Navigations of the main frame that its page requested. Each starts a little later, or never.
    pub navigations_requested: u64,
    /// Navigations of the main frame that started, failed ones included.
    pub navigations_begun: u64,
    /// Whether one of them is still running.
    pub navigating: bool,
    /// The latest documents of the main frame, oldest first.
    pub(crate) arrivals: VecDeque<LoaderId>,
    /// The same documents, with address and origin.
    pub(crate) documents: VecDeque<ShownDocument>,
    /// Navigations within the document, by history or fragment.
    pub moves_within: u64,
    /// The dialog that blocks the page.
    pub dialog: Option<Dialog>,
    /// How many dialogs the page has opened so far.
    pub dialogs_opened: u64,
    /// Pending requests that count for "is the page done", by their order of start.
    pub in_flight: BTreeMap<u64, RequestId>,
    /// Tabs that this one opened, in order.
    pub popups: Vec<TargetId>,
    /// The latest tabs without an opener that its pages requested, oldest first.
    pub(crate) new_tabs: VecDeque<NewTab>,
    /// How many tabs its pages have requested so far.
    pub(crate) new_tabs_requested: u64,
    /// How many downloads the page requested by download links.
    pub downloads_requested: u64,
    /// Downloads that this tab started, in order.
    pub downloads: Vec<Download>,
    /// Why the tab is gone.
    pub gone: Option<Gone>,
    /// How many documents the main frame has shown so far.
    pub epoch: u64,
    /// What was written to the console.
    pub console: Console,
    /// What was asked of the network.
    pub network: Network,
    /// The tools that its documents registered with Chrome.
    pub(crate) registered: Registered,
}

/// A tab that a page requested.
#[derive(Clone, Debug)]
pub(crate) struct NewTab {
    pub(crate) url: String,
    /// Whether it has appeared, and was told.
    pub(crate) told: bool,
}

impl NewTab {
    /// Whether it was requested at this address, whatever the fragment.
    pub(crate) fn is_at(&self, url: &str) -> bool {
        bare(&self.url) == bare(url)
    }
}

fn bare(url: &str) -> &str {
    url.split('#').next().unwrap_or_default()
}

/// How far a document has loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Load {
    /// Bytes are still being parsed.
    #[default]
    Loading,
    /// The DOM is complete; images and frames may be missing.
    Interactive,
    /// Everything is loaded, or loading was stopped.
    Complete,
}

/// A dialog that the page has opened and that blocks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialog {
    /// Its number in this tab: the next dialog may have the same text.
    pub number: u64,
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    pub kind: String,
    /// Its text, on one line and shortened.
    pub message: String,
    /// The default value of a prompt.
    pub default: String,
}

/// Why a tab is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// It was closed, or its browser is gone.
    Closed,
    /// Its renderer died.
    Crashed,
}

/// A file that a page made the browser download.
#[derive(Clone, Debug, PartialEq)]
pub struct Download {
    /// Chrome's id of it.
    pub guid: String,
    /// The file's name, as the page or the server proposed it.
    pub name: String,
    /// Its state.
    pub progress: Progress,
    /// Bytes received.
    pub received: f64,
}

/// The state of a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is coming.
    Running,
    /// It is complete; its path, if Chrome reports it.
    Saved(Option<String>),
    /// It is complete, on the machine of the browser: its path there, if Chrome reports it.
    SavedElsewhere(Option<String>),
    /// It was cancelled.
    Stopped,
    /// We cancelled it; the text says why, and completes the sentence.
    Refused(String),
}

impl Download {
    /// A sentence or two about it.
    pub fn tell(&self) -> String {
        let name = &self.name;
        match &self.progress {
            Progress::Running => format!(
                "A download started: {name}. It is still running; list_network_requests shows when it is complete."
            ),
            Progress::Saved(Some(path)) => {
                format!(
                    "A download started: {name}. It is saved as {path} ({} bytes).",
                    self.received
                )
            }
            Progress::Saved(None) => format!("A download started: {name}. It is saved."),
            Progress::SavedElsewhere(path) => {
                let path = path
                    .as_ref()
                    .map(|path| format!(" as {}", one_line(path, 300)));
                format!(
                    "A download started: {name}. It is complete ({} bytes), but saved on the machine of the browser{}: \
                     it cannot be read here.",
                    self.received,
                    path.unwrap_or_default()
                )
            }
            Progress::Stopped => {
                format!("A download started: {name}. It was cancelled before it was complete.")
            }
            Progress::Refused(why) => {
                format!("A download started: {name}. It was cancelled: {why}")
            }
        }
    }
}
