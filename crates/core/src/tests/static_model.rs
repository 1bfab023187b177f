//! Static mode, written a second time as a model for the tests: bindings, visible tabs, remaining tabs.

use crate::{OnEnd, TabPolicy};
use std::collections::{BTreeMap, BTreeSet};

/// What an agent, the user or the browser does.
#[derive(Clone, Debug)]
pub(super) enum Move {
    /// A page action. If it opens a tab, that shows `url` afterwards.
    Click {
        who: u64,
        tab: Option<Pick>,
        url: String,
    },
    /// A list of pages. If it opens a tab, that shows `url` afterwards.
    List {
        who: u64,
        url: String,
    },
    New {
        who: u64,
        url: String,
    },
    Select {
        who: u64,
        tab: Pick,
    },
    Close {
        who: u64,
        tab: Pick,
    },
    /// One session ends and another begins.
    Replace {
        who: u64,
        by: u64,
        habits: Habits,
    },
    UserOpens {
        url: String,
    },
    Popup {
        opener: String,
        url: String,
    },
    UserCloses {
        url: String,
    },
    Crash {
        url: String,
    },
    BrowserQuits,
}

/// Which tab the agent names: the one at this address, or one that does not exist.
pub(super) type Pick = Option<String>;

/// The settings of a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    pub(super) on_end: OnEnd,
    pub(super) policy: TabPolicy,
}

#[derive(Clone, Debug)]
struct Page {
    owner: Option<u64>,
    bound: BTreeSet<u64>,
}

/// The expected state. Pages are identified by their addresses, which are unique.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) connected: bool,
    habits: BTreeMap<u64, Habits>,
    /// Sessions that lost their tab, until they know it.
    lost: BTreeSet<u64>,
    pages: BTreeMap<String, Page>,
}

impl Model {
    pub(super) fn open(&mut self, who: u64, habits: Habits) {
        self.habits.insert(who, habits);
    }

    pub(super) fn sessions(&self) -> Vec<u64> {
        self.habits.keys().copied().collect()
    }

    pub(super) fn pages(&self) -> Vec<String> {
        self.pages.keys().cloned().collect()
    }

    pub(super) fn bound(&self, who: u64) -> Option<&String> {
        let (url, _) = self
            .pages
            .iter()
            .find(|(_, page)| page.bound.contains(&who))?;
        Some(url)
    }

    /// What a session's `list_pages` shows, by address.
    pub(super) fn seen(&self, who: u64) -> Vec<String> {
        let shared = |holder: &u64| self.habits[holder].policy == TabPolicy::Shared;
        let seen = |page: &Page| {
            let holders = page.holders();
            holders.contains(&who) || holders.iter().all(shared)
        };
        let seen = self.pages.iter().filter(|(_, page)| seen(page));
        seen.map(|(url, _)| url.clone()).collect()
    }

    /// Whether a list would be empty, so that a page is opened for the session. A session that has lost its tab
    /// gets the error first.
    pub(super) fn needs_page(&self, who: u64) -> bool {
        self.seen(who).is_empty() && !self.lost.contains(&who)
    }

    /// Whether a call succeeds. `None` if the move is not a call.
    pub(super) fn apply(&mut self, step: &Move) -> Option<bool> {
        match step {
            Move::Click {
                who,
                tab: None,
                url,
            } => {
                let told = self.lost.remove(who);
                if !told {
                    self.connected = true;
                    if self.bound(*who).is_none() {
                        self.create(url, Some(*who));
                        self.bind(*who, url);
                    }
                }
                Some(!told)
            }
            Move::Click {
                who,
                tab: Some(tab),
                ..
            }
            | Move::Select { who, tab } => {
                self.connected = true;
                let named = self.usable(*who, tab);
                if let Some(url) = &named {
                    self.bind(*who, url);
                }
                Some(named.is_some())
            }
            Move::List { who, url } => {
                self.connected = true;
                if self.needs_page(*who) {
                    self.create(url, Some(*who));
                    self.bind(*who, url);
                }
                Some(true)
            }
            Move::New { who, url } => {
                self.connected = true;
                self.create(url, Some(*who));
                self.bind(*who, url);
                Some(true)
            }
            Move::Close { who, tab } => {
                self.connected = true;
                let named = self
                    .usable(*who, tab)
                    .filter(|named| self.seen(*who).iter().any(|other| other != named));
                if let Some(url) = &named {
                    self.lose(url, Some(*who));
                }
                Some(named.is_some())
            }
            Move::Replace { who, by, habits } => {
                self.end(*who);
                self.open(*by, *habits);
                None
            }
            Move::UserOpens { url } => {
                self.create(url, None);
                None
            }
            Move::Popup { opener, url } => {
                let owner = self.pages[opener].holders().first().copied();
                self.create(url, owner);
                None
            }
            Move::UserCloses { url } | Move::Crash { url } => {
                self.lose(url, None);
                None
            }
            Move::BrowserQuits => {
                for url in self.pages() {
                    self.lose(&url, None);
                }
                self.connected = false;
                None
            }
        }
    }

    /// The page that an agent names, if it exists and no other session holds it exclusively.
    fn usable(&self, who: u64, tab: &Pick) -> Option<String> {
        let url = tab.clone()?;
        let holders = self.pages.get(&url)?.holders();
        let exclusive = |holder: &u64| self.habits[holder].policy == TabPolicy::Exclusive;
        let refused = !holders.contains(&who) && holders.iter().any(exclusive);
        (!refused).then_some(url)
    }

    fn create(&mut self, url: &str, owner: Option<u64>) {
        let bound = BTreeSet::new();
        self.pages.insert(url.to_owned(), Page { owner, bound });
    }

    fn bind(&mut self, who: u64, url: &str) {
        self.lost.remove(&who);
        for page in self.pages.values_mut() {
            page.bound.remove(&who);
        }
        if let Some(page) = self.pages.get_mut(url) {
            page.bound.insert(who);
        }
    }

    fn lose(&mut self, url: &str, closer: Option<u64>) {
        let Some(page) = self.pages.remove(url) else {
            return;
        };
        let surprised = page.bound.iter().filter(|who| Some(**who) != closer);
        self.lost.extend(surprised);
    }

    fn end(&mut self, who: u64) {
        let habits = self.habits.remove(&who);
        self.lost.remove(&who);
        for page in self.pages.values_mut() {
            page.bound.remove(&who);
        }
        let closes = habits.is_some_and(|habits| habits.on_end == OnEnd::Close);
        self.pages
            .retain(|_, page| !(closes && page.owner == Some(who) && page.bound.is_empty()));
        for page in self.pages.values_mut() {
            page.owner.take_if(|owner| *owner == who);
        }
    }
}

impl Page {
    /// Its owner first, then the sessions that are bound to it.
    fn holders(&self) -> Vec<u64> {
        self.owner.iter().chain(&self.bound).copied().collect()
    }
}
