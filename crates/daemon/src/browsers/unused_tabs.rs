//! Detaches tabs of a person's browser as soon as no session holds them and no call uses them.

use super::Browsers;
use crate::main_loop::Event;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tabmux_browser::Browser;
use tabmux_core::{BrowserId, Core};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// The browsers with a pending sweep, and whether something happened since it was scheduled.
pub(super) type Sweeps = HashMap<BrowserId, bool>;

impl Browsers {
    /// Schedules a sweep for unused tabs of this browser.
    pub(crate) fn sweep_later(&mut self, browser: BrowserId) {
        let personal = self.get(browser).is_some_and(Browser::is_personal);
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

    /// Schedules a sweep of all browsers.
    pub(crate) fn sweep_all_later(&mut self) {
        let browsers: Vec<_> = self.connected.keys().copied().collect();
        for browser in browsers {
            self.sweep_later(browser);
        }
    }

    /// Detaches the tabs that are unused and were not used recently.
    pub(crate) fn sweep(&mut self, browser: BrowserId, core: &Core) {
        let Some(handle) = self.get(browser).cloned() else {
            self.sweeps.remove(&browser);
            return;
        };
        self.sweeps.insert(browser, false);
        let used = core.used_tabs(browser);
        let used = used.map(|target| tabmux_browser::TargetId::from(&*target.0));
        let used: HashSet<_> = used.collect();
        let (now, events) = (Instant::now(), self.events.clone());
        let since = now.checked_sub(GRACE).unwrap_or(now);
        tokio::spawn(async move {
            let left = handle.detach_idle(used, since).await;
            let _ = events.send(Event::Swept { browser, left }).await;
        });
    }

    pub(crate) fn swept(&mut self, browser: BrowserId, left: bool) {
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

/// Attaching takes some twenty commands and makes Chrome show its debugging bar, so repeated calls should not attach
/// and detach each time.
const GRACE: Duration = Duration::from_secs(2);
