//! A session with several browsers, of which the test decides who answers.

use super::super::browser::facts;
use super::super::sim::*;
use crate::Access::Act;
use crate::{
    BrowserFacts, BrowserId, BrowserKey, BrowserRef, BrowserRow, BrowserState, CallId, CallKind,
    Config, ConnectFailure, Core, Finish, Input, Output, Renewed, Reply, RequestId, SessionConfig,
    SessionId, Time,
};
use std::time::Duration;

/// A core and browsers at `http://1`, `http://2`, …, of which some answer.
pub(super) struct SeveralBrowsers {
    pub(super) core: Core,
    pub(super) now: Time,
    pub(super) up: Vec<&'static str>,
    /// Whether attempts to connect hang.
    pub(super) hangs: bool,
    /// Whether a browser that connects replaces one that is gone.
    pub(super) replaces: bool,
    /// Why browsers that are not up fail.
    pub(super) failure: ConnectFailure,
    pub(super) calls: u64,
    pub(super) replies: Vec<(CallId, Reply, Option<Renewed>)>,
    /// Every attempt to connect: where, when, and whether the start command may run.
    pub(super) attempts: Vec<(BrowserKey, Duration, bool)>,
    pub(super) disconnects: usize,
}

pub(super) const URLS: [&str; 3] = ["http://1", "http://2", "http://3"];

pub(super) fn browser_ref(url: &str) -> BrowserRef {
    BrowserRef {
        key: BrowserKey(url.into()),
        label: url.into(),
        attached: true,
        leased: false,
    }
}

pub(super) fn session(count: usize) -> SessionConfig {
    SessionConfig {
        browsers: URLS[..count].iter().map(|url| browser_ref(url)).collect(),
        ..fixed()
    }
}

impl SeveralBrowsers {
    pub(super) fn with(count: usize) -> Self {
        Self::with_session(session(count))
    }

    pub(super) fn with_session(config: SessionConfig) -> Self {
        let mut harness = Self {
            core: Core::new(Config {
                page_actions: vec![SNAPSHOT, CLICK, HANDLE_DIALOG],
                tab_tools: vec![SNAPSHOT, CLICK, HANDLE_DIALOG],
                static_tools: STATIC_TOOLS.to_vec(),
                ..Config::default()
            }),
            now: Time::default(),
            up: URLS.to_vec(),
            hangs: false,
            replaces: false,
            failure: ConnectFailure::Failed {
                error: "connection refused".into(),
                instructions: "Start it".into(),
            },
            calls: 0,
            replies: vec![],
            attempts: vec![],
            disconnects: 0,
        };
        let session = ONE;
        harness.happen(Input::SessionOpened { session, config });
        harness
    }

    pub(super) fn happen(&mut self, input: Input) {
        self.core.handle(self.now, input);
        self.carry_out();
    }

    pub(super) fn carry_out(&mut self) {
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

    /// Every browser shows one page, which is active.
    pub(super) fn answer(&self, browser: BrowserId, key: &BrowserKey) -> Input {
        if !self.up.contains(&&*key.0) {
            let failure = self.failure.clone();
            return Input::ConnectFailed { browser, failure };
        }
        let tab = facts(&format!("T-{}", key.0), &format!("{}/page", key.0));
        Input::Connected {
            replaces: self.replaces,
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

    pub(super) fn ask(&mut self, kind: CallKind, browser: Option<i64>) -> CallId {
        self.ask_of(ONE, kind, browser)
    }

    pub(super) fn ask_of(
        &mut self,
        session: SessionId,
        kind: CallKind,
        browser: Option<i64>,
    ) -> CallId {
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

    pub(super) fn call(&mut self, kind: CallKind, browser: Option<i64>) -> Reply {
        let call = self.ask(kind, browser);
        self.wait_for(call)
    }

    /// Lets time pass until the call is answered.
    pub(super) fn wait_for(&mut self, call: CallId) -> Reply {
        loop {
            let answered = self.replies.iter().find(|(id, ..)| *id == call);
            if let Some((_, reply, _)) = answered {
                return reply.clone();
            }
            self.now = self.core.poll_timeout().expect("it is answered");
            self.core.handle_timeout(self.now);
            self.carry_out();
        }
    }

    pub(super) fn refusal(&mut self, kind: CallKind, browser: Option<i64>) -> String {
        match self.call(kind, browser) {
            Reply::Refused(refusal) => refusal.to_string(),
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn rows(&mut self) -> Vec<BrowserRow> {
        match self.call(CallKind::ListBrowsers, None) {
            Reply::Browsers { browsers } => browsers,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn states(&mut self) -> Vec<BrowserState> {
        self.rows().iter().map(|row| row.state).collect()
    }

    pub(super) fn clicks_in(&mut self, browser: Option<i64>) -> String {
        let reply = self.call(page(CLICK, Act), browser);
        let Reply::Done { tab, .. } = reply else {
            panic!("{reply:?}");
        };
        let mut tabs = self.core.tabs();
        let tab = tabs.find(|view| view.id == tab).expect("it is there");
        tab.url.to_owned()
    }

    pub(super) fn browser(&self, url: &str) -> BrowserId {
        let mut browsers = self.core.browsers();
        let found = browsers.find(|view| &*view.key.0 == url);
        found.expect("it is known").id
    }

    pub(super) fn connection_lost(&mut self, url: &'static str) {
        self.up.retain(|up| *up != url);
        let browser = self.browser(url);
        let reason = "the connection to it ended".into();
        self.happen(Input::ConnectionLost { browser, reason });
    }

    pub(super) fn dies(&mut self, url: &'static str) {
        self.up.retain(|up| *up != url);
        let browser = self.browser(url);
        let reason = "it was closed".into();
        self.happen(Input::BrowserGone { browser, reason });
    }
}

pub(super) fn reconnect(force: bool) -> CallKind {
    CallKind::ReconnectBrowser { force }
}
