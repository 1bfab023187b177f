//! Reads the pages of tabs before they are listed, and waits for a stuck page only once.

use super::Browser;
use crate::error::ToolError;
use crate::tab::{Tab, TargetId};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tabmux_cdp::types::browser;
use tokio::time::Instant;

/// Tabs whose pages did not respond when they were read last, and have not responded since.
#[derive(Clone, Debug, Default)]
pub(super) struct StuckPages(Arc<Mutex<HashSet<TargetId>>>);

impl StuckPages {
    fn lock(&self) -> MutexGuard<'_, HashSet<TargetId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Browser {
    /// The same as [`read_unless_stuck`](Self::read_unless_stuck) for a list of tabs: a page that does not respond soon
    /// is not waited for, because then all tabs would wait for it.
    pub async fn read_if_responsive(
        &self,
        target: &TargetId,
        limit: usize,
        patience: Duration,
    ) -> Result<(), ToolError> {
        if self.is_stuck(target) || self.responds_soon(target, patience).await {
            return self.read_unless_stuck(target, limit, patience).await;
        }
        self.note_stuck(target);
        Err(ToolError::Stuck)
    }

    /// Generates up to `limit` tools from what a tab's page shows now, within `patience`. A page that does not
    /// respond in time is skipped until it has responded; what is known about its tab stays.
    pub async fn read_unless_stuck(
        &self,
        target: &TargetId,
        limit: usize,
        patience: Duration,
    ) -> Result<(), ToolError> {
        if self.is_stuck(target) {
            return Err(ToolError::Stuck);
        }
        let read = tokio::time::timeout(patience, self.generate_tools(target, limit)).await;
        let read = read.unwrap_or(Err(ToolError::Stuck));
        if read == Err(ToolError::Stuck) {
            self.note_stuck(target);
        }
        read
    }

    /// Whether a page responds within the time in which a page that is not stuck does. On a busy machine that is
    /// longer, which the browser's own answer shows.
    async fn responds_soon(&self, target: &TargetId, patience: Duration) -> bool {
        let responds = async {
            match self.attach(target).await {
                Ok(tab) => tab.ready(patience).await.is_ok() && tab.responds_within(patience).await,
                // Reading it tells why.
                Err(_) => true,
            }
        };
        let waits = async {
            let begun = Instant::now();
            let ask = browser::GetVersion::default();
            let _ = self.0.session.send_within(ask, patience).await;
            let soon = (begun.elapsed() * SLOWER_THAN_BROWSER).clamp(SOON, patience.max(SOON));
            tokio::time::sleep(soon).await;
        };
        tokio::select! {
            biased;
            responds = responds => responds,
            () = waits => false,
        }
    }

    fn note_stuck(&self, target: &TargetId) {
        if self.0.stuck.lock().insert(target.clone()) {
            self.await_answer(target.clone());
        }
    }

    /// Whether a page is known not to respond.
    pub(super) fn is_stuck(&self, target: &TargetId) -> bool {
        self.0.stuck.lock().contains(target)
    }

    /// Sends a stuck page a small request; when it responds, the page counts as usable again.
    fn await_answer(&self, target: TargetId) {
        let (browser, stuck) = (self.clone(), self.0.stuck.clone());
        tokio::spawn(async move {
            let tab = browser.attach(&target).await;
            // This long wait must not keep the browser's actor alive.
            drop(browser);
            if let Ok(tab) = tab {
                answers(&tab).await;
            }
            stuck.lock().remove(&target);
        });
    }
}

/// Resolves when a page's thread is free, or when its tab is gone.
async fn answers(tab: &Tab) {
    if tab.ready(LONGEST).await.is_ok() {
        tab.responds_within(LONGEST).await;
    }
}

/// After this the page is tried again in any case.
const LONGEST: Duration = Duration::from_secs(600);
/// How long a list of tabs waits for a page that does not respond.
const SOON: Duration = Duration::from_millis(250);
/// How much longer than the browser itself a page may take to respond.
const SLOWER_THAN_BROWSER: u32 = 30;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{self, Asked, FakeBrowser, TAB};
    use serde_json::json;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// How long a list waits for the page of the only tab, in the test's clock, and whether it could be read.
    async fn read(harness: &FakeBrowser) -> (Duration, bool) {
        let begun = Instant::now();
        let target = TargetId::from(TAB);
        let read = harness
            .browser
            .read_if_responsive(&target, 30, PATIENCE)
            .await;
        (begun.elapsed(), read.is_ok())
    }

    const PATIENCE: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_stuck_page_is_waited_for_once() {
        let loops = Arc::new(AtomicBool::new(false));
        let looping = Arc::clone(&loops);
        let mut harness = FakeBrowser::new(move |asked: &Asked| match asked.method.as_str() {
            "Runtime.evaluate" if looping.load(Ordering::Relaxed) => vec![],
            _ if asked.runs("tabmux.survey(") => vec![asked.gives(json!({}))],
            _ => fake::usual(asked),
        })
        .await;
        assert_eq!(read(&harness).await, (Duration::ZERO, true));
        loops.store(true, Ordering::Relaxed);
        assert_eq!(read(&harness).await, (SOON, false));
        assert_eq!(read(&harness).await, (Duration::ZERO, false));
        // One request is pending in the page; when it is answered, the page is read again.
        let question = loop {
            let asked = harness.fake.hears("Runtime.evaluate").await.unwrap();
            if asked.params["expression"] == "0" {
                break asked;
            }
        };
        loops.store(false, Ordering::Relaxed);
        harness.fake.say(question.gives(json!(0))).await;
        while harness.browser.is_stuck(&TargetId::from(TAB)) {
            tokio::task::yield_now().await;
        }
        assert_eq!(read(&harness).await, (Duration::ZERO, true));
    }
}
