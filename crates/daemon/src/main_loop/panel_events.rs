//! What people request in their side panels: pause, take back, give, follow, answer questions, change rules.

use super::{MainLoop, PersonEvent};
use crate::extension::PeerName;
use crate::panel::{PersonRequest, target_of};
use crate::policy::PolicyChange;
use tabmux_browser::AddressPolicy;
use tabmux_core::{Input, SessionId, TabLocation};

impl MainLoop {
    pub(super) fn person_event(&mut self, event: PersonEvent) {
        match event {
            PersonEvent::Arrived { peer } => {
                self.browsers.links.reconnected(&peer.instance);
                self.panel.add(peer, self.publisher.watch());
                self.browsers.reach_again(&mut self.core);
            }
            PersonEvent::Requested { peer, request } => self.person_requests(&peer, request),
            PersonEvent::Left { peer } => self.panel.remove(peer),
            PersonEvent::Lapsed { peer, left } => {
                if self.panel.pauses.lapse(&peer, left) {
                    self.core.input(Input::Resumed);
                }
            }
        }
    }

    fn person_requests(&mut self, peer: &PeerName, request: PersonRequest) {
        match request {
            PersonRequest::Pause { again } => {
                if self.panel.pauses.pause(peer, again) {
                    self.core.input(Input::Paused);
                    self.questions_paused();
                }
            }
            PersonRequest::Resume => {
                self.panel.pauses.resume();
                self.core.input(Input::Resumed);
            }
            PersonRequest::TakeBack { tab } => self.take_back(peer, tab),
            PersonRequest::See { tab } if self.sessions.is_followed() => self.turn_to(peer, tab),
            PersonRequest::See { .. } => {}
            PersonRequest::Give { tab, session } => {
                let given = self.give(peer, tab, &session);
                self.panel.deny(peer, given);
            }
            PersonRequest::Follow {
                session,
                follows,
                front,
            } => {
                let changed = self.follow(peer, &session, follows, front);
                self.panel.deny(peer, changed);
            }
            PersonRequest::CanAsk => self.panel.can_ask(peer),
            PersonRequest::Answer { question, allowed } => {
                let was_open = self.question_answered(&question, allowed);
                let too_late = "This question is no longer open, so your answer changed nothing.";
                self.panel
                    .deny(peer, was_open.then_some(()).ok_or_else(|| too_late.into()));
            }
            PersonRequest::Rule { origin, rule } => self.panel.rule(peer, &origin, rule),
            PersonRequest::Judge { origin } => {
                self.notice_policy();
                self.panel.tell_site(peer, origin);
            }
            PersonRequest::Tidy { tabs } => self.panel.tidy(
                peer,
                &tabs,
                &self.core,
                &self.browsers,
                &self.sessions,
                &self.memory,
            ),
            PersonRequest::PrivateWindows { allowed } => {
                let change = PolicyChange::PrivateWindows(allowed);
                self.panel.change_rules(peer, change);
            }
        }
    }

    /// Releases a tab from all sessions, and detaches it at once.
    pub(super) fn take_back(&mut self, peer: &PeerName, tab: u32) {
        for browser in self.browsers.links.browsers_of(peer) {
            let target = target_of(tab);
            self.browsers.detach(browser, &target);
            self.core.input(Input::TakenBack { browser, target });
        }
    }

    fn give(&mut self, peer: &PeerName, tab: u32, session: &str) -> Result<(), String> {
        let session = self.agent_named(session)?;
        let label = self.panel.labels.of(session);
        let name = label.map(|label| label.name()).unwrap_or_default();
        let browser = self.browsers.of_person(peer, session, &self.core);
        let browser = browser.ok_or_else(|| {
            format!("{name} is not connected to this browser, so it cannot be given a tab here.")
        })?;
        let target = target_of(tab);
        let url = self.core.tabs().find_map(|tab| {
            let is_it = tab.browser == browser && *tab.target == target;
            is_it.then(|| tab.url.to_owned())
        });
        if url.is_some_and(|url| !AddressPolicy::default().permits(&url)) {
            return Err(
                "Chrome keeps extensions out of this page, so no agent can work in it.".into(),
            );
        }
        // A session that holds it through another connection to the same browser loses it, too.
        for other in self.browsers.links.browsers_of(peer) {
            if other != browser {
                let target = target.clone();
                self.core.input(Input::TakenBack {
                    browser: other,
                    target,
                });
            }
        }
        self.core.input(Input::Given {
            session,
            browser,
            target,
        });
        Ok(())
    }

    /// Makes an agent follow the person, whose current tab is `front`, or stop following.
    fn follow(
        &mut self,
        peer: &PeerName,
        session: &str,
        follows: bool,
        front: Option<u32>,
    ) -> Result<(), String> {
        let session = self.agent_named(session)?;
        if let Some(known) = self.sessions.get_mut(session) {
            known.options.given.follow_user_focus = follows;
            known.follows = Some(follows);
        }
        self.browsers.following.want(self.sessions.is_followed());
        if let Some(tab) = front.filter(|_| follows) {
            self.turn_to(peer, tab);
        }
        self.core.input(Input::FollowChanged { session, follows });
        Ok(())
    }

    /// The person switched to this tab.
    fn turn_to(&mut self, peer: &PeerName, tab: u32) {
        for browser in self.browsers.links.browsers_of(peer) {
            let target = target_of(tab);
            let tab = TabLocation::Browser { browser, target };
            self.core.input(Input::TabActivated { tab });
        }
    }

    fn agent_named(&self, session: &str) -> Result<SessionId, String> {
        let known = self.sessions.named(session);
        known.ok_or_else(|| "This agent is gone.".to_owned())
    }
}
