//! Keeps the lists of progressive sessions unchanged when their pages are drawn again.
//!
//! A session lists the generated tools that its page had when the list last changed for another reason. Later ones, and
//! those of another document to which the session's own call led, are named in the answer and can be called at once.
//! They are listed with the next change, when the client fetches its list, or when the page has been quiet and the agent
//! idle for a while: every notification costs an agent the cache of its whole conversation.

use super::Core;
use crate::call::Task;
use crate::list::State;
use crate::offer::Source;
use crate::settled::{Settled, SettledTool};
use crate::tab::Tab;
use crate::timers::Timer;
use crate::{Access, CallId, Reply, SessionId, TabId, Time, ToolName, ToolRow};

impl Core {
    /// The focused tab of a progressive session, and the generated tools that the session lists for it. None if it
    /// lists those that the page has now.
    pub(super) fn settled(&self, session: SessionId) -> Option<(&Tab, &Settled)> {
        let settled = self.sessions.get(&session)?.settled.as_ref()?;
        let (id, tab) = self.focused_page(session)?;
        (settled.tab == id).then_some((tab, settled))
    }

    /// Whether a session lists a generated tool that its page no longer has.
    pub fn is_gone(&self, session: SessionId, name: ToolName) -> bool {
        let is_listed = |(_, settled): (_, &Settled)| settled.get(name).is_some();
        self.settled(session).is_some_and(is_listed) && self.page_tool(session, name).is_none()
    }

    /// From now on the session lists the generated tools that its page has now.
    pub(super) fn settle(&mut self, session: SessionId) {
        let focused = self.focused_page(session).and_then(|(id, tab)| {
            let document = tab.document(Source::Generated)?;
            Some(Settled::new(id, document, self.generated(session, tab)))
        });
        if let Some(known) = self.sessions.get_mut(session) {
            known.settled = focused;
        }
    }

    /// A call ends: if it led to another document, its answer and later ones tell of the tools there.
    pub(super) fn see_document(&mut self, session: SessionId) {
        let document = self
            .settled(session)
            .and_then(|(tab, _)| tab.document(Source::Generated));
        let known = self.sessions.get_mut(session);
        let settled = known.and_then(|known| known.settled.as_mut());
        if let (Some(document), Some(settled)) = (document, settled) {
            settled.see(document);
        }
    }

    /// The client is about to fetch the session's list: it has the tools of the document that the page shows now.
    pub fn list_is_fetched(&mut self, session: SessionId) {
        let is_another = |(tab, settled): (&Tab, &Settled)| {
            tab.document(Source::Generated) != Some(settled.document)
        };
        if !self.settled(session).is_some_and(is_another) {
            return;
        }
        self.settle(session);
        let offer = self.offer(session);
        if let Some(known) = self.sessions.get_mut(session) {
            known.announced = offer;
        }
        self.rest_later(session);
    }

    /// The tools on the session's page that its agent cannot know yet. Each is named in one answer.
    pub(super) fn take_news(&mut self, session: SessionId, reply: &Reply) -> Vec<ToolRow> {
        if !matches!(reply, Reply::Done { .. }) {
            return Vec::new();
        }
        let Some((tab, settled)) = self.settled(session) else {
            return Vec::new();
        };
        let seen = tab.document(Source::Generated);
        let Some(document) = seen.filter(|document| settled.has_seen(*document)) else {
            return Vec::new();
        };
        let id = settled.tab;
        let unknown = self.generated(session, tab).into_iter();
        let unknown = unknown.filter(|tool| !settled.is_known(document, tool));
        let news = unknown.filter_map(|tool| self.tool_row(session, id, tool.name));
        let news: Vec<_> = news.take(MOST_NEWS).collect();
        let known = self.sessions.get_mut(session);
        if let Some(settled) = known.and_then(|known| known.settled.as_mut()) {
            settled.tell(news.iter().map(|tool| tool.name));
        }
        news
    }

