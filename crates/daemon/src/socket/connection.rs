//! One connection to the daemon's socket: at most one session, which ends with it unless it has a name.

mod shorter;

use super::server::{MOST_REGISTERED, Shared};
use crate::handle::Reply;
use crate::pending_slots::PendingSlot;
use crate::sessions::{Joined, Session, SessionRequest};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use shorter::shorter;
use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::screen::Screen;
use tabmux_daemon_client::lines::{self, LineReader};
use tabmux_platform::socket::Stream;
use tabmux_protocol::wire::{
    EventKind, FromClient, FromDaemon, Hello, PROTOCOL, Request, Response, SessionId,
};
use tabmux_protocol::{Backend, BackendEvent, CallRequest, RequestId, ResourceRequest};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::Instant;

/// Serves a connection until it is closed, breaks the protocol, or the daemon stops.
pub(super) async fn serve(stream: Stream, pending: PendingSlot, shared: Arc<Shared>) {
    let (reader, mut writer) = lines::split(stream);
    let (out, mut outbox) = mpsc::channel::<FromDaemon>(OUTBOX);
    let mut writing = tokio::spawn(async move {
        while let Some(message) = outbox.recv().await {
            let sent = match writer.send(&message).await {
                Err(error) if lines::is_too_long(&error) => writer.send(&shorter(message)).await,
                sent => sent,
            };
            if let Err(error) = sent {
                tracing::debug!(%error, "a client does not read its replies");
                return;
            }
        }
    });
    let connection = Connection {
        shared,
        out,
        session: None,
        pending: Some(pending),
        first_line_until: Some(Instant::now() + FIRST_LINE_LIMIT),
    };
    connection.run(reader).await;
    // A client that does not read its last replies must not keep the descriptor open.
    if tokio::time::timeout(FLUSH_LIMIT, &mut writing)
        .await
        .is_err()
    {
        writing.abort();
    }
}

struct Connection {
    shared: Arc<Shared>,
    out: mpsc::Sender<FromDaemon>,
    session: Option<Attached>,
    /// Its pending slot, until it has a session.
    pending: Option<PendingSlot>,
    /// The deadline for its first line.
    first_line_until: Option<Instant>,
}

/// The session of a connection.
struct Attached {
    joined: Joined,
    /// Calls without a reply yet.
    open: HashSet<RequestId>,
    _place: OwnedSemaphorePermit,
}

/// Calls of this connection without a reply yet.
type Answers = FuturesUnordered<Pin<Box<dyn Future<Output = Response> + Send>>>;

impl Drop for Attached {
    /// The client of these calls is gone, even if the session is not.
    fn drop(&mut self) {
        for request in &self.open {
            self.joined.session.handle.cancel(request);
        }
    }
}

impl Connection {
    async fn run(mut self, mut reader: LineReader) {
        let stop = self.shared.stop.clone();
        let mut answers = Answers::new();
        loop {
            // Events come before replies, so that a client learns of a changed list before it gets the reply of the
            // call that changed it.
            let going_on = tokio::select! {
                biased;
                () = stop.cancelled() => {
                    let event = EventKind::Stopping;
                    self.send(FromDaemon::Event { event }).await;
                    false
                }
                event = next_event(self.session.as_ref()) => self.tell(event).await,
                Some(answer) = answers.next() => {
                    if let Some(attached) = &mut self.session {
                        attached.open.remove(&answer.request_id);
                    }
                    self.send(FromDaemon::Response(answer)).await
                }
                () = evicted(self.pending.as_ref()) => {
                    tracing::warn!("closed a connection without a session: there are too many");
                    self.refuse(None, None, EVICTED).await;
                    false
                }
                line = reader.next() => match line {
                    None => false,
                    Some(Ok(line)) => {
                        self.first_line_until = None;
                        self.handle(&line, &mut answers).await
                    }
                    Some(Err(why)) => {
                        tracing::warn!(why, "closed a connection that breaks the protocol");
                        self.refuse(None, None, why).await;
                        false
                    }
                },
                () = passed(self.first_line_until) => {
                    self.refuse(None, None, SILENT).await;
                    false
                }
            };
            if !going_on {
                return;
            }
        }
    }

