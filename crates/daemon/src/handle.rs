//! How the rest of the process talks to the main loop.

mod person;
mod submitter;

pub(crate) use person::PersonHandle;
pub(crate) use submitter::{Reply, Submitter};

use crate::answer_cleanup;
use crate::audit::Audit;
use crate::extension::{Extensions, Peer};
use crate::incoming::ArgumentBudget;
use crate::listener::quota_owner;
use crate::main_loop::{Event, LoopFiles, MainLoop, PagesEvent};
use crate::memory::Memory;
use crate::options::SessionOptions;
use crate::page_quotas::{ConnectionPaces, PageQuotas, Share};
use crate::page_updates::PageReader;
use crate::policy::{self, PolicyFile, PolicyReader};
use crate::questions::Asking;
use crate::record;
use crate::resources::{self, Watch};
use crate::sessions::Named;
use crate::state::{ProcessFacts, State};
use crate::steps::Steps;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tabmux_browser::ChannelTransport;
use tabmux_browser::screen::Screen;
use tabmux_core::{ConnectionId, RestoredTabs, SessionId};
use tabmux_protocol::overview::Overview;
use tabmux_protocol::page::{FromPage, ToPage};
use tabmux_protocol::wire::Resume;
use tabmux_protocol::{
    Backend, BackendEvent, CallFailure, CallReply, CallRequest, RequestId, ResourceRequest,
    ToolInfo,
};
use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::time::Instant;

/// The running main loop. Sessions are opened on it; it runs until it is shut down.
#[derive(Debug)]
pub struct Hub {
    events: mpsc::Sender<Event>,
    sessions: AtomicU64,
    /// The port at which pages reach the daemon; 0 if there is none.
    port: AtomicU16,
    /// The version with the commit, if the program has said it.
    build: OnceLock<&'static str>,
    /// The number of open sessions.
    pub(crate) open_sessions: Arc<watch::Sender<usize>>,
    /// The sessions that outlive their clients.
    pub(crate) named: Named,
    /// The number of connected page workers.
    pub(crate) pages: Arc<watch::Sender<usize>>,
    /// The extensions that are connected.
    pub(crate) extensions: Arc<Extensions>,
    /// Whether questions are shown to the person, other than in browsers.
    asking: Asking,
    /// What people may see.
    state: watch::Sender<Arc<State>>,
    /// The quotas of page workers.
    page_quotas: PageQuotas,
    /// The memory budget for arguments of calls.
    arguments: ArgumentBudget,
    /// Rereads the person's rules, if there is a file, before each event that they apply to.
    policy_reader: Option<PolicyReader>,
}

impl Hub {
    /// Starts a main loop for one client, in that client's own process.
    pub fn start() -> Self {
        Self::start_with(false, Audit::nowhere(), Memory::none(), None)
    }

    /// The same, with the person's rules in this file.
    pub fn start_under(policy: PathBuf) -> Self {
        Self::start_with(false, Audit::nowhere(), Memory::none(), Some(policy))
    }

    /// Starts a main loop that clients share, with its state files.
    pub fn start_shared(beside: StateFiles) -> Self {
        let memory = Memory::at(beside.memory, beside.grace);
        let audit = Audit::start(beside.audit);
        Self::start_with(true, audit, memory, Some(beside.policy))
    }

    fn start_with(shared: bool, audit: Audit, memory: Memory, policy: Option<PathBuf>) -> Self {
        let (events, inbox) = mpsc::channel(EVENT_QUEUE);
        let extensions = Arc::new(Extensions::default());
        let asking = Asking::default();
        let state = watch::Sender::new(Arc::new(State::empty()));
        let policy_file = PolicyFile::at(policy);
        let policy_reader = policy_file.policy_reader();
        let main_loop = MainLoop::new(
            events.clone(),
            shared,
            LoopFiles {
                audit,
                memory,
                policy: policy_file,
            },
            Arc::clone(&extensions),
            asking.clone(),
            state.clone(),
        );
        tokio::spawn(main_loop.run(inbox));
        Self {
            events,
            sessions: AtomicU64::new(1),
            port: AtomicU16::new(0),
            build: OnceLock::new(),
            open_sessions: Arc::new(watch::Sender::new(0)),
            named: Named::default(),
            pages: Arc::new(watch::Sender::new(0)),
            extensions,
            asking,
            state,
            page_quotas: PageQuotas::default(),
            arguments: ArgumentBudget::default(),
            policy_reader,
        }
    }

