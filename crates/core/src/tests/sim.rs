//! The simulator: clients, a fake browser and a virtual clock around one core.
//!
//! At every step it checks the invariants: one answer per call, in time, to the right client; refusals that
//! fit the session's mode; one acting call per tab; notices for open sessions only.

use super::browser::{FakeBrowser, Later};
use super::refusal_tools::check_mode;
pub(super) use super::shorthand::*;
use crate::{
    Access, BrowserKey, CallId, CallKind, Config, Core, Finish, Input, Mode, Output, Reply,
    RequestId, SessionConfig, SessionId, TabFacts, TabId, TabOpener, TabRow, TargetId, Time,
    ToolName,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// Everything around a core.
pub(super) struct Sim {
    pub(super) core: Core,
    pub(super) browser: FakeBrowser,
    pub(super) now: Time,
    /// Every output so far, in order.
    pub(super) outputs: Vec<Output>,
    agenda: BTreeMap<(Time, usize), Input>,
    scheduled: usize,
    calls: BTreeMap<CallId, Sent>,
    open: BTreeMap<SessionId, Mode>,
    acting: BTreeMap<TargetId, CallId>,
    /// The last persistence version, and the saved state at that version.
    persistence_version: (u64, String),
}

struct Sent {
    session: SessionId,
    request: RequestId,
    access: Option<Access>,
    latest: Time,
    reply: Option<Reply>,
}

impl Sim {
    /// No session, and this browser.
    pub(super) fn new(browser: FakeBrowser) -> Self {
        Self::with_config(browser, Config::default())
    }

    /// The `tab_tools` of the settings are added to the usual ones.
    pub(super) fn with_config(browser: FakeBrowser, config: Config) -> Self {
        let usual = [SNAPSHOT, CLICK, HANDLE_DIALOG];
        Self {
            core: Core::new(Config {
                page_actions: usual.to_vec(),
                tab_tools: [&usual[..], &config.tab_tools].concat(),
                static_tools: STATIC_TOOLS.to_vec(),
                ..config
            }),
            browser,
            now: Time::default(),
            outputs: vec![],
            agenda: BTreeMap::new(),
            scheduled: 0,
            calls: BTreeMap::new(),
            open: BTreeMap::new(),
            acting: BTreeMap::new(),
            persistence_version: (0, String::new()),
        }
    }

    /// One client, not connected, without page actions.
    pub(super) fn disconnected() -> Self {
        let mut sim = Self::new(FakeBrowser::new());
        sim.open_session(ONE, false);
        sim
    }

    /// One client, connected to a browser that it launched.
    pub(super) fn launched() -> Self {
        let mut sim = Self::disconnected();
        sim.call(CallKind::ConnectBrowser { launch: true });
        sim
    }

    /// The same, with page actions.
    pub(super) fn launched_with_actions() -> Self {
        let mut sim = Self::new(FakeBrowser::new());
        sim.open_session(ONE, true);
        sim.call(CallKind::ConnectBrowser { launch: true });
        sim
    }

    /// One client, connected to a browser that shows these pages.
    pub(super) fn attached(urls: &[&str]) -> Self {
        let mut sim = Self::new(FakeBrowser::running(urls));
        sim.open_session(ONE, false);
        sim.call(CallKind::ConnectBrowser { launch: false });
        sim
    }

    /// One static client, not connected, and a browser that shows these pages.
    pub(super) fn with_fixed_list(urls: &[&str]) -> Self {
        let mut sim = Self::new(FakeBrowser::running(urls));
        sim.open_session_as(ONE, fixed());
        sim
    }

    pub(super) fn open_session(&mut self, session: SessionId, page_actions: bool) {
        self.open_session_in("chrome", session, page_actions);
    }

    pub(super) fn open_session_in(&mut self, key: &str, session: SessionId, page_actions: bool) {
        self.open_session_as(
            session,
            SessionConfig {
                page_actions,
                ..SessionConfig::new(BrowserKey(key.into()))
            },
        );
    }

    pub(super) fn open_session_as(&mut self, session: SessionId, config: SessionConfig) {
        self.open.insert(session, config.mode);
        self.happen(Input::SessionOpened { session, config });
    }

    pub(super) fn close_session(&mut self, session: SessionId) {
        self.happen(Input::SessionClosed { session });
        self.open.remove(&session);
    }

    /// The first client's call, driven until it is answered.
    pub(super) fn call(&mut self, kind: CallKind) -> Reply {
        self.call_of(ONE, kind)
    }

    pub(super) fn call_of(&mut self, session: SessionId, kind: CallKind) -> Reply {
        let call = self.ask_of(session, kind, None);
        while self.reply(call).is_none() {
            assert!(self.step(), "{call:?} is never answered");
        }
        self.reply(call).expect("it is answered")
    }

    /// Sends a call and does not wait for its answer.
    pub(super) fn ask(&mut self, kind: CallKind) -> CallId {
        self.ask_of(ONE, kind, None)
    }

    pub(super) fn ask_of(
        &mut self,
        session: SessionId,
        kind: CallKind,
        timeout: Option<Duration>,
    ) -> CallId {
        let call = CallId(self.calls.len() as u64 + 1);
        let request = RequestId(format!("r{}", call.0).into());
        let most = timeout.map_or(Duration::ZERO, |timeout| timeout + Duration::from_secs(1));
        let sent = Sent {
            session,
            request: request.clone(),
            access: match kind {
                CallKind::Page { access, .. } => Some(access),
                _ => None,
            },
            latest: self.now + most.clamp(Duration::from_secs(30), Duration::from_secs(600)),
            reply: None,
        };
        self.calls.insert(call, sent);
        self.happen(Input::Call {
            call,
            session,
            request,
            kind,
            browser: None,
            timeout,
        });
        call
    }

    pub(super) fn cancel(&mut self, call: CallId) {
        let Sent {
            session, request, ..
        } = &self.calls[&call];
        let (session, request) = (*session, request.clone());
        self.happen(Input::Cancel { session, request });
    }

    pub(super) fn finish(&mut self, call: CallId) {
        let outcome = Finish::Done;
        self.happen(Input::Finished { call, outcome });
    }

    pub(super) fn reply(&self, call: CallId) -> Option<Reply> {
        self.calls[&call].reply.clone()
    }

    /// What a session's `list_pages` shows.
    pub(super) fn pages_of(&mut self, session: SessionId) -> Vec<TabRow> {
        match self.call_of(session, CallKind::ListPages) {
            Reply::Pages { pages, .. } => pages,
            other => panic!("list_pages answered {other:?}"),
        }
    }

    /// The page that the first client, a static one, sees at this address.
    pub(super) fn page_at(&mut self, url: &str) -> TabId {
        let pages = self.pages_of(ONE);
        let page = pages.iter().find(|page| &*page.url == url);
        page.unwrap_or_else(|| panic!("no page at {url} is listed"))
            .id
    }

    /// The tab in which a session's page action without a tab runs.
    pub(super) fn click_of(&mut self, session: SessionId) -> TabId {
        match self.call_of(session, page(CLICK, Access::Act)) {
            Reply::Done { tab, .. } => tab,
            other => panic!("click answered {other:?}"),
        }
    }

    /// How often a browser was connected to.
    pub(super) fn connects(&self) -> usize {
        self.count(|output| matches!(output, Output::Connect { .. }))
    }

    /// How many tabs were opened for calls.
    pub(super) fn opens(&self) -> usize {
        self.count(|output| matches!(output, Output::OpenTab { .. }))
    }

    /// How many tabs were closed because they were no longer needed.
    pub(super) fn discards(&self) -> usize {
        self.count(|output| matches!(output, Output::Discard { .. }))
    }

    /// The calls that were run so far, in order.
    pub(super) fn runs(&self) -> Vec<CallId> {
        let run = |output: &Output| match output {
            Output::Run { call, .. } => Some(*call),
            _ => None,
        };
        self.outputs.iter().filter_map(run).collect()
    }

    fn count(&self, wanted: impl Fn(&Output) -> bool) -> usize {
        self.outputs.iter().filter(|output| wanted(output)).count()
    }

    /// Opens a page and returns its tab.
    pub(super) fn open(&mut self, url: &str, focus: bool) -> TabRow {
        match self.call(open_tab(url, focus)) {
            Reply::Opened { tab, .. } => tab,
            other => panic!("open_tab answered {other:?}"),
        }
    }

    pub(super) fn focus(&mut self, tab: TabId) -> Reply {
        self.call(CallKind::FocusTab { tab: tab.into() })
    }

    /// What a session's `list_tabs` shows.
    pub(super) fn list_of(&mut self, session: SessionId) -> Vec<TabRow> {
        match self.call_of(session, CallKind::ListTabs) {
            Reply::Tabs { tabs, .. } => tabs,
            other => panic!("list_tabs answered {other:?}"),
        }
    }

    pub(super) fn list(&mut self) -> Vec<TabRow> {
        self.list_of(ONE)
    }

    /// The tab that the first client sees at this address.
    pub(super) fn tab(&mut self, url: &str) -> TabId {
        self.list()
            .into_iter()
            .find(|tab| &*tab.url == url)
            .map(|tab| tab.id)
            .unwrap_or_else(|| panic!("no tab at {url} is listed"))
    }

    pub(super) fn tools(&self) -> Vec<String> {
        self.tools_of(ONE)
    }

    pub(super) fn tools_of(&self, session: SessionId) -> Vec<String> {
        let tools = self.core.tools(session);
        tools.iter().map(ToolName::to_string).collect()
    }

    pub(super) fn user_opens(&mut self, url: &str) {
        let tab = self.browser.add(url);
        self.appears(tab, TabOpener::Browser);
    }

    pub(super) fn page_opens(&mut self, opener: &str, url: &str) {
        let opener = self.browser.at(opener);
        let tab = self.browser.add(url);
        self.appears(tab, TabOpener::Popup { opener });
    }

    pub(super) fn user_navigates(&mut self, from: &str, to: &str) {
        let target = self.browser.at(from);
        let tab = self.browser.navigate(&target, to);
        let browser = self.browser.id.expect("it is connected");
        self.happen(Input::TabChanged { browser, tab });
    }

    pub(super) fn user_closes(&mut self, url: &str) {
        self.goes(url, false);
    }

    pub(super) fn crashes(&mut self, url: &str) {
        self.goes(url, true);
    }

    pub(super) fn user_quits(&mut self) {
        if let Some(browser) = self.browser.id {
            self.browser.quit();
            // Its pending reports are lost.
            self.agenda.clear();
            let reason = "it was closed".to_owned();
            self.happen(Input::BrowserGone { browser, reason });
        }
    }

    /// How many notices a session gets during an action and within a second after it.
    pub(super) fn notices_of(&mut self, session: SessionId, act: impl FnOnce(&mut Self)) -> usize {
        self.settle();
        let before = self.outputs.len();
        act(self);
        self.settle();
        let notice = Output::ToolsChanged { session };
        self.outputs[before..]
            .iter()
            .filter(|output| **output == notice)
            .count()
    }

    pub(super) fn notices(&mut self, act: impl FnOnce(&mut Self)) -> usize {
        self.notices_of(ONE, act)
    }

    /// Lets a second pass: enough for all pending work that does not hang.
    pub(super) fn settle(&mut self) {
        self.pass(Duration::from_secs(1));
    }

    /// Lets time pass.
    pub(super) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while self.next_event().is_some_and(|at| at <= end) {
            self.step();
        }
        self.now = end;
    }

    /// Processes all scheduled inputs and timers.
    pub(super) fn run_out(&mut self) {
        while self.step() {}
    }

    /// Passes one input to the core and carries out the outputs.
    pub(super) fn happen(&mut self, input: Input) {
        if matches!(input, Input::StillConnecting { .. }) {
            for sent in self.calls.values_mut() {
                sent.latest = sent.latest.max(self.now + Duration::from_secs(30));
            }
        }
        self.core.handle(self.now, input);
        self.carry_out();
    }

    /// Jumps to the next scheduled input or timer. False if there is none.
    fn step(&mut self) -> bool {
        let Some(at) = self.next_event() else {
            return false;
        };
        self.now = at.max(self.now);
        let timer_due = self.core.poll_timeout().is_some_and(|timer| timer <= at);
        match self.agenda.first_entry() {
            Some(entry) if !timer_due => {
                let input = entry.remove();
                self.core.handle(self.now, input);
            }
            _ => self.core.handle_timeout(self.now),
        }
        self.carry_out();
        true
    }

    fn next_event(&self) -> Option<Time> {
        let event = self.agenda.keys().next().map(|(at, _)| *at);
        event.into_iter().chain(self.core.poll_timeout()).min()
    }

    fn carry_out(&mut self) {
        self.core.check_common_lists();
        self.core.check_notices();
        check_persistence_version(&self.core, &mut self.persistence_version);
        while let Some(output) = self.core.poll_output() {
            self.check(&output);
            for (wait, input) in self.browser.react(&output) {
                self.schedule((wait, input));
            }
            self.outputs.push(output);
        }
    }

    fn schedule(&mut self, (wait, input): Later) {
        self.scheduled += 1;
        self.agenda.insert((self.now + wait, self.scheduled), input);
    }

    fn check(&mut self, output: &Output) {
        match output {
            Output::Reply {
                call,
                session,
                request,
                reply,
                ..
            } => {
                self.acting.retain(|_, acting| acting != call);
                let sent = self.calls.get_mut(call).expect("it was asked");
                assert_eq!((sent.session, &sent.request), (*session, request));
                assert_eq!(sent.reply, None, "{call:?} is answered twice");
                assert!(self.now <= sent.latest, "{call:?} is answered too late");
                sent.reply = Some(reply.clone());
                if let (Reply::Refused(refusal), Some(mode)) = (reply, self.open.get(session)) {
                    check_mode(refusal, *mode);
                }
            }
            Output::Run { call, target, .. } => {
                let sent = &self.calls[call];
                assert_eq!(sent.reply, None, "{call:?} runs after its answer");
                if sent.access == Some(Access::Act) {
                    let other = self.acting.insert(target.clone(), *call);
                    assert_eq!(other, None, "two calls act on {target:?}");
                }
            }
            Output::RunTool { call, .. } => {
                let sent = &self.calls[call];
                assert_eq!(sent.reply, None, "{call:?} runs after its answer");
            }
            Output::Abort { call } => {
                assert_eq!(
                    self.calls[call].reply, None,
                    "{call:?} aborted when answered"
                );
            }
            Output::ToolsChanged { session } => assert!(self.open.contains_key(session)),
            _ => {}
        }
    }

    fn appears(&mut self, tab: TabFacts, origin: TabOpener) {
        let browser = self.browser.id.expect("it is connected");
        self.happen(Input::TabAppeared {
            browser,
            tab,
            origin,
        });
    }

    fn goes(&mut self, url: &str, crashed: bool) {
        let target = self.browser.at(url);
        self.browser.remove(&target);
        let browser = self.browser.id.expect("it is connected");
        self.happen(Input::TabGone {
            browser,
            target,
            crashed,
        });
    }
}

/// The saved state must not change without a new persistence version.
pub(super) fn check_persistence_version(core: &Core, before: &mut (u64, String)) {
    let now = (core.persistence_version(), core.persisted_state());
    let is_first = before.1.is_empty();
    assert!(
        is_first || now.0 != before.0 || now.1 == before.1,
        "{} became {} with the same version",
        before.1,
        now.1
    );
    *before = now;
}
