//! The main loop: the one task that owns the core and handles every event.

mod abandoned;
mod browsers;
mod calls;
mod confirm;
mod connecting;
mod event;
mod folders;
mod following;
mod found;
mod limits;
mod overview;
mod page_calls;
mod page_events;
mod perform;
mod person;
mod plans;
mod policy;
mod refused_sessions;
mod replies;
mod unused_tabs;
mod waits;

pub(crate) use event::{Answer, Event, PagesEvent, Titles};
pub(crate) use page_calls::FoundAnswer;
pub(crate) use person::{PersonEvent, PersonRequest};

use crate::audit::Audit;
use crate::contexts::Contexts;
use crate::extension::{Extensions, PeerName};
use crate::handle::Client;
use crate::loop_costs::{LoopCosts, Worked};
use crate::memory::Memory;
use crate::metrics::Metrics;
use crate::options::SessionOptions;
use crate::page_tools::PageTools;
use crate::policy::{PolicyChange, PolicyFile};
use crate::questions::{Asking, Questions};
use crate::record::Listed;
use crate::timed_core::TimedCore;
use crate::{catalogue, convert, work};
use calls::Call;
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::files::Quota;
use tabmux_browser::screen::Screen;
use tabmux_browser::{Browser, OutputFolder, OutputRoot};
use tabmux_core::{BrowserId, CallId, Config, Core, Finish, Input, SessionConfig, SessionId};
use tabmux_protocol::{BackendEvent, RequestId};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

/// The state of the main loop: the core, and the data that the core does not need.
pub(crate) struct MainLoop {
    core: TimedCore,
    events: mpsc::Sender<Event>,
    sessions: HashMap<SessionId, Session>,
    plans: plans::Plans,
    browsers: HashMap<BrowserId, Browser>,
    calls: HashMap<CallId, Call>,
    next_call: u64,
    /// Connection attempts, tracked so that shutdown can wait for them.
    connecting: JoinSet<()>,
    /// Tabs and contexts that are being closed, tracked so that shutdown can wait for them.
    closing: TaskTracker,
    contexts: Contexts,
    memory: Memory,
    /// The core's change counter when the notes were last taken; `None` if they must be taken again.
    noted: Option<u64>,
    page_tools: PageTools,
    following: following::Following,
    /// Whether several clients share this loop.
    shared: bool,
    audit: Audit,
    metrics: Metrics,
    costs: LoopCosts,
    /// The extensions that are connected.
    extensions: Arc<Extensions>,
    /// The person's rules, which apply to all sessions.
    policy_file: PolicyFile,
    /// The person's rule changes, in order; the first one is being written.
    policy_changes: VecDeque<(PolicyChange, PeerName)>,
    /// The open questions to the person.
    questions: Questions,
    /// Calls whose arguments are being checked before the person is asked.
    before_asking: HashSet<(SessionId, RequestId)>,
    /// The interface to whatever shows questions to the person.
    asking: Asking,
    /// The people at their browsers.
    persons: person::Persons,
    sweeps: unused_tabs::Sweeps,
    /// The display of the last client that had one.
    screen: Option<Screen>,
    waits: waits::Waits,
    /// The folder for files of sessions without a folder of their own.
    output: OutputRoot,
}

struct Session {
    notify: mpsc::Sender<BackendEvent>,
    options: Box<SessionOptions>,
    client: Client,
    opened: Instant,
    /// The number of calls it has made.
    calls_made: u64,
    /// The folders of its client.
    roots: Vec<PathBuf>,
    /// The folder for its files without a path.
    output: OutputFolder,
    /// Whether it follows the person, if the person decided that.
    follows: Option<bool>,
    /// Why it was refused, if it was.
    refusal: Option<String>,
}

impl MainLoop {
    pub(crate) fn new(
        events: mpsc::Sender<Event>,
        shared: bool,
        audit: Audit,
        memory: Memory,
        extensions: Arc<Extensions>,
        policy_file: PolicyFile,
        asking: Asking,
    ) -> Self {
        let config = Config {
            page_actions: catalogue::page_actions(),
            tab_tools: catalogue::page_tools(),
            static_tools: catalogue::static_tools(),
            tabs_counted: memory.tabs_counted(),
            remembered: memory.tabs(),
            least_deadline: limits::least_deadline(),
            ..Config::default()
        };
        Self {
            core: TimedCore::start(Core::new(config)),
            events,
            sessions: HashMap::new(),
            plans: plans::Plans::default(),
            browsers: HashMap::new(),
            calls: HashMap::new(),
            next_call: 1,
            connecting: JoinSet::new(),
            closing: TaskTracker::new(),
            contexts: Contexts::default(),
            memory,
            noted: None,
            page_tools: PageTools::default(),
            following: following::Following::default(),
            shared,
            audit,
            metrics: Metrics::default(),
            costs: LoopCosts::default(),
            extensions,
            policy_file,
            policy_changes: VecDeque::new(),
            questions: Questions::default(),
            before_asking: HashSet::new(),
            asking,
            persons: person::Persons::default(),
            sweeps: unused_tabs::Sweeps::default(),
            screen: None,
            waits: waits::Waits::default(),
            output: OutputRoot::usual(),
        }
    }

