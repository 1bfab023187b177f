//! The closed set of events, and the one task that handles them and owns the core.

use crate::options::{BrowserPlan, SessionOptions};
use crate::work::{self, Job};
use crate::{catalogue, convert};
use std::collections::HashMap;
use tabmux_browser::tools::{Prepared, ToolResult};
use tabmux_browser::{Browser, BrowserEvent, ConnectError, Connected, Files};
use tabmux_core::{
    BrowserId, BrowserKey, CallId, Config, Core, Finish, Input, Output, Reply, SessionId, TargetId,
    Time,
};
use tabmux_protocol::{
    BackendEvent, CallFailure, CallReply, CallRequest, Progress, RequestId, ToolInfo,
};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Everything that can make the main loop act.
#[derive(Debug)]
pub(crate) enum Event {
    /// A client arrived.
    Open { session: SessionId, options: Box<SessionOptions>, notify: mpsc::Sender<BackendEvent> },
    /// A client left.
    Close { session: SessionId },
    /// A client wants its tool list.
    Tools { session: SessionId, answer: oneshot::Sender<Vec<ToolInfo>> },
    /// A client calls a tool.
    Call { session: SessionId, request: CallRequest, answer: Answer },
    /// A client no longer wants an answer.
    Cancel { session: SessionId, request: RequestId },
    /// A browser reports something.
    Browser { browser: BrowserId, event: BrowserEvent },
    /// An attempt to connect is over.
    Connected { browser: BrowserId, result: Result<Box<Connected>, ConnectError> },
    /// Work for a call is over; the text says why it failed.
    Finished { call: CallId, outcome: Result<(), String> },
    /// A page action is over.
    Ran { call: CallId, browser: BrowserId, result: ToolResult },
    /// A page action has come further.
    Progressed { call: CallId, message: String },
    /// The end.
    ShutDown,
}

/// Where a call's one answer goes.
pub(crate) type Answer = oneshot::Sender<Result<CallReply, CallFailure>>;

impl From<(u32, BrowserEvent)> for Event {
    fn from((browser, event): (u32, BrowserEvent)) -> Self {
        Self::Browser { browser: BrowserId(browser), event }
    }
}

/// The loop's own state: the core, and what the core keeps away from itself.
pub(crate) struct MainLoop {
    core: Core,
    start: Instant,
    events: mpsc::Sender<Event>,
    sessions: HashMap<SessionId, Session>,
    plans: HashMap<BrowserKey, BrowserPlan>,
    browsers: HashMap<BrowserId, Browser>,
    calls: HashMap<CallId, Call>,
    next_call: u64,
    /// Browsers on their way, so that none is forgotten at the end.
    connecting: JoinSet<()>,
}

struct Session {
    notify: mpsc::Sender<BackendEvent>,
    options: Box<SessionOptions>,
}

struct Call {
    answer: Answer,
    session: SessionId,
    request: RequestId,
    wants_progress: bool,
    progress: f64,
    prepared: Option<Prepared>,
    payload: Option<CallReply>,
    cancel: CancellationToken,
}

impl MainLoop {
    pub(crate) fn new(events: mpsc::Sender<Event>) -> Self {
        let config = Config { page_actions: catalogue::page_actions(), ..Config::default() };
        Self {
            core: Core::new(config),
            start: Instant::now(),
            events,
            sessions: HashMap::new(),
            plans: HashMap::new(),
            browsers: HashMap::new(),
            calls: HashMap::new(),
            next_call: 1,
            connecting: JoinSet::new(),
        }
    }

