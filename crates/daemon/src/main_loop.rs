//! The closed set of events, and the one task that handles them and owns the core.

mod connecting;
mod found;
mod looking;
mod pages;
mod replies;

pub(crate) use pages::PagesEvent;

use crate::audit::Audit;
use crate::contexts::{Context, Contexts};
use crate::extension::Extensions;
use crate::found_tools::FoundTools;
use crate::handle::Client;
use crate::memory::Memory;
use crate::options::{BrowserPlan, SessionOptions};
use crate::page_tools::PageTools;
use crate::work::{self, Job};
use crate::{catalogue, convert};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::tools::{Prepared, ToolResult};
use tabmux_browser::{Browser, BrowserEvent, ConnectError, Connected, Files, TabFacts};
use tabmux_core::{
    BrowserId, BrowserKey, CallId, Config, ConnectionId, Core, Finish, Heritage, Input, Mode,
    Output, Place, SessionId, TargetId, Time, ToolName,
};
use tabmux_protocol::overview::Overview;
use tabmux_protocol::page::ToPage;
use tabmux_protocol::wire::Resume;
use tabmux_protocol::{
    BackendEvent, CallFailure, CallReply, CallRequest, Progress, RequestId, ToolInfo,
};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Everything that can make the main loop act.
#[derive(Debug)]
pub(crate) enum Event {
    /// A client arrived.
    Open {
        session: SessionId,
        options: Box<SessionOptions>,
        client: Client,
        notify: mpsc::Sender<BackendEvent>,
    },
    /// A client says that it had a session at an earlier daemon.
    TakeUp {
        resume: Resume,
        answer: oneshot::Sender<Option<Heritage>>,
    },
    /// Whoever had a session at an earlier daemon had time to come back.
    Abandon,
    /// Something happened on a connection of a page's worker.
    Pages(PagesEvent),
    /// Somebody wants to see everything.
    Overview {
        answer: oneshot::Sender<Overview>,
        titles: Titles,
    },
    /// A client left.
    Close { session: SessionId },
    /// A client wants its tool list.
    Tools {
        session: SessionId,
        answer: oneshot::Sender<Vec<ToolInfo>>,
    },
    /// A client calls a tool.
    Call {
        session: SessionId,
        request: CallRequest,
        answer: Answer,
    },
    /// A client no longer wants an answer.
    Cancel {
        session: SessionId,
        request: RequestId,
    },
    /// A browser reports something.
    Browser {
        browser: BrowserId,
        event: BrowserEvent,
    },
    /// An attempt to connect is over.
    Connected {
        browser: BrowserId,
        result: Result<Box<Connected>, ConnectError>,
    },
    /// Work for a call is over; the text says why it failed.
    Finished {
        call: CallId,
        outcome: Result<(), String>,
    },
    /// A page action is over.
    Ran {
        call: CallId,
        browser: BrowserId,
        result: ToolResult,
    },
    /// A page action has come further.
    Progressed { call: CallId, message: String },
    /// The end.
    ShutDown { done: oneshot::Sender<()> },
}

/// Whether browsers have just been asked how their tabs are called; they do not tell by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Titles {
    Unknown,
    Fresh,
}

/// Where a call's one answer goes.
pub(crate) type Answer = oneshot::Sender<Result<CallReply, CallFailure>>;

