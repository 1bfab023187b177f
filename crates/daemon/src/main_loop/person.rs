//! The person at a browser: what they want done, and what they are shown.

mod opened;
mod showing;
mod sites;
mod wish;

pub(crate) use wish::Wish;

use super::policy::WantedBy;
use super::{Event, MainLoop};
use crate::agent_labels::AgentLabels;
use crate::extension::{Peer, PeerName};
use crate::options::{BrowserPlan, Extension};
use crate::policy::PolicyChange;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::AddressPolicy;
use tabmux_core::{BrowserId, Input, SessionId, TabLocation, TargetId};
use tabmux_protocol::extension::ToExtension;
use tokio::time::Instant;

/// What happens on a person's side.
#[derive(Debug)]
pub(crate) enum PersonEvent {
    /// Their extension is there.
    Arrived { peer: Arc<Peer> },
    /// They want something.
    Wants { peer: PeerName, wish: Wish },
    /// Their extension is gone.
    Left { peer: PeerName },
    /// It has been gone for so long that it no longer speaks for anybody.
    Lapsed { peer: PeerName, left: Instant },
}

/// What the loop knows of persons.
#[derive(Debug, Default)]
pub(super) struct Persons {
    peers: HashMap<PeerName, Shown>,
    /// The browsers that are reached through an extension.
    ways: HashMap<BrowserId, PeerName>,
    /// Those whose extension came back before it was noticed that it had been away.
    overtaken: HashSet<BrowserId>,
    /// Through which extension browsers were reached last, also those that are away.
    last_ways: HashMap<BrowserId, PeerName>,
    /// Who paused all agents, and since when they are away, if they are.
    paused_by: HashMap<PeerName, Option<Instant>>,
    /// Who paused them before the person let them go on.
    resumed: HashSet<PeerName>,
    pub(super) plates: AgentLabels,
    /// The tabs that are only being opened.
    opening: opened::Opening,
    /// When they are shown what is new, if something may be.
    show_at: Option<Instant>,
}

#[derive(Debug)]
struct Shown {
    peer: Arc<Peer>,
    last: Option<ToExtension>,
    /// Whether it shows questions to its person.
    asks: bool,
}

impl Persons {
    /// Something happened: persons are shown what came of it, soon and together with what follows.
    pub(super) fn note(&mut self) {
        let soon = Instant::now() + GATHERING;
        if !self.peers.is_empty() && self.show_at.is_none_or(|at| soon < at) {
            self.show_at = Some(soon);
        }
    }

    /// Resolves when it is time to show something.
    pub(super) fn alarm(&self) -> impl Future<Output = ()> + use<> {
        let at = self.show_at;
        async move {
            match at {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        }
    }

    /// Whether somebody can be asked in their browser.
    pub(super) fn can_be_asked(&self) -> bool {
        self.peers.values().any(|shown| shown.asks)
    }

    pub(super) fn is_reached(&self, browser: BrowserId) -> bool {
        self.ways.contains_key(&browser)
    }

    /// Whether the extension of a browser that is gone now came back before.
    pub(super) fn take_overtaken(&mut self, browser: BrowserId) -> bool {
        self.overtaken.remove(&browser)
    }

    pub(super) fn way_to(&self, browser: BrowserId) -> Option<&PeerName> {
        self.ways.get(&browser)
    }

    /// The same, also for a browser that is away.
    pub(super) fn last_way_to(&self, browser: BrowserId) -> Option<&PeerName> {
        self.last_ways.get(&browser)
    }

    /// Forgets browsers that there are no more.
    pub(super) fn keep_only(&mut self, known: &HashSet<BrowserId>) {
        self.last_ways.retain(|browser, _| known.contains(browser));
    }

    pub(super) fn reached(&mut self, browser: BrowserId, way: Option<PeerName>) {
        match way {
            Some(peer) => {
                self.last_ways.insert(browser, peer.clone());
                self.ways.insert(browser, peer)
            }
            None => self.ways.remove(&browser),
        };
    }
}

impl MainLoop {
    pub(super) fn person_event(&mut self, event: PersonEvent) {
        match event {
            PersonEvent::Arrived { peer } => {
                peer.set_private(self.lasting.private_windows());
                let before = self.browsers_of(&peer.instance);
                self.persons.overtaken.extend(before);
                let (name, last, asks) = (peer.instance.clone(), None, false);
                if let Some(away) = self.persons.paused_by.get_mut(&name) {
                    *away = None;
                }
                self.persons.peers.insert(name, Shown { peer, last, asks });
                self.reach_again();
            }
            PersonEvent::Wants { peer, wish } => self.person_wants(&peer, wish),
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
                // One that came back meanwhile and left once more has its whole time again.
                if self.persons.paused_by.get(&peer) == Some(&Some(left)) {
                    self.persons.paused_by.remove(&peer);
                    if self.persons.paused_by.is_empty() {
                        self.input(Input::Resumed);
                    }
                }
            }
        }
    }

