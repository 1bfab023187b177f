//! What page tools cost with very many tabs: `cargo bench -p tabmux-core`.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark reads the clock and prints"
)]

use std::hint::black_box;
use std::time::Instant;
use tabmux_core::{
    BrowserKey, CallId, CallKind, Config, ConnectionId, Core, DocumentId, Finish, Input, Mode,
    Output, PageFacts, PageId, RequestId, SchemaId, SessionConfig, SessionId, TabLocation, TabRef,
    Time, ToolFacts, ToolKey, ToolName,
};

fn main() {
    let empty = memory();
    let mut core = with_sessions(20);
    println!("{TABS} tabs, 20 sessions");
    report("a tab registers itself", TABS, |tab| open(&mut core, tab));
    let with_tabs = memory();
    println!("memory of a tab: {} bytes", (with_tabs - empty) / TABS);

    report("registration, one of 50 names", TABS, |n| {
        register(&mut core, n, "first", n as u64 % 50);
    });
    report("registration, the same name everywhere", TABS, |n| {
        register(&mut core, n, "shared", 1000);
    });
    println!(
        "memory of a tool in a tab: {} bytes",
        (memory() - with_tabs) / TABS / 2
    );
    settle(&mut core);

    let (session, name) = (SessionId(1), ToolName::new("shared"));
    report("routing, no tab in front", RUNS, |_| {
        black_box(core.page_tool(session, name));
    });
    activate(&mut core, TABS / 2);
    report("routing, a tab in front", RUNS, |_| {
        black_box(core.page_tool(session, name));
    });
    settle(&mut core);
    report("a whole call, routed, run and answered", RUNS, |n| {
        call(&mut core, n, None);
    });
    report("a whole call to a tab that is named", RUNS, |n| {
        call(&mut core, RUNS + n, Some(&page(n % TABS).0));
    });
    report("the tab in front changes", TABS, |n| activate(&mut core, n));
    settle(&mut core);
    report("the list of a static session", 1_000, |_| {
        black_box(core.tools(session));
    });
    report("a tab closes with its tools", TABS, |n| {
        core.handle(
            Time::default(),
            Input::PageGone {
                connection: connection(n),
                page: page(n),
            },
        );
        drain(&mut core);
    });
    lists();
}

/// Many names, and sessions that are notified of each change.
fn lists() {
    let mut core = with_sessions(20);
    for n in 0..NAMES {
        let tab = n % 200;
        open(&mut core, tab);
        register(&mut core, tab, "named", n as u64);
    }
    settle(&mut core);
    report(
        "a change of one of 800 names, told to 20 sessions",
        1_000,
        |n| {
            let name = n % NAMES;
            let tool = ToolFacts {
                key: ToolKey(name as u64),
                name: format!("named_{name}").into(),
                schema: SchemaId(1_000_000 + n as u64),
                read_only: false,
            };
            let (connection, page) = (connection(name % 200), page(name % 200));
            let told = Input::ToolRegistered {
                connection,
                page,
                tool,
            };
            core.handle(Time::default(), told);
            settle(&mut core);
        },
    );
}

fn with_sessions(sessions: u64) -> Core {
    let mut core = Core::new(Config {
        page_connections: 100,
        ..Config::default()
    });
    for session in 1..=sessions {
        let mut config = SessionConfig::new(BrowserKey("chrome".into()));
        config.mode = Mode::Static;
        let session = SessionId(session);
        core.handle(Time::default(), Input::SessionOpened { session, config });
    }
    for n in 0..TABS / TABS_PER_WORKER {
        core.handle(
            Time::default(),
            Input::PagesConnected {
                connection: ConnectionId(n as u64),
                origin: format!("http://localhost:{n}").into(),
            },
        );
    }
    core
}

fn open(core: &mut Core, tab: usize) {
    let url = "http://localhost/app".into();
    let page = PageFacts {
        id: page(tab),
        url,
        title: "An application".into(),
        document: DocumentId(1),
    };
    let connection = connection(tab);
    core.handle(Time::default(), Input::PageAppeared { connection, page });
    drain(core);
}

fn register(core: &mut Core, tab: usize, name: &str, key: u64) {
    core.handle(
        Time::default(),
        Input::ToolRegistered {
            connection: connection(tab),
            page: page(tab),
            tool: ToolFacts {
                key: ToolKey(key),
                name: match key {
                    1000 => name.into(),
                    _ => format!("{name}_{key}").into(),
                },
                schema: SchemaId(key),
                read_only: false,
            },
        },
    );
    drain(core);
}

fn activate(core: &mut Core, tab: usize) {
    let tab = TabLocation::Page {
        connection: connection(tab),
        page: page(tab),
    };
    core.handle(Time::default(), Input::TabActivated { tab });
    drain(core);
}

fn call(core: &mut Core, n: usize, tab: Option<&str>) {
    let call = CallId(n as u64);
    core.handle(
        Time::default(),
        Input::Call {
            call,
            session: SessionId(1),
            request: RequestId("r".into()),
            kind: CallKind::PageTool {
                name: ToolName::new("shared"),
                tab: tab.map(TabRef::from),
            },
            browser: None,
            timeout: None,
        },
    );
    assert!(matches!(core.poll_output(), Some(Output::RunTool { .. })));
    let outcome = Finish::Done;
    core.handle(Time::default(), Input::Finished { call, outcome });
    assert!(matches!(core.poll_output(), Some(Output::Reply { .. })));
    drain(core);
}

fn settle(core: &mut Core) {
    while let Some(at) = core.poll_timeout() {
        core.handle_timeout(at);
        drain(core);
    }
}

fn drain(core: &mut Core) {
    while let Some(output) = core.poll_output() {
        black_box(output);
    }
}

fn report(what: &str, runs: usize, mut act: impl FnMut(usize)) {
    let batch = runs / BATCHES;
    let mut each: Vec<_> = (0..BATCHES)
        .map(|n| {
            let began = Instant::now();
            (n * batch..(n + 1) * batch).for_each(&mut act);
            began.elapsed().as_nanos() / batch as u128
        })
        .collect();
    each.sort_unstable();
    let median = each.get(BATCHES / 2).expect("there are batches");
    println!("{what}: {median} ns");
}

fn page(tab: usize) -> PageId {
    PageId(format!("550e8400-e29b-41d4-a716-{tab:012}").into())
}

fn connection(tab: usize) -> ConnectionId {
    ConnectionId((tab / TABS_PER_WORKER) as u64)
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

/// The result is the median of this many parts, so that load on the machine matters less.
const BATCHES: usize = 50;
const TABS: usize = 10_000;
const NAMES: usize = 800;
const TABS_PER_WORKER: usize = 500;
const RUNS: usize = 100_000;
