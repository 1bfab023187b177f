//! Which sites a session may access: its own flags, and the person's rules for all sessions.

use super::MainLoop;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tabmux_browser::OriginPolicy;
use tabmux_core::{CallId, CallKind, Hidden, Input, SessionId, SiteFilter};

impl MainLoop {
    /// All restrictions of a session.
    pub(super) fn origins_of(&self, session: SessionId) -> OriginPolicy {
        let own = self.sessions.get(session).map(|it| &it.options.origins);
        own.cloned()
            .unwrap_or_default()
            .and(self.panel.rules.file.policy())
    }

    /// All restrictions of a call's session.
    pub(super) fn origins_for(&self, call: CallId) -> OriginPolicy {
        let session = self.calls.session_of(call);
        session.map_or_else(OriginPolicy::default, |session| self.origins_of(session))
    }

    /// Applies the latest contents of the person's file. The sender of the current event has reread the file before,
    /// so a call is never judged by outdated rules.
    pub(super) fn notice_policy(&mut self) {
        if self.panel.rules.file.refresh() {
            self.policy_changed();
        }
    }

    fn policy_changed(&mut self) {
        self.private_windows_changed();
        let sessions: Vec<_> = self.sessions.iter().map(|(id, _)| id).collect();
        for session in sessions {
            let site_filter = site_filter(self.origins_of(session));
            self.core.input(Input::SiteFilterChanged {
                session,
                site_filter,
            });
        }
        // Pages that were blocked may be allowed now; the next call in a tab starts over.
        for tab in self.core.tabs().filter(|tab| tab.holder.is_some()) {
            if let Some(browser) = self.browsers.get(tab.browser).cloned() {
                let target = tabmux_browser::TargetId::from(&*tab.target.0);
                tokio::spawn(async move { browser.clear_policies(&target).await });
            }
        }
    }

    /// Shows tabs of private windows to agents, or takes them away.
    fn private_windows_changed(&mut self) {
        let allowed = self.panel.rules.file.private_windows();
        for peer in self.panel.peers() {
            if !allowed {
                for tab in peer.private_tabs() {
                    self.take_back(&peer.instance, tab);
                }
            }
            peer.set_private(allowed);
        }
        for (browser, target) in self.browsers.set_private(allowed) {
            let taken = target.clone();
            self.core.input(Input::TakenBack { browser, target });
            self.core.input(Input::TabGone {
                browser,
                target: taken,
                crashed: false,
            });
        }
    }

    /// Whether a call may open its address. Nothing has been sent yet.
    pub(super) fn may_open(&self, session: SessionId, kind: &CallKind) -> Result<(), String> {
        let (CallKind::OpenTab { url, .. } | CallKind::NewPage { url }) = kind else {
            return Ok(());
        };
        let checked = self.origins_of(session).check(url);
        checked.map_err(|blocked| blocked.to_string())
    }
}

/// The policy as a filter for the core. Verdicts are cached: the core asks for every tab that offers a tool.
pub(super) fn site_filter(policy: OriginPolicy) -> SiteFilter {
    if policy.is_open() {
        return SiteFilter::default();
    }
    let verdicts = Verdicts::default();
    SiteFilter::new(move |address| {
        verdicts.of(address, |address| {
            let blocked = policy.check(address).err()?;
            Some(Hidden {
                why: blocked.to_string().into(),
                origin: blocked.origin.into(),
            })
        })
    })
}

/// A cache of verdicts, limited in size.
#[derive(Debug, Default)]
struct Verdicts(Mutex<HashMap<Box<str>, Option<Hidden>>>);

impl Verdicts {
    fn of(&self, address: &str, judge: impl Fn(&str) -> Option<Hidden>) -> Option<Hidden> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(verdict) = known.get(address) {
            return verdict.clone();
        }
        let verdict = judge(address);
        if known.len() >= MOST_VERDICTS {
            known.clear();
        }
        known.insert(address.into(), verdict.clone());
        verdict
    }
}

/// More than there are tabs; an address has at most 4,000 characters.
const MOST_VERDICTS: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn an_address_is_judged_once() {
        let (verdicts, judged) = (Verdicts::default(), Cell::new(0));
        let judge = |address: &str| {
            judged.set(judged.get() + 1);
            address.starts_with("https://a").then(|| Hidden {
                origin: "https://a.test".into(),
                why: "It is blocked.".into(),
            })
        };
        for _ in 0..10 {
            assert!(verdicts.of("https://a.test/", judge).is_some());
            assert!(verdicts.of("https://b.test/", judge).is_none());
        }
        assert_eq!(judged.get(), 2);
        for number in 0..3 * MOST_VERDICTS {
            verdicts.of(&format!("https://{number}.test/"), judge);
        }
        assert!(verdicts.0.lock().unwrap().len() <= MOST_VERDICTS);
    }
}
