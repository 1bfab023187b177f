//! When the findings of a tab are reported, and how much of them: the rate is limited, because a page can change its
//! tools all the time.
//!
//! The expensive preparation happens here, in a task of the tab; receivers of a report get prepared texts.

use super::found::{Findings, Found, FoundTool, ReportRequest};
use super::tool_text::prepare_all;
use crate::pace::Pace;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// Reports the findings of one tab.
#[derive(Debug)]
pub(crate) struct Reporter {
    found: watch::Receiver<Findings>,
    requests: mpsc::Receiver<ReportRequest>,
    /// What was reported last.
    reported: Findings,
    /// Until then, only requested reports are made.
    quiet_until: Instant,
    pace: Pace,
}

/// The findings at one moment.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) findings: Findings,
    /// Notified when the report was delivered.
    pub(crate) done: Option<ReportRequest>,
}

impl Reporter {
    /// None if there is a reporter already.
    pub(crate) fn new(found: &Found) -> Option<Self> {
        let (mut found, requests) = found.follow()?;
        found.mark_changed();
        Some(Self {
            found,
            requests,
            reported: Findings::default(),
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
                // Check again when the page has been quiet for long enough.
                self.found.mark_changed();
                if now.document == self.reported.document {
                    let _ = done.map(|done| done.send(()));
                    continue;
                }
                // Report at once that the previous document and its tools are gone.
                now = now.without_tools();
            }
            let cost = self.prepare(&now).await;
            self.pace.spend(cost);
            self.reported = now.clone();
            self.quiet_until = Instant::now() + REPORT_INTERVAL;
            return Some(Report {
                findings: now,
                done,
            });
        }
    }

    /// Waits until there is something to report, or a report is requested.
    async fn wait(&mut self) -> Option<Reason> {
        tokio::select! {
            Some(done) = self.requests.recv() => return Some(Reason::Asked(done)),
            changed = self.found.changed() => changed.ok()?,
        }
        // A reloaded page usually has the same tools again after a moment; reporting its empty list would be noise.
        if !self.reported.is_empty() && self.has_navigated() {
            let mut found = self.found.clone();
            let has_tools = found.wait_for(|now| !now.is_empty());
            tokio::select! {
                Some(done) = self.requests.recv() => return Some(Reason::Asked(done)),
                _ = tokio::time::timeout(RELOAD_GRACE, has_tools) => {}
            }
            self.quiet_until = self.quiet_until.max(Instant::now() + REPORT_INTERVAL);
        }
        if let Some(done) = self.request_until(self.quiet_until).await {
            return Some(Reason::Asked(done));
        }
        // Over its budget, a page waits; its findings at the end of the wait are what is reported.
        let mut found = self.found.clone();
        let before = self.reported.document;
        tokio::select! {
            asked = self.request_until(self.pace.free_at()) => {
                return Some(asked.map_or(Reason::Changed, Reason::Asked));
            }
            moved = found.wait_for(|now| now.document != before) => drop(moved.ok()?),
        }
        Some(Reason::Changed)
    }

    async fn request_until(&mut self, end: Instant) -> Option<ReportRequest> {
        tokio::select! {
            biased;
            Some(done) = self.requests.recv() => Some(done),
            () = tokio::time::sleep_until(end) => None,
        }
    }

    fn has_navigated(&self) -> bool {
        self.found.borrow().document != self.reported.document
    }

    /// Prepares texts that are not prepared yet. Returns what the report costs its receivers.
    async fn prepare(&self, now: &Findings) -> usize {
        let reported: HashMap<_, _> = self
            .reported
            .tools()
            .map(|tool| (&*tool.name, tool))
            .collect();
        let mut gone = reported.len();
        let (mut changed, mut bytes) = (0, 0);
        let mut fresh: Vec<Arc<FoundTool>> = Vec::new();
        for tool in now.tools() {
            let known = reported.get(&*tool.name).copied();
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
        bytes + (changed + gone) * COST_PER_CHANGE
    }
}

enum Reason {
    Asked(ReportRequest),
    Changed,
}

const REPORT_INTERVAL: Duration = Duration::from_millis(50);
/// How long a reloaded page may take to register its tools again.
const RELOAD_GRACE: Duration = Duration::from_millis(500);
/// How many bytes of tools one tab may report in the long run. Each byte is parsed, cleaned, checked, and sent to
/// clients that list the tools.
const BYTES_PER_SECOND: u32 = 256 * 1_024;
/// How many bytes at once: the limit of a tab's tools, twice, because a reload reports them again.
const BURST: u32 = 2 * 1_024 * 1_024;
/// The cost of each tool that was added, removed or replaced, whatever its size: the lists of all sessions are checked.
const COST_PER_CHANGE: usize = 1_024;

#[cfg(test)]
mod tests;
