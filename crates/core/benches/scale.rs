//! What one session pays for the others: `cargo bench -p tabmux-core --bench scale`.
//!
//! The same work is measured in a small core and in one with a thousand times as many sessions, tabs and browsers.
//! Each row prints both times; a row that grows with the size of the core is a defect.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark reads the clock and prints"
)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};
use tabmux_core::{
    Access, BrowserFacts, BrowserId, BrowserKey, CallId, CallKind, Config, Core, DocumentId,
    Finish, Input, Mode, Output, RequestId, SchemaId, SessionConfig, SessionId, Source, TabFacts,
    TabOpener, TargetId, Time, ToolFacts, ToolKey, ToolName,
};

fn main() {
    let small = measure(1);
    let large = measure(1_000);
    println!("{:<58} {:>12} {:>12}", "", "10 sessions", "10,000");
    for ((what, few), (_, many)) in small.times.iter().zip(&large.times) {
        println!("{what:<58} {few:>9} ns {many:>9} ns");
    }
    println!(
        "memory: {} bytes for a session with its {TABS_EACH} tabs",
        large.memory / large.sessions
    );
}

struct Measured {
    times: Vec<(&'static str, u128)>,
    memory: usize,
    sessions: usize,
}

/// Ten sessions of ten tabs in every browser.
fn measure(browsers: usize) -> Measured {
    let before = memory();
    let mut world = World::new(browsers);
    let held = memory() - before;
    let mut times = Vec::new();
    let mut row = |what, act: &mut dyn FnMut(usize)| times.push((what, median(act)));

    row("a page action: called, run and answered", &mut |n| {
        world.act(n);
    });
    row("list_pages", &mut |n| world.list_pages(n));
    row("a tab changes its title", &mut |n| world.title(n));
    row("a page finds a new tool of its own", &mut |n| world.tool(n));
    row(
        "a page is a new document, and finds its tool again",
        &mut |n| {
            world.document(n);
        },
    );
    row("a tab opens and closes", &mut |n| world.tab(n));
    row("a session opens and closes", &mut |n| world.session(n));
    row("the tool list of a session", &mut |n| {
        let session = world.pick(n);
        black_box(world.core.tools(session));
    });
    world.offer_everywhere();
    row(
        "the tab of a page tool that every tab has is chosen",
        &mut |n| {
            black_box(world.route(n));
        },
    );
    row("the same, chosen, run and answered", &mut |n| {
        world.run_tool(n);
    });
    world.keep_one_call_each();
    row(
        "a page action, while each session has a call at work",
        &mut |n| world.act(n),
    );
    row("a tab changes its title, while each has a call", &mut |n| {
        world.title(n);
    });
    Measured {
        times,
        memory: held,
        sessions: browsers * SESSIONS_EACH,
    }
}

struct World {
    core: Core,
    now: Time,
    calls: u64,
    sessions: usize,
    browsers: usize,
    /// The browser and the tab in which each session works.
    places: BTreeMap<SessionId, (BrowserId, TargetId)>,
    targets: u64,
    /// The documents that tabs showed so far, of all tabs.
    documents: BTreeMap<TargetId, u64>,
}

impl World {
    fn new(browsers: usize) -> Self {
        let config = Config {
            sessions: usize::MAX,
            page_tools: usize::MAX,
            ..Config::default()
        };
        let mut world = Self {
            core: Core::new(config),
            now: Time::default(),
            calls: 0,
            sessions: browsers * SESSIONS_EACH,
            browsers,
            places: BTreeMap::new(),
            targets: 0,
            documents: BTreeMap::new(),
        };
        for n in 0..world.sessions {
            world.open_session(SessionId(n as u64 + 1), n);
        }
        world.settle();
        world
    }

