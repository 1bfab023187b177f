//! Random walks through the state machine, compared with the model at every step.

use super::browser::FakeBrowser;
use super::model::{Expected, Model, Move, Pick};
use super::rng::Rng;
use super::sim::*;
use crate::{Access, CallKind, Reply, TabId, TabRef};
use std::time::Duration;

/// Spec: dynamic-tools 58, 94.
#[test]
fn five_hundred_random_walks_agree_with_the_model() {
    for seed in 0..walks() {
        Walk::new(seed).run(60);
    }
}

/// A soak compiles this with a larger number.
pub(super) fn walks() -> u64 {
    option_env!("TABMUX_WALKS")
        .and_then(|walks| walks.parse().ok())
        .unwrap_or(500)
}

struct Walk {
    rng: Rng,
    sim: Sim,
    model: Model,
    pages: usize,
    trail: Vec<Move>,
}

impl Walk {
    fn new(seed: u64) -> Self {
        let mut sim = Sim::new(FakeBrowser::new());
        sim.open_session(ONE, true);
        Self {
            rng: Rng::seeded(seed),
            sim,
            model: Model::default(),
            pages: 0,
            trail: vec![],
        }
    }

    fn run(&mut self, steps: usize) {
        for _ in 0..steps {
            self.sim.browser.latency = Duration::from_millis(self.rng.below(60) as u64);
            let next = self.choose();
            self.trail.push(next.clone());
            let expected = self.model.apply(&next);
            let mut succeeds = None;
            let notices = self.sim.notices(|sim| succeeds = play(sim, next));
            let notice = notices > 0;
            let seen = Expected { succeeds, notice };
            assert_eq!(seen, expected, "after {:#?}", self.trail);
            assert!(notices <= 1, "{notices} notices after {:#?}", self.trail);
            self.compare();
        }
        self.sim.run_out();
    }

    fn compare(&mut self) {
        assert_eq!(self.sim.tools(), self.model.tools(), "{:#?}", self.trail);
        if !self.model.connected {
            return;
        }
        let tabs = self.sim.list();
        let urls: Vec<&str> = tabs.iter().map(|tab| &*tab.url).collect();
        assert_eq!(urls, self.model.tabs, "{:#?}", self.trail);
        let focused = tabs.iter().find(|tab| tab.focused).map(|tab| &*tab.url);
        assert_eq!(focused, self.model.focused.as_deref(), "{:#?}", self.trail);
    }

    /// Mostly moves that make sense in this state, sometimes others.
    fn choose(&mut self) -> Move {
        let tabs = self.model.tabs.len();
        if !self.model.connected && !self.rng.one_in(4) {
            let launch = self.rng.one_in(2);
            return match self.rng.one_in(5) && !self.model.running {
                true => Move::BrowserStarts,
                false => Move::Connect { launch },
            };
        }
        match self.rng.below(24) {
            0 => Move::Connect { launch: true },
            1 => Move::List,
            2..=4 => Move::Open {
                url: self.page(),
                focus: true,
            },
            5..=6 => Move::Open {
                url: self.page(),
                focus: false,
            },
            7 => Move::OpenBroken {
                focus: self.rng.one_in(2),
            },
            8..=11 => Move::Focus { tab: self.pick() },
            12..=13 => Move::Close { tab: None },
            14..=15 => Move::Close {
                tab: Some(self.pick()),
            },
            16..=17 => Move::Click,
            18 if self.model.connected => Move::UserOpens { url: self.page() },
            19 if tabs > 0 => Move::UserNavigates {
                tab: self.rng.below(tabs),
                url: self.page(),
            },
            20..=21 if tabs > 0 => Move::UserCloses {
                tab: self.rng.below(tabs),
            },
            22 if tabs > 0 => Move::Crash {
                tab: self.rng.below(tabs),
            },
            23 if self.model.connected && self.rng.one_in(3) => Move::BrowserQuits,
            _ => Move::List,
        }
    }

    fn pick(&mut self) -> Pick {
        match self.model.tabs.len() {
            0 => Pick::Unknown,
            _ if self.rng.one_in(6) => Pick::Unknown,
            tabs => Pick::Known(self.rng.below(tabs)),
        }
    }

    fn page(&mut self) -> String {
        self.pages += 1;
        format!("https://page-{}.test/", self.pages)
    }
}

/// Makes a move. Returns whether a call succeeded.
fn play(sim: &mut Sim, next: Move) -> Option<bool> {
    let kind = match next {
        Move::Connect { launch } => connect(launch),
        Move::List => CallKind::ListTabs,
        Move::Open { url, focus } => open_tab(&url, focus),
        Move::OpenBroken { focus } => open_tab("https://refused.test/", focus),
        Move::Focus { tab } => focus_tab(name(sim, tab)),
        Move::Close { tab: None } => close_focused(),
        Move::Close { tab: Some(tab) } => {
            let tab = Some(name(sim, tab));
            CallKind::CloseTab { tab }
        }
        Move::Click => page(CLICK, Access::Act),
        Move::UserOpens { url } => {
            sim.user_opens(&url);
            return None;
        }
        Move::UserNavigates { tab, url } => {
            let from = address(sim, tab);
            sim.user_navigates(&from, &url);
            return None;
        }
        Move::UserCloses { tab } => {
            let url = address(sim, tab);
            sim.user_closes(&url);
            return None;
        }
        Move::Crash { tab } => {
            let url = address(sim, tab);
            sim.crashes(&url);
            return None;
        }
        Move::BrowserQuits => {
            sim.user_quits();
            return None;
        }
        Move::BrowserStarts => {
            sim.browser.running = true;
            return None;
        }
    };
    let reply = sim.call(kind);
    Some(!matches!(
        reply,
        Reply::NotConnected(_) | Reply::Failed { .. } | Reply::Refused(_) | Reply::Cancelled
    ))
}

/// How the agent names a tab: by the number in `list_tabs`, as a number or a string.
fn name(sim: &mut Sim, pick: Pick) -> TabRef {
    match pick {
        Pick::Unknown => TabRef::from(TabId(1_000_000)),
        Pick::Known(position) => match (position % 2, sim.list()[position].id) {
            (0, tab) => tab.into(),
            (_, tab) => f64::from(tab.0).into(),
        },
    }
}

fn address(sim: &mut Sim, position: usize) -> String {
    sim.list()[position].url.to_string()
}
