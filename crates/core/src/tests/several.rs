//! Several browsers in one session: strict numbers, one attempt at a time, growing pauses.

mod additions;
mod away;
mod heritage;

use super::browser::facts;
use super::sim::*;
use crate::Access::Act;
use crate::{
    BrowserFacts, BrowserId, BrowserKey, BrowserRow, BrowserState, CallId, CallKind, Config,
    ConnectFailure, Core, Finish, Input, Meant, Output, Refusal, Renewed, Reply, RequestId,
    SessionConfig, SessionId, Time,
};
use std::time::Duration;

/// A core and browsers at `http://1`, `http://2`, …, of which some answer.
struct Desk {
    core: Core,
    now: Time,
    up: Vec<&'static str>,
    /// Whether no attempt to connect comes to an end.
    hangs: bool,
    /// Why those that are not up are not.
    failure: ConnectFailure,
    calls: u64,
    replies: Vec<(CallId, Reply, Option<Renewed>)>,
    /// Every attempt to connect: where, when, and whether the start command may run.
    attempts: Vec<(BrowserKey, Duration, bool)>,
    disconnects: usize,
}

const URLS: [&str; 3] = ["http://1", "http://2", "http://3"];

fn meant(url: &str) -> Meant {
    Meant {
        key: BrowserKey(url.into()),
        label: url.into(),
        attached: true,
    }
}

fn session(count: usize) -> SessionConfig {
    SessionConfig {
        browsers: URLS[..count].iter().map(|url| meant(url)).collect(),
        ..fixed()
    }
}

impl Desk {
    fn with(count: usize) -> Self {
        Self::with_session(session(count))
    }

    fn with_session(config: SessionConfig) -> Self {
        let mut desk = Self {
            core: Core::new(Config {
                page_actions: vec![SNAPSHOT, CLICK, HANDLE_DIALOG],
                tab_tools: vec![SNAPSHOT, CLICK, HANDLE_DIALOG],
                static_tools: STATIC_TOOLS.to_vec(),
                ..Config::default()
            }),
            now: Time::default(),
            up: URLS.to_vec(),
            hangs: false,
            failure: ConnectFailure::Failed {
                error: "nobody answers".into(),
                instructions: "Start it".into(),
            },
            calls: 0,
            replies: vec![],
            attempts: vec![],
            disconnects: 0,
        };
        let session = ONE;
        desk.happen(Input::SessionOpened { session, config });
        desk
    }

    fn happen(&mut self, input: Input) {
        self.core.handle(self.now, input);
        self.carry_out();
    }

    fn carry_out(&mut self) {
        while let Some(output) = self.core.poll_output() {
            match output {
                Output::Connect {
                    browser,
                    key,
                    start,
                    ..
                } => {
                    self.attempts.push((key.clone(), self.now.elapsed(), start));
                    if self.hangs {
                        continue;
                    }
                    let answer = self.answer(browser, &key);
                    self.core.handle(self.now, answer);
                }
                Output::Run { call, .. } | Output::Refresh { call, .. } => {
                    let outcome = Finish::Done;
                    self.core
                        .handle(self.now, Input::Finished { call, outcome });
                }
                Output::Reply {
                    call,
                    reply,
                    renewed,
                    ..
                } => self.replies.push((call, reply, renewed)),
                Output::Disconnect { .. } => self.disconnects += 1,
                _ => {}
            }
        }
    }

    /// Every browser shows one page, and it is in front.
    fn answer(&self, browser: BrowserId, key: &BrowserKey) -> Input {
        if !self.up.contains(&&*key.0) {
            let failure = self.failure.clone();
            return Input::ConnectFailed { browser, failure };
        }
        let tab = facts(&format!("T-{}", key.0), &format!("{}/page", key.0));
        Input::Connected {
            browser,
            about: BrowserFacts {
                name: "Chrome".into(),
                version: "1".into(),
                launched: false,
            },
            front: Some(tab.target.clone()),
            tabs: vec![tab],
        }
    }

