//! Many pages that change their tools while many sessions call them.

use crate::page_harness::{Daemon, Worker, request, text};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tabmux_daemon::Handle;
use tabmux_protocol::session::ToolMode;
use tabmux_protocol::{Backend, BackendEvent};
use tabmux_testkit::{Rng, patiently};
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;

const WORKERS: usize = 20;
const TABS_EACH: usize = 10;
const TOOLS: usize = 50;
/// Every tool of every tab is registered or removed twice.
const CHANGES_EACH: usize = 2 * TABS_EACH * TOOLS;
/// The tool that only the first tab of an application has, under a name of its own.
const OWN: usize = 0;
const CHANGES_AT_ONCE: usize = 20;
const SESSIONS: usize = 20;
const CALLS_EACH: usize = 50;

/// What the pages recorded: how often each call ran, and where.
type Seen = Arc<Mutex<HashMap<String, Vec<String>>>>;

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_pages_change_their_tools_while_twenty_sessions_call_them() {
    let daemon = Daemon::start().await;
    let seen = Seen::default();
    let over = CancellationToken::new();
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        sessions.push(Arc::new(daemon.session(ToolMode::Static).await));
    }
    let begun = Instant::now();
    let listeners: Vec<_> = sessions.iter().map(listen).collect();
    let mut apps = Vec::new();
    for number in 0..WORKERS {
        let worker = daemon.worker().await;
        let app = App::new(number, worker, Arc::clone(&seen));
        apps.push(tokio::spawn(app.live(over.clone())));
    }
    let agents = sessions.iter().enumerate().map(|(number, session)| {
        let session = Arc::clone(session);
        tokio::spawn(async move { agent(number, &session).await })
    });
    let (mut answered, mut refused) = (0, 0);
    for agent in agents.collect::<Vec<_>>() {
        for (call, tab, answer) in agent.await.unwrap() {
            let ran = seen.lock().unwrap().remove(&call).unwrap_or_default();
            match answer {
                Ok(said) => {
                    answered += 1;
                    assert_eq!(ran.len(), 1, "{call} ran in {ran:?}");
                    assert_eq!(said, format!("{call} in {}", ran[0]));
                    assert!(tab.is_none_or(|tab| tab == ran[0]), "{call} ran in {ran:?}");
                }
                // The tool was gone before the call arrived, or while it ran.
                Err(why) => {
                    refused += 1;
                    assert!(ran.len() <= 1, "{call} ran in {ran:?}");
                    let known = GONE.iter().any(|words| why.contains(words));
                    assert!(known, "{why}");
                }
            }
        }
    }
    over.cancel();
    // The remaining tabs and their tools stay until the end.
    let mut rested = Vec::new();
    for app in apps {
        rested.push(app.await.unwrap());
    }
    let offered: BTreeSet<_> = rested.iter().flat_map(App::names).collect();
    let changes = rested.iter().map(|app| app.changes).sum::<u64>();
    for (session, listener) in sessions.iter().zip(listeners) {
        check_list(session, &offered).await;
        let elapsed = begun.elapsed();
        listener.over.cancel();
        let notices = listener.notices.await.unwrap();
        // Changes are gathered for a while, or reported before a reply.
        let most = elapsed.as_millis() / GATHERED.as_millis() + CALLS_EACH as u128 + 2;
        assert!(
            u128::from(notices) <= most,
            "{notices} notices in {elapsed:?}"
        );
        assert!(
            (1..changes / 4).contains(&notices),
            "{notices} notices of {changes} changes"
        );
    }
    eprintln!(
        "{answered} answered, {refused} refused, {changes} changes in {:?}",
        begun.elapsed()
    );
    assert_eq!(answered + refused, SESSIONS * CALLS_EACH);
    assert!(answered > SESSIONS * CALLS_EACH / 4, "{answered} answered");
}

/// Reads each notification of a session at once, so that none is dropped, and counts them.
struct Listener {
    over: CancellationToken,
    notices: JoinHandle<u64>,
}

