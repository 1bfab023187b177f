//! Tabs of private windows, in a browser that others use: there are none for anybody, unless the person says so.
//!
//! Chrome does not say which windows are private. It says which context a tab is in, and which context is the
//! default one; a private window has its own. So has whatever another program opened for itself, and that is
//! none of our business either.

use super::actor::Actor;
use super::entry::Entry;
use super::orders::Order;
use super::{Browser, BrowserEvent, ContextId, TabFacts, TabOpener};
use crate::tab::{Gone, TargetId};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tabmux_cdp::types::target::{GetBrowserContexts, GetBrowserContextsResponse, TargetInfo};

/// Which contexts of a browser there are for agents. The handle and the actor share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Privacy(Arc<Mutex<Contexts>>);

#[derive(Debug, Default)]
struct Contexts {
    /// Whether anything is private here. In a browser that we launched nothing is.
    guarded: bool,
    /// Whether agents may see it all the same.
    allowed: bool,
    /// The default context, and those that we made.
    open: HashSet<ContextId>,
    /// The private tabs that agents have been told of.
    told: HashSet<TargetId>,
}

impl Privacy {
    /// Reads from what a browser tells which of its contexts is the default one.
    ///
    /// Chrome names it since version 145. An older one names those that programs made, and neither the default
    /// one nor those of private windows. If one context is left, that is it. If several are, nobody can tell,
    /// and nothing is shown until a tab is opened: Chrome opens it in the default context.
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

    /// Whether a tab in this context is not there for anybody.
    pub(super) fn hides(&self, context: Option<&ContextId>) -> bool {
        let contexts = self.lock();
        !contexts.allowed && contexts.is_private(context)
    }

    /// A context is one of those in which agents work. False if it was.
    pub(super) fn open(&self, context: ContextId) -> bool {
        let mut contexts = self.lock();
        contexts.guarded && contexts.open.insert(context)
    }

    /// A context of ours is no more.
    pub(super) fn forget_context(&self, context: &ContextId) {
        self.lock().open.remove(context);
    }

    /// Agents may see what is private, or may not. Those tabs that they knew and must forget.
    pub(super) fn allow(&self, allowed: bool) -> Vec<TargetId> {
        let mut contexts = self.lock();
        contexts.allowed = allowed;
        match allowed {
            true => Vec::new(),
            false => contexts.told.drain().collect(),
        }
    }

    /// Agents are told of a tab.
    pub(super) fn tell(&self, tab: &TabFacts) {
        let mut contexts = self.lock();
        if contexts.is_private(tab.context.as_ref()) {
            contexts.told.insert(tab.target.clone());
        }
    }

    /// A tab is no more.
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
    /// Tabs of private windows are there for agents from now on, or no longer are. Those that agents knew and
    /// that are gone for them at once; the browser reports it, too.
    pub fn set_private(&self, allowed: bool) -> Vec<TargetId> {
        if !self.0.privacy.is_guarded() {
            return Vec::new();
        }
        let gone = self.0.privacy.allow(allowed);
        let browser = self.clone();
        tokio::spawn(async move { browser.order(Order::LookAgain).await });
        gone
    }

    /// Whether a tab is not there for agents.
    pub fn hides(&self, tab: &TabFacts) -> bool {
        self.0.privacy.hides(tab.context.as_ref())
    }

    /// Asks which context is the default one: with several profiles it is that of the one used last.
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
            let _ = self.order(Order::LookAgain).await;
        }
    }
}

impl<E: From<(u32, BrowserEvent)> + Send + 'static> Actor<E> {
    /// The same, in a browser where some tabs are nobody's business.
    pub(super) fn guarding(mut self, privacy: Privacy, hidden: Vec<TabFacts>) -> Self {
        for entry in self.tabs.values() {
            privacy.tell(entry.facts());
        }
        let hidden = hidden.into_iter().map(|tab| (tab.target.clone(), tab));
        (self.hidden, self.privacy) = (hidden.collect(), privacy);
        self
    }

    /// Keeps a tab to itself, if that has to be.
    pub(super) fn hide(&mut self, tab: &TabFacts) -> bool {
        let hides = self.privacy.hides(tab.context.as_ref());
        match hides {
            true => drop(self.hidden.insert(tab.target.clone(), tab.clone())),
            false => self.privacy.tell(tab),
        }
        hides
    }

    /// We made this tab. Where Chrome puts it if we name no context is the default one.
    pub(super) fn own(&mut self, target: &TargetId) {
        let Some(tab) = self.hidden.remove(target) else {
            return;
        };
        if let Some(context) = &tab.context {
            self.privacy.open(context.clone());
        }
        self.tabs.insert(target.clone(), Entry::new(tab));
    }

    /// Other tabs may be private now than before.
    pub(super) async fn look_again(&mut self) {
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
    fn what_is_neither_in_the_default_context_nor_in_one_of_ours_is_hidden() {
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
    fn without_a_named_default_the_only_context_that_no_program_made_is_it() {
        let alone = privacy(
            json!({"browserContextIds": ["PROGRAM"]}),
            &["D", "D", "PROGRAM"],
        );
        assert_eq!(
            hidden(&alone, &["D", "PRIVATE", "PROGRAM"]),
            ["PRIVATE", "PROGRAM"]
        );
        // Of several nobody can tell which, until we open a tab.
        let several = privacy(json!({}), &["D", "PRIVATE"]);
        assert_eq!(hidden(&several, &["D", "PRIVATE"]), ["D", "PRIVATE"]);
        assert!(several.open(ContextId::from("D")));
        assert_eq!(hidden(&several, &["D", "PRIVATE"]), ["PRIVATE"]);
    }

    #[test]
    fn where_nothing_is_guarded_nothing_is_private() {
        let launched = Privacy::default();
        assert!(!launched.open(ContextId::from("OURS")));
        assert_eq!(hidden(&launched, &["OURS", "PRIVATE"]), [""; 0]);
    }

    #[test]
    fn private_tabs_that_agents_know_are_named_when_they_have_to_go() {
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
