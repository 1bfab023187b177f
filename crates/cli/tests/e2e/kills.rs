//! Agents at work while the daemon, the browser and their own servers are killed at random moments.
//! `TABMUX_SOAK=1` kills many more and writes docs/soak.md; `TABMUX_SEED=n` repeats a run.

mod faults;
mod garbage;
mod kinds;
mod own_browser;
mod report;
mod results;

use crate::agent::{Agent, MIX, Task};
use crate::crowd::Crowd;
use futures_util::future::join_all;
use kinds::Kinds;
use report::{Report, Victim};
use results::Results;
use std::time::{Duration, Instant};
use tabmux_testkit::Rng;
use tabmux_testkit::{Pending, ToolReply, patiently, process};

#[tokio::test(flavor = "multi_thread")]
async fn after_every_kill_agents_are_answered_and_recover_and_nothing_is_left() {
    let Some(crowd) = Crowd::gather() else { return };
    let soak = variable("TABMUX_SOAK").is_some();
    let kills = variable("TABMUX_KILLS").unwrap_or(if soak { 200 } else { 10 });
    let agents = variable("TABMUX_AGENTS").unwrap_or(if soak { 50 } else { 8 });
    let seed = variable("TABMUX_SEED").unwrap_or(0);
    let (kills, agents) = (kills as usize, agents as usize);

    let results = Results::of(agents);
    let mut report = Report::new(seed, agents);
    let mut hunt = Hunt {
        crowd: &crowd,
        results: &results,
        rng: Rng::seeded(seed),
        kinds: Kinds::of(&VICTIMS),
        browsers: Vec::new(),
    };
    let lives = (0..agents).map(|number| live(&crowd, &results, number, seed));
    let (_, ()) = tokio::join!(join_all(lives), async {
        hunt.settled().await;
        for number in 1..=kills {
            hunt.kill(&mut report).await;
            if soak && number % 10 == 0 {
                eprintln!("{number} of {kills} kills"); // Shown with `--no-capture`.
            }
        }
        hunt.settled().await;
        results.stop();
    });
    let groups = hunt.browsers;
    nothing_is_left(&crowd, &groups).await;
    report.answers = results.summary();
    report.assert_no_call_is_lost();
    report.publish(soak, "docs/soak.md", report::INTRODUCTION);
}

/// One agent after the other in the same slot: each works until it is killed or the test ends.
async fn live(crowd: &Crowd, results: &Results, number: usize, seed: u64) {
    let mut rng = Rng::seeded(seed.wrapping_mul(1_000) + number as u64);
    while !results.is_over() {
        let mut agent = Agent::arrive(crowd, number, &mut rng).await;
        results.arrived(number, agent.client.pid());
        work(&agent, results, number, &mut rng).await;
        let twice = agent.answers().into_iter().find(|(_, count)| *count > 1);
        assert_eq!(twice, None, "{} was answered twice", agent.name);
        if results.is_over() {
            agent.client.close_input().await;
            assert!(agent.client.wait_for_exit().await.success());
        }
    }
}

/// Works until its server is killed or the test ends. An agent that has lost its page gets one error about it, and
/// never silently gets a blank page instead.
async fn work(agent: &Agent, results: &Results, number: usize, rng: &mut Rng) {
    let mut at_home = false;
    // The number of kills when the agent last got an error about its loss, if it did nothing since.
    let mut told_after = None;
    while !results.is_over() {
        let task = TASKS[rng.below(TASKS.len())];
        let begun = Instant::now();
        let kills = results.kills();
        results.asked();
        let call = match at_home {
            true => agent.begin(task, "").await,
            false => agent.go().await,
        };
        let Some(reply) = answered(agent, &call, begun).await else {
            results.cut();
            return;
        };
        results.answered(begun.elapsed());
        let text = reply.text();
        if reply.is_error() {
            if text.contains(LOST) {
                let again = told_after.replace(results.kills()) == Some(kills);
                assert!(!again, "{} was told twice: {text}", agent.name);
            }
            results.told(&text);
            at_home = false;
            continue;
        }
        told_after = None;
        if !at_home {
            at_home = true;
        } else if agent.recognises(task, &text) {
            results.good(number, begun, task);
        } else {
            // A list of pages reports a loss by a missing page.
            assert!(
                task == Task::Pages && !text.contains("agent-"),
                "{} asked for {task:?} and got what is not its page: {text}\n{}",
                agent.name,
                agent.client.transcript()
            );
            results.told("(no error, but a list of pages without its own)");
            at_home = false;
        }
    }
}

