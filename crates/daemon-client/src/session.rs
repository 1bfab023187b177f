//! A session at the daemon, as its client sees it: finds or starts the daemon, and reconnects when it goes away.

use crate::answer_timeout;
use crate::lines::{self, LineReader, LineWriter};
use crate::link::{CallAnswer, End, Link, Order};
use crate::modes;
use crate::socket_path::SocketPath;
use crate::starting::Turn;
use crate::user::own_uid;
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use tabmux_protocol::session::{ClientInfo, SCREEN_VARIABLES, SessionOptions};
use tabmux_protocol::wire::{FromClient, FromDaemon, PROTOCOL, Resume};
use tabmux_protocol::{
    Backend, BackendEvent, CallFailure, CallReply, CallRequest, ClientFacts, RequestId, ToolInfo,
};
use tokio::net::UnixStream;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::{Instant, timeout};

/// A session at the daemon.
#[derive(Debug)]
pub struct RemoteSession {
    orders: mpsc::Sender<Order>,
    notices: Mutex<mpsc::Receiver<BackendEvent>>,
}

/// Which session to open, and where.
pub struct Opening {
    /// The daemon's socket.
    pub socket_path: SocketPath,
    /// The client that opens it.
    pub client: ClientInfo,
    /// Its options.
    pub options: SessionOptions,
    /// The name of a session that outlives its connection.
    pub name: Option<String>,
    /// Starts a daemon.
    pub start: StartDaemon,
}

/// Starts a daemon. Does not have to wait until it listens.
pub type StartDaemon = Box<dyn Fn() -> io::Result<Started> + Send + Sync>;

/// Resolves when the process that was started has ended.
pub type Started = BoxFuture<'static, ()>;

/// Sends one request that needs no session. Fails at once if no daemon is running.
pub async fn ask(socket_path: &SocketPath, question: &FromClient) -> io::Result<FromDaemon> {
    let (mut reader, mut writer) = dial(socket_path).await?;
    writer.send(question).await?;
    answer(&mut reader).await
}

impl RemoteSession {
    /// Opens a session. Returns at once; a task finds or starts the daemon.
    pub fn open(opening: Opening) -> Self {
        let (orders, inbox) = mpsc::channel(QUEUE);
        let (notify, notices) = mpsc::channel(QUEUE);
        let actor = Actor {
            opening,
            notify,
            inbox,
            known: None,
            roots: None,
        };
        tokio::spawn(actor.run());
        Self {
            orders,
            notices: Mutex::new(notices),
        }
    }
}

impl Backend for RemoteSession {
    async fn introduce(&self, client: ClientFacts) {
        let _ = self.orders.send(Order::Introduce(client)).await;
    }

    async fn works_in(&self, roots: Vec<PathBuf>) {
        let _ = self.orders.send(Order::Roots(roots)).await;
    }

    async fn tools(&self) -> Result<Vec<ToolInfo>, CallFailure> {
        let (answer, tools) = oneshot::channel();
        let exchange = async {
            self.orders
                .send(Order::Tools(answer))
                .await
                .map_err(|_| CallFailure::Closed)?;
            tools.await.map_err(|_| CallFailure::Closed)?
        };
        let limit = answer_timeout::of_list();
        let Ok(result) = timeout(limit, exchange).await else {
            let why = format!(
                "The tabmux daemon did not list its tools within {} s. {DIAGNOSE}.",
                limit.as_secs()
            );
            return Err(CallFailure::Unavailable { why });
        };
        result
    }