fn listen(session: &Arc<Handle>) -> Listener {
    let over = CancellationToken::new();
    let (session, ended) = (Arc::clone(session), over.clone());
    let notices = tokio::spawn(async move {
        let mut notices = 0;
        loop {
            tokio::select! {
                biased;
                event = session.next_event() => assert_eq!(event, Some(BackendEvent::ToolsChanged)),
                () = ended.cancelled() => return notices,
            }
            notices += 1;
        }
    });
    Listener { over, notices }
}

/// Nothing changes any more: the list is exactly what pages offer.
async fn check_list(session: &Handle, offered: &BTreeSet<String>) {
    let tools = session.tools().await.unwrap();
    let listed = tools.into_iter().map(|tool| tool.name);
    let listed: BTreeSet<_> = listed.filter(|name| is_a_pages(name)).collect();
    assert_eq!(&listed, offered);
}

/// One agent: calls tools at random, half of them in a named tab. Each call has its own id.
async fn agent(
    number: usize,
    session: &Handle,
) -> Vec<(String, Option<String>, Result<String, String>)> {
    let mut rng = Rng::seeded(number as u64);
    let mut outcome = Vec::new();
    for turn in 0..CALLS_EACH {
        let call = format!("call-{number}-{turn}");
        let tab = tab_name(rng.below(WORKERS), rng.below(TABS_EACH));
        let tool = tool_name(&tab, rng.below(TOOLS));
        let tab = rng.one_in(2).then_some(tab);
        let mut arguments = json!({"name": tool, "arguments": {"call": call}});
        if let Some(tab) = &tab {
            arguments["tabId"] = json!(tab);
        }
        let asked = session.call(request("call_page_tool", &arguments));
        let reply = patiently(asked, || format!("an answer to {call}")).await;
        let reply = reply.unwrap();
        let said = text(&reply);
        outcome.push((call, tab, if reply.is_error { Err(said) } else { Ok(said) }));
    }
    outcome
}

/// One application: a worker with its tabs.
struct App {
    number: usize,
    worker: Worker,
    seen: Seen,
    rng: Rng,
    offered: HashSet<(usize, usize)>,
    /// Tabs that are closed at the moment.
    closed: HashSet<usize>,
    /// How often each tab was opened, which names its document.
    shown: [u64; TABS_EACH],
    changes: u64,
}

impl App {
    fn new(number: usize, worker: Worker, seen: Seen) -> Self {
        Self {
            number,
            worker,
            seen,
            rng: Rng::seeded(1_000 + number as u64),
            offered: HashSet::new(),
            closed: HashSet::new(),
            shown: [0; TABS_EACH],
            changes: 0,
        }
    }

    /// Registers and removes tools, and answers calls until the sessions have finished.
    async fn live(mut self, over: CancellationToken) -> Self {
        for tab in 0..TABS_EACH {
            self.show(tab).await;
        }
        for _ in 0..CHANGES_EACH / CHANGES_AT_ONCE {
            for _ in 0..CHANGES_AT_ONCE {
                self.change().await;
                self.changes += 1;
            }
            self.flush().await;
        }
        loop {
            tokio::select! {
                message = self.worker.0.next() => self.hear(&message.unwrap().unwrap()).await,
                () = over.cancelled() => return self,
            };
        }
    }

    /// Waits until the daemon has handled all messages, so that replies do not queue behind endless changes. Answers
    /// calls meanwhile.
    async fn flush(&mut self) {
        self.worker.say(json!({"type": "PING"})).await;
        loop {
            let next = patiently(self.worker.0.next(), || {
                "a message of the daemon".to_owned()
            });
            let message = next.await.unwrap().unwrap();
            if self.hear(&message).await {
                return;
            }
        }
    }

    async fn show(&mut self, tab: usize) {
        self.shown[tab] += 1;
        let (id, document) = (tab_name(self.number, tab), self.document(tab));
        self.worker.tab_with(&id, &document).await;
    }

    fn document(&self, tab: usize) -> String {
        format!("document {}", self.shown[tab])
    }

