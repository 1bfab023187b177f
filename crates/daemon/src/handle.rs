//! How the rest of the process talks to the main loop.

use crate::audit::Audit;
use crate::extension::{Extensions, Peer, PeerName};
use crate::incoming::{ArgumentRoom, Incoming, Read};
use crate::intake::{ConnectionPaces, Intake, Share};
use crate::leaving;
use crate::listener::party;
use crate::main_loop::{Event, MainLoop, PagesEvent, PersonEvent, Titles, Wish};
use crate::memory::Memory;
use crate::options::SessionOptions;
use crate::page_news::PageReader;
use crate::policy::{self, Lasting, Looker, PersonRules, PolicyChange};
use crate::questions::Asking;
use crate::record;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tabmux_browser::ChannelTransport;
use tabmux_browser::screen::Screen;
use tabmux_core::{ConnectionId, Heritage, SessionId};
use tabmux_protocol::overview::Overview;
use tabmux_protocol::page::{FromPage, ToPage};
use tabmux_protocol::wire::Resume;
use tabmux_protocol::{
    Backend, BackendEvent, CallFailure, CallReply, CallRequest, RequestId, ToolInfo,
};
use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::time::Instant;

/// The running main loop. Sessions are opened on it; it ends when it is told to.
#[derive(Debug)]
pub struct Hub {
    events: mpsc::Sender<Event>,
    sessions: AtomicU64,
    /// Where pages find the daemon; 0 if nowhere.
    port: AtomicU16,
    /// How many workers of pages are connected.
    pub(crate) pages: Arc<watch::Sender<usize>>,
    /// The extensions that are connected.
    pub(crate) extensions: Arc<Extensions>,
    /// Whoever shows questions to the person.
    asking: Asking,
    /// What workers of pages may use.
    intake: Intake,
    /// What arguments of calls may take.
    arguments: ArgumentRoom,
    /// Who looks at the person's rules, if they keep any: before anything goes to the loop that is judged by them.
    looker: Option<Looker>,
}

impl Hub {
    /// Starts a main loop for one client, in that client's own process.
    pub fn start() -> Self {
        Self::start_with(false, Audit::nowhere(), Memory::none(), None)
    }

    /// The same, with the rules that the person keeps in this file.
    pub fn start_under(policy: PathBuf) -> Self {
        Self::start_with(false, Audit::nowhere(), Memory::none(), Some(policy))
    }

    /// Starts a main loop that clients share, with files beside it.
    pub fn start_shared(beside: Beside) -> Self {
        let memory = Memory::at(beside.memory, beside.grace);
        let audit = Audit::start(beside.audit);
        Self::start_with(true, audit, memory, Some(beside.policy))
    }

    fn start_with(shared: bool, audit: Audit, memory: Memory, policy: Option<PathBuf>) -> Self {
        let (events, inbox) = mpsc::channel(EVENT_QUEUE);
        let extensions = Arc::new(Extensions::default());
        let asking = Asking::default();
        let lasting = Lasting::at(policy);
        let looker = lasting.looker();
        let main_loop = MainLoop::new(
            events.clone(),
            shared,
            audit,
            memory,
            Arc::clone(&extensions),
            lasting,
            asking.clone(),
        );
        tokio::spawn(main_loop.run(inbox));
        Self {
            events,
            sessions: AtomicU64::new(1),
            port: AtomicU16::new(0),
            pages: Arc::new(watch::Sender::new(0)),
            extensions,
            asking,
            intake: Intake::default(),
            arguments: ArgumentRoom::default(),
            looker,
        }
    }

    /// Notes where pages find the daemon.
    pub fn listens_at(&self, port: u16) {
        self.port.store(port, Ordering::Relaxed);
    }

    /// This user has installed the extension: it is worth waiting for.
    pub fn expect_extension(&self) {
        self.extensions.expect();
    }

    /// A connection to the browser of an extension, beside all sessions: for tests and measurements. Waits
    /// for one that may be on its way, at most for `limit`.
    pub async fn reach_extension(&self, limit: Duration) -> Option<ChannelTransport> {
        let reached = self.extensions.reach(None, limit).await;
        reached.map(|(_, transport)| transport)
    }

    /// Opens a session. It ends when the handle is dropped.
    pub async fn open(&self, options: SessionOptions, client: Client) -> Handle {
        let session = SessionId(self.sessions.fetch_add(1, Ordering::Relaxed));
        let (notify, notices) = mpsc::channel(NOTICE_QUEUE);
        policy::look(self.looker.as_ref()).await;
        let kept = Arc::new(options.clone());
        let open = Event::Open {
            session,
            options: Box::new(options),
            client,
            notify,
        };
        // If the loop has ended, every call on the handle says so.
        let _ = self.events.send(open).await;
        Handle {
            session,
            options: kept,
            arguments: self.arguments.for_session(),
            looker: self.looker.clone(),
            turn: Arc::default(),
            events: self.events.clone(),
            notices: Arc::new(Mutex::new(notices)),
        }
    }

