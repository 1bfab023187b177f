//! Fifty agents at once: every answer reaches its own caller, no call waits for one of another agent, and none
//! starves.

use crate::agent::{Agent, MIX, Task};
use crate::crowd::{Crowd, LET_GO, WAIT, WAITING};
use futures_util::future::join_all;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use tabmux_testkit::{Pending, Rng};

/// Spec: multi-client 6, 22.
#[tokio::test(flavor = "multi_thread")]
async fn fifty_sessions_each_get_their_own_answers_and_none_starves() {
    let Some(crowd) = Crowd::gather() else { return };
    let agents = settle(&crowd, SESSIONS).await;
    let buttons = join_all(agents.iter().map(Agent::button)).await;
    let progress = Progress::of(agents.len());
    let works = agents.iter().zip(&buttons).enumerate();
    let works = works.map(|(number, (agent, button))| {
        let progress = &progress;
        async move {
            let mut answers = Vec::new();
            for _ in 0..CALLS / MIX.len() {
                let mut pending = Vec::new();
                for call in 0..MIX.len() {
                    // Each agent begins at another task, so that all tools run at the same time.
                    let task = MIX[(number + call) % MIX.len()];
                    pending.push((task, agent.begin(task, button).await));
                }
                let round = pending.iter().map(|(task, pending)| async move {
                    let text = pending.tool_reply().await.ok().text();
                    progress.note(number);
                    assert!(
                        agent.recognises(*task, &text),
                        "{} asked for {task:?} and got: {text}",
                        agent.name
                    );
                    (*task, text)
                });
                answers.extend(join_all(round).await);
            }
            check_effects(agent, &answers).await;
        }
    });
    join_all(works).await;
    for agent in &agents {
        assert!(
            agent.answers().values().all(|count| *count == 1),
            "{} was answered twice: {:?}",
            agent.name,
            agent.answers()
        );
    }
    // When half of all calls are answered, a fair share is half of each agent's calls.
    let behind = progress.least_at_half();
    assert!(
        behind * FAIRNESS >= CALLS / 2,
        "when half of all calls were answered, one agent had {behind} of {CALLS}"
    );
}

/// Checks that each call ran once, on this page, and acting calls in their order.
async fn check_effects(agent: &Agent, answers: &[(Task, String)]) {
    let counts = answers.iter().filter(|(task, _)| *task == Task::Count);
    let counts = counts.map(|(_, text)| text.trim_matches('"').rsplit(' ').next().unwrap());
    let counts: Vec<usize> = counts.map(|count| count.parse().unwrap()).collect();
    assert_eq!(counts, Vec::from_iter(1..=counts.len()), "{}", agent.name);
    let presses = answers.iter().filter(|(task, _)| *task == Task::Press);
    let pressed = json!({"function": "() => Number(document.querySelector('button').value)"});
    let pressed = agent.client.call_tool("evaluate_script", pressed).await;
    assert_eq!(
        pressed.ok().text(),
        presses.count().to_string(),
        "presses of {}",
        agent.name
    );
}

/// Spec: multi-client 1.
#[tokio::test(flavor = "multi_thread")]
async fn fifty_sessions_wait_at_once_and_none_for_another() {
    let Some(crowd) = Crowd::gather() else { return };
    let agents = settle(&crowd, SESSIONS + 1).await;
    let (last, agents) = agents.split_last().unwrap();
    let calls = agents.iter().map(|agent| run(agent, WAIT));
    let calls = join_all(calls).await;
    crowd.pages.wait_for_nth_request(WAITING, SESSIONS).await;
    assert!(calls.iter().all(|call| !call.is_answered()));
    run(last, LET_GO).await.tool_reply().await.ok();
    for (agent, call) in agents.iter().zip(&calls) {
        let told = call.tool_reply().await.ok().text();
        assert!(agent.recognises(Task::Read, &told), "{told}");
    }
}

async fn run<'a>(agent: &'a Agent, function: &str) -> Pending<'a> {
    let arguments = json!({"function": function});
    agent.client.begin_call("evaluate_script", arguments).await
}

/// All agents, each on its own page.
async fn settle(crowd: &Crowd, count: usize) -> Vec<Agent> {
    let mut rng = Rng::seeded(0);
    let mut agents = Vec::new();
    for number in 0..count {
        agents.push(Agent::arrive(crowd, number, &mut rng).await);
    }
    let goings = agents
        .iter()
        .map(async |agent| agent.go().await.tool_reply().await.ok());
    join_all(goings).await;
    agents
}

/// How many answers each session has, and the fewest of a session when half of all answers were given.
struct Progress {
    answered: Vec<AtomicUsize>,
    all: AtomicUsize,
    least_at_half: AtomicUsize,
}

impl Progress {
    fn of(sessions: usize) -> Self {
        Self {
            answered: (0..sessions).map(|_| AtomicUsize::new(0)).collect(),
            all: AtomicUsize::new(0),
            least_at_half: AtomicUsize::new(0),
        }
    }

    fn note(&self, session: usize) {
        self.answered[session].fetch_add(1, Ordering::SeqCst);
        let all = self.all.fetch_add(1, Ordering::SeqCst) + 1;
        if all == self.answered.len() * CALLS / 2 {
            let answered = self.answered.iter().map(|n| n.load(Ordering::SeqCst));
            let least = answered.min().unwrap_or_default();
            self.least_at_half.store(least, Ordering::SeqCst);
        }
    }

    fn least_at_half(&self) -> usize {
        self.least_at_half.load(Ordering::SeqCst)
    }
}

const SESSIONS: usize = 50;
/// Two rounds. With more of them at once, the last one ends within its 30 s only on a quiet machine.
const CALLS: usize = 2 * MIX.len();
/// Each agent has at least a quarter of a fair share, even with fifty pages on few cores.
const FAIRNESS: usize = 4;
