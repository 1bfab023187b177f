//! Which sites the work that is done in this task may have to do with.
//!
//! One tab may serve several sessions, each with a policy of its own. So the policy does not belong to the
//! tab but travels with the work, and is asked where a document is taken hold of.

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

/// Does work for somebody whom this policy bounds.
pub async fn within<F: Future>(policy: OriginPolicy, work: F) -> F::Output {
    POLICY.scope(policy, work).await
}

/// The policy that bounds the work in this task, if somebody's policy does.
pub(crate) fn here() -> Option<OriginPolicy> {
    POLICY.try_with(Clone::clone).ok()
}

/// Whether this work may open an address.
pub(crate) fn may_open(address: &str) -> Result<(), ToolError> {
    let policy = here().unwrap_or_default();
    policy.check(address).map_err(ToolError::Blocked)
}

/// Whether this work may take hold of the document that a frame shows.
pub(crate) fn may_enter(tab: &Tab, frame: &Frame) -> Result<(), ToolError> {
    let policy = here().unwrap_or_else(|| tab.guard().policy());
    if policy.is_open() {
        return Ok(());
    }
    let entered = tab.state().frames.check(frame, &policy);
    entered.map_err(ToolError::Blocked)
}

/// Whether this work may read the document of a world. What has no address has an origin all the same.
pub(crate) fn may_read(tab: &Tab, world: &World) -> Result<(), ToolError> {
    let policy = here().unwrap_or_else(|| tab.guard().policy());
    match policy.is_open() || !world.origin.starts_with("http") {
        true => Ok(()),
        false => policy.check(&world.origin).map_err(ToolError::Blocked),
    }
}

/// Whether what the tab has shown for some time may be told, frames included: films and traces began earlier.
pub(crate) fn may_look_back(tab: &Tab) -> Result<(), ToolError> {
    let policy = here().unwrap_or_default();
    let state = tab.state();
    if let Some(blocked) = blocked_since(&state, 0, &policy) {
        return Err(ToolError::Blocked(blocked));
    }
    if let Some(blocked) = state.frames.unseen_so_far(&policy) {
        let what = "The page has shown a frame that may not be seen, and what was recorded of it is withheld.";
        return Err(ToolError::UnseenFrame { what, blocked });
    }
    match policy.is_open() || state.frames.remembers_origins() {
        true => Ok(()),
        false => Err(ToolError::NotActionable {
            why: "This tab has shown frames of more sites than are remembered, so what was recorded is withheld. \
                  Do it again in a new tab."
                .into(),
        }),
    }
}

/// The frames that a tab shows and this work may not see, each with the reason; of frames inside each other the
/// outermost.
pub(crate) fn unseen(tab: &Tab) -> Vec<(Frame, Blocked)> {
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

/// A tab under the policy of one call: whether it may be touched, and what may be told afterwards.
pub(crate) struct Watch<'a> {
    tab: &'a Tab,
    policy: OriginPolicy,
    epoch: u64,
    stopped: u64,
}

impl<'a> Watch<'a> {
    /// From now on the tab stops requests for documents that the policy blocks, where `stops` says so.
    pub(crate) async fn begin(tab: &'a Tab, stops: bool) -> Self {
        let policy = here().unwrap_or_default();
        tab.watch_over(&policy, stops).await;
        Self {
            tab,
            policy,
            epoch: tab.state().epoch,
            stopped: tab.guard().stopped(),
        }
    }

    /// Whether the document that the tab shows now may be touched.
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
            // Only the document itself knows whose it is.
            false => self.tab.world_of(&main).await.map(drop),
        }
    }

    /// Whether what the tab has shown for some time may be told: films and traces began earlier.
    pub(crate) fn may_look_back(&self) -> Result<(), ToolError> {
        may_look_back(self.tab)
    }

    /// What came of the call, without what it may not tell.
    pub(crate) async fn end<T: Noted>(self, result: Result<T, ToolError>) -> Result<T, ToolError> {
        if self.policy.is_open() {
            return result;
        }
        // What Chrome told before the last answer counts.
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
                "The page wanted to go elsewhere, and was stopped: {blocked}"
            ))),
            (Err(ToolError::Navigation { .. } | ToolError::TimedOut { .. }), Some(blocked)) => {
                Err(ToolError::Stopped(blocked))
            }
            (result, _) => result,
        }
    }
}

/// Something that a sentence can be added to.
pub(crate) trait Noted {
    fn with_note(self, note: String) -> Self;
}

impl Noted for () {
    fn with_note(self, _: String) -> Self {}
}

impl Noted for PageAnswer {
    fn with_note(self, note: String) -> Self {
        match self {
            Self::Output(output) => Self::Output(output.with_note(note)),
            // What the page answered stays as it is.
            Self::Value(value) => Self::Value(value),
        }
    }
}

impl Noted for ToolOutput {
    fn with_note(mut self, note: String) -> Self {
        self.blocks.push(Block::Text(note));
        self
    }
}

/// The last document since then, the present one included, that may not be seen.
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
