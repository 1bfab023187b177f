//! One call of `run_steps`, from its arguments to its answer.

use super::check::uids;
use super::plan::Plan;
use super::report::{Report, text_of};
use super::{Continued, NAME, Outcome, Steps};
use crate::convert::{self, Role};
use crate::handle::Submitter;
use crate::main_loop::Answer;
use crate::questions::CLIENT_TIMEOUT;
use serde::Deserialize;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};
use tabmux_browser::ToolError;
use tabmux_protocol::{Asking, CallFailure, CallReply, CallRequest, Content, Decision, RequestId};
use tabmux_text::one_line;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

/// A running call.
pub(super) struct Run {
    steps: Steps,
    pub(super) calls: Submitter,
    request: CallRequest,
    answer: Option<Answer>,
    cancel: CancellationToken,
    /// How many calls were made, for their names.
    made: usize,
    /// What the answers of steps said about the session's tools and browsers. It is said only once.
    notes: Vec<String>,
    deadline: Instant,
}

/// The tab between two steps.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Between {
    /// The session's number of the tab.
    #[serde(skip)]
    pub(super) tab: Option<u64>,
    pub(super) document: String,
    pub(super) url: String,
    pub(super) dialog: Option<String>,
    missing: Vec<String>,
}

/// Why the steps end before the last one.
pub(super) enum End {
    /// The report says why.
    Stopped,
    /// The call was cancelled or its session ended, so there is no report.
    Failed(CallFailure),
}

impl From<CallFailure> for End {
    fn from(failure: CallFailure) -> Self {
        Self::Failed(failure)
    }
}

