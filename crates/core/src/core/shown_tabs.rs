//! The tabs that a session sees, for what is listed beside its calls.

use super::Core;
use crate::{DocumentId, Reply, SessionId, TabRow};

/// A tab that a session sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownTab {
    /// The session's number of its browser.
    pub browser: usize,
    /// The same row as in the session's list.
    pub row: TabRow,
    /// What the tab shows, if it is in a browser.
    pub document: Option<DocumentId>,
    /// Whether the session may not see what the tab shows.
    pub is_hidden: bool,
}

impl Core {
    /// The tabs that a session sees in all of its browsers, as its lists show them.
    pub fn shown_tabs(&mut self, session: SessionId) -> Vec<ShownTab> {
        let browsers: Vec<_> = self
            .sessions
            .get(&session)
            .into_iter()
            .flat_map(|known| &known.browser_bindings)
            .map(|binding| (binding.number, binding.browser))
            .collect();
        let mut all = Vec::new();
        for (number, browser) in browsers {
            let shown = self.shown(session, browser);
            let (facts, pages): (Vec<_>, Vec<_>) = shown
                .map(|(id, tab)| {
                    let is_hidden = self.hidden(session, tab).is_some();
                    let document = tab.home.as_ref().map(|home| home.document);
                    ((document, is_hidden), self.row(session, id, tab))
                })
                .unzip();
            let selected = None;
            // A list gives its tabs the session's own numbers.
            let reply = self.in_session_numbers(session, Reply::Pages { pages, selected });
            if let Reply::Pages { pages, .. } = reply {
                let tabs = pages.into_iter().zip(facts);
                all.extend(tabs.map(|(row, (document, is_hidden))| ShownTab {
                    browser: number,
                    row,
                    document,
                    is_hidden,
                }));
            }
        }
        all
    }
}
