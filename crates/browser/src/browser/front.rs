//! Watches which tab the user has in front.
//!
//! Chrome does not report changes of it: neither in the target list, nor to pages whose focus is emulated. So it is
//! polled, and only while it is needed.

use super::connect::{in_front, pages_and_tabs};
use super::{Browser, BrowserEvent};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

impl Browser {
    /// Reports each time the user switches to another tab, while `wanted` is true, until the browser is gone or the
    /// sender of `wanted` is dropped. Reports nothing if the tab is ambiguous: with several windows, or several tabs
    /// with the same address and title.
    pub async fn watch_front(
        &self,
        mut wanted: watch::Receiver<bool>,
        tell: mpsc::Sender<BrowserEvent>,
    ) {
        let mut last = None;
        loop {
            if !*wanted.borrow() {
                last = None;
            }
            if wanted.wait_for(|wanted| *wanted).await.is_err() {
                return;
            }
            let Ok(mut targets) = pages_and_tabs(&self.0.session).await else {
                return;
            };
            let privacy = &self.0.privacy;
            targets.retain(|info| !privacy.hides(info.browser_context_id.as_ref()));
            let front = in_front(&targets);
            // The first tab in front is not a change.
            if let (Some(target), Some(before)) = (&front, &last)
                && target != before
            {
                let target = target.clone();
                if tell.send(BrowserEvent::InFront { target }).await.is_err() {
                    return;
                }
            }
            last = front.or(last);
            tokio::time::sleep(PAUSE).await;
        }
    }
}

const PAUSE: Duration = Duration::from_millis(300);
