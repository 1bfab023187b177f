//! Events of page workers, and of the calls that they answer.

use super::{MainLoop, PagesEvent};
use std::sync::Arc;
use tabmux_core::Input;

impl MainLoop {
    pub(super) fn pages_event(&mut self, event: PagesEvent) {
        match event {
            PagesEvent::Opened {
                origin,
                library,
                out,
                answer,
            } => {
                let connection = self.page_tools.open(Arc::clone(&origin), library, out);
                self.core
                    .input(Input::PagesConnected { connection, origin });
                let _ = answer.send(connection);
            }
            PagesEvent::Received {
                connection,
                update,
                share,
            } => {
                let answer = self
                    .page_tools
                    .received(connection, *update, &mut self.core);
                drop(share);
                if let Some(answer) = answer {
                    self.page_answered(connection, answer);
                }
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
                if self.page_tools.close(connection) {
                    self.core.input(Input::PagesDisconnected { connection });
                }
            }
        }
    }
}
