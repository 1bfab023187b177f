//! Tabs that crash. Chrome reports a crash once, and again only to a client that attaches. The tab itself remains,
//! and can be loaded again.

use super::BrowserEvent;
use super::actor::Actor;
use super::actor_requests::ActorRequest;
use crate::tab::{Gone, Tab};
use tabmux_cdp::types::target::{SessionId, TargetInfo};
use tokio::sync::mpsc;

/// Notifies the actor when the tab itself reports its crash.
pub(super) fn watch(tab: &Tab, requests: mpsc::WeakSender<ActorRequest>) {
    let mut state = tab.watch();
    let session = tab.session().id().cloned();
    tokio::spawn(async move {
        let gone = match state.wait_for(|state| state.gone.is_some()).await {
            Ok(state) => state.gone,
            Err(_) => None,
        };
        if let (Some(Gone::Crashed), Some(session), Some(requests)) =
            (gone, session, requests.upgrade())
        {
            let _ = requests.send(ActorRequest::Crashed { session }).await;
        }
    });
}

impl<E: From<(u32, BrowserEvent)> + Send + 'static> Actor<E> {
    /// Whether a change of a crashed tab is only that a client attached or detached.
    pub(super) fn is_still_crashed(&mut self, info: &TargetInfo) -> bool {
        let attached = self.crashed.get_mut(&info.target_id);
        match attached.filter(|attached| **attached != info.attached) {
            Some(attached) => {
                *attached = info.attached;
                true
            }
            None => {
                self.crashed.remove(&info.target_id);
                false
            }
        }
    }

    /// The tab of this session crashed, unless it has been attached again since.
    pub(super) async fn handle_crashed(&mut self, session: &SessionId) {
        if let Some(target) = self.attached_by(session) {
            self.handle_gone(&target, Gone::Crashed).await;
        }
    }
}
