//! The closed set of events that the main loop handles.

use super::confirm::Checked;
use super::page_calls::{CheckedCall, FoundAnswer};
use super::step_tools::StepTool;
use crate::extension::{Peer, PeerName};
use crate::handle::CallerFolders;
use crate::handle::Client;
use crate::incoming::Incoming;
use crate::options::SessionOptions;
use crate::page_quotas::Held;
use crate::page_updates::PageUpdate;
use crate::panel::PersonRequest;
use crate::policy::PersonRules;
use crate::record::Listed;
use crate::resources::Seen;
use std::path::PathBuf;
use std::sync::Arc;
use tabmux_browser::tools::ToolResult;
use tabmux_browser::{BrowserEvent, ConnectError, Connected, ToolError};
use tabmux_core::{BrowserId, CallId, ConnectionId, RestoredTabs, SessionId, TabRef};
use tabmux_protocol::page::ToPage;
use tabmux_protocol::wire::Resume;
use tabmux_protocol::{BackendEvent, CallFailure, CallReply, RequestId};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

/// An event for the main loop.
#[derive(Debug)]
pub(crate) enum Event {
    /// A client opens a session.
    Open {
        session: SessionId,
        options: Box<SessionOptions>,
        client: Client,
        notify: mpsc::Sender<BackendEvent>,
    },
    /// A client wants to resume a session of an earlier daemon.
    Resume {
        resume: Resume,
        answer: oneshot::Sender<Option<RestoredTabs>>,
    },
    /// The time for resuming sessions of an earlier daemon is over.
    Abandon,
    /// A change of the person's rules was written, or could not be written.
    PolicyWritten { rules: Result<PersonRules, String> },
    /// An event on the connection of a page worker.
    Pages(PagesEvent),
    /// The titles of all tabs are wanted; Chrome does not report all changes.
    RefreshTitles { done: oneshot::Sender<()> },
    /// The state is wanted as it is now, not only soon.
    Publish { done: Option<oneshot::Sender<()>> },
    /// A client reports its root folders.
    Roots {
        session: SessionId,
        roots: Vec<PathBuf>,
    },
    /// A caller attaches to a named session from another folder.
    ContinueIn {
        session: SessionId,
        folders: CallerFolders,
    },
    /// A client closed its session.
    Close { session: SessionId },
    /// A client requests its tool list.
    Tools {
        session: SessionId,
        answer: oneshot::Sender<Vec<Listed>>,
    },
    /// What a session's resources depend on.
    Resources {
        session: SessionId,
        answer: oneshot::Sender<Seen>,
    },
    /// What the tools of a call's steps are to its session.
    StepTools {
        session: SessionId,
        names: Vec<String>,
        tab: Option<TabRef>,
        answer: oneshot::Sender<Vec<StepTool>>,
    },
    /// A client calls a tool.
    Call {
        session: SessionId,
        call: Box<Incoming>,
    },
    /// A person answered a question whose call waits here. The answer says whether there was one.
    QuestionAnswered {
        id: String,
        allowed: bool,
        answer: oneshot::Sender<bool>,
    },
    /// A question has timed out.
    QuestionExpired { id: String },
    /// A client cancels a call.
    Cancel {
        session: SessionId,
        request: RequestId,
    },
    /// An event of a browser.
    Browser {
        browser: BrowserId,
        event: BrowserEvent,
    },
    /// An attempt to connect has ended.
    Connected {
        browser: BrowserId,
        result: Result<Box<Connected>, ConnectError>,
        /// The extension through which it is connected, if any.
        peer: Option<PeerName>,
    },
    /// The work for a call has ended; an error says why it failed.
    Finished {
        call: CallId,
        outcome: Result<(), String>,
    },
    /// A page action has ended.
    Ran {
        call: CallId,
        browser: BrowserId,
        result: ToolResult,
    },
    /// An attempt to connect waits for something; the message says for what.
    Awaited { browser: BrowserId, message: String },
    /// A page action reports progress.
    Progressed { call: CallId, message: String },
    /// An event of a person's extension.
    Person(PersonEvent),
    /// Time to detach unused tabs of a person's browser.
    Sweep { browser: BrowserId },
    /// Unused tabs were detached; `left` if some were used too recently.
    Swept { browser: BrowserId, left: bool },
    /// Ends the main loop.
    ShutDown { done: oneshot::Sender<()> },
}

