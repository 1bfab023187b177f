//! The client side of one connection to the daemon, with a session registered on it.

use crate::lines::{self, LineReader, LineWriter};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use tabmux_protocol::wire::{
    EventKind, FromClient, FromDaemon, LONGEST_ARGUMENTS, Request, SessionId,
};
use tabmux_protocol::{
    BackendEvent, CallFailure, CallReply, CallRequest, ClientFacts, RequestId, ResourceRequest,
    ToolInfo,
};
use tokio::sync::{mpsc, oneshot};

/// Receives a tool list.
pub(crate) type ListAnswer = oneshot::Sender<Result<Vec<ToolInfo>, CallFailure>>;

/// Receives the outcome of a call.
#[derive(Debug)]
pub(crate) struct CallAnswer {
    /// Sent once the call was sent to the daemon.
    pub(crate) asked: oneshot::Sender<()>,
    pub(crate) reply: oneshot::Sender<Result<CallReply, CallFailure>>,
}

/// A command of the session for its daemon.
#[derive(Debug)]
pub(crate) enum Order {
    Introduce(ClientFacts),
    /// The client works in these folders.
    Roots(Vec<PathBuf>),
    /// The client watches these resources.
    Watch(Vec<String>),
    Tools(ListAnswer),
    Call(CallRequest, CallAnswer),
    Resource(ResourceRequest, CallAnswer),
    Cancel(RequestId),
}

impl Order {
    /// Whether the caller no longer waits for the answer.
    pub(crate) fn is_abandoned(&self) -> bool {
        match self {
            Self::Tools(answer) => answer.is_closed(),
            Self::Call(_, answer) | Self::Resource(_, answer) => answer.reply.is_closed(),
            Self::Introduce(_) | Self::Roots(_) | Self::Watch(_) | Self::Cancel(_) => false,
        }
    }
}

/// A connection on which the session is registered.
pub(crate) struct Link {
    reader: LineReader,
    writer: LineWriter,
    session: SessionId,
    /// What precedes a call's id on the socket.
    prefix: String,
    /// How many lists were asked for on this link.
    lists_asked: u64,
    tools: HashMap<String, ListAnswer>,
    /// Calls without an answer, by their callers' ids.
    calls: HashMap<RequestId, oneshot::Sender<Result<CallReply, CallFailure>>>,
    stopping: bool,
    /// The client's folders as last sent, to send them again after a reconnect.
    roots: Option<Vec<PathBuf>>,
    /// The resources that the client watches, for the same.
    watched: Option<Vec<String>>,
}

/// The outcome of a link that has ended.
pub(crate) struct Over {
    pub(crate) end: End,
    /// Whether pending calls were answered with an error.
    pub(crate) told: bool,
    /// Pending requests for a list, which the next daemon can answer.
    pub(crate) lists: Vec<ListAnswer>,
    /// The folders that the client works in, if it has said so.
    pub(crate) roots: Option<Vec<PathBuf>>,
    /// The resources that it watches, if it has said so.
    pub(crate) watched: Option<Vec<String>>,
}

/// Why a link ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The session ended.
    SessionOver,
    /// The connection to the daemon was lost.
    DaemonGone,
    /// The daemon was stopped on purpose.
    DaemonStopped,
}

impl Link {
    /// `is_named` if several processes may use the session at once: their calls must have different ids.
    pub(crate) fn new(
        reader: LineReader,
        writer: LineWriter,
        session: SessionId,
        is_named: bool,
    ) -> Self {
        let prefix = match is_named {
            true => format!("{}:{}.", session.0, std::process::id()),
            false => format!("{}:", session.0),
        };
        Self {
            reader,
            writer,
            session,
            prefix,
            lists_asked: 0,
            tools: HashMap::new(),
            calls: HashMap::new(),
            stopping: false,
            roots: None,
            watched: None,
        }
    }

    /// Passes orders and messages of the daemon on, until either side closes the link.
    pub(crate) async fn serve(
        mut self,
        inbox: &mut mpsc::Receiver<Order>,
        notify: &mpsc::Sender<BackendEvent>,
    ) -> Over {
        let end = loop {
            let is_open = tokio::select! {
                line = self.reader.next() => match line {
                    Some(Ok(line)) => self.handle(&line, notify).await,
                    _ => false,
                },
                order = inbox.recv() => match order {
                    Some(order) => match self.send(order).await {
                        Err(error) => lines::is_too_long(&error),
                        Ok(()) => true,
                    },
                    None => {
                        let session_id = self.session.clone();
                        let _ = self.writer.send(&FromClient::Disconnect { session_id }).await;
                        break End::SessionOver;
                    }
                },
            };
            match (is_open, self.stopping) {
                (true, _) => {}
                (false, true) => break End::DaemonStopped,
                (false, false) => break End::DaemonGone,
            }
        };
        let why = match end {
            End::DaemonStopped => DAEMON_STOPPED,
            End::SessionOver | End::DaemonGone => DAEMON_GONE,
        };
        let told = !self.calls.is_empty();
        for waiting in self.calls.into_values() {
            let _ = waiting.send(Ok(CallReply::error(why)));
        }
        Over {
            end,
            told,
            lists: self.tools.into_values().collect(),
            roots: self.roots,
            watched: self.watched,
        }
    }

