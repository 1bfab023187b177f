//! Pages that offer tools: what their workers say becomes inputs of the core, and its calls become
//! words to them.

use super::{Answer, Event, MainLoop};
use crate::convert;
use crate::page_tools::Record;
use serde_json::Value;
use std::sync::Arc;
use tabmux_browser::ToolError;
use tabmux_browser::page_tools::PageAnswer;
use tabmux_browser::text::{one_line, shorten};
use tabmux_core::{
    BrowserId, CallId, ConnectionId, Finish, Input, Mode, PageFacts, PageId, PageRefusal, Place,
    Reason, SessionId, ToolKey, ToolName, ToolRow,
};
use tabmux_protocol::page::{FromPage, PageTab, ToPage};
use tabmux_protocol::{CallReply, CallRequest, ToolInfo};
use tokio::sync::{mpsc, oneshot};

/// What happens on the connections of pages' workers.
#[derive(Debug)]
pub(crate) enum PagesEvent {
    /// A worker arrived, from a page of this origin.
    Opened {
        origin: Arc<str>,
        out: mpsc::Sender<ToPage>,
        answer: oneshot::Sender<ConnectionId>,
    },
    /// A worker says something.
    Said {
        connection: ConnectionId,
        message: Box<FromPage>,
    },
    /// A worker is gone.
    Closed { connection: ConnectionId },
    /// Tabs were looked into for their tools, and a call that waited for that can be taken in.
    Looked {
        session: SessionId,
        request: Box<CallRequest>,
        answer: Answer,
    },
    /// A tool of a browser's page came to its end.
    Called {
        call: CallId,
        browser: BrowserId,
        result: Result<PageAnswer, ToolError>,
    },
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
            PagesEvent::Said {
                connection,
                message,
            } => self.page_said(connection, *message),
            PagesEvent::Looked {
                session,
                request,
                answer,
            } => self.take_call(session, *request, answer),
            PagesEvent::Called {
                call,
                browser,
                result,
            } => self.found_tool_answered(call, browser, result),
            PagesEvent::Closed { connection } => {
                self.joins.forget_worker(connection);
                if self.pages.close(connection) {
                    self.input(Input::PagesDisconnected { connection });
                }
            }
        }
    }

    fn page_said(&mut self, connection: ConnectionId, message: FromPage) {
        match message {
            FromPage::RegisterTab(tab) => {
                // The same tab again is a new one: its tools are gone.
                let page = page_id(&tab.tab_id);
                self.pages.renew(connection, &page);
                self.joins.forget_page(connection, &page);
                self.page_shown(connection, &tab);
            }
            // One that was refused is no tab, however it changes.
            FromPage::UpdateTab(tab) if self.pages.has(connection, &page_id(&tab.tab_id)) => {
                self.page_shown(connection, &tab);
            }
            FromPage::UnregisterTab { tab_id } => {
                let page = page_id(&tab_id);
                self.forget_page(connection, &page);
                self.input(Input::PageGone { connection, page });
            }
            FromPage::SetActiveTab { tab_id, at } => {
                self.page_activated(connection, tab_id.as_deref(), at);
            }
            FromPage::RegisterTool(tool) => {
                let (tab_id, name) = (tool.tab_id.clone(), tool.name.clone());
                let page = page_id(&tab_id);
                match self.pages.register(connection, &page, tool) {
                    Ok(tool) => self.input(Input::ToolRegistered {
                        connection,
                        page,
                        tool,
                    }),
                    Err(reason) => {
                        let rejected = ToPage::ToolRejected {
                            tab_id,
                            name,
                            reason,
                        };
                        self.tell_page(connection, rejected);
                    }
                }
            }
            FromPage::UnregisterTool { tab_id, name } => {
                let page = page_id(&tab_id);
                if let Some(key) = self.pages.unregister(connection, &page, &name) {
                    self.input(Input::ToolUnregistered {
                        connection,
                        page,
                        key,
                    });
                }
            }
            FromPage::ToolCallResult {
                call_id,
                success,
                result,
                error,
                code,
            } => {
                let outcome = match success {
                    true => Ok(result),
                    false => Err((error, code)),
                };
                self.page_answered(connection, &call_id, outcome);
            }
            FromPage::UpdateTab(_) | FromPage::Hello { .. } | FromPage::Ping | FromPage::Pong => {}
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
        // It may have been refused.
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

    /// The user turned to a tab, or away from all of a worker's. Among workers the latest counts, so
    /// that one which comes back does not take the focus; a time in the future counts as now.
    fn page_activated(&mut self, connection: ConnectionId, tab: Option<&str>, at: f64) {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.map_or(0.0, |now| now.as_secs_f64() * 1_000.0);
        let since = if at.is_finite() { at.min(now) } else { now };
        let is_latest = self.pages.is_latest(connection, since);
        let Some(worker) = self.pages.worker_mut(connection) else {
            return;
        };
        worker.active_since = tab.map(|_| since);
        let place = |tab: &str| Place::Page {
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
                let ours = |active: &mut Place| matches!(active, Place::Page { connection: own, .. } if *own == connection);
                if let Some(tab) = self.active.take_if(ours) {
                    self.input(Input::TabDeactivated { tab });
                }
            }
        }
    }

    /// Runs a tool of a page: its arguments are checked against its own schema first.
    pub(super) fn run_page_tool(
        &mut self,
        call: CallId,
        place: &Place,
        key: ToolKey,
        name: &str,
        reason: Reason,
    ) {
        if reason == Reason::NoneActive {
            tracing::warn!(
                tool = name,
                "no tab is in front; the first that has the tool is taken"
            );
        }
        if let Err(why) = self.check_agreed(call, place, key) {
            return self.page_failed(call, &why);
        }
        let (connection, page) = match place {
            Place::Page { connection, page } => (connection, page),
            Place::Browser { browser, target } => {
                return self.run_found_tool(call, *browser, target, key);
            }
        };
        let Some(entry) = self.calls.get_mut(&call) else {
            return;
        };
        // Kept: a page that is left before it begins has not had them.
        let mut args = entry.page_arguments.clone();
        let (Some(record), Some(document)) = (
            self.pages.record(*connection, page, key),
            self.pages.document(*connection, page),
        ) else {
            return self.page_failed(call, "The page no longer has this tool.");
        };
        if !crate::page_tools::declares_tab(&record.schema) {
            args.remove("tabId");
        }
        if let Err(why) = record.check(&args) {
            return self.page_failed(call, &why);
        }
        entry.page = Some(*connection);
        let said = ToPage::CallTool {
            call_id: wire_id(call, entry.attempt),
            target_tab_id: page.0.to_string(),
            document_id: document.to_owned(),
            tool_name: name.to_owned(),
            args,
        };
        if !self.tell_page(*connection, said) {
            self.page_failed(
                call,
                "The page does not take calls: it has too many already. Call again later.",
            );
        }
    }

    fn page_answered(
        &mut self,
        connection: ConnectionId,
        call_id: &str,
        outcome: Result<Value, (String, String)>,
    ) {
        let number = call_id.split('.').next().unwrap_or_default();
        let Some(call) = number.parse().ok().map(CallId) else {
            return;
        };
        let Some(entry) = self.calls.get_mut(&call) else {
            return; // Nobody waits for it any more.
        };
        if entry.page != Some(connection) || wire_id(call, entry.attempt) != call_id {
            return; // Not its call, or no longer.
        }
        entry.page = None;
        if let Err((_, code)) = &outcome
            && matches!(code.as_str(), "no_tool" | "no_tab")
        {
            // Whoever gets it next gets it by another name.
            entry.attempt += 1;
            let outcome = Finish::NotBegun;
            return self.input(Input::Finished { call, outcome });
        }
        entry.payload = Some(match outcome {
            Ok(result) => convert::page_result(result),
            Err((error, code)) => convert::page_error(&error, &code),
        });
        self.input(Input::Finished {
            call,
            outcome: Finish::Done,
        });
    }

    pub(super) fn page_failed(&mut self, call: CallId, why: &str) {
        if let Some(entry) = self.calls.get_mut(&call) {
            entry.payload = Some(CallReply::error(why));
        }
        self.input(Input::Finished {
            call,
            outcome: Finish::Done,
        });
    }

    /// Tells the page that nobody waits for a call any more.
    pub(super) fn cancel_page_call(&mut self, call: CallId) {
        let entry = self.calls.get_mut(&call);
        let told = entry.and_then(|entry| Some((entry.page.take()?, entry.attempt)));
        if let Some((connection, attempt)) = told {
            let call_id = wire_id(call, attempt);
            self.tell_page(connection, ToPage::CancelCall { call_id });
        }
    }

    /// Tells a worker that one of its tabs is not taken in, or no longer.
    pub(super) fn refuse_page(
        &mut self,
        connection: ConnectionId,
        page: &PageId,
        refusal: PageRefusal,
    ) {
        tracing::info!(%page, %refusal, "a page's tab was not taken in");
        self.forget_page(connection, page);
        let refused = ToPage::TabRefused {
            tab_id: page.0.to_string(),
            another_id: refusal.is_about_the_name(),
            reason: refusal.to_string(),
        };
        self.tell_page(connection, refused);
    }

    /// Tells a worker that some of its tools are not taken in.
    pub(super) fn reject_tools(&mut self, place: &Place, tools: &[ToolKey], reason: &str) {
        // What there is no room for in a browser's page is counted, and told with its list.
        let Place::Page { connection, page } = place else {
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

    /// Says something to a worker. False if it does not listen.
    pub(super) fn tell_page(&self, connection: ConnectionId, message: ToPage) -> bool {
        let worker = self.pages.worker(connection);
        worker.is_some_and(|worker| worker.out.try_send(message).is_ok())
    }

    /// A page tool as a session is told about it.
    pub(super) fn page_tool_info(
        &self,
        session: SessionId,
        name: ToolName,
        mode: Mode,
    ) -> Option<ToolInfo> {
        let row = self.core.page_tool(session, name)?;
        let record = self.record_of(&row)?;
        if !self.may_tell(session, record) {
            return None;
        }
        Some(record.info(name.as_str(), mode == Mode::Static))
    }

    /// What a page says of its tool, in full.
    pub(super) fn record_of(&self, row: &ToolRow) -> Option<&Record> {
        match &row.place {
            Place::Page { connection, page } => self.pages.record(*connection, page, row.key),
            Place::Browser { browser, target } => self.found.record(*browser, target, row.key),
        }
    }
}

/// Where a page says that it is, as far as that is in its origin. Which one that is, is the browser's word.
fn address(said: &str, origin: &str) -> String {
    let url = url::Url::parse(said).ok();
    let is_true = url.is_some_and(|url| url.origin().ascii_serialization() == origin);
    shorten(if is_true { said } else { origin }, MOST_URL)
}

/// What a worker calls a call. One that was taken back from a page and given to another is another.
fn wire_id(call: CallId, attempt: u32) -> String {
    match attempt {
        0 => call.0.to_string(),
        attempt => format!("{}.{attempt}", call.0),
    }
}

fn page_id(text: &str) -> PageId {
    PageId(shorten(text, MOST_ID).into())
}

const MOST_ID: usize = 100;
const MOST_URL: usize = 4_000;
const MOST_TITLE: usize = 300;
