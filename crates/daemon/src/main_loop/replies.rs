//! A call is answered, and the audit log hears of it.

use super::MainLoop;
use crate::{audit, convert};
use tabmux_core::{BrowserId, CallId, Renewed, Reply, TargetId, ToolRow};

impl MainLoop {
    pub(super) fn reply(&mut self, call: CallId, reply: Reply, renewed: Option<Renewed>) {
        let Some(call) = self.calls.remove(&call) else {
            return;
        };
        let session = self.sessions.get(&call.session);
        let who = session
            .map(|session| session.client.session.as_str())
            .unwrap_or_default();
        let answer = match reply {
            Reply::Status {
                connected,
                active_sessions,
                browsers,
            } => Ok(convert::status(
                connected,
                who,
                self.shared,
                self.extensions.is_connected(),
                active_sessions,
                &browsers,
            )),
            Reply::BrowserTabs { tabs, left_out } => {
                let (now, clock) = (self.now().elapsed(), std::time::SystemTime::now());
                let part = call.wishes.part;
                Ok(convert::browser_tabs(&tabs, left_out, part, |tab| {
                    clock - now.saturating_sub(tab.last_seen.elapsed())
                }))
            }
            Reply::PageTools {
                tools,
                left_out,
                not_taken,
                not_generated,
            } => {
                let record = |row: &ToolRow| self.record_of(row);
                let may_tell = |row: &ToolRow| {
                    record(row).is_none_or(|record| self.may_tell(call.session, record))
                };
                let tools: Vec<_> = tools.into_iter().filter(may_tell).collect();
                let missing = convert::Missing {
                    left_out,
                    not_taken,
                    not_generated,
                };
                Ok(convert::page_tool_list(&tools, missing, record))
            }
            reply => convert::reply(reply, call.payload, call.wishes.part, call.mode),
        };
        let answer = answer.map(|reply| convert::with_news(reply, renewed, call.mode));
        let took = call.started.elapsed();
        if let (Some(browser), Ok(reply)) = (call.browser, &answer) {
            self.metrics.answered(browser, took, reply.is_error);
        }
        self.audit.note(audit::Entry {
            time: audit::now(),
            session: who.to_owned(),
            client: session
                .map(|session| session.client.name.clone())
                .unwrap_or_default(),
            tool: call.tool,
            origin: call
                .place
                .and_then(|(browser, target)| self.origin_of(browser, &target)),
            outcome: match &answer {
                Err(_) => audit::Outcome::Cancelled,
                Ok(reply) if reply.is_error => audit::Outcome::Error,
                Ok(_) => audit::Outcome::Done,
            },
            millis: audit::millis(took),
        });
        // A client that went away needs no answer.
        match self.memory.writing() {
            None => drop(call.answer.send(answer)),
            // If this process is killed right after its answer, the next one has to know.
            Some(writing) => drop(tokio::spawn(async move {
                writing.await;
                let _ = call.answer.send(answer);
            })),
        }
    }

    /// Where a tab is, as far as the audit log may know.
    fn origin_of(&self, browser: BrowserId, target: &TargetId) -> Option<String> {
        let number = self.core.tab(browser, target)?;
        let tab = self.core.tabs().find(|tab| tab.id == number)?;
        Some(audit::origin(tab.url))
    }
}
