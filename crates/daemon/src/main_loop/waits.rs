//! Reports what calls wait for to clients that asked for progress. The MCP side sends keep-alive progress; only this
//! side knows the reason for a wait.

use super::MainLoop;
use super::calls::Call;
use std::time::Duration;
use tabmux_core::{Mode, Stuck, TabId};
use tokio::time::Instant;

/// When calls are checked next, if any client wants progress.
#[derive(Debug, Default)]
pub(super) struct Waits {
    next: Option<Instant>,
}

impl Waits {
    /// A client of a new call wants progress.
    pub(super) fn follow(&mut self) {
        self.next.get_or_insert_with(|| Instant::now() + PERIOD);
    }

    pub(super) async fn alarm(&self) {
        match self.next {
            Some(next) => tokio::time::sleep_until(next).await,
            None => std::future::pending().await,
        }
    }
}

impl MainLoop {
    /// Reports the wait of each call that has no reply after a second, once for each reason.
    pub(super) fn tell_waits(&mut self) {
        let is_followed = |call: &&Call| call.wants_progress;
        let goes_on = self.calls.values().any(|call| is_followed(&call));
        self.waits.next = goes_on.then(|| Instant::now() + PERIOD);
        let calls = self.calls.iter().filter(|(_, call)| is_followed(call));
        let slow = calls.filter(|(_, call)| call.started.elapsed() >= PERIOD);
        let waits: Vec<_> = slow
            .filter_map(|(id, call)| Some((*id, self.core.waits_for(*id)?, call)))
            .filter(|(_, waits, call)| call.told_wait != Some(*waits))
            .map(|(id, waits, call)| (id, self.wait_in_words(waits, call)))
            .collect();
        for (id, message) in waits {
            self.progressed(id, message);
        }
    }

    fn wait_in_words(&self, waits: Stuck, call: &Call) -> String {
        let tab = |tab: TabId| {
            let own = self.core.page_numbers(call.session);
            let number = own.and_then(|own| own.of(tab)).unwrap_or(tab.0);
            match call.mode {
                Mode::Progressive => format!("tab {number}"),
                Mode::Static => format!("page {number}"),
            }
        };
        match waits {
            Stuck::Connecting => "Waiting for the browser".to_owned(),
            Stuck::Opening => "Waiting for the new page to load".to_owned(),
            Stuck::Settling => "Waiting for a page to work in".to_owned(),
            Stuck::Working(id) => format!("Running {} in {}", call.tool, tab(id)),
            Stuck::Queueing(id) => format!("Waiting for earlier calls in {}", tab(id)),
        }
    }
}

/// How often calls are checked.
const PERIOD: Duration = Duration::from_secs(1);
