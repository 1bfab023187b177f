//! Sessions whose daemon is simulated by the test, or never starts.

use crate::lines::{self, LineReader, LineWriter};
use crate::{Opening, RemoteSession, SocketPath, StartDaemon};
use serde_json::value::to_raw_value;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tabmux_protocol::session::{ClientInfo, SessionOptions};
use tabmux_protocol::wire::{EventKind, FromClient, FromDaemon, SessionId};
use tabmux_protocol::{Backend, CallReply, CallRequest, Content, RequestId};
use tempfile::TempDir;
use tokio::net::UnixListener;
use tokio::time::Instant;

/// A socket path for a daemon, and sessions that use it.
struct DaemonHarness {
    _folder: TempDir,
    socket_path: SocketPath,
    starts: Arc<AtomicUsize>,
}

impl DaemonHarness {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            socket_path: SocketPath::choose(Some(folder.path().join("d.sock"))),
            _folder: folder,
            starts: Arc::default(),
        }
    }

    /// A session whose daemons never come up.
    fn waits(&self) -> RemoteSession {
        self.open(Box::new(|| Ok(Box::pin(std::future::pending()))))
    }

    /// A session that cannot start a daemon, and counts how often it tries.
    fn tries(&self) -> RemoteSession {
        let starts = Arc::clone(&self.starts);
        self.open(Box::new(move || {
            starts.fetch_add(1, Ordering::Relaxed);
            Err(io::Error::other("there is no program"))
        }))
    }

    /// A session whose daemons never come up; counts the starts.
    fn waits_and_counts(&self) -> RemoteSession {
        let starts = Arc::clone(&self.starts);
        self.open(Box::new(move || {
            starts.fetch_add(1, Ordering::Relaxed);
            Ok(Box::pin(std::future::pending()))
        }))
    }

    fn open(&self, start: StartDaemon) -> RemoteSession {
        RemoteSession::open(Opening {
            socket_path: self.socket_path.clone(),
            client: ClientInfo::default(),
            options: SessionOptions::default(),
            name: None,
            start,
        })
    }

    fn listen(&self) -> UnixListener {
        UnixListener::bind(self.socket_path.socket()).unwrap()
    }
}

/// The daemon's side of a connection with a session.
struct Daemon {
    reader: LineReader,
    writer: LineWriter,
}

impl Daemon {
    /// Accepts the next client.
    async fn meet(listener: &UnixListener) -> Self {
        let (stream, _) = listener.accept().await.unwrap();
        let (reader, writer) = lines::split(stream);
        let mut daemon = Self { reader, writer };
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let FromClient::Ping { id } = daemon.hear().await else {
            panic!("a client asks for the version first");
        };
        let pong = FromDaemon::Pong {
            id,
            version: version.clone(),
        };
        daemon.say(pong).await;
        let FromClient::Register { id, .. } = daemon.hear().await else {
            panic!("a client registers");
        };
        let registered = FromDaemon::Registered {
            id,
            session_id: SessionId("sess_one".into()),
            secret: "s3cret".into(),
            version,
            resumed: false,
        };
        daemon.say(registered).await;
        daemon
    }

    async fn hear(&mut self) -> FromClient {
        let line = self.reader.next().await.unwrap().unwrap();
        FromClient::parse(&line).unwrap()
    }

    async fn say(&mut self, message: FromDaemon) {
        self.writer.send(&message).await.unwrap();
    }
}

fn call(name: &str) -> CallRequest {
    CallRequest {
        request_id: RequestId(name.into()),
        tool: "list_pages".into(),
        arguments: to_raw_value(&serde_json::json!({})).unwrap(),
        progress: false,
        asking: Default::default(),
    }
}

