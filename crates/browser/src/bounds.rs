//! Which sites the current task may access.
//!
//! Several sessions can use one tab, each with its own policy. So the policy is not stored in the tab: it is a
//! task-local value, and is checked whenever the task accesses a document.

use crate::error::ToolError;
use crate::origins::{Blocked, OriginPolicy};
use crate::page_tools::PageAnswer;
use crate::tab::{Frame, FrameId, Tab, TabState};
use crate::tools::{Block, ToolOutput};
use crate::world::World;
use std::future::Future;

tokio::task_local! {
    static POLICY: OriginPolicy;
}

/// Runs `work` under this policy.
pub async fn within<F: Future>(policy: OriginPolicy, work: F) -> F::Output {
    POLICY.scope(policy, work).await
}

/// The policy of the current task, if it has one.
pub(crate) fn here() -> Option<OriginPolicy> {
    POLICY.try_with(Clone::clone).ok()
}

/// Whether the current task may open an address.
pub(crate) fn may_open(address: &str) -> Result<(), ToolError> {
    let policy = here().unwrap_or_default();
    policy.check(address).map_err(ToolError::Blocked)
}

/// Whether the current task may access the document that a frame shows.
pub(crate) fn may_enter(tab: &Tab, frame: &Frame) -> Result<(), ToolError> {
    let policy = here().unwrap_or_else(|| tab.guard().policy());
    if policy.is_open() {
        return Ok(());
    }
    let entered = tab.state().frames.check(frame, &policy);
    entered.map_err(ToolError::Blocked)
}

/// Whether the current task may read a world's document. A document without an address still has an origin.
pub(crate) fn may_read(tab: &Tab, world: &World) -> Result<(), ToolError> {
    let policy = here().unwrap_or_else(|| tab.guard().policy());
    match policy.is_open() || !world.origin.starts_with("http") {
        true => Ok(()),
        false => policy.check(&world.origin).map_err(ToolError::Blocked),
    }
}

/// Whether the agent may get a recording of what the tab has shown, frames included: screencasts and traces began
/// earlier.
pub(crate) fn may_look_back(tab: &Tab) -> Result<(), ToolError> {
    let policy = here().unwrap_or_default();
    let state = tab.state();
    if let Some(blocked) = blocked_since(&state, 0, &policy) {
        return Err(ToolError::Blocked(blocked));
    }
    if let Some(blocked) = state.frames.disallowed_so_far(&policy) {
        let what = "The page showed a frame of a disallowed site, so the recording is withheld.";
        return Err(ToolError::DisallowedFrame { what, blocked });
    }
    match policy.is_open() || state.frames.remembers_origins() {
        true => Ok(()),
        false => Err(ToolError::NotActionable {
            why: "This tab has shown frames of more sites than tabmux remembers, so the recording is withheld. \
                  Record again in a new tab."
                .into(),
        }),
    }
}

/// The frames of a tab that the current task may not see, each with the reason. Of nested frames, only the outermost.
pub(crate) fn disallowed_frames(tab: &Tab) -> Vec<(Frame, Blocked)> {
    let policy = here().unwrap_or_else(|| tab.guard().policy());
    if policy.is_open() {
        return Vec::new();
    }
    let state = tab.state();
    let seen = |id: &FrameId| {
        let outer = state.frames.find(id);
        outer.is_some_and(|outer| state.frames.check(outer, &policy).is_ok())
    };
    let inside = state.frames.iter();
    let inside = inside.filter(|frame| frame.parent.as_ref().is_some_and(seen));
    inside
        .filter_map(|frame| {
            let blocked = state.frames.check(frame, &policy).err()?;
            Some((frame.clone(), blocked))
        })
        .collect()
}

/// Checks a tab against the policy of one call: may the call begin, and may the agent get its result.
pub(crate) struct PolicyCheck<'a> {
    tab: &'a Tab,
    policy: OriginPolicy,
    epoch: u64,
    stopped: u64,
}

impl<'a> PolicyCheck<'a> {
    /// From now on the tab blocks requests for documents that the policy disallows, if `stops` is set.
    pub(crate) async fn begin(tab: &'a Tab, stops: bool) -> Self {
        let policy = here().unwrap_or_default();
        tab.apply_policy(&policy, stops).await;
        Self {
            tab,
            policy,
            epoch: tab.state().epoch,
            stopped: tab.guard().stopped(),
        }
    }

    /// Whether the call may use the document that the tab shows now.
    pub(crate) async fn may_touch(&self) -> Result<(), ToolError> {
        if self.policy.is_open() {
            return Ok(());
        }
        let main = self.tab.state().frames.main().cloned();
        let Some(main) = main else {
            return Ok(());
        };
        may_enter(self.tab, &main)?;
        match main.url.starts_with("http") {
            true => Ok(()),
            // Without an http address, only the document itself can say which origin it has.
            false => self.tab.world_of(&main).await.map(drop),
        }
    }

    /// Whether the agent may get a recording of what the tab has shown: screencasts and traces began earlier.
    pub(crate) fn may_look_back(&self) -> Result<(), ToolError> {
        may_look_back(self.tab)
    }

    /// The result of the call; an error instead if the tab has shown a disallowed site meanwhile.
    pub(crate) async fn end<T: WithNote>(
        self,
        result: Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        if self.policy.is_open() {
            return result;
        }
        // Process all events that Chrome sent before its last response.
        self.tab.catch_up().await;
        if let Err(ToolError::Blocked(blocked)) = self.may_touch().await {
            return Err(ToolError::LedToBlocked(blocked));
        }
        let state = self.tab.state();
        if let Some(blocked) = blocked_since(&state, self.epoch, &self.policy) {
            return Err(ToolError::LedToBlocked(blocked));
        }
        let main = state.frames.main().map(|main| &main.id);
        let stopped = main.and_then(|main| self.tab.guard().stopped_since(self.stopped, main));
        match (result, stopped) {
            (Ok(output), Some(blocked)) => Ok(output.with_note(format!(
                "The page tried to navigate to a disallowed site and was blocked: {blocked}"
            ))),
            (Err(ToolError::Navigation { .. } | ToolError::TimedOut { .. }), Some(blocked)) => {
                Err(ToolError::Stopped(blocked))
            }
            (result, _) => result,
        }
    }
}

/// A result that a sentence can be added to.
pub(crate) trait WithNote {
    fn with_note(self, note: String) -> Self;
}

impl WithNote for () {
    fn with_note(self, _: String) -> Self {}
}

impl WithNote for PageAnswer {
    fn with_note(self, note: String) -> Self {
        match self {
            Self::Output(output) => Self::Output(output.with_note(note)),
            // A value that the page returned is not changed.
            Self::Value(value) => Self::Value(value),
        }
    }
}

impl WithNote for ToolOutput {
    fn with_note(mut self, note: String) -> Self {
        self.blocks.push(Block::Text(note));
        self
    }
}

/// The latest disallowed document since `epoch`, including the current one.
fn blocked_since(state: &TabState, epoch: u64, policy: &OriginPolicy) -> Option<Blocked> {
    if policy.is_open() {
        return None;
    }
    let now = state.frames.main();
    let now = now.and_then(|main| state.frames.check(main, policy).err());
    now.or_else(|| {
        let documents = state
            .documents
            .iter()
            .rev()
            .filter(|past| past.epoch > epoch);
        documents
            .into_iter()
            .find_map(|past| past.check(policy).err())
    })
}
