//! The frames of a tab, their documents, and the CDP session of each.

use super::shown_documents;
use crate::origins::{Blocked, OriginPolicy};
use crate::world::World;
use indexmap::{IndexMap, IndexSet};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tabmux_cdp::Session;
use tabmux_cdp::types::network::LoaderId;
use tabmux_cdp::types::page::FrameId;
use tokio::sync::OnceCell;

/// The number of one document, unique in this process: a uid of an element can never name an element of another
/// document, in any tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocumentId(pub u32);

impl DocumentId {
    fn fresh() -> Self {
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// A number greater than that of every existing document.
    pub(crate) fn next() -> Self {
        Self(NEXT.load(Ordering::Relaxed))
    }
}

impl fmt::Display for DocumentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One frame with its current document.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Chrome's id of it; a navigation does not change it.
    pub id: FrameId,
    /// Its parent frame, unless it is the main frame.
    pub parent: Option<FrameId>,
    /// The CDP session of this frame: the tab's own, or that of a cross-site frame.
    pub session: Session,
    /// Its current document.
    pub document: DocumentId,
    /// Chrome's id of that document.
    pub loader: LoaderId,
    /// The address of the document.
    pub url: String,
    /// The origin as Chrome reports it: a blank document has that of its creator.
    pub(crate) security_origin: String,
    /// Our isolated world in that document, created on first use.
    pub(crate) world: Arc<OnceCell<World>>,
}

impl Frame {
    /// Whether `session` has reported the document that this frame shows.
    pub(crate) fn is_shown_over(&self, session: &Session) -> bool {
        self.session.id() == session.id() && !self.loader.as_str().is_empty()
    }
}

/// All frames of a tab, parents before their children.
#[derive(Debug, Default)]
pub struct Frames {
    now: IndexMap<FrameId, Frame>,
    /// The origins of the documents that child frames have shown so far.
    origins: IndexSet<String>,
    /// The latest documents of child frames, with address and origin.
    recent: VecDeque<(DocumentId, String, String)>,
}

/// What is known about a frame when it shows a document.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) id: FrameId,
    pub(crate) parent: Option<FrameId>,
    pub(crate) loader: LoaderId,
    pub(crate) url: String,
    pub(crate) security_origin: String,
}

impl Frames {
    /// The main frame.
    pub fn main(&self) -> Option<&Frame> {
        self.now.values().find(|frame| frame.parent.is_none())
    }

    /// A frame by its id.
    pub fn find(&self, id: &FrameId) -> Option<&Frame> {
        self.now.get(id)
    }

    /// The frame that shows a document now.
    pub fn showing(&self, document: DocumentId) -> Option<&Frame> {
        self.now.values().find(|frame| frame.document == document)
    }

    /// All of them, parents before their children.
    pub fn iter(&self) -> impl Iterator<Item = &Frame> {
        self.now.values()
    }

    /// The origin of a frame's document. One without its own address has that of its parent frame.
    pub(crate) fn origin(&self, frame: &Frame) -> String {
        let mut next = Some(frame);
        while let Some(frame) = next {
            if let Ok(url) = url::Url::parse(&frame.url)
                && url.origin().is_tuple()
            {
                return url.origin().ascii_serialization();
            }
            next = frame.parent.as_ref().and_then(|parent| self.find(parent));
        }
        "a page without an origin".to_owned()
    }

    /// Whether a policy permits the document of a frame, and those of all its parents.
    pub(crate) fn check(&self, frame: &Frame, policy: &OriginPolicy) -> Result<(), Blocked> {
        let mut next = Some(frame);
        while let Some(frame) = next {
            policy.check(&frame.url)?;
            shown_documents::check_origin(policy, &frame.security_origin)?;
            next = frame.parent.as_ref().and_then(|parent| self.find(parent));
        }
        Ok(())
    }

    /// The latest origin of a child frame so far that a policy does not permit.
    pub(crate) fn disallowed_so_far(&self, policy: &OriginPolicy) -> Option<Blocked> {
        if policy.is_open() {
            return None;
        }
        self.origins
            .iter()
            .rev()
            .find_map(|origin| policy.check(origin).err())
    }

