//! The shared state of all agents during the test.

use crate::agent::Task;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tabmux_testkit::patiently;
use tokio::sync::watch;

/// The state of a crowd at work.
pub(super) struct Results {
    /// The server of each agent.
    servers: RefCell<Vec<Option<u32>>>,
    /// When each agent began the last call that its own page answered.
    good: RefCell<Vec<Option<Instant>>>,
    /// How many calls were made, and how many of them by an agent whose server was killed before the answer.
    asked: Cell<usize>,
    cut: Cell<usize>,
    answers: watch::Sender<usize>,
    slowest: Cell<Duration>,
    /// The errors that agents got.
    told: RefCell<BTreeMap<String, usize>>,
    /// The last errors, with the time of day.
    told_last: RefCell<VecDeque<String>>,
    kills: Cell<usize>,
    over: Cell<bool>,
}

/// The outcome of all calls.
#[derive(Default)]
pub(super) struct Summary {
    pub(super) asked: usize,
    pub(super) cut: usize,
    pub(super) answers: usize,
    pub(super) slowest: Duration,
    pub(super) told: Vec<(String, usize)>,
}

impl Results {
    pub(super) fn of(agents: usize) -> Self {
        Self {
            servers: RefCell::new(vec![None; agents]),
            good: RefCell::new(vec![None; agents]),
            asked: Cell::default(),
            cut: Cell::default(),
            answers: watch::Sender::new(0),
            slowest: Cell::default(),
            told: RefCell::default(),
            told_last: RefCell::default(),
            kills: Cell::default(),
            over: Cell::default(),
        }
    }

    pub(super) fn arrived(&self, agent: usize, server: u32) {
        self.servers.borrow_mut()[agent] = Some(server);
        // The agent that replaces a dead one has done nothing yet.
        self.good.borrow_mut()[agent] = None;
    }

    pub(super) fn asked(&self) {
        self.asked.set(self.asked.get() + 1);
    }

    pub(super) fn cut(&self) {
        self.cut.set(self.cut.get() + 1);
    }

    pub(super) fn answered(&self, after: Duration) {
        self.slowest.set(self.slowest.get().max(after));
        self.answers.send_modify(|answers| *answers += 1);
    }

    pub(super) fn good(&self, agent: usize, begun: Instant, task: Task) {
        // Status is answered without a tab, so it proves little.
        if task != Task::Status {
            self.good.borrow_mut()[agent] = Some(begun);
            self.answers.send_modify(|_| {});
        }
    }

    pub(super) fn told(&self, text: &str) {
        // Sentences that differ only in numbers count as the same.
        let line = text.lines().next().unwrap_or_default();
        let words = line.split(|c: char| c.is_ascii_digit());
        let line = words.fold(String::new(), |line, part| match part {
            "" => line,
            part if line.is_empty() => part.to_owned(),
            part => format!("{line}#{part}"),
        });
        let mut last = self.told_last.borrow_mut();
        last.truncate(LAST_WORDS - 1);
        last.push_front(format!("{} {line}", time_of_day()));
        *self.told.borrow_mut().entry(line).or_default() += 1;
    }

    /// The last errors, the latest first.
    pub(super) fn last_errors(&self) -> String {
        let last = self.told_last.borrow();
        last.iter().map(|line| format!("{line}\n")).collect()
    }

    /// The servers of all running agents.
    pub(super) fn servers(&self) -> Vec<u32> {
        self.servers.borrow().iter().flatten().copied().collect()
    }

    pub(super) async fn more_answers(&self, count: usize) {
        let mut answers = self.answers.subscribe();
        let wanted = *answers.borrow() + count;
        let came = async { drop(answers.wait_for(|answers| *answers >= wanted).await) };
        patiently(came, || format!("{count} more answers")).await;
    }

    /// Waits until every agent has had an answer from its own page since then.
    pub(super) async fn all_good_since(&self, then: Instant) {
        let is_good = || {
            let good = self.good.borrow();
            good.iter().all(|good| good.is_some_and(|good| good > then))
        };
        let mut answers = self.answers.subscribe();
        let came = async {
            while !is_good() {
                let _ = answers.changed().await;
            }
        };
        patiently(came, || {
            let good = self.good.borrow();
            let late = good.iter().enumerate();
            let late = late.filter(|(_, good)| good.is_none_or(|good| good <= then));
            let late: Vec<_> = late.map(|(agent, _)| agent).collect();
            format!("agents {late:?} to work again\n{:#?}", self.told.borrow())
        })
        .await;
    }

    /// Counts a kill.
    pub(super) fn kill(&self) {
        self.kills.set(self.kills.get() + 1);
    }

    /// The number of kills so far.
    pub(super) fn kills(&self) -> usize {
        self.kills.get()
    }

    pub(super) fn stop(&self) {
        self.over.set(true);
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.get()
    }

    pub(super) fn summary(&self) -> Summary {
        let mut told: Vec<_> = self.told.borrow().clone().into_iter().collect();
        told.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Summary {
            asked: self.asked.get(),
            cut: self.cut.get(),
            answers: *self.answers.borrow(),
            slowest: self.slowest.get(),
            told,
        }
    }
}

/// In seconds, as the daemon's log has it: `37.250`.
fn time_of_day() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default();
    format!("{:02}.{:03}", now.as_secs() % 60, now.subsec_millis())
}

const LAST_WORDS: usize = 12;
