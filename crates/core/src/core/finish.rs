//! The driver has done what a call asked for: what that means for its session.

use super::Core;
use crate::call::Task;
use crate::tab::Stage;
use crate::{CallId, Finish, LostTab, Refusal, Reply, SessionId, TabId};

impl Core {
    pub(super) fn finished(&mut self, id: CallId, outcome: Finish) {
        let Some(call) = self.calls.get(&id).filter(|call| call.at_work) else {
            return;
        };
        if let Finish::Failed { message } = outcome {
            return self.answer(id, Reply::Failed { message });
        }
        let session = call.session;
        let reply = match call.task {
            Task::List => Some(self.tab_list(session)),
            Task::Open { tab, focus, .. } => self.opened(session, tab, focus),
            Task::Focus { tab } => self.focused(session, tab),
            Task::Close { tab } => self.closed(tab),
            Task::Page { .. } => Some(Reply::Done),
            Task::Connect { .. } => None,
        };
        if let Some(reply) = reply {
            self.answer(id, reply);
        }
    }

    fn opened(&mut self, session: SessionId, tab: Option<TabId>, focus: bool) -> Option<Reply> {
        let Some(id) = tab else {
            return Some(Reply::Refused(Refusal::NotOpened));
        };
        self.tabs.get_mut(&id)?.stage = Stage::Open;
        if focus {
            self.move_focus(session, id);
        } else {
            self.announce_if_changed(session);
        }
        let tab = self.tabs.get(&id)?;
        Some(Reply::Opened {
            tab: tab.row(id, session),
            tools: if focus {
                tab.page_tools().to_vec()
            } else {
                Vec::new()
            },
        })
    }

    fn focused(&mut self, session: SessionId, id: TabId) -> Option<Reply> {
        self.move_focus(session, id);
        let tab = self.tabs.get(&id)?;
        Some(Reply::Focused {
            tab: tab.row(id, session),
            tools: tab.page_tools().to_vec(),
            shared: tab.is_shared_with_others(session),
        })
    }

    /// Removes the tab, which answers everybody who wanted it closed.
    fn closed(&mut self, tab: TabId) -> Option<Reply> {
        let crashed = false;
        self.remove_tab(LostTab { tab, crashed });
        None
    }
}
