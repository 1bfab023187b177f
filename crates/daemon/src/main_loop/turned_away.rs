//! A session that there was no room for: its agent is shown tools, and told why none of them works.

use super::MainLoop;
use crate::catalogue;
use tabmux_core::{Mode, Refusal, SessionId, TabLocation, ToolKey, ToolName};

impl MainLoop {
    pub(super) fn turn_away(&mut self, session: SessionId, refusal: &Refusal) {
        tracing::warn!(?session, %refusal, "a session was refused");
        if let Some(known) = self.sessions.get_mut(&session) {
            known.turned_away = Some(refusal.to_string());
        }
    }

    /// Why a session was not taken in, if it was not.
    pub(super) fn why_turned_away(&self, session: SessionId) -> Option<&str> {
        self.sessions.get(&session)?.turned_away.as_deref()
    }

    /// The tools that a session is shown. With none at all, nobody would ever call and be told why.
    pub(super) fn tools_shown(
        &self,
        session: SessionId,
        mode: Mode,
    ) -> Vec<(ToolName, Option<(TabLocation, ToolKey)>)> {
        let own = |tools: Vec<ToolName>| tools.into_iter().map(|name| (name, None)).collect();
        match (self.why_turned_away(session), mode) {
            (None, _) => self.core.tools_with_places(session),
            (Some(_), Mode::Progressive) => own(vec![ToolName::CONNECT_BROWSER]),
            (Some(_), Mode::Static) => own(catalogue::static_tools()),
        }
    }
}