    /// Sets the port at which pages reach the daemon.
    pub fn listens_at(&self, port: u16) {
        self.port.store(port, Ordering::Relaxed);
    }

    /// Sets the version with the commit, as `tabmux --version` prints it.
    pub fn is_build(&self, build: &'static str) {
        let _ = self.build.set(build);
    }

    /// Notes that this user has installed the extension, so that waiting for it makes sense.
    pub fn expect_extension(&self) {
        self.extensions.expect();
    }

    /// A connection to the browser of an extension, outside of all sessions: for tests and benchmarks. Waits up to
    /// `limit` for an extension that may be reconnecting.
    pub async fn reach_extension(&self, limit: Duration) -> Option<ChannelTransport> {
        let reached = self.extensions.reach(None, limit).await;
        reached.map(|(_, transport)| transport)
    }

    /// Opens a session. It ends when the handle is dropped.
    pub async fn open(&self, options: SessionOptions, client: Client) -> Handle {
        let session = SessionId(self.sessions.fetch_add(1, Ordering::Relaxed));
        let (notify, notices) = mpsc::channel(NOTICE_QUEUE);
        let weak = notify.downgrade();
        policy::reread(self.policy_reader.as_ref()).await;
        let kept = Arc::new(options.clone());
        let open = Event::Open {
            session,
            options: Box::new(options),
            client,
            notify,
        };
        // If the main loop has ended, every call on the handle returns an error.
        let _ = self.events.send(open).await;
        self.open_sessions.send_modify(|open| *open += 1);
        Handle {
            session,
            open: Arc::clone(&self.open_sessions),
            submitter: Submitter {
                session,
                options: kept,
                arguments: self.arguments.for_session(),
                policy_reader: self.policy_reader.clone(),
                turn: Arc::default(),
                events: self.events.clone(),
            },
            steps: Steps::default(),
            events: self.events.clone(),
            notices: Arc::new(Mutex::new(notices)),
            notify: weak,
            state: self.state.clone(),
            watch: Mutex::default(),
        }
    }

    /// How many sessions are open.
    pub(crate) fn count_sessions(&self) -> usize {
        *self.open_sessions.borrow()
    }

    /// Restores a session of an earlier daemon, if the client proves that it owns it.
    pub async fn take_up(&self, resume: Resume) -> Option<RestoredTabs> {
        let (answer, restored_tabs) = oneshot::channel();
        self.events
            .send(Event::Resume { resume, answer })
            .await
            .ok()?;
        restored_tabs.await.ok()?
    }

    /// For components that show questions to the person: whether they are shown.
    pub fn asking(&self) -> &Asking {
        &self.asking
    }

    /// What people may see, and its changes from now on.
    pub fn state(&self) -> watch::Receiver<Arc<State>> {
        let state = self.state.subscribe();
        post(&self.events, Event::Publish { done: None });
        state
    }

    /// The person's answer to a question. False if the question is no longer open.
    pub async fn answer_question(&self, id: String, allowed: bool) -> bool {
        policy::reread(self.policy_reader.as_ref()).await;
        let (answer, was_open) = oneshot::channel();
        let event = Event::QuestionAnswered {
            id,
            allowed,
            answer,
        };
        self.events.send(event).await.is_ok() && was_open.await.unwrap_or(false)
    }

