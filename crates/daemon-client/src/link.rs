//! The client side of one connection to the daemon, with a session registered on it.

use crate::lines::{self, LineReader, LineWriter};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use tabmux_protocol::wire::{
    EventKind, FromClient, FromDaemon, LONGEST_ARGUMENTS, Request, SessionId,
};
use tabmux_protocol::{
    BackendEvent, CallFailure, CallReply, CallRequest, ClientFacts, RequestId, ToolInfo,
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
    Tools(ListAnswer),
    Call(CallRequest, CallAnswer),
    Cancel(RequestId),
}

impl Order {
    /// Whether the caller no longer waits for the answer.
    pub(crate) fn is_abandoned(&self) -> bool {
        match self {
            Self::Tools(answer) => answer.is_closed(),
            Self::Call(_, answer) => answer.reply.is_closed(),
            Self::Introduce(_) | Self::Roots(_) | Self::Cancel(_) => false,
        }
    }
}

/// A connection on which the session is registered.
pub(crate) struct Link {
    reader: LineReader,
    writer: LineWriter,
    session: SessionId,
    /// How many requests this session has made, over all its links.
    count: u64,
    tools: HashMap<String, ListAnswer>,
    calls: HashMap<RequestId, PendingCall>,
    stopping: bool,
    /// The client's folders as last sent, to send them again after a reconnect.
    roots: Option<Vec<PathBuf>>,
}

struct PendingCall {
    request: RequestId,
    answer: oneshot::Sender<Result<CallReply, CallFailure>>,
}

/// The outcome of a link that has ended.
pub(crate) struct Over {
    pub(crate) end: End,
    /// How many requests the session has made so far.
    pub(crate) count: u64,
    /// Whether pending calls were answered with an error.
    pub(crate) told: bool,
    /// Pending requests for a list, which the next daemon can answer.
    pub(crate) lists: Vec<ListAnswer>,
    /// The folders that the client works in, if it has said so.
    pub(crate) roots: Option<Vec<PathBuf>>,
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
    pub(crate) fn new(
        reader: LineReader,
        writer: LineWriter,
        session: SessionId,
        count: u64,
    ) -> Self {
        Self {
            reader,
            writer,
            session,
            count,
            tools: HashMap::new(),
            calls: HashMap::new(),
            stopping: false,
            roots: None,
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
            let _ = waiting.answer.send(Ok(CallReply::error(why)));
        }
        Over {
            end,
            count: self.count,
            told,
            lists: self.tools.into_values().collect(),
            roots: self.roots,
        }
    }

    /// Passes an order on, unless it is abandoned. A call that is too long for a line is answered here with an error;
    /// the link stays open.
    pub(crate) async fn send(&mut self, order: Order) -> io::Result<()> {
        if order.is_abandoned() {
            return Ok(());
        }
        self.count += 1;
        let session_id = self.session.clone();
        let name = format!("{}:{}", session_id.0, self.count);
        let message = match order {
            Order::Introduce(_) => return Ok(()), // Too late: the session is already open.
            Order::Roots(roots) => {
                self.roots = Some(roots.clone());
                FromClient::Roots { session_id, roots }
            }
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
                let request_id = RequestId(name);
                let _ = asked.send(());
                self.calls
                    .insert(request_id.clone(), PendingCall { request, answer });
                FromClient::Request(Request {
                    session_id,
                    request_id,
                    action: tool,
                    params: arguments,
                    progress,
                    asking,
                })
            }
            Order::Cancel(request) => {
                let call = self
                    .calls
                    .iter()
                    .find(|(_, waiting)| waiting.request == request);
                let Some((request_id, _)) = call else {
                    return Ok(());
                };
                FromClient::Cancel {
                    session_id,
                    request_id: request_id.clone(),
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
            Ok(FromDaemon::Event {
                event: EventKind::Stopping,
            }) => self.stopping = true,
            Ok(FromDaemon::Progress(mut progress)) => {
                if let Some(waiting) = self.calls.get(&progress.request_id) {
                    progress.request_id = waiting.request.clone();
                    let _ = notify.try_send(BackendEvent::Progress(progress));
                }
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "the daemon sent an unknown message"),
        }
        true
    }

    fn answer(&mut self, request: &RequestId, result: Result<CallReply, CallFailure>) {
        if let Some(waiting) = self.calls.remove(request) {
            let _ = waiting.answer.send(result);
        }
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
        (Link::new(reader, writer, session, 0), lines::split(theirs))
    }

    /// Spec: multi-client 11, 22, 23, 44.
    #[tokio::test]
    async fn a_request_id_is_the_session_and_a_count_so_none_is_used_twice() {
        let mut ids = BTreeSet::new();
        for session in ["sess_one", "sess_two"] {
            let (mut link, (mut daemon, _)) = link(session);
            for count in 1..=3 {
                // The client's own id may be the same in every call.
                let call = CallRequest {
                    request_id: RequestId("1".into()),
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
        for count in [2, 3] {
            let line = daemon.next().await.unwrap().unwrap();
            let Ok(FromClient::Request(request)) = FromClient::parse(&line) else {
                panic!("a call");
            };
            assert_eq!(request.request_id.0, format!("sess_one:{count}"));
        }
        let refused = replies.remove(0).await.unwrap().unwrap();
        assert!(refused.is_error);
        drop(orders);
        assert_eq!(serving.await.unwrap(), End::SessionOver);
    }
}
