//! The person at a browser: what they want done, and what they are shown.

use super::{Event, MainLoop};
use crate::extension::{Peer, PeerName};
use crate::nameplates::Nameplates;
use crate::options::{BrowserPlan, Extension};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::AddressPolicy;
use tabmux_core::{BrowserId, Input, Place, SessionId, TargetId};
use tabmux_protocol::extension::{AgentInfo, AgentTab, Doing, FromExtension, ToExtension};
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
    Lapsed { peer: PeerName },
}

/// What a person wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Pause,
    Resume,
    TakeBack {
        tab: u32,
    },
    Give {
        tab: u32,
        session: String,
    },
    /// To see this tab. Whoever follows the user comes along.
    See {
        tab: u32,
    },
}

impl Wish {
    /// What is wished by a message, if anything is.
    pub(crate) fn in_message(message: &FromExtension) -> Option<Self> {
        match message {
            FromExtension::Pause => Some(Self::Pause),
            FromExtension::Resume => Some(Self::Resume),
            FromExtension::TakeBack { tab_id } => Some(Self::TakeBack { tab: *tab_id }),
            FromExtension::Give { tab_id, session } => Some(Self::Give {
                tab: *tab_id,
                session: session.clone(),
            }),
            FromExtension::TabFocused { tab_id, .. } => Some(Self::See { tab: *tab_id }),
            FromExtension::Detached { tab_id, reason } if reason == CANCELLED => {
                Some(Self::TakeBack { tab: *tab_id })
            }
            _ => None,
        }
    }
}

/// Chrome's word for "Cancel" in the bar that says that a tab is being debugged.
const CANCELLED: &str = "canceled_by_user";

/// What the loop knows of persons.
#[derive(Debug, Default)]
pub(super) struct Persons {
    peers: HashMap<PeerName, Shown>,
    /// The browsers that are reached through an extension.
    ways: HashMap<BrowserId, PeerName>,
    paused_by: HashSet<PeerName>,
    pub(super) plates: Nameplates,
    /// When they are shown what is new, if something may be.
    show_at: Option<Instant>,
}

#[derive(Debug)]
struct Shown {
    peer: Arc<Peer>,
    last: Option<ToExtension>,
}