    fn open_session(&mut self, session: SessionId, n: usize) {
        let browser = n % self.browsers;
        let mut config = SessionConfig::new(BrowserKey(format!("browser {browser}").into()));
        config.mode = match n % 2 {
            0 => Mode::Static,
            _ => Mode::Progressive,
        };
        let mode = config.mode;
        self.input(Input::SessionOpened { session, config });
        let open = match mode {
            Mode::Progressive => {
                let launch = true;
                self.complete(session, CallKind::ConnectBrowser { launch });
                let (url, focus) = ("https://example.com".into(), true);
                CallKind::OpenTab { url, focus }
            }
            Mode::Static => CallKind::NewPage {
                url: "https://example.com".into(),
            },
        };
        for _ in 0..TABS_EACH {
            self.complete(session, open.clone());
        }
    }

    /// Makes a call and does all the work that the core asks for.
    fn complete(&mut self, session: SessionId, kind: CallKind) {
        let call = self.call(session, kind);
        while let Some(output) = self.core.poll_output() {
            match output {
                Output::Connect { browser, .. } => self.input(Input::Connected {
                    browser,
                    about: BrowserFacts {
                        name: "Chrome".into(),
                        version: "156".into(),
                        launched: true,
                    },
                    tabs: Vec::new(),
                    front: None,
                    replaces: false,
                }),
                Output::OpenTab { call, browser, .. } => {
                    self.targets += 1;
                    let target = TargetId(self.targets.to_string().into());
                    self.places.insert(session, (browser, target.clone()));
                    let tab = facts(target, "Example");
                    let origin = TabOpener::Call(call);
                    self.input(Input::TabAppeared {
                        browser,
                        tab,
                        origin,
                    });
                    self.finish(call);
                }
                Output::Run { call, .. }
                | Output::RunTool { call, .. }
                | Output::Refresh { call, .. }
                | Output::PrepareFocus { call, .. } => self.finish(call),
                Output::Reply {
                    call: id, reply, ..
                } => {
                    assert_eq!(id, call, "{reply:?}");
                    black_box(reply);
                }
                other => {
                    black_box(other);
                }
            }
        }
    }

    fn call(&mut self, session: SessionId, kind: CallKind) -> CallId {
        self.calls += 1;
        let call = CallId(self.calls);
        self.input(Input::Call {
            call,
            session,
            request: RequestId(self.calls.to_string().into()),
            kind,
            browser: None,
            timeout: None,
        });
        call
    }

    fn act(&mut self, n: usize) {
        let session = self.pick(n);
        self.complete(session, action(Access::Act));
    }

    fn list_pages(&mut self, n: usize) {
        // Every second session has the fixed list.
        let session = self.pick(n * 2);
        self.complete(session, CallKind::ListPages);
    }

    fn title(&mut self, n: usize) {
        let (browser, target) = self.place(n);
        let tab = facts(target, if n.is_multiple_of(2) { "One" } else { "Two" });
        self.input(Input::TabChanged { browser, tab });
        self.drain();
    }

    fn tool(&mut self, n: usize) {
        let (browser, target) = self.place(n);
        let tool = ToolFacts {
            key: ToolKey(n as u64 % 50),
            name: format!("tool_{}", n % 50).into(),
            schema: SchemaId(n as u64),
            read_only: false,
        };
        self.input(Input::ToolsFound {
            browser,
            document: self.document_of(&target),
            target,
            source: Source::WebMcp,
            tools: vec![tool],
            left_out: 0,
        });
        self.settle();
    }

    /// The page of each session's tab offers a tool of the same name.
    fn offer_everywhere(&mut self) {
        let tool = ToolFacts {
            key: ToolKey(1),
            name: SHARED.as_str().into(),
            schema: SchemaId(1),
            read_only: true,
        };
        let places: Vec<_> = self.places.values().cloned().collect();
        for (browser, target) in places {
            self.input(Input::ToolsFound {
                browser,
                document: self.document_of(&target),
                target,
                source: Source::WebMcp,
                tools: vec![tool.clone()],
                left_out: 0,
            });
        }
        self.settle();
    }

    fn document_of(&self, target: &TargetId) -> DocumentId {
        DocumentId(self.documents.get(target).copied().unwrap_or_default())
    }

