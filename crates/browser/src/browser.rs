//! One browser: a cheap handle for the main loop, and the actor that follows its tabs.

mod actor;
mod connect;
mod contexts;
mod crashes;
mod downloads;
mod entry;
mod facts;
mod front;
mod letting_go;
mod new_tabs;
mod open;
mod orders;
mod own_web_mcp;
mod permissions;
mod private;
mod proxy_login;
mod pulse;
mod reach;
mod stuck_pages;
#[cfg(test)]
mod tests;
mod tools;

pub use connect::{ConnectError, Connected, Source};
pub use facts::TabFacts;
pub(crate) use new_tabs::MOST_NEW_TABS;
pub use pulse::Pulse;
pub use tabmux_cdp::types::browser::BrowserContextId as ContextId;

use crate::address::Address;
use crate::bounds;
use crate::error::ToolError;
use crate::files::OutputFolder;
use crate::introspect;
use crate::page_tools::{FoundTool, Mark, ToolSource};
use crate::tab::{DocumentId, Gone, Load, Tab, TargetId};
use downloads::Staging;
use orders::Order;
use private::Privacy;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use stuck_pages::StuckPages;
use tabmux_cdp::Session;
use tabmux_cdp::types::{browser, target};
use tokio::sync::{OnceCell, mpsc, oneshot};

/// What a browser tells about itself when it connects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserInfo {
    /// `Chrome`, `Chromium`, `Edge`, …
    pub name: String,
    /// Its version, such as `156.0.8078.79`.
    pub version: String,
    /// Whether we launched it, and so may close it.
    pub launched: bool,
    /// The tabs it had then.
    pub tabs: Vec<TabFacts>,
    /// The one that its user had in front, as far as that can be told.
    pub front: Option<TargetId>,
}

/// What a browser reports without being asked, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowserEvent {
    /// A tab is there.
    TabAppeared {
        /// The tab.
        tab: TabFacts,
        /// Where it comes from.
        origin: TabOpener,
    },
    /// A tab shows something else, or under another title.
    TabChanged(TabFacts),
    /// A tab is no more.
    TabGone {
        /// The tab.
        target: TargetId,
        /// How it went.
        gone: Gone,
    },
    /// A tab shows another document. Tools of the one before are gone.
    DocumentChanged {
        /// The tab.
        target: TargetId,
        /// The new document.
        document: DocumentId,
    },
    /// All the tools of its own that a tab's page has now, as one source has them.
    ToolsFound {
        /// The tab.
        target: TargetId,
        /// The document that it shows.
        document: DocumentId,
        /// Who says so.
        source: ToolSource,
        /// The tools.
        tools: Vec<Arc<FoundTool>>,
        /// How many more there are.
        left_out: usize,
    },
    /// The page in a tab uses our library, and was given this.
    LibraryFound {
        /// The tab.
        target: TargetId,
        /// The document that it shows.
        document: DocumentId,
        /// What it was given.
        mark: Mark,
    },
    /// The user turned to this tab.
    InFront {
        /// The tab.
        target: TargetId,
    },
    /// The browser is no more; the last event.
    Gone,
}

/// Where a tab comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TabOpener {
    /// The user, or the browser itself.
    Browser,
    /// A page opened it.
    Popup {
        /// The tab of that page.
        opener: TargetId,
    },
    /// [`Browser::open`] made it, for the call with this tag.
    Call(u64),
    /// [`Browser::close_tab`] made it, so that the browser does not end with its last tab.
    Spare,
}

/// A handle to one connected browser.
#[derive(Clone, Debug)]
pub struct Browser(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    session: Session,
    launched: bool,
    personal: bool,
    privacy: Privacy,
    /// Where downloads of a browser of ours go first.
    staging: Option<Staging>,
    orders: mpsc::Sender<Order>,
    stuck: StuckPages,
    web_mcp: OnceLock<bool>,
    /// Whether it goes through a proxy that wants a password.
    signs_in: bool,
    /// What pages need not ask for.
    permissions: Arc<[String]>,
    /// Whether new tabs are held until it is known where they may go.
    holding: OnceCell<()>,
}

impl Browser {
    /// Whether it is the one that a person uses, so that its tabs are left alone unless somebody names them.
    pub fn is_personal(&self) -> bool {
        self.0.personal
    }

    /// An attached tab, ready for tools. Attaches it first where that has not happened yet.
    pub async fn tab(&self, target: &TargetId) -> Result<Tab, ToolError> {
        let tab = self.attach(target).await?;
        tab.ready(READY_LIMIT).await?;
        Ok(tab)
    }