impl Persons {
    /// Something happened: persons are shown what came of it, soon and together with what follows.
    pub(super) fn note(&mut self) {
        if !self.peers.is_empty() && self.show_at.is_none() {
            self.show_at = Some(Instant::now() + GATHERING);
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

    pub(super) fn is_reached(&self, browser: BrowserId) -> bool {
        self.ways.contains_key(&browser)
    }

    pub(super) fn reached(&mut self, browser: BrowserId, way: Option<PeerName>) {
        match way {
            Some(peer) => self.ways.insert(browser, peer),
            None => self.ways.remove(&browser),
        };
    }
}

impl MainLoop {
    pub(super) fn person_event(&mut self, event: PersonEvent) {
        match event {
            PersonEvent::Arrived { peer } => {
                let (name, last) = (peer.instance.clone(), None);
                self.persons.peers.insert(name, Shown { peer, last });
                self.reach_again();
            }
            PersonEvent::Wants { peer, wish } => self.person_wants(&peer, wish),
            PersonEvent::Left { peer } => {
                self.persons.peers.remove(&peer);
                if self.persons.paused_by.contains(&peer) {
                    let (events, end) = (self.events.clone(), Instant::now() + PAUSE_OUTLIVES);
                    tokio::spawn(async move {
                        tokio::time::sleep_until(end).await;
                        let lapsed = Event::Person(PersonEvent::Lapsed { peer });
                        let _ = events.send(lapsed).await;
                    });
                }
            }
            PersonEvent::Lapsed { peer } => {
                if !self.persons.peers.contains_key(&peer)
                    && self.persons.paused_by.remove(&peer)
                    && self.persons.paused_by.is_empty()
                {
                    self.input(Input::Resumed);
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
            Wish::Pause => {
                self.persons.paused_by.insert(peer.clone());
                self.input(Input::Paused);
            }
            Wish::Resume => {
                self.persons.paused_by.clear();
                self.input(Input::Resumed);
            }
            Wish::TakeBack { tab } => self.take_back(peer, tab),
            Wish::See { tab } if self.is_followed() => {
                for browser in self.browsers_of(peer) {
                    let target = target_of(tab);
                    let tab = Place::Browser { browser, target };
                    self.input(Input::TabActivated { tab });
                }
            }
            Wish::See { .. } => {}
            Wish::Give { tab, session } => {
                if let Err(reason) = self.give(peer, tab, &session) {
                    self.deny(peer, reason);
                }
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
                tokio::spawn(async move { handle.let_go(&target).await });
            }
        }
    }

    fn give(&mut self, peer: &PeerName, tab: u32, session: &str) -> Result<(), String> {
        let mut sessions = self.sessions.iter();
        let known = sessions.find(|(_, known)| known.client.session == session);
        let (&session, _) = known.ok_or_else(|| "This agent is gone.".to_owned())?;
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

    fn deny(&self, peer: &PeerName, reason: String) {
        if let Some(shown) = self.persons.peers.get(peer) {
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

    /// Shows every person what is new for them.
    pub(super) fn show_persons(&mut self) {
        self.persons.show_at = None;
        let peers: Vec<_> = self.persons.peers.keys().cloned().collect();
        for name in peers {
            let overview = self.overview_for(&name);
            let mut missed = false;
            if let Some(shown) = self.persons.peers.get_mut(&name)
                && shown.last.as_ref() != Some(&overview)
            {
                match shown.peer.tell(overview.clone()) {
                    true => shown.last = Some(overview),
                    false => missed = true,
                }
            }
            if missed {
                self.persons.note();
            }
        }
    }

    fn overview_for(&self, peer: &PeerName) -> ToExtension {
        let mut sessions: Vec<_> = self.sessions.iter().collect();
        sessions.sort_by_key(|(id, _)| **id);
        let more_agents = sessions.len().saturating_sub(MOST_AGENTS);
        let agents = sessions.into_iter().take(MOST_AGENTS);
        let agents = agents.filter_map(|(&id, session)| {
            let plate = self.persons.plates.of(id)?;
            let (tabs, more_tabs) = self.tabs_for(id, peer);
            let (doing, more_doing) = self.doings_of(id, peer);
            Some(AgentInfo {
                session: session.client.session.clone(),
                name: plate.name(),
                colour: plate.colour,
                here: self.browser_for(id, peer).is_some(),
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
        }
    }

    fn tabs_for(&self, session: SessionId, peer: &PeerName) -> (Vec<AgentTab>, usize) {
        let held = self.core.held_tabs();
        let held = held.filter(|tab| self.persons.ways.get(&tab.browser) == Some(peer));
        let mut tabs = held.filter_map(|tab| {
            let (own, bound) = (tab.owner == Some(session), tab.bound.contains(&session));
            let tab_id = tab.target.0.parse().ok()?;
            (own || bound).then_some(AgentTab {
                tab_id,
                own,
                bound,
                opening: tab.opening.then_some(true),
            })
        });
        let shown = tabs.by_ref().take(MOST_TABS).collect();
        (shown, tabs.count())
    }

    fn doings_of(&self, session: SessionId, peer: &PeerName) -> (Vec<Doing>, usize) {
        let calls = self.calls.iter();
        let mut calls: Vec<_> = calls.filter(|(_, call)| call.session == session).collect();
        calls.sort_by_key(|(id, _)| **id);
        let more = calls.len().saturating_sub(MOST_DOINGS);
        let doings = calls.into_iter().take(MOST_DOINGS).map(|(_, call)| {
            let here = call.place.as_ref().filter(|(browser, _)| {
                let way = self.persons.ways.get(browser);
                way == Some(peer)
            });
            Doing {
                tool: tabmux_browser::text::one_line(&call.tool, LONGEST_TOOL),
                tab_id: here.and_then(|(_, target)| target.0.parse().ok()),
                since: call.since,
            }
        });
        (doings.collect(), more)
    }
}

/// The extension's tabs are targets by the name of their number.
fn target_of(tab: u32) -> TargetId {
    TargetId(tab.to_string().into())
}

/// What follows within this time is shown together.
const GATHERING: Duration = Duration::from_millis(100);

/// A pause holds while the extension's worker restarts, and not for ever when its browser is closed.
const PAUSE_OUTLIVES: Duration = Duration::from_secs(60);

const MOST_AGENTS: usize = 50;
const MOST_TABS: usize = 30;
const MOST_DOINGS: usize = 5;
const LONGEST_TOOL: usize = 64;
