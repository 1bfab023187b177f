//! The person's rules about sites, in the side panel. They are the same as those of `tabmux policy`.

use super::MainLoop;
use crate::extension::PeerName;
use crate::policy::PolicyChange;
use tabmux_browser::OriginPattern;
use tabmux_core::Input;
use tabmux_protocol::extension::{SiteInfo, SiteRule, ToExtension};

impl MainLoop {
    pub(super) fn rule(&mut self, peer: &PeerName, origin: &str, rule: SiteRule) {
        let pattern: OriginPattern = match origin.parse() {
            Ok(pattern) => pattern,
            Err(error) => {
                let error: tabmux_browser::origins::BadPattern = error;
                return self.or_deny(peer, Err(error.to_string()));
            }
        };
        let change = match rule {
            SiteRule::Allow => PolicyChange::Allow(pattern),
            SiteRule::Block => PolicyChange::Block(pattern),
            SiteRule::None => PolicyChange::Remove(pattern),
        };
        self.change_policy(change, peer.clone());
    }

    /// Reports what the rules say about a site. An invalid site gets no answer.
    pub(super) fn tell_site(&mut self, peer: &PeerName, origin: String) {
        self.notice_policy();
        let verdict = self.policy_file.judge(&origin);
        if let (Some(verdict), Some(shown)) = (verdict, self.persons.peers.get(peer)) {
            shown.peer.tell(ToExtension::Site(SiteInfo {
                origin,
                allowed: verdict.permitted,
                alone: verdict.rule.as_ref() == Some(&verdict.own),
                rule: verdict.rule.map(|rule| rule.to_string()),
            }));
        }
    }

    /// Shows tabs of private windows to agents, or takes them away.
    pub(in crate::main_loop) fn private_windows_changed(&mut self) {
        let allowed = self.policy_file.private_windows();
        let peers = self.persons.peers.iter();
        let peers: Vec<_> = peers
            .map(|(name, shown)| (name.clone(), shown.peer.clone()))
            .collect();
        for (name, peer) in peers {
            if !allowed {
                for tab in peer.private_tabs() {
                    self.take_back(&name, tab);
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
}
