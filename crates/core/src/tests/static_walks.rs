//! Random walks of several static sessions through one browser, compared with the model at every step.

use super::browser::FakeBrowser;
use super::rng::Rng;
use super::sim::*;
use super::static_model::{Habits, Model, Move, Pick};
use super::walks::walks;
use crate::{
    Access, Input, OnEnd, Output, Reply, SessionConfig, SessionId, TabId, TabPolicy, TabRef,
};
use std::time::Duration;

/// Spec: multi-client 2, 19, 30, 31, 32, 33, 34, 36, 37.
#[test]
fn random_walks_of_static_sessions_agree_with_the_model() {
    for seed in 0..walks() / 4 {
        Walk::new(seed).run(60);
    }
}

struct Walk {
    rng: Rng,
    sim: Sim,
    model: Model,
    counted: u64,
    trail: Vec<Move>,
}

impl Walk {
    fn new(seed: u64) -> Self {
        let mut walk = Self {
            rng: Rng::seeded(seed),
            sim: Sim::new(FakeBrowser::new()),
            model: Model::default(),
            counted: 3,
            trail: vec![],
        };
        for who in 1..=3 {
            let habits = walk.habits();
            walk.model.open(who, habits);
            begin(&mut walk.sim, who, habits);
        }
        walk
    }

    fn run(&mut self, steps: usize) {
        for _ in 0..steps {
            self.sim.browser.latency = Duration::from_millis(self.rng.below(60) as u64);
            let next = self.choose();
            self.trail.push(next.clone());
            let expected = self.model.apply(&next);
            let seen = play(&mut self.sim, next);
            assert_eq!(seen, expected, "after {:#?}", self.trail);
            self.sim.settle();
            self.compare();
        }
        self.sim.run_out();
    }

    fn compare(&mut self) {
        let mut open: Vec<_> = self.sim.core.tabs().map(|tab| tab.url.to_owned()).collect();
        open.sort();
        assert_eq!(open, self.model.pages(), "{:#?}", self.trail);
        for who in self.model.sessions() {
            let bound = self.sim.core.bound_tab(SessionId(who));
            let bound = bound.and_then(|tab| address(&self.sim, tab));
            assert_eq!(bound.as_ref(), self.model.bound(who), "{:#?}", self.trail);
            // A list would open a page for it, which is a move of its own.
            if self.model.connected && !self.model.needs_page(who) {
                let pages = self.sim.pages_of(SessionId(who));
                let mut urls: Vec<_> = pages.iter().map(|page| page.url.to_string()).collect();
                urls.sort();
                assert_eq!(urls, self.model.seen(who), "{who}: {:#?}", self.trail);
            }
        }
    }

    fn choose(&mut self) -> Move {
        let sessions = self.model.sessions();
        let who = sessions[self.rng.below(sessions.len())];
        let pages = self.model.pages();
        let some_page = (!pages.is_empty()).then(|| pages[self.rng.below(pages.len())].clone());
        match (self.rng.below(21), some_page) {
            (0..=5, _) => Move::Click {
                who,
                tab: None,
                url: self.page(),
            },
            (6..=8, page) => Move::Click {
                who,
                tab: Some(self.pick(page)),
                url: self.page(),
            },
            (9..=10, _) => Move::New {
                who,
                url: self.page(),
            },
            (11..=12, page) => Move::Select {
                who,
                tab: self.pick(page),
            },
            (13..=14, page) => Move::Close {
                who,
                tab: self.pick(page),
            },
            (15, _) => Move::Replace {
                who,
                by: self.count(),
                habits: self.habits(),
            },
            (16, Some(opener)) => Move::Popup {
                opener,
                url: self.page(),
            },
            (17, Some(url)) => Move::UserCloses { url },
            (18, Some(url)) => Move::Crash { url },
            (19, _) if self.model.connected && self.rng.one_in(3) => Move::BrowserQuits,
            (20, _) => Move::List {
                who,
                url: self.page(),
            },
            _ if self.model.connected => Move::UserOpens { url: self.page() },
            _ => Move::New {
                who,
                url: self.page(),
            },
        }
    }

    fn pick(&mut self, page: Pick) -> Pick {
        page.filter(|_| !self.rng.one_in(8))
    }

    fn habits(&mut self) -> Habits {
        let policies = [TabPolicy::Respect, TabPolicy::Exclusive, TabPolicy::Shared];
        Habits {
            on_end: [OnEnd::Close, OnEnd::Keep][self.rng.below(2)],
            policy: policies[self.rng.below(3)],
        }
    }

    fn page(&mut self) -> String {
        format!("https://page-{:04}.test/", self.count())
    }

    fn count(&mut self) -> u64 {
        self.counted += 1;
        self.counted
    }
}

fn begin(sim: &mut Sim, who: u64, habits: Habits) {
    let config = SessionConfig {
        on_end: habits.on_end,
        tab_policy: habits.policy,
        ..fixed()
    };
    sim.open_session_as(SessionId(who), config);
}

/// Makes a move. Returns whether a call succeeded.
fn play(sim: &mut Sim, next: Move) -> Option<bool> {
    let (who, kind) = match next {
        Move::Click {
            who,
            tab: None,
            url,
        } => {
            let reply = sim.call_of(SessionId(who), page(CLICK, Access::Act));
            if let Reply::Done { tab, .. } = reply
                && address(sim, tab).as_deref() == Some("about:blank")
            {
                show(sim, &url);
            }
            return Some(matches!(reply, Reply::Done { .. }));
        }
        Move::List { who, url } => {
            let pages = sim.pages_of(SessionId(who));
            if pages.iter().any(|page| &*page.url == "about:blank") {
                show(sim, &url);
            }
            return Some(true);
        }
        Move::Click {
            who,
            tab: Some(tab),
            ..
        } => (who, click_in(name(sim, tab))),
        Move::New { who, url } => (who, new_page(&url)),
        Move::Select { who, tab } => (who, select_page(name(sim, tab))),
        Move::Close { who, tab } => (who, close_page(name(sim, tab))),
        Move::Replace { who, by, habits } => {
            sim.close_session(SessionId(who));
            begin(sim, by, habits);
            return None;
        }
        Move::UserOpens { url } => {
            sim.user_opens(&url);
            return None;
        }
        Move::Popup { opener, url } => {
            sim.page_opens(&opener, &url);
            return None;
        }
        Move::UserCloses { url } => {
            sim.user_closes(&url);
            return None;
        }
        Move::Crash { url } => {
            sim.crashes(&url);
            return None;
        }
        Move::BrowserQuits => {
            sim.user_quits();
            return None;
        }
    };
    let reply = sim.call_of(SessionId(who), kind);
    Some(!matches!(reply, Reply::Failed { .. } | Reply::Refused(_)))
}

/// Navigates the tab that was bound last.
fn show(sim: &mut Sim, url: &str) {
    let held = sim.outputs.iter().rev().find_map(|output| match output {
        Output::Hold { browser, target } => Some((*browser, target.clone())),
        _ => None,
    });
    let (browser, target) = held.expect("something was bound");
    let tab = sim.browser.navigate(&target, url);
    sim.happen(Input::TabChanged { browser, tab });
}

fn name(sim: &Sim, pick: Pick) -> TabRef {
    let tab = pick.and_then(|url| sim.core.tabs().find(|tab| tab.url == url).map(|tab| tab.id));
    tab.unwrap_or(TabId(1_000_000)).into()
}

fn address(sim: &Sim, id: TabId) -> Option<String> {
    let mut tabs = sim.core.tabs();
    tabs.find(|tab| tab.id == id).map(|tab| tab.url.to_owned())
}