impl From<(u32, BrowserEvent)> for Event {
    fn from((browser, event): (u32, BrowserEvent)) -> Self {
        Self::Browser {
            browser: BrowserId(browser),
            event,
        }
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
    /// Tabs and contexts on their way out, so that none stays at the end.
    closing: TaskTracker,
    contexts: Contexts,
    memory: Memory,
    /// Workers of pages that offer tools.
    pages: PageTools,
    /// Tools that were found in browsers' tabs.
    found: FoundTools,
    /// The tab that a worker says the user has in front.
    active: Option<Place>,
    /// Whether several clients share this loop.
    shared: bool,
    audit: Audit,
    /// The extensions that are connected.
    extensions: Arc<Extensions>,
}

struct Session {
    notify: mpsc::Sender<BackendEvent>,
    options: Box<SessionOptions>,
    client: Client,
    opened: Instant,
}

struct Call {
    answer: Answer,
    session: SessionId,
    request: RequestId,
    wants_progress: bool,
    progress: f64,
    mode: Mode,
    started: Instant,
    tool: String,
    /// The tab it works on, once it does.
    place: Option<(BrowserId, TargetId)>,
    prepared: Option<Prepared>,
    wishes: convert::Wishes,
    /// What a page tool is called with.
    page_arguments: Map<String, Value>,
    /// The worker that was told to run it.
    page: Option<ConnectionId>,
    payload: Option<CallReply>,
    cancel: CancellationToken,
}

impl MainLoop {
    pub(crate) fn new(
        events: mpsc::Sender<Event>,
        shared: bool,
        audit: Audit,
        memory: Memory,
        extensions: Arc<Extensions>,
    ) -> Self {
        let config = Config {
            page_actions: catalogue::page_actions(),
            tab_tools: catalogue::page_tools(),
            static_tools: catalogue::static_tools(),
            tabs_counted: memory.tabs_counted(),
            remembered: memory.tabs(),
            ..Config::default()
        };
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
            closing: TaskTracker::new(),
            contexts: Contexts::default(),
            memory,
            pages: PageTools::default(),
            found: FoundTools::default(),
            active: None,
            shared,
            audit,
            extensions,
        }
    }

