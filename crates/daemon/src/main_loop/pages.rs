//! Converts messages of page workers into inputs of the core, and the core's outputs into messages to workers.

use super::confirm::Checked;
use super::page_calls::{CheckedCall, FoundAnswer};
use super::{Event, MainLoop};
use crate::incoming::Incoming;
use crate::page_quotas::Held;
use crate::page_updates::{PageUpdate, page_id};
use crate::record::{Listed, Record};
use std::sync::Arc;
use tabmux_browser::text::{one_line, shorten};
use tabmux_browser::{OriginPolicy, ToolError};
use tabmux_core::{
    BrowserId, CallId, ConnectionId, Input, Mode, PageFacts, PageId, PageRefusal, SessionId,
    TabLocation, ToolKey, ToolName, ToolRow,
};
use tabmux_protocol::page::{PageTab, ToPage};
use tokio::sync::{mpsc, oneshot};

/// Events on the connections of page workers.
#[derive(Debug)]
pub(crate) enum PagesEvent {
    /// A worker connected, from a page of this origin.
    Opened {
        origin: Arc<str>,
        out: mpsc::Sender<ToPage>,
        answer: oneshot::Sender<ConnectionId>,
    },
    /// A worker sent a message.
    Received {
        connection: ConnectionId,
        update: Box<PageUpdate>,
        /// Its part of the queue quota, returned when the message was handled.
        share: Held,
    },
    /// A worker disconnected.
    Closed { connection: ConnectionId },
    /// Tabs were inspected for tools, and a call that waited for that can continue.
    Looked {
        session: SessionId,
        call: Box<Incoming>,
    },
    /// A tool that was found in a browser tab has ended.
    Called {
        call: CallId,
        browser: BrowserId,
        result: Result<FoundAnswer, ToolError>,
    },
    /// The arguments of a call for a worker were checked.
    ArgumentsChecked(CheckedCall),
    /// The arguments of a call that needs a confirmation were checked.
    CallChecked {
        session: SessionId,
        call: Box<Incoming>,
        checked: Checked,
    },
}

impl PagesEvent {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Opened { .. } => "worker_opened",
            Self::Received { update, .. } => match **update {
                PageUpdate::ToolOffered { .. } => "tool_offered",
                PageUpdate::Answered { .. } => "tool_answered",
                _ => "worker_said",
            },
            Self::Closed { .. } => "worker_closed",
            Self::Looked { .. } => "looked",
            Self::Called { .. } => "tool_called",
            Self::ArgumentsChecked(_) | Self::CallChecked { .. } => "arguments_checked",
        }
    }
}

impl From<PagesEvent> for Event {
    fn from(event: PagesEvent) -> Self {
        Self::Pages(event)
    }
}

impl MainLoop {
    pub(super) fn pages_event(&mut self, event: PagesEvent) {
        match event {
            PagesEvent::Opened {
                origin,
                out,
                answer,
            } => {
                let connection = self.pages.open(Arc::clone(&origin), out);
                self.input(Input::PagesConnected { connection, origin });
                let _ = answer.send(connection);
            }
            PagesEvent::Received {
                connection,
                update,
                share,
            } => {
                self.page_sent(connection, *update);
                drop(share);
            }
            PagesEvent::Looked { session, call } => self.take_call(session, call),
            PagesEvent::Called {
                call,
                browser,
                result,
            } => self.found_tool_answered(call, browser, result),
            PagesEvent::ArgumentsChecked(checked) => self.arguments_checked(checked),
            PagesEvent::CallChecked {
                session,
                call,
                checked,
            } => self.take_checked(session, call, checked),
            PagesEvent::Closed { connection } => {
                self.joins.forget_worker(connection);
                if self.pages.close(connection) {
                    self.input(Input::PagesDisconnected { connection });
                }
            }
        }
    }

    fn page_sent(&mut self, connection: ConnectionId, update: PageUpdate) {
        match update {
            PageUpdate::TabCame(tab) => {
                // A tab that registers again counts as new: its tools are gone.
                let page = page_id(&tab.tab_id);
                self.pages.renew(connection, &page);
                self.joins.forget_page(connection, &page);
                self.page_shown(connection, &tab);
            }
            // A refused tab stays refused, even if it changes.
            PageUpdate::TabChanged(tab) if self.pages.has(connection, &page_id(&tab.tab_id)) => {
                self.page_shown(connection, &tab);
            }
            PageUpdate::TabChanged(_) => {}
            PageUpdate::TabGone { tab_id } => {
                let page = page_id(&tab_id);
                self.forget_page(connection, &page);
                self.input(Input::PageGone { connection, page });
            }
            PageUpdate::Activated { tab_id, at } => {
                self.page_activated(connection, tab_id.as_deref(), at);
            }
            PageUpdate::ToolOffered { tab_id, tool } => {
                let page = page_id(&tab_id);
                let name = Arc::clone(&tool.name);
                match self.pages.register(connection, &page, tool) {
                    Ok(tool) => self.input(Input::ToolRegistered {
                        connection,
                        page,
                        tool,
                    }),
                    Err(reason) => self.tool_unfit(connection, tab_id, name.to_string(), reason),
                }
            }
            PageUpdate::ToolUnfit {
                tab_id,
                name,
                reason,
            } => self.tool_unfit(connection, tab_id, name, reason),
            PageUpdate::ToolGone { tab_id, name } => {
                self.tool_gone(connection, page_id(&tab_id), &name);
            }
            PageUpdate::Answered { call_id, answer } => {
                self.page_answered(connection, &call_id, answer);
            }
        }
    }

