//! Calls of WebMCP tools that wait for their answers.

use crate::tab::{DocumentId, Frames};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tabmux_cdp::types::web_mcp::{InvocationStatus, ToolResponded};
use tabmux_cdp::{Event, MAX_EVENT, RawEvent, TooLarge};
use tokio::sync::oneshot;

/// The calls of one tab. All answers arrive here, including those to calls that the page made itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Invocations(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    /// How many calls were sent and have no id yet.
    unnamed: usize,
    /// Answers that came before the id of their call.
    early: VecDeque<Answer>,
    waiting: HashMap<String, oneshot::Sender<Answer>>,
}

/// An answer, and the frames at the time it came: when it is read, the tab may show something else.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) said: ToolResponded,
    pub(super) shown: Vec<DocumentId>,
}

/// A call that has been sent and has no id yet; its answer may come before its id.
#[derive(Debug)]
pub(super) struct Unnamed(Invocations);

/// A call that waits for its answer, until dropped.
#[derive(Debug)]
pub(super) struct Waiting {
    calls: Invocations,
    id: String,
    answer: oneshot::Receiver<Answer>,
}

impl Invocations {
    /// Applies an answer. Only the first one counts: a tool that returns and navigates gets two. `frames` are the
    /// current ones of the tab.
    pub(crate) fn apply(&self, event: &RawEvent, frames: &Frames) -> bool {
        let said = match event.too_large() {
            Some(cut) if event.method() == ToolResponded::METHOD => too_large(cut),
            _ => event.decode::<ToolResponded>(),
        };
        let Some(said) = said else {
            return false;
        };
        let shown = frames.iter().map(|frame| frame.document).collect();
        let answer = Answer { said, shown };
        let mut table = self.lock();
        if let Some(waiting) = table.waiting.remove(&answer.said.invocation_id) {
            let _ = waiting.send(answer);
        } else if table.unnamed > 0 {
            if table.early.len() >= MAX_EARLY {
                table.early.pop_front();
            }
            table.early.push_back(answer);
        }
        true
    }

    /// A call is about to be sent.
    pub(super) fn begin(&self) -> Unnamed {
        self.lock().unnamed += 1;
        Unnamed(self.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Unnamed {
    /// Chrome has assigned the call's id.
    pub(super) fn named(self, id: String) -> Waiting {
        let (send, answer) = oneshot::channel();
        let mut table = self.0.lock();
        let early = table
            .early
            .iter()
            .position(|early| early.said.invocation_id == id);
        match early.and_then(|early| table.early.remove(early)) {
            Some(early) => drop(send.send(early)),
            None => drop(table.waiting.insert(id.clone(), send)),
        }
        drop(table);
        Waiting {
            calls: self.0.clone(),
            id,
            answer,
        }
    }
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        let mut table = self.0.lock();
        table.unnamed = table.unnamed.saturating_sub(1);
        if table.unnamed == 0 {
            table.early.clear();
        }
    }
}

impl Waiting {
    /// Chrome's id of the call.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The answer. Never comes if the document was left for another reason than the call.
    pub(super) async fn answer(&mut self) -> Answer {
        match (&mut self.answer).await {
            Ok(answer) => answer,
            Err(_) => std::future::pending().await,
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.calls.lock().waiting.remove(&self.id);
    }
}

/// An answer that was too large to keep counts as a failure of the tool.
fn too_large(cut: &TooLarge) -> Option<ToolResponded> {
    Some(ToolResponded {
        invocation_id: cut.find("invocationId")?,
        status: InvocationStatus::ERROR,
        error_text: Some(format!(
            "its answer has {} MB, the limit is {} MB",
            cut.bytes / 1_000_000,
            MAX_EVENT / 1_000_000
        )),
        ..Default::default()
    })
}

/// Answers may be large; there are never more calls without an id than this.
const MAX_EARLY: usize = 16;