    fn ask(&mut self, kind: CallKind, browser: Option<i64>) -> CallId {
        self.ask_of(ONE, kind, browser)
    }

    fn ask_of(&mut self, session: SessionId, kind: CallKind, browser: Option<i64>) -> CallId {
        self.calls += 1;
        let call = CallId(self.calls);
        self.happen(Input::Call {
            call,
            session,
            request: RequestId(self.calls.to_string().into()),
            kind,
            browser,
            timeout: None,
        });
        call
    }

    fn call(&mut self, kind: CallKind, browser: Option<i64>) -> Reply {
        let call = self.ask(kind, browser);
        self.wait_for(call)
    }

    /// Lets time pass until the call is answered.
    fn wait_for(&mut self, call: CallId) -> Reply {
        loop {
            let answered = self.replies.iter().find(|(id, ..)| *id == call);
            if let Some((_, reply, _)) = answered {
                return reply.clone();
            }
            self.now = self.core.poll_timeout().expect("it is answered some time");
            self.core.handle_timeout(self.now);
            self.carry_out();
        }
    }

    fn refusal(&mut self, kind: CallKind, browser: Option<i64>) -> String {
        match self.call(kind, browser) {
            Reply::Refused(refusal) => refusal.to_string(),
            other => panic!("{other:?}"),
        }
    }

    fn rows(&mut self) -> Vec<BrowserRow> {
        match self.call(CallKind::ListBrowsers, None) {
            Reply::Browsers { browsers } => browsers,
            other => panic!("{other:?}"),
        }
    }

    fn states(&mut self) -> Vec<BrowserState> {
        self.rows().iter().map(|row| row.state).collect()
    }

    fn clicks_in(&mut self, browser: Option<i64>) -> String {
        let reply = self.call(page(CLICK, Act), browser);
        let Reply::Done { tab, .. } = reply else {
            panic!("{reply:?}");
        };
        let mut tabs = self.core.tabs();
        let tab = tabs.find(|view| view.id == tab).expect("it is there");
        tab.url.to_owned()
    }

    fn browser(&self, url: &str) -> BrowserId {
        let mut browsers = self.core.browsers();
        let found = browsers.find(|view| &*view.key.0 == url);
        found.expect("it is known").id
    }

    fn dies(&mut self, url: &'static str) {
        self.up.retain(|up| *up != url);
        let browser = self.browser(url);
        let reason = "it was closed".into();
        self.happen(Input::BrowserGone { browser, reason });
    }
}

fn reconnect(force: bool) -> CallKind {
    CallKind::ReconnectBrowser { force }
}

#[test]
fn r003_13_all_browsers_are_connected_at_once_if_that_is_wanted_and_nobody_waits_for_it() {
    let mut config = session(3);
    config.connects_at_once = true;
    let mut desk = Desk::with_session(session(0));
    desk.up = vec!["http://1", "http://3"];
    desk.happen(Input::SessionClosed { session: ONE });
    let session = ONE;
    desk.happen(Input::SessionOpened { session, config });
    assert_eq!(desk.attempts.len(), 3);
    assert!(desk.attempts.iter().all(|(.., start)| !start));
    use BrowserState::{Connected, Disconnected};
    assert_eq!(desk.states(), [Connected, Disconnected, Connected]);
    // The one that was away is tried again for whoever needs it, without a pause.
    desk.up.push("http://2");
    assert_eq!(desk.clicks_in(Some(2)), "http://2/page");
    assert_eq!(desk.clicks_in(Some(1)), "http://1/page");
    assert_eq!(desk.now.elapsed(), Duration::ZERO);
}

#[test]
fn r003_8_36_without_that_wish_nothing_is_connected_before_it_is_needed() {
    let mut desk = Desk::with(3);
    assert_eq!(desk.states(), [BrowserState::Pending; 3]);
    assert!(desk.attempts.is_empty());
}