    /// A tool is rejected. It also removes the tab's earlier tool of that name.
    fn tool_unfit(
        &mut self,
        connection: ConnectionId,
        tab_id: String,
        name: String,
        reason: String,
    ) {
        self.tool_gone(connection, page_id(&tab_id), &name);
        let rejected = ToPage::ToolRejected {
            tab_id,
            name,
            reason,
        };
        self.tell_page(connection, rejected);
    }

    fn tool_gone(&mut self, connection: ConnectionId, page: PageId, name: &str) {
        if let Some(key) = self.pages.unregister(connection, &page, name) {
            self.input(Input::ToolUnregistered {
                connection,
                page,
                key,
            });
        }
    }

    fn page_shown(&mut self, connection: ConnectionId, tab: &PageTab) {
        let id = page_id(&tab.tab_id);
        let Some(document) = self.pages.show(connection, &id, &tab.document_id) else {
            return;
        };
        let origin = self.pages.worker(connection).map(|worker| &*worker.origin);
        let page = PageFacts {
            id,
            url: address(&tab.url, origin.unwrap_or_default()).into(),
            title: one_line(&tab.title, MOST_TITLE).into(),
            document,
        };
        let id = page.id.clone();
        self.input(Input::PageAppeared { connection, page });
        // Only if the core accepted the tab.
        if let (Some(nonce), true) = (&tab.nonce, self.pages.has(connection, &id))
            && let Some(worker) = self.pages.worker(connection)
            && let Some(joined) = self.joins.told(connection, id, &worker.origin, nonce)
        {
            self.input(joined);
        }
    }

    fn forget_page(&mut self, connection: ConnectionId, page: &PageId) {
        self.pages.forget_page(connection, page);
        self.joins.forget_page(connection, page);
    }

    /// The user switched to a tab, or away from all tabs of a worker. Among workers the latest time wins, so that a
    /// reconnecting worker does not take the focus; a time in the future counts as now.
    fn page_activated(&mut self, connection: ConnectionId, tab: Option<&str>, at: f64) {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.map_or(0.0, |now| now.as_secs_f64() * 1_000.0);
        let since = if at.is_finite() { at.min(now) } else { now };
        let is_latest = self.pages.is_latest(connection, since);
        let Some(worker) = self.pages.worker_mut(connection) else {
            return;
        };
        worker.active_since = tab.map(|_| since);
        let place = |tab: &str| TabLocation::Page {
            connection,
            page: page_id(tab),
        };
        match tab {
            Some(tab) if is_latest => {
                self.active = Some(place(tab));
                self.input(Input::TabActivated { tab: place(tab) });
            }
            Some(_) => {}
            None => {
                let ours = |active: &mut TabLocation| matches!(active, TabLocation::Page { connection: own, .. } if *own == connection);
                if let Some(tab) = self.active.take_if(ours) {
                    self.input(Input::TabDeactivated { tab });
                }
            }
        }
    }

    /// Tells a worker that one of its tabs is refused or removed.
    pub(super) fn refuse_page(
        &mut self,
        connection: ConnectionId,
        page: &PageId,
        refusal: PageRefusal,
    ) {
        tracing::info!(%page, %refusal, "a page's tab was refused");
        self.forget_page(connection, page);
        let refused = ToPage::TabRefused {
            tab_id: page.0.to_string(),
            another_id: refusal.is_about_the_name(),
            reason: refusal.to_string(),
        };
        self.tell_page(connection, refused);
    }

    /// Tells a worker that some of its tools are rejected.
    pub(super) fn reject_tools(&mut self, place: &TabLocation, tools: &[ToolKey], reason: &str) {
        // Rejected tools of browser tabs are counted, and reported with the tool list.
        let TabLocation::Page { connection, page } = place else {
            return;
        };
        for key in tools {
            if let Some(name) = self.pages.forget_tool(*connection, page, *key) {
                let rejected = ToPage::ToolRejected {
                    tab_id: page.0.to_string(),
                    name,
                    reason: reason.to_owned(),
                };
                self.tell_page(*connection, rejected);
            }
        }
    }

    /// Sends a message to a worker. False if its queue is full or closed.
    pub(super) fn tell_page(&self, connection: ConnectionId, message: ToPage) -> bool {
        let worker = self.pages.worker(connection);
        worker.is_some_and(|worker| worker.out.try_send(message).is_ok())
    }

    /// A page tool as it is listed for a session.
    pub(super) fn page_tool_listed(
        &self,
        name: ToolName,
        place: &TabLocation,
        key: ToolKey,
        mode: Mode,
        policy: &OriginPolicy,
    ) -> Option<Listed> {
        let record = self.record_at(place, key)?;
        super::policy::may_tell(policy, record).then(|| Listed::Page {
            name,
            record: Arc::clone(record),
            // A tool of the library can be called in each of its tabs, independent of the focus.
            with_tab: mode == Mode::Static || matches!(place, TabLocation::Page { .. }),
        })
    }

    /// The full description of a page tool.
    pub(super) fn record_of(&self, row: &ToolRow) -> Option<&Arc<Record>> {
        self.record_at(&row.place, row.key)
    }

    pub(super) fn record_at(&self, place: &TabLocation, key: ToolKey) -> Option<&Arc<Record>> {
        match place {
            TabLocation::Page { connection, page } => self.pages.record(*connection, page, key),
            TabLocation::Browser { browser, target } => self.found.record(*browser, target, key),
        }
    }
}

/// The address that a page reports, if it is in the page's origin, which the browser reports.
fn address(said: &str, origin: &str) -> String {
    let url = url::Url::parse(said).ok();
    let is_true = url.is_some_and(|url| url.origin().ascii_serialization() == origin);
    shorten(if is_true { said } else { origin }, MOST_URL)
}

const MOST_URL: usize = 4_000;
const MOST_TITLE: usize = 300;