    /// What a session of an earlier daemon had, for the client that proves that it was its own.
    pub async fn take_up(&self, resume: Resume) -> Option<Heritage> {
        let (answer, heritage) = oneshot::channel();
        self.events
            .send(Event::TakeUp { resume, answer })
            .await
            .ok()?;
        heritage.await.ok()?
    }

    /// Changes the person's rules about origins, for all sessions. Fails, in words, and changes nothing.
    pub async fn change_policy(&self, change: PolicyChange) -> Result<PersonRules, String> {
        let (answer, changed) = oneshot::channel();
        let over = || "The daemon is ending.".to_owned();
        let event = Event::Policy { change, answer };
        self.events.send(event).await.map_err(|_| over())?;
        changed.await.map_err(|_| over())?
    }

    /// For those who show questions to the person: which there are, and that they are shown.
    pub fn asking(&self) -> &Asking {
        &self.asking
    }

    /// The person's word on a question that is shown to them. False if it is no longer open.
    pub async fn answer_question(&self, id: String, allowed: bool) -> bool {
        policy::look(self.looker.as_ref()).await;
        let (answer, heard) = oneshot::channel();
        let event = Event::QuestionAnswered {
            id,
            allowed,
            answer,
        };
        self.events.send(event).await.is_ok() && heard.await.unwrap_or(false)
    }

    /// Everything the loop knows, for people. `None` if it has ended.
    pub async fn overview(&self) -> Option<Overview> {
        let (answer, overview) = oneshot::channel();
        let event = Event::Overview {
            answer,
            titles: Titles::Unknown,
        };
        self.events.send(event).await.ok()?;
        let port = self.port.load(Ordering::Relaxed);
        Some(Overview {
            port: (port > 0).then_some(port),
            ..overview.await.ok()?
        })
    }

    /// A worker of a page arrived. `None` if the loop has ended.
    pub(crate) async fn open_pages(
        &self,
        origin: &str,
        out: mpsc::Sender<ToPage>,
    ) -> Option<PagesHandle> {
        let (answer, opened) = oneshot::channel();
        let origin: Arc<str> = origin.into();
        let event = PagesEvent::Opened {
            origin: Arc::clone(&origin),
            out,
            answer,
        };
        self.events.send(event.into()).await.ok()?;
        let connection = opened.await.ok()?;
        self.pages.send_modify(|open| *open += 1);
        let shares = self.intake.connect(&party(&origin).into());
        Some(PagesHandle {
            connection,
            events: self.events.clone(),
            open: Arc::clone(&self.pages),
            share: shares.on_its_way,
            paces: shares.paces,
            reader: PageReader::new(origin, shares.kept),
        })
    }

    /// A person's extension arrived.
    pub(crate) async fn meet_person(&self, peer: Arc<Peer>) -> PersonHandle {
        let name = peer.instance.clone();
        let arrived = PersonEvent::Arrived { peer };
        let _ = self.events.send(Event::Person(arrived)).await;
        PersonHandle {
            peer: name,
            looker: self.looker.clone(),
            events: self.events.clone(),
        }
    }

    /// Ends the loop and every browser that it launched.
    pub async fn shut_down(&self) {
        let (done, ended) = oneshot::channel();
        if self.events.send(Event::ShutDown { done }).await.is_ok() {
            let _ = ended.await;
        }
    }
}

/// The files that a shared main loop keeps.
#[derive(Clone, Debug)]
pub struct Beside {
    /// Who did what where.
    pub audit: PathBuf,
    /// Who had which tab, for the next daemon.
    pub memory: PathBuf,
    /// The person's rules about origins.
    pub policy: PathBuf,
    /// How long sessions of an earlier daemon have to come back.
    pub grace: Duration,
}