    /// Handles events until the end, then lets go of every browser.
    pub(crate) async fn run(mut self, mut inbox: mpsc::Receiver<Event>) {
        loop {
            let alarm = self.core.poll_timeout();
            tokio::select! {
                event = inbox.recv() => match event {
                    None | Some(Event::ShutDown) => break,
                    Some(event) => self.handle(event),
                },
                () = work::sleep_until(self.start, alarm) => {
                    let now = self.now();
                    self.core.handle_timeout(now);
                }
            }
            while let Some(output) = self.core.poll_output() {
                self.perform(output);
            }
        }
        for call in self.calls.values() {
            call.cancel.cancel();
        }
        self.connecting.shutdown().await;
        // Browsers report their end to this queue, which nobody reads any more.
        inbox.close();
        let ends = self.browsers.values().map(Browser::shut_down);
        futures_util::future::join_all(ends).await;
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Open { session, options, notify } => self.open(session, options, notify),
            Event::Close { session } => {
                self.sessions.remove(&session);
                self.input(Input::SessionClosed { session });
            }
            Event::Tools { session, answer } => {
                let tools = self.core.tools(session).into_iter().filter_map(catalogue::info);
                let _ = answer.send(tools.collect());
            }
            Event::Call { session, request, answer } => self.call(session, request, answer),
            Event::Cancel { session, request } => {
                self.input(Input::Cancel { session, request: convert::request_id(&request) });
            }
            Event::Browser { browser, event } => self.browser_event(browser, event),
            Event::Connected { browser, result } => self.connected(browser, result),
            Event::Finished { call, outcome } => {
                let outcome = outcome.map_or_else(|message| Finish::Failed { message }, |()| Finish::Done);
                self.input(Input::Finished { call, outcome });
            }
            Event::Ran { call, browser, result } => self.ran(call, browser, result),
            Event::Progressed { call, message } => self.progressed(call, message),
            Event::ShutDown => {}
        }
    }

    fn open(
        &mut self,
        session: SessionId,
        options: Box<SessionOptions>,
        notify: mpsc::Sender<BackendEvent>,
    ) {
        let key = BrowserKey(options.browser.key().into());
        let page_actions = options.page_actions;
        self.plans.entry(key.clone()).or_insert_with(|| options.browser.clone());
        self.sessions.insert(session, Session { notify, options });
        self.input(Input::SessionOpened { session, browser: key, page_actions });
    }

    fn call(&mut self, session: SessionId, request: CallRequest, answer: Answer) {
        let policy = self.sessions.get(&session).map(|s| s.options.browser.policy).unwrap_or_default();
        let parsed = match convert::parse(&request, policy) {
            Ok(parsed) => parsed,
            Err(convert::Rejected::UnknownTool) => {
                let _ = answer.send(Err(CallFailure::UnknownTool { name: request.tool }));
                return;
            }
            Err(convert::Rejected::Arguments(text)) => {
                let _ = answer.send(Ok(CallReply::error(text)));
                return;
            }
        };
        let call = CallId(self.next_call);
        self.next_call += 1;
        let name = convert::request_id(&request.request_id);
        let entry = Call {
            answer,
            session,
            request: request.request_id,
            wants_progress: request.progress,
            progress: 0.0,
            prepared: parsed.prepared,
            payload: None,
            cancel: CancellationToken::new(),
        };
        self.calls.insert(call, entry);
        let (kind, timeout) = (parsed.kind, parsed.timeout);
        self.input(Input::Call { call, session, request: name, kind, timeout });
    }

    fn connected(&mut self, browser: BrowserId, result: Result<Box<Connected>, ConnectError>) {
        while self.connecting.try_join_next().is_some() {}
        match result {
            Ok(connected) => {
                let about = convert::about(&connected.info);
                let tabs = connected.info.tabs.iter().cloned().map(convert::facts).collect();
                let handle = connected.follow(browser.0, self.events.clone());
                self.browsers.insert(browser, handle);
                self.input(Input::Connected { browser, about, tabs });
            }
            Err(error) => {
                tracing::info!(%error, "could not connect");
                let failure = convert::connect_failure(&error);
                self.input(Input::ConnectFailed { browser, failure });
            }
        }
    }

    fn browser_event(&mut self, browser: BrowserId, event: BrowserEvent) {
        let target = |id: tabmux_browser::TargetId| TargetId(id.as_str().into());
        let input = match event {
            BrowserEvent::TabAppeared { tab, origin } => Input::TabAppeared {
                browser,
                tab: convert::facts(tab),
                origin: match origin {
                    tabmux_browser::Origin::Browser => tabmux_core::Origin::Browser,
                    tabmux_browser::Origin::Spare => tabmux_core::Origin::Spare,
                    tabmux_browser::Origin::Call(tag) => tabmux_core::Origin::Call(CallId(tag)),
                    tabmux_browser::Origin::Popup { opener } => {
                        tabmux_core::Origin::Popup { opener: target(opener) }
                    }
                },
            },
            BrowserEvent::TabChanged(tab) => Input::TabChanged { browser, tab: convert::facts(tab) },
            BrowserEvent::TabGone { target: id, gone } => Input::TabGone {
                browser,
                target: target(id),
                crashed: gone == tabmux_browser::Gone::Crashed,
            },
            BrowserEvent::Gone => {
                self.browsers.remove(&browser);
                Input::BrowserGone { browser, reason: "it was closed or its connection ended".into() }
            }
        };
        self.input(input);
    }

    fn ran(&mut self, call: CallId, browser: BrowserId, result: ToolResult) {
        let payload = match result {
            Ok(output) => {
                let opened = output.opened.iter();
                let numbers = opened.filter_map(|id| self.core.tab(browser, &TargetId(id.as_str().into())));
                let numbers: Vec<_> = numbers.collect();
                convert::output(output, &numbers)
            }
            Err(error) => CallReply::error(error.to_string()),
        };
        if let Some(call) = self.calls.get_mut(&call) {
            call.payload = Some(payload);
        }
        self.input(Input::Finished { call, outcome: Finish::Done });
    }

    fn progressed(&mut self, call: CallId, message: String) {
        let Some(call) = self.calls.get_mut(&call).filter(|call| call.wants_progress) else { return };
        let Some(session) = self.sessions.get(&call.session) else { return };
        call.progress += 1.0;
        let progress = Progress {
            request_id: call.request.clone(),
            value: call.progress,
            total: None,
            message: Some(message),
        };
        // Whoever is too slow for news of progress does without.
        let _ = session.notify.try_send(BackendEvent::Progress(progress));
    }

    /// Does what the core wants done. Never waits: whatever takes time becomes a task.
    fn perform(&mut self, output: Output) {
        match output {
            Output::Connect { browser, key, launch } => {
                if let Some(plan) = self.plans.get(&key).cloned() {
                    let connect = work::connect(browser, plan, launch, self.events.clone());
                    self.connecting.spawn(connect);
                }
            }
            Output::Refresh { call, browser } => self.start(call, browser, work::refresh),
            Output::OpenTab { call, browser, url, focus } => {
                self.start(call, browser, |job| work::open_tab(job, url, focus));
            }
            Output::PrepareFocus { call, browser, target } => {
                self.start(call, browser, |job| work::prepare_focus(job, target));
            }
            Output::CloseTab { call, browser, target, last } => {
                self.start(call, browser, |job| work::close_tab(job, target, last));
            }
            Output::Run { call, browser, target } => self.run_tool(call, browser, target),
            Output::Abort { call } => {
                if let Some(call) = self.calls.get(&call) {
                    call.cancel.cancel();
                }
            }
            Output::Discard { browser, target, last } => {
                if let Some(browser) = self.browsers.get(&browser).cloned() {
                    tokio::spawn(work::discard(browser, target, last));
                }
            }
            Output::Hold { browser, target } => self.hold(browser, target, true),
            Output::Release { browser, target } => self.hold(browser, target, false),
            Output::Reply { call, reply, .. } => self.reply(call, reply),
            Output::ToolsChanged { session } => {
                if let Some(session) = self.sessions.get(&session)
                    && session.notify.try_send(BackendEvent::ToolsChanged).is_err()
                {
                    tracing::warn!("a client does not read its notifications");
                }
            }
            Output::SessionRefused { session, refusal } => {
                tracing::warn!(?session, %refusal, "a session was refused");
            }
        }
    }

    /// Starts work for a call in a task of its own.
    fn start<F>(&self, call: CallId, browser: BrowserId, work: impl FnOnce(Job) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (Some(entry), Some(handle)) = (self.calls.get(&call), self.browsers.get(&browser)) else {
            return;
        };
        let job = Job {
            call,
            browser,
            handle: handle.clone(),
            cancel: entry.cancel.clone(),
            events: self.events.clone(),
        };
        tokio::spawn(work(job));
    }

    fn run_tool(&mut self, call: CallId, browser: BrowserId, target: TargetId) {
        let Some(entry) = self.calls.get_mut(&call) else { return };
        let Some(prepared) = entry.prepared.take() else { return };
        let wants_progress = entry.wants_progress;
        let session = self.sessions.get(&entry.session);
        let folder = session.and_then(|session| session.options.folder.clone());
        let files = Files::new(folder, &[]);
        self.start(call, browser, |job| work::run(job, target, prepared, files, wants_progress));
    }

    fn hold(&self, browser: BrowserId, target: TargetId, held: bool) {
        if let Some(browser) = self.browsers.get(&browser).cloned() {
            tokio::spawn(work::hold(browser, target, held));
        }
    }

    fn reply(&mut self, call: CallId, reply: Reply) {
        if let Some(call) = self.calls.remove(&call) {
            // A client that went away needs no answer.
            let _ = call.answer.send(convert::reply(reply, call.payload));
        }
    }

    fn input(&mut self, input: Input) {
        let now = self.now();
        self.core.handle(now, input);
    }

    fn now(&self) -> Time {
        Time::since_start(self.start.elapsed())
    }
}

