//! Makes the observable state from what the main loop has.

use super::OpenSessions;
use crate::browsers::Browsers;
use crate::calls::{Call, Calls};
use crate::loop_costs::LoopCosts;
use crate::options::BrowserPlan;
use crate::page_tools::PageTools;
use crate::panel::Panel;
use crate::state::{BrowserState, CallState, HeldTab, MOST_DOINGS, SessionState, State, TabState};
use crate::timed_core::TimedCore;
use std::collections::HashMap;
use tabmux_core::{BrowserView, SessionId};
use tabmux_protocol::overview::BrowserRow;

/// What the state is made from.
pub(super) struct StateSources<'a> {
    pub(super) core: &'a TimedCore,
    pub(super) sessions: &'a OpenSessions,
    pub(super) browsers: &'a Browsers,
    pub(super) page_tools: &'a PageTools,
    pub(super) calls: &'a Calls,
    pub(super) panel: &'a Panel,
    pub(super) costs: &'a LoopCosts,
}

impl StateSources<'_> {
    pub(super) fn state(&self) -> State {
        let tabs = self.core.tabs().map(|tab| TabState {
            id: tab.id,
            url: tab.url.to_owned(),
            title: tab.title.to_owned(),
            browser: tab.browser,
            holder: tab.holder,
        });
        let questions = self.calls.questions.shown();
        State {
            started: self.core.started(),
            paused: self.core.is_paused(),
            sessions: self.session_states(),
            browsers: self
                .core
                .browsers()
                .map(|it| self.browser_state(it))
                .collect(),
            tabs: tabs.collect(),
            held: self.held_tabs(),
            questions: questions.map(|(id, view)| (id, view.clone())).collect(),
            rules: self.panel.rules.shown(),
            libraries: self.page_tools.libraries(),
            loop_costs: self.costs.rows(),
        }
    }

    fn session_states(&self) -> Vec<SessionState> {
        let mut calls: HashMap<SessionId, Vec<&Call>> = self.calls.by_session();
        let peers = self.panel.peers();
        let sessions = self.sessions.iter().map(|(id, session)| {
            let calls = calls.remove(&id).unwrap_or_default();
            let label = self.panel.labels.of(id);
            let people = peers.iter().map(|peer| &peer.instance);
            let people =
                people.filter(|peer| self.browsers.of_person(peer, id, self.core).is_some());
            SessionState {
                id,
                name: session.client.session.clone(),
                client: session.client.name.clone(),
                label: label.map(|label| (label.name(), label.colour)),
                opened: session.opened,
                calls_made: session.calls_made,
                calls: calls.len(),
                oldest_calls: calls
                    .into_iter()
                    .take(MOST_DOINGS)
                    .map(call_state)
                    .collect(),
                tab: self.core.bound_tab(id),
                has_browser: self.core.has_browser(id),
                follows: session.options.given.follow_user_focus,
                people: people.cloned().collect(),
            }
        });
        sessions.collect()
    }

    fn browser_state(&self, browser: BrowserView<'_>) -> BrowserState {
        let about = browser.about;
        let plan = self.browsers.plans.get(browser.key);
        let handle = self.browsers.get(browser.id);
        BrowserState {
            id: browser.id,
            row: BrowserRow {
                index: browser.id.0,
                name: about
                    .map(|about| about.name.to_string())
                    .unwrap_or_default(),
                version: about
                    .map(|about| about.version.to_string())
                    .unwrap_or_default(),
                state: browser.state.as_str().to_owned(),
                source: plan.map(BrowserPlan::source).unwrap_or_default(),
                web_mcp: handle.and_then(tabmux_browser::Browser::has_web_mcp),
                metrics: self.browsers.metrics.of(browser.id),
            },
            peer: self.browsers.links.of(browser.id).cloned(),
        }
    }

    fn held_tabs(&self) -> Vec<HeldTab> {
        let held = self.core.held_tabs();
        let held = held.filter(|tab| self.browsers.links.of(tab.browser).is_some());
        let held = held.filter_map(|tab| {
            Some(HeldTab {
                browser: tab.browser,
                tab_id: tab.target.0.parse().ok()?,
                owner: tab.owner,
                bound: tab.bound.iter().copied().collect(),
            })
        });
        held.collect()
    }
}

fn call_state(call: &Call) -> CallState {
    let place = call.place.as_ref();
    CallState {
        tool: call.tool.clone(),
        place: place.map(|(browser, target)| (*browser, target.0.parse().ok())),
        since: call.since,
    }
}
