//! The client's end of the daemon's socket: a session that finds, starts and outlives its daemon.

use super::lines::{self, LineReader, LineWriter};
use super::place::Place;
use std::collections::HashMap;
use std::io;
use std::time::Duration;
use tabmux_browser::user::own_uid;
use tabmux_protocol::session::{ClientInfo, SessionOptions};
use tabmux_protocol::wire::{EventKind, FromClient, FromDaemon, PROTOCOL, Request, SessionId};
use tabmux_protocol::{
    Backend, BackendEvent, CallFailure, CallReply, CallRequest, RequestId, ToolInfo,
};
use tokio::net::UnixStream;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::Instant;

/// A session at the daemon.
#[derive(Debug)]
pub struct RemoteSession {
    orders: mpsc::Sender<Order>,
    notices: Mutex<mpsc::Receiver<BackendEvent>>,
}

/// Starts a daemon, because there is none. Need not wait until it is up.
pub type StartDaemon = Box<dyn Fn() -> io::Result<()> + Send + Sync>;

/// Asks the daemon one thing that needs no session. Fails at once if there is no daemon.
pub async fn ask(place: &Place, question: &FromClient) -> io::Result<FromDaemon> {
    let (mut reader, mut writer) = dial(place).await?;
    writer.send(question).await?;
    answer(&mut reader).await
}

#[derive(Debug)]
enum Order {
    Tools(oneshot::Sender<Vec<ToolInfo>>),
    Call(CallRequest, oneshot::Sender<Result<CallReply, CallFailure>>),
    Cancel(RequestId),
}

impl RemoteSession {
    /// Opens a session. Returns at once; the daemon is looked for, or started, behind it.
    pub fn open(
        place: Place,
        client: ClientInfo,
        options: SessionOptions,
        start: StartDaemon,
    ) -> Self {
        let (orders, inbox) = mpsc::channel(QUEUE);
        let (notify, notices) = mpsc::channel(QUEUE);
        let actor = Actor {
            place,
            client,
            options,
            start,
            notify,
            inbox,
            links: 0,
        };
        tokio::spawn(actor.run());
        Self {
            orders,
            notices: Mutex::new(notices),
        }
    }
}

impl Backend for RemoteSession {
    async fn tools(&self) -> Result<Vec<ToolInfo>, CallFailure> {
        let (answer, tools) = oneshot::channel();
        self.orders
            .send(Order::Tools(answer))
            .await
            .map_err(|_| CallFailure::Closed)?;
        tools.await.map_err(|_| CallFailure::Closed)
    }

    async fn call(&self, request: CallRequest) -> Result<CallReply, CallFailure> {
        let (answer, reply) = oneshot::channel();
        self.orders
            .send(Order::Call(request, answer))
            .await
            .map_err(|_| CallFailure::Closed)?;
        reply.await.map_err(|_| CallFailure::Closed)?
    }

    fn cancel(&self, request: &RequestId) {
        let cancel = Order::Cancel(request.clone());
        if let Err(mpsc::error::TrySendError::Full(order)) = self.orders.try_send(cancel) {
            let orders = self.orders.clone();
            tokio::spawn(async move { orders.send(order).await });
        }
    }

    async fn next_event(&self) -> Option<BackendEvent> {
        self.notices.lock().await.recv().await
    }
}

struct Actor {
    place: Place,
    client: ClientInfo,
    options: SessionOptions,
    start: StartDaemon,
    notify: mpsc::Sender<BackendEvent>,
    inbox: mpsc::Receiver<Order>,
    /// How many daemons this session has had.
    links: u32,
}

/// A connection on which the session is registered.
struct Link {
    reader: LineReader,
    writer: LineWriter,
    session: SessionId,
    count: u64,
    tools: HashMap<String, oneshot::Sender<Vec<ToolInfo>>>,
    calls: HashMap<RequestId, Waiting>,
}

struct Waiting {
    request: RequestId,
    answer: oneshot::Sender<Result<CallReply, CallFailure>>,
}

/// Why a link is over.
enum End {
    /// The session is over.
    SessionOver,
    /// The daemon has gone.
    DaemonGone,
}

