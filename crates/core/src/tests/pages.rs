//! Pages with tools around the simulator.

use super::sim::{ONE, Sim};
use crate::{
    BrowserId, CallKind, ConnectionId, DocumentId, Finish, Input, Output, PageFacts, PageId, Reply,
    SchemaId, SessionConfig, SessionId, Source, TabId, TabLocation, TabRef, TargetId, ToolFacts,
    ToolKey, ToolName,
};
use std::collections::BTreeMap;

/// A simulator, and one worker of the page library for all pages.
pub(super) struct Pages {
    pub(super) sim: Sim,
    documents: BTreeMap<String, u64>,
}

pub(super) const WORKER: ConnectionId = ConnectionId(1);

impl Pages {
    /// One static session, and no browser.
    pub(super) fn new() -> Self {
        Self::with_session(super::sim::fixed())
    }

    pub(super) fn with_session(config: SessionConfig) -> Self {
        let mut sim = Sim::new(super::browser::FakeBrowser::running(&[
            "https://user.test/",
        ]));
        sim.open_session_as(ONE, config);
        Self::around(sim)
    }

    pub(super) fn around(mut sim: Sim) -> Self {
        sim.happen(Input::PagesConnected {
            connection: WORKER,
            origin: "https://app.test".into(),
        });
        let documents = BTreeMap::new();
        Self { sim, documents }
    }

    pub(super) fn open(&mut self, page: &str) {
        self.documents.insert(page.to_owned(), 1);
        self.appear(page);
    }

    /// Opens a page in the session's browser, which is connected first if necessary.
    pub(super) fn open_in_browser(&mut self, page: &str) {
        if self.sim.browser.id.is_none() {
            self.sim.call(CallKind::ListPages);
        }
        self.sim.user_opens(&url(page));
        self.open(page);
        self.join(page);
    }

    /// Opens a page that registers a tool.
    pub(super) fn open_with(&mut self, page: &str, tool: &str) {
        self.open(page);
        self.register(page, tool);
    }

    /// The same, in the session's browser.
    pub(super) fn open_in_browser_with(&mut self, page: &str, tool: &str) {
        self.open_in_browser(page);
        self.register(page, tool);
    }

    /// The page is found in the tab that shows its address.
    pub(super) fn join(&mut self, page: &str) {
        let (browser, target) = self.tab(page);
        self.sim.happen(Input::PageJoined {
            connection: WORKER,
            page: id(page),
            browser,
            target,
            document: DocumentId(1),
        });
    }

    /// The page's tab in the browser.
    pub(super) fn tab(&self, page: &str) -> (BrowserId, TargetId) {
        let target = self.sim.browser.at(&url(page));
        (self.sim.browser.id.unwrap(), target)
    }

    pub(super) fn number(&self, page: &str) -> TabId {
        let (browser, target) = self.tab(page);
        self.sim.core.tab(browser, &target).unwrap()
    }

    /// All tools that the browser finds in a page.
    pub(super) fn find(&mut self, page: &str, source: Source, tools: &[&str]) {
        let (browser, target) = self.tab(page);
        let tools = tools.iter().zip(1..);
        self.sim.happen(Input::ToolsFound {
            browser,
            target,
            document: DocumentId(1),
            source,
            tools: tools.map(|(name, key)| tool(name, key, 1)).collect(),
            left_out: 0,
        });
    }

    pub(super) fn reload(&mut self, page: &str) {
        *self.documents.get_mut(page).unwrap() += 1;
        self.appear(page);
    }

    pub(super) fn close(&mut self, page: &str) {
        self.sim.happen(Input::PageGone {
            connection: WORKER,
            page: id(page),
        });
    }

    pub(super) fn front(&mut self, page: &str) {
        let tab = place(page);
        self.sim.happen(Input::TabActivated { tab });
    }

    pub(super) fn hide(&mut self, page: &str) {
        let tab = place(page);
        self.sim.happen(Input::TabDeactivated { tab });
    }

