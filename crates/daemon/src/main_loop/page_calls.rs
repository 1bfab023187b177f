//! Calls of page tools: arguments are checked outside of the main loop, then the call goes to the worker or the
//! browser that has the tool.

use super::{Event, MainLoop, PagesEvent};
use crate::calls::wire_id;
use crate::page_tools::WorkerAnswer;
use crate::page_updates::PageReply;
use crate::record::Record;
use crate::work;
use serde_json::{Map, Value};
use std::sync::{Arc, LazyLock};
use tabmux_browser::ToolError;
use tabmux_browser::page_tools::ToolNumber;
use tabmux_browser::tools::ToolOutput;
use tabmux_core::{
    BrowserId, CallId, ConnectionId, Finish, Input, PageId, Reason, TabLocation, TargetId, ToolKey,
};
use tabmux_protocol::CallReply;
use tabmux_protocol::page::ToPage;
use tokio::sync::{Semaphore, mpsc};

/// The reply of a tool that was found in a tab.
#[derive(Debug)]
pub(crate) enum FoundAnswer {
    /// The output of a generated tool, which runs page actions.
    Output(Box<ToolOutput>),
    /// The page's reply, or why it was not called.
    Reply(Box<CallReply>),
}

/// A call with checked arguments.
#[derive(Debug)]
pub(crate) struct CheckedCall {
    call: CallId,
    attempt: u32,
    connection: ConnectionId,
    page: PageId,
    key: ToolKey,
    /// The tool against whose schema they were checked.
    record: Arc<Record>,
    /// The arguments for the page, or why they were refused.
    arguments: Result<Map<String, Value>, String>,
}

impl MainLoop {
    /// Runs a page tool: checks its arguments against the tool's schema first.
    pub(super) fn run_page_tool(
        &mut self,
        call: CallId,
        place: &TabLocation,
        key: ToolKey,
        name: &str,
        reason: Reason,
    ) {
        if reason == Reason::NoneActive {
            tracing::warn!(
                tool = name,
                "no tab is in front; using the first one that has the tool"
            );
        }
        if let Err(why) = self.check_agreed(call, place, key) {
            return self.page_failed(call, &why);
        }
        match place {
            TabLocation::Page { connection, page } => {
                self.check_first(call, *connection, page, key)
            }
            TabLocation::Browser { browser, target } => {
                self.run_found_tool(call, *browser, target, key)
            }
        }
    }

    fn check_first(&mut self, call: CallId, connection: ConnectionId, page: &PageId, key: ToolKey) {
        let place = TabLocation::Page {
            connection,
            page: page.clone(),
        };
        let Some(record) = self.page_tools.record(&place, key).cloned() else {
            return self.page_failed(call, &ToolError::ToolGone.to_string());
        };
        let Some(entry) = self.calls.get_mut(call) else {
            return;
        };
        // Kept for a retry: a page that navigates before it starts the call has not used them.
        let given = Arc::clone(&entry.page_arguments);
        let (attempt, page) = (entry.start_check(), page.clone());
        let events = self.events.clone();
        tokio::spawn(async move {
            let checked = CheckedCall {
                call,
                attempt,
                connection,
                page,
                key,
                arguments: check(&record, given, |checked, _| checked).await,
                record,
            };
            report(&events, PagesEvent::ArgumentsChecked(checked)).await;
        });
    }

    /// Sends a checked call to its worker, unless it was cancelled meanwhile.
    pub(super) fn arguments_checked(&mut self, checked: CheckedCall) {
        let CheckedCall {
            call,
            attempt,
            connection,
            page,
            key,
            record,
            arguments,
        } = checked;
        let entry = self.calls.get_mut(call);
        if !entry.is_some_and(|entry| entry.end_check(attempt)) {
            return;
        }
        let place = TabLocation::Page {
            connection,
            page: page.clone(),
        };
        let now = self.page_tools.record(&place, key);
        if now.is_some_and(|now| !Arc::ptr_eq(now, &record)) {
            // The page changed the tool meanwhile, so the arguments are checked again.
            return self.run_page_tool(call, &place, key, &record.name, Reason::Named);
        }
        let document = self.page_tools.document(connection, &page);
        let document = document.map(str::to_owned);
        let (true, Some(document)) = (now.is_some(), document) else {
            return self.page_failed(call, &ToolError::ToolGone.to_string());
        };
        if let Err(why) = self.check_agreed(call, &place, key) {
            return self.page_failed(call, &why);
        }
        let args = match arguments {
            Ok(arguments) => arguments,
            Err(why) => return self.page_failed(call, &why),
        };
        if let Some(entry) = self.calls.get_mut(call) {
            entry.sent_to(connection);
        }
        let message = ToPage::CallTool {
            call_id: wire_id(call, attempt),
            target_tab_id: page.0.to_string(),
            document_id: document,
            tool_name: record.name.to_string(),
            args,
        };
        if !self.page_tools.tell(connection, message) {
            self.page_failed(
                call,
                "The page does not take calls: it has too many already. Call again later.",
            );
        }
    }

