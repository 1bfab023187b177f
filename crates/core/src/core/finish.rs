//! The driver finished the work of a call: the effects on its session, and the answer.

use super::Core;
use crate::call::Task;
use crate::tab::TabPhase;
use crate::{CallId, Fate, Finish, LostTab, Refusal, Reply, SessionId, TabId, ToolName};

impl Core {
    pub(super) fn finished(&mut self, id: CallId, outcome: Finish) {
        let Some(call) = self.calls.get(&id).filter(|call| call.at_work) else {
            return;
        };
        match outcome {
            Finish::Failed { message } => return self.answer(id, Reply::Failed { message }),
            Finish::NotBegun if matches!(call.task(), Task::PageTool { .. }) => {
                return self.not_begun(id);
            }
            Finish::NotBegun => {
                let message = "The call could not be started. Call it again.".to_owned();
                return self.answer(id, Reply::Failed { message });
            }
            Finish::Done => {}
        }
        let (session, browser, tool) = (call.session, call.browser(), call.tool);
        if let Task::Page { .. } | Task::PageTool { .. } = call.task() {
            self.announce_pending(session);
            self.see_document(session);
        }
        let Some(call) = self.calls.get(&id) else {
            return;
        };
        let reply = match *call.task() {
            Task::List => browser.map(|browser| self.list(session, browser)),
            Task::FindTab { tab, .. } => self.found_tab(session, tab, tool),
            Task::Open { tab, focus, .. } => self.opened(session, tab, focus, tool),
            Task::Focus { tab } => self.prepared(session, tab),
            Task::Close { tab } => self.closed(tab),
            Task::Page { tab, named, .. } => Some(Reply::Done {
                tab,
                shared: named && self.is_shared(session, tab),
            }),
            Task::PageTool { tab, reason, .. } => Some(self.ran(session, tab, reason)),
            Task::Connect { .. } | Task::Reconnect { .. } | Task::Await { .. } => None,
        };
        if let Some(reply) = reply {
            self.answer(id, reply);
        }
    }

    /// The session has a tab, so the call continues there.
    fn found_tab(
        &mut self,
        session: SessionId,
        tab: Option<TabId>,
        tool: ToolName,
    ) -> Option<Reply> {
        let Some(id) = tab else {
            return Some(Reply::Refused(Refusal::NotOpened { tool }));
        };
        self.use_found_tab(session, id);
        None
    }

    fn opened(
        &mut self,
        session: SessionId,
        tab: Option<TabId>,
        focus: bool,
        tool: ToolName,
    ) -> Option<Reply> {
        let Some(id) = tab else {
            return Some(Reply::Refused(Refusal::NotOpened { tool }));
        };
        self.tabs.get_mut(&id)?.stage = TabPhase::Open;
        self.touch_tab(id);
        if focus {
            self.move_focus(session, id);
        } else {
            self.announce_if_changed(session);
        }
        let tab = self.tabs.get(&id)?;
        Some(Reply::Opened {
            tab: self.row(session, id, tab),
            tools: if focus {
                self.visible_tools(session, tab)
            } else {
                Vec::new()
            },
        })
    }

    fn prepared(&mut self, session: SessionId, id: TabId) -> Option<Reply> {
        self.move_focus(session, id);
        let tab = self.tabs.get(&id)?;
        Some(Reply::Focused {
            tab: self.row(session, id, tab),
            tools: self.visible_tools(session, tab),
            shared: tab.is_shared_with_others(session),
        })
    }

    /// Removes the tab, which answers all calls that close it.
    fn closed(&mut self, tab: TabId) -> Option<Reply> {
        let fate = Fate::Closed;
        self.remove_tab(LostTab { tab, fate });
        None
    }
}
