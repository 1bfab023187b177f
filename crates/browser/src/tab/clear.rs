//! Leaves a page whose own scripts keep it busy.

use super::{PROBE_LIMIT, Tab, TabState};
use crate::error::ToolError;
use std::time::Duration;
use tabmux_cdp::types::{emulation, page};

impl Tab {
    /// Replaces a page whose own scripts keep it busy by an empty one. They are switched off until it
    /// is gone: scripts that were only stopped begin anew, and no page can be left while they run.
    pub(crate) async fn clear(&self) -> Result<(), ToolError> {
        self.stop_scripts().await;
        self.drop_timers().await;
        let cleared = self.go_blank().await;
        // Awaited: a page that comes before scripts are on again comes without its own.
        let restored = self.session().send_within(scripts_off(false), LIMIT).await;
        self.suspect(cleared.is_err() || restored.is_err());
        cleared?;
        restored?;
        Ok(())
    }

    /// Switches the page's scripts off, and ends those that are running.
    async fn stop_scripts(&self) {
        self.session().post(scripts_off(true));
        self.terminate_scripts().await;
    }

    /// Takes the page's timers away. With a navigation the page changes hands inside Chrome, which
    /// switches scripts on for a moment: a timer that is due just then would loop again, keep the
    /// new page out, and be out of reach.
    async fn drop_timers(&self) {
        let dropped = async {
            self.world()
                .await?
                .call::<()>("tabmux.dropTimers", ())
                .await
        };
        if let Ok(Err(error)) = tokio::time::timeout(PROBE_LIMIT, dropped).await {
            tracing::debug!(%error, "the timers of a stuck page could not be dropped");
        }
    }

    async fn go_blank(&self) -> Result<(), ToolError> {
        let document = |state: &TabState| state.frames.main().map(|main| main.document);
        let before = document(&self.state());
        let blank = page::Navigate {
            url: "about:blank".into(),
            ..Default::default()
        };
        self.session().send_within(blank, LIMIT).await?;
        for _ in 0..TRIES {
            if self.until(PAUSE, |state| document(state) != before).await? {
                return Ok(());
            }
            // Not only timers begin anew.
            self.stop_scripts().await;
        }
        Err(ToolError::Stuck)
    }
}

fn scripts_off(value: bool) -> emulation::SetScriptExecutionDisabled {
    emulation::SetScriptExecutionDisabled { value }
}

const LIMIT: Duration = Duration::from_secs(5);
const TRIES: usize = 10;
const PAUSE: Duration = Duration::from_millis(250);
