//! The contents of the side panel: which agents work where, open questions, and the person's rules.

use super::MainLoop;
use crate::extension::PeerName;
use crate::questions::AskedBecause;
use tabmux_browser::OriginPattern;
use tabmux_browser::text::one_line;
use tabmux_core::SessionId;
use tabmux_protocol::extension::{
    AgentInfo, AgentTab, Because, Doing, QuestionInfo, RulesInfo, ToExtension,
};

impl MainLoop {
    /// Updates every side panel whose contents changed.
    pub(super) fn show_persons(&mut self) {
        // `tabmux policy` may have changed the rules without notice: what is read now is shown next time.
        if let Some(policy_reader) = self.panel.rules.file.policy_reader() {
            tokio::spawn(async move { policy_reader.reread().await });
        }
        self.notice_policy();
        self.panel.start_update();
        for peer in self.panel.peers() {
            let overview = self.overview_for(&peer.instance);
            self.panel.show(&peer.instance, overview);
        }
    }

    fn overview_for(&self, peer: &PeerName) -> ToExtension {
        let sessions = self.sessions.iter();
        let more_agents = sessions.len().saturating_sub(MOST_AGENTS);
        let agents = sessions.take(MOST_AGENTS);
        let agents = agents.filter_map(|(id, session)| {
            let label = self.panel.labels.of(id)?;
            let (tabs, more_tabs) = self.tabs_for(id, peer);
            let (doing, more_doing) = self.doings_of(id, peer);
            Some(AgentInfo {
                session: session.client.session.clone(),
                name: label.name(),
                colour: label.colour,
                here: self.browsers.of_person(peer, id, &self.core).is_some(),
                connected: self.core.has_browser(id),
                follows: session.options.given.follow_user_focus,
                tabs,
                more_tabs,
                doing,
                more_doing,
            })
        });
        ToExtension::Overview {
            paused: self.core.is_paused(),
            agents: agents.collect(),
            more_agents,
            questions: self.questions_shown(),
            rules: self.rules_shown(),
        }
    }

    fn tabs_for(&self, session: SessionId, peer: &PeerName) -> (Vec<AgentTab>, usize) {
        let held = self.core.held_tabs();
        let held = held.filter(|tab| self.browsers.links.of(tab.browser) == Some(peer));
        let mut tabs = held.filter_map(|tab| {
            let (own, bound) = (tab.owner == Some(session), tab.bound.contains(&session));
            let tab_id = tab.target.0.parse().ok()?;
            (own || bound).then_some(AgentTab { tab_id, own, bound })
        });
        let shown = tabs.by_ref().take(MOST_TABS).collect();
        (shown, tabs.count())
    }

    fn doings_of(&self, session: SessionId, peer: &PeerName) -> (Vec<Doing>, usize) {
        let calls = self.calls.of_session(session);
        let more = calls.len().saturating_sub(MOST_DOINGS);
        let doings = calls.into_iter().take(MOST_DOINGS).map(|call| {
            let here = call
                .place
                .as_ref()
                .filter(|(browser, _)| self.browsers.links.of(*browser) == Some(peer));
            Doing {
                tool: one_line(&call.tool, LONGEST_TOOL),
                tab_id: here.and_then(|(_, target)| target.0.parse().ok()),
                since: call.since,
            }
        });
        (doings.collect(), more)
    }

    fn questions_shown(&self) -> Vec<QuestionInfo> {
        let questions = self.calls.questions.shown().filter_map(|(id, view)| {
            let session = self.sessions.get(id)?;
            let label = self.panel.labels.of(id)?;
            Some(QuestionInfo {
                id: view.id.clone(),
                session: session.client.session.clone(),
                name: label.name(),
                tool: view.tool.clone(),
                origin: view.origin.clone(),
                arguments: view.arguments.clone(),
                because: match view.because {
                    AskedBecause::HardToUndo => Because::HardToUndo,
                    AskedBecause::Always => Because::Always,
                },
                until: view.until,
            })
        });
        questions.collect()
    }

    fn rules_shown(&self) -> RulesInfo {
        let rules = match self.panel.rules.file.rules() {
            Ok(rules) => rules,
            Err(why) => {
                return RulesInfo {
                    problem: Some(one_line(why.what(), LONGEST_PROBLEM)),
                    ..RulesInfo::default()
                };
            }
        };
        // The newest rules are at the end of the file.
        let texts = |patterns: &[OriginPattern]| -> Vec<String> {
            let newest = patterns.iter().rev().take(MOST_RULES);
            newest.map(ToString::to_string).collect()
        };
        let (allowed, blocked) = (texts(&rules.allowed), texts(&rules.blocked));
        let all = rules.allowed.len() + rules.blocked.len();
        RulesInfo {
            more: all - allowed.len() - blocked.len(),
            allowed,
            blocked,
            private_windows: rules.private_windows,
            problem: None,
        }
    }
}

const MOST_AGENTS: usize = 50;
const MOST_TABS: usize = 30;
const MOST_DOINGS: usize = 5;
const LONGEST_TOOL: usize = 64;
/// Per kind of rule.
const MOST_RULES: usize = 50;
const LONGEST_PROBLEM: usize = 300;