    /// Handles events until shutdown, then disconnects every browser.
    pub(crate) async fn run(mut self, mut inbox: mpsc::Receiver<Event>) {
        let output = self.output.clone();
        tokio::spawn(async move { output.sweep().await });
        if let Some(grace) = self.memory.grace() {
            tokio::spawn(work::abandon_later(grace, self.events.clone()));
        }
        let done = loop {
            let mut is_news = true;
            // There is no await between here and the end of the turn, so one thread does all of it.
            let (kind, since) = tokio::select! {
                event = inbox.recv() => match event {
                    None => break None,
                    Some(Event::ShutDown { done }) => break Some(done),
                    Some(event) => {
                        let begun = (event.kind(), Worked::now());
                        self.handle(event);
                        begun
                    }
                },
                () = self.core.alarm() => {
                    let begun = ("alarm", Worked::now());
                    self.core.wake();
                    begun
                }
                () = self.waits.alarm() => {
                    let begun = ("waits", Worked::now());
                    self.tell_waits();
                    is_news = false;
                    begun
                }
                () = self.persons.alarm() => {
                    let begun = ("show", Worked::now());
                    self.show_persons();
                    is_news = false;
                    begun
                }
            };
            // Must come before the replies: a reply waits until the notes about its effects are written.
            self.keep_notes();
            self.acknowledge_opened();
            while let Some(output) = self.core.next_output() {
                self.perform(output);
            }
            if is_news {
                self.persons.note();
            }
            self.costs.spent(kind, since);
        };
        for call in self.calls.values() {
            call.cancel.cancel();
        }
        self.connecting.shutdown().await;
        self.closing.close();
        let _ = tokio::time::timeout(CLOSING_LIMIT, self.closing.wait()).await;
        // Browsers still report their end to this queue, but it is not read any more.
        inbox.close();
        let ends = self.browsers.values().map(Browser::shut_down);
        futures_util::future::join_all(ends).await;
        let _ = tokio::time::timeout(CLOSING_LIMIT, self.output.end()).await;
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
            Event::Resume { resume, answer } => drop(answer.send(self.memory.take_up(&resume))),
            Event::Abandon => self.close_abandoned(),
            Event::PolicyWritten { rules } => self.change_written(rules),
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
            Event::Roots { session, roots } => self.client_works_in(session, roots),
            Event::WorksHere { session, here } => self.works_here(session, here),
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
                let policy = self.origins_of(session);
                let tools = self.tools_shown(session, mode).into_iter();
                let tools = tools.filter_map(|(name, place)| match place {
                    None => catalogue::info(name, mode, several)
                        .or_else(|| catalogue::slim_info(name, several))
                        .map(Listed::Own),
                    Some((place, key)) => self.page_tools.listed(name, &place, key, mode, &policy),
                });
                let _ = answer.send(tools.collect());
            }
            Event::Call { session, call } => self.call(session, call),
            Event::QuestionAnswered {
                id,
                allowed,
                answer,
            } => drop(answer.send(self.question_answered(&id, allowed))),
            Event::QuestionExpired { id } => self.question_expired(&id),
            Event::Cancel { session, request } => {
                if self.question_withdrawn(session, &request)
                    || self.before_asking.remove(&(session, request.clone()))
                {
                    return;
                }
                self.core.input(Input::Cancel {
                    session,
                    request: convert::request_id(&request),
                });
            }
            Event::Browser { browser, event } => self.browser_event(browser, event),
            Event::Connected {
                browser,
                result,
                peer,
            } => self.connected(browser, result, peer),
            Event::Finished { call, outcome } => {
                let outcome =
                    outcome.map_or_else(|message| Finish::Failed { message }, |()| Finish::Done);
                self.core.input(Input::Finished { call, outcome });
            }
            Event::Ran {
                call,
                browser,
                result,
            } => self.ran(call, browser, result),
            Event::Awaited { browser, message } => self.awaited(browser, &message),
            Event::Progressed { call, message } => self.progressed(call, message),
            Event::Person(event) => self.person_event(event),
            Event::Sweep { browser } => self.sweep(browser),
            Event::Swept { browser, left } => self.swept(browser, left),
        }
    }

    fn open(
        &mut self,
        session: SessionId,
        mut options: Box<SessionOptions>,
        client: Client,
        notify: mpsc::Sender<BackendEvent>,
    ) {
        self.notice_policy();
        let follows = self.memory.follows_of(&client.session);
        if let Some(follows) = follows {
            options.follow_user_focus = follows;
        }
        let mut config = SessionConfig {
            site_filter: policy::site_filter(options.origins.and(self.policy_file.policy())),
            ..options.config()
        };
        for plan in &options.browsers {
            self.plans.add(session, plan.clone());
        }
        let number = self.memory.number_of(&client.session);
        self.memory.opened(&client);
        if client.screen.is_some() {
            self.screen.clone_from(&client.screen);
        }
        let opened = Instant::now();
        let kept = options.output.clone();
        let output = self.output.session_with(kept, Quota::default());
        let labels = &mut self.persons.labels;
        labels.add(session, &client.name, &client.session, number);
        if let Some(label) = labels.of(session) {
            config.label = label.name().into();
        }
        self.sessions.insert(
            session,
            Session {
                notify,
                options,
                client,
                opened,
                calls_made: 0,
                roots: Vec::new(),
                output,
                follows,
                refusal: None,
            },
        );
        self.note_followers();
        self.core.input(Input::SessionOpened { session, config });
        self.reach_again();
    }

    /// Closes a session and its contexts.
    fn close(&mut self, session: SessionId) {
        self.core.input(Input::SessionClosed { session });
        if let Some(over) = self.sessions.remove(&session) {
            self.memory.closed(&over.client);
            self.closing.spawn(async move { over.output.end().await });
        }
        self.plans.over(session);
        self.forget_plans();
        self.note_followers();
        self.questions.forget(session);
        self.asking.publish(&self.questions);
        self.persons.labels.remove(session);
        for (browser, context) in self.contexts.take(session) {
            if let Some(browser) = self.browsers.get(&browser).cloned() {
                self.closing.spawn(work::end_context(browser, context));
            }
        }
    }
}

/// How long shutdown waits for tabs that are being closed.
const CLOSING_LIMIT: Duration = Duration::from_secs(1);
