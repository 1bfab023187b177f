//! Sends a call that its page has not started to another tab with the same tool.

use super::Core;
use super::plan::Plan;
use crate::call::Task;
use crate::offer::Source;
use crate::{CallId, Mode, Output, Reason, TabId};

impl Core {
    /// A page closes. Calls that its worker has not answered never reached the page: the worker answers calls
    /// that it has passed on before it reports that the page is gone.
    pub(super) fn page_gone(&mut self, id: TabId) {
        self.drop_offers(id, |source, _| source == Source::Library);
        let calls = self.library_calls(id);
        for call in calls {
            self.reroute(call);
        }
        self.remove_page(id);
    }

    /// The page does not have the call's tool, and nothing ran.
    pub(super) fn not_begun(&mut self, id: CallId) {
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        call.at_work = false;
        let tab = call.task().tab();
        if !self.reroute(id)
            && let Some(id_of_tab) = tab
        {
            let known = self.tabs.get(&id_of_tab);
            let name = known.map_or_else(|| id_of_tab.into(), |tab| tab.name(id_of_tab));
            self.fail_page_tool(id, &name);
        }
    }

    /// Sends a call to another tab, unless its agent chose the tab. Returns whether it did.
    fn reroute(&mut self, id: CallId) -> bool {
        let Some(call) = self.calls.get(&id) else {
            return false;
        };
        let Task::PageTool {
            tab,
            name,
            access,
            reason,
            ..
        } = *call.task()
        else {
            return false;
        };
        if matches!(reason, Reason::Named | Reason::Bound) || call.moves >= MOST_MOVES {
            return false;
        }
        let (session, tool) = (call.session, call.tool);
        let route = match self.mode(session) {
            Some(Mode::Progressive) if tool == name => self.library_route(session, name).ok(),
            _ => self.route_of(session, name, None).ok(),
        };
        let route = route.filter(|route| route.tab != tab && route.reason != Reason::Bound);
        let plan = route.map(|route| self.plan_page_tool(session, tool, name, route));
        let Some(Ok(Plan::Work(browser, task))) = plan else {
            return false;
        };
        let Some(call) = self.calls.get_mut(id) else {
            return false;
        };
        let was_at_work = std::mem::take(&mut call.at_work);
        call.moves += 1;
        self.calls.change_browser(id, browser);
        self.calls.change_task(id, |before| *before = task);
        if was_at_work {
            self.emit(Output::TakeBack { call: id });
        }
        let lane = self.tabs.get_mut(&tab).map(|tab| &mut tab.lane);
        let next = lane.and_then(|lane| lane.leave(id, access));
        self.start(id);
        if let Some(next) = next {
            self.run(next, tab);
        }
        true
    }
}

/// Prevents endless rerouting.
const MOST_MOVES: u8 = 3;
