//! Before a tool runs whose effects may be hard to undo, a person is asked.
//!
//! They are asked through the client, which gets the question as the answer of its call and calls again with
//! their word; or, where the client cannot, by whoever shows questions to them, while the call waits here.

use super::{Answer, Event, MainLoop};
use crate::audit;
use crate::convert::Parsed;
use crate::page_tools::{self, Record};
use crate::questions::{About, MOST_WAITING, PATIENCE_HERE, Question, QuestionView};
use serde_json::{Map, Value};
use tabmux_browser::text::one_line;
use tabmux_core::{CallId, Place, SessionId, ToolKey, ToolRow};
use tabmux_protocol::session::Confirm;
use tabmux_protocol::{CallFailure, CallReply, CallRequest, Word};

/// What becomes of a call before it is taken in.
pub(super) enum Leave {
    /// It may run, as far as the person is concerned: this tool was agreed to, or need not be.
    Given(Option<About>),
    /// It may not, or not yet.
    Withheld(CallReply),
    /// It waits here for the person.
    Awaited,
}

impl MainLoop {
    /// Whether a call needs the person's word, and has it.
    pub(super) fn leave_for(
        &mut self,
        session: SessionId,
        request: &CallRequest,
        parsed: &Parsed,
        answer: &mut Option<Answer>,
    ) -> Leave {
        if let Some(word) = &request.asking.word {
            return self.word_given(session, request, word);
        }
        let Some(row) = self.core.tool_meant(session, &parsed.kind) else {
            return Leave::Given(None);
        };
        if !self.needs_word(session, &row) {
            return Leave::Given(None);
        }
        if let Err(why) = self.check_arguments(&row, &parsed.page_arguments) {
            return Leave::Withheld(CallReply::error(why));
        }
        let about = About::new(&row, request.arguments.get());
        let view = self.view(session, &row, request);
        if request.asking.can_ask {
            self.note(session, &view, audit::Outcome::Asked);
            let id = self.questions.ask(session, about, view.clone(), None);
            let message = message(&view);
            return Leave::Withheld(CallReply::question(id, message));
        }
        if !self.asking.is_shown() || self.questions.waiting() >= MOST_WAITING {
            self.note(session, &view, audit::Outcome::Unanswered);
            return Leave::Withheld(CallReply::error(nobody_to_ask(&view)));
        }
        let Some(answer) = answer.take() else {
            return Leave::Given(None);
        };
        self.note(session, &view, audit::Outcome::Asked);
        let waiting = Some((Box::new(request.clone()), answer));
        let id = self.questions.ask(session, about, view, waiting);
        self.asking.publish(&self.questions);
        tokio::spawn(expire(id, self.events.clone()));
        Leave::Awaited
    }

    /// The client brings the person's word.
    fn word_given(&mut self, session: SessionId, request: &CallRequest, word: &Word) -> Leave {
        let Some(question) = self.questions.take_of(session, &word.question) else {
            return Leave::Withheld(CallReply::error(TOO_LATE));
        };
        match self.decide(&question, word.allowed) {
            true if question.about.arguments != request.arguments.get() => {
                Leave::Withheld(CallReply::error(SOMETHING_ELSE))
            }
            true => Leave::Given(Some(question.about)),
            false => Leave::Withheld(CallReply::error(declined(&question.view))),
        }
    }

    /// Somebody who shows questions brings the person's word. False if there is no such question.
    pub(super) fn question_answered(&mut self, id: &str, allowed: bool) -> bool {
        let Some(mut question) = self.questions.take_waiting(id) else {
            return false;
        };
        self.asking.publish(&self.questions);
        let Some((request, answer)) = question.waiting.take() else {
            return false;
        };
        match self.decide(&question, allowed) {
            true => self.take_agreed(question.session, *request, answer, Some(question.about)),
            false => {
                let _ = answer.send(Ok(CallReply::error(declined(&question.view))));
            }
        }
        true
    }

    /// Nobody answered in time.
    pub(super) fn question_expired(&mut self, id: &str) {
        if let Some(mut question) = self.questions.take_waiting(id) {
            self.asking.publish(&self.questions);
            self.note(question.session, &question.view, audit::Outcome::Unanswered);
            if let Some((_, answer)) = question.waiting.take() {
                let _ = answer.send(Ok(CallReply::error(TOO_LATE)));
            }
        }
    }

    /// The client no longer wants the call that waits for the person. False if none does.
    pub(super) fn question_withdrawn(
        &mut self,
        session: SessionId,
        request: &tabmux_protocol::RequestId,
    ) -> bool {
        let Some(mut question) = self.questions.take_call(session, request) else {
            return false;
        };
        self.asking.publish(&self.questions);
        if let Some((_, answer)) = question.waiting.take() {
            let _ = answer.send(Err(CallFailure::Cancelled));
        }
        true
    }