    /// Whether a policy permits all documents that child frames have shown since `first`, including those that are
    /// gone. The error is the disallowed origin; `None` if there were more than are kept.
    pub(crate) fn check_since(
        &self,
        first: DocumentId,
        policy: &OriginPolicy,
    ) -> Result<(), Option<Blocked>> {
        let is_cut = self.recent.len() >= MOST_RECENT
            && self
                .recent
                .front()
                .is_some_and(|(oldest, ..)| *oldest > first);
        if is_cut && !policy.is_open() {
            return Err(None);
        }
        let since = self
            .recent
            .iter()
            .filter(|(document, ..)| *document >= first);
        for (_, url, origin) in since {
            policy.check(url).map_err(Some)?;
            shown_documents::check_origin(policy, origin).map_err(Some)?;
        }
        Ok(())
    }

    /// Whether all origins so far are still remembered.
    pub(crate) fn remembers_origins(&self) -> bool {
        self.origins.len() < MOST_ORIGINS
    }

    /// Remembers the origin of a child frame's document.
    fn note_origin(&mut self, shown: &Shown) {
        if shown.parent.is_none() {
            return;
        }
        let own = url::Url::parse(&shown.url).ok().map(|url| url.origin());
        let own = own.filter(url::Origin::is_tuple);
        let own = own.map(|origin| origin.ascii_serialization());
        let given = Some(shown.security_origin.clone());
        for origin in own.into_iter().chain(given) {
            if origin.starts_with("http") && self.remembers_origins() {
                self.origins.insert(origin);
            }
        }
    }

    /// Whether `id` is the main frame; also true while none is known.
    pub(crate) fn is_main(&self, id: &FrameId) -> bool {
        self.main().is_none_or(|main| main.id == *id)
    }

    /// A frame shows a document, reported by `session`. The same document keeps its number.
    pub(crate) fn show(&mut self, shown: Shown, session: &Session) {
        self.note_origin(&shown);
        if let Some(frame) = self.now.get_mut(&shown.id)
            && frame.loader == shown.loader
            && frame.session.id() == session.id()
        {
            frame.url = shown.url;
            frame.security_origin = shown.security_origin;
            return;
        }
        // Its child frames belonged to the previous document.
        self.remove_children(&shown.id);
        let frame = Frame {
            parent: shown.parent,
            session: session.clone(),
            document: DocumentId::fresh(),
            loader: shown.loader,
            url: shown.url,
            security_origin: shown.security_origin,
            world: Arc::default(),
            id: shown.id.clone(),
        };
        if frame.parent.is_some() {
            if self.recent.len() >= MOST_RECENT {
                self.recent.pop_front();
            }
            let (url, origin) = (frame.url.clone(), frame.security_origin.clone());
            self.recent.push_back((frame.document, url, origin));
        }
        self.now.insert(shown.id, frame);
    }

    /// The frame navigated within its document.
    pub(crate) fn move_within(&mut self, id: &FrameId, url: String) {
        if let Some(frame) = self.now.get_mut(id) {
            frame.url = url;
        }
    }

    /// The frame is gone, with all its children.
    pub(crate) fn remove(&mut self, id: &FrameId) {
        self.remove_children(id);
        self.now.shift_remove(id);
    }

    /// The session of a cross-site frame has ended. Its frames are gone, unless they have moved to another session
    /// meanwhile.
    pub(crate) fn remove_session(&mut self, session: &Session) {
        self.now
            .retain(|_, frame| frame.session.id() != session.id());
    }

    fn remove_children(&mut self, id: &FrameId) {
        let mut doomed = vec![id.clone()];
        while let Some(parent) = doomed.pop() {
            let inside = self
                .now
                .values()
                .filter(|frame| frame.parent.as_ref() == Some(&parent));
            let inside: Vec<_> = inside.map(|frame| frame.id.clone()).collect();
            for child in inside {
                self.now.shift_remove(&child);
                doomed.push(child);
            }
        }
    }
}

/// How many documents of child frames are kept for short operations, such as a screenshot.
const MOST_RECENT: usize = 64;

static NEXT: AtomicU32 = AtomicU32::new(1);

/// A tab with frames of more sites than this is rare; then its recordings are withheld.
const MOST_ORIGINS: usize = 256;
