//! Leaves a page whose own scripts keep it busy.

use super::probe::PROBE_LIMIT;
use super::{Tab, TabState};
use crate::error::ToolError;
use std::time::Duration;
use tabmux_cdp::types::{emulation, page};

impl Tab {
    /// Replaces a page whose own scripts keep it busy by a blank one. Scripts are disabled until the page is gone:
    /// scripts that are only stopped start again, and a page cannot be left while they run.
    pub(crate) async fn clear(&self) -> Result<(), ToolError> {
        self.stop_scripts().await;
        self.drop_timers().await;
        let cleared = self.go_blank().await;
        // Awaited: a page that loads before scripts are enabled again would run without them.
        let restored = self.session().send_within(scripts_off(false), LIMIT).await;
        self.suspect(cleared.is_err() || restored.is_err());
        cleared?;
        restored?;
        Ok(())
    }

    /// Disables the page's scripts, and stops those that are running.
    async fn stop_scripts(&self) {
        self.session().post(scripts_off(true));
        self.terminate_scripts().await;
    }

    /// Removes the page's timers. During a navigation Chrome swaps the page's process, which enables scripts for a
    /// moment: a timer that fires at that moment would loop again and block the new page, where we cannot stop it.
    async fn drop_timers(&self) {
        let dropped = async {
            self.world()
                .await?
                .call::<()>("tabmux.dropTimers", ())
                .await
        };
        if let Ok(Err(error)) = tokio::time::timeout(PROBE_LIMIT, dropped).await {
            tracing::debug!(%error, "could not remove the timers of a stuck page");
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
            // Timers are not the only scripts that start again.
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
