//! A table of what was killed and how long recovery took.

use super::results::Summary;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::time::{Duration, Instant};

/// What a fault hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Victim {
    Daemon,
    Browser,
    /// An agent's `tabmux mcp`.
    Server,
    /// The extension's service worker.
    Worker,
    /// The connection between extension and daemon.
    Socket,
    /// The tab of an agent.
    Tab,
    /// A process that shows pages.
    Renderer,
    /// The daemon hangs for a moment.
    StoppedDaemon,
    /// The browser hangs for a moment.
    StoppedBrowser,
    /// Garbage at the daemon's socket.
    Stranger,
    /// Garbage at the daemon's port.
    StrangePage,
}

pub(super) struct Report {
    seed: u64,
    agents: usize,
    begun: Instant,
    rows: BTreeMap<Victim, Row>,
    pub(super) answers: Summary,
}

#[derive(Default)]
struct Row {
    kills: usize,
    recovered: Vec<Duration>,
}

impl Report {
    pub(super) fn new(seed: u64, agents: usize) -> Self {
        Self {
            seed,
            agents,
            begun: Instant::now(),
            rows: BTreeMap::new(),
            answers: Summary::default(),
        }
    }

    /// `recovered` is the time until all agents worked again; `None` if the next kill came before that.
    pub(super) fn note(&mut self, victim: Victim, recovered: Option<Duration>) {
        let row = self.rows.entry(victim).or_default();
        row.kills += 1;
        row.recovered.extend(recovered);
    }

    /// Checks that all calls were answered, except those whose own `tabmux mcp` was killed. One that ended by itself
    /// would be one more.
    pub(super) fn assert_no_call_is_lost(&self) {
        let calls = &self.answers;
        let counted = calls.answers + calls.cut;
        assert_eq!(calls.asked, counted, "asked and answered\n{self}");
        let killed = self.rows.get(&Victim::Server).map_or(0, |row| row.kills);
        let (cut, fine) = (calls.cut, calls.cut <= killed);
        assert!(
            fine,
            "{cut} `tabmux mcp` ended without an answer, only {killed} were killed\n{self}"
        );
    }

    /// Prints the table; a soak run also writes it to a file, after the introduction.
    pub(super) fn publish(&self, keep: bool, file: &str, introduction: &str) {
        #[expect(
            clippy::print_stderr,
            reason = "the table is for the reader of a test run"
        )]
        {
            eprintln!("{self}");
        }
        if keep {
            let file = tabmux_testkit::workspace_root().join(file);
            std::fs::write(file, format!("{introduction}\n{self}")).unwrap();
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kills: usize = self.rows.values().map(|row| row.kills).sum();
        writeln!(
            f,
            "{kills} faults in {:.0} s under the load of {} agents; seed {}.\n",
            self.begun.elapsed().as_secs_f64(),
            self.agents,
            self.seed
        )?;
        writeln!(
            f,
            "| hit | how often | followed at once by the next | all agents work again: median | slowest |"
        )?;
        writeln!(f, "|---|---:|---:|---:|---:|")?;
        for (victim, row) in &self.rows {
            let mut recovered = row.recovered.clone();
            recovered.sort();
            let show = |time: Option<&Duration>| {
                time.map_or_else(
                    || "–".to_owned(),
                    |time| format!("{:.1} s", time.as_secs_f64()),
                )
            };
            writeln!(
                f,
                "| {} | {} | {} | {} | {} |",
                victim.label(),
                row.kills,
                row.kills - recovered.len(),
                show(recovered.get(recovered.len() / 2)),
                show(recovered.last()),
            )?;
        }
        let told: usize = self.answers.told.iter().map(|(_, count)| count).sum();
        writeln!(
            f,
            "\n{} calls were made. {} were answered, each once, the slowest after {:.1} s; {} were not answered \
             because their own `tabmux mcp` was killed; none was lost. {told} of the answers were errors:\n",
            self.answers.asked,
            self.answers.answers,
            self.answers.slowest.as_secs_f64(),
            self.answers.cut,
        )?;
        let mut list = String::new();
        for (text, count) in &self.answers.told {
            writeln!(list, "- {count} × {text}")?;
        }
        f.write_str(&list)
    }
}

impl Victim {
    fn label(self) -> &'static str {
        match self {
            Self::Daemon => "the daemon",
            Self::Browser => "the browser",
            Self::Server => "one `tabmux mcp`",
            Self::Worker => "the extension's worker",
            Self::Socket => "the extension's socket",
            Self::Tab => "an agent's tab",
            Self::Renderer => "a renderer",
            Self::StoppedDaemon => "the daemon, stopped for a moment",
            Self::StoppedBrowser => "the browser, stopped for a moment",
            Self::Stranger => "nothing; garbage at the socket",
            Self::StrangePage => "nothing; garbage at the port",
        }
    }
}

pub(super) const INTRODUCTION: &str = "# Soak

`make soak` writes this page: agents work while processes are killed (`kill -9`) at random moments.
Every call of a running agent has to be answered once and in time, from its own page or with an error.
After each kill every agent has to work again without help, with one daemon, one browser, and one session and one tab for each agent.
At the end no process, no socket and no temporary folder may be left.
A time below is from the kill until the last agent had an answer from its own page again, in a new browser if necessary.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn with_cut(victims: &[Victim], cut: usize) -> Report {
        let mut report = Report::new(0, 1);
        for victim in victims {
            report.note(*victim, None);
        }
        report.answers = Summary {
            asked: 2 + cut,
            answers: 2,
            cut,
            ..Summary::default()
        };
        report
    }

    #[test]
    fn the_call_of_a_killed_server_may_be_cut() {
        with_cut(&[Victim::Server, Victim::Daemon], 1).assert_no_call_is_lost();
        with_cut(&[Victim::Server], 0).assert_no_call_is_lost();
    }

    #[test]
    #[should_panic(expected = "1 `tabmux mcp` ended without an answer, only 0 were killed")]
    fn a_server_that_ended_by_itself_is_noticed() {
        with_cut(&[Victim::Daemon], 1).assert_no_call_is_lost();
    }

    #[test]
    #[should_panic(expected = "asked and answered")]
    fn a_call_without_an_answer_is_noticed() {
        let mut report = with_cut(&[], 0);
        report.answers.asked += 1;
        report.assert_no_call_is_lost();
    }
}