    /// The state of everything as it is now, for people. `None` if the main loop has ended.
    pub async fn overview(&self) -> Option<Overview> {
        let (done, refreshed) = oneshot::channel();
        self.events.send(Event::RefreshTitles { done }).await.ok()?;
        refreshed.await.ok()?;
        let (done, published) = oneshot::channel();
        let publish = Event::Publish { done: Some(done) };
        self.events.send(publish).await.ok()?;
        published.await.ok()?;
        let state = Arc::clone(&self.state.borrow());
        let port = self.port.load(Ordering::Relaxed);
        Some(state.overview(ProcessFacts {
            build: self.build.get().copied().unwrap_or_default(),
            port: (port > 0).then_some(port),
            extensions: self.extensions.rows(),
        }))
    }

    /// Registers a page worker. `None` if the main loop has ended.
    pub(crate) async fn open_pages(
        &self,
        origin: &str,
        library: String,
        out: mpsc::Sender<ToPage>,
    ) -> Option<PagesHandle> {
        let (answer, opened) = oneshot::channel();
        let origin: Arc<str> = origin.into();
        let event = PagesEvent::Opened {
            origin: Arc::clone(&origin),
            library,
            out,
            answer,
        };
        self.events.send(event.into()).await.ok()?;
        let connection = opened.await.ok()?;
        self.pages.send_modify(|open| *open += 1);
        let shares = self.page_quotas.connect(&quota_owner(&origin).into());
        Some(PagesHandle {
            connection,
            events: self.events.clone(),
            open: Arc::clone(&self.pages),
            share: shares.queued,
            paces: shares.paces,
            reader: PageReader::new(origin, shares.kept),
        })
    }

    /// Registers a person's extension.
    pub(crate) async fn meet_person(&self, peer: Arc<Peer>) -> PersonHandle {
        PersonHandle::arrive(peer, self.policy_reader.clone(), self.events.clone()).await
    }

    /// Ends the main loop and every browser that it launched.
    pub async fn shut_down(&self) {
        self.named.end_all();
        let (done, ended) = oneshot::channel();
        if self.events.send(Event::ShutDown { done }).await.is_ok() {
            let _ = ended.await;
        }
    }
}

/// The files that a shared main loop keeps.
#[derive(Clone, Debug)]
pub struct StateFiles {
    /// The audit log.
    pub audit: PathBuf,
    /// Which session held which tab, for the next daemon.
    pub memory: PathBuf,
    /// The person's rules about origins.
    pub policy: PathBuf,
    /// How long sessions of an earlier daemon have to reconnect.
    pub grace: Duration,
}

/// One page worker. Dropping this unregisters it.
#[derive(Debug)]
pub(crate) struct PagesHandle {
    connection: ConnectionId,
    events: mpsc::Sender<Event>,
    open: Arc<watch::Sender<usize>>,
    share: Share,
    paces: ConnectionPaces,
    reader: PageReader,
}

impl PagesHandle {
    /// Resolves when more of this worker may be read, after so many bytes and not before this time.
    pub(crate) fn pace(
        &self,
        not_before: Instant,
        bytes: usize,
    ) -> impl Future<Output = ()> + Send + use<> {
        let paces = self.paces.clone();
        async move {
            tokio::time::sleep_until(not_before).await;
            if bytes > 0 {
                paces.next(bytes).await;
            }
        }
    }

    /// Passes on a message of so many bytes, as soon as the quota allows it. False if the main loop has ended.
    pub(crate) async fn send(&mut self, message: FromPage, bytes: usize) -> bool {
        let Some(update) = self.reader.read(message).await else {
            return true; // Nothing changed.
        };
        let event = PagesEvent::Received {
            connection: self.connection,
            update: Box::new(update),
            share: self.share.take(bytes).await,
        };
        self.events.send(event.into()).await.is_ok()
    }
}

impl Drop for PagesHandle {
    fn drop(&mut self) {
        let connection = self.connection;
        self.open.send_modify(|open| *open -= 1);
        let closed = PagesEvent::Closed { connection };
        post(&self.events, closed.into());
    }
}

/// The client that opens a session, as people see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Client {
    /// The session's public name.
    pub session: String,
    /// The client's name.
    pub name: String,
    /// The proof for a later daemon that the session belongs to this client.
    pub secret: String,
    /// Its display, if it has one.
    pub screen: Option<Screen>,
}