#[test]
fn r003_2_4_5_15_51_56_58_103_with_one_browser_no_number_may_be_given() {
    // R003-2, R003-4, R003-5, R003-15, R003-51, R003-56, R003-58, R003-103
    let mut desk = Desk::with(1);
    let refusal = desk.refusal(page(CLICK, Act), Some(1));
    assert!(desk.attempts.is_empty(), "it is checked before anything");
    assert_eq!(desk.clicks_in(None), "http://1/page");
    assert_eq!(
        refusal,
        "browserIndex must NOT be specified when only one browser is connected. Remove the \
         browserIndex parameter from your tool call."
    );
}

#[test]
fn r003_1_3_6_7_14_15_40_55_56_77_94_with_several_a_number_must_be_given_and_that_browser_is_used()
{
    // R003-1, R003-3, R003-6, R003-7, R003-14, R003-15, R003-40, R003-55, R003-56, R003-77, R003-94
    let mut desk = Desk::with(2);
    let refusal = desk.refusal(page(CLICK, Act), None);
    let start = "browserIndex parameter is required when multiple browsers are connected";
    assert!(refusal.starts_with(start), "{refusal}");
    assert!(desk.attempts.is_empty(), "a refused call changes nothing");
    assert_eq!(desk.clicks_in(Some(2)), "http://2/page");
    assert_eq!(desk.clicks_in(Some(1)), "http://1/page");
    assert_eq!(desk.clicks_in(Some(2)), "http://2/page");
}

#[test]
fn r003_79_82_a_number_that_no_browser_has_is_refused() {
    // R003-79, R003-82
    let mut desk = Desk::with(2);
    for given in [0, 3, -1] {
        assert_eq!(
            desk.refusal(page(CLICK, Act), Some(given)),
            format!(
                "There is no browser {given}. Available browsers: 1, 2. Use list_browsers to see them."
            )
        );
    }
}

#[test]
fn r003_8_16_17_22_24_36_39_57_76_92_104_browsers_are_connected_when_they_are_needed() {
    // R003-8, R003-16, R003-17, R003-22, R003-24, R003-36, R003-39, R003-57, R003-76, R003-92,
    // R003-104
    let mut desk = Desk::with(3);
    assert_eq!(desk.states(), [BrowserState::Pending; 3]);
    let labels: Vec<_> = desk
        .rows()
        .iter()
        .map(|row| row.label.to_string())
        .collect();
    assert_eq!(labels, URLS, "all of them, in their order");
    desk.clicks_in(Some(2));
    assert_eq!(
        desk.states(),
        [
            BrowserState::Pending,
            BrowserState::Connected,
            BrowserState::Pending
        ]
    );
    assert_eq!(desk.attempts.len(), 1);
}

#[test]
fn r003_83_a_tab_of_another_browser_cannot_be_named() {
    let mut desk = Desk::with(2);
    desk.clicks_in(Some(1));
    desk.clicks_in(Some(2));
    let first = desk.core.tabs().next().expect("there is one").id;
    let reply = desk.call(click_in(first), Some(2));
    assert!(
        matches!(reply, Reply::Refused(Refusal::UnknownTab { .. })),
        "{reply:?}"
    );
}

#[test]
fn r003_81_one_browsers_death_does_not_disturb_another() {
    let mut desk = Desk::with(2);
    desk.clicks_in(Some(1));
    desk.clicks_in(Some(2));
    desk.dies("http://2");
    assert_eq!(desk.clicks_in(Some(1)), "http://1/page");
}

#[test]
fn r003_10_25_27_30_a_browser_is_tried_five_times_with_growing_pauses() {
    // R003-10, R003-25, R003-27, R003-30
    let mut desk = Desk::with(1);
    desk.up.clear();
    let refusal = desk.refusal(page(CLICK, Act), None);
    assert!(refusal.contains("nobody answers"), "{refusal}");
    let times: Vec<_> = desk
        .attempts
        .iter()
        .map(|(_, at, _)| at.as_millis())
        .collect();
    assert_eq!(times, [0, 250, 750, 1_750, 3_750]);
    let rows = desk.rows();
    assert_eq!(rows[0].state, BrowserState::Disconnected);
    assert_eq!(rows[0].error.as_deref(), Some("nobody answers"));
}

