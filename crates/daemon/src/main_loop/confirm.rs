//! Confirmations: a person is asked before a tool runs whose effects may be hard to undo.
//!
//! The client asks them: it gets the question as the reply to its call, and calls again with their answer. If the
//! client cannot ask, the side panel does, while the call waits here.

use super::call_events::Wanted;
use super::page_calls::{check, report};
use super::{Event, MainLoop, PagesEvent};
use crate::audit;
use crate::incoming::Digest;
use crate::policy::reread;
use crate::questions::texts::{
    KEEPS_CHANGING, NOT_AGREED, SOMETHING_ELSE, TOO_LATE, cannot_be_asked, declined,
    declined_by_client, message,
};
use crate::questions::{
    About, AskedBecause, MOST_WAITING, Question, QuestionView, TIMEOUT_HERE, now_in_millis,
};
use crate::record::Record;
use serde_json::{Map, Value};
use std::sync::Arc;
use tabmux_browser::ToolError;
use tabmux_core::{CallId, SessionId, TabLocation, ToolKey, ToolRow};
use tabmux_protocol::session::Confirm;
use tabmux_protocol::{CallFailure, CallReply, Decision};
use tabmux_text::one_line;

/// The arguments of a call, checked against a tool's schema.
#[derive(Debug)]
pub(crate) struct Checked {
    record: Arc<Record>,
    /// The arguments, shortened for a person, or what is wrong with them.
    outcome: Result<String, String>,
    /// How often they were checked, because the page changed its tool meanwhile.
    rounds: u32,
}

impl MainLoop {
    /// Returns a call that needs no confirmation or already has it, with the tool that was confirmed. Otherwise the
    /// call gets a reply, or waits here for the person.
    pub(super) fn confirmed(
        &mut self,
        session: SessionId,
        wanted: Wanted,
        checked: Option<Checked>,
    ) -> Option<(Wanted, Option<About>)> {
        match self.needed_for(session, &wanted, checked) {
            Needed::Nothing => Some((wanted, None)),
            Needed::Given(about) => Some((wanted, Some(about))),
            Needed::Reply(reply) => {
                let _ = wanted.answer.send(Ok(*reply));
                None
            }
            Needed::Here(about, view) => {
                self.wait_here(session, wanted, about, view);
                None
            }
            Needed::Check { record, rounds } => {
                let name = wanted.request.request_id.clone();
                self.calls.before_asking.insert((session, name));
                let given = Arc::clone(&wanted.parsed.page_arguments);
                let (call, events) = (wanted.for_later(), self.events.clone());
                let policy_reader = self.panel.rules.file.policy_reader();
                tokio::spawn(async move {
                    let outcome = check_and_show(&record, given).await;
                    reread(policy_reader.as_ref()).await;
                    let checked = PagesEvent::CallChecked {
                        session,
                        call,
                        checked: Checked {
                            record,
                            outcome,
                            rounds,
                        },
                    };
                    report(&events, checked).await;
                });
                None
            }
        }
    }

