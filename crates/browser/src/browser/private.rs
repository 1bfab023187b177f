//! Tabs of private windows, in a browser that we did not launch: hidden from agents, unless the user permits them.
//!
//! Chrome does not say which windows are private. It says which context a tab is in, and which context is the default
//! one; a private window has its own. So have contexts that other programs created; those are hidden, too.

use super::actor::Actor;
use super::actor_requests::ActorRequest;
use super::entry::Entry;
use super::{Browser, BrowserEvent, ContextId, TabFacts, TabOpener};
use crate::tab::{Gone, TargetId};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tabmux_cdp::types::target::{GetBrowserContexts, GetBrowserContextsResponse, TargetInfo};

/// Which contexts of a browser agents can see. Shared by the handle and the actor.
#[derive(Clone, Debug, Default)]
pub(super) struct Privacy(Arc<Mutex<Contexts>>);

#[derive(Debug, Default)]
struct Contexts {
    /// Whether tabs can be private here. Not in a browser that we launched.
    guarded: bool,
    /// Whether agents may see private tabs.
    allowed: bool,
    /// The default context, and those that we created.
    open: HashSet<ContextId>,
    /// The private tabs that agents know.
    told: HashSet<TargetId>,
}

impl Privacy {
    /// Finds the default context in a browser's response.
    ///
    /// Chrome names it since version 145. Older versions list those that programs created, but neither the default
    /// one nor those of private windows. If only one other context is in use, that is the default. If there are
    /// several, it is unknown, and nothing is shown until we open a tab: Chrome opens it in the default context.
    pub(super) fn of(told: GetBrowserContextsResponse, targets: &[TargetInfo]) -> Self {
        let made = told.browser_context_ids;
        let used = targets
            .iter()
            .filter_map(|info| info.browser_context_id.as_ref());
        let unnamed: HashSet<_> = used.filter(|context| !made.contains(context)).collect();
        let only = match unnamed.iter().collect::<Vec<_>>()[..] {
            [only] => Some((*only).clone()),
            _ => None,
        };
        let open = told.default_browser_context_id.or(only);
        Self(Arc::new(Mutex::new(Contexts {
            guarded: true,
            open: open.into_iter().collect(),
            ..Contexts::default()
        })))
    }

    /// Whether a tab in this context is hidden from agents.
    pub(super) fn hides(&self, context: Option<&ContextId>) -> bool {
        let contexts = self.lock();
        !contexts.allowed && contexts.is_private(context)
    }

    /// Makes a context visible to agents. False if it already was.
    pub(super) fn open(&self, context: ContextId) -> bool {
        let mut contexts = self.lock();
        contexts.guarded && contexts.open.insert(context)
    }

    /// One of our contexts has ended.
    pub(super) fn forget_context(&self, context: &ContextId) {
        self.lock().open.remove(context);
    }

    /// Sets whether agents may see private tabs. Returns the tabs that they knew and may no longer see.
    pub(super) fn allow(&self, allowed: bool) -> Vec<TargetId> {
        let mut contexts = self.lock();
        contexts.allowed = allowed;
        match allowed {
            true => Vec::new(),
            false => contexts.told.drain().collect(),
        }
    }

    /// Agents now know a tab.
    pub(super) fn tell(&self, tab: &TabFacts) {
        let mut contexts = self.lock();
        if contexts.is_private(tab.context.as_ref()) {
            contexts.told.insert(tab.target.clone());
        }
    }

    /// A tab is gone.
    pub(super) fn forget_tab(&self, target: &TargetId) {
        self.lock().told.remove(target);
    }

    fn is_guarded(&self) -> bool {
        self.lock().guarded
    }

    fn lock(&self) -> MutexGuard<'_, Contexts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contexts {
    fn is_private(&self, context: Option<&ContextId>) -> bool {
        self.guarded && context.is_some_and(|context| !self.open.contains(context))
    }
}

impl Browser {
    /// Sets whether agents may see tabs of private windows. Returns the tabs that are hidden from now on; the browser
    /// reports them as gone, too.
    pub fn set_private(&self, allowed: bool) -> Vec<TargetId> {
        if !self.0.privacy.is_guarded() {
            return Vec::new();
        }
        let gone = self.0.privacy.allow(allowed);
        let browser = self.clone();
        tokio::spawn(async move { browser.request(ActorRequest::RecheckPrivacy).await });
        gone
    }

    /// Whether a tab is hidden from agents.
    pub fn hides(&self, tab: &TabFacts) -> bool {
        self.0.privacy.hides(tab.context.as_ref())
    }

    /// Asks which context is the default one: with several profiles, that of the profile used last.
    pub(super) async fn learn_default(&self, limit: Duration) {
        if !self.0.privacy.is_guarded() {
            return;
        }
        let asked = self
            .0
            .session
            .send_within(GetBrowserContexts::default(), limit);
        let default = asked
            .await
            .ok()
            .and_then(|told| told.default_browser_context_id);
        if default.is_some_and(|default| self.0.privacy.open(default)) {
            let _ = self.request(ActorRequest::RecheckPrivacy).await;
        }
    }
}

