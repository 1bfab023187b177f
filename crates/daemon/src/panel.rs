//! What people see of the agents, and what they decide: their side panels, pauses and rules, and the agents' labels.

mod agent_labels;
mod opened_tabs;
mod pauses;
mod request;
mod rules;

pub(crate) use request::PersonRequest;

use crate::extension::{Peer, PeerName};
use crate::main_loop::{Event, PersonEvent};
use crate::policy::{PersonRules, PolicyChange, PolicyFile};
use crate::state::{self, State};
pub(crate) use agent_labels::AgentLabels;
pub(crate) use opened_tabs::target_of;
use pauses::Pauses;
use rules::Rules;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::OriginPattern;
use tabmux_browser::origins::BadPattern;
use tabmux_core::BrowserId;
use tabmux_protocol::extension::{SiteInfo, SiteRule, ToExtension};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

/// The side panels of all people, and their decisions.
#[derive(Debug)]
pub(crate) struct Panel {
    peers: HashMap<PeerName, Shown>,
    pub(crate) labels: AgentLabels,
    pub(crate) pauses: Pauses,
    pub(crate) rules: Rules,
    /// The tabs that extensions are opening for agents.
    opening: HashSet<(BrowserId, u32)>,
    events: mpsc::Sender<Event>,
}

/// One connected extension.
#[derive(Debug)]
struct Shown {
    peer: Arc<Peer>,
    /// Whether it can show questions to its person.
    asks: bool,
    /// Keeps its side panel up to date.
    _showing: AbortOnDropHandle<()>,
}

impl Panel {
    pub(crate) fn new(policy_file: PolicyFile, events: mpsc::Sender<Event>) -> Self {
        Self {
            peers: HashMap::new(),
            labels: AgentLabels::default(),
            pauses: Pauses::default(),
            rules: Rules::new(policy_file, events.clone()),
            opening: HashSet::new(),
            events,
        }
    }

    /// An extension connected. Its side panel shows the state from now on.
    pub(crate) fn add(&mut self, peer: Arc<Peer>, state: watch::Receiver<Arc<State>>) {
        peer.set_private(self.rules.file.private_windows());
        let showing = tokio::spawn(state::show(Arc::clone(&peer), state));
        let name = peer.instance.clone();
        self.pauses.returned(&name);
        let shown = Shown {
            peer,
            asks: false,
            _showing: AbortOnDropHandle::new(showing),
        };
        self.peers.insert(name, shown);
    }

    /// An extension disconnected. Its pause ends after a while.
    pub(crate) fn remove(&mut self, peer: PeerName) {
        self.peers.remove(&peer);
        let left = Instant::now();
        if self.pauses.left(&peer, left) {
            let events = self.events.clone();
            tokio::spawn(async move {
                tokio::time::sleep_until(left + PAUSE_OUTLIVES).await;
                let lapsed = Event::Person(PersonEvent::Lapsed { peer, left });
                let _ = events.send(lapsed).await;
            });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.peers.is_empty()
    }

    pub(crate) fn peers(&self) -> Vec<Arc<Peer>> {
        let peers = self.peers.values();
        peers.map(|shown| Arc::clone(&shown.peer)).collect()
    }

    pub(crate) fn peer(&self, name: &PeerName) -> Option<&Arc<Peer>> {
        self.peers.get(name).map(|shown| &shown.peer)
    }

    /// Questions can be shown in this side panel.
    pub(crate) fn can_ask(&mut self, peer: &PeerName) {
        if let Some(shown) = self.peers.get_mut(peer) {
            shown.asks = true;
        }
    }

    /// Whether a person can be asked in their browser.
    pub(crate) fn can_be_asked(&self) -> bool {
        self.peers.values().any(|shown| shown.asks)
    }

    /// Tells a person why their request failed, if it did.
    pub(crate) fn deny(&self, peer: &PeerName, done: Result<(), String>) {
        if let (Err(reason), Some(peer)) = (done, self.peer(peer)) {
            peer.tell(ToExtension::Denied { reason });
        }
    }

    /// Extensions are opening these tabs now. Returns those that are no longer being opened.
    pub(crate) fn now_opening(&mut self, tabs: HashSet<(BrowserId, u32)>) -> Vec<(BrowserId, u32)> {
        let before = std::mem::replace(&mut self.opening, tabs);
        before.difference(&self.opening).copied().collect()
    }
}

/// The person's rules about sites. They are the same as those of `tabmux policy`.
impl Panel {
    /// Changes the rule about a site.
    pub(crate) fn rule(&mut self, peer: &PeerName, origin: &str, rule: SiteRule) {
        let pattern: Result<OriginPattern, BadPattern> = origin.parse();
        match pattern {
            Err(error) => self.deny(peer, Err(error.to_string())),
            Ok(pattern) => {
                let change = match rule {
                    SiteRule::Allow => PolicyChange::Allow(pattern),
                    SiteRule::Block => PolicyChange::Block(pattern),
                    SiteRule::None => PolicyChange::Remove(pattern),
                };
                self.change_rules(peer, change);
            }
        }
    }

    pub(crate) fn change_rules(&mut self, peer: &PeerName, change: PolicyChange) {
        let queued = self.rules.change(change, peer.clone());
        self.deny(peer, queued);
    }

    /// A change was written, or failed. The next one begins.
    pub(crate) fn rules_written(&mut self, rules: Result<PersonRules, String>) {
        if let Some(peer) = self.rules.written() {
            self.deny(&peer, rules.map(drop));
        }
    }

    /// Reports what the rules say about a site. An invalid site gets no answer.
    pub(crate) fn tell_site(&self, peer: &PeerName, origin: String) {
        let verdict = self.rules.file.judge(&origin);
        if let (Some(verdict), Some(peer)) = (verdict, self.peer(peer)) {
            peer.tell(ToExtension::Site(SiteInfo {
                origin,
                allowed: verdict.permitted,
                alone: verdict.rule.as_ref() == Some(&verdict.own),
                rule: verdict.rule.map(|rule| rule.to_string()),
            }));
        }
    }
}

/// A pause survives a restart of the extension's worker, but ends some time after its browser is closed.
const PAUSE_OUTLIVES: Duration = Duration::from_secs(60);
