//! The documents that a tab has shown, and what a policy permits to report about them.

use super::console::ConsoleMessage;
use super::network::NetworkRequest;
use super::state::TabState;
use crate::origins::{Blocked, OriginPolicy};

/// A document that the main frame has shown.
#[derive(Clone, Debug)]
pub(crate) struct ShownDocument {
    pub(crate) epoch: u64,
    pub(crate) url: String,
    /// The origin as Chrome reports it: a blank document has that of its creator.
    pub(crate) origin: String,
}

impl ShownDocument {
    pub(crate) fn check(&self, policy: &OriginPolicy) -> Result<(), Blocked> {
        policy.check(&self.url)?;
        check_origin(policy, &self.origin)
    }
}

/// Checks an origin as Chrome writes it; an opaque one is permitted.
pub(super) fn check_origin(policy: &OriginPolicy, origin: &str) -> Result<(), Blocked> {
    match origin.starts_with("http") {
        true => policy.check(origin),
        false => Ok(()),
    }
}

impl TabState {
    /// Whether a request may be reported: the policy must permit its page, its frame and the document it loaded.
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

    /// Whether a console message may be reported: the policy must permit its page and its frame.
    pub(crate) fn may_tell_message(&self, message: &ConsoleMessage, policy: &OriginPolicy) -> bool {
        if policy.is_open() {
            return true;
        }
        let of_session = |id| move |session: &tabmux_cdp::Session| session.id() == id;
        let same = of_session(message.session.id());
        let mut frames = self.frames.iter().filter(|frame| same(&frame.session));
        // One session may serve several frames of one site; all of them must be permitted.
        let hidden = frames.any(|frame| self.frames.check(frame, policy).is_err());
        !hidden && self.may_tell_epoch(message.epoch, policy)
    }

    /// Whether data of a document may be reported. A document that is no longer remembered is not permitted.
    fn may_tell_epoch(&self, epoch: u64, policy: &OriginPolicy) -> bool {
        match self.documents.iter().find(|past| past.epoch == epoch) {
            Some(past) => past.check(policy).is_ok(),
            None => epoch == self.epoch,
        }
    }
}
