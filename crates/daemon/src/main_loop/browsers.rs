//! Converts events of browsers into inputs of the core.

use super::MainLoop;
use crate::convert;
use tabmux_browser::{BrowserEvent, TabFacts};
use tabmux_core::{BrowserId, CallId, DocumentId, Input, TabLocation, TargetId};

impl MainLoop {
    pub(super) fn browser_event(&mut self, browser: BrowserId, event: BrowserEvent) {
        if self.is_private(browser, &event) {
            return;
        }
        let facts = |tab: TabFacts| {
            let context = tab.context.as_ref();
            let owner = context.and_then(|context| self.contexts.owner(browser, context));
            convert::facts(tab, owner)
        };
        let target = |id: tabmux_browser::TargetId| TargetId(id.as_str().into());
        let input = match event {
            BrowserEvent::TabAppeared { tab, origin } => Input::TabAppeared {
                browser,
                tab: facts(tab),
                origin: match origin {
                    tabmux_browser::TabOpener::Browser => tabmux_core::TabOpener::Browser,
                    tabmux_browser::TabOpener::Spare => tabmux_core::TabOpener::Spare,
                    tabmux_browser::TabOpener::Call(tag) => {
                        tabmux_core::TabOpener::Call(CallId(tag))
                    }
                    tabmux_browser::TabOpener::Popup { opener } => tabmux_core::TabOpener::Popup {
                        opener: target(opener),
                    },
                },
            },
            BrowserEvent::TabChanged(tab) => Input::TabChanged {
                browser,
                tab: facts(tab),
            },
            BrowserEvent::TabGone { target: id, gone } => {
                let target = target(id);
                self.page_tools.forget_tab(browser, &target);
                Input::TabGone {
                    browser,
                    target,
                    crashed: gone == tabmux_browser::Gone::Crashed,
                }
            }
            BrowserEvent::DocumentChanged {
                target: id,
                document,
            } => self.document_changed(browser, target(id), document),
            BrowserEvent::ToolsFound {
                target: id,
                document,
                source,
                tools,
                left_out,
            } => {
                let found = (document, source, left_out);
                self.tools_found(browser, target(id), found, tools)
            }
            BrowserEvent::LibraryFound {
                target: id,
                document,
                mark,
            } => {
                let document = DocumentId(document.0.into());
                let joined = self
                    .page_tools
                    .library_found(browser, target(id), document, mark);
                match joined {
                    Some(joined) => joined,
                    None => return,
                }
            }
            BrowserEvent::InFront { target: id } => Input::TabActivated {
                tab: TabLocation::Browser {
                    browser,
                    target: target(id),
                },
            },
            BrowserEvent::Gone => {
                self.browsers.remove(&browser);
                self.metrics.lost(browser);
                self.following.forget(browser);
                let personal = self.persons.is_reached(browser);
                let reconnected_early = self.persons.take_reconnected_early(browser);
                self.persons.reached(browser, None);
                self.contexts.forget(browser);
                self.page_tools.forget_browser(browser);
                let reason = "it was closed or its connection ended".into();
                let gone = match personal {
                    // Chrome may end the extension's worker at any time, which does not affect the tabs.
                    true => Input::ConnectionLost { browser, reason },
                    false => Input::BrowserGone { browser, reason },
                };
                self.core.input(gone);
                if reconnected_early {
                    self.reach_again();
                }
                return;
            }
        };
        self.core.input(input);
    }

    /// Whether the event is about a tab that is now hidden: it was sent before the browser was told.
    fn is_private(&self, browser: BrowserId, event: &BrowserEvent) -> bool {
        let handle = self.browsers.get(&browser);
        match (event, handle) {
            (BrowserEvent::TabAppeared { tab, .. }, Some(handle)) => handle.hides(tab),
            _ => false,
        }
    }
}
