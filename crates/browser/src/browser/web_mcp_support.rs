//! Whether a browser supports WebMCP natively. Our isolated world can tell: neither pages nor our polyfill can change
//! it.

use super::Browser;
use crate::script;
use crate::tab::Tab;
use std::time::Duration;
use tabmux_cdp::types::target;

impl Browser {
    /// Whether it does, if that is known.
    pub fn has_web_mcp(&self) -> Option<bool> {
        self.0.web_mcp.get().copied()
    }

    /// Asks attached pages until one can tell.
    pub async fn learn_web_mcp(&self, limit: Duration) {
        if self.has_web_mcp().is_none() {
            let _ = tokio::time::timeout(limit, self.ask_pages()).await;
        }
    }

    async fn ask_pages(&self) {
        let targets = self.0.session.send(target::GetTargets::default()).await;
        for info in targets.unwrap_or_default().target_infos {
            if let Some(tab) = self.attached(&info.target_id).await
                && !self.is_stuck(&info.target_id)
                && let Some(has) = has_web_mcp(&tab).await
            {
                let _ = self.0.web_mcp.set(has);
                return;
            }
        }
    }
}

/// Insecure pages never have it, so they cannot tell.
async fn has_web_mcp(tab: &Tab) -> Option<bool> {
    let world = tab.world().await.ok()?;
    let ask = "self.isSecureContext ? 'modelContext' in Document.prototype : null";
    let asked = script::evaluate::<Option<bool>>(&world.session, world.context, ask).await;
    asked.ok().flatten()
}
