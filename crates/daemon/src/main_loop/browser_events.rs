//! Converts events of browsers into inputs of the core.

use super::MainLoop;
use crate::convert;
use std::sync::Arc;
use tabmux_browser::page_tools::{FoundTool, ToolSource};
use tabmux_browser::tab::DocumentId as BrowserDocument;
use tabmux_browser::{BrowserEvent, TabFacts};
use tabmux_core::{BrowserId, CallId, DocumentId, Input, TabLocation, TargetId};

impl MainLoop {
    pub(super) fn browser_event(&mut self, browser: BrowserId, event: BrowserEvent) {
        if let BrowserEvent::TabAppeared { tab, .. } = &event
            && self.browsers.hides(browser, tab)
        {
            return;
        }
        let facts = |tab: TabFacts| {
            let context = tab.context.as_ref();
            let owner = context.and_then(|context| self.browsers.contexts.owner(browser, context));
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
                self.page_tools.forget_browser(browser);
                return self.browsers.gone(browser, None, &mut self.core);
            }
            BrowserEvent::LeaseLost { lives, reason } => {
                self.page_tools.forget_browser(browser);
                let of_grid = Some((lives, reason));
                return self.browsers.gone(browser, of_grid, &mut self.core);
            }
        };
        self.core.input(input);
    }

    /// A tab shows a new document: forgets the tools of the old one.
    fn document_changed(
        &mut self,
        browser: BrowserId,
        target: TargetId,
        document: BrowserDocument,
    ) -> Input {
        self.page_tools.forget_tab(browser, &target);
        Input::DocumentChanged {
            browser,
            target,
            document: DocumentId(document.0.into()),
        }
    }

    fn tools_found(
        &mut self,
        browser: BrowserId,
        target: TargetId,
        (document, source, left_out): (BrowserDocument, ToolSource, usize),
        tools: Vec<Arc<FoundTool>>,
    ) -> Input {
        let (source, tools) = self
            .page_tools
            .found(browser, target.clone(), source, &tools);
        Input::ToolsFound {
            browser,
            target,
            document: DocumentId(document.0.into()),
            source,
            tools,
            left_out,
        }
    }

    /// An attempt to connect takes long: tells the waiting clients why.
    pub(super) fn awaited(&mut self, browser: BrowserId, message: &str) {
        // Also those whose session has removed the browser.
        self.browsers.queued.give_up_unwanted(&self.core);
        let waiting = self.core.waiting_for(browser);
        if self.browsers.queued.note_waiting(browser, waiting.len()) {
            self.core.input(Input::StillConnecting { browser });
        }
        for call in waiting {
            self.progressed(call, message.to_owned());
        }
    }
}
