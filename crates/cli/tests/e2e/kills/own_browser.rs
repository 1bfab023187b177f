//! The same in a person's own browser: the extension's worker, its socket, the daemon, a tab and the browser
//! itself end at random moments. Everything else has to stay as it was.

use super::kinds::Kinds;
use super::report::{Report, Victim};
use super::results::Results;
use super::{live, variable};
use crate::agent::PERSONS;
use crate::crowd::Crowd;
use crate::harness::page;
use crate::user::User;
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tabmux_cdp::Session;
use tabmux_cdp::types::target::{CloseTarget, GetTargets, TargetInfo};
use tabmux_testkit::{ExtendedChromium, Rng, patiently, process, real_browser};

#[tokio::test(flavor = "multi_thread")]
async fn after_every_fault_in_a_persons_browser_calls_are_answered_and_no_tab_is_lost() {
    let Some(executable) = real_browser() else {
        return;
    };
    let soak = variable("TABMUX_SOAK").is_some();
    let kills = variable("TABMUX_KILLS").unwrap_or(if soak { 200 } else { 10 });
    let seed = variable("TABMUX_SEED").unwrap_or(0);

    let chromium = ExtendedChromium::start(&executable, &[]);
    let crowd = Crowd::around(executable, &chromium);
    crowd.pages.route("/mine", page(PERSONS, "<p>Private.</p>"));
    let results = Results::of(AGENTS);
    let mut report = Report::new(seed, AGENTS);
    let mut storm = Faults {
        crowd: &crowd,
        results: &results,
        rng: Rng::seeded(seed),
        kinds: Kinds::of(&VICTIMS),
        user: start_user(&crowd, &chromium).await,
        chromium,
    };
    let lives = (0..AGENTS).map(|number| live(&crowd, &results, number, seed));
    let (_, ()) = tokio::join!(join_all(lives), async {
        storm.settled().await;
        for _ in 0..kills {
            storm.strike(&mut report).await;
        }
        storm.settled().await;
        results.stop();
    });
    storm.only_the_person_is_left().await;
    assert_eq!(crowd.panics(), Vec::<String>::new());
    report.answers = results.summary();
    report.assert_no_call_is_lost();
    report.publish(soak, "docs/soak-extension.md", INTRODUCTION);
}

/// The person, with one page.
async fn start_user(crowd: &Crowd, chromium: &ExtendedChromium) -> User {
    let mut user = User::at(chromium.chromium.websocket_url()).await;
    let mine = crowd.pages.url("mine");
    user.navigates("about:blank", &mine).await;
    user
}

/// Causes faults.
struct Faults<'a> {
    crowd: &'a Crowd,
    results: &'a Results,
    rng: Rng,
    kinds: Kinds,
    user: User,
    chromium: ExtendedChromium,
}