#[test]
fn r003_11_12_20_28_30_75_105_then_it_is_left_alone_for_a_minute_unless_forced() {
    // R003-11, R003-12, R003-20, R003-28, R003-30, R003-75, R003-105
    let mut desk = Desk::with(2);
    desk.up.clear();
    desk.refusal(page(CLICK, Act), Some(2));
    let tried = desk.attempts.len();
    assert_eq!(
        desk.refusal(page(CLICK, Act), Some(2)),
        "click needs browser 2 (http://2), which could not be reached: nobody answers. It is tried \
         again in 60 s at the earliest; call reconnect_browser with browserIndex: 2, force: true to \
         try now."
    );
    assert!(desk.refusal(reconnect(false), Some(2)).contains("60 s"));
    assert_eq!(desk.attempts.len(), tried);
    desk.up = URLS.to_vec();
    let reply = desk.call(reconnect(true), Some(2));
    assert!(
        matches!(&reply, Reply::Browser { browser } if browser.state == BrowserState::Connected),
        "{reply:?}"
    );
    // And by itself once the minute is over.
    desk.up.clear();
    desk.refusal(page(CLICK, Act), Some(1));
    desk.up = URLS.to_vec();
    desk.now = desk.now + Duration::from_secs(61);
    assert_eq!(desk.clicks_in(Some(1)), "http://1/page");
}

#[test]
fn r003_33_only_a_requested_reconnect_may_run_the_start_command() {
    let mut desk = Desk::with(1);
    desk.up.clear();
    desk.refusal(page(CLICK, Act), None);
    assert!(desk.attempts.iter().all(|(_, _, start)| !start));
    desk.attempts.clear();
    desk.refusal(reconnect(true), None);
    let starts: Vec<_> = desk.attempts.iter().map(|(_, _, start)| *start).collect();
    assert_eq!(starts, [true, false, false, false, false]);
}

#[test]
fn r003_12_75_reconnecting_what_is_connected_changes_nothing() {
    // R003-12, R003-75
    let mut desk = Desk::with(1);
    desk.clicks_in(None);
    desk.call(reconnect(true), None);
    assert_eq!(desk.attempts.len(), 1);
}

#[test]
fn r003_26_calls_that_wait_for_one_browser_share_one_attempt() {
    let mut desk = Desk::with(1);
    desk.up.clear();
    let calls: Vec<_> = (0..5).map(|_| desk.ask(page(CLICK, Act), None)).collect();
    assert_eq!(desk.attempts.len(), 1);
    desk.up = URLS.to_vec();
    for call in calls {
        assert!(matches!(desk.wait_for(call), Reply::Done { .. }));
    }
    assert_eq!(desk.attempts.len(), 2);
}

#[test]
fn r003_23_88_a_browser_that_was_lost_is_tried_by_itself_and_the_next_answer_says_so_once() {
    // R003-23, R003-88
    let mut desk = Desk::with(1);
    desk.clicks_in(None);
    desk.dies("http://1");
    assert_eq!(desk.states(), [BrowserState::Connecting]);
    desk.up = URLS.to_vec();
    let lost = desk.refusal(page(CLICK, Act), None);
    assert!(lost.contains("is gone with its browser"), "{lost}");
    for expected in [Some(1), None] {
        let call = desk.ask(page(CLICK, Act), None);
        assert!(matches!(desk.wait_for(call), Reply::Done { .. }));
        let (_, _, renewed) = desk.replies.last().expect("it is answered");
        assert_eq!(renewed.map(|it| it.number), expected);
    }
}