    /// The number of an agent among those of the same name.
    pub(super) fn number_of(&self, session: SessionId) -> usize {
        let plate = self.persons.plates.of(session);
        plate.map_or(1, |plate| plate.number)
    }

    /// Sessions that had tabs in a person's browser get them back as soon as it is there.
    pub(super) fn reach_again(&mut self) {
        let away = self
            .core
            .browsers()
            .filter(|browser| browser.about.is_none());
        let reachable = away.filter(|browser| {
            let plan = self.plans.get(browser.key);
            plan.is_some_and(|plan| self.way_of(plan).is_some())
        });
        let reachable: Vec<_> = reachable.map(|browser| browser.id).collect();
        for browser in reachable {
            self.input(Input::Reachable { browser });
        }
    }

    /// The extension through which a browser would be reached now.
    fn way_of(&self, plan: &BrowserPlan) -> Option<PeerName> {
        match &plan.extension {
            Extension::Only { name } => self.extensions.meant_by(name.as_deref()),
            Extension::IfThere => self.extensions.meant_by(None),
            Extension::Never => None,
        }
    }

    fn person_wants(&mut self, peer: &PeerName, wish: Wish) {
        match wish {
            // Another browser let agents go on while this one was away.
            Wish::Pause { again: true } if self.persons.resumed.contains(peer) => {}
            Wish::Pause { .. } => {
                self.persons.resumed.remove(peer);
                self.persons.paused_by.insert(peer.clone(), None);
                self.input(Input::Paused);
                self.questions_paused();
            }
            Wish::Resume => {
                let paused_by = std::mem::take(&mut self.persons.paused_by);
                self.persons.resumed.extend(paused_by.into_keys());
                self.input(Input::Resumed);
            }
            Wish::TakeBack { tab } => self.take_back(peer, tab),
            Wish::See { tab } if self.is_followed() => self.turn_to(peer, tab),
            Wish::See { .. } => {}
            Wish::Give { tab, session } => {
                let given = self.give(peer, tab, &session);
                self.or_deny(peer, given);
            }
            Wish::Follow {
                session,
                follows,
                front,
            } => {
                let changed = self.follow(peer, &session, follows, front);
                self.or_deny(peer, changed);
            }
            Wish::CanAsk => {
                if let Some(shown) = self.persons.peers.get_mut(peer) {
                    shown.asks = true;
                }
            }
            Wish::Answer { question, allowed } => {
                let was_open = self.question_answered(&question, allowed);
                let too_late = "This question is no longer open, so your answer changed nothing.";
                self.or_deny(peer, was_open.then_some(()).ok_or_else(|| too_late.into()));
            }
            Wish::Rule { origin, rule } => self.rule(peer, &origin, rule),
            Wish::Judge { origin } => self.tell_site(peer, origin),
            Wish::Tidy { tabs } => self.tidy(peer, &tabs),
            Wish::PrivateWindows { allowed } => {
                let change = PolicyChange::PrivateWindows(allowed);
                self.change_policy(change, WantedBy::Person(peer.clone()));
            }
        }
    }