    /// Passes an order on, unless it is abandoned. A call that is too long for a line is answered here with an error;
    /// the link stays open.
    pub(crate) async fn send(&mut self, order: Order) -> io::Result<()> {
        if order.is_abandoned() {
            return Ok(());
        }
        let session_id = self.session.clone();
        let message = match order {
            Order::Introduce(_) => return Ok(()), // Too late: the session is already open.
            Order::Roots(roots) => {
                self.roots = Some(roots.clone());
                FromClient::Roots { session_id, roots }
            }
            Order::Watch(uris) => {
                self.watched = Some(uris.clone());
                FromClient::Watch { session_id, uris }
            }
            Order::Tools(answer) => {
                self.lists_asked += 1;
                let id = self.lists_asked.to_string();
                self.tools.insert(id.clone(), answer);
                FromClient::Tools { id, session_id }
            }
            Order::Call(
                CallRequest {
                    request_id: request,
                    tool,
                    arguments,
                    progress,
                    asking,
                },
                CallAnswer {
                    asked,
                    reply: answer,
                },
            ) => {
                if arguments.get().len() > LONGEST_ARGUMENTS {
                    let _ = answer.send(Ok(CallReply::error(TOO_LONG)));
                    return Ok(());
                }
                let _ = asked.send(());
                let request_id = self.on_socket(&request);
                self.calls.insert(request, answer);
                FromClient::Request(Request {
                    session_id,
                    request_id,
                    action: tool,
                    params: arguments,
                    progress,
                    asking,
                })
            }
            Order::Resource(mut request, CallAnswer { asked, reply }) => {
                let _ = asked.send(());
                let request_id = self.on_socket(&request.request_id);
                self.calls.insert(request.request_id, reply);
                request.request_id = request_id;
                FromClient::Resource {
                    session_id,
                    request,
                }
            }
            Order::Cancel(request) => {
                if !self.calls.contains_key(&request) {
                    return Ok(());
                }
                FromClient::Cancel {
                    session_id,
                    request_id: self.on_socket(&request),
                }
            }
        };
        let sent = self.writer.send(&message).await;
        if let (Err(error), FromClient::Request(request)) = (&sent, &message)
            && lines::is_too_long(error)
        {
            self.answer(&request.request_id, Ok(CallReply::error(TOO_LONG)));
        }
        sent
    }

    /// Handles a message of the daemon. Returns whether the link stays open.
    async fn handle(&mut self, line: &str, notify: &mpsc::Sender<BackendEvent>) -> bool {
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
                    let _ = answer.send(Ok(tools));
                }
            }
            Ok(FromDaemon::Event {
                event: EventKind::ToolsChanged,
            }) => {
                return notify.send(BackendEvent::ToolsChanged).await.is_ok();
            }
            Ok(FromDaemon::ResourceChanged { uri }) => {
                let changed = BackendEvent::ResourceChanged(uri);
                return notify.send(changed).await.is_ok();
            }
            Ok(FromDaemon::Event {
                event: EventKind::Stopping,
            }) => self.stopping = true,
            Ok(FromDaemon::Progress(mut progress)) => {
                if let Some(request) = self.callers_own(&progress.request_id) {
                    progress.request_id = request;
                    let _ = notify.try_send(BackendEvent::Progress(progress));
                }
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "the daemon sent an unknown message"),
        }
        true
    }

    /// Passes on the outcome of a call, by its id on the socket.
    fn answer(&mut self, id: &RequestId, result: Result<CallReply, CallFailure>) {
        let request = self.callers_own(id);
        if let Some(waiting) = request.and_then(|request| self.calls.remove(&request)) {
            let _ = waiting.send(result);
        }
    }

    /// The id of a call on the socket: unique among all clients of the daemon.
    fn on_socket(&self, request: &RequestId) -> RequestId {
        RequestId(format!("{}{request}", self.prefix))
    }

    /// The caller's id of a call that waits for its answer.
    fn callers_own(&self, id: &RequestId) -> Option<RequestId> {
        let request = RequestId(id.0.strip_prefix(&self.prefix)?.to_owned());
        self.calls.contains_key(&request).then_some(request)
    }
}

