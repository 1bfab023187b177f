//! A session at the daemon, as its client sees it: finds or starts the daemon, and reconnects when it goes away.

mod actor;

use crate::answer_timeout;
use crate::dial::{answer, dial};
use crate::instructions::instructions;
use crate::link::{CallAnswer, Order};
use crate::socket_path::SocketPath;
use actor::Actor;
use futures_util::future::BoxFuture;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use tabmux_protocol::session::{ClientInfo, SessionOptions};
use tabmux_protocol::wire::{FromClient, FromDaemon};
use tabmux_protocol::{
    Backend, BackendEvent, CallFailure, CallReply, CallRequest, ClientFacts, RequestId,
    ResourceRequest, ToolInfo,
};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::timeout;

/// A session at the daemon.
#[derive(Debug)]
pub struct RemoteSession {
    orders: mpsc::Sender<Order>,
    notices: Mutex<mpsc::Receiver<BackendEvent>>,
    options: SessionOptions,
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
        let options = opening.options.clone();
        tokio::spawn(Actor::new(opening, notify, inbox).run());
        Self {
            orders,
            notices: Mutex::new(notices),
            options,
        }
    }
}

impl Backend for RemoteSession {
    async fn introduce(&self, client: ClientFacts) {
        let _ = self.orders.send(Order::Introduce(client)).await;
    }

    fn instructions(&self, client: Option<&ClientFacts>) -> Option<String> {
        instructions(&self.options, client)
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
        let limit = answer_timeout::of(&request) + answer_timeout::of_queues(&self.options);
        let name = request.request_id.clone();
        self.exchange(name, limit, |answer| Order::Call(request, answer))
            .await
    }

    async fn resources(&self, request: ResourceRequest) -> Result<CallReply, CallFailure> {
        let limit = answer_timeout::of_resources() + answer_timeout::of_queues(&self.options);
        let name = request.request_id.clone();
        self.exchange(name, limit, |answer| Order::Resource(request, answer))
            .await
    }

    async fn watch(&self, uris: Vec<String>) {
        let _ = self.orders.send(Order::Watch(uris)).await;
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

impl RemoteSession {
    /// Sends an order that is answered like a call, and waits for the answer up to `limit`.
    async fn exchange(
        &self,
        name: RequestId,
        limit: Duration,
        order: impl FnOnce(CallAnswer) -> Order,
    ) -> Result<CallReply, CallFailure> {
        let (asked, is_asked) = oneshot::channel();
        let (answer, reply) = oneshot::channel();
        let exchange = async {
            let answer = CallAnswer {
                asked,
                reply: answer,
            };
            self.orders
                .send(order(answer))
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
}

fn no_answer(waited: Duration) -> String {
    let seconds = waited.as_secs();
    format!(
        "The tabmux daemon did not answer within {seconds} s, so it is not known whether the call \
         was carried out. Run `tabmux doctor` to find the cause."
    )
}

const DIAGNOSE: &str =
    "Run `tabmux doctor` to find the cause, and `tabmux logs` to see the log; then call again";
const QUEUE: usize = 1_024;
pub(crate) const START_LIMIT: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use serde_json::value::to_raw_value;
    use tabmux_protocol::Content;
    use tokio::time::Instant;

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
            options: SessionOptions::default(),
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
