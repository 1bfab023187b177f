//! Detaches tabs: in a person's browser, we stay attached to a tab only as long as needed.

use super::actor::Actor;
use super::actor_requests::ActorRequest;
use super::tools::news;
use super::{Browser, BrowserEvent};
use crate::page_tools::Findings;
use crate::tab::{Gone, Tab, TargetId};
use std::collections::HashSet;
use tabmux_cdp::types::target::{DetachFromTarget, SessionId};
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Which tabs to detach.
#[derive(Debug)]
pub(super) enum ToDetach {
    /// This one, now.
    One(TargetId),
    /// All except the used ones, if they were not requested after `since`.
    Idle {
        used: HashSet<TargetId>,
        since: Instant,
    },
}

impl Browser {
    /// Detaches a tab at once.
    pub async fn detach(&self, target: &TargetId) {
        self.request_detach(ToDetach::One(target.clone())).await;
    }

    /// Detaches all tabs that are not `used` and were not requested after `since`. Returns whether there are unused
    /// tabs that were requested later.
    pub async fn detach_idle(&self, used: HashSet<TargetId>, since: Instant) -> bool {
        self.request_detach(ToDetach::Idle { used, since }).await
    }

    /// The handle of a tab, if it is attached; for cleanup, which must not attach it again.
    pub(super) async fn attached(&self, target: &TargetId) -> Option<Tab> {
        let (answer, attached) = oneshot::channel();
        let target = target.clone();
        self.request(ActorRequest::Attached { target, answer })
            .await
            .ok()?;
        attached.await.ok()
    }

    async fn request_detach(&self, which: ToDetach) -> bool {
        let (done, left) = oneshot::channel();
        match self.request(ActorRequest::Detach { which, done }).await {
            Ok(()) => left.await.unwrap_or(false),
            Err(_) => false,
        }
    }
}

impl<E: From<(u32, BrowserEvent)> + Send + 'static> Actor<E> {
    pub(super) async fn detach_all(&mut self, which: &ToDetach) -> bool {
        let attached = self.tabs.iter().filter(|(_, entry)| entry.tab.is_some());
        let (idle, left): (Vec<_>, bool) = match which {
            ToDetach::One(target) => (vec![target.clone()], false),
            ToDetach::Idle { used, since } => {
                let unused = attached.filter(|(target, _)| !used.contains(*target));
                let (idle, busy): (Vec<_>, Vec<_>) =
                    unused.partition(|(_, entry)| entry.wanted_at <= *since);
                let idle = idle.into_iter().map(|(target, _)| target.clone());
                (idle.collect(), !busy.is_empty())
            }
        };
        for target in idle {
            self.detach(&target).await;
        }
        left
    }

    /// Someone else ended the session of a tab: the user, who wants the tab back.
    pub(super) async fn handle_detached(&mut self, session: &SessionId) {
        if let Some(target) = self.attached_by(session) {
            self.detach(&target).await;
        }
    }

    /// The tab that has this session.
    pub(super) fn attached_by(&self, session: &SessionId) -> Option<TargetId> {
        let mut tabs = self.tabs.iter();
        let attached = tabs.find(|(_, entry)| {
            let tab = entry.tab.as_ref();
            tab.is_some_and(|tab| tab.session().id() == Some(session))
        });
        attached.map(|(target, _)| target.clone())
    }

    /// Detaches a tab. It stays in the table; its tools are unknown until it is attached again.
    pub(super) async fn detach(&mut self, target: &TargetId) {
        let Some(entry) = self.tabs.get_mut(target) else {
            return;
        };
        let Some(tab) = entry.tab.take() else {
            return;
        };
        entry.attaching = false;
        entry.tools = Findings::default();
        let before = std::mem::take(&mut entry.told_tools);
        let session_id = tab.session().id().cloned();
        tab.note_gone(Gone::Closed);
        self.session.post(DetachFromTarget {
            session_id,
            target_id: None,
        });
        let mut nothing = Findings::default();
        nothing.document = before.document;
        for event in news(target, &before, &nothing) {
            self.tell(event).await;
        }
    }
}