    /// Runs a tool that was found in a browser tab: checks its arguments against the tool's schema first.
    fn run_found_tool(
        &mut self,
        call: CallId,
        browser: BrowserId,
        target: &TargetId,
        key: ToolKey,
    ) {
        let place = TabLocation::Browser {
            browser,
            target: target.clone(),
        };
        let Some(record) = self.page_tools.record(&place, key).cloned() else {
            return self.page_failed(call, &ToolError::ToolGone.to_string());
        };
        let Some(entry) = self.calls.get_mut(call) else {
            return;
        };
        let arguments = std::mem::take(&mut entry.page_arguments);
        entry.place = Some((browser, target.clone()));
        let wants_progress = entry.wants_progress;
        let session = entry.session;
        let files = self.sessions.files_of(session);
        let (target, tool) = (target.clone(), ToolNumber(key.0));
        self.start(call, browser, |job| {
            let arguments = async move { check(&record, arguments, |checked, _| checked).await };
            work::call_page_tool(job, target, tool, arguments, files, wants_progress)
        });
    }

    pub(super) fn found_tool_answered(
        &mut self,
        call: CallId,
        browser: BrowserId,
        result: Result<FoundAnswer, ToolError>,
    ) {
        match result {
            Ok(FoundAnswer::Output(output)) => self.ran(call, browser, Ok(*output)),
            Err(error) => self.ran(call, browser, Err(error)),
            Ok(FoundAnswer::Reply(reply)) => self.page_done(call, *reply),
        }
    }

    pub(super) fn page_answered(
        &mut self,
        connection: ConnectionId,
        WorkerAnswer { call_id, reply }: WorkerAnswer,
    ) {
        let number = call_id.split('.').next().unwrap_or_default();
        let Some(call) = number.parse().ok().map(CallId) else {
            return;
        };
        let Some(entry) = self.calls.get_mut(call) else {
            return; // The call has ended already.
        };
        if !entry.answered_by(connection, call, &call_id) {
            return;
        }
        match reply {
            PageReply::Done(reply) => self.page_done(call, reply),
            PageReply::NotBegun => {
                entry.withdraw();
                let outcome = Finish::NotBegun;
                self.core.input(Input::Finished { call, outcome });
            }
        }
    }

    pub(super) fn page_failed(&mut self, call: CallId, why: &str) {
        let reply = match self.calls.session_of(call) {
            Some(session) => self.error_for(session, why),
            None => CallReply::error(why),
        };
        self.page_done(call, reply);
    }

    fn page_done(&mut self, call: CallId, reply: CallReply) {
        self.calls.keep_reply(call, reply);
        self.core.input(Input::Finished {
            call,
            outcome: Finish::Done,
        });
    }

    /// Cancels a call in its page.
    pub(super) fn cancel_page_call(&mut self, call: CallId) {
        let entry = self.calls.get_mut(call);
        if let Some((connection, call_id)) = entry.and_then(|entry| entry.cancel_in_page(call)) {
            self.page_tools
                .tell(connection, ToPage::CancelCall { call_id });
        }
    }
}

/// Checks arguments against a tool's schema on the blocking thread pool: the page wrote the schema, and the arguments
/// may be long.
pub(super) async fn check<T: Send + 'static>(
    record: &Arc<Record>,
    given: Arc<Map<String, Value>>,
    then: impl FnOnce(Map<String, Value>, &Map<String, Value>) -> T + Send + 'static,
) -> Result<T, String> {
    let turn = Arc::clone(&CHECKS).acquire_owned().await;
    let record = Arc::clone(record);
    let checked = tokio::task::spawn_blocking(move || {
        let checked = record.check(&given)?;
        drop(turn);
        Ok(then(checked, &given))
    });
    checked
        .await
        .unwrap_or_else(|_| Err("Its arguments could not be checked. Call it again.".to_owned()))
}

/// Reports to the main loop, but does not wait if the loop is ending.
pub(super) async fn report(events: &mpsc::Sender<Event>, event: PagesEvent) {
    let _ = events.send(event.into()).await;
}

/// The number of concurrent checks: each may need some memory.
static CHECKS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(2)));
