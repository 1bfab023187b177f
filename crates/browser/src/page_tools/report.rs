//! When what was found in a tab is reported, and how much of it: a page that changes its tools all the time is
//! not listened to all the time.
//!
//! What costs is paid here, in a task of the tab's own: those who hear the report find everything ready.

use super::found::{Ask, Findings, Found, FoundTool};
use super::tool_text::prepare_all;
use crate::pace::Pace;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// The one who reports what is found in a tab.
#[derive(Debug)]
pub(crate) struct Reporter {
    found: watch::Receiver<Findings>,
    asks: mpsc::Receiver<Ask>,
    /// What was reported last.
    told: Findings,
    /// Before that nothing is reported that nobody asks for.
    quiet_until: Instant,
    pace: Pace,
}

/// What is there now.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) findings: Findings,
    /// Who waits until this has been told.
    pub(crate) done: Option<Ask>,
}

impl Reporter {
    /// None if somebody else reports.
    pub(crate) fn new(found: &Found) -> Option<Self> {
        let (mut found, asks) = found.follow()?;
        found.mark_changed();
        Some(Self {
            found,
            asks,
            told: Findings::default(),
            quiet_until: Instant::now(),
            pace: Pace::new(BYTES_PER_SECOND, BURST),
        })
    }

    /// The next report. `None` when the tab is gone.
    pub(crate) async fn next(&mut self) -> Option<Report> {
        loop {
            let done = match self.wait().await? {
                Reason::Asked(done) => Some(done),
                Reason::Changed => None,
            };
            let mut now = self.found.borrow_and_update().clone();
            if !self.pace.is_free() {
                // It is looked at again when the page has been quiet for long enough.
                self.found.mark_changed();
                if now.document == self.told.document {
                    let _ = done.map(|done| done.send(()));
                    continue;
                }
                // That the document before is gone is told at once, and its tools with it.
                now = now.without_tools();
            }
            let cost = self.prepare(&now).await;
            self.pace.spend(cost);
            self.told = now.clone();
            self.quiet_until = Instant::now() + PAUSE;
            return Some(Report {
                findings: now,
                done,
            });
        }
    }

    /// Waits until there is something to report, as soon as somebody asks for it.
    async fn wait(&mut self) -> Option<Reason> {
        tokio::select! {
            Some(done) = self.asks.recv() => return Some(Reason::Asked(done)),
            changed = self.found.changed() => changed.ok()?,
        }
        // A page that comes again with the same tools is no news; it takes a moment until it has them.
        if !self.told.is_empty() && self.has_moved() {
            let mut found = self.found.clone();
            let has_tools = found.wait_for(|now| !now.is_empty());
            tokio::select! {
                Some(done) = self.asks.recv() => return Some(Reason::Asked(done)),
                _ = tokio::time::timeout(MOMENT, has_tools) => {}
            }
            self.quiet_until = self.quiet_until.max(Instant::now() + PAUSE);
        }
        if let Some(done) = self.asked_until(self.quiet_until).await {
            return Some(Reason::Asked(done));
        }
        // Whoever has said too much waits, and what they have said then is what counts.
        let mut found = self.found.clone();
        let before = self.told.document;
        tokio::select! {
            asked = self.asked_until(self.pace.free_at()) => {
                return Some(asked.map_or(Reason::Changed, Reason::Asked));
            }
            moved = found.wait_for(|now| now.document != before) => drop(moved.ok()?),
        }
        Some(Reason::Changed)
    }

    async fn asked_until(&mut self, end: Instant) -> Option<Ask> {
        tokio::select! {
            biased;
            Some(done) = self.asks.recv() => Some(done),
            () = tokio::time::sleep_until(end) => None,
        }
    }

    fn has_moved(&self) -> bool {
        self.found.borrow().document != self.told.document
    }

    /// Makes ready what is not, and says what the report costs all who hear it.
    async fn prepare(&self, now: &Findings) -> usize {
        let told: HashMap<_, _> = self.told.tools().map(|tool| (&*tool.name, tool)).collect();
        let mut gone = told.len();
        let (mut changed, mut bytes) = (0, 0);
        let mut fresh: Vec<Arc<FoundTool>> = Vec::new();
        for tool in now.tools() {
            let known = told.get(&*tool.name).copied();
            gone = gone.saturating_sub(usize::from(known.is_some()));
            if known.is_some_and(|known| known == tool) {
                continue;
            }
            changed += 1;
            if !tool.is_ready_as(known.map(|known| &**known)) {
                bytes += tool.bytes();
                fresh.push(Arc::clone(tool));
            }
        }
        prepare_all(fresh).await;
        bytes + (changed + gone) * A_CHANGE
    }
}

enum Reason {
    Asked(Ask),
    Changed,
}

/// Between two reports.
const PAUSE: Duration = Duration::from_millis(50);
/// How long a page that is loaded again may take to offer its tools again.
const MOMENT: Duration = Duration::from_millis(500);
/// What one tab's page may say of its tools in the long run. Each byte is read, cleaned and checked, and told
/// to clients that list the tools.
const BYTES_PER_SECOND: u32 = 256 * 1_024;
/// What it may say at once: as much as a tab's tools may have in all, and the same once more after a reload.
const BURST: u32 = 2 * 1_024 * 1_024;
/// What each tool costs that came, went or is another one, whatever it says: everybody's lists are looked at.
const A_CHANGE: usize = 1_024;

#[cfg(test)]
mod tests;
