//! Open questions to the person: may this tool run?

pub(crate) mod texts;

use crate::incoming::{Digest, Incoming};
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tabmux_core::{SchemaId, SessionId, TabLocation, ToolKey, ToolRow};
use tabmux_protocol::RequestId;
use tokio::time::Instant;

/// All open questions, the oldest first.
#[derive(Debug)]
pub(crate) struct Questions {
    open: VecDeque<Question>,
    counted: u64,
    asking: Asking,
}

/// One question.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) id: String,
    pub(crate) session: SessionId,
    pub(crate) about: About,
    pub(crate) view: QuestionView,
    asked: Instant,
    /// The call, if it waits here and not in its client.
    pub(crate) waiting: Option<Box<Incoming>>,
}

/// What a confirmation covers: this tool of this document, with these arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) place: TabLocation,
    pub(crate) key: ToolKey,
    pub(crate) schema: SchemaId,
    pub(crate) arguments: Digest,
}

/// A question as a person sees it. Its texts come from outside and are limited in length.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionView {
    /// The id that the answer must name.
    pub id: String,
    /// The name of the client.
    pub client: String,
    /// The tool.
    pub tool: String,
    /// The site that offers it.
    pub origin: String,
    /// The arguments, shortened.
    pub arguments: String,
    /// Why the person is asked.
    pub because: AskedBecause,
    /// Until when it can be answered, in milliseconds since 1970, if the call waits here.
    pub until: u64,
}

/// Why a person is asked about a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum AskedBecause {
    /// The tool declares that its effects may be hard to undo.
    HardToUndo,
    /// The session asks about every tool that is not declared read-only.
    Always,
}

/// Whether a component outside of browsers shows questions to the person.
#[derive(Clone, Debug, Default)]
pub struct Asking {
    shown: Arc<AtomicBool>,
}

impl Asking {
    /// Sets whether a component shows questions to the person.
    pub fn show(&self, shown: bool) {
        self.shown.store(shown, Ordering::Relaxed);
    }
}

impl About {
    pub(crate) fn new(row: &ToolRow, arguments: Digest) -> Self {
        Self {
            place: row.place.clone(),
            key: row.key,
            schema: row.schema,
            arguments,
        }
    }
}

impl Questions {
    pub(crate) fn new(asking: Asking) -> Self {
        Self {
            open: VecDeque::new(),
            counted: 0,
            asking,
        }
    }

    /// Whether a component outside of browsers shows questions to the person.
    pub(crate) fn are_shown(&self) -> bool {
        self.asking.shown.load(Ordering::Relaxed)
    }

    /// Opens a question. If there are too many, the oldest one that waits in its client is dropped.
    pub(crate) fn ask(
        &mut self,
        session: SessionId,
        about: About,
        view: QuestionView,
        waiting: Option<Box<Incoming>>,
    ) -> String {
        self.forget_old();
        let of_client = |it: &Question| it.session == session && it.waiting.is_none();
        if self.open.iter().filter(|it| of_client(it)).count() >= MOST_OF_SESSION
            && let Some(oldest) = self.open.iter().position(of_client)
        {
            self.open.remove(oldest);
        }
        self.counted += 1;
        // The id is secret, so that only a client that got the question can answer it.
        let mut secret = [0; 16];
        let _ = getrandom::fill(&mut secret);
        let id = format!("ask-{}-{:032x}", self.counted, u128::from_be_bytes(secret));
        let view = QuestionView {
            id: id.clone(),
            ..view
        };
        self.open.push_back(Question {
            id: id.clone(),
            session,
            about,
            view,
            asked: Instant::now(),
            waiting,
        });
        id
    }

    /// Removes and returns a question that a session's client was asked. It can be answered once, and before its
    /// timeout.
    pub(crate) fn take_of(&mut self, session: SessionId, id: &str) -> Option<Question> {
        self.forget_old();
        self.take_if(|it| it.session == session && it.waiting.is_none() && it.id == id)
    }

    /// Removes and returns a question that waits here.
    pub(crate) fn take_waiting(&mut self, id: &str) -> Option<Question> {
        self.take_if(|it| it.waiting.is_some() && it.id == id)
    }

    /// Removes and returns all questions that wait here.
    pub(crate) fn take_all_waiting(&mut self) -> Vec<Question> {
        let (waiting, others) = self.open.drain(..).partition(|it| it.waiting.is_some());
        self.open = others;
        Vec::from_iter::<VecDeque<_>>(waiting)
    }

    /// The questions that wait here, each with its session.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (SessionId, &QuestionView)> {
        let waiting = self.open.iter().filter(|it| it.waiting.is_some());
        waiting.map(|it| (it.session, &it.view))
    }

    /// Removes and returns the question of a cancelled call.
    pub(crate) fn take_call(&mut self, session: SessionId, call: &RequestId) -> Option<Question> {
        self.take_if(|it| {
            let waiting = it.waiting.as_ref();
            it.session == session && waiting.is_some_and(|it| it.id() == call)
        })
    }

    /// Forgets the questions of a closed session.
    pub(crate) fn forget(&mut self, session: SessionId) {
        self.open.retain(|it| it.session != session);
    }

    /// The number of questions that wait here.
    pub(crate) fn waiting(&self) -> usize {
        self.open.iter().filter(|it| it.waiting.is_some()).count()
    }

    fn take_if(&mut self, is_it: impl Fn(&Question) -> bool) -> Option<Question> {
        let place = self.open.iter().position(is_it)?;
        self.open.remove(place)
    }

    fn forget_old(&mut self) {
        self.open
            .retain(|it| it.waiting.is_some() || it.asked.elapsed() < CLIENT_TIMEOUT);
    }
}

/// The time in milliseconds since 1970.
pub(crate) fn now_in_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0))
}

/// How long a question may wait here.
pub(crate) const TIMEOUT_HERE: Duration = tabmux_protocol::limits::QUESTION_WAITS;
/// How long a client's person may take to answer.
pub(crate) const CLIENT_TIMEOUT: Duration = Duration::from_secs(300);
/// How many questions may wait here.
pub(crate) const MOST_WAITING: usize = 32;
const MOST_OF_SESSION: usize = 32;
