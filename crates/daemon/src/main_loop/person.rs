//! The person at a browser: their requests, and what their side panel shows.

mod opened;
mod request;
mod showing;
mod sites;

pub(crate) use request::PersonRequest;

use super::{Event, MainLoop};
use crate::agent_labels::AgentLabels;
use crate::extension::{Peer, PeerName};
use crate::policy::PolicyChange;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::AddressPolicy;
use tabmux_core::{Input, SessionId, TabLocation, TargetId};
use tabmux_protocol::extension::ToExtension;
use tokio::time::Instant;

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

/// What the main loop knows about people.
#[derive(Debug, Default)]
pub(super) struct Persons {
    peers: HashMap<PeerName, Shown>,
    /// The extensions that paused all agents, and since when they are disconnected, if they are.
    paused_by: HashMap<PeerName, Option<Instant>>,
    /// The extensions that had paused agents before a person resumed them.
    resumed: HashSet<PeerName>,
    pub(super) labels: AgentLabels,
    /// The tabs that are being opened.
    opening: opened::Opening,
    /// When the side panels are updated next, if something may have changed.
    show_at: Option<Instant>,
}

#[derive(Debug)]
struct Shown {
    peer: Arc<Peer>,
    last: Option<ToExtension>,
    /// Whether it can show questions to its person.
    asks: bool,
}

impl Persons {
    /// Schedules an update of the side panels, soon and together with further changes.
    pub(super) fn note(&mut self) {
        let soon = Instant::now() + GATHERING;
        if !self.peers.is_empty() && self.show_at.is_none_or(|at| soon < at) {
            self.show_at = Some(soon);
        }
    }

    /// Resolves when it is time to update the side panels.
    pub(super) fn alarm(&self) -> impl Future<Output = ()> + use<> {
        let at = self.show_at;
        async move {
            match at {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        }
    }

    /// Whether a person can be asked in their browser.
    pub(super) fn can_be_asked(&self) -> bool {
        self.peers.values().any(|shown| shown.asks)
    }
}

impl MainLoop {
    pub(super) fn person_event(&mut self, event: PersonEvent) {
        match event {
            PersonEvent::Arrived { peer } => {
                peer.set_private(self.policy_file.private_windows());
                self.browsers.links.reconnected(&peer.instance);
                let (name, last, asks) = (peer.instance.clone(), None, false);
                if let Some(away) = self.persons.paused_by.get_mut(&name) {
                    *away = None;
                }
                self.persons.peers.insert(name, Shown { peer, last, asks });
                self.browsers.reach_again(&mut self.core);
            }
            PersonEvent::Requested { peer, request } => self.person_requests(&peer, request),
            PersonEvent::Left { peer } => {
                self.persons.peers.remove(&peer);
                if let Some(away) = self.persons.paused_by.get_mut(&peer) {
                    let (events, left) = (self.events.clone(), Instant::now());
                    *away = Some(left);
                    tokio::spawn(async move {
                        tokio::time::sleep_until(left + PAUSE_OUTLIVES).await;
                        let lapsed = Event::Person(PersonEvent::Lapsed { peer, left });
                        let _ = events.send(lapsed).await;
                    });
                }
            }
            PersonEvent::Lapsed { peer, left } => {
                // If it reconnected and disconnected again meanwhile, the time starts again.
                if self.persons.paused_by.get(&peer) == Some(&Some(left)) {
                    self.persons.paused_by.remove(&peer);
                    if self.persons.paused_by.is_empty() {
                        self.core.input(Input::Resumed);
                    }
                }
            }
        }
    }

    /// The number of an agent among those of the same name.
    pub(super) fn number_of(&self, session: SessionId) -> usize {
        let label = self.persons.labels.of(session);
        label.map_or(1, |label| label.number)
    }

    fn person_requests(&mut self, peer: &PeerName, request: PersonRequest) {
        match request {
            // Another browser resumed the agents while this one was disconnected.
            PersonRequest::Pause { again: true } if self.persons.resumed.contains(peer) => {}
            PersonRequest::Pause { .. } => {
                self.persons.resumed.remove(peer);
                self.persons.paused_by.insert(peer.clone(), None);
                self.core.input(Input::Paused);
                self.questions_paused();
            }
            PersonRequest::Resume => {
                let paused_by = std::mem::take(&mut self.persons.paused_by);
                self.persons.resumed.extend(paused_by.into_keys());
                self.core.input(Input::Resumed);
            }
            PersonRequest::TakeBack { tab } => self.take_back(peer, tab),
            PersonRequest::See { tab } if self.sessions.is_followed() => self.turn_to(peer, tab),
            PersonRequest::See { .. } => {}
            PersonRequest::Give { tab, session } => {
                let given = self.give(peer, tab, &session);
                self.or_deny(peer, given);
            }
            PersonRequest::Follow {
                session,
                follows,
                front,
            } => {
                let changed = self.follow(peer, &session, follows, front);
                self.or_deny(peer, changed);
            }
            PersonRequest::CanAsk => {
                if let Some(shown) = self.persons.peers.get_mut(peer) {
                    shown.asks = true;
                }
            }
            PersonRequest::Answer { question, allowed } => {
                let was_open = self.question_answered(&question, allowed);
                let too_late = "This question is no longer open, so your answer changed nothing.";
                self.or_deny(peer, was_open.then_some(()).ok_or_else(|| too_late.into()));
            }
            PersonRequest::Rule { origin, rule } => self.rule(peer, &origin, rule),
            PersonRequest::Judge { origin } => self.tell_site(peer, origin),
            PersonRequest::Tidy { tabs } => self.tidy(peer, &tabs),
            PersonRequest::PrivateWindows { allowed } => {
                let change = PolicyChange::PrivateWindows(allowed);
                self.change_policy(change, peer.clone());
            }
        }
    }

    /// Releases a tab from all sessions, and detaches it at once.
    fn take_back(&mut self, peer: &PeerName, tab: u32) {
        for browser in self.browsers.links.browsers_of(peer) {
            let target = target_of(tab);
            self.browsers.detach(browser, &target);
            self.core.input(Input::TakenBack { browser, target });
        }
    }

    fn give(&mut self, peer: &PeerName, tab: u32, session: &str) -> Result<(), String> {
        let session = self.agent_named(session)?;
        let label = self.persons.labels.of(session);
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
            known.options.follow_user_focus = follows;
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

    /// Tells a person why their request failed.
    pub(super) fn or_deny(&self, peer: &PeerName, done: Result<(), String>) {
        if let (Err(reason), Some(shown)) = (done, self.persons.peers.get(peer)) {
            shown.peer.tell(ToExtension::Denied { reason });
        }
    }
}

/// The target id of an extension's tab is its number.
fn target_of(tab: u32) -> TargetId {
    TargetId(tab.to_string().into())
}

/// Changes within this time are shown together.
const GATHERING: Duration = Duration::from_millis(100);

/// How often to check for changes that cause no event.
const LOOKING_AGAIN: Duration = Duration::from_secs(1);

/// A pause survives a restart of the extension's worker, but ends some time after its browser is closed.
const PAUSE_OUTLIVES: Duration = Duration::from_secs(60);