impl<E: From<(u32, BrowserEvent)> + Send + 'static> Actor<E> {
    /// Sets which tabs are private in this browser.
    pub(super) fn guarding(mut self, privacy: Privacy, hidden: Vec<TabFacts>) -> Self {
        for entry in self.tabs.values() {
            privacy.tell(entry.facts());
        }
        let hidden = hidden.into_iter().map(|tab| (tab.target.clone(), tab));
        (self.hidden, self.privacy) = (hidden.collect(), privacy);
        self
    }

    /// Hides a tab from agents, if it is private.
    pub(super) fn hide(&mut self, tab: &TabFacts) -> bool {
        let hides = self.privacy.hides(tab.context.as_ref());
        match hides {
            true => drop(self.hidden.insert(tab.target.clone(), tab.clone())),
            false => self.privacy.tell(tab),
        }
        hides
    }

    /// We created this tab. Without a context of ours, Chrome puts it into the default one.
    pub(super) fn own(&mut self, target: &TargetId) {
        let Some(tab) = self.hidden.remove(target) else {
            return;
        };
        if let Some(context) = &tab.context {
            self.privacy.open(context.clone());
        }
        self.tabs.insert(target.clone(), Entry::new(tab));
    }

    /// Checks again which tabs are private.
    pub(super) async fn recheck_privacy(&mut self) {
        let tabs = self.tabs.iter();
        let covered = tabs.filter(|(_, entry)| self.privacy.hides(entry.facts().context.as_ref()));
        let covered: Vec<_> = covered.map(|(_, entry)| entry.facts().clone()).collect();
        for tab in covered {
            self.detach(&tab.target).await;
            self.handle_gone(&tab.target, Gone::Closed).await;
            self.hidden.insert(tab.target.clone(), tab);
        }
        let hidden = self.hidden.values();
        let shown = hidden.filter(|tab| !self.privacy.hides(tab.context.as_ref()));
        let shown: Vec<_> = shown.cloned().collect();
        for tab in shown {
            self.hidden.remove(&tab.target);
            self.privacy.tell(&tab);
            let target = tab.target.clone();
            self.tabs.insert(target.clone(), Entry::new(tab));
            match self.making {
                0 => self.announce(&target, TabOpener::Browser).await,
                _ => self.unannounced.push(target),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn privacy(told: Value, contexts: &[&str]) -> Privacy {
        let tab =
            |context: &&str| json!({"targetId": "T", "type": "page", "browserContextId": context});
        let targets: Vec<Value> = contexts.iter().map(tab).collect();
        let targets: Vec<TargetInfo> = serde_json::from_value(json!(targets)).unwrap();
        Privacy::of(serde_json::from_value(told).unwrap(), &targets)
    }

    fn hidden<'a>(privacy: &Privacy, contexts: &[&'a str]) -> Vec<&'a str> {
        let hides = |context: &&str| privacy.hides(Some(&ContextId::from(*context)));
        contexts.iter().copied().filter(hides).collect()
    }

    #[test]
    fn tabs_of_foreign_contexts_are_hidden() {
        let told = json!({"browserContextIds": ["PROGRAM"], "defaultBrowserContextId": "D"});
        let all = ["D", "PRIVATE", "PROGRAM", "OURS"];
        let privacy = privacy(told, &all);
        assert!(privacy.open(ContextId::from("OURS")));
        assert_eq!(hidden(&privacy, &all), ["PRIVATE", "PROGRAM"]);
        assert!(!privacy.hides(None), "it may be a browser without contexts");
        privacy.allow(true);
        assert_eq!(hidden(&privacy, &all), [""; 0]);
        privacy.allow(false);
        privacy.forget_context(&ContextId::from("OURS"));
        assert_eq!(hidden(&privacy, &all), ["PRIVATE", "PROGRAM", "OURS"]);
    }

    #[test]
    fn a_single_unlisted_context_is_the_default() {
        let alone = privacy(
            json!({"browserContextIds": ["PROGRAM"]}),
            &["D", "D", "PROGRAM"],
        );
        assert_eq!(
            hidden(&alone, &["D", "PRIVATE", "PROGRAM"]),
            ["PRIVATE", "PROGRAM"]
        );
        // With several it is unknown, until we open a tab.
        let several = privacy(json!({}), &["D", "PRIVATE"]);
        assert_eq!(hidden(&several, &["D", "PRIVATE"]), ["D", "PRIVATE"]);
        assert!(several.open(ContextId::from("D")));
        assert_eq!(hidden(&several, &["D", "PRIVATE"]), ["PRIVATE"]);
    }

    #[test]
    fn a_launched_browser_has_no_private_tabs() {
        let launched = Privacy::default();
        assert!(!launched.open(ContextId::from("OURS")));
        assert_eq!(hidden(&launched, &["OURS", "PRIVATE"]), [""; 0]);
    }

    #[test]
    fn revoking_access_returns_the_known_private_tabs() {
        let told = json!({"defaultBrowserContextId": "D"});
        let privacy = privacy(told, &[]);
        privacy.allow(true);
        for (target, context) in [("1", "D"), ("2", "P"), ("3", "P")] {
            privacy.tell(&TabFacts {
                target: TargetId::from(target),
                url: String::new(),
                title: String::new(),
                context: Some(ContextId::from(context)),
            });
        }
        privacy.forget_tab(&TargetId::from("3"));
        assert_eq!(privacy.allow(false), [TargetId::from("2")]);
        assert!(privacy.allow(false).is_empty());
    }
}
