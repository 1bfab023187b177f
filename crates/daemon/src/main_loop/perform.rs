//! Carries out the core's outputs: each becomes a task or a reply.

use super::MainLoop;
use super::look_for_tools::{free_tabs, generated_for_holders};
use crate::browsers::{Context, Permitted};
use crate::convert::{self, Role};
use crate::work::{self, Job};
use std::sync::Arc;
use tabmux_browser::secrets::{self, Secrets};
use tabmux_browser::tools::Viewer;
use tabmux_browser::{OutputFolder, StorageSource, bounds};
use tabmux_core::{BrowserId, CallId, Output, SessionId, TargetId};
use tabmux_protocol::BackendEvent;
use tabmux_protocol::page::ToPage;

impl MainLoop {
    /// Carries out one output. Never waits: anything that takes time becomes a task.
    pub(super) fn perform(&mut self, output: Output) {
        match output {
            Output::Connect {
                browser,
                key,
                launch,
                start,
            } => {
                let permitted = Permitted {
                    launch,
                    start,
                    long_wait: self.core.is_asked_for(browser),
                };
                let output = &self.sessions.output;
                self.browsers.connect(browser, &key, permitted, output);
            }
            Output::Disconnect { browser } => self.browsers.disconnect(browser),
            Output::Refresh { call, browser } => {
                // A fixed list does not show how many tools a page has.
                let (session, generate) = self.wanted_by(call);
                let tabs = match (session, generate) {
                    (Some(session), Some(_)) => free_tabs(&self.core, session, browser),
                    _ => Vec::new(),
                };
                self.start(call, browser, |job| work::refresh(job, tabs, generate));
            }
            Output::OpenTab {
                call,
                browser,
                url,
                focus,
            } => {
                let context = self.context_for(call, browser);
                let limit = self.extras(call).load_limit;
                let (_, generate) = self.wanted_by(call);
                let place = work::TabOwner {
                    context,
                    storage: self.storage_for(call),
                    output: self.output_of(call),
                };
                self.start(call, browser, |job| {
                    work::open_tab(job, url, focus, limit, place, generate)
                });
            }
            Output::PrepareFocus {
                call,
                browser,
                target,
            } => {
                let to_front = self.extras(call).to_front;
                let (_, generate) = self.wanted_by(call);
                self.start(call, browser, |job| {
                    work::prepare_focus(job, target, to_front, generate)
                });
            }
            Output::CloseTab {
                call,
                browser,
                target,
                last,
            } => {
                self.start(call, browser, |job| work::close_tab(job, target, last));
            }
            Output::Run {
                call,
                browser,
                target,
            } => self.run_tool(call, browser, target),
            Output::Abort { call } => {
                if let Some(call) = self.calls.get(call) {
                    call.cancel.cancel();
                }
                self.cancel_page_call(call);
            }
            Output::RunTool {
                call,
                place,
                tool,
                name,
                reason,
            } => self.run_page_tool(call, &place, tool, &name, reason),
            Output::TakeBack { call } => {
                if let Some(call) = self.calls.get_mut(call) {
                    call.withdraw();
                }
            }
            Output::PagesRefused {
                connection,
                refusal,
            } => {
                let reason = refusal.to_string();
                self.page_tools.tell(connection, ToPage::Refused { reason });
                self.page_tools.close(connection);
            }
            Output::PageRefused {
                connection,
                page,
                refusal,
            } => self.page_tools.refuse_page(connection, &page, refusal),
            Output::ToolsRefused {
                place,
                tools,
                refusal,
                ..
            } => {
                let reason = refusal.to_string();
                self.page_tools.reject_tools(&place, &tools, &reason);
            }
            Output::Discard {
                browser,
                target,
                last,
            } => self.browsers.discard(browser, target, last),
            Output::Hold { browser, target } => self.hold(browser, target, true),
            Output::Release { browser, target } => {
                self.hold(browser, target, false);
                self.browsers.sweep_later(browser);
            }
            Output::Reply {
                call,
                reply,
                renewed,
                appeared,
                ..
            } => {
                self.reply(call, reply, renewed, &appeared);
                self.browsers.sweep_all_later();
            }
            Output::ToolsChanged { session } => {
                if !self.sessions.notify(session, BackendEvent::ToolsChanged) {
                    tracing::warn!("a client does not read its notifications");
                }
            }
            Output::SessionRefused { session, refusal } => self.sessions.refuse(session, &refusal),
        }
    }

