//! The observable state: what people may see, at one moment. The main loop publishes it; what `tabmux status` and the
//! side panels show, and the list of open questions, are pure functions of it.
//!
//! The state has texts as they are. The views mask secret values in them, outside of the main loop, which must not
//! search the texts of all tabs several times a second.

mod overview;
mod publisher;
mod side_panel;

pub(crate) use overview::ProcessFacts;
pub(crate) use publisher::Publisher;
pub(crate) use side_panel::{MOST_DOINGS, show};

use crate::extension::PeerName;
use crate::questions::QuestionView;
use tabmux_core::{BrowserId, SessionId, TabId};
use tabmux_protocol::extension::{Colour, RulesInfo};
use tabmux_protocol::overview::{BrowserRow, LibraryRow, LoopCost};
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
    /// The page library in connected pages.
    pub(crate) libraries: Vec<LibraryRow>,
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
            libraries: Vec::new(),
            loop_costs: Vec::new(),
        }
    }

    /// The questions that wait for a person here. Secret values in them are not masked.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::AskedBecause;
    use tabmux_protocol::extension::ToExtension;
    use tabmux_text::secrets;

    fn state() -> State {
        let text = || "a moonlight b".to_owned();
        let session = SessionState {
            id: SessionId(1),
            name: "sess_1".into(),
            client: "agent".into(),
            label: Some(("Agent".into(), Colour::Blue)),
            opened: Instant::now(),
            calls_made: 1,
            calls: 1,
            oldest_calls: vec![CallState {
                tool: text(),
                place: None,
                since: 0,
            }],
            tab: None,
            has_browser: true,
            follows: false,
            people: Vec::new(),
        };
        let tab = TabState {
            id: TabId(1),
            url: text(),
            title: text(),
            browser: BrowserId(1),
            holder: None,
        };
        let question = QuestionView {
            id: "1".into(),
            client: "agent".into(),
            tool: text(),
            origin: "https://a.test".into(),
            arguments: text(),
            because: AskedBecause::Always,
            until: 0,
        };
        State {
            sessions: vec![session],
            tabs: vec![tab],
            questions: vec![(SessionId(1), question)],
            ..State::empty()
        }
    }

    /// The value becomes secret after the state was made, as with a session that opens in the meantime.
    #[test]
    fn what_people_see_has_no_secret_values() {
        let state = state();
        secrets::hide(["moonlight"]).unwrap();
        let process = ProcessFacts {
            build: "",
            port: None,
            extensions: Vec::new(),
        };
        let tab = &state.overview(process).tabs[0];
        assert_eq!((&*tab.url, &*tab.title), ("a ••• b", "a ••• b"));
        let panel = state.side_panel(&PeerName("peer".into()));
        let ToExtension::Overview {
            agents, questions, ..
        } = panel
        else {
            unreachable!("a side panel shows an overview");
        };
        assert_eq!(agents[0].doing[0].tool, "a ••• b");
        let question = &questions[0];
        assert_eq!(
            (&*question.tool, &*question.arguments),
            ("a ••• b", "a ••• b")
        );
    }
}