impl Actor {
    async fn run(mut self) {
        loop {
            match self.link().await {
                Ok(link) => {
                    self.links += 1;
                    // A new daemon knows nothing of what the old one showed.
                    if self.links > 1 && self.notify.send(BackendEvent::ToolsChanged).await.is_err()
                    {
                        return;
                    }
                    if let End::SessionOver = self.serve(link).await {
                        return;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "there is no daemon");
                    // Whoever asks next is told, and makes us try again.
                    let Some(order) = self.inbox.recv().await else {
                        return;
                    };
                    decline(order, &error);
                }
            }
        }
    }

    /// Finds the daemon, or starts one, and registers there.
    async fn link(&self) -> io::Result<Link> {
        let deadline = Instant::now() + START_LIMIT;
        let mut started = false;
        let mut pause = Duration::from_millis(2);
        loop {
            match self.register().await {
                Ok(link) => return Ok(link),
                Err(error) if !is_absence(&error) || Instant::now() > deadline => {
                    return Err(error);
                }
                Err(_) => {}
            }
            if !started {
                (self.start)()?;
                started = true;
            }
            // The daemon is up when it answers; nothing tells us earlier.
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn register(&self) -> io::Result<Link> {
        let (mut reader, mut writer) = dial(&self.place).await?;
        replace_if_outdated(&mut reader, &mut writer).await?;
        let register = FromClient::Register {
            id: "register".into(),
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").into(),
            client: self.client.clone(),
            options: Box::new(self.options.clone()),
            resume: None,
        };
        writer.send(&register).await?;
        match answer(&mut reader).await? {
            FromDaemon::Registered {
                session_id: session,
                ..
            } => {
                let (tools, calls) = (HashMap::new(), HashMap::new());
                Ok(Link {
                    reader,
                    writer,
                    session,
                    count: 0,
                    tools,
                    calls,
                })
            }
            FromDaemon::Error { error, .. } => Err(io::Error::other(error)),
            _ => Err(io::Error::other(NO_DAEMON)),
        }
    }

    async fn serve(&mut self, mut link: Link) -> End {
        let end = loop {
            let going_on = tokio::select! {
                line = link.reader.next() => match line {
                    Some(Ok(line)) => link.hear(&line, &self.notify).await,
                    _ => false,
                },
                order = self.inbox.recv() => match order {
                    Some(order) => link.send(order).await,
                    None => {
                        let session_id = link.session.clone();
                        let _ = link.writer.send(&FromClient::Disconnect { session_id }).await;
                        break End::SessionOver;
                    }
                },
            };
            if !going_on {
                break End::DaemonGone;
            }
        };
        for waiting in link.calls.into_values() {
            let _ = waiting.answer.send(Ok(CallReply::error(DAEMON_GONE)));
        }
        end
    }
}

impl Link {
    /// Passes an order on. Says whether the daemon took it.
    async fn send(&mut self, order: Order) -> bool {
        self.count += 1;
        let session_id = self.session.clone();
        let name = format!("{}:{}", session_id.0, self.count);
        let message = match order {
            Order::Tools(answer) => {
                self.tools.insert(name.clone(), answer);
                FromClient::Tools {
                    id: name,
                    session_id,
                }
            }
            Order::Call(
                CallRequest {
                    request_id: request,
                    tool,
                    arguments,
                    progress,
                },
                answer,
            ) => {
                let request_id = RequestId(name);
                self.calls
                    .insert(request_id.clone(), Waiting { request, answer });
                FromClient::Request(Request {
                    session_id,
                    request_id,
                    action: tool,
                    params: arguments,
                    progress,
                })
            }
            Order::Cancel(request) => {
                let call = self
                    .calls
                    .iter()
                    .find(|(_, waiting)| waiting.request == request);
                let Some((request_id, _)) = call else {
                    return true;
                };
                FromClient::Cancel {
                    session_id,
                    request_id: request_id.clone(),
                }
            }
        };
        self.writer.send(&message).await.is_ok()
    }

    /// Handles what the daemon says. Says whether to go on.
    async fn hear(&mut self, line: &str, notify: &mpsc::Sender<BackendEvent>) -> bool {
        match FromDaemon::parse(line) {
            Ok(FromDaemon::Response(response)) => {
                let result = match (response.reply, response.failure) {
                    (Some(reply), _) => Ok(reply),
                    (None, Some(failure)) => Err(failure),
                    (None, None) => Err(CallFailure::Closed),
                };
                self.answer(&response.request_id, result);
            }
            Ok(FromDaemon::Error {
                request_id: Some(request),
                error,
                ..
            }) => {
                self.answer(&request, Ok(CallReply::error(error)));
            }
            Ok(FromDaemon::ToolsOk { id, tools }) => {
                if let Some(answer) = self.tools.remove(&id) {
                    let _ = answer.send(tools);
                }
            }
            Ok(FromDaemon::Event {
                event: EventKind::ToolsChanged,
            }) => {
                return notify.send(BackendEvent::ToolsChanged).await.is_ok();
            }
            Ok(FromDaemon::Progress(mut progress)) => {
                if let Some(waiting) = self.calls.get(&progress.request_id) {
                    progress.request_id = waiting.request.clone();
                    let _ = notify.try_send(BackendEvent::Progress(progress));
                }
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "the daemon said something unknown"),
        }
        true
    }

    fn answer(&mut self, request: &RequestId, result: Result<CallReply, CallFailure>) {
        if let Some(waiting) = self.calls.remove(request) {
            let _ = waiting.answer.send(result);
        }
    }
}

/// Connects, and makes sure that a process of ours is at the other end before saying anything.
async fn dial(place: &Place) -> io::Result<(LineReader, LineWriter)> {
    let stream = UnixStream::connect(place.socket()).await?;
    if stream.peer_cred()?.uid() != own_uid() {
        return Err(io::Error::other(
            "the daemon's socket belongs to another user",
        ));
    }
    Ok(lines::split(stream))
}

/// A daemon of another version that nobody uses makes room for one of ours; one that somebody uses
/// stays, since it speaks our protocol.
async fn replace_if_outdated(reader: &mut LineReader, writer: &mut LineWriter) -> io::Result<()> {
    let id = || "hello".to_owned();
    writer.send(&FromClient::Ping { id: id() }).await?;
    let FromDaemon::Pong {
        version: theirs, ..
    } = answer(reader).await?
    else {
        return Err(io::Error::other(NO_DAEMON));
    };
    let ours = env!("CARGO_PKG_VERSION");
    if theirs == ours {
        return Ok(());
    }
    writer.send(&FromClient::Status { id: id() }).await?;
    let FromDaemon::StatusOk {
        active_sessions, ..
    } = answer(reader).await?
    else {
        return Err(io::Error::other(NO_DAEMON));
    };
    if active_sessions > 0 {
        tracing::warn!(
            daemon = theirs,
            client = ours,
            "the daemon is of another version and in use, so it stays; it is replaced when it is idle"
        );
        return Ok(());
    }
    tracing::info!(
        daemon = theirs,
        client = ours,
        "replacing an idle daemon of another version"
    );
    writer.send(&FromClient::Stop { id: id() }).await?;
    while reader.next().await.is_some() {}
    Err(io::ErrorKind::ConnectionRefused.into())
}

async fn answer(reader: &mut LineReader) -> io::Result<FromDaemon> {
    match tokio::time::timeout(ANSWER_LIMIT, reader.next()).await {
        Ok(Some(Ok(line))) => FromDaemon::parse(&line).map_err(|_| io::Error::other(NO_DAEMON)),
        Ok(Some(Err(why))) => Err(io::Error::other(why)),
        // A daemon that is just ending closes the connection.
        Ok(None) => Err(io::ErrorKind::ConnectionRefused.into()),
        Err(_) => Err(io::Error::other("the daemon does not answer")),
    }
}

fn decline(order: Order, error: &io::Error) {
    if let Order::Call(_, answer) = order {
        let why = format!(
            "The tabmux daemon cannot be reached: {error}. Check its log, then call again."
        );
        let _ = answer.send(Ok(CallReply::error(why)));
    }
}

/// Whether an error means that no daemon is there, rather than that one does not want us.
fn is_absence(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, NotFound};
    matches!(
        error.kind(),
        ConnectionRefused | ConnectionReset | BrokenPipe | NotFound
    )
}

const NO_DAEMON: &str = "what answers at the daemon's socket is no daemon of this version";
const DAEMON_GONE: &str = "The tabmux daemon went away while the call ran, so whether it was carried \
                           out is not known. A new one is being started; call again.";
const QUEUE: usize = 1_024;
const START_LIMIT: Duration = Duration::from_secs(10);
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