    /// Handles events until the end, then lets go of every browser.
    pub(crate) async fn run(mut self, mut inbox: mpsc::Receiver<Event>) {
        if let Some(grace) = self.memory.grace() {
            tokio::spawn(work::abandon_later(grace, self.events.clone()));
        }
        let done = loop {
            let alarm = self.core.poll_timeout();
            tokio::select! {
                event = inbox.recv() => match event {
                    None => break None,
                    Some(Event::ShutDown { done }) => break Some(done),
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
            if self.memory.is_kept() {
                let notes = self.notes();
                self.memory.keep(notes);
            }
        };
        for call in self.calls.values() {
            call.cancel.cancel();
        }
        self.connecting.shutdown().await;
        self.closing.close();
        let _ = tokio::time::timeout(CLOSING_LIMIT, self.closing.wait()).await;
        // Browsers report their end to this queue, which nobody reads any more.
        inbox.close();
        let ends = self.browsers.values().map(Browser::shut_down);
        futures_util::future::join_all(ends).await;
        self.memory.finish();
        if let Some(done) = done {
            let _ = done.send(());
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::ShutDown { .. } => {} // Ends the loop itself.
            Event::Open {
                session,
                options,
                client,
                notify,
            } => {
                self.open(session, options, client, notify);
            }
            Event::TakeUp { resume, answer } => drop(answer.send(self.memory.take_up(&resume))),
            Event::Abandon => self.close_abandoned(),
            Event::Pages(event) => self.pages_event(event),
            Event::Overview {
                answer,
                titles: Titles::Fresh,
            } => drop(answer.send(self.overview())),
            Event::Overview {
                answer,
                titles: Titles::Unknown,
            } => {
                let browsers = self.browsers.values().cloned().collect();
                tokio::spawn(work::refresh_all(browsers, answer, self.events.clone()));
            }
            Event::Close { session } => {
                self.close(session);
            }
            Event::Tools { session, answer } => {
                let mode = self
                    .sessions
                    .get(&session)
                    .map(|s| s.options.mode)
                    .unwrap_or_default();
                let several = self.core.has_several(session);
                let tools = self.core.tools(session).into_iter();
                let tools = tools.filter_map(|name| {
                    catalogue::info(name, mode, several)
                        .or_else(|| self.page_tool_info(session, name, mode))
                });
                let _ = answer.send(tools.collect());
            }
            Event::Call {
                session,
                request,
                answer,
            } => self.call(session, request, answer),
            Event::Cancel { session, request } => {
                self.input(Input::Cancel {
                    session,
                    request: convert::request_id(&request),
                });
            }
            Event::Browser { browser, event } => self.browser_event(browser, event),
            Event::Connected { browser, result } => self.connected(browser, result),
            Event::Finished { call, outcome } => {
                let outcome =
                    outcome.map_or_else(|message| Finish::Failed { message }, |()| Finish::Done);
                self.input(Input::Finished { call, outcome });
            }
            Event::Ran {
                call,
                browser,
                result,
            } => self.ran(call, browser, result),
            Event::Progressed { call, message } => self.progressed(call, message),
        }
    }

    fn open(
        &mut self,
        session: SessionId,
        options: Box<SessionOptions>,
        client: Client,
        notify: mpsc::Sender<BackendEvent>,
    ) {
        let config = options.config();
        for plan in &options.browsers {
            self.plan_for(plan.clone());
        }
        let opened = Instant::now();
        self.sessions.insert(
            session,
            Session {
                notify,
                options,
                client,
                opened,
            },
        );
        self.input(Input::SessionOpened { session, config });
    }

    /// Keeps how to come by a browser. The first to mean it says how.
    fn plan_for(&mut self, plan: BrowserPlan) {
        self.plans.entry(plan.meant().key).or_insert(plan);
    }

    /// A session is over, and its contexts are, too.
    fn close(&mut self, session: SessionId) {
        self.input(Input::SessionClosed { session });
        self.sessions.remove(&session);
        for (browser, context) in self.contexts.take(session) {
            if let Some(browser) = self.browsers.get(&browser).cloned() {
                self.closing.spawn(work::end_context(browser, context));
            }
        }
    }

    /// Closes what sessions of an earlier daemon opened and nobody came back for.
    fn close_abandoned(&mut self) {
        let mut elsewhere: HashMap<String, Vec<TargetId>> = HashMap::new();
        for (key, target) in self.memory.take_abandoned() {
            let mut known = self
                .core
                .browsers()
                .filter(|browser| *browser.key.0 == *key);
            let here = known.find_map(|known| Some((known.id, self.browsers.get(&known.id)?)));
            let Some((id, browser)) = here else {
                elsewhere.entry(key).or_default().push(target);
                continue;
            };
            let mut tabs = self.core.tabs().filter(|tab| tab.browser == id);
            let free = tabs.any(|tab| *tab.target == target && tab.holder.or(tab.owner).is_none());
            if free {
                let last = self.core.tabs().filter(|tab| tab.browser == id).count() == 1;
                self.closing
                    .spawn(work::discard(browser.clone(), target, last));
            }
        }
        for (browser, targets) in elsewhere {
            self.closing.spawn(work::close_abandoned(browser, targets));
        }
    }

    fn call(&mut self, session: SessionId, request: CallRequest, answer: Answer) {
        if let Some((request, answer)) = self.look_first(session, request, answer) {
            self.take_call(session, request, answer);
        }
    }

    fn take_call(&mut self, session: SessionId, request: CallRequest, answer: Answer) {
        let options = self.sessions.get(&session).map(|session| &session.options);
        let Some(options) = options else {
            let _ = answer.send(Err(CallFailure::Closed));
            return;
        };
        let mode = options.mode;
        let parsed = match self.page_tool_call(session, &request) {
            Some(parsed) => parsed,
            None => convert::parse(&request, options),
        };
        let parsed = match parsed {
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
        if let Some(plan) = parsed.plan {
            self.plan_for(plan);
        }
        let call = CallId(self.next_call);
        self.next_call += 1;
        let name = convert::request_id(&request.request_id);
        let entry = Call {
            answer,
            session,
            request: request.request_id,
            wants_progress: request.progress,
            progress: 0.0,
            mode,
            started: Instant::now(),
            tool: request.tool,
            place: None,
            prepared: parsed.prepared,
            wishes: parsed.wishes,
            page_arguments: parsed.page_arguments,
            page: None,
            payload: None,
            cancel: CancellationToken::new(),
        };
        self.calls.insert(call, entry);
        let (kind, browser, timeout) = (parsed.kind, parsed.browser, parsed.timeout);
        self.input(Input::Call {
            call,
            session,
            request: name,
            kind,
            browser,
            timeout,
        });
    }

    /// A call by the name of a page's own tool, if it is one.
    fn page_tool_call(
        &self,
        session: SessionId,
        request: &CallRequest,
    ) -> Option<Result<convert::Parsed, convert::Rejected>> {
        let name = ToolName::parse(&request.tool)?;
        let mode = self.sessions.get(&session)?.options.mode;
        if catalogue::info(name, mode, false).is_some() {
            return None;
        }
        self.core.page_tool(session, name)?;
        Some(convert::page_tool(name, &request.arguments))
    }

    fn browser_event(&mut self, browser: BrowserId, event: BrowserEvent) {
        let facts = |tab: TabFacts| {
            let context = tab.context.as_ref();
            let owner = context.and_then(|context| self.contexts.owner(browser, context));
            convert::facts(tab, owner)
        };
        let target = |id: tabmux_browser::TargetId| TargetId(id.as_str().into());
        let input = match event {
            BrowserEvent::TabAppeared { tab, origin } => Input::TabAppeared {
                browser,
                tab: facts(tab),
                origin: match origin {
                    tabmux_browser::Origin::Browser => tabmux_core::Origin::Browser,
                    tabmux_browser::Origin::Spare => tabmux_core::Origin::Spare,
                    tabmux_browser::Origin::Call(tag) => tabmux_core::Origin::Call(CallId(tag)),
                    tabmux_browser::Origin::Popup { opener } => tabmux_core::Origin::Popup {
                        opener: target(opener),
                    },
                },
            },
            BrowserEvent::TabChanged(tab) => Input::TabChanged {
                browser,
                tab: facts(tab),
            },
            BrowserEvent::TabGone { target: id, gone } => {
                let target = target(id);
                self.found.forget_tab(browser, &target);
                Input::TabGone {
                    browser,
                    target,
                    crashed: gone == tabmux_browser::Gone::Crashed,
                }
            }
            BrowserEvent::DocumentChanged {
                target: id,
                document,
            } => self.document_changed(browser, target(id), document),
            BrowserEvent::ToolsFound {
                target: id,
                document,
                source,
                tools,
            } => self.tools_found(browser, target(id), document, source, tools),
            BrowserEvent::Gone => {
                self.browsers.remove(&browser);
                self.contexts.forget(browser);
                self.found.forget_browser(browser);
                Input::BrowserGone {
                    browser,
                    reason: "it was closed or its connection ended".into(),
                }
            }
        };
        self.input(input);
    }

    fn ran(&mut self, call: CallId, browser: BrowserId, result: ToolResult) {
        let payload = match result {
            Ok(output) => {
                let opened = output.opened.iter();
                let numbers =
                    opened.filter_map(|id| self.core.tab(browser, &TargetId(id.as_str().into())));
                let numbers: Vec<_> = numbers.collect();
                convert::output(output, &numbers)
            }
            Err(error) => CallReply::error(error.to_string()),
        };
        if let Some(call) = self.calls.get_mut(&call) {
            call.payload = Some(payload);
        }
        self.input(Input::Finished {
            call,
            outcome: Finish::Done,
        });
    }

    fn progressed(&mut self, call: CallId, message: String) {
        let Some(call) = self.calls.get_mut(&call).filter(|call| call.wants_progress) else {
            return;
        };
        let Some(session) = self.sessions.get(&call.session) else {
            return;
        };
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
            Output::Connect {
                browser,
                key,
                launch,
                start,
            } => {
                self.connect(browser, &key, launch, start);
            }
            Output::Disconnect { browser } => {
                if let Some(browser) = self.browsers.remove(&browser) {
                    self.closing.spawn(async move { browser.shut_down().await });
                }
            }
            Output::Refresh { call, browser } => {
                // A list that stands says nothing about how many tools a page has.
                let (session, generate) = self.wanted_by(call);
                let tabs = match (session, generate) {
                    (Some(session), Some(_)) => self.free_tabs(session, browser),
                    _ => Vec::new(),
                };
                self.start(call, browser, |job| work::refresh(job, tabs, generate));
            }
            Output::OpenTab {
                call,
                browser,
                url,
                focus,
            } => {
                let context = self.context_for(call, browser);
                let limit = self.wishes(call).load_limit;
                let (_, generate) = self.wanted_by(call);
                self.start(call, browser, |job| {
                    work::open_tab(job, url, focus, limit, context, generate)
                });
            }
            Output::PrepareFocus {
                call,
                browser,
                target,
            } => {
                let to_front = self.wishes(call).to_front;
                let (_, generate) = self.wanted_by(call);
                self.start(call, browser, |job| {
                    work::prepare_focus(job, target, to_front, generate)
                });
            }
            Output::CloseTab {
                call,
                browser,
                target,
                last,
            } => {
                self.start(call, browser, |job| work::close_tab(job, target, last));
            }
            Output::Run {
                call,
                browser,
                target,
            } => self.run_tool(call, browser, target),
            Output::Abort { call } => {
                if let Some(call) = self.calls.get(&call) {
                    call.cancel.cancel();
                }
                self.cancel_page_call(call);
            }
            Output::RunTool {
                call,
                place,
                tool,
                name,
                reason,
            } => self.run_page_tool(call, &place, tool, &name, reason),
            Output::PagesRefused {
                connection,
                refusal,
            } => {
                let reason = refusal.to_string();
                self.tell_page(connection, ToPage::Refused { reason });
                self.pages.close(connection);
            }
            Output::PageRefused { page, refusal, .. } => {
                tracing::warn!(page = %page, %refusal, "a page's tab was not taken in");
            }
            Output::ToolsRefused {
                place,
                tools,
                refusal,
                ..
            } => self.reject_tools(&place, &tools, &refusal.to_string()),
            Output::Discard {
                browser,
                target,
                last,
            } => {
                if let Some(browser) = self.browsers.get(&browser).cloned() {
                    self.closing.spawn(work::discard(browser, target, last));
                }
            }
            Output::Hold { browser, target } => self.hold(browser, target, true),
            Output::Release { browser, target } => self.hold(browser, target, false),
            Output::Reply {
                call,
                reply,
                renewed,
                ..
            } => self.reply(call, reply, renewed),
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

    /// The context in which a call's tab belongs, if its session has one of its own.
    fn context_for(&mut self, call: CallId, browser: BrowserId) -> Option<Context> {
        let call = self.calls.get(&call)?;
        let (session, name) = (call.session, call.wishes.context.clone());
        let isolated = self.sessions.get(&session)?.options.isolated;
        (isolated || name.is_some()).then(|| self.contexts.of(browser, session, name))
    }

    /// Whose call it is, and how many generated tools its session wants.
    fn wanted_by(&self, call: CallId) -> (Option<SessionId>, Option<usize>) {
        let session = self.calls.get(&call).map(|call| call.session);
        let generate = session.and_then(|session| self.generated_in_list_of(session));
        (session, generate)
    }

    fn wishes(&self, call: CallId) -> convert::Wishes {
        let call = self.calls.get(&call);
        call.map(|call| call.wishes.clone()).unwrap_or_default()
    }

    /// Starts work for a call in a task of its own.
    fn start<F>(&self, call: CallId, browser: BrowserId, work: impl FnOnce(Job) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (Some(entry), Some(handle)) = (self.calls.get(&call), self.browsers.get(&browser))
        else {
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
        let Some(entry) = self.calls.get_mut(&call) else {
            return;
        };
        let Some(prepared) = entry.prepared.take() else {
            return;
        };
        entry.place = Some((browser, target.clone()));
        let wants_progress = entry.wants_progress;
        let session = self.sessions.get(&entry.session);
        let folder = session.and_then(|session| session.options.folder.clone());
        let files = Files::new(folder, &[]);
        self.start(call, browser, |job| {
            work::run(job, target, prepared, files, wants_progress)
        });
    }

    fn hold(&self, browser: BrowserId, target: TargetId, held: bool) {
        let generate = self.generated_for_holders(browser, &target);
        if let Some(handle) = self.browsers.get(&browser).cloned() {
            tokio::spawn(work::hold(handle, target, held, generate));
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

/// How long the end waits for tabs that are being closed.
const CLOSING_LIMIT: Duration = Duration::from_secs(1);