const TOO_LONG: &str = "The call was not made: its arguments are longer than 4 MiB when sent. Shorten them, or pass a file \
                        path.";
const DAEMON_GONE: &str = "The tabmux daemon went away while the call ran, so it is not known whether the call was \
                           carried out. A new daemon is being started; call again.";
const DAEMON_STOPPED: &str = "The tabmux daemon was stopped while the call ran, so it is not known whether the \
                              call was carried out. The next call starts it again.";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::to_raw_value;
    use std::collections::BTreeSet;
    use tokio::net::UnixStream;

    /// A session's link, and the daemon's side of it.
    fn link(session: &str) -> (Link, (LineReader, LineWriter)) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (reader, writer) = lines::split(ours);
        let session = SessionId(session.to_owned());
        let link = Link::new(reader, writer, session, false);
        (link, lines::split(theirs))
    }

    /// Spec: multi-client 11, 22, 23, 44.
    #[tokio::test]
    async fn a_request_id_is_the_session_and_a_count_so_none_is_used_twice() {
        let mut ids = BTreeSet::new();
        for session in ["sess_one", "sess_two"] {
            let (mut link, (mut daemon, _)) = link(session);
            for count in 1..=3 {
                // Clients count alike.
                let call = CallRequest {
                    request_id: RequestId(count.to_string()),
                    tool: "click".into(),
                    arguments: to_raw_value(&()).unwrap(),
                    progress: false,
                    asking: Default::default(),
                };
                let ((asked, _), (reply, _reply)) = (oneshot::channel(), oneshot::channel());
                let answer = CallAnswer { asked, reply };
                link.send(Order::Call(call, answer)).await.unwrap();
                let line = daemon.next().await.unwrap().unwrap();
                let Ok(FromClient::Request(request)) = FromClient::parse(&line) else {
                    panic!("{line}");
                };
                assert_eq!(request.request_id.0, format!("{session}:{count}"));
                ids.insert(request.request_id);
            }
        }
        assert_eq!(ids.len(), 6);
    }

    #[tokio::test]
    async fn calls_of_a_named_session_carry_the_process_that_made_them() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let (reader, writer) = lines::split(ours);
        let session = SessionId("sess_one".to_owned());
        let mut link = Link::new(reader, writer, session, true);
        let request = RequestId("7".to_owned());
        let id = link.on_socket(&request);
        assert_eq!(id.0, format!("sess_one:{}.7", std::process::id()));
        assert_eq!(link.callers_own(&id), None, "there is no such call");
        link.calls.insert(request.clone(), oneshot::channel().0);
        assert_eq!(link.callers_own(&id), Some(request));
        let foreign = RequestId("sess_one:0.7".to_owned());
        assert_eq!(link.callers_own(&foreign), None);
    }

    #[tokio::test]
    async fn a_call_that_is_too_long_fails_and_the_next_one_is_made() {
        let (link, (mut daemon, _writer)) = link("sess_one");
        let (orders, mut inbox) = mpsc::channel(8);
        let (notify, _news) = mpsc::channel(8);
        let serving = tokio::spawn(async move {
            let over = link.serve(&mut inbox, &notify).await;
            over.end
        });
        let mut replies = Vec::new();
        for length in [LONGEST_ARGUMENTS + 60, LONGEST_ARGUMENTS - 60, 10] {
            let arguments = to_raw_value(&"\u{1}".repeat(length / 6)).unwrap();
            let call = CallRequest {
                request_id: RequestId(length.to_string()),
                tool: "click".into(),
                arguments,
                progress: false,
                asking: Default::default(),
            };
            let ((asked, _), (reply, told)) = (oneshot::channel(), oneshot::channel());
            let answer = CallAnswer { asked, reply };
            orders.send(Order::Call(call, answer)).await.unwrap();
            replies.push(told);
        }
        for length in [LONGEST_ARGUMENTS - 60, 10] {
            let line = daemon.next().await.unwrap().unwrap();
            let Ok(FromClient::Request(request)) = FromClient::parse(&line) else {
                panic!("a call");
            };
            assert_eq!(request.request_id.0, format!("sess_one:{length}"));
        }
        let refused = replies.remove(0).await.unwrap().unwrap();
        assert!(refused.is_error);
        drop(orders);
        assert_eq!(serving.await.unwrap(), End::SessionOver);
    }
}
