//! Sends the replies of calls, and records them in the audit log.

use super::MainLoop;
use crate::convert::Role;
use crate::record::Record;
use crate::resources::without_paths;
use crate::tools::{browser_get_connection_status, list_browser_tabs, list_page_tools};
use crate::{audit, convert};
use std::sync::Arc;
use tabmux_core::{BrowserId, CallId, Renewed, Reply, SessionId, TargetId, ToolName, ToolRow};
use tabmux_protocol::{CallFailure, CallReply, Content};

impl MainLoop {
    pub(super) fn reply(
        &mut self,
        call: CallId,
        reply: Reply,
        renewed: Option<Renewed>,
        appeared: &[ToolRow],
    ) {
        let Some(call) = self.calls.remove(call) else {
            return;
        };
        let session = self.sessions.get(call.session);
        let who = session
            .map(|session| session.client.session.as_str())
            .unwrap_or_default();
        // The list of page tools may be long, so it is formatted outside of the main loop.
        let mut page_tools = None;
        let answer = match reply {
            Reply::Status {
                connected,
                active_sessions,
                browsers,
            } => Ok(browser_get_connection_status::reply(
                connected,
                who,
                self.sessions.shared,
                self.browsers.has_extension(),
                active_sessions,
                &browsers,
            )),
            Reply::BrowserTabs { tabs, left_out } => {
                let (now, clock) = (self.core.uptime(), std::time::SystemTime::now());
                let part = call.extras.part;
                Ok(list_browser_tabs::reply(&tabs, left_out, part, |tab| {
                    clock - now.saturating_sub(tab.last_seen.elapsed())
                }))
            }
            Reply::PageTools {
                tools,
                left_out,
                not_taken,
                not_generated,
            } => {
                let policy = self.origins_of(call.session);
                let tools = tools.into_iter().map(|row| {
                    let record = self.page_tools.record(&row.place, row.key).cloned();
                    (row, record)
                });
                let tools = tools.filter(|(_, record)| {
                    let record = record.as_ref();
                    record.is_none_or(|record| record.is_visible_under(&policy))
                });
                let missing = list_page_tools::Missing {
                    left_out,
                    not_taken,
                    not_generated,
                };
                page_tools = Some((tools.collect::<Vec<_>>(), missing));
                Ok(CallReply::text("")) // A placeholder for the list.
            }
            Reply::Failed { message } => Ok(self.error_for(call.session, &message)),
            Reply::Refused(refusal) => Ok(self.error_for(call.session, &refusal.to_string())),
            Reply::Done { tab, .. } if call.extras.role == Role::Look => {
                Ok(convert::in_tab(tab, call.payload))
            }
            reply => convert::reply(&call.tool, reply, call.payload, call.extras.part, call.mode),
        };
        let hidden_folder = self.sessions.hidden_folder(call.session);
        let answer = match hidden_folder {
            None if call.extras.role != Role::Look => {
                answer.map(|reply| convert::without_data(&call.tool, reply))
            }
            _ => answer,
        };
        let news = convert::renewal(renewed, call.mode);
        let news = news.map(|text| self.fitting(call.session, &text));
        let new_tools = self.new_tools(call.session, appeared);
        let in_steps = self.core.can_call(call.session, ToolName::new("run_steps"));
        let took = call.started.elapsed();
        if call.extras.role != Role::Look
            && let (Some(browser), Ok(reply)) = (call.browser, &answer)
        {
            self.browsers
                .metrics
                .answered(browser, took, reply.is_error);
        }
        let outcome = match &answer {
            Err(_) => audit::Outcome::Cancelled,
            Ok(reply) if reply.is_error => audit::Outcome::Error,
            Ok(_) => audit::Outcome::Done,
        };
        if call.extras.role != Role::Look || outcome != audit::Outcome::Done {
            self.calls.audit.note(audit::Entry {
                time: audit::now(),
                session: who.to_owned(),
                client: session
                    .map(|session| session.client.name.clone())
                    .unwrap_or_default(),
                tool: call.tool,
                origin: call
                    .place
                    .and_then(|(browser, target)| self.origin_of(browser, &target)),
                outcome,
                millis: audit::millis(took),
            });
        }
        // Their schemas come from pages, so they are not parsed here. Paths are looked for in all of the text.
        let is_long = page_tools.is_some() || !new_tools.is_empty() || hidden_folder.is_some();
        let finish = move |answer: Result<CallReply, CallFailure>| {
            let answer = match page_tools {
                Some((tools, missing)) => Ok(list_page_tools::reply(&tools, missing)),
                None => answer,
            };
            let answer = answer.map(|mut reply| {
                let new_tools = convert::new_tools(&new_tools, in_steps);
                let news = news.into_iter().chain(new_tools);
                reply
                    .content
                    .extend(news.map(|text| Content::Text { text }));
                match &hidden_folder {
                    Some(folder) => without_paths::shown(reply, folder),
                    None => reply,
                }
            });
            // A closed client needs no reply.
            let _ = call.answer.send(answer);
        };
        match self.memory.writing() {
            None if !is_long => finish(answer),
            // The notes must be on disk before the reply, in case this process is killed right after it.
            writing => drop(tokio::spawn(async move {
                if let Some(writing) = writing {
                    writing.await;
                }
                finish(answer);
            })),
        }
    }

    /// The tools that appeared on the session's page, and that it may see.
    fn new_tools(&self, session: SessionId, appeared: &[ToolRow]) -> Vec<(ToolName, Arc<Record>)> {
        if appeared.is_empty() {
            return Vec::new();
        }
        let policy = self.origins_of(session);
        let tools = appeared.iter().filter_map(|row| {
            let record = self.page_tools.record(&row.place, row.key)?;
            record
                .is_visible_under(&policy)
                .then(|| (row.name, Arc::clone(record)))
        });
        tools.collect()
    }

    /// A tabmux error that names no tool which the session does not have.
    pub(super) fn error_for(&self, session: SessionId, text: &str) -> CallReply {
        CallReply::error(self.fitting(session, text))
    }

    /// A tabmux text without advice that names a tool which the session does not have.
    pub(super) fn fitting(&self, session: SessionId, text: &str) -> String {
        let can_call = |tool: &str| self.core.can_call(session, ToolName::new(tool));
        convert::without_missing_tools(text, can_call).into_owned()
    }

    /// The origin of a tab, for the audit log.
    fn origin_of(&self, browser: BrowserId, target: &TargetId) -> Option<String> {
        let number = self.core.tab(browser, target)?;
        let tab = self.core.tabs().find(|tab| tab.id == number)?;
        Some(audit::origin(tab.url))
    }
}