#[test]
fn r003_9_18_19_60_78_84_85_97_browsers_come_and_go_at_run_time_and_keep_their_numbers() {
    // R003-9, R003-18, R003-19, R003-60, R003-78, R003-84, R003-85, R003-97
    let mut desk = Desk::with(1);
    let add = |url| CallKind::AddBrowser { meant: meant(url) };
    assert!(!desk.core.has_several(ONE));
    let reply = desk.call(add("http://2"), None);
    let Reply::Browser { browser } = reply else {
        panic!("{reply:?}");
    };
    assert_eq!((browser.index, browser.state), (2, BrowserState::Connected));
    assert!(desk.core.has_several(ONE));
    let known = desk.refusal(add("http://1"), None);
    assert!(known.contains("http://1 is browser 1 already"), "{known}");
    // One that cannot be reached is not added.
    desk.up.retain(|up| *up != "http://3");
    desk.refusal(add("http://3"), None);
    assert_eq!(desk.rows().len(), 2);

    desk.clicks_in(Some(1));
    let reply = desk.call(CallKind::DisconnectBrowser, Some(1));
    assert_eq!(reply, Reply::Disconnected { number: 1 });
    assert_eq!(desk.disconnects, 1);
    assert_eq!(desk.rows()[0].index, 2);
    assert_eq!(desk.clicks_in(None), "http://2/page");
    desk.call(CallKind::DisconnectBrowser, None);
    let none = desk.refusal(page(CLICK, Act), None);
    assert!(none.contains("Call add_browser first"), "{none}");
    assert!(desk.rows().is_empty());
}

#[test]
fn r003_37_sessions_share_a_browser_and_one_alone_cannot_disconnect_it() {
    let mut desk = Desk::with(2);
    let config = session(1);
    desk.happen(Input::SessionOpened {
        session: TWO,
        config,
    });
    desk.clicks_in(Some(1));
    desk.call(CallKind::DisconnectBrowser, Some(1));
    assert_eq!(desk.disconnects, 0);
    let call = desk.ask_of(TWO, CallKind::ListPages, None);
    assert!(matches!(desk.wait_for(call), Reply::Pages { pages, .. } if pages.len() == 1));
    assert_eq!(desk.attempts.len(), 1, "there is one connection for both");
}

#[test]
fn r003_71_72_a_default_is_chosen_only_where_that_is_allowed() {
    // R003-71, R003-72
    let mut desk = Desk::with(2);
    let refusal = desk.refusal(CallKind::SelectDefaultBrowser, Some(1));
    assert!(refusal.contains("is switched off"), "{refusal}");

    let may_choose_default = true;
    let mut desk = Desk::with_session(SessionConfig {
        may_choose_default,
        ..session(2)
    });
    desk.refusal(page(CLICK, Act), None);
    desk.call(CallKind::SelectDefaultBrowser, Some(2));
    assert_eq!(desk.clicks_in(None), "http://2/page");
    assert_eq!(desk.clicks_in(Some(1)), "http://1/page");
    let marks: Vec<_> = desk.rows().iter().map(|row| row.is_default).collect();
    assert_eq!(marks, [false, true]);
}

#[test]
fn in_progressive_mode_connect_browser_chooses_and_the_others_follow() {
    let mut desk = Desk::with_session(SessionConfig {
        browsers: URLS[..2].iter().map(|url| meant(url)).collect(),
        ..progressive()
    });
    assert_eq!(
        desk.refusal(connect(false), None),
        "browserIndex parameter is required when multiple browsers are connected. Available browsers: \
         1, 2. Call connect_browser again with one of them."
    );
    assert_eq!(
        desk.refusal(connect(false), Some(3)),
        "There is no browser 3. Available browsers: 1, 2. Call connect_browser again with one of them."
    );
    desk.call(connect(false), Some(2));
    let Reply::Tabs { tabs, .. } = desk.call(CallKind::ListTabs, None) else {
        panic!("it lists tabs");
    };
    assert_eq!(&*tabs[0].url, "http://2/page");
    let misplaced = desk.refusal(CallKind::ListTabs, Some(1));
    assert!(
        misplaced.contains("connect_browser takes it"),
        "{misplaced}"
    );
}
