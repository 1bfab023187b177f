//! The observable state: what people may see, at one moment. The main loop publishes it; what `tabmux status` and the
//! side panels show, and the list of open questions, are pure functions of it.

mod overview;
mod publisher;
mod side_panel;

pub(crate) use publisher::Publisher;
pub(crate) use side_panel::{MOST_DOINGS, show};

use crate::extension::PeerName;
use crate::questions::QuestionView;
use tabmux_core::{BrowserId, SessionId, TabId};
use tabmux_protocol::extension::{Colour, RulesInfo};
use tabmux_protocol::overview::{BrowserRow, LoopCost};
use tokio::time::Instant;

/// What people may see.
#[derive(Debug)]
pub struct State {
    pub(crate) started: Instant,
    pub(crate) paused: bool,
    /// The oldest first.
    pub(crate) sessions: Vec<SessionState>,
    pub(crate) browsers: Vec<BrowserState>,
    /// The tabs of connected browsers that sessions can see.
    pub(crate) tabs: Vec<TabState>,
    /// The tabs of people's browsers that sessions hold.
    pub(crate) held: Vec<HeldTab>,
    /// The questions that wait for a person here.
    pub(crate) questions: Vec<(SessionId, QuestionView)>,
    /// The person's rules about sites.
    pub(crate) rules: RulesInfo,
    pub(crate) loop_costs: Vec<LoopCost>,
}

#[derive(Debug)]
pub(crate) struct SessionState {
    pub(crate) id: SessionId,
    /// Its public name.
    pub(crate) name: String,
    pub(crate) client: String,
    /// The name and colour under which people see its agent.
    pub(crate) label: Option<(String, Colour)>,
    pub(crate) opened: Instant,
    pub(crate) calls_made: u64,
    /// How many of its calls have no reply yet.
    pub(crate) calls: usize,
    /// The oldest of them.
    pub(crate) oldest_calls: Vec<CallState>,
    /// The tab that it is bound to.
    pub(crate) tab: Option<TabId>,
    pub(crate) has_browser: bool,
    pub(crate) follows: bool,
    /// The people whose tabs it can be given.
    pub(crate) people: Vec<PeerName>,
}

#[derive(Debug)]
pub(crate) struct CallState {
    pub(crate) tool: String,
    /// The browser and the tab of a person in which it works, if it does.
    pub(crate) place: Option<(BrowserId, Option<u32>)>,
    /// The start time in milliseconds since 1970.
    pub(crate) since: u64,
}

#[derive(Debug)]
pub(crate) struct BrowserState {
    pub(crate) id: BrowserId,
    pub(crate) row: BrowserRow,
    /// The extension through which it is connected, if any.
    pub(crate) peer: Option<PeerName>,
}

#[derive(Debug)]
pub(crate) struct TabState {
    pub(crate) id: TabId,
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) browser: BrowserId,
    pub(crate) holder: Option<SessionId>,
}

#[derive(Debug)]
pub(crate) struct HeldTab {
    pub(crate) browser: BrowserId,
    /// The extension's number of it.
    pub(crate) tab_id: u32,
    /// The session that it was opened for.
    pub(crate) owner: Option<SessionId>,
    /// The sessions that are bound to it.
    pub(crate) bound: Vec<SessionId>,
}

impl State {
    /// The state before the main loop has published any.
    pub(crate) fn empty() -> Self {
        Self {
            started: Instant::now(),
            paused: false,
            sessions: Vec::new(),
            browsers: Vec::new(),
            tabs: Vec::new(),
            held: Vec::new(),
            questions: Vec::new(),
            rules: RulesInfo::default(),
            loop_costs: Vec::new(),
        }
    }

    /// The questions that wait for a person here.
    pub fn questions(&self) -> impl ExactSizeIterator<Item = &QuestionView> {
        self.questions.iter().map(|(_, view)| view)
    }

    fn session(&self, id: SessionId) -> Option<&SessionState> {
        self.sessions.iter().find(|session| session.id == id)
    }

    /// Whether a browser is connected through this person's extension.
    fn is_of(&self, browser: BrowserId, peer: &PeerName) -> bool {
        let mut browsers = self.browsers.iter();
        let known = browsers.find(|known| known.id == browser);
        known.is_some_and(|known| known.peer.as_ref() == Some(peer))
    }
}
