//! What the main loop is told: the closed set of events.

use super::{PagesEvent, PersonEvent};
use crate::extension::PeerName;
use crate::handle::Client;
use crate::handle::Here;
use crate::incoming::Incoming;
use crate::options::SessionOptions;
use crate::policy::{PersonRules, PolicyChange};
use crate::record::Listed;
use std::path::PathBuf;
use tabmux_browser::tools::ToolResult;
use tabmux_browser::{BrowserEvent, ConnectError, Connected};
use tabmux_core::{BrowserId, CallId, RestoredTabs, SessionId};
use tabmux_protocol::overview::Overview;
use tabmux_protocol::wire::Resume;
use tabmux_protocol::{BackendEvent, CallFailure, CallReply, RequestId};
use tokio::sync::{mpsc, oneshot};

/// Everything that can make the main loop act.
#[derive(Debug)]
pub(crate) enum Event {
    /// A client arrived.
    Open {
        session: SessionId,
        options: Box<SessionOptions>,
        client: Client,
        notify: mpsc::Sender<BackendEvent>,
    },
    /// A client says that it had a session at an earlier daemon.
    TakeUp {
        resume: Resume,
        answer: oneshot::Sender<Option<RestoredTabs>>,
    },
    /// Whoever had a session at an earlier daemon had time to come back.
    Abandon,
    /// The person wants other rules about origins.
    Policy {
        change: PolicyChange,
        answer: oneshot::Sender<Result<PersonRules, String>>,
    },
    /// Those rules were written, or could not be.
    PolicyWritten { rules: Result<PersonRules, String> },
    /// Something happened on a connection of a page's worker.
    Pages(PagesEvent),
    /// Somebody wants to see everything.
    Overview {
        answer: oneshot::Sender<Overview>,
        titles: Titles,
    },
    /// A client says in which folders it works.
    Roots {
        session: SessionId,
        roots: Vec<PathBuf>,
    },
    /// Somebody takes up a named session in another folder.
    WorksHere { session: SessionId, here: Here },
    /// A client left.
    Close { session: SessionId },
    /// A client wants its tool list.
    Tools {
        session: SessionId,
        answer: oneshot::Sender<Vec<Listed>>,
    },
    /// A client calls a tool.
    Call {
        session: SessionId,
        call: Box<Incoming>,
    },
    /// A person answered a question that waits here. The answer says whether there was one.
    QuestionAnswered {
        id: String,
        allowed: bool,
        answer: oneshot::Sender<bool>,
    },
    /// A question has waited long enough.
    QuestionExpired { id: String },
    /// A client no longer wants an answer.
    Cancel {
        session: SessionId,
        request: RequestId,
    },
    /// A browser reports something.
    Browser {
        browser: BrowserId,
        event: BrowserEvent,
    },
    /// An attempt to connect is over.
    Connected {
        browser: BrowserId,
        result: Result<Box<Connected>, ConnectError>,
        /// The extension that it is reached through, if it is.
        way: Option<PeerName>,
    },
    /// Work for a call is over; the text says why it failed.
    Finished {
        call: CallId,
        outcome: Result<(), String>,
    },
    /// A page action is over.
    Ran {
        call: CallId,
        browser: BrowserId,
        result: ToolResult,
    },
    /// An attempt to connect waits for something.
    Awaited { browser: BrowserId, message: String },
    /// A page action has come further.
    Progressed { call: CallId, message: String },
    /// Something happened on the side of a person.
    Person(PersonEvent),
    /// Tabs of a person's browser may be of no more use to anybody.
    Sweep { browser: BrowserId },
    /// Those that were not have been let go; `left` were used too short a time ago.
    Swept { browser: BrowserId, left: bool },
    /// The end.
    ShutDown { done: oneshot::Sender<()> },
}

/// Whether browsers have just been asked how their tabs are called; they do not tell by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Titles {
    Unknown,
    Fresh,
}

/// Where a call's one answer goes.
pub(crate) type Answer = oneshot::Sender<Result<CallReply, CallFailure>>;

impl Event {
    /// What it is, for those who count.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Open { .. } => "open",
            Self::TakeUp { .. } => "take_up",
            Self::Abandon => "abandon",
            Self::Policy { .. } => "policy",
            Self::Pages(event) => event.kind(),
            Self::Overview { .. } => "overview",
            Self::Roots { .. } | Self::WorksHere { .. } => "roots",
            Self::Close { .. } => "close",
            Self::Tools { .. } => "tools",
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