/// The folders of a caller that attaches to a named session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallerFolders {
    /// The base of relative paths.
    pub(crate) folder: Option<PathBuf>,
    /// Folders in which files may be read and written.
    pub(crate) roots: Vec<PathBuf>,
    /// The folder for files without a path.
    pub(crate) output: Option<PathBuf>,
}

/// One session, in this process.
#[derive(Debug)]
pub struct Handle {
    session: SessionId,
    /// The number of open sessions.
    open: Arc<watch::Sender<usize>>,
    submitter: Submitter,
    /// Calls of several steps.
    steps: Steps,
    events: mpsc::Sender<Event>,
    notices: Arc<Mutex<mpsc::Receiver<BackendEvent>>>,
    /// Where its events come from.
    notify: mpsc::WeakSender<BackendEvent>,
    state: watch::Sender<Arc<State>>,
    /// What tells its client of changed resources.
    watch: Mutex<Option<Watch>>,
}

impl Handle {
    /// Changes the folders of a named session.
    pub(crate) async fn continue_in(&self, folders: CallerFolders) {
        let session = self.session;
        let _ = self
            .events
            .send(Event::ContinueIn { session, folders })
            .await;
    }
}

impl Backend for Handle {
    async fn works_in(&self, roots: Vec<PathBuf>) {
        let session = self.session;
        let _ = self.events.send(Event::Roots { session, roots }).await;
    }

    async fn tools(&self) -> Result<Vec<ToolInfo>, CallFailure> {
        let (answer, tools) = oneshot::channel();
        let event = Event::Tools {
            session: self.session,
            answer,
        };
        self.events
            .send(event)
            .await
            .map_err(|_| CallFailure::Closed)?;
        let tools = tools.await.map_err(|_| CallFailure::Closed)?;
        Ok(answer_cleanup::cleaned_list(record::write_out(tools).await))
    }

    async fn call(&self, request: CallRequest) -> Result<CallReply, CallFailure> {
        self.submit(request).await?.await
    }

    async fn resources(&self, request: ResourceRequest) -> Result<CallReply, CallFailure> {
        self.submit_resources(request).await?.await
    }

    async fn watch(&self, uris: Vec<String>) {
        let mut watch = self.watch.lock().await;
        *watch = None;
        let state = self.state.subscribe();
        let (calls, notify) = (self.submitter.clone(), self.notify.clone());
        *watch = Watch::begin(calls, state, notify, uris).await;
        if watch.is_some() {
            post(&self.events, Event::Publish { done: None });
        }
    }

    fn cancel(&self, request: &RequestId) {
        if !self.steps.cancel(request) {
            self.submitter.cancel(request);
        }
    }

    async fn next_event(&self) -> Option<BackendEvent> {
        let event = self.notices.lock().await.recv().await;
        event.map(answer_cleanup::cleaned_event)
    }
}

impl Handle {
    /// Parses a call's arguments, submits it and returns a future of its reply.
    pub(crate) async fn submit(&self, request: CallRequest) -> Result<Reply, CallFailure> {
        match self.submitter.takes_steps(&request) {
            true => Ok(self.steps.begin(&self.submitter, request)),
            false => self.submitter.submit(request).await,
        }
    }
}

impl Handle {
    /// Submits a request about resources and returns a future of its reply.
    pub(crate) async fn submit_resources(
        &self,
        request: ResourceRequest,
    ) -> Result<Reply, CallFailure> {
        resources::submit(&self.submitter, request).await
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let session = self.session;
        self.open.send_modify(|open| *open -= 1);
        post(&self.events, Event::Close { session });
    }
}

/// Sends without waiting; spawns a task only if the queue is full.
fn post(queue: &mpsc::Sender<Event>, event: Event) {
    if let Err(mpsc::error::TrySendError::Full(event)) = queue.try_send(event) {
        let queue = queue.clone();
        tokio::spawn(async move { queue.send(event).await });
    }
}

const EVENT_QUEUE: usize = 1_024;
const NOTICE_QUEUE: usize = 256;
