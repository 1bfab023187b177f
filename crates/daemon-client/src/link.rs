//! The client's end of one connection to the daemon, with a session registered on it.

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

/// Where a tool list goes.
pub(crate) type ListAnswer = oneshot::Sender<Result<Vec<ToolInfo>, CallFailure>>;

/// Where what becomes of a call is told.
#[derive(Debug)]
pub(crate) struct CallAnswer {
    /// The daemon has been asked.
    pub(crate) asked: oneshot::Sender<()>,
    pub(crate) reply: oneshot::Sender<Result<CallReply, CallFailure>>,
}

/// What a session asks of its daemon.
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
    /// Whether whoever gave it no longer waits for its answer.
    pub(crate) fn is_forsaken(&self) -> bool {
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
    calls: HashMap<RequestId, Waiting>,
    stopping: bool,
    /// What the daemon was told of the client's folders, for the next one.
    roots: Option<Vec<PathBuf>>,
}

struct Waiting {
    request: RequestId,
    answer: oneshot::Sender<Result<CallReply, CallFailure>>,
}

/// A link is over.
pub(crate) struct Over {
    pub(crate) end: End,
    /// How many requests the session has made by then.
    pub(crate) count: u64,
    /// Whether calls were open, and so were told.
    pub(crate) told: bool,
    /// Those who wait for a list, which the next daemon can tell as well.
    pub(crate) lists: Vec<ListAnswer>,
    /// The folders that the client works in, if it has said so.
    pub(crate) roots: Option<Vec<PathBuf>>,
}

/// Why a link is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The session is over.
    SessionOver,
    /// The daemon has gone.
    DaemonGone,
    /// Somebody ended the daemon on purpose.
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

    /// Passes on what is ordered, and what the daemon says, until either side ends it.
    pub(crate) async fn serve(
        mut self,
        inbox: &mut mpsc::Receiver<Order>,
        notify: &mpsc::Sender<BackendEvent>,
    ) -> Over {
        let end = loop {
            let going_on = tokio::select! {
                line = self.reader.next() => match line {
                    Some(Ok(line)) => self.hear(&line, notify).await,
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
            match (going_on, self.stopping) {
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

    /// Passes an order on, if somebody still waits for what comes of it. A call that is too long for a line is answered
    /// here, and fails alone.
    pub(crate) async fn send(&mut self, order: Order) -> io::Result<()> {
        if order.is_forsaken() {
            return Ok(());
        }
        self.count += 1;
        let session_id = self.session.clone();
        let name = format!("{}:{}", session_id.0, self.count);
        let message = match order {
            Order::Introduce(_) => return Ok(()), // The session is open as it is.
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
                    .insert(request_id.clone(), Waiting { request, answer });
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

const TOO_LONG: &str = "The call was not made: its arguments have more than 4 MiB as they would be sent. Give \
                        less, or name a file.";
const DAEMON_GONE: &str = "The tabmux daemon went away while the call ran, so whether it was carried \
                           out is not known. A new one is being started; call again.";
const DAEMON_STOPPED: &str = "The tabmux daemon was stopped while the call ran, so whether it was \
                              carried out is not known. The next call starts it again.";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::to_raw_value;
    use std::collections::BTreeSet;
    use tokio::net::UnixStream;

    /// A session's link, and the daemon's end of it.
    fn link(session: &str) -> (Link, (LineReader, LineWriter)) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (reader, writer) = lines::split(ours);
        let session = SessionId(session.to_owned());
        (Link::new(reader, writer, session, 0), lines::split(theirs))
    }

    /// Spec: multi-client 11, 22, 23, 44.
    #[tokio::test]
    async fn a_request_id_is_the_session_and_a_count_so_none_is_used_twice() {
        let mut told = BTreeSet::new();
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
                told.insert(request.request_id);
            }
        }
        assert_eq!(told.len(), 6);
    }

    #[tokio::test]
    async fn a_call_that_is_too_long_fails_alone_and_the_next_one_is_made() {
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
