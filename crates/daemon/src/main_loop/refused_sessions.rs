//! Sessions over the limit: the agent sees tools, and each call says why it is refused.

use super::MainLoop;
use crate::catalogue;
use tabmux_core::{Mode, Refusal, SessionId, TabLocation, ToolKey, ToolName};

impl MainLoop {
    pub(super) fn refuse_session(&mut self, session: SessionId, refusal: &Refusal) {
        tracing::warn!(?session, %refusal, "a session was refused");
        if let Some(known) = self.sessions.get_mut(&session) {
            known.refusal = Some(refusal.to_string());
        }
    }

    /// Why a session was refused, if it was.
    pub(super) fn why_refused(&self, session: SessionId) -> Option<&str> {
        self.sessions.get(&session)?.refusal.as_deref()
    }

    /// The tools that a session sees. With an empty list, an agent would never call a tool and learn the reason.
    pub(super) fn tools_shown(
        &self,
        session: SessionId,
        mode: Mode,
    ) -> Vec<(ToolName, Option<(TabLocation, ToolKey)>)> {
        let own = |tools: Vec<ToolName>| tools.into_iter().map(|name| (name, None)).collect();
        match (self.why_refused(session), mode) {
            (None, _) => self.core.tools_with_places(session),
            (Some(_), Mode::Progressive) => own(vec![ToolName::CONNECT_BROWSER]),
            (Some(_), Mode::Static) => own(catalogue::static_tools()),
        }
    }
}
