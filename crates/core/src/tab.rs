//! One tab: what it shows, whether sessions can see it, and which sessions hold it.

use crate::lane::Lane;
use crate::offer::{Offers, Source};
use crate::registry::Owner;
use crate::{
    BrowserId, ConnectionId, DocumentId, PageFacts, PageId, SessionId, TabFacts, TabId,
    TabLocation, TabName, TabRow, TargetId, Time, ToolName,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// One tab: of a connected browser, with the page library, or both.
#[derive(Debug)]
pub(crate) struct Tab {
    /// Its place in a browser, if that is connected.
    pub(crate) home: Option<Home>,
    /// Its connection through the page library, if it has one.
    pub(crate) library: Option<Library>,
    pub(crate) url: Arc<str>,
    pub(crate) title: Option<Arc<str>>,
    pub(crate) stage: TabPhase,
    /// The session whose isolated context it is in. Other sessions cannot see it.
    pub(crate) context: Option<SessionId>,
    /// The session that it was opened for, by a call or as a popup.
    pub(crate) owner: Option<SessionId>,
    /// The sessions that are bound to it.
    pub(crate) focused_by: BTreeSet<SessionId>,
    pub(crate) lane: Lane,
    pub(crate) offers: Offers,
    /// How many tools were left out: registered ones, and generated ones.
    pub(crate) left_out: (u32, u32),
    pub(crate) reading: Reading,
    /// When it was last registered, focused or used.
    pub(crate) last_seen: Time,
}

/// How a tab's generated tools change.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    /// The document that they were last read from.
    pub(crate) document: Option<DocumentId>,
    /// When they last changed, or the document did.
    pub(crate) changed: Time,
    /// Whether the tools of the document did not change for `page_rests`.
    pub(crate) rested: bool,
}

/// A tab's place in a browser.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    pub(crate) browser: BrowserId,
    pub(crate) target: TargetId,
    pub(crate) document: DocumentId,
}

/// A tab's connection through a worker of the page library.
#[derive(Clone, Debug)]
pub(crate) struct Library {
    pub(crate) connection: ConnectionId,
    pub(crate) page: PageId,
    /// The document, as the library counts documents.
    pub(crate) document: DocumentId,
    /// The browser's document in which the page was found, if it was.
    pub(crate) found_in: Option<DocumentId>,
}

/// A connected worker of the page library.
#[derive(Debug)]
pub(crate) struct Worker {
    /// The origin of its pages.
    pub(crate) origin: Arc<str>,
    pub(crate) pages: BTreeSet<PageId>,
}

/// Whether sessions can see a tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TabPhase {
    /// A call that has not finished is opening it: hidden.
    Opening,
    /// It is no longer needed and is being closed: hidden.
    Discarded,
    /// It is blank and unused: hidden until it is used.
    Unused,
    /// Visible.
    Open,
}

impl Tab {
    pub(crate) fn new(browser: BrowserId, facts: TabFacts, stage: TabPhase, now: Time) -> Self {
        let home = Home {
            browser,
            target: facts.target,
            document: DocumentId::default(),
        };
        Self {
            home: Some(home),
            library: None,
            url: facts.url,
            title: facts.title,
            stage,
            context: facts.context,
            owner: None,
            focused_by: BTreeSet::new(),
            lane: Lane::default(),
            offers: Offers::default(),
            left_out: (0, 0),
            reading: Reading::default(),
            last_seen: now,
        }
    }

    /// A tab that is known through the page library only.
    pub(crate) fn of_page(connection: ConnectionId, facts: PageFacts, now: Time) -> Self {
        Self {
            home: None,
            library: Some(Library {
                connection,
                page: facts.id,
                document: facts.document,
                found_in: None,
            }),
            url: facts.url,
            title: Some(facts.title),
            stage: TabPhase::Open,
            context: None,
            owner: None,
            focused_by: BTreeSet::new(),
            lane: Lane::default(),
            offers: Offers::default(),
            left_out: (0, 0),
            reading: Reading::default(),
            last_seen: now,
        }
    }

    /// The tab was known only through the page library, because its browser was disconnected. Now the browser
    /// reports it again.
    pub(crate) fn restore_to_browser(&mut self, found: Self) {
        *self = Self {
            library: self.library.take(),
            lane: std::mem::take(&mut self.lane),
            offers: std::mem::take(&mut self.offers),
            ..found
        };
    }

