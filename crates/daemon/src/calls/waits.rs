//! Reports what calls wait for to clients that asked for progress. The MCP side sends keep-alive progress; only this
//! side knows the reason for a wait.

use super::{Call, Calls};
use std::time::Duration;
use tabmux_core::{CallId, Core, Mode, Stuck, TabId};
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
}

impl Calls {
    /// Resolves when it is time to report waits.
    pub(crate) fn wait_alarm(&self) -> impl Future<Output = ()> + use<> {
        let next = self.waits.next;
        async move {
            match next {
                Some(next) => tokio::time::sleep_until(next).await,
                None => std::future::pending().await,
            }
        }
    }

    /// The wait of each call that has no reply after a second, once for each reason.
    pub(crate) fn new_waits(&mut self, core: &Core) -> Vec<(CallId, String)> {
        let followed = self.running.iter().filter(|(_, call)| call.wants_progress);
        let followed: Vec<_> = followed.collect();
        self.waits.next = (!followed.is_empty()).then(|| Instant::now() + PERIOD);
        let slow = followed.into_iter();
        let slow = slow.filter(|(_, call)| call.started.elapsed() >= PERIOD);
        slow.filter_map(|(id, call)| Some((*id, core.waits_for(*id)?, call)))
            .filter(|(_, waits, call)| call.told_wait != Some(*waits))
            .map(|(id, waits, call)| (id, in_words(waits, call, core)))
            .collect()
    }
}

fn in_words(waits: Stuck, call: &Call, core: &Core) -> String {
    let tab = |tab: TabId| {
        let own = core.page_numbers(call.session);
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

/// How often calls are checked.
const PERIOD: Duration = Duration::from_secs(1);
