//! `run_steps`: several calls in one. Each step is an ordinary call of the same session, so policy, confirmations, the
//! audit log, deadlines and cancelling hold for it as if the client had made it alone.

mod check;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod placeholders;
mod plan;
mod report;
mod results;
mod rounds;
mod run;

use crate::handle::{Reply, Submitter};
use crate::main_loop::Answer;
use crate::questions::texts::STEPS_TOO_LATE;
use run::Run;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tabmux_protocol::{CallFailure, CallReply, CallRequest, Decision, RequestId};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// The tool's name.
pub(crate) const NAME: &str = tabmux_protocol::limits::STEPS_TOOL;

/// The calls of one session that have several steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps(Arc<Mutex<Open>>);

#[derive(Debug, Default)]
struct Open {
    running: HashMap<RequestId, CancellationToken>,
    /// Calls that wait for a person's answer, by the question's id.
    waiting: HashMap<String, oneshot::Sender<Continued>>,
}

/// The client calls again, with the answer to the question about a step.
#[derive(Debug)]
struct Continued {
    request: RequestId,
    decision: Decision,
    answer: Answer,
    cancel: CancellationToken,
}

impl Steps {
    /// Begins a call, or continues one with a person's answer.
    pub(crate) fn begin(&self, calls: &Submitter, request: CallRequest) -> Reply {
        let (answer, reply) = oneshot::channel();
        let reply = Reply(reply);
        let mut open = self.open();
        let cancel = CancellationToken::new();
        let id = request.request_id.clone();
        if let Some(decision) = request.asking.word.clone() {
            let continued = Continued {
                request: id,
                decision,
                answer,
                cancel,
            };
            open.go_on(continued);
            return reply;
        }
        if open.is_full() {
            drop(answer.send(Ok(CallReply::error(TOO_MANY))));
            return reply;
        }
        let room = match calls.arguments.take(request.arguments.get()) {
            Ok(room) => room,
            Err(why) => {
                drop(answer.send(Ok(CallReply::error(why))));
                return reply;
            }
        };
        open.running.insert(id, cancel.clone());
        let run = Run::new(self.clone(), calls.clone(), request, answer, cancel);
        tokio::spawn(async move {
            run.run().await;
            drop(room);
        });
        reply
    }

    /// Cancels a call. False if it is none of these.
    pub(crate) fn cancel(&self, request: &RequestId) -> bool {
        let open = self.open();
        let cancel = open.running.get(request);
        cancel.inspect(|cancel| cancel.cancel()).is_some()
    }

    /// A call has its answer.
    fn ended(&self, request: &RequestId) {
        self.open().running.remove(request);
    }

    /// The receiver of a person's answer to this question.
    fn wait(&self, question: &str) -> oneshot::Receiver<Continued> {
        let (waiting, continued) = oneshot::channel();
        self.open().waiting.insert(question.to_owned(), waiting);
        continued
    }

    fn forget(&self, question: &str) {
        self.open().waiting.remove(question);
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Whether no other call may begin. Those that wait for a person go on in any case, so they are bounded here.
    fn is_full(&self) -> bool {
        let running = self.running.len();
        running >= MOST_RUNNING || running + self.waiting.len() >= MOST_OPEN
    }

    /// Passes a person's answer to the call that waits for it, if it still does.
    fn go_on(&mut self, continued: Continued) {
        let request = continued.request.clone();
        let cancel = continued.cancel.clone();
        let too_late = match self.waiting.remove(&continued.decision.question) {
            Some(waiting) => waiting.send(continued).err(),
            None => Some(continued),
        };
        match too_late {
            Some(late) => drop(late.answer.send(Ok(CallReply::error(STEPS_TOO_LATE)))),
            None => drop(self.running.insert(request, cancel)),
        }
    }
}

/// An answer or a failure.
type Outcome = Result<CallReply, CallFailure>;

const MOST_RUNNING: usize = 8;
/// With those that wait for a person.
const MOST_OPEN: usize = 32;
const TOO_MANY: &str = "The call was not made: too many calls of run_steps are running or wait for a person. Wait for \
                        one of them.";

#[cfg(test)]
mod tests {
    use super::*;

    fn continued(question: &str) -> (Continued, Reply) {
        let (answer, reply) = oneshot::channel();
        let continued = Continued {
            request: RequestId("again".into()),
            decision: Decision {
                question: question.into(),
                allowed: true,
            },
            answer,
            cancel: CancellationToken::new(),
        };
        (continued, Reply(reply))
    }

    #[tokio::test]
    async fn a_late_answer_is_told_what_was_done_and_takes_no_slot() {
        let steps = Steps::default();
        drop(steps.wait("expired"));
        for question in ["expired", "unknown"] {
            let (late, reply) = continued(question);
            steps.open().go_on(late);
            let reply = report::text_of(&reply.await.unwrap());
            assert_eq!(reply, STEPS_TOO_LATE);
        }
        assert!(steps.open().running.is_empty());
        let waiting = steps.wait("open");
        let (in_time, _reply) = continued("open");
        steps.open().go_on(in_time);
        assert_eq!(waiting.await.unwrap().decision.question, "open");
        assert_eq!(steps.open().running.len(), 1);
    }

    #[test]
    fn calls_that_wait_for_a_person_are_bounded_too() {
        let steps = Steps::default();
        let waiting = |n: usize| steps.wait(&n.to_string());
        let mut held: Vec<_> = (1..MOST_OPEN).map(waiting).collect();
        assert!(!steps.open().is_full());
        held.push(waiting(0));
        assert!(steps.open().is_full());
    }
}