/// One worker of a page. It is gone when this is dropped.
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

    /// Passes on what the worker says, in so many bytes, as soon as there is room for it. False if nobody
    /// listens any more.
    pub(crate) async fn say(&mut self, message: FromPage, bytes: usize) -> bool {
        let Some(news) = self.reader.read(message).await else {
            return true; // Nothing is new.
        };
        let event = PagesEvent::Said {
            connection: self.connection,
            news: Box::new(news),
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

/// One person's extension. It is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct PersonHandle {
    peer: PeerName,
    looker: Option<Looker>,
    events: mpsc::Sender<Event>,
}

impl PersonHandle {
    /// Passes on what the person wants. False if nobody listens any more.
    pub(crate) async fn wants(&self, wish: Wish) -> bool {
        policy::look(self.looker.as_ref()).await;
        let peer = self.peer.clone();
        let wants = PersonEvent::Wants { peer, wish };
        self.events.send(Event::Person(wants)).await.is_ok()
    }
}

impl Drop for PersonHandle {
    fn drop(&mut self) {
        let peer = self.peer.clone();
        post(&self.events, Event::Person(PersonEvent::Left { peer }));
    }
}

/// Who opens a session, as people see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Client {
    /// The session's public name.
    pub session: String,
    /// The client's name.
    pub name: String,
    /// What proves to a later daemon that the session is this client's.
    pub secret: String,
    /// The screen that it has, if it has one.
    pub screen: Option<Screen>,
}

/// Where somebody takes up a named session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Here {
    /// Relative paths start here.
    pub(crate) folder: Option<PathBuf>,
    /// Folders in which files may be.
    pub(crate) roots: Vec<PathBuf>,
    /// Where files without a path go.
    pub(crate) output: Option<PathBuf>,
}

/// One session, in this process.
#[derive(Debug)]
pub struct Handle {
    session: SessionId,
    options: Arc<SessionOptions>,
    arguments: ArgumentRoom,
    looker: Option<Looker>,
    /// Calls go to the loop in the order in which they came, and what cancels them comes after them.
    turn: Arc<Mutex<()>>,
    events: mpsc::Sender<Event>,
    notices: Arc<Mutex<mpsc::Receiver<BackendEvent>>>,
}

impl Handle {
    /// Goes on in another folder.
    pub(crate) async fn works_here(&self, here: Here) {
        let session = self.session;
        let _ = self.events.send(Event::WorksHere { session, here }).await;
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
        Ok(record::write_out(tools).await)
    }

    async fn call(&self, request: CallRequest) -> Result<CallReply, CallFailure> {
        self.submit(request).await?.await
    }

    fn cancel(&self, request: &RequestId) {
        let cancel = Event::Cancel {
            session: self.session,
            request: request.clone(),
        };
        if self.turn.try_lock().is_ok() {
            return post(&self.events, cancel);
        }
        let (turn, events) = (Arc::clone(&self.turn), self.events.clone());
        tokio::spawn(async move {
            drop(turn.lock().await);
            let _ = events.send(cancel).await;
        });
    }

    async fn next_event(&self) -> Option<BackendEvent> {
        self.notices.lock().await.recv().await
    }
}

impl Handle {
    /// Reads a call's arguments, hands it in and comes back with what will be its answer.
    pub(crate) async fn submit(&self, request: CallRequest) -> Result<Reply, CallFailure> {
        let (answer, reply) = oneshot::channel();
        let room = match self.arguments.take(request.arguments.get()) {
            Ok(room) => room,
            Err(why) => {
                let _ = answer.send(Ok(CallReply::error(why)));
                return Ok(Reply(reply));
            }
        };
        let _turn = self.turn.lock().await;
        let read = Read::read(request, &self.options).await;
        let (request, read, digest) = read.ok_or(CallFailure::Closed)?;
        policy::look(self.looker.as_ref()).await;
        let event = Event::Call {
            session: self.session,
            call: Box::new(Incoming {
                request,
                read,
                digest,
                room,
                answer,
            }),
        };
        self.events
            .send(event)
            .await
            .map_err(|_| CallFailure::Closed)?;
        Ok(Reply(reply))
    }
}

/// The answer of a call that was handed in.
#[derive(Debug)]
pub(crate) struct Reply(oneshot::Receiver<Result<CallReply, CallFailure>>);

impl Future for Reply {
    type Output = Result<CallReply, CallFailure>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let reply = Pin::new(&mut self.0).poll(context);
        reply.map(|reply| {
            let reply = reply.unwrap_or(Err(CallFailure::Closed));
            reply.map(|reply| leaving::cleaned(reply).that_fits())
        })
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let session = self.session;
        post(&self.events, Event::Close { session });
    }
}

/// Sends without waiting; only a full queue makes it a task of its own.
fn post(queue: &mpsc::Sender<Event>, event: Event) {
    if let Err(mpsc::error::TrySendError::Full(event)) = queue.try_send(event) {
        let queue = queue.clone();
        tokio::spawn(async move { queue.send(event).await });
    }
}

const EVENT_QUEUE: usize = 1_024;
const NOTICE_QUEUE: usize = 256;