    pub(crate) fn browser(&self) -> Option<BrowserId> {
        self.home.as_ref().map(|home| home.browser)
    }

    /// The document that a source's tools belong to.
    pub(crate) fn document(&self, source: Source) -> Option<DocumentId> {
        match source {
            Source::Library => self.library.as_ref().map(|library| library.document),
            Source::WebMcp | Source::Generated => self.home.as_ref().map(|home| home.document),
        }
    }

    /// Whose tools those of a source are. `None` for tools of a browser, after the tab has left it.
    pub(crate) fn owner_of(&self, source: Source) -> Option<Owner> {
        match source {
            Source::Library => Some(Owner::Library),
            Source::WebMcp | Source::Generated => self.browser().map(Owner::Browser),
        }
    }

    /// Where the driver runs the tools of a source.
    pub(crate) fn place(&self, source: Source) -> Option<TabLocation> {
        match source {
            Source::Library => self.library.as_ref().map(Library::place),
            Source::WebMcp | Source::Generated => self.home.as_ref().map(Home::place),
        }
    }

    /// Its name in texts.
    pub(crate) fn name(&self, id: TabId) -> TabName {
        match &self.library {
            Some(library) => TabName::Page(library.page.clone()),
            None => TabName::Number(id),
        }
    }

    /// Updates the facts. An unused tab that is no longer blank becomes visible.
    pub(crate) fn change(&mut self, facts: TabFacts) {
        if self.stage == TabPhase::Unused && !facts.blank {
            self.stage = TabPhase::Open;
        }
        self.url = facts.url;
        self.title = facts.title;
    }

    /// Takes the title that the page library reported, until the browser has one.
    pub(crate) fn title_from_page(&mut self, title: Option<Arc<str>>) {
        if self.title.as_deref().is_none_or(str::is_empty) && title.is_some() {
            self.title = title;
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.stage == TabPhase::Open
    }

    /// The sessions that hold it, the one that it was opened for first.
    pub(crate) fn holders(&self) -> impl Iterator<Item = SessionId> {
        self.owner
            .into_iter()
            .chain(self.focused_by.iter().copied())
    }

    /// Whether a session can use it: an isolated session uses its own context only, others the default one.
    pub(crate) fn is_within_reach(&self, session: SessionId, isolated: bool) -> bool {
        match self.context {
            Some(owner) => owner == session,
            None => !isolated,
        }
    }

    pub(crate) fn is_held(&self) -> bool {
        self.holders().next().is_some()
    }

    pub(crate) fn is_held_by(&self, session: SessionId) -> bool {
        self.holders().any(|holder| holder == session)
    }

    /// Whether a session other than this one holds it.
    pub(crate) fn is_shared_with_others(&self, session: SessionId) -> bool {
        self.holders().any(|holder| holder != session)
    }

    /// The session that its popups belong to.
    pub(crate) fn popup_owner(&self) -> Option<SessionId> {
        self.holders().next()
    }

    /// The page tools, by name.
    pub(crate) fn page_tools(&self) -> impl Iterator<Item = ToolName> {
        self.offers.best(|_| true).map(|(name, ..)| name)
    }

    pub(crate) fn row(&self, id: TabId, session: SessionId) -> TabRow {
        let untitled = match &*self.url {
            // A blank page never gets a title, so `Loading...` would be wrong.
            BLANK => BLANK,
            _ => LOADING,
        };
        TabRow {
            id,
            title: self.title.clone().unwrap_or_else(|| untitled.into()),
            url: self.url.clone(),
            focused: self.focused_by.contains(&session),
            shared: self.is_shared_with_others(session),
            tool_count: self.page_tools().count(),
        }
    }
}

impl Home {
    pub(crate) fn place(&self) -> TabLocation {
        TabLocation::Browser {
            browser: self.browser,
            target: self.target.clone(),
        }
    }
}

impl Library {
    pub(crate) fn place(&self) -> TabLocation {
        TabLocation::Page {
            connection: self.connection,
            page: self.page.clone(),
        }
    }
}

const LOADING: &str = "Loading...";
const BLANK: &str = "about:blank";