    fn route(&self, n: usize) -> bool {
        let call = CallKind::PageTool {
            name: SHARED,
            tab: None,
        };
        self.core.tool_of_call(self.pick(n), &call).is_some()
    }

    fn run_tool(&mut self, n: usize) {
        let call = CallKind::PageTool {
            name: SHARED,
            tab: None,
        };
        self.complete(self.pick(n), call);
    }

    fn document(&mut self, n: usize) {
        let (browser, target) = self.place(n);
        let count = self.documents.entry(target.clone()).or_default();
        *count += 1;
        let document = DocumentId(*count);
        self.input(Input::DocumentChanged {
            browser,
            target,
            document,
        });
        self.drain();
        self.tool(n);
    }

    fn tab(&mut self, n: usize) {
        let (browser, _) = self.place(n);
        self.targets += 1;
        let target = TargetId(self.targets.to_string().into());
        let (tab, origin) = (facts(target.clone(), "New"), TabOpener::Browser);
        self.input(Input::TabAppeared {
            browser,
            tab,
            origin,
        });
        let crashed = false;
        self.input(Input::TabGone {
            browser,
            target,
            crashed,
        });
        self.settle();
    }

    fn session(&mut self, n: usize) {
        let session = SessionId(1_000_000 + n as u64);
        let browser = n % self.browsers;
        let config = SessionConfig::new(BrowserKey(format!("browser {browser}").into()));
        self.input(Input::SessionOpened { session, config });
        self.input(Input::SessionClosed { session });
        self.drain();
    }

    /// A read that does not end runs in the tab of each session.
    fn keep_one_call_each(&mut self) {
        for n in 0..self.sessions {
            self.call(SessionId(n as u64 + 1), action(Access::Read));
            self.drain();
        }
    }

    /// A session, each time another one.
    fn pick(&self, n: usize) -> SessionId {
        SessionId((n * 7_919 % self.sessions) as u64 + 1)
    }

    fn place(&self, n: usize) -> (BrowserId, TargetId) {
        let place = self.places.get(&self.pick(n));
        place.expect("every session has tabs").clone()
    }

    fn finish(&mut self, call: CallId) {
        let outcome = Finish::Done;
        self.input(Input::Finished { call, outcome });
    }

    fn input(&mut self, input: Input) {
        self.now = self.now + Duration::from_micros(1);
        self.core.handle(self.now, input);
    }

    /// Lets the timers of the next second fire; deadlines of calls are later.
    fn settle(&mut self) {
        let until = self.now + Duration::from_secs(1);
        self.drain();
        while let Some(at) = self.core.poll_timeout().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.core.handle_timeout(self.now);
            self.drain();
        }
    }

    fn drain(&mut self) {
        while let Some(output) = self.core.poll_output() {
            black_box(output);
        }
    }
}

fn action(access: Access) -> CallKind {
    CallKind::Page {
        tool: ToolName::new("click"),
        access,
        tab: None,
    }
}

fn facts(target: TargetId, title: &str) -> TabFacts {
    TabFacts {
        target,
        url: "https://example.com".into(),
        title: Some(title.into()),
        blank: false,
        context: None,
    }
}

/// The median time of one run, in nanoseconds: of many short batches, so that load on the machine matters less.
fn median(act: &mut dyn FnMut(usize)) -> u128 {
    let mut each: Vec<_> = (0..BATCHES)
        .map(|batch| {
            let began = Instant::now();
            (batch * RUNS..(batch + 1) * RUNS).for_each(&mut *act);
            began.elapsed().as_nanos() / RUNS as u128
        })
        .collect();
    each.sort_unstable();
    *each.get(BATCHES / 2).expect("there are batches")
}

/// The memory that this process has written to, in bytes.
fn memory() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("this is Linux");
    let resident = pages
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<usize>().ok());
    resident.expect("it is a number") * 4096
}

const SHARED: ToolName = ToolName::new("save");
const SESSIONS_EACH: usize = 10;
const TABS_EACH: usize = 10;
const BATCHES: usize = 21;
const RUNS: usize = 20;