    /// The context for a call's new tab, if its session has its own.
    fn context_for(&mut self, call: CallId, browser: BrowserId) -> Option<Context> {
        let call = self.calls.get(call)?;
        let (session, name) = (call.session, call.extras.context.clone());
        let isolated = self.sessions.get(session)?.options.given.browser.isolated;
        (isolated || name.is_some()).then(|| self.browsers.contexts.of(browser, session, name))
    }

    /// The storage state for the context of a call's session. Named contexts start empty.
    fn storage_for(&self, call: CallId) -> Option<StorageSource> {
        let call = self
            .calls
            .get(call)
            .filter(|call| call.extras.context.is_none())?;
        let session = self.sessions.get(call.session)?;
        session.options.storage.clone()
    }

    /// The folder for files of a call without a path.
    fn output_of(&self, call: CallId) -> Option<OutputFolder> {
        let session = self.calls.session_of(call)?;
        let session = self.sessions.get(session)?;
        Some(session.output.clone())
    }

    /// The session of a call, and how many generated tools it wants.
    fn wanted_by(&self, call: CallId) -> (Option<SessionId>, Option<usize>) {
        let session = self.calls.session_of(call);
        let generate = session.and_then(|session| self.sessions.generated_in_list_of(session));
        (session, generate)
    }

    /// The session of a call, if it wants to know what its actions change.
    fn viewer_of(&self, call: CallId) -> Option<Viewer> {
        let role = self.calls.get(call)?.extras.role;
        let session = self.calls.session_of(call)?;
        let options = &self.sessions.get(session)?.options;
        let is_seen = !matches!(role, Role::Step | Role::Read);
        (options.given.changes && is_seen).then_some(Viewer(session.0))
    }

    pub(super) fn extras(&self, call: CallId) -> convert::CallExtras {
        let call = self.calls.get(call);
        call.map(|call| call.extras.clone()).unwrap_or_default()
    }

    /// Starts the work for a call in a separate task.
    pub(super) fn start<F>(&mut self, call: CallId, browser: BrowserId, work: impl FnOnce(Job) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let viewer = self.viewer_of(call);
        let (Some(entry), Some(handle)) = (self.calls.get_mut(call), self.browsers.get(browser))
        else {
            return;
        };
        entry.browser = Some(browser);
        let job = Job {
            call,
            browser,
            handle: handle.clone(),
            cancel: entry.cancel.clone(),
            events: self.events.clone(),
            viewer,
        };
        // All work for a call is limited to the origins that its session may access.
        let work = bounds::within(self.origins_for(call), work(job));
        tokio::spawn(secrets::within(self.secrets_for(call), work));
    }

    /// The secrets of a call's session.
    fn secrets_for(&self, call: CallId) -> Arc<Secrets> {
        let session = self.calls.session_of(call);
        let session = session.and_then(|session| self.sessions.get(session));
        session
            .map(|it| Arc::clone(&it.options.secrets))
            .unwrap_or_default()
    }

    fn run_tool(&mut self, call: CallId, browser: BrowserId, target: TargetId) {
        let Some(entry) = self.calls.get_mut(call) else {
            return;
        };
        let Some(prepared) = entry.prepared.take() else {
            return;
        };
        entry.place = Some((browser, target.clone()));
        let wants_progress = entry.wants_progress;
        let session = entry.session;
        let is_read = entry.extras.role == Role::Read;
        let files = self.sessions.files_of(session);
        let files = if is_read { files.private() } else { files };
        if let Some(entry) = self.calls.get_mut(call) {
            entry.files = Some(files.clone());
        }
        self.start(call, browser, |job| {
            work::run(job, target, prepared, files, wants_progress)
        });
    }

    fn hold(&self, browser: BrowserId, target: TargetId, held: bool) {
        let generate = generated_for_holders(&self.core, &self.sessions, browser, &target);
        if let Some(handle) = self.browsers.get(browser).cloned() {
            let mut tabs = self.core.tabs();
            let tab = tabs.find(|tab| tab.browser == browser && *tab.target == target);
            let origins = tab.and_then(|tab| tab.holder).map(|it| self.origins_of(it));
            let hold = work::hold(handle, target, held, generate);
            tokio::spawn(bounds::within(origins.unwrap_or_default(), hold));
        }
    }
}
