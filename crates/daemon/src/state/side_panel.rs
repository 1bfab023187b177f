//! What a person's side panel shows: which agents work where, open questions, and the person's rules.

use super::{CallState, SessionState, State};
use crate::extension::{Peer, PeerName};
use crate::questions::AskedBecause;
use std::sync::Arc;
use std::time::Duration;
use tabmux_protocol::extension::{AgentInfo, AgentTab, Because, Doing, QuestionInfo, ToExtension};
use tabmux_text::one_line;
use tabmux_text::secrets::masked;
use tokio::sync::watch;

/// Keeps a side panel up to date, until the main loop ends.
pub(crate) async fn show(peer: Arc<Peer>, mut state: watch::Receiver<Arc<State>>) {
    let mut last = None;
    while state.changed().await.is_ok() {
        loop {
            let now = Arc::clone(&state.borrow_and_update());
            let shown = now.side_panel(&peer.instance);
            if last.as_ref() == Some(&shown) || peer.tell(shown.clone()) {
                last = Some(shown);
                break;
            }
            // Its queue is full.
            tokio::time::sleep(RETRY).await;
        }
    }
}

impl State {
    /// What the side panel of this person shows.
    pub(crate) fn side_panel(&self, peer: &PeerName) -> ToExtension {
        let agents = self.sessions.iter().take(MOST_AGENTS);
        let agents = agents.filter_map(|session| self.agent(session, peer));
        ToExtension::Overview {
            paused: self.paused,
            agents: agents.collect(),
            more_agents: self.sessions.len().saturating_sub(MOST_AGENTS),
            questions: self.questions_shown(),
            rules: self.rules.clone(),
        }
    }

    fn agent(&self, session: &SessionState, peer: &PeerName) -> Option<AgentInfo> {
        let (name, colour) = session.label.clone()?;
        let (tabs, more_tabs) = self.tabs_for(session, peer);
        let doing = session.oldest_calls.iter().take(MOST_DOINGS);
        Some(AgentInfo {
            session: session.name.clone(),
            name,
            colour,
            here: session.people.contains(peer),
            connected: session.has_browser,
            follows: session.follows,
            tabs,
            more_tabs,
            doing: doing.map(|call| self.doing(call, peer)).collect(),
            more_doing: session.calls.saturating_sub(MOST_DOINGS),
        })
    }

    fn tabs_for(&self, session: &SessionState, peer: &PeerName) -> (Vec<AgentTab>, usize) {
        let held = self.held.iter();
        let held = held.filter(|tab| self.is_of(tab.browser, peer));
        let mut tabs = held.filter_map(|tab| {
            let own = tab.owner == Some(session.id);
            let bound = tab.bound.contains(&session.id);
            let tab_id = tab.tab_id;
            (own || bound).then_some(AgentTab { tab_id, own, bound })
        });
        let shown = tabs.by_ref().take(MOST_TABS).collect();
        (shown, tabs.count())
    }

    fn doing(&self, call: &CallState, peer: &PeerName) -> Doing {
        let here = call.place.filter(|(browser, _)| self.is_of(*browser, peer));
        Doing {
            tool: one_line(&masked(&call.tool), LONGEST_TOOL),
            tab_id: here.and_then(|(_, tab_id)| tab_id),
            since: call.since,
        }
    }

    fn questions_shown(&self) -> Vec<QuestionInfo> {
        let questions = self.questions.iter().filter_map(|(session, view)| {
            let session = self.session(*session)?;
            let (name, _) = session.label.clone()?;
            Some(QuestionInfo {
                id: view.id.clone(),
                session: session.name.clone(),
                name,
                // Its names and arguments may come from a page.
                tool: masked(&view.tool).into_owned(),
                origin: view.origin.clone(),
                arguments: masked(&view.arguments).into_owned(),
                because: match view.because {
                    AskedBecause::HardToUndo => Because::HardToUndo,
                    AskedBecause::Always => Because::Always,
                },
                until: view.until,
            })
        });
        questions.collect()
    }
}

const MOST_AGENTS: usize = 50;
const MOST_TABS: usize = 30;
const LONGEST_TOOL: usize = 64;
pub(crate) const MOST_DOINGS: usize = 5;
/// How soon to try again if the extension does not read.
const RETRY: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{BrowserState, HeldTab};
    use tabmux_core::{BrowserId, SessionId};
    use tabmux_protocol::extension::Colour;
    use tabmux_protocol::overview::{BrowserMetrics, BrowserRow};
    use tokio::time::Instant;

    fn browser(id: u32, peer: &str) -> BrowserState {
        BrowserState {
            id: BrowserId(id),
            row: BrowserRow {
                index: id,
                name: "Chrome".into(),
                version: "156".into(),
                state: "connected".into(),
                source: "extension".into(),
                web_mcp: None,
                metrics: BrowserMetrics::default(),
            },
            peer: Some(PeerName(peer.into())),
        }
    }

    fn held(browser: u32, tab_id: u32) -> HeldTab {
        HeldTab {
            browser: BrowserId(browser),
            tab_id,
            owner: None,
            bound: vec![SessionId(1)],
        }
    }

    #[test]
    fn a_side_panel_shows_the_tabs_of_its_own_browser() {
        let call = |browser, tab_id| CallState {
            tool: "click".into(),
            place: Some((BrowserId(browser), Some(tab_id))),
            since: 0,
        };
        let session = SessionState {
            id: SessionId(1),
            name: "sess_1".into(),
            client: "agent".into(),
            label: Some(("Agent".into(), Colour::Blue)),
            opened: Instant::now(),
            calls_made: 2,
            calls: 2,
            oldest_calls: vec![call(1, 7), call(2, 8)],
            tab: None,
            has_browser: true,
            follows: false,
            people: vec![PeerName("here".into())],
        };
        let state = State {
            sessions: vec![session],
            browsers: vec![browser(1, "here"), browser(2, "there")],
            held: vec![held(1, 7), held(2, 8)],
            ..State::empty()
        };
        for (peer, tab, is_here) in [("here", 7, true), ("there", 8, false)] {
            let ToExtension::Overview { agents, .. } = state.side_panel(&PeerName(peer.into()))
            else {
                unreachable!("a side panel shows an overview");
            };
            let tabs: Vec<_> = agents[0].tabs.iter().map(|tab| tab.tab_id).collect();
            assert_eq!((tabs, agents[0].here), (vec![tab], is_here));
            let doing = agents[0].doing.iter().filter_map(|doing| doing.tab_id);
            assert_eq!(doing.collect::<Vec<_>>(), [tab]);
        }
    }
}