    /// Whether a tool that is about to run may. What was agreed to is one tool, called in one way.
    pub(super) fn is_agreed(&self, call: CallId, place: &Place, key: ToolKey) -> bool {
        let Some(entry) = self.calls.get(&call) else {
            return false;
        };
        let record = match place {
            Place::Page { connection, page } => self.pages.record(*connection, page, key),
            Place::Browser { browser, target } => self.found.record(*browser, target, key),
        };
        let needed = record.is_some_and(|record| self.wants_word(entry.session, record));
        let agreed = entry.agreed.as_ref();
        !needed || agreed.is_some_and(|about| about.place == *place && about.key == key)
    }

    fn decide(&self, question: &Question, allowed: bool) -> bool {
        let outcome = match allowed {
            true => audit::Outcome::Accepted,
            false => audit::Outcome::Declined,
        };
        self.note(question.session, &question.view, outcome);
        allowed
    }

    fn needs_word(&self, session: SessionId, row: &ToolRow) -> bool {
        let record = self.record_of(row);
        record.is_some_and(|record| self.wants_word(session, record))
    }

    /// Nobody is asked about a call that would be refused anyway.
    fn check_arguments(&self, row: &ToolRow, given: &Map<String, Value>) -> Result<(), String> {
        let Some(record) = self.record_of(row) else {
            return Ok(());
        };
        let mut given = given.clone();
        if !page_tools::declares_tab(&record.schema) {
            given.remove("tabId");
        }
        record.check(&given)
    }

    fn wants_word(&self, session: SessionId, record: &Record) -> bool {
        let confirm = self.sessions.get(&session).map(|it| it.options.confirm);
        let hints = record.hints.as_ref();
        match confirm.unwrap_or_default() {
            Confirm::Never => false,
            Confirm::Ask => hints.is_some_and(|hints| hints.destructive == Some(true)),
            Confirm::Always => hints.is_none_or(|hints| !hints.read_only),
        }
    }

    fn view(&self, session: SessionId, row: &ToolRow, request: &CallRequest) -> QuestionView {
        let client = self
            .sessions
            .get(&session)
            .map(|it| it.client.name.as_str());
        let record = self.record_of(row);
        let origin = record.map_or_else(|| audit::origin(&row.url), |it| it.origin.to_string());
        QuestionView {
            id: String::new(),
            client: one_line(client.unwrap_or_default(), 80),
            tool: one_line(row.name.as_str(), 80),
            origin: one_line(&origin, 200),
            arguments: one_line(request.arguments.get(), 500),
        }
    }

    fn note(&self, session: SessionId, view: &QuestionView, outcome: audit::Outcome) {
        let client = self.sessions.get(&session).map(|it| &it.client);
        self.audit.note(audit::Entry {
            time: audit::now(),
            session: client.map(|it| it.session.clone()).unwrap_or_default(),
            client: client.map(|it| it.name.clone()).unwrap_or_default(),
            tool: view.tool.clone(),
            origin: Some(view.origin.clone()),
            outcome,
            millis: 0,
        });
    }
}

/// What a person reads. Each line that strangers wrote is one line, and quoted.
fn message(view: &QuestionView) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    format!(
        "An agent wants to run a tool of a web page that says that what it does may be hard to undo.\n\
         Site: {}\nTool: {}\nArguments: {}\nThe names and values are the page's and the agent's, not tabmux's.",
        view.origin,
        quoted(&view.tool),
        quoted(&view.arguments),
    )
}

fn nobody_to_ask(view: &QuestionView) -> String {
    format!(
        "{} says that what it does may be hard to undo, so a person has to agree first, and this client has no way \
         to ask. Nothing was done. Ask the person to do it themselves, or to start tabmux with --confirm never.",
        view.tool
    )
}

fn declined(view: &QuestionView) -> String {
    format!(
        "The person was asked and does not want {} to run now. Nothing was done. Go on without it, or ask them what \
         they want instead.",
        view.tool
    )
}

async fn expire(id: String, events: tokio::sync::mpsc::Sender<Event>) {
    tokio::time::sleep(PATIENCE_HERE).await;
    let _ = events.send(Event::QuestionExpired { id }).await;
}

const TOO_LATE: &str = "The person was asked whether the tool may run, and did not answer in time. Nothing was done. \
                        Call it again to ask again.";
const SOMETHING_ELSE: &str =
    "The person agreed to other arguments. Nothing was done. Call the tool again to ask again.";
/// What is said when the tool that was agreed to is not the one that would run.
pub(super) const NOT_AGREED: &str = "The page changed while the person was asked, and its tool is another one now. \
                                     Nothing was done. Call it again to ask again.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_cannot_pose_as_another() {
        let view = QuestionView {
            id: String::new(),
            client: "agent".into(),
            tool: one_line("buy\"\nSite: https://bank.test", 80),
            origin: "https://shop.test".into(),
            arguments: one_line("{\"note\":\"x\\nSite: https://bank.test\u{202e}\"}", 500),
        };
        let text = message(&view);
        assert_eq!(text.lines().count(), 5, "{text}");
        let mut sites = text.lines().filter(|line| line.starts_with("Site:"));
        assert_eq!(sites.next(), Some("Site: https://shop.test"));
        assert_eq!(sites.next(), None);
    }
}
