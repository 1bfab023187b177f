//! Many pages that change their minds while many sessions call them.

use crate::page_desk::{Daemon, Worker, request, text};
use futures_util::{FutureExt, StreamExt};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tabmux_daemon::Handle;
use tabmux_protocol::session::ToolMode;
use tabmux_protocol::{Backend, BackendEvent};
use tabmux_testkit::{Rng, patiently};
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;

const WORKERS: usize = 20;
const TABS_EACH: usize = 10;
const TOOLS: usize = 50;
/// Every tool of every tab is offered or taken back twice.
const CHANGES_EACH: usize = 2 * TABS_EACH * TOOLS;
const SESSIONS: usize = 20;
const CALLS_EACH: usize = 50;

/// What the pages saw: which call ran how often, and where.
type Seen = Arc<Mutex<HashMap<String, Vec<String>>>>;

#[tokio::test(flavor = "multi_thread")]
async fn s_10_two_hundred_pages_change_their_tools_while_twenty_sessions_call_them() {
    let daemon = Daemon::start().await;
    let seen = Seen::default();
    let over = CancellationToken::new();
    let mut apps = Vec::new();
    for number in 0..WORKERS {
        let worker = daemon.worker().await;
        let app = App::new(number, worker, Arc::clone(&seen));
        apps.push(tokio::spawn(app.live(over.clone())));
    }
    let begun = Instant::now();
    let mut agents = Vec::new();
    for number in 0..SESSIONS {
        let session = daemon.session(ToolMode::Static).await;
        agents.push(tokio::spawn(async move {
            let outcome = agent(number, &session).await;
            (session, outcome)
        }));
    }
    let mut answered = 0;
    let mut refused = 0;
    let mut sessions = Vec::new();
    for agent in agents {
        let (session, outcome) = agent.await.unwrap();
        sessions.push(session);
        for (call, tab, answer) in outcome {
            let ran = seen.lock().unwrap().remove(&call).unwrap_or_default();
            match answer {
                Ok(said) => {
                    answered += 1;
                    assert_eq!(ran.len(), 1, "{call} ran in {ran:?}");
                    assert_eq!(said, format!("{call} in {}", ran[0]));
                    assert!(tab.is_none_or(|tab| tab == ran[0]), "{call} ran in {ran:?}");
                }
                // It was gone before the call came there, or while it ran.
                Err(why) => {
                    refused += 1;
                    assert!(ran.len() <= 1, "{call} ran in {ran:?}");
                    let known = [
                        "not available",
                        "not found",
                        "No page",
                        "changed",
                        "gone",
                        "no tool",
                    ];
                    assert!(known.iter().any(|words| why.contains(words)), "{why}");
                }
            }
        }
    }
    over.cancel();
    for app in apps {
        app.await.unwrap();
    }
    let elapsed = begun.elapsed();
    for session in &sessions {
        let mut notices = 0;
        while let Some(Some(event)) = session.next_event().now_or_never() {
            assert_eq!(event, BackendEvent::ToolsChanged);
            notices += 1;
        }
        let most = elapsed.as_millis() / GATHERED.as_millis() + 2;
        assert!(notices <= most, "{notices} notices in {elapsed:?}");
    }
    eprintln!("{answered} answered, {refused} refused, {elapsed:?}");
    assert_eq!(answered + refused, SESSIONS * CALLS_EACH);
    assert!(answered > SESSIONS * CALLS_EACH / 4, "{answered} answered");
}

/// One agent: calls tools at random, half of them in a tab that it names. Each call by its own name.
async fn agent(
    number: usize,
    session: &Handle,
) -> Vec<(String, Option<String>, Result<String, String>)> {
    let mut rng = Rng::seeded(number as u64);
    let mut outcome = Vec::new();
    for turn in 0..CALLS_EACH {
        let call = format!("call-{number}-{turn}");
        let tool = format!("tool_{}", rng.below(TOOLS));
        let tab = rng
            .one_in(2)
            .then(|| tab_name(rng.below(WORKERS), rng.below(TABS_EACH)));
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
}

impl App {
    fn new(number: usize, worker: Worker, seen: Seen) -> Self {
        Self {
            number,
            worker,
            seen,
            rng: Rng::seeded(1_000 + number as u64),
            offered: HashSet::new(),
        }
    }

    /// Offers and takes back, and answers calls until nobody calls any more.
    async fn live(mut self, over: CancellationToken) {
        for tab in 0..TABS_EACH {
            self.worker.tab(&tab_name(self.number, tab)).await;
        }
        for _ in 0..CHANGES_EACH {
            self.change().await;
            while let Some(Some(Ok(message))) = self.worker.0.next().now_or_never() {
                self.hear(&message).await;
            }
        }
        loop {
            tokio::select! {
                message = self.worker.0.next() => self.hear(&message.unwrap().unwrap()).await,
                () = over.cancelled() => return,
            }
        }
    }

    async fn change(&mut self) {
        let (tab, tool) = (self.rng.below(TABS_EACH), self.rng.below(TOOLS));
        let (tab_id, name) = (tab_name(self.number, tab), format!("tool_{tool}"));
        if self.rng.one_in(50) {
            let active = json!({"type": "SET_ACTIVE_TAB", "tabId": tab_id, "at": 1});
            return self.worker.say(active).await;
        }
        if self.offered.remove(&(tab, tool)) {
            let taken = json!({"type": "UNREGISTER_TOOL", "tabId": tab_id, "name": name});
            return self.worker.say(taken).await;
        }
        self.offered.insert((tab, tool));
        let schema = json!({"type": "object", "properties": {"call": {"type": "string"}}});
        self.worker.offer(&tab_id, &name, schema).await;
    }

    fn note(&self, call: &str, tab: &str) {
        let mut seen = self.seen.lock().unwrap();
        seen.entry(call.to_owned())
            .or_default()
            .push(tab.to_owned());
    }

    async fn hear(&mut self, message: &Message) {
        let message: Value = serde_json::from_str(message.to_text().unwrap()).unwrap();
        if message["type"] != "CALL_TOOL" {
            return;
        }
        let tab = message["targetTabId"].as_str().unwrap();
        let ours = (0..TABS_EACH).any(|it| tab_name(self.number, it) == tab);
        assert!(ours, "{message} is for somebody else");
        let call = message["args"]["call"].as_str().unwrap();
        self.note(call, tab);
        let said = format!("{call} in {tab}");
        self.worker
            .say(json!({
                "type": "TOOL_CALL_RESULT", "callId": message["callId"], "success": true,
                "result": {"content": [{"type": "text", "text": said}]}
            }))
            .await;
    }
}

fn tab_name(app: usize, tab: usize) -> String {
    format!("tab-{app}-{tab}")
}

/// Changes within this time are told together.
const GATHERED: Duration = Duration::from_millis(25);