    async fn change(&mut self) {
        // The application's own tool is added and removed all the time, and the list changes with it.
        let (tab, tool) = match self.rng.one_in(4) {
            true => (0, OWN),
            false => (self.rng.below(TABS_EACH), 1 + self.rng.below(TOOLS - 1)),
        };
        let tab_id = tab_name(self.number, tab);
        if self.closed.remove(&tab) {
            return self.show(tab).await;
        }
        if self.rng.one_in(100) {
            self.closed.insert(tab);
            self.offered.retain(|(its, _)| *its != tab);
            let closed = json!({"type": "UNREGISTER_TAB", "tabId": tab_id});
            return self.worker.say(closed).await;
        }
        if self.rng.one_in(50) {
            let active = json!({"type": "SET_ACTIVE_TAB", "tabId": tab_id, "at": now()});
            return self.worker.say(active).await;
        }
        let name = tool_name(&tab_id, tool);
        if self.offered.remove(&(tab, tool)) {
            let taken = json!({"type": "UNREGISTER_TOOL", "tabId": tab_id, "name": name});
            return self.worker.say(taken).await;
        }
        self.offered.insert((tab, tool));
        let schema = json!({"type": "object", "properties": {"call": {"type": "string"}}});
        self.worker.offer(&tab_id, &name, schema).await;
    }

    /// The tools that its tabs offer now.
    fn names(&self) -> impl Iterator<Item = String> {
        let offered = self.offered.iter();
        offered.map(|(tab, tool)| tool_name(&tab_name(self.number, *tab), *tool))
    }

    fn note(&self, call: &str, tab: &str) {
        let mut seen = self.seen.lock().unwrap();
        seen.entry(call.to_owned())
            .or_default()
            .push(tab.to_owned());
    }

    /// Answers a call. Returns whether the message was the answer to a ping.
    async fn hear(&mut self, message: &Message) -> bool {
        let message: Value = serde_json::from_str(message.to_text().unwrap()).unwrap();
        if message["type"] != "CALL_TOOL" {
            return message["type"] == "PONG";
        }
        let tab = message["targetTabId"].as_str().unwrap();
        let mut tabs = 0..TABS_EACH;
        let number = tabs.find(|it| tab_name(self.number, *it) == tab);
        let number = number.unwrap_or_else(|| panic!("{message} is for somebody else"));
        let call = message["args"]["call"].as_str().unwrap();
        // Like the library: a missing tool is not run, and may run in another tab.
        let name = message["toolName"].as_str().unwrap();
        let mut tools = self.offered.iter().filter(|(tab, _)| *tab == number);
        let is_offered = tools.any(|(_, tool)| tool_name(tab, *tool) == name);
        if !is_offered || message["documentId"] != self.document(number) {
            let code = match self.closed.contains(&number) {
                true => "no_tab",
                false => "no_tool",
            };
            self.worker
                .say(json!({
                    "type": "TOOL_CALL_RESULT", "callId": message["callId"], "success": false,
                    "error": "It is gone.", "code": code
                }))
                .await;
            return false;
        }
        self.note(call, tab);
        let said = format!("{call} in {tab}");
        self.worker
            .say(json!({
                "type": "TOOL_CALL_RESULT", "callId": message["callId"], "success": true,
                "result": {"content": [{"type": "text", "text": said}]}
            }))
            .await;
        false
    }
}

fn tab_name(app: usize, tab: usize) -> String {
    format!("tab-{app}-{tab}")
}

fn tool_name(tab: &str, tool: usize) -> String {
    match tool {
        OWN => format!("own_of_{tab}"),
        shared => format!("shared_{shared}"),
    }
}

fn is_a_pages(name: &str) -> bool {
    name.starts_with("own_") || name.starts_with("shared_")
}

/// Milliseconds since 1970, as pages measure time.
fn now() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_secs_f64() * 1_000.0
}

/// The allowed error texts.
const GONE: [&str; 5] = [
    "not available in tab",
    "There is no tool",
    "No page offers a tool",
    "no longer has this tool",
    "was closed",
];

/// Changes within this time are reported together.
const GATHERED: Duration = Duration::from_millis(25);