impl Run {
    pub(super) fn new(
        steps: Steps,
        calls: Submitter,
        request: CallRequest,
        answer: Answer,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            steps,
            calls,
            request,
            answer: Some(answer),
            cancel,
            made: 0,
            notes: Vec::new(),
            deadline: Instant::now(),
        }
    }

    /// Runs the steps and answers the call.
    pub(super) async fn run(mut self) {
        let outcome = self.outcome().await;
        self.reply(outcome);
    }

    fn reply(&mut self, outcome: Outcome) {
        self.steps.ended(&self.request.request_id);
        if let Some(answer) = self.answer.take() {
            let _ = answer.send(outcome);
        }
    }

    async fn outcome(&mut self) -> Outcome {
        let mut plan = match Plan::read(self.request.arguments.get()) {
            Ok(plan) => plan,
            Err(why) => return Ok(refused(&why)),
        };
        self.deadline = Instant::now() + plan.limit;
        if let Some(why) = self.fault(&mut plan).await? {
            return Ok(refused(&why));
        }
        let begun = json!({ "begin": { "uids": uids(&plan), "changes": plan.changes } });
        let reply = self.stage(&plan, begun, Role::Look).await?;
        if reply.is_error {
            return Ok(reply);
        }
        let between = Between::in_reply(&reply);
        let first_step = plan.steps.first().map(|step| step.tool.as_str());
        if let Some(dialog) = between.dialog.as_deref()
            && first_step != Some("handle_dialog")
        {
            return Ok(refused(&format!(
                "{} Call handle_dialog, or make it the first step",
                one_line(dialog, 500)
            )));
        }
        if let Some(uid) = between.missing.first() {
            return Ok(refused(&format!(
                "no element has the uid {}. Call take_snapshot or find, or name it by role and name",
                one_line(uid, 40)
            )));
        }
        if let Some(why) = self.stay_in(&mut plan, between.tab).await? {
            return Ok(refused(&why));
        }
        let first = between.document.clone();
        let mut report = Report::new(plan.most_calls());
        match self.make(&plan, between, &mut report).await {
            Ok(()) | Err(End::Stopped) => {}
            Err(End::Failed(failure)) => return Err(failure),
        }
        let ending = json!({ "end": { "document": first, "changes": plan.changes } });
        let ended = self.stage(&plan, ending, Role::Call).await?;
        if !ended.is_error {
            report.changes = text_of(&ended);
        }
        report.notes = std::mem::take(&mut self.notes);
        Ok(report.reply())
    }

    /// Makes the call of a step, which must succeed.
    pub(super) async fn step(
        &mut self,
        place: usize,
        tool: &str,
        arguments: &Map<String, Value>,
        report: &mut Report,
    ) -> Result<CallReply, End> {
        let reply = self.call_within(place, tool, arguments, report).await?;
        if reply.is_error {
            report.failed(place, tool, arguments, &text_of(&reply));
            return Err(End::Stopped);
        }
        Ok(reply)
    }

    /// Makes a call within the time that is left, and asks the person if that is needed.
    pub(super) async fn call_within(
        &mut self,
        place: usize,
        tool: &str,
        arguments: &Map<String, Value>,
        report: &mut Report,
    ) -> Result<CallReply, End> {
        let mut word = None;
        loop {
            self.made += 1;
            let mut request = self.call(tool, arguments, &self.made.to_string());
            request.asking = Asking {
                can_ask: self.request.asking.can_ask,
                word: word.take(),
            };
            let id = request.request_id.clone();
            let reply = self.calls.submit_step(request).await?;
            let reply = tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    self.calls.cancel(&id);
                    return Err(CallFailure::Cancelled.into());
                }
                reply = timeout_at(self.deadline, reply) => reply,
            };
            let reply = match reply {
                Ok(Err(CallFailure::UnknownTool { .. })) => {
                    CallReply::error(ToolError::ToolGone.to_string())
                }
                Ok(reply) => reply?,
                Err(_) => {
                    self.calls.cancel(&id);
                    report.stop(place, TIME_IS_OVER);
                    return Err(End::Stopped);
                }
            };
            match reply.question {
                None => return Ok(self.keep_notes(reply, convert::names_new_tools)),
                Some(_) => word = Some(self.ask(reply).await?),
            }
        }
    }

    /// Passes a question about a step to the client, which calls again with the person's answer.
    async fn ask(&mut self, question: CallReply) -> Result<Decision, CallFailure> {
        let asked = Instant::now();
        let id = question.question.as_ref().map(|it| it.id.clone());
        let id = id.unwrap_or_default();
        let continued = self.steps.wait(&id);
        self.reply(Ok(question));
        let Ok(Ok(continued)) = timeout(CLIENT_TIMEOUT, continued).await else {
            // There is no call to answer. One that comes later is told that it is too late.
            self.steps.forget(&id);
            return Err(CallFailure::Cancelled);
        };
        let Continued {
            request,
            decision,
            answer,
            cancel,
        } = continued;
        self.request.request_id = request;
        self.answer = Some(answer);
        self.cancel = cancel;
        // The time in which a person thinks does not count.
        self.deadline += asked.elapsed();
        Ok(decision)
    }

    /// Which document the tab shows after a step, and whether a dialog is open.
    pub(super) async fn look(
        &mut self,
        plan: &Plan,
        place: usize,
        report: &mut Report,
    ) -> Result<Between, End> {
        let look = json!({ "look": {} });
        let reply = self.stage(plan, look, Role::Look).await?;
        match reply.is_error {
            false => Ok(Between::in_reply(&reply)),
            true => {
                report.stop(place, one_line(&text_of(&reply), 500));
                Err(End::Stopped)
            }
        }
    }

    /// Asks the page about its state, by the tool itself.
    async fn stage(&mut self, plan: &Plan, stage: Value, role: Role) -> Outcome {
        let mut arguments = plan.tab.clone();
        arguments.insert("steps".into(), json!([]));
        arguments.insert("stage".into(), stage);
        self.made += 1;
        let request = self.call(NAME, &arguments, &self.made.to_string());
        let id = request.request_id.clone();
        let reply = match role {
            Role::Look => self.calls.submit_look(request).await?,
            _ => self.calls.submit(request).await?,
        };
        // The last one has a time limit of its own, because it tells what was done.
        let reply = tokio::select! {
            biased;
            () = self.cancel.cancelled() => {
                self.calls.cancel(&id);
                return Err(CallFailure::Cancelled);
            }
            () = sleep_until(self.deadline), if role == Role::Look => {
                self.calls.cancel(&id);
                return Ok(CallReply::error(TIME_IS_OVER));
            }
            reply = reply => reply?,
        };
        let mut is_first = true;
        // The answer of a stage is one text; what follows are notes.
        Ok(self.keep_notes(reply, |_| !std::mem::take(&mut is_first)))
    }

    /// Keeps the notes of an answer for that of the whole call.
    fn keep_notes(
        &mut self,
        mut reply: CallReply,
        mut is_note: impl FnMut(&str) -> bool,
    ) -> CallReply {
        reply.content.retain(|content| match content {
            Content::Text { text } if is_note(text) => {
                self.notes.push(text.clone());
                false
            }
            _ => true,
        });
        reply
    }

    pub(super) fn call(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        number: &str,
    ) -> CallRequest {
        let id = &self.request.request_id;
        CallRequest {
            request_id: RequestId(format!("{id}/{number}")),
            tool: tool.to_owned(),
            arguments: to_raw_value(arguments).unwrap_or_default(),
            progress: false,
            asking: Asking::default(),
        }
    }
}

impl Between {
    fn in_reply(reply: &CallReply) -> Self {
        let between: Self = serde_json::from_str(&text_of(reply)).unwrap_or_default();
        let number = reply.structured.as_ref();
        let number = number.and_then(|number| serde_json::from_str(number.get()).ok());
        Self {
            tab: number,
            ..between
        }
    }
}

fn refused(why: &str) -> CallReply {
    CallReply::error(format!("Nothing was done: {why}."))
}

const TIME_IS_OVER: &str =
    "the time for all steps is over. Give a longer `timeout`, or fewer steps.";