/// The answer to a call, or `None` if the server was killed first. A late answer fails the test.
async fn answered(agent: &Agent, call: &Pending<'_>, begun: Instant) -> Option<ToolReply> {
    let answer = tokio::time::timeout(DEADLINE, call.answer_unless_ended()).await;
    let story = || {
        format!(
            "{} after {:?}\n{}",
            agent.name,
            begun.elapsed(),
            agent.client.transcript()
        )
    };
    match answer {
        Ok(Some(Ok(result))) => Some(ToolReply::new(result)),
        Ok(Some(Err(error))) => panic!("{error}: {}", story()),
        Ok(None) => None,
        Err(_) => panic!("no answer within the deadline: {}", story()),
    }
}

/// Kills processes.
struct Hunt<'a> {
    crowd: &'a Crowd,
    results: &'a Results,
    rng: Rng,
    kinds: Kinds,
    /// The process group of every browser that was killed or lost its daemon.
    browsers: Vec<u32>,
}

impl Hunt<'_> {
    async fn kill(&mut self, report: &mut Report) {
        self.results.more_answers(self.rng.below(AWAITED)).await;
        let (victim, pid) = patiently(self.choose(), || "a process to kill".into()).await;
        let browsers = self.pids_of(Victim::Browser);
        self.browsers.extend(browsers);
        let killed = Instant::now();
        self.results.kill();
        process::kill_hard(pid);
        // Sometimes the next one comes before the agents have recovered from this one.
        let recovered = match self.rng.one_in(4) {
            true => None,
            false => {
                self.results.all_good_since(killed).await;
                Some(killed.elapsed())
            }
        };
        report.note(victim, recovered);
        if recovered.is_some() {
            self.settled().await;
        }
    }

    async fn choose(&mut self) -> (Victim, u32) {
        loop {
            let victim = self.kinds.next(&mut self.rng);
            let found = match victim {
                Victim::Server => self.results.servers(),
                other => self.pids_of(other),
            };
            if let Some(pid) = found.get(self.rng.below(found.len().max(1))) {
                return (victim, *pid);
            }
            self.kinds.put_back(victim);
            tokio::task::yield_now().await;
        }
    }

    fn pids_of(&self, victim: Victim) -> Vec<u32> {
        let processes = process::processes_with(&self.crowd.mark());
        let is_victim = |process: &&process::Process| match victim {
            Victim::Daemon => process.command.contains(" daemon run "),
            Victim::Browser => {
                process.command.contains("--remote-debugging-pipe")
                    && !process.command.contains("--type=")
            }
            _ => false,
        };
        processes.iter().filter(is_victim).map(|p| p.pid).collect()
    }

    /// Waits until every agent works, and there is one daemon, one browser, a session and a tab for each agent,
    /// and nothing else.
    async fn settled(&self) {
        self.results.all_good_since(Instant::now()).await;
        let order = || {
            let count = |what: &str| self.crowd.asked(what).as_array().map_or(0, Vec::len);
            (
                self.pids_of(Victim::Daemon).len(),
                self.pids_of(Victim::Browser).len(),
                count("sessions"),
                count("tabs"),
            )
        };
        let agents = self.results.servers().len();
        let wanted = (1, 1, agents, agents);
        let put_in_order = async {
            while order() != wanted {
                tokio::task::yield_now().await;
            }
        };
        patiently(put_in_order, || {
            format!(
                "daemons, browsers, sessions, tabs {wanted:?}, got {:?}\n{:#}",
                order(),
                self.crowd.asked("tabs")
            )
        })
        .await;
        for server in self.results.servers() {
            assert_eq!(process::zombies_of(server), 0, "zombies of a server");
        }
    }
}

/// Checks for leftovers after all agents have ended and the daemon was stopped.
async fn nothing_is_left(crowd: &Crowd, browsers: &[u32]) {
    let stopped = crowd.tabmux().args(["daemon", "stop"]).status().unwrap();
    assert!(stopped.success());
    process::wait_until_none_with(&crowd.mark()).await;
    for browser in browsers {
        process::wait_until_group_is_gone(*browser).await;
    }
    assert_eq!(crowd.litter(), Vec::<String>::new());
    assert_eq!(crowd.panics(), Vec::<String>::new());
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// What an agent does over and over. Buttons have new uids in every new tab, so none is pressed.
const TASKS: [Task; 7] = {
    let [read, count, find, _, status, snapshot, _, pages] = MIX;
    [read, count, find, status, snapshot, pages, read]
};
const VICTIMS: [Victim; 5] = [
    Victim::Daemon,
    Victim::Daemon,
    Victim::Browser,
    Victim::Browser,
    Victim::Server,
];
/// Part of the error for an agent whose tab died with its browser.
const LOST: &str = "is gone with its browser";
/// The most answers to wait for before the next kill.
const AWAITED: usize = 40;
/// Calls have 30 s, plus some time for the answer on a busy machine.
const DEADLINE: Duration = Duration::from_secs(35);
