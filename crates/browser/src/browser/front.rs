//! Watches which tab the user has in front.
//!
//! Chrome does not tell when that changes: neither in the target list, nor to pages whose focus is emulated.
//! So it is asked, and only while somebody wants to know.

use super::connect::{in_front, pages_and_tabs};
use super::{Browser, BrowserEvent};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

impl Browser {
    /// Tells whenever the user has turned to another tab, while `wanted`, until the browser is gone or
    /// nobody could want it any more. Which tab it is cannot always be told: with several windows, or several
    /// tabs that show the same, nothing is said.
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
            // Where the user is at first is no news.
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