    /// Handles a line. Returns whether to continue.
    async fn handle(&mut self, line: &str, answers: &mut Answers) -> bool {
        let message = match FromClient::parse(line) {
            Ok(message) => message,
            Err(error) => return self.refuse_unreadable(line, &error).await,
        };
        match message {
            FromClient::Register {
                id,
                protocol,
                version,
                client,
                options,
                resume,
                name,
                screen,
            } => {
                if protocol != PROTOCOL {
                    return self
                        .refuse(Some(id), None, &other_protocol(protocol, &version))
                        .await;
                }
                if self.session.is_some() {
                    return self
                        .refuse(Some(id), None, "This connection already has a session")
                        .await;
                }
                let screen = Screen::named_by(|name| screen.get(name).cloned());
                let arrival = SessionRequest {
                    client,
                    options: *options,
                    resume,
                    name,
                    screen,
                };
                self.register(id, arrival).await
            }
            FromClient::Tools { id, session_id } => match self.own(&session_id) {
                None => self.refuse(Some(id), None, INVALID_SESSION).await,
                Some(session) => match session.handle.tools().await {
                    Ok(tools) => self.send(FromDaemon::ToolsOk { id, tools }).await,
                    Err(_) => false,
                },
            },
            FromClient::Request(request) => self.request(request, answers).await,
            FromClient::Resource {
                session_id,
                request,
            } => self.resource(&session_id, request, answers).await,
            FromClient::Watch { session_id, uris } => match self.own(&session_id) {
                None => self.refuse(None, None, INVALID_SESSION).await,
                Some(session) => {
                    session.handle.watch(uris).await;
                    true
                }
            },
            FromClient::Cancel {
                session_id,
                request_id,
            } => {
                if let Some(session) = self.own(&session_id) {
                    session.handle.cancel(&request_id);
                }
                true
            }
            FromClient::Roots { session_id, roots } => match self.own(&session_id) {
                None => self.refuse(None, None, INVALID_SESSION).await,
                Some(session) => {
                    session.handle.works_in(roots).await;
                    true
                }
            },
            FromClient::Status { id } => {
                let active_sessions = self.shared.hub.count_sessions();
                let extension_connected = self.shared.hub.extensions.is_connected();
                self.send(FromDaemon::StatusOk {
                    id,
                    extension_connected,
                    active_sessions,
                })
                .await
            }
            FromClient::Overview { id } => {
                let overview = tokio::select! {
                    overview = self.shared.hub.overview() => overview,
                    () = evicted(self.pending.as_ref()) => None,
                };
                match overview {
                    Some(overview) => self.send(FromDaemon::OverviewOk { id, overview }).await,
                    None => false,
                }
            }
            FromClient::Ping { id } => {
                let version = env!("CARGO_PKG_VERSION").to_owned();
                self.send(FromDaemon::Pong { id, version }).await
            }
            FromClient::End { id, name } => {
                let was_open = self.shared.hub.end_named(&name).await;
                self.send(FromDaemon::Ended { id, was_open }).await
            }
            FromClient::Stop { id } => {
                self.send(FromDaemon::Stopping { id }).await;
                self.shared.stop.cancel();
                false
            }
            FromClient::Disconnect { session_id } => self.own(&session_id).is_none(),
        }
    }

    /// Refuses a line that is no message of this protocol. A client of another version learns that this is why.
    async fn refuse_unreadable(&mut self, line: &str, error: &serde_json::Error) -> bool {
        match Hello::parse(line).filter(|hello| hello.protocol != PROTOCOL) {
            Some(hello) => {
                let why = other_protocol(hello.protocol, &hello.version);
                self.refuse(Some(hello.id), None, &why).await
            }
            None => {
                let why = tabmux_text::one_line(&error.to_string(), 200);
                let why = format!("Invalid message: {why}");
                self.refuse(None, None, &why).await
            }
        }
    }

    async fn register(&mut self, id: String, arrival: SessionRequest) -> bool {
        let Ok(place) = Arc::clone(&self.shared.registered).try_acquire_owned() else {
            let why = format!(
                "There are already {MOST_REGISTERED} connections with sessions. End one of them, then try again"
            );
            return self.refuse(Some(id), None, &why).await;
        };
        let joined = match self.shared.hub.join(arrival).await {
            Ok(joined) => joined,
            Err(why) => return self.refuse(Some(id), None, &why).await,
        };
        let registered = FromDaemon::Registered {
            id,
            session_id: joined.session.id.clone(),
            secret: joined.session.secret.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            resumed: joined.resumed,
        };
        self.session = Some(Attached {
            joined,
            open: HashSet::new(),
            _place: place,
        });
        self.pending = None;
        self.send(registered).await
    }