    fn needed_for(
        &mut self,
        session: SessionId,
        wanted: &Wanted,
        checked: Option<Checked>,
    ) -> Needed {
        let Wanted {
            request, parsed, ..
        } = wanted;
        if self.core.is_paused() {
            return Needed::Nothing; // The call will be refused anyway.
        }
        if let Some(decision) = &request.asking.word {
            return self.client_answered(session, wanted.digest, decision);
        }
        let Some(row) = self.core.tool_of_call(session, &parsed.kind) else {
            return Needed::Nothing; // It is not a page tool.
        };
        let Some(record) = self.page_tools.record(&row.place, row.key) else {
            return Needed::error(self.fitting(session, &ToolError::ToolGone.to_string()));
        };
        let Some(because) = self.reason_to_ask(session, record) else {
            return Needed::Nothing;
        };
        let rounds = checked.as_ref().map_or(0, |checked| checked.rounds);
        let Some(checked) = checked.filter(|checked| Arc::ptr_eq(&checked.record, record)) else {
            if rounds >= MOST_ROUNDS {
                return Needed::error(KEEPS_CHANGING);
            }
            return Needed::Check {
                record: Arc::clone(record),
                rounds: rounds + 1,
            };
        };
        let shown = match checked.outcome {
            Ok(shown) => shown,
            Err(why) => return Needed::error(why),
        };
        let about = About::new(&row, wanted.digest);
        let view = self.view(session, &row, shown, because);
        if request.asking.can_ask {
            self.note(session, &view, audit::Outcome::Asked);
            let message = message(&view);
            let id = self.calls.questions.ask(session, about, view, None);
            return Needed::Reply(Box::new(CallReply::question(id, message)));
        }
        if !self.are_questions_shown() || self.calls.questions.waiting() >= MOST_WAITING {
            self.note(session, &view, audit::Outcome::Unanswered);
            return Needed::error(cannot_be_asked(&view));
        }
        Needed::Here(about, view)
    }

    /// Keeps the call here until the person answers, or a timeout passes.
    fn wait_here(&mut self, session: SessionId, wanted: Wanted, about: About, view: QuestionView) {
        self.note(session, &view, audit::Outcome::Asked);
        let waiting = Some(wanted.for_later());
        let id = self.calls.questions.ask(session, about, view, waiting);
        tokio::spawn(expire(id, self.events.clone()));
    }

    /// The person paused all agents: refuses the calls that wait for a confirmation, like all others.
    pub(super) fn questions_paused(&mut self) {
        for mut question in self.calls.questions.take_all_waiting() {
            if let Some(call) = question.waiting.take() {
                self.take_call(question.session, call);
            }
        }
    }

    /// The client sends the person's answer.
    fn client_answered(
        &mut self,
        session: SessionId,
        arguments: Digest,
        decision: &Decision,
    ) -> Needed {
        let Some(question) = self.calls.questions.take_of(session, &decision.question) else {
            return Needed::error(TOO_LATE);
        };
        match self.decide(&question, decision.allowed) {
            true if question.about.arguments != arguments => Needed::error(SOMETHING_ELSE),
            true => Needed::Given(question.about),
            false => Needed::error(declined_by_client(&question.view)),
        }
    }

    /// The person answered in the side panel. False if there is no such question.
    pub(super) fn question_answered(&mut self, id: &str, allowed: bool) -> bool {
        let Some(mut question) = self.calls.questions.take_waiting(id) else {
            return false;
        };
        let Some(call) = question.waiting.take() else {
            return false;
        };
        match self.decide(&question, allowed) {
            true => self.take_agreed(question.session, call, question.about),
            false => call.answer(CallReply::error(declined(&question.view))),
        }
        true
    }

    /// The question was not answered in time.
    pub(super) fn question_expired(&mut self, id: &str) {
        if let Some(mut question) = self.calls.questions.take_waiting(id) {
            self.note(question.session, &question.view, audit::Outcome::Unanswered);
            if let Some(call) = question.waiting.take() {
                call.answer(CallReply::error(TOO_LATE));
            }
        }
    }

    /// The client cancelled a call that waits for the person. False if there is none.
    pub(super) fn question_withdrawn(
        &mut self,
        session: SessionId,
        request: &tabmux_protocol::RequestId,
    ) -> bool {
        let Some(mut question) = self.calls.questions.take_call(session, request) else {
            return false;
        };
        if let Some(call) = question.waiting.take() {
            let _ = call.answer.send(Err(CallFailure::Cancelled));
        }
        true
    }

