//! Agents at work while faults of every kind come in bursts: processes are killed, stopped for a moment, and get
//! garbage from other processes. Each call is counted by its caller.
//! `TABMUX_SOAK=1` makes it 1,000 faults and writes docs/soak-faults.md; `TABMUX_SEED=n` repeats a run.

use super::garbage;
use super::kinds::Kinds;
use super::report::{Report, Victim};
use super::results::Results;
use super::{AWAITED, Hunt, live, nothing_is_left, variable};
use crate::crowd::Crowd;
use futures_util::future::join_all;
use std::time::{Duration, Instant};
use tabmux_testkit::{Rng, patiently, process};

#[tokio::test(flavor = "multi_thread")]
async fn after_faults_of_every_kind_each_call_was_answered_once_and_all_agents_work() {
    let Some(crowd) = Crowd::gather() else { return };
    let soak = variable("TABMUX_SOAK").is_some();
    let faults = variable("TABMUX_FAULTS").unwrap_or(if soak { 1_000 } else { 10 }) as usize;
    let agents = variable("TABMUX_AGENTS").unwrap_or(if soak { 16 } else { 6 }) as usize;
    let seed = variable("TABMUX_SEED").unwrap_or(0);

    let results = Results::of(agents);
    let mut report = Report::new(seed, agents);
    let mut hunt = Hunt {
        crowd: &crowd,
        results: &results,
        rng: Rng::seeded(seed),
        kinds: Kinds::of(&FAULTS),
        browsers: Vec::new(),
    };
    let mut slowest = Duration::ZERO;
    let lives = (0..agents).map(|number| live(&crowd, &results, number, seed));
    let (_, ()) = tokio::join!(join_all(lives), async {
        hunt.settled().await;
        let (mut done, mut bursts) = (0, 0);
        while done < faults {
            let burst = (1 + hunt.rng.below(LONGEST_BURST)).min(faults - done);
            for _ in 1..burst {
                let (victim, _) = hunt.fault().await;
                report.note(victim, None);
            }
            let (victim, last) = hunt.fault().await;
            results.all_good_since(last).await;
            slowest = slowest.max(last.elapsed());
            report.note(victim, Some(last.elapsed()));
            (done, bursts) = (done + burst, bursts + 1);
            // This check reads all processes, which costs more than most faults.
            if bursts % 10 == 0 {
                hunt.settled().await;
                eprintln!("{done} of {faults} faults"); // Shown with `--no-capture`.
            }
        }
        hunt.settled().await;
        results.stop();
    });
    let groups = hunt.browsers;
    nothing_is_left(&crowd, &groups).await;
    report.answers = results.summary();
    report.assert_no_call_is_lost();
    // The time depends on the machine, so it counts only for `make soak`, which has the machine to itself.
    if soak {
        let all = format!("all agents worked again after {slowest:?}\n{report}");
        assert!(slowest <= LIMIT, "{all}");
    }
    report.publish(soak, "docs/soak-faults.md", INTRODUCTION);
}

impl Hunt<'_> {
    /// One fault, of a kind that is possible now. Returns what it hit, and when it was over.
    async fn fault(&mut self) -> (Victim, Instant) {
        let awaited = self.rng.below(AWAITED);
        self.results.more_answers(awaited).await;
        let browsers = self.pids_of(Victim::Browser);
        self.browsers.extend(browsers);
        let victim = patiently(self.strike(), || "a fault that is possible".into()).await;
        (victim, Instant::now())
    }

    async fn strike(&mut self) -> Victim {
        loop {
            let victim = self.kinds.next(&mut self.rng);
            self.results.kill();
            let done = match victim {
                Victim::Server => {
                    let servers = self.results.servers();
                    self.one_of(&servers).map(process::kill_hard)
                }
                Victim::Renderer => {
                    let renderers = self.renderers();
                    self.one_of(&renderers).map(process::kill_hard)
                }
                Victim::StoppedDaemon => self.stop_daemon().await,
                Victim::StoppedBrowser => self.stop_browser(),
                Victim::Stranger => garbage::at_socket(self.crowd, &mut self.rng).await,
                Victim::StrangePage => garbage::at_port(self.crowd, &mut self.rng).await,
                other => {
                    let found = self.pids_of(other);
                    self.one_of(&found).map(process::kill_hard)
                }
            };
            if done.is_some() {
                return victim;
            }
            self.kinds.put_back(victim);
            tokio::task::yield_now().await;
        }
    }

    /// The daemon hangs while other processes connect to its socket, and continues.
    async fn stop_daemon(&mut self) -> Option<()> {
        let daemons = self.pids_of(Victim::Daemon);
        let daemon = self.one_of(&daemons)?;
        process::freeze(daemon);
        for _ in 0..STRANGERS {
            garbage::at_socket(self.crowd, &mut self.rng).await;
        }
        process::thaw(daemon);
        Some(())
    }

    /// The browser hangs until the daemon has answered a status request, and continues.
    fn stop_browser(&mut self) -> Option<()> {
        let browsers = self.pids_of(Victim::Browser);
        let browser = self.one_of(&browsers)?;
        process::freeze(browser);
        self.crowd.asked("status");
        process::thaw(browser);
        Some(())
    }

    fn renderers(&self) -> Vec<u32> {
        let browsers = self.pids_of(Victim::Browser).into_iter();
        let all = browsers.flat_map(process::descendants);
        let renderers = all.filter(|process| process.command.contains("--type=renderer"));
        renderers.map(|process| process.pid).collect()
    }

    fn one_of(&mut self, pids: &[u32]) -> Option<u32> {
        pids.get(self.rng.below(pids.len().max(1))).copied()
    }
}

const FAULTS: [Victim; 10] = [
    Victim::Daemon,
    Victim::Daemon,
    Victim::Browser,
    Victim::Server,
    Victim::Renderer,
    Victim::Renderer,
    Victim::StoppedDaemon,
    Victim::StoppedBrowser,
    Victim::Stranger,
    Victim::StrangePage,
];

/// The most faults of a burst.
const LONGEST_BURST: usize = 4;
/// The connections to a hanging daemon.
const STRANGERS: usize = 10;
/// All agents have to work again within this time after the last fault.
const LIMIT: Duration = Duration::from_secs(5);

const INTRODUCTION: &str = "# Soak, with faults of every kind

`make soak` writes this page: agents work while faults come in bursts of one to four.
The daemon, the browser, a renderer and an agent's own `tabmux mcp` are killed (`kill -9`), daemon and browser are stopped for a moment (`SIGSTOP`), and other processes write garbage to the daemon's socket and to its port.
Calls are counted where they are made: each has to be answered once, from its own page or with an error; only the calls of a killed `tabmux mcp` are not answered.
Within five seconds of the last fault of a burst every agent has to have an answer from its own page.
At the end no process, no socket and no temporary folder may be left.
";