    /// Arms the timer after which the session's list takes over what its page has now, if that differs.
    pub(super) fn rest_later(&mut self, session: SessionId) {
        let due = self.rest_due(session).map(|due| due.max(self.now));
        let Some(known) = self.sessions.get_mut(session) else {
            return;
        };
        let before = std::mem::replace(&mut known.rest_at, due);
        if let Some(before) = before {
            self.timers.disarm(before, Timer::Rest(session));
        }
        if let Some(due) = due {
            self.timers.arm(due, Timer::Rest(session));
        }
    }

    /// The timer went off.
    pub(super) fn rested(&mut self, session: SessionId) {
        if let Some(known) = self.sessions.get_mut(session) {
            known.rest_at = None;
        }
        match self.rest_due(session) {
            Some(due) if due > self.now => self.rest_later(session),
            // The answer of its last call arms the timer again.
            Some(_) if self.calls.of_session(session).next().is_some() => {}
            Some(_) => {
                let tab = self.focused_page(session).map(|(id, _)| id);
                if let Some(tab) = tab.and_then(|id| self.tabs.get_mut(&id)) {
                    tab.reading.rested = true;
                }
                self.renew_list(session);
            }
            None => {}
        }
    }

    /// Notes that a tab's generated tools changed.
    pub(super) fn generated_changed(&mut self, id: TabId) {
        let (now, quiet) = (self.now, self.config.page_rests);
        let Some(tab) = self.tabs.get_mut(&id) else {
            return;
        };
        let document = tab.document(Source::Generated);
        let reading = &mut tab.reading;
        // Tools that did not change for long enough had settled, even if no timer was armed for them.
        let is_same = reading.document == document;
        reading.rested = is_same && (reading.rested || reading.changed + quiet <= now);
        (reading.document, reading.changed) = (document, now);
    }

    /// A call acts on a tab: what its page draws from now on is no longer the beginning of the document.
    pub(super) fn note_action(&mut self, call: CallId, tab: TabId) {
        let task = self.calls.get(&call).map(|call| call.task());
        let acts = task.is_some_and(|task| match task {
            Task::Page { access, .. } | Task::PageTool { access, .. } => *access == Access::Act,
            _ => false,
        });
        if let Some(tab) = self.tabs.get_mut(&tab)
            && acts
            && tab.reading.document == tab.document(Source::Generated)
        {
            tab.reading.rested = true;
        }
    }

    /// When the session's list takes over what its page has now; none if it lists that already.
    fn rest_due(&self, session: SessionId) -> Option<Time> {
        let known = self.sessions.get(&session)?;
        let (tab, settled) = self.settled(session)?;
        let document = tab.document(Source::Generated);
        let is_same_document = document == Some(settled.document);
        if is_same_document && settled.lists(&self.generated(session, tab)) {
            return None;
        }
        let is_told = document.is_some_and(|document| settled.has_seen(document));
        let changed = tab.reading.changed;
        Some(match is_told && (tab.reading.rested || !is_same_document) {
            true => (changed + self.config.page_quiet).max(known.answered + self.config.agent_idle),
            false => changed + self.config.page_rests,
        })
    }

    /// Lists what the page has now, and announces it if that makes a difference.
    fn renew_list(&mut self, session: SessionId) {
        self.settle(session);
        self.announce_gathered(session);
    }

    fn focused_page(&self, session: SessionId) -> Option<(TabId, &Tab)> {
        let State::Focused(id) = self.state(session)? else {
            return None;
        };
        let tab = self.tabs.get(&id)?;
        self.hidden(session, tab).is_none().then_some((id, tab))
    }

    /// The generated tools of a tab that a session can use, by name.
    fn generated(&self, session: SessionId, tab: &Tab) -> Vec<SettledTool> {
        let tools = tab
            .offers
            .best(|source| self.can_use(session, tab.browser(), source));
        let tools = tools.filter(|(_, source, _)| *source == Source::Generated);
        let tools = tools.map(|(name, _, offer)| SettledTool {
            name,
            key: offer.key,
            schema: offer.schema,
        });
        tools.collect()
    }
}

/// How many new tools one answer names. The others are named in the next one.
const MOST_NEWS: usize = 12;
