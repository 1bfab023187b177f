//! Which of our tools a session can call, so that texts for it name no others.

use super::Core;
use crate::{SessionId, ToolName};

impl Core {
    /// Whether a session can call one of our tools in any of its states, listed or not. True for names that are
    /// not ours: they may be page tools.
    pub fn can_call(&self, session: SessionId, tool: ToolName) -> bool {
        let Some(known) = self.sessions.get(&session) else {
            return false;
        };
        if let Some(only) = &known.config.only {
            return only.contains(&tool);
        }
        if self.config.tab_tools.contains(&tool) || self.config.page_actions.contains(&tool) {
            return self.offers_page_tool(session, tool);
        }
        if known.config.withheld.contains(&tool) {
            return false;
        }
        tool.exists_in(known.config.mode) && known.config.switches_on(tool)
    }

    /// The only tools of a session, if it is limited to some.
    pub(super) fn only_tools(&self, session: SessionId) -> Option<&[ToolName]> {
        self.sessions.get(&session)?.config.only.as_deref()
    }
}