    async fn request(&mut self, request: Request, answers: &mut Answers) -> bool {
        let Request {
            session_id,
            request_id,
            action,
            params,
            progress,
            asking,
        } = request;
        let Some(session) = self.own(&session_id) else {
            return self.refuse(None, Some(request_id), INVALID_SESSION).await;
        };
        let call = CallRequest {
            request_id: request_id.clone(),
            tool: action,
            arguments: params,
            progress,
            asking,
        };
        let Ok(reply) = session.handle.submit(call).await else {
            return false;
        };
        self.will_answer(request_id, reply, answers)
    }

    fn will_answer(&mut self, request_id: RequestId, reply: Reply, answers: &mut Answers) -> bool {
        if let Some(attached) = &mut self.session {
            attached.open.insert(request_id.clone());
        }
        answers.push(Box::pin(answer(request_id, reply)));
        true
    }

    async fn resource(
        &mut self,
        session_id: &SessionId,
        request: ResourceRequest,
        answers: &mut Answers,
    ) -> bool {
        let request_id = request.request_id.clone();
        let Some(session) = self.own(session_id) else {
            return self.refuse(None, Some(request_id), INVALID_SESSION).await;
        };
        let Ok(reply) = session.handle.submit_resources(request).await else {
            return false;
        };
        self.will_answer(request_id, reply, answers)
    }

    /// The session of this connection, if the id matches. Other sessions cannot be named here.
    fn own(&self, id: &SessionId) -> Option<&Session> {
        let session = &self.session.as_ref()?.joined.session;
        (session.id == *id).then_some(session)
    }

    async fn tell(&self, event: Option<BackendEvent>) -> bool {
        match event {
            None => false,
            Some(BackendEvent::ToolsChanged) => {
                self.send(FromDaemon::Event {
                    event: EventKind::ToolsChanged,
                })
                .await
            }
            Some(BackendEvent::ResourceChanged(uri)) => {
                self.send(FromDaemon::ResourceChanged { uri }).await
            }
            Some(BackendEvent::Progress(progress)) => {
                self.send(FromDaemon::Progress(progress)).await
            }
        }
    }

    async fn refuse(&self, id: Option<String>, request_id: Option<RequestId>, error: &str) -> bool {
        self.send(FromDaemon::Error {
            id,
            request_id,
            error: error.to_owned(),
        })
        .await
    }

    /// False if the connection is closed. A client that does not read can be evicted, and does not delay the
    /// shutdown.
    async fn send(&self, message: FromDaemon) -> bool {
        tokio::select! {
            biased;
            sent = self.out.send(message) => sent.is_ok(),
            () = evicted(self.pending.as_ref()) => false,
            () = self.shared.stop.cancelled() => false,
        }
    }
}

async fn next_event(attached: Option<&Attached>) -> Option<BackendEvent> {
    match attached {
        Some(attached) => attached.joined.session.handle.next_event().await,
        None => std::future::pending().await,
    }
}

/// Resolves when a connection without a session is evicted.
async fn evicted(pending: Option<&PendingSlot>) {
    match pending {
        Some(pending) => pending.evicted().await,
        None => std::future::pending().await,
    }
}

async fn passed(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

async fn answer(request_id: RequestId, reply: Reply) -> Response {
    match reply.await {
        Ok(reply) => Response {
            request_id,
            reply: Some(reply),
            failure: None,
        },
        Err(failure) => Response {
            request_id,
            reply: None,
            failure: Some(failure),
        },
    }
}

fn other_protocol(protocol: u32, version: &str) -> String {
    let version = tabmux_text::one_line(version, 40);
    format!(
        "This daemon speaks protocol {PROTOCOL} (tabmux {}), the client {protocol} (tabmux {version}). \
         Stop the daemon with `tabmux daemon stop` and try again",
        env!("CARGO_PKG_VERSION")
    )
}

const INVALID_SESSION: &str = "Invalid session";
const EVICTED: &str = "Closed to make room for other connections, because it has no session. Connect again when you have a request";
const SILENT: &str =
    "Closed because no message came in time. Connect again when you have a request";
const OUTBOX: usize = 256;
/// Clients send their first line as soon as they are connected.
const FIRST_LINE_LIMIT: Duration = Duration::from_secs(10);
const FLUSH_LIMIT: Duration = Duration::from_secs(1);
