//! Asks the page itself: whether its thread responds, its title, whether its initial tools are there.

use super::{Load, Tab};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tabmux_cdp::types::runtime;
use tabmux_cdp::{CdpError, Session};

impl Tab {
    /// Waits until the initial tools of a loaded page are known, if the page responds soon.
    pub(crate) async fn let_tools_settle(&self) {
        let document = self.found().look().document;
        let answers = {
            let state = self.state();
            state.load == Load::Complete && state.dialog.is_none()
        };
        let Some(document) = document.filter(|_| answers) else {
            return self.catch_up().await;
        };
        if self.0.settled.swap(document.0, Ordering::Relaxed) == document.0 {
            return self.catch_up().await;
        }
        // Chrome registers forms in a separate task, after the document is complete.
        let ask = runtime::Evaluate {
            expression: "new Promise((done) => setTimeout(done))".into(),
            await_promise: Some(true),
            ..Default::default()
        };
        if self.session().send_within(ask, SETTLE_LIMIT).await.is_ok() {
            self.flush_tools().await;
        }
        self.catch_up().await;
        // An MCP server inside the page needs some more tasks of the page to respond.
        let mut found = self.findings();
        let told = found.wait_for(|now| !now.asking || now.document != Some(document));
        let _ = tokio::time::timeout(PROBE_LIMIT, told).await;
    }

    /// Stops any script that is running in the tab's pages. Where none is, Chrome stops the next one instead.
    pub(crate) async fn terminate_scripts(&self) {
        let sessions = self.sessions();
        futures_util::future::join_all(sessions.iter().map(terminate)).await;
    }

    /// Stops the scripts of those pages that do not respond. Others may have calls of other sessions.
    pub(crate) async fn stop_stuck_scripts(&self) {
        let sessions = self.sessions();
        let stop = sessions.iter().map(|session| async move {
            if !responds(session, PROBE_LIMIT).await {
                self.suspect(true);
                terminate(session).await;
            }
        });
        futures_util::future::join_all(stop).await;
    }

    /// The title of the page, read from the page itself; `None` if it does not respond soon.
    pub(crate) async fn title(&self) -> Option<String> {
        let ask = runtime::Evaluate {
            // A page may use the name `title` for something else. Engines define it in one of these two prototypes.
            expression: "[Document, HTMLDocument].map((it) => \
                         Object.getOwnPropertyDescriptor(it.prototype, 'title')?.get).find(Boolean)\
                         ?.call(document).slice(0, 4000) ?? ''"
                .into(),
            return_by_value: Some(true),
            ..Default::default()
        };
        let answer = self.session().send_within(ask, PROBE_LIMIT).await.ok()?;
        let title: String = answer.result.value?.decode().ok()?;
        Some(tabmux_text::one_line(&title, 300)).filter(|title| !title.is_empty())
    }

    /// Whether a script of the page had to be stopped and the page has not responded since.
    pub(crate) fn is_suspect(&self) -> bool {
        self.0.suspect.load(Ordering::Relaxed)
    }

    /// Notes whether the page may be stuck.
    pub(crate) fn suspect(&self, suspect: bool) {
        self.0.suspect.store(suspect, Ordering::Relaxed);
    }

    /// Whether the page's thread responds at once.
    pub(crate) async fn responds(&self) -> bool {
        self.responds_within(PROBE_LIMIT).await
    }

    /// Whether the page's thread responds in time.
    pub(crate) async fn responds_within(&self, limit: Duration) -> bool {
        responds(self.session(), limit).await
    }
}

async fn terminate(session: &Session) {
    let terminate = runtime::TerminateExecution::default();
    // It is answered when a script has been stopped.
    let _ = session.send_within(terminate, TERMINATION_LIMIT).await;
}

/// Whether the thread of a page answers at all. A refusal is an answer: it comes from a page whose script was stopped.
async fn responds(session: &Session, limit: Duration) -> bool {
    let probe = runtime::Evaluate {
        expression: "0".into(),
        ..Default::default()
    };
    let answer = session.send_within(probe, limit).await;
    matches!(answer, Ok(_) | Err(CdpError::Rejected { .. }))
}

const TERMINATION_LIMIT: Duration = Duration::from_secs(1);
pub(super) const PROBE_LIMIT: Duration = Duration::from_millis(500);
/// A loaded page has its tools soon, even on a busy machine; a stuck page is not waited for any longer, and only
/// once.
const SETTLE_LIMIT: Duration = Duration::from_secs(3);