fn text(reply: &CallReply) -> &str {
    match &reply.content[..] {
        [Content::Text { text }] => text,
        _ => panic!("{reply:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn all_calls_fail_together_if_the_daemon_does_not_start() {
    let harness = DaemonHarness::new();
    let session = harness.waits();
    let begun = Instant::now();
    let calls = ["1", "2", "3", "4"].map(async |name| {
        let reply = session.call(call(name)).await.unwrap();
        (begun.elapsed(), text(&reply).to_owned())
    });
    for (waited, told) in futures_util::future::join_all(calls).await {
        assert!(told.contains("cannot be reached"), "{told}");
        assert!(waited < Duration::from_secs(12), "{waited:?}: {told}");
    }
}

#[tokio::test]
async fn an_abandoned_call_is_not_sent() {
    let harness = DaemonHarness::new();
    let session = harness.waits();
    let abandoned = session.call(CallRequest {
        tool: "click".into(),
        ..call("1")
    });
    // The caller gives up before a daemon is running.
    assert!(futures_util::poll!(std::pin::pin!(abandoned)).is_pending());
    let listener = harness.listen();
    let (_, heard) = tokio::join!(session.call(call("2")), async {
        let mut daemon = Daemon::meet(&listener).await;
        let FromClient::Request(request) = daemon.hear().await else {
            panic!("a call comes");
        };
        request.action
    });
    assert_eq!(heard, "list_pages");
}

#[tokio::test]
async fn a_daemon_that_was_stopped_is_not_started_to_cancel_something() {
    let harness = DaemonHarness::new();
    let listener = harness.listen();
    let session = harness.tries();
    let (told, ()) = tokio::join!(session.call(call("1")), async {
        let mut daemon = Daemon::meet(&listener).await;
        assert!(matches!(daemon.hear().await, FromClient::Request(_)));
        std::fs::remove_file(harness.socket_path.socket()).unwrap();
        let event = EventKind::Stopping;
        daemon.say(FromDaemon::Event { event }).await;
    });
    let told = told.unwrap();
    assert!(text(&told).contains("daemon was stopped"), "{told:?}");
    session.cancel(&RequestId("1".into()));
    session.works_in(vec!["/tmp".into()]).await;
    let declined = session.call(call("2")).await.unwrap();
    assert!(
        text(&declined).contains("there is no program"),
        "{declined:?}"
    );
    assert_eq!(harness.starts.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_list_that_a_dying_daemon_owed_is_sent_by_the_next_one() {
    let harness = DaemonHarness::new();
    let listener = harness.listen();
    let session = harness.tries();
    tokio::spawn(async move {
        let mut first = Daemon::meet(&listener).await;
        assert!(matches!(first.hear().await, FromClient::Tools { .. }));
        drop(first);
        let mut second = Daemon::meet(&listener).await;
        let FromClient::Tools { id, .. } = second.hear().await else {
            panic!("the list is asked for again");
        };
        let tools = Vec::new();
        second.say(FromDaemon::ToolsOk { id, tools }).await;
    });
    assert_eq!(session.tools().await.unwrap().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_list_fails_with_the_reason() {
    for (session, why) in [
        (DaemonHarness::new().waits(), "cannot be reached"),
        (DaemonHarness::new().tries(), "there is no program"),
    ] {
        let failure = session.tools().await.unwrap_err();
        let told = format!("{failure:?}");
        assert!(
            told.contains(why) && told.contains("tabmux doctor"),
            "{told}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn of_all_clients_that_lost_their_daemon_one_starts_the_next() {
    let harness = DaemonHarness::new();
    let sessions: Vec<_> = (0..20).map(|_| harness.waits_and_counts()).collect();
    let calls = sessions.iter().map(|session| session.call(call("1")));
    for reply in futures_util::future::join_all(calls).await {
        let reply = reply.unwrap();
        assert!(text(&reply).contains("cannot be reached"), "{reply:?}");
    }
    assert_eq!(harness.starts.load(Ordering::Relaxed), 1);
}

/// Daemons that are killed again and again as soon as they answer.
#[tokio::test]
async fn a_daemon_that_was_there_is_started_again_without_a_growing_pause() {
    let harness = DaemonHarness::new();
    let (starts, mut started) = tokio::sync::watch::channel(0);
    let socket = harness.socket_path.socket().to_owned();
    let session = harness.open(Box::new(move || {
        starts.send_modify(|starts| *starts += 1);
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket)?;
        // It accepts one client, and dies before it sends anything.
        let life = tokio::spawn(async move { drop(listener.accept().await) });
        Ok(Box::pin(async move { drop(life.await) }))
    }));
    tokio::select! {
        reply = session.call(call("1")) => panic!("the client gave up: {reply:?}"),
        _ = started.wait_for(|starts| *starts >= 12) => {}
    }
}