/// Receives the one reply of a call.
pub(crate) type Answer = oneshot::Sender<Result<CallReply, CallFailure>>;

impl Event {
    /// Its name in the cost statistics.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Open { .. } => "open",
            Self::Resume { .. } => "take_up",
            Self::Abandon => "abandon",
            Self::Pages(event) => event.kind(),
            Self::RefreshTitles { .. } => "refresh_titles",
            Self::Publish { .. } => "publish",
            Self::Roots { .. } | Self::ContinueIn { .. } => "roots",
            Self::Close { .. } => "close",
            Self::Tools { .. } | Self::StepTools { .. } | Self::Resources { .. } => "tools",
            Self::Call { .. } => "call",
            Self::QuestionAnswered { .. } | Self::QuestionExpired { .. } => "question",
            Self::Cancel { .. } => "cancel",
            Self::Browser { event, .. } => match event {
                BrowserEvent::ToolsFound { .. } => "tools_found",
                BrowserEvent::DocumentChanged { .. } => "document_changed",
                BrowserEvent::TabChanged(_) => "tab_changed",
                _ => "browser",
            },
            Self::Connected { .. } => "connected",
            Self::Finished { .. } => "finished",
            Self::Ran { .. } => "ran",
            Self::Awaited { .. } => "awaited",
            Self::Progressed { .. } => "progressed",
            Self::Person(_) => "person",
            Self::Sweep { .. } | Self::Swept { .. } => "sweep",
            Self::ShutDown { .. } => "shut_down",
            Self::PolicyWritten { .. } => "policy_written",
        }
    }
}

impl From<(u32, BrowserEvent)> for Event {
    fn from((browser, event): (u32, BrowserEvent)) -> Self {
        Self::Browser {
            browser: BrowserId(browser),
            event,
        }
    }
}

/// Events on the connections of page workers.
#[derive(Debug)]
pub(crate) enum PagesEvent {
    /// A worker connected, from a page of this origin.
    Opened {
        origin: Arc<str>,
        /// The version of its library.
        library: String,
        out: mpsc::Sender<ToPage>,
        answer: oneshot::Sender<ConnectionId>,
    },
    /// A worker sent a message.
    Received {
        connection: ConnectionId,
        update: Box<PageUpdate>,
        /// Its part of the queue quota, returned when the message was handled.
        share: Held,
    },
    /// A worker disconnected.
    Closed { connection: ConnectionId },
    /// Tabs were inspected for tools, and a call that waited for that can continue.
    Looked {
        session: SessionId,
        call: Box<Incoming>,
    },
    /// A tool that was found in a browser tab has ended.
    Called {
        call: CallId,
        browser: BrowserId,
        result: Result<FoundAnswer, ToolError>,
    },
    /// The arguments of a call for a worker were checked.
    ArgumentsChecked(CheckedCall),
    /// The arguments of a call that needs a confirmation were checked.
    CallChecked {
        session: SessionId,
        call: Box<Incoming>,
        checked: Checked,
    },
}

impl PagesEvent {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Opened { .. } => "worker_opened",
            Self::Received { update, .. } => match **update {
                PageUpdate::ToolOffered { .. } => "tool_offered",
                PageUpdate::Answered { .. } => "tool_answered",
                _ => "worker_said",
            },
            Self::Closed { .. } => "worker_closed",
            Self::Looked { .. } => "looked",
            Self::Called { .. } => "tool_called",
            Self::ArgumentsChecked(_) | Self::CallChecked { .. } => "arguments_checked",
        }
    }
}

impl From<PagesEvent> for Event {
    fn from(event: PagesEvent) -> Self {
        Self::Pages(event)
    }
}

/// Events of a person's extension.
#[derive(Debug)]
pub(crate) enum PersonEvent {
    /// Their extension connected.
    Arrived { peer: Arc<Peer> },
    /// They request something.
    Requested {
        peer: PeerName,
        request: PersonRequest,
    },
    /// Their extension disconnected.
    Left { peer: PeerName },
    /// It has been disconnected for so long that its pause no longer applies.
    Lapsed { peer: PeerName, left: Instant },
}