    /// Opens a tab at `address`. The tab is announced as [`TabOpener::Call`] with `tag` before this
    /// resolves, also if its page cannot be loaded: then it is the caller who closes it. With
    /// `whole`, waits until the page is loaded; never longer than `limit`. How the tab looks then
    /// has been reported. What it downloads is the session's.
    pub async fn open(
        &self,
        address: &Address,
        context: Option<ContextId>,
        tag: u64,
        whole: bool,
        limit: Duration,
        session: Option<OutputFolder>,
    ) -> Result<TargetId, ToolError> {
        let opening = open::Opening {
            context,
            tag,
            whole,
            limit,
            session,
        };
        open::open(self, address, opening).await
    }

    /// Waits until a tab has loaded its page, at most `limit`. How it looks then has been reported.
    pub async fn settle(&self, target: &TargetId, limit: Duration) -> Result<(), ToolError> {
        let tab = self.tab(target).await?;
        tab.until(limit, |state| {
            state.load == Load::Complete && !state.navigating
        })
        .await?;
        self.report_title(&tab).await?;
        report_tools(&tab).await;
        Ok(())
    }

    /// Has a tab watched over for the session that this work is done for: see [`crate::bounds`].
    pub async fn watch_over(&self, target: &TargetId) {
        if let Some(policy) = bounds::here().filter(|policy| !policy.is_open())
            && let Ok(tab) = self.tab(target).await
        {
            self.guard_new_tabs().await;
            tab.watch_over(&policy, self.stops_requests()).await;
        }
    }

    /// Nobody's policy holds in a tab any more, until somebody comes with one.
    pub async fn watch_no_longer(&self, target: &TargetId) {
        if let Ok(tab) = self.attach(target).await {
            tab.watch_no_longer().await;
        }
    }

    /// Whether pages are kept from loading what a policy blocks. In a person's own browser they are not:
    /// it is theirs to go where they like.
    pub(crate) fn stops_requests(&self) -> bool {
        !self.0.personal
    }

    /// Attaches a tab if it is not, so that the tools of its page are known. They have been reported when
    /// this resolves.
    pub async fn look_for_tools(&self, target: &TargetId) -> Result<(), ToolError> {
        let tab = self.attach(target).await?;
        if tab.state().ready {
            return Ok(()); // It is looked after already.
        }
        tab.ready(READY_LIMIT).await?;
        report_tools(&tab).await;
        Ok(())
    }

    /// Makes tools from what a tab's page shows now, at most so many. They have been reported when this
    /// resolves.
    pub async fn generate_tools(&self, target: &TargetId, limit: usize) -> Result<(), ToolError> {
        let tab = self.tab(target).await?;
        let read = introspect::read(&tab, limit);
        let read = tokio::time::timeout(GENERATE_LIMIT, read).await;
        read.map_err(|_| ToolError::Stuck)??;
        tab.found().report().await;
        Ok(())
    }