impl Faults<'_> {
    async fn strike(&mut self, report: &mut Report) {
        self.results.more_answers(self.rng.below(AWAITED)).await;
        let before = self.agents_tabs().await;
        let (victim, mut hit) = patiently(self.cause_fault(), || "something to hit".into()).await;
        #[expect(
            clippy::print_stderr,
            reason = "the reader of a test run wants to know"
        )]
        {
            eprintln!("{victim:?}"); // Shown with `--no-capture`.
        }
        // Sometimes the next one comes before the agents have recovered from this one.
        let recovered = match self.rng.one_in(4) {
            true => None,
            false => {
                self.results.all_good_since(hit).await;
                Some(hit.elapsed())
            }
        };
        report.note(victim, recovered);
        let Some(recovered) = recovered else { return };
        hit = Instant::now();
        self.settled().await;
        // How fast a busy machine is says nothing about tabmux; `make soak` has the machine for itself.
        if variable("TABMUX_SOAK").is_some() {
            let settled = hit.elapsed();
            assert!(
                recovered <= LIMIT && settled <= LIMIT,
                "{victim:?} recovered after {recovered:?}, all was in order {settled:?} later\n{}",
                self.story()
            );
        }
        let spared = matches!(victim, Victim::Worker | Victim::Socket | Victim::Daemon);
        if spared && before.len() == AGENTS {
            assert_eq!(self.agents_tabs().await, before, "after {victim:?}");
        }
    }

    /// The errors that agents got and the daemon's log so far.
    fn story(&self) -> String {
        let log = self.crowd.home().join("run/daemon.log");
        let log = std::fs::read_to_string(log).unwrap_or_default();
        let lines: Vec<_> = log.lines().rev().take(60).collect();
        let lines = lines.into_iter().rev().collect::<Vec<_>>().join("\n");
        format!("{}\n{lines}", self.results.last_errors())
    }

    /// One fault. Returns what it hit, and when recovery could begin.
    async fn cause_fault(&mut self) -> (Victim, Instant) {
        loop {
            let victim = self.kinds.next(&mut self.rng);
            let began = Instant::now();
            self.results.kill();
            let done = match victim {
                Victim::Worker => self.end_worker().await,
                Victim::Socket => self.cut_socket().await,
                Victim::Tab => self.crash_tab().await,
                Victim::Browser => {
                    self.chromium.replace();
                    self.user = start_user(self.crowd, &self.chromium).await;
                    // Without a browser nothing can recover.
                    return (victim, Instant::now());
                }
                _ => self.kill_daemon(),
            };
            if done {
                return (victim, began);
            }
            self.kinds.put_back(victim);
            tokio::task::yield_now().await;
        }
    }

    fn kill_daemon(&self) -> bool {
        let Some(daemon) = self.daemons().first().copied() else {
            return false;
        };
        process::kill_hard(daemon);
        true
    }

    async fn end_worker(&self) -> bool {
        let Some(worker) = self.worker().await else {
            return false;
        };
        let target_id = worker.target_id;
        let close = CloseTarget { target_id };
        self.user.browser().send(close).await.is_ok()
    }

    async fn cut_socket(&mut self) -> bool {
        let Some(worker) = self.worker().await else {
            return false;
        };
        let (_, worker) = self.user.attach_to(worker.target_id).await;
        close_sockets(&worker).await.unwrap_or(false)
    }

    async fn crash_tab(&mut self) -> bool {
        let tabs = self.user.tabs().await;
        let of_agents: Vec<_> = tabs.into_iter().filter(is_agents).collect();
        let Some(tab) = of_agents.get(self.rng.below(of_agents.len().max(1))) else {
            return false;
        };
        let (_, tab) = self.user.attach_to(tab.target_id.clone()).await;
        // The page dies before it can answer.
        let _ = tab.send_raw("Page.crash", &json!({}), MOMENT).await;
        true
    }

    async fn worker(&self) -> Option<TargetInfo> {
        let targets = self.user.browser().send(GetTargets::default()).await.ok()?;
        let mut workers = targets.target_infos.into_iter();
        workers.find(|target| target.r#type == "service_worker")
    }

    async fn agents_tabs(&self) -> BTreeSet<String> {
        let tabs = self.user.tabs().await.into_iter().filter(is_agents);
        tabs.map(|tab| tab.target_id.to_string()).collect()
    }

    fn daemons(&self) -> Vec<u32> {
        let processes = process::processes_with(&self.crowd.mark());
        let daemons = processes
            .iter()
            .filter(|it| it.command.contains(" daemon run "));
        daemons.map(|process| process.pid).collect()
    }

    /// Waits until every agent works, and there is one daemon, one connection of the extension, a session and a tab
    /// for each agent, the person's tab, and no other.
    async fn settled(&self) {
        self.results.all_good_since(Instant::now()).await;
        let order = async || {
            let sessions = self.crowd.asked("sessions");
            let tabs = self.crowd.asked("tabs");
            let tabs = tabs.as_array().into_iter().flatten();
            let held = tabs.filter(|tab| !tab["holder"].is_null()).count();
            let there = self.user.tabs().await;
            Order {
                daemons: self.daemons().len(),
                connections: connections_to(self.chromium.port),
                sessions: sessions.as_array().map_or(0, Vec::len),
                held,
                of_agents: there.iter().filter(|tab| is_agents(tab)).count(),
                all: there.len(),
            }
        };
        let wanted = Order {
            daemons: 1,
            connections: 1,
            sessions: AGENTS,
            held: AGENTS,
            of_agents: AGENTS,
            all: AGENTS + 1,
        };
        let last = std::cell::Cell::new(None);
        let put_in_order = async {
            loop {
                let now = order().await;
                if now == wanted {
                    return;
                }
                last.set(Some(now));
                tokio::task::yield_now().await;
            }
        };
        patiently(put_in_order, || {
            format!(
                "{wanted:?}, got {:?}\n{:#}",
                last.get(),
                self.crowd.asked("tabs")
            )
        })
        .await;
    }

    /// Checks that only the person's tab is left after all agents have ended.
    async fn only_the_person_is_left(&self) {
        let mine = [self.crowd.pages.url("mine")];
        let last = std::cell::RefCell::default();
        let closed = async {
            while *last.borrow() != mine {
                last.replace(self.user.urls().await);
                tokio::task::yield_now().await;
            }
        };
        patiently(closed, || {
            let got: Vec<String> = last.take();
            format!("only the person's tab, got {got:?}\n{}", self.story())
        })
        .await;
    }
}