    /// Whether a tool that is about to run is allowed, or why not. A confirmation covers one tool with one set of
    /// arguments.
    pub(super) fn check_agreed(
        &self,
        call: CallId,
        place: &TabLocation,
        key: ToolKey,
    ) -> Result<(), String> {
        let record = self.page_tools.record(place, key);
        let record = record.ok_or_else(|| ToolError::ToolGone.to_string())?;
        let entry = self.calls.get(call).ok_or(NOT_AGREED)?;
        if self.reason_to_ask(entry.session, record).is_none() {
            return Ok(());
        }
        match &entry.agreed {
            Some(about) if about.place == *place && about.key == key => Ok(()),
            _ => Err(NOT_AGREED.to_owned()),
        }
    }

    fn are_questions_shown(&self) -> bool {
        self.calls.questions.are_shown() || self.panel.can_be_asked()
    }

    fn decide(&self, question: &Question, allowed: bool) -> bool {
        let outcome = match allowed {
            true => audit::Outcome::Accepted,
            false => audit::Outcome::Declined,
        };
        self.note(question.session, &question.view, outcome);
        allowed
    }

    /// Why the person must confirm this tool, if they must.
    fn reason_to_ask(&self, session: SessionId, record: &Record) -> Option<AskedBecause> {
        let confirm = self
            .sessions
            .get(session)
            .map(|it| it.options.given.confirm);
        let hints = record.hints.as_ref();
        let is_claimed = hints.is_some_and(|hints| hints.destructive == Some(true));
        let only_reads = hints.is_some_and(|hints| hints.read_only);
        match confirm.unwrap_or_default() {
            Confirm::Never => None,
            _ if is_claimed => Some(AskedBecause::HardToUndo),
            Confirm::Ask => None,
            Confirm::Always => (!only_reads).then_some(AskedBecause::Always),
        }
    }

    fn view(
        &self,
        session: SessionId,
        row: &ToolRow,
        arguments: String,
        because: AskedBecause,
    ) -> QuestionView {
        let client = self.sessions.get(session).map(|it| it.client.name.as_str());
        let record = self.page_tools.record(&row.place, row.key);
        let origin = record.map_or_else(|| audit::origin(&row.url), |it| it.origin.to_string());
        QuestionView {
            id: String::new(),
            client: one_line(client.unwrap_or_default(), 80),
            tool: one_line(row.name.as_str(), 80),
            origin: one_line(&origin, 200),
            arguments,
            because,
            until: now_in_millis().saturating_add(TIMEOUT_HERE.as_secs() * 1_000),
        }
    }

    fn note(&self, session: SessionId, view: &QuestionView, outcome: audit::Outcome) {
        let client = self.sessions.get(session).map(|it| &it.client);
        self.calls.audit.note(audit::Entry {
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

/// Which confirmation a call needs before it may run.
enum Needed {
    /// None.
    Nothing,
    /// It has been confirmed.
    Given(About),
    /// It is not confirmed; this is the reply.
    Reply(Box<CallReply>),
    /// A confirmation, after its arguments are checked against this tool's schema: the person is not asked about a
    /// call that would be refused anyway.
    Check { record: Arc<Record>, rounds: u32 },
    /// A confirmation, for which it waits here.
    Here(About, QuestionView),
}

impl Needed {
    fn error(why: impl Into<String>) -> Self {
        Self::Reply(Box::new(CallReply::error(why.into())))
    }
}

/// Checks arguments against a tool's schema, and formats them for the person.
async fn check_and_show(
    record: &Arc<Record>,
    given: Arc<Map<String, Value>>,
) -> Result<String, String> {
    check(record, given, |_, given| {
        // The parsed arguments, not the agent's text.
        let text = serde_json::to_string(given).unwrap_or_default();
        one_line(&text, 500)
    })
    .await
}

async fn expire(id: String, events: tokio::sync::mpsc::Sender<Event>) {
    tokio::time::sleep(TIMEOUT_HERE).await;
    let _ = events.send(Event::QuestionExpired { id }).await;
}

/// Gives up on a page that changes its tool this often while it is checked.
const MOST_ROUNDS: u32 = 3;
