//! Sessions with a fixed list have their own page numbers.

use super::browser::FakeBrowser;
use super::rng::Rng;
use super::sim::*;
use crate::{
    Access, BrowserKey, CallKind, Config, PageNumbers, Refusal, RememberedTab, Reply, RestoredTabs,
    SessionConfig, SessionId, TabId, TabPolicy,
};
use std::collections::BTreeMap;

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";
const C: &str = "https://c.test/";
const D: &str = "https://d.test/";
const THREE: SessionId = SessionId(3);

impl Sim {
    /// The numbers of a session's pages.
    fn numbered(&mut self, session: SessionId) -> Vec<(u32, String)> {
        let pages = self.pages_of(session).into_iter();
        pages
            .map(|page| (page.id.0, page.url.to_string()))
            .collect()
    }

    fn refusal_of(&mut self, session: SessionId, kind: CallKind) -> String {
        match self.call_of(session, kind) {
            Reply::Refused(refusal) => refusal.to_string(),
            other => panic!("{other:?}"),
        }
    }

    fn opens_page(&mut self, session: SessionId, url: &str) -> u32 {
        match self.call_of(session, new_page(url)) {
            Reply::Opened { tab, .. } => tab.id.0,
            other => panic!("{other:?}"),
        }
    }
}

fn rows(rows: &[(u32, &str)]) -> Vec<(u32, String)> {
    let rows = rows.iter();
    rows.map(|(number, url)| (*number, (*url).to_owned()))
        .collect()
}

/// A browser in which several static sessions work.
fn shared(urls: &[&str], sessions: &[SessionId]) -> Sim {
    let mut sim = Sim::new(FakeBrowser::running(urls));
    for session in sessions {
        sim.open_session_as(*session, with_own_numbers());
    }
    sim
}

#[test]
fn each_session_counts_its_pages_from_1() {
    let mut sim = shared(&[], &[ONE, TWO]);
    assert_eq!(sim.opens_page(ONE, A), 1);
    assert_eq!(sim.opens_page(TWO, B), 1);
    assert_eq!(sim.opens_page(ONE, C), 2);
    assert_eq!(sim.opens_page(TWO, D), 2);
    assert_eq!(sim.numbered(ONE), rows(&[(1, A), (2, C)]));
    assert_eq!(sim.numbered(TWO), rows(&[(1, B), (2, D)]));
    sim.call_of(TWO, select_page(TabId(1)));
    sim.call_of(TWO, close_page(TabId(2)));
    assert!(!sim.browser.shows(D) && sim.browser.shows(C));
    assert_eq!(
        sim.opens_page(TWO, "https://e.test/"),
        3,
        "none is used twice"
    );
}

#[test]
fn the_page_that_a_call_opens_is_page_1() {
    let mut sim = shared(&[A, B], &[ONE, TWO]);
    assert_eq!(sim.click_of(ONE), TabId(1));
    assert_eq!(sim.click_of(TWO), TabId(1));
    assert_ne!(sim.core.bound_tab(ONE), sim.core.bound_tab(TWO));
    let blank = "about:blank";
    assert_eq!(sim.numbered(TWO), rows(&[(1, blank), (2, A), (3, B)]));
}

#[test]
fn a_page_named_before_any_list_has_the_number_that_a_list_would_show() {
    let mut sim = shared(&[A, B], &[ONE, TWO]);
    sim.opens_page(ONE, C);
    sim.call_of(TWO, click_in(TabId(2)));
    assert_eq!(sim.numbered(TWO), rows(&[(1, A), (2, B)]));
    let mut launched = Sim::new(FakeBrowser::new());
    for session in [ONE, TWO] {
        launched.open_session_as(session, with_own_numbers());
        let reply = launched.call_of(session, click_in(TabId(1)));
        assert!(
            matches!(reply, Reply::Done { tab: TabId(1), .. }),
            "{reply:?}"
        );
    }
    assert_ne!(launched.core.bound_tab(ONE), launched.core.bound_tab(TWO));
}

#[test]
fn a_page_that_another_session_took_can_still_be_named() {
    let mut sim = shared(&[A, B], &[ONE, TWO]);
    sim.opens_page(ONE, C);
    assert_eq!(sim.numbered(TWO), rows(&[(1, A), (2, B)]));
    let theirs = sim.pages_of(ONE);
    let theirs = theirs.iter().find(|page| &*page.url == B).unwrap().id;
    sim.call_of(ONE, click_in(theirs));
    assert_eq!(sim.numbered(TWO), rows(&[(1, A)]));
    let reply = sim.call_of(TWO, click_in(TabId(2)));
    let (tab, shared) = (TabId(2), true);
    assert_eq!(reply, Reply::Done { tab, shared });
    assert_ne!(theirs, tab, "each session has its own number");
}

#[test]
fn any_tab_can_be_named_by_its_shared_number() {
    let mut sim = shared(&[], &[ONE, TWO]);
    sim.opens_page(ONE, A);
    sim.opens_page(TWO, B);
    let theirs = sim.core.bound_tab(ONE).unwrap();
    let reply = sim.call_of(TWO, click_in(&*format!("#{theirs}")));
    let (tab, shared) = (TabId(2), true);
    assert_eq!(reply, Reply::Done { tab, shared });
    assert_eq!(sim.core.bound_tab(TWO), Some(theirs));
    assert_eq!(sim.numbered(TWO), rows(&[(1, B), (2, A)]));
    for wrong in ["#0", "#99", "#", "#x", "##1"] {
        let refused = sim.refusal_of(TWO, click_in(wrong));
        assert!(refused.starts_with("There is no tab"), "{refused}");
    }
}