    async fn call(&self, request: CallRequest) -> Result<CallReply, CallFailure> {
        let limit = answer_timeout::of(&request);
        let name = request.request_id.clone();
        let (asked, is_asked) = oneshot::channel();
        let (answer, reply) = oneshot::channel();
        let exchange = async {
            let answer = CallAnswer {
                asked,
                reply: answer,
            };
            self.orders
                .send(Order::Call(request, answer))
                .await
                .map_err(|_| CallFailure::Closed)?;
            reply.await.map_err(|_| CallFailure::Closed)?
        };
        let too_long = async {
            // If the daemon cannot be started, `exchange` ends with an error by then.
            let _ = timeout(START_LIMIT, is_asked).await;
            tokio::time::sleep(limit).await;
        };
        // Normally the daemon answers first, at the call's deadline at the latest, with a better message.
        tokio::select! {
            biased;
            result = exchange => result,
            () = too_long => {
                self.cancel(&name);
                Ok(CallReply::error(no_answer(limit)))
            }
        }
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

fn no_answer(waited: Duration) -> String {
    let seconds = waited.as_secs();
    format!(
        "The tabmux daemon did not answer within {seconds} s, so it is not known whether the call \
         was carried out. Run `tabmux doctor` to find the cause."
    )
}

struct Actor {
    opening: Opening,
    notify: mpsc::Sender<BackendEvent>,
    inbox: mpsc::Receiver<Order>,
    /// The session that an earlier daemon knew.
    known: Option<Resume>,
    /// The folders that the client works in, if it has said so.
    roots: Option<Vec<PathBuf>>,
}

impl Actor {
    async fn run(mut self) {
        // Orders that wait for a daemon. The session's tool list depends on the client's name, so the
        // session is opened only after the handshake.
        let mut waiting = match self.inbox.recv().await {
            None => return,
            Some(Order::Introduce(client)) => {
                self.apply_client(Some(client));
                Vec::new()
            }
            Some(order) => {
                self.apply_client(None);
                vec![order]
            }
        };
        loop {
            let is_new = self.known.is_none();
            match self.link().await {
                Ok(mut link) => {
                    // The new daemon's list may differ from the old one's.
                    if !is_new && self.notify.send(BackendEvent::ToolsChanged).await.is_err() {
                        return;
                    }
                    if let Some(roots) = self.roots.take() {
                        let _ = link.send(Order::Roots(roots)).await;
                    }
                    for order in waiting.drain(..) {
                        // If the daemon is gone already, the link ends at once and reports it.
                        let _ = link.send(order).await;
                    }
                    let over = link.serve(&mut self.inbox, &self.notify).await;
                    self.roots = over.roots;
                    waiting = over.lists.into_iter().map(Order::Tools).collect();
                    if let Some(known) = &mut self.known {
                        known.told = over.told;
                    }
                    match over.end {
                        End::SessionOver => return,
                        End::DaemonGone => continue,
                        // It was stopped on purpose, so it stays down until it is needed.
                        End::DaemonStopped => {}
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "there is no daemon");
                    // Every pending order fails. The next order tries again.
                    for order in waiting.drain(..) {
                        decline(order, &error);
                    }
                    while let Ok(order) = self.inbox.try_recv() {
                        if let Some(order) = self.if_needs_daemon(order) {
                            decline(order, &error);
                        }
                    }
                }
            }
            if waiting.is_empty() {
                match self.next_order().await {
                    Some(order) => waiting.push(order),
                    None => return,
                }
            }
        }
    }

    /// The next order that needs a daemon; `None` if the session has ended.
    async fn next_order(&mut self) -> Option<Order> {
        loop {
            let order = self.inbox.recv().await?;
            if let Some(order) = self.if_needs_daemon(order) {
                return Some(order);
            }
        }
    }

    /// The order, if it needs a daemon. Without a daemon there is nothing to cancel; folders are kept for
    /// the next one.
    fn if_needs_daemon(&mut self, order: Order) -> Option<Order> {
        match order {
            Order::Introduce(_) | Order::Cancel(_) => None,
            Order::Roots(roots) => {
                self.roots = Some(roots);
                None
            }
            order => Some(order).filter(|order| !order.is_abandoned()),
        }
    }

    fn apply_client(&mut self, client: Option<ClientFacts>) {
        let options = &mut self.opening.options;
        options.tools = modes::choose(options, client.as_ref());
        if let Some(client) = client.filter(|client| !client.name.is_empty()) {
            self.opening.client.name = client.name;
        }
    }

    /// Finds the daemon, or starts one, and registers there.
    async fn link(&mut self) -> io::Result<Link> {
        let deadline = Instant::now() + START_LIMIT;
        let mut started = None;
        let (mut start_at, mut between) = (Instant::now(), BETWEEN_STARTS);
        let mut pause = Duration::from_millis(2);
        loop {
            let error = match self.register().await {
                Ok(link) => return Ok(link),
                Err(error) => error,
            };
            if !means_no_daemon(&error.why) || Instant::now() > deadline {
                return Err(error.why);
            }
            // A daemon accepted the connection, so daemons do start; do not back off.
            if error.was_reached {
                between = BETWEEN_STARTS;
                start_at = start_at.min(Instant::now() + between);
            }
            // If many clients have lost their daemon, one of them starts the next and the others wait for it.
            if started.is_none()
                && Instant::now() >= start_at
                && let Some(turn) = Turn::take(&self.opening.socket_path)
            {
                started = Some(((self.opening.start)()?, turn));
                start_at = Instant::now() + between;
                between *= 2;
            }
            // Poll: the only sign that the daemon is up is that it answers.
            let ended = match &mut started {
                Some((process, _)) => timeout(pause, process).await.is_ok(),
                None => {
                    tokio::time::sleep(pause).await;
                    false
                }
            };
            // The process ended because another daemon was first. That one may have been killed since.
            if ended {
                started = None;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn register(&mut self) -> Result<Link, NoLink> {
        let dialled = dial(&self.opening.socket_path).await;
        let (reader, writer) = dialled.map_err(|why| NoLink {
            why,
            was_reached: false,
        })?;
        let registered = self.register_at(reader, writer).await;
        registered.map_err(|why| NoLink {
            why,
            was_reached: true,
        })
    }

    async fn register_at(
        &mut self,
        mut reader: LineReader,
        mut writer: LineWriter,
    ) -> io::Result<Link> {
        replace_if_outdated(&mut reader, &mut writer).await?;
        let register = FromClient::Register {
            id: "register".into(),
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").into(),
            client: self.opening.client.clone(),
            options: Box::new(self.opening.options.clone()),
            resume: self.known.clone(),
            name: self.opening.name.clone(),
            screen: screen(),
        };
        writer.send(&register).await?;
        match answer(&mut reader).await? {
            FromDaemon::Registered {
                session_id, secret, ..
            } => {
                self.known = Some(Resume {
                    session_id: session_id.clone(),
                    secret,
                    told: false,
                });
                let is_named = self.opening.name.is_some();
                Ok(Link::new(reader, writer, session_id, is_named))
            }
            FromDaemon::Error { error, .. } => Err(refused(error)),
            _ => Err(io::Error::other(NO_DAEMON)),
        }
    }
}

/// Our environment variables about the display: the daemon may have been started without them.
fn screen() -> BTreeMap<String, String> {
    let value = |name: &&str| Some(((*name).to_owned(), std::env::var(name).ok()?));
    SCREEN_VARIABLES.iter().filter_map(value).collect()
}

/// The daemon works, but refuses this session for this reason.
fn refused(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// Why no link was made.
struct NoLink {
    why: io::Error,
    /// Whether the connection was accepted.
    was_reached: bool,
}

/// Connects, and checks that the process at the other end belongs to our user before sending anything.
async fn dial(socket_path: &SocketPath) -> io::Result<(LineReader, LineWriter)> {
    let stream = UnixStream::connect(socket_path.socket()).await?;
    if stream.peer_cred()?.uid() != own_uid() {
        let whose = format!(
            "the socket {} belongs to another user",
            socket_path.socket().display()
        );
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, whose));
    }
    Ok(lines::split(stream))
}

/// Stops an idle daemon of another version, so that one of ours can start. A daemon with sessions stays,
/// since it speaks our protocol.
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
            "the daemon has another version and is in use; it is replaced when it is idle"
        );
        return Ok(());
    }
    tracing::info!(
        daemon = theirs,
        client = ours,
        "replacing an idle daemon of another version"
    );
    writer.send(&FromClient::Stop { id: id() }).await?;
    let hangs_up = async { while reader.next().await.is_some() {} };
    // If it does not end, starting the next daemon fails with the reason.
    let _ = timeout(ANSWER_LIMIT, hangs_up).await;
    Err(io::ErrorKind::ConnectionRefused.into())
}

async fn answer(reader: &mut LineReader) -> io::Result<FromDaemon> {
    match timeout(ANSWER_LIMIT, reader.next()).await {
        Ok(Some(Ok(line))) => FromDaemon::parse(&line).map_err(|_| io::Error::other(NO_DAEMON)),
        Ok(Some(Err(why))) => Err(io::Error::other(why)),
        // A daemon that is just ending closes the connection.
        Ok(None) => Err(io::ErrorKind::ConnectionRefused.into()),
        Err(_) => Err(io::Error::other("the daemon does not answer")),
    }
}

fn decline(order: Order, error: &io::Error) {
    let next = match error.kind() {
        // This user can neither inspect nor fix another user's socket.
        io::ErrorKind::PermissionDenied => {
            "Start tabmux with --socket PATH, a path in a folder of your own"
        }
        _ => DIAGNOSE,
    };
    let why = match error.kind() {
        io::ErrorKind::InvalidInput => format!("{}.", error.to_string().trim_end_matches('.')),
        _ => format!("The tabmux daemon cannot be reached: {error}. {next}."),
    };
    match order {
        Order::Call(_, answer) => drop(answer.reply.send(Ok(CallReply::error(why)))),
        Order::Tools(answer) => drop(answer.send(Err(CallFailure::Unavailable { why }))),
        Order::Introduce(_) | Order::Roots(_) | Order::Cancel(_) => {}
    }
}

/// Whether an error means that no daemon is running, rather than that one refuses us.
fn means_no_daemon(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, NotFound};
    matches!(
        error.kind(),
        ConnectionRefused | ConnectionReset | BrokenPipe | NotFound
    )
}

