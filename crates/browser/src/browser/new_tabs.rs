//! Tabs without an opener, in a launched browser: a page opens them by a control-, shift- or middle-click, and Chrome
//! sends their first request before we can attach. So all requests for documents in the browser are paused and
//! checked as soon as one of its tabs has a policy.

use super::actor::Actor;
use super::proxy_login::stop_documents;
use super::{Browser, BrowserEvent};
use crate::bounds;
use crate::origins::OriginPolicy;
use crate::tab::{Guard, Tab, TargetId, cancel_auth};
use tabmux_cdp::types::fetch;
use tabmux_cdp::types::network::ErrorReason;
use tabmux_cdp::{Event, Session, TooLarge};

impl Browser {
    /// From now on, pauses new tabs until their address has been checked, if the current task has a policy. Only in a
    /// launched browser.
    pub(crate) async fn guard_new_tabs(&self) {
        let bounded = bounds::here().is_some_and(|policy| !policy.is_open());
        if !self.0.launched || !bounded {
            return;
        }
        let enable = || async {
            let enable = stop_documents(self.0.signs_in);
            self.0.session.send(enable).await.map(drop)
        };
        if let Err(error) = self.0.holding.get_or_try_init(enable).await {
            tracing::warn!(%error, "new tabs cannot be paused");
        }
    }
}

impl<E: From<(u32, BrowserEvent)> + Send + 'static> Actor<E> {
    /// A frame of the browser requests a document. Every request is answered; without an answer it would hang
    /// forever.
    pub(super) fn handle_paused(&mut self, paused: fetch::RequestPaused) {
        // The main frame has the id of its tab.
        let target = TargetId::from(paused.frame_id.as_str());
        let Some(entry) = self.tabs.get_mut(&target) else {
            // A frame inside a tab: its own session checks it.
            return answer(&self.session, paused, &Guard::default());
        };
        let guard = entry.guard.clone();
        if !std::mem::take(&mut entry.is_stray) {
            return answer(&self.session, paused, &guard);
        }
        let (context, newcomer) = (entry.facts().context.clone(), entry.tab.clone());
        let other_tabs = self
            .tabs
            .iter()
            .filter(|(other, entry)| **other != target && entry.facts().context == context);
        let other_tabs = other_tabs.filter_map(|(_, entry)| entry.tab.clone());
        let other_tabs: Vec<Tab> = other_tabs.collect();
        if !other_tabs.iter().any(|tab| tab.guard().stops()) {
            return answer(&self.session, paused, &guard); // There are no rules.
        }
        let session = self.session.clone();
        tokio::spawn(async move {
            let policy = policy_for(&other_tabs, &paused.request.url).await;
            match newcomer {
                Some(tab) => tab.apply_policy(&policy, true).await,
                None => drop(guard.add(&policy, !policy.is_open())),
            }
            answer(&session, paused, &guard);
        });
    }

    /// Tells the tab whose page requested this one, such as by a control-click: Chrome does not name it as the opener.
    pub(super) fn tell_opener(&mut self, target: &TargetId) {
        let seeking = self.tabs.get_mut(target);
        let seeking = seeking.filter(|entry| entry.seeks_opener && !entry.is_blank());
        let Some(entry) = seeking else {
            return;
        };
        entry.seeks_opener = false;
        let (url, context) = (entry.facts().url.clone(), entry.context());
        let others = self.tabs.iter().filter(|(other, _)| *other != target);
        let others = others.filter(|(_, entry)| entry.context() == context);
        for tab in others.filter_map(|(_, entry)| entry.tab.clone()) {
            let (target, url) = (target.clone(), url.clone());
            tokio::spawn(async move {
                // The page's request came first, but its tab has its own queue of events.
                tab.catch_up().await;
                if awaits(&tab, &url) {
                    tab.note_new_tab(target, url);
                }
            });
        }
    }

    /// An event that is too large to be delivered. Those that need an answer get one.
    pub(super) fn handle_cut(&self, method: &str, cut: &TooLarge) {
        if method == fetch::RequestPaused::METHOD {
            self.handle_paused_cut(cut);
        } else if method == fetch::AuthRequired::METHOD {
            cancel_auth(&self.session, cut);
        }
    }

    /// Like [`Self::handle_paused`], for a request that is too large to be delivered, such as a form with a long text. Its frame is named
    /// after its body, so the rules of all tabs apply; without a readable address it is blocked.
    fn handle_paused_cut(&self, cut: &TooLarge) {
        let Some(request_id) = cut.find("requestId").map(fetch::RequestId::from) else {
            tracing::warn!("a paused request is too large to be parsed; blocking it");
            return;
        };
        let may_go = |url: &str| {
            let mut guards = self.tabs.values().map(|entry| &entry.guard);
            guards.all(|guard| !guard.stops() || guard.policy().check(url).is_ok())
        };
        match cut.find("url").is_some_and(|url| may_go(&url)) {
            true => self.session.post(fetch::ContinueRequest {
                request_id,
                ..Default::default()
            }),
            false => self.session.post(fetch::FailRequest {
                request_id,
                error_reason: ErrorReason::ABORTED,
            }),
        }
    }
}

/// The rules of the tab that requested a new one at this address. If it is unknown which tab that was, the rules of
/// all candidates.
async fn policy_for(other_tabs: &[Tab], url: &str) -> OriginPolicy {
    for tab in other_tabs {
        tab.catch_up().await;
    }
    let mut openers: Vec<_> = other_tabs
        .iter()
        .filter(|tab| requested(tab, url))
        .collect();
    for opener in &openers {
        // The call in the opener can then report the block.
        let main = opener.state().frames.main().map(|main| main.id.clone());
        if let Some(main) = main {
            opener.guard().stop(&main, url);
        }
    }
    if openers.is_empty() {
        openers = other_tabs.iter().collect();
    }
    let mut policy = OriginPolicy::default();
    for guard in openers.iter().map(|tab| tab.guard()) {
        if guard.stops() {
            policy = policy.and(&guard.policy());
        }
    }
    policy
}

fn answer(session: &Session, paused: fetch::RequestPaused, guard: &Guard) {
    let request_id = paused.request_id;
    match guard.stop(&paused.frame_id, &paused.request.url) {
        true => session.post(fetch::FailRequest {
            request_id,
            error_reason: ErrorReason::ABORTED,
        }),
        false => session.post(fetch::ContinueRequest {
            request_id,
            ..Default::default()
        }),
    }
}

/// Whether a page of this tab has requested a new tab at this address.
fn requested(tab: &Tab, url: &str) -> bool {
    let state = tab.state();
    state.new_tabs.iter().any(|it| it.is_at(url))
}

/// Whether it has, and no such tab has appeared yet.
fn awaits(tab: &Tab, url: &str) -> bool {
    let state = tab.state();
    state.new_tabs.iter().any(|it| !it.told && it.is_at(url))
}

/// How many requested new tabs are remembered for each tab; if a page requests more at once, the rules of all tabs
/// apply.
pub(crate) const MOST_NEW_TABS: usize = 16;