#[test]
fn refusals_use_the_sessions_own_numbers() {
    let mut sim = shared(&[], &[ONE, TWO]);
    for url in [A, B] {
        sim.opens_page(ONE, url);
    }
    sim.opens_page(TWO, C);
    assert_eq!(
        sim.refusal_of(TWO, click_in(TabId(2))),
        "There is no tab 2. Available tabs: 1. Call list_pages to see the tabs."
    );
    let last = sim.refusal_of(TWO, close_page(TabId(1)));
    assert!(last.starts_with("Tab 1 is the last page"), "{last}");
    sim.user_closes(C);
    let lost = sim.refusal_of(TWO, page(CLICK, Access::Act));
    assert!(lost.contains("tab 1 was closed"), "{lost}");
    assert_eq!(sim.click_of(TWO), TabId(2));

    let keeping = SessionConfig {
        tab_policy: TabPolicy::Exclusive,
        ..with_own_numbers()
    };
    sim.user_opens(D);
    sim.open_session_as(THREE, keeping);
    let row = |sim: &mut Sim, session| {
        let pages = sim.pages_of(session);
        pages.iter().find(|page| &*page.url == D).unwrap().id
    };
    let (of_two, of_three) = (row(&mut sim, TWO), row(&mut sim, THREE));
    sim.call_of(THREE, click_in(of_three));
    let held = sim.refusal_of(TWO, click_in(of_two));
    assert!(held.starts_with(&format!("Tab {of_two} is held")), "{held}");
}

#[test]
fn popups_have_the_sessions_own_numbers() {
    let mut sim = shared(&[], &[ONE, TWO]);
    sim.opens_page(ONE, A);
    sim.opens_page(TWO, B);
    sim.page_opens(B, C);
    let (browser, target) = (sim.browser.id.unwrap(), sim.browser.at(C));
    let told = sim.core.assigned_number(TWO, browser, &target);
    assert_eq!(told, Some(TabId(2)));
    sim.call_of(TWO, select_page(TabId(2)));
    assert_eq!(sim.core.bound_tab(TWO), sim.core.tab(browser, &target));
}

#[test]
fn progressive_sessions_and_those_configured_so_use_shared_numbers() {
    let mut sim = shared(&[A], &[ONE]);
    sim.opens_page(ONE, B);
    sim.open_session_as(TWO, progressive());
    sim.call_of(TWO, connect(false));
    let opened = sim.call_of(TWO, open_tab(C, true));
    let Reply::Opened { tab, .. } = opened else {
        panic!("{opened:?}");
    };
    assert_eq!(tab.id, TabId(3));
    sim.open_session_as(THREE, fixed());
    assert_eq!(sim.opens_page(THREE, D), 4);
    let reply = sim.call_of(THREE, click_in(TabId(2)));
    assert!(
        matches!(reply, Reply::Done { shared: true, .. }),
        "{reply:?}"
    );
}

#[test]
fn a_session_of_an_earlier_daemon_keeps_its_numbers() {
    let browser = FakeBrowser::running(&[A, B, C]);
    let key: BrowserKey = with_own_numbers().browsers[0].key.clone();
    let remember = |url: &str, number: u32| RememberedTab {
        browser: key.clone(),
        target: browser.at(url),
        number: TabId(number),
    };
    let known = Config {
        tabs_counted: 41,
        remembered: vec![remember(A, 40), remember(B, 38)],
        ..Config::default()
    };
    let restored_tabs = RestoredTabs {
        opened: vec![browser.at(A)],
        bound: vec![browser.at(A)],
        numbers: PageNumbers::restored(5, [(TabId(40), 4), (TabId(38), 2)]),
        ..RestoredTabs::default()
    };
    let mut sim = Sim::with_config(browser, known);
    sim.open_session_as(
        ONE,
        SessionConfig {
            restored_tabs,
            ..with_own_numbers()
        },
    );
    assert_eq!(sim.click_of(ONE), TabId(4));
    assert_eq!(sim.numbered(ONE), rows(&[(2, B), (4, A), (6, C)]));
}

#[test]
fn in_random_walks_no_number_ever_means_another_page() {
    for seed in 0..40 {
        walk(seed);
    }
}

fn walk(seed: u64) {
    let mut rng = Rng::seeded(seed);
    let sessions = [ONE, TWO, THREE];
    let mut sim = shared(&[A], &sessions);
    sim.pages_of(ONE);
    let mut meant: BTreeMap<(SessionId, u32), String> = BTreeMap::new();
    for step in 0..60 {
        let session = sessions[rng.below(3)];
        let url = format!("https://{seed}-{step}.test/");
        let named = TabId(u32::try_from(rng.below(8)).unwrap() + 1);
        match rng.below(6) {
            0 => drop(sim.call_of(session, new_page(&url))),
            1 => sim.user_opens(&url),
            2 => drop(sim.call_of(session, close_page(named))),
            3 => drop(sim.call_of(session, select_page(named))),
            4 => drop(sim.call_of(session, click_in(named))),
            _ => {
                let open = sim.browser.urls();
                if open.len() > 1 {
                    sim.user_closes(&open[rng.below(open.len())]);
                }
            }
        }
        for session in sessions {
            for (number, url) in sim.numbered(session) {
                let before = meant
                    .entry((session, number))
                    .or_insert_with(|| url.clone());
                assert_eq!(
                    *before, url,
                    "seed {seed}, step {step}, {session:?} {number}"
                );
            }
        }
    }
    let unknown = sim.call_of(ONE, click_in(TabId(1_000)));
    assert!(matches!(
        unknown,
        Reply::Refused(Refusal::UnknownTab { .. })
    ));
}