    /// Ends every hold on a tab, and lets go of it at once.
    fn take_back(&mut self, peer: &PeerName, tab: u32) {
        for browser in self.browsers_of(peer) {
            let target = target_of(tab);
            self.input(Input::TakenBack { browser, target });
            if let Some(handle) = self.browsers.get(&browser).cloned() {
                let target = tabmux_browser::TargetId::from(&*target_of(tab).0);
                tokio::spawn(async move { handle.detach(&target).await });
            }
        }
    }

    fn give(&mut self, peer: &PeerName, tab: u32, session: &str) -> Result<(), String> {
        let session = self.agent_named(session)?;
        let plate = self.persons.plates.of(session);
        let name = plate.map(|plate| plate.name()).unwrap_or_default();
        let browser = self.browser_for(session, peer).ok_or_else(|| {
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
        // Whoever holds it through another connection to the same browser loses it, too.
        for other in self.browsers_of(peer) {
            if other != browser {
                let target = target.clone();
                self.input(Input::TakenBack {
                    browser: other,
                    target,
                });
            }
        }
        self.input(Input::Given {
            session,
            browser,
            target,
        });
        Ok(())
    }

    /// Lets an agent follow the person, who has the tab `front` before them, or no longer does.
    fn follow(
        &mut self,
        peer: &PeerName,
        session: &str,
        follows: bool,
        front: Option<u32>,
    ) -> Result<(), String> {
        let session = self.agent_named(session)?;
        if let Some(known) = self.sessions.get_mut(&session) {
            known.options.follow_user_focus = follows;
            known.follows = Some(follows);
        }
        self.note_followers();
        if let Some(tab) = front.filter(|_| follows) {
            self.turn_to(peer, tab);
        }
        self.input(Input::FollowChanged { session, follows });
        Ok(())
    }

    /// The person has this tab in front.
    fn turn_to(&mut self, peer: &PeerName, tab: u32) {
        for browser in self.browsers_of(peer) {
            let target = target_of(tab);
            let tab = TabLocation::Browser { browser, target };
            self.input(Input::TabActivated { tab });
        }
    }

    fn agent_named(&self, session: &str) -> Result<SessionId, String> {
        let mut sessions = self.sessions.iter();
        let known = sessions.find(|(_, known)| known.client.session == session);
        let known = known.map(|(session, _)| *session);
        known.ok_or_else(|| "This agent is gone.".to_owned())
    }

    /// Tells a person why what they wanted was not done.
    pub(super) fn or_deny(&self, peer: &PeerName, done: Result<(), String>) {
        if let (Err(reason), Some(shown)) = (done, self.persons.peers.get(peer)) {
            shown.peer.tell(ToExtension::Denied { reason });
        }
    }

    fn browsers_of(&self, peer: &PeerName) -> Vec<BrowserId> {
        let ways = self.persons.ways.iter();
        let here = ways.filter(|(_, way)| *way == peer);
        here.map(|(browser, _)| *browser).collect()
    }

    /// Where a session can be given tabs of a person's browser: it is connected there, or it will be with
    /// its first call.
    fn browser_for(&self, session: SessionId, peer: &PeerName) -> Option<BrowserId> {
        let mut browsers = self.core.browsers();
        let open = |id| self.core.can_be_given(session, id);
        let will_reach = |plan: &BrowserPlan| self.way_of(plan).as_ref() == Some(peer);
        let found = browsers.find(|browser| {
            open(browser.id)
                && match self.persons.ways.get(&browser.id) {
                    Some(way) => way == peer,
                    None => {
                        let plan = self.plans.get(browser.key);
                        browser.about.is_none() && plan.is_some_and(will_reach)
                    }
                }
        });
        found.map(|browser| browser.id)
    }
}

/// The extension's tabs are targets by the name of their number.
fn target_of(tab: u32) -> TargetId {
    TargetId(tab.to_string().into())
}

/// What follows within this time is shown together.
const GATHERING: Duration = Duration::from_millis(100);

/// How often it is looked for what changed without a word.
const LOOKING_AGAIN: Duration = Duration::from_secs(1);

/// A pause holds while the extension's worker restarts, and not for ever when its browser is closed.
const PAUSE_OUTLIVES: Duration = Duration::from_secs(60);
