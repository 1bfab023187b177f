//! Nobody stays attached to a tab of a person's browser without need: once no session holds it and no call
//! is about it, it is let go.

use super::{Event, MainLoop};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tabmux_browser::Browser;
use tabmux_core::BrowserId;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// The browsers that will be looked through, and whether something happened since that began.
pub(super) type Sweeps = HashMap<BrowserId, bool>;

impl MainLoop {
    /// Tabs of this browser may be of no more use to anybody.
    pub(super) fn sweep_later(&mut self, browser: BrowserId) {
        let personal = self
            .browsers
            .get(&browser)
            .is_some_and(Browser::is_personal);
        if !personal {
            return;
        }
        match self.sweeps.get_mut(&browser) {
            Some(again) => *again = true,
            None => {
                self.sweeps.insert(browser, false);
                tokio::spawn(sweep_after(GRACE, browser, self.events.clone()));
            }
        }
    }

    /// The same for all browsers.
    pub(super) fn sweep_all_later(&mut self) {
        let browsers: Vec<_> = self.browsers.keys().copied().collect();
        for browser in browsers {
            self.sweep_later(browser);
        }
    }

    /// Lets go of what nobody uses now and nobody wanted for a moment.
    pub(super) fn sweep(&mut self, browser: BrowserId) {
        let Some(handle) = self.browsers.get(&browser).cloned() else {
            self.sweeps.remove(&browser);
            return;
        };
        self.sweeps.insert(browser, false);
        let used = self.core.used_tabs(browser);
        let used = used.map(|target| tabmux_browser::TargetId::from(&*target.0));
        let used: HashSet<_> = used.collect();
        let (now, events) = (Instant::now(), self.events.clone());
        let since = now.checked_sub(GRACE).unwrap_or(now);
        tokio::spawn(async move {
            let left = handle.detach_idle(used, since).await;
            let _ = events.send(Event::Swept { browser, left }).await;
        });
    }

    pub(super) fn swept(&mut self, browser: BrowserId, left: bool) {
        let again = self.sweeps.remove(&browser).unwrap_or(false);
        if left || again {
            self.sweep_later(browser);
        }
    }
}

async fn sweep_after(pause: Duration, browser: BrowserId, events: mpsc::Sender<Event>) {
    tokio::time::sleep(pause).await;
    let _ = events.send(Event::Sweep { browser }).await;
}

/// To attach costs some twenty commands, and makes Chrome show its bar: whoever calls a page's tool again
/// and again should not make that come and go each time.
const GRACE: Duration = Duration::from_secs(2);