    pub(super) fn register(&mut self, page: &str, name: &str) {
        self.register_as(page, tool(name, key(name), 1));
    }

    pub(super) fn register_as(&mut self, page: &str, tool: ToolFacts) {
        self.sim.happen(Input::ToolRegistered {
            connection: WORKER,
            page: id(page),
            tool,
        });
    }

    pub(super) fn unregister(&mut self, page: &str, name: &str) {
        self.sim.happen(Input::ToolUnregistered {
            connection: WORKER,
            page: id(page),
            key: ToolKey(key(name)),
        });
    }

    /// Makes a call without waiting for its answer.
    pub(super) fn ask(&mut self, name: &str, tab: Option<&str>) -> crate::CallId {
        self.sim.ask(page_tool(name, tab))
    }

    pub(super) fn call(&mut self, name: &str, tab: Option<&str>) -> Reply {
        self.sim.call(page_tool(name, tab))
    }

    /// The refusal of a call.
    pub(super) fn refusal(&mut self, kind: CallKind) -> String {
        match self.sim.call(kind) {
            Reply::Refused(refusal) => refusal.to_string(),
            other => panic!("it was not refused but {other:?}"),
        }
    }

    /// The tools that ran so far: the page, and the page's name of the tool.
    pub(super) fn runs(&self) -> Vec<(TabLocation, String)> {
        let run = |output: &Output| match output {
            Output::RunTool { place, name, .. } => Some((place.clone(), name.to_string())),
            _ => None,
        };
        self.sim.outputs.iter().filter_map(run).collect()
    }

    /// How many notices the first session gets during an action and within a second after it.
    pub(super) fn notices(&mut self, act: impl FnOnce(&mut Self)) -> usize {
        self.sim.settle();
        let before = self.sim.outputs.len();
        act(self);
        self.sim.settle();
        let notice = Output::ToolsChanged { session: ONE };
        let since = self.sim.outputs[before..].iter();
        since.filter(|output| **output == notice).count()
    }

    /// The page tools in a session's list.
    pub(super) fn listed(&self, session: SessionId) -> Vec<String> {
        let tools = self.sim.core.tools(session).into_iter();
        let of_pages = tools.filter(|name| self.sim.core.page_tool(session, *name).is_some());
        of_pages.map(|name| name.to_string()).collect()
    }

    pub(super) fn finish(&mut self, call: crate::CallId) {
        let outcome = Finish::Done;
        self.sim.happen(Input::Finished { call, outcome });
    }

    fn appear(&mut self, page: &str) {
        let document = DocumentId(self.documents[page]);
        self.sim.happen(Input::PageAppeared {
            connection: WORKER,
            page: facts(page, document),
        });
    }
}

pub(super) fn facts(page: &str, document: DocumentId) -> PageFacts {
    PageFacts {
        id: id(page),
        url: url(page).into(),
        title: format!("Page {page}").into(),
        document,
    }
}

pub(super) fn tool(name: &str, key: u64, schema: u64) -> ToolFacts {
    ToolFacts {
        key: ToolKey(key),
        name: name.into(),
        schema: SchemaId(schema),
        read_only: false,
    }
}

/// A tool of the library always has the same key.
pub(super) fn key(name: &str) -> u64 {
    name.bytes()
        .fold(7, |key, byte| key * 31 % 1_000_003 + u64::from(byte))
}

pub(super) fn page_tool(name: &str, tab: Option<&str>) -> CallKind {
    let name = ToolName::parse(name).unwrap();
    let tab = tab.map(TabRef::from);
    CallKind::PageTool { name, tab }
}

pub(super) fn id(page: &str) -> PageId {
    PageId(page.into())
}

pub(super) fn place(page: &str) -> TabLocation {
    TabLocation::Page {
        connection: WORKER,
        page: id(page),
    }
}

pub(super) fn url(page: &str) -> String {
    format!("https://app.test/{page}")
}
