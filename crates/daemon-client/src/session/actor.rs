//! The task of a session: finds the daemon or starts one, registers there, and does so again when it goes away.

use super::{DIAGNOSE, Opening, START_LIMIT};
use crate::dial::{NO_DAEMON, answer, dial, means_no_daemon, replace_if_outdated};
use crate::lines::{LineReader, LineWriter};
use crate::link::{End, Link, Order};
use crate::modes;
use crate::starting::Turn;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use tabmux_protocol::session::SCREEN_VARIABLES;
use tabmux_protocol::wire::{FromClient, FromDaemon, PROTOCOL, Resume};
use tabmux_protocol::{BackendEvent, CallFailure, CallReply, ClientFacts};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

/// Obeys the orders of the session, with whichever daemon is running.
pub(super) struct Actor {
    opening: Opening,
    notify: mpsc::Sender<BackendEvent>,
    inbox: mpsc::Receiver<Order>,
    /// The session that an earlier daemon knew.
    known: Option<Resume>,
    /// The folders that the client works in, if it has said so.
    roots: Option<Vec<PathBuf>>,
    /// The resources that the client watches, if it has said so.
    watched: Option<Vec<String>>,
}

impl Actor {
    pub(super) fn new(
        opening: Opening,
        notify: mpsc::Sender<BackendEvent>,
        inbox: mpsc::Receiver<Order>,
    ) -> Self {
        Self {
            opening,
            notify,
            inbox,
            known: None,
            roots: None,
            watched: None,
        }
    }

    pub(super) async fn run(mut self) {
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
                    if let Some(watched) = self.watched.take() {
                        let _ = link.send(Order::Watch(watched)).await;
                    }
                    for order in waiting.drain(..) {
                        // If the daemon is gone already, the link ends at once and reports it.
                        let _ = link.send(order).await;
                    }
                    let over = link.serve(&mut self.inbox, &self.notify).await;
                    self.roots = over.roots;
                    self.watched = over.watched;
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
            Order::Watch(watched) => {
                self.watched = Some(watched);
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
        Order::Call(_, answer) | Order::Resource(_, answer) => {
            drop(answer.reply.send(Ok(CallReply::error(why))))
        }
        Order::Tools(answer) => drop(answer.send(Err(CallFailure::Unavailable { why }))),
        Order::Introduce(_) | Order::Roots(_) | Order::Watch(_) | Order::Cancel(_) => {}
    }
}

const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// The pause before a daemon that ended at once is started again; it doubles each time.
const BETWEEN_STARTS: Duration = Duration::from_millis(100);