const DIAGNOSE: &str =
    "Run `tabmux doctor` to find the cause, and `tabmux logs` to see the log; then call again";
const NO_DAEMON: &str = "the process at the daemon's socket is not a daemon of this version";
const QUEUE: usize = 1_024;
pub(crate) const START_LIMIT: Duration = Duration::from_secs(10);
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// The pause before a daemon that ended at once is started again; it doubles each time.
const BETWEEN_STARTS: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use serde_json::value::to_raw_value;
    use tabmux_protocol::Content;

    fn call(arguments: &serde_json::Value) -> CallRequest {
        CallRequest {
            request_id: RequestId("1".into()),
            tool: "list_pages".into(),
            arguments: to_raw_value(arguments).unwrap(),
            progress: false,
            asking: Default::default(),
        }
    }

    /// Spec: multi-client 39.
    #[tokio::test(start_paused = true)]
    async fn a_daemon_that_does_not_answer_times_out() {
        let (orders, mut inbox) = mpsc::channel(QUEUE);
        let session = RemoteSession {
            orders,
            notices: Mutex::new(mpsc::channel(1).1),
        };
        // The timeout begins only when the daemon has the call.
        let daemon = async {
            let Some(Order::Call(_, answer)) = inbox.recv().await else {
                panic!("a call is asked for");
            };
            tokio::time::sleep(START_LIMIT / 2).await;
            answer.asked.send(()).unwrap();
            (Instant::now(), answer.reply)
        };
        let mut question = call(&json!({}));
        question.asking.can_ask = true;
        let (reply, (asked, _kept)) = tokio::join!(session.call(question), daemon);
        let reply = reply.unwrap();
        assert!(reply.is_error, "{reply:?}");
        let [Content::Text { text }] = &reply.content[..] else {
            panic!("{reply:?}");
        };
        let waited = asked.elapsed().as_secs();
        assert!((30..=35).contains(&waited), "{waited} s");
        assert!(text.contains(&format!("within {waited} s")), "{text}");
        assert!(
            matches!(inbox.recv().await, Some(Order::Cancel(_))),
            "the daemon is told to cancel the call"
        );
    }
}
