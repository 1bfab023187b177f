//! What was killed and how long mending took, as a table.

use super::results::Summary;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::time::{Duration, Instant};

/// Whom it hits.
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
    /// Somebody at the daemon's socket who does not speak its language.
    Stranger,
    /// The same at its port.
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
    mended: Vec<Duration>,
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

    /// `mended` says how long it took until everybody worked again; nothing if the next kill came
    /// before that.
    pub(super) fn note(&mut self, victim: Victim, mended: Option<Duration>) {
        let row = self.rows.entry(victim).or_default();
        row.kills += 1;
        row.mended.extend(mended);
    }

    /// Prints the table; a soak also keeps it, in a file that begins so.
    pub(super) fn tell(&self, keep: bool, file: &str, introduction: &str) {
        #[expect(
            clippy::print_stderr,
            reason = "the reader of a test run wants to know"
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
            "| hit | how often | followed at once by the next | everybody works again: median | slowest |"
        )?;
        writeln!(f, "|---|---:|---:|---:|---:|")?;
        for (victim, row) in &self.rows {
            let mut mended = row.mended.clone();
            mended.sort();
            let show = |time: Option<&Duration>| {
                time.map_or_else(
                    || "–".to_owned(),
                    |time| format!("{:.1} s", time.as_secs_f64()),
                )
            };
            writeln!(
                f,
                "| {} | {} | {} | {} | {} |",
                victim.words(),
                row.kills,
                row.kills - mended.len(),
                show(mended.get(mended.len() / 2)),
                show(mended.last()),
            )?;
        }
        let told: usize = self.answers.told.iter().map(|(_, count)| count).sum();
        writeln!(
            f,
            "\n{} calls were made. {} were answered, each once, the slowest after {:.1} s; {} had nobody left to answer \
             to, because their own `tabmux mcp` was killed; none was lost. {told} of the answers were errors:\n",
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
    fn words(self) -> &'static str {
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
            Self::Stranger => "nobody; garbage at the socket",
            Self::StrangePage => "nobody; garbage at the port",
        }
    }
}

pub(super) const INTRODUCTION: &str = "# Soak

`make soak` writes this page: agents work while processes are killed (`kill -9`) at random moments.
Every call of the living has to be answered once and in time, with its own page or with an error.
After each kill everybody has to work again without help, with one daemon, one browser, and one session and one tab for each agent.
At the end no process, no socket and no temporary folder may be left.
A time below is from the kill until the last agent had an answer from its own page again, in a new browser if need be.
";