/// The state of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Order {
    daemons: usize,
    connections: usize,
    sessions: usize,
    held: usize,
    of_agents: usize,
    all: usize,
}

fn is_agents(tab: &TargetInfo) -> bool {
    tab.url.contains("secret?of=agent-")
}

/// Closes all websockets of a worker, like a failing network.
async fn close_sockets(worker: &Session) -> Option<bool> {
    let ask = async |method: &str, parameters: Value| -> Option<Value> {
        let answer = worker.send_raw(method, &parameters, MOMENT).await.ok()?;
        serde_json::from_str(answer.get()).ok()
    };
    let prototype = json!({"expression": "WebSocket.prototype"});
    let prototype = ask("Runtime.evaluate", prototype).await?;
    let all = json!({"prototypeObjectId": prototype["result"]["objectId"]});
    let all = ask("Runtime.queryObjects", all).await?;
    let close = json!({
        "objectId": all["objects"]["objectId"], "returnByValue": true,
        "functionDeclaration": "function () { const open = this.filter((one) => one.readyState === 1); \
                                for (const one of open) one.close(); return open.length; }",
    });
    let closed = ask("Runtime.callFunctionOn", close).await?;
    Some(closed["result"]["value"].as_u64()? > 0)
}

/// How many connections there are to the port of a listener on this machine.
fn connections_to(port: u16) -> usize {
    let port = format!(":{port:04X}");
    let established = |line: &&str| {
        let mut fields = line.split_whitespace().skip(1);
        let own = fields.next().unwrap_or_default();
        own.ends_with(&port) && fields.nth(1) == Some("01")
    };
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    table.lines().filter(established).count()
}

const VICTIMS: [Victim; 10] = [
    Victim::Worker,
    Victim::Worker,
    Victim::Worker,
    Victim::Daemon,
    Victim::Daemon,
    Victim::Socket,
    Victim::Socket,
    Victim::Tab,
    Victim::Tab,
    Victim::Browser,
];

const AGENTS: usize = 3;
/// Agents have to recover within this time.
const LIMIT: Duration = Duration::from_secs(5);
/// The most answers to wait for before the next fault.
const AWAITED: usize = 40;
const MOMENT: Duration = Duration::from_secs(1);

const INTRODUCTION: &str = "# Soak, in a person's own browser

`make soak` writes this page: three agents work through the extension while its worker is ended, its socket cut, the daemon killed, a tab crashed and the browser killed, at random moments.
Every call has to be answered once and in time, from its own page or with an error.
After each fault every agent has to work again within five seconds, in the same tab if that was not hit.
Then there is one daemon, one connection of the extension, one session and one tab for each agent, the person's own tab, and nothing else.
A time below is from the fault until the last agent had an answer from its own page; for the browser, from the moment it was started again.
";