    /// Asks Chrome how its tabs are called, which it does not tell by itself when a page changes
    /// its title. What is new has been reported when this resolves.
    pub async fn refresh(&self, limit: Duration) -> Result<(), ToolError> {
        let targets = target::GetTargets::default();
        let targets = self.0.session.send_within(targets, limit);
        let (targets, ()) = tokio::join!(targets, self.learn_default(limit));
        let targets = targets?.target_infos;
        let pages = targets.iter().filter(|info| info.r#type == "page");
        self.report(pages.map(TabFacts::from).collect()).await
    }

    /// Closes a tab and waits until it is gone. The `last` one is replaced by a blank one first,
    /// so that the browser does not end with it.
    pub async fn close_tab(&self, target: &TargetId, last: bool) -> Result<(), ToolError> {
        let (done, closed) = oneshot::channel();
        self.order(Order::AwaitGone {
            target: target.clone(),
            done,
        })
        .await?;
        if last {
            open::make(self, None, TabOpener::Spare).await?;
        }
        let close = target::CloseTarget {
            target_id: target.clone(),
        };
        self.0.session.send_within(close, CLOSE_LIMIT).await?;
        match tokio::time::timeout(CLOSE_LIMIT, closed).await {
            Ok(_) => Ok(()),
            Err(_) => Err(ToolError::TimedOut {
                what: "Closing the tab".into(),
                millis: CLOSE_LIMIT.as_millis(),
                next: "It may be asking the user to confirm; call handle_dialog or try again."
                    .into(),
            }),
        }
    }

    /// Shows a tab to the user, in front of all others.
    pub async fn bring_to_front(&self, target: &TargetId) -> Result<(), ToolError> {
        let target_id = target.clone();
        self.0
            .session
            .send(target::ActivateTarget { target_id })
            .await?;
        Ok(())
    }

    /// Makes a tab run as if it were in front, as long as a session holds it, and leaves it as it was
    /// found afterwards.
    pub async fn hold(&self, target: &TargetId, held: bool) {
        let tab = match held {
            true => self.attach(target).await.ok(),
            false => self.attached(target).await,
        };
        let Some(tab) = tab else {
            return;
        };
        tab.hold(held);
        if !held {
            tab.watch_no_longer().await;
            crate::tools::take_everything_back(&tab).await;
        }
    }

    /// Makes tools from a tab's page from now on, at most so many, and again whenever it changes; or no
    /// longer.
    pub async fn introspect(&self, target: &TargetId, limit: Option<usize>) {
        let tab = match limit {
            Some(_) => self.attach(target).await.ok(),
            None => self.attached(target).await,
        };
        if let Some(tab) = tab {
            tab.introspect(limit);
        }
    }

    /// Ends a browser that we launched, or lets go of one that we did not.
    pub async fn shut_down(&self) {
        let (done, ended) = oneshot::channel();
        if self.0.launched {
            self.0.session.post(browser::Close::default());
        }
        if self.order(Order::ShutDown { done }).await.is_ok() {
            let _ = ended.await;
        }
    }

    /// Reports the title that a tab has now. The page itself may know it before Chrome does.
    async fn report_title(&self, tab: &Tab) -> Result<(), ToolError> {
        let info = target::GetTargetInfo {
            target_id: Some(tab.target().clone()),
        };
        let info = self.0.session.send(info).await?.target_info;
        let mut facts = TabFacts::from(&info);
        let loaded = tab.state().load == Load::Complete;
        if facts.has_no_title() {
            match loaded {
                true => facts.title = tab.title().await.unwrap_or(facts.title),
                // Chrome calls it by its address until it knows better.
                false => facts.title.clear(),
            }
        }
        self.report(vec![facts]).await
    }

    /// Resolves when the tools that a tab's page has now have been reported, for those who did something
    /// there.
    pub async fn tell_tools(&self, target: &TargetId) -> Result<(), ToolError> {
        // A tab that its person took back meanwhile is not looked into again.
        let Some(tab) = self.attached(target).await else {
            return Ok(());
        };
        if let Some(limit) = tab.awaits_reading() {
            let _ = tokio::time::timeout(GENERATE_LIMIT, introspect::read(&tab, limit)).await;
        }
        report_tools(&tab).await;
        Ok(())
    }

    /// Resolves when what is new of these tabs has been reported.
    async fn report(&self, tabs: Vec<TabFacts>) -> Result<(), ToolError> {
        let (done, reported) = oneshot::channel();
        self.order(Order::Refresh { tabs, done }).await?;
        reported.await.map_err(|_| ToolError::BrowserGone)
    }

    /// The tab's handle, attached now if it was not yet.
    async fn attach(&self, target: &TargetId) -> Result<Tab, ToolError> {
        let (answer, attached) = oneshot::channel();
        self.order(Order::Attach {
            target: target.clone(),
            answer,
        })
        .await?;
        match tokio::time::timeout(READY_LIMIT, attached).await {
            Ok(Ok(tab)) => tab,
            Ok(Err(_)) => Err(ToolError::TabGone(Gone::Closed)),
            Err(_) => Err(ToolError::Stuck),
        }
    }

    async fn order(&self, order: Order) -> Result<(), ToolError> {
        self.0
            .orders
            .send(order)
            .await
            .map_err(|_| ToolError::BrowserGone)
    }
}

/// Resolves when the tools that a page has now have been reported.
async fn report_tools(tab: &Tab) {
    tab.let_tools_settle().await;
    tab.found().report().await;
}

/// A page that takes longer to be read gets its tools later.
const GENERATE_LIMIT: Duration = Duration::from_secs(2);
const READY_LIMIT: Duration = Duration::from_secs(10);
/// On a machine that is busy, Chrome takes its time; the call has a deadline of its own.
const CLOSE_LIMIT: Duration = Duration::from_secs(20);
