//! The documents that a tab has shown, for those who may not be told of all of them.

use super::console::ConsoleMessage;
use super::network::NetworkRequest;
use super::state::TabState;
use crate::origins::{Blocked, OriginPolicy};

/// A document that the main frame has come to show.
#[derive(Clone, Debug)]
pub(crate) struct Past {
    pub(crate) epoch: u64,
    pub(crate) url: String,
    /// The origin that Chrome gave it: a blank document has that of whoever made it.
    pub(crate) origin: String,
}

impl Past {
    pub(crate) fn check(&self, policy: &OriginPolicy) -> Result<(), Blocked> {
        policy.check(&self.url)?;
        check_origin(policy, &self.origin)
    }
}

/// Asks about an origin as Chrome writes it; one that is nobody's is no matter.
pub(super) fn check_origin(policy: &OriginPolicy, origin: &str) -> Result<(), Blocked> {
    match origin.starts_with("http") {
        true => policy.check(origin),
        false => Ok(()),
    }
}

impl TabState {
    /// Whether a request may be told of: its page and its frame may be seen, and so may what it brought.
    pub(crate) fn may_tell_request(&self, request: &NetworkRequest, policy: &OriginPolicy) -> bool {
        if policy.is_open() {
            return true;
        }
        let brought_blocked = request.kind == "Document" && policy.check(&request.url).is_err();
        let mut frames = self.frames.iter();
        let asked_by_blocked = frames
            .any(|frame| request.is_of(&frame.loader) && self.frames.check(frame, policy).is_err());
        !brought_blocked && !asked_by_blocked && self.may_tell_epoch(request.epoch, policy)
    }

    /// Whether a console message may be told: its page and its frame may be seen.
    pub(crate) fn may_tell_message(&self, message: &ConsoleMessage, policy: &OriginPolicy) -> bool {
        if policy.is_open() {
            return true;
        }
        let of_session = |id| move |session: &tabmux_cdp::Session| session.id() == id;
        let same = of_session(message.session.id());
        let mut frames = self.frames.iter().filter(|frame| same(&frame.session));
        // A session may serve several frames of one site; one that may not be seen is one too many.
        let hidden = frames.any(|frame| self.frames.check(frame, policy).is_err());
        !hidden && self.may_tell_epoch(message.epoch, policy)
    }

    /// Whether what a document left behind may be told. What is not known any more may not.
    fn may_tell_epoch(&self, epoch: u64, policy: &OriginPolicy) -> bool {
        match self.documents.iter().find(|past| past.epoch == epoch) {
            Some(past) => past.check(policy).is_ok(),
            None => epoch == self.epoch,
        }
    }
}
