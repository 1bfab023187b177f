//! One browser: a cheap handle for the main loop, and the actor that tracks its tabs.

mod actor;
mod actor_requests;
mod connect;
mod contexts;
mod crashes;
mod detach;
mod downloads;
mod entry;
mod facts;
mod front;
mod heartbeat;
mod new_tabs;
mod open;
mod private;
mod proxy_login;
pub(crate) mod states;
mod stuck_pages;
#[cfg(test)]
mod tests;
mod tools;
mod web_mcp_support;

pub use connect::Connected;
pub use facts::TabFacts;
pub use heartbeat::Heartbeat;
pub(crate) use new_tabs::MOST_NEW_TABS;
pub use tabmux_cdp::types::browser::BrowserContextId as ContextId;

use crate::acquire::Loss;
use crate::address::Address;
use crate::bounds;
use crate::error::ToolError;
use crate::files::OutputFolder;
use crate::introspect;
use crate::page_tools::{FoundTool, Mark, ToolSource};
use crate::permissions::Grants;
use crate::tab::{DocumentId, Gone, Load, Tab, TargetId};
use actor_requests::ActorRequest;
use downloads::Staging;
use private::Privacy;
use states::States;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use stuck_pages::StuckPages;
use tabmux_cdp::Session;
use tabmux_cdp::types::{browser, target};
use tokio::sync::{OnceCell, mpsc, oneshot};

/// What is known about a browser when it connects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserInfo {
    /// `Chrome`, `Chromium`, `Edge`, …
    pub name: String,
    /// Its version, such as `156.0.8078.79`.
    pub version: String,
    /// Whether we launched it, and so may close it.
    pub launched: bool,
    /// The tabs it had at that time.
    pub tabs: Vec<TabFacts>,
    /// The tab in front, if that is known.
    pub front: Option<TargetId>,
    /// Whether a grid handed it out instead of one that is gone.
    pub replaces: bool,
}

/// What a browser reports by itself, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowserEvent {
    /// There is a new tab.
    TabAppeared {
        /// The tab.
        tab: TabFacts,
        /// What opened it.
        origin: TabOpener,
    },
    /// A tab changed its address or title.
    TabChanged(TabFacts),
    /// A tab is closed or has crashed.
    TabGone {
        /// The tab.
        target: TargetId,
        /// Why.
        gone: Gone,
    },
    /// A tab shows another document. The tools of the previous one are gone.
    DocumentChanged {
        /// The tab.
        target: TargetId,
        /// The new document.
        document: DocumentId,
    },
    /// All page tools that a tab's document has now, from one source.
    ToolsFound {
        /// The tab.
        target: TargetId,
        /// The document that it shows.
        document: DocumentId,
        /// Where they come from.
        source: ToolSource,
        /// The tools.
        tools: Vec<Arc<FoundTool>>,
        /// How many more the page has beyond the limit.
        left_out: usize,
    },
    /// The page in a tab uses the page library, and got this mark.
    LibraryFound {
        /// The tab.
        target: TargetId,
        /// The document that it shows.
        document: DocumentId,
        /// The mark.
        mark: Mark,
    },
    /// The user switched to this tab.
    InFront {
        /// The tab.
        target: TargetId,
    },
    /// The browser is gone. This is the last event.
    Gone,
    /// The connection to a browser of a grid is gone. This is the last event.
    LeaseLost {
        /// Whether the grid says that the browser lives: the next connection finds its tabs.
        lives: bool,
        /// What happened, as the end of a sentence.
        reason: String,
    },
}

impl From<Loss> for BrowserEvent {
    fn from(loss: Loss) -> Self {
        let (lives, reason) = match loss {
            Loss::Gone => return Self::Gone,
            Loss::Disconnected(reason) => (true, reason),
            Loss::Ended(reason) => (false, reason),
        };
        Self::LeaseLost { lives, reason }
    }
}

/// What opened a tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TabOpener {
    /// The user or the browser itself.
    Browser,
    /// A page.
    Popup {
        /// The tab of that page.
        opener: TargetId,
    },
    /// [`Browser::open`], for the call with this tag.
    Call(u64),
    /// [`Browser::close_tab`], because the browser would exit without a tab.
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
    states: States,
    /// Where a launched browser puts downloads first.
    staging: Option<Staging>,
    requests: mpsc::Sender<ActorRequest>,
    stuck: StuckPages,
    web_mcp: OnceLock<bool>,
    /// Whether the browser uses a proxy that needs a password.
    signs_in: bool,
    grants: Grants,
    /// Set once new tabs are paused until the policy has been checked.
    holding: OnceCell<()>,
}

impl Browser {
    /// Whether a person uses this browser. Then its tabs are left alone unless a call names them.
    pub fn is_personal(&self) -> bool {
        self.0.personal
    }

    /// An attached tab, ready for tools. Attaches it if needed.
    pub async fn tab(&self, target: &TargetId) -> Result<Tab, ToolError> {
        let tab = self.attach(target).await?;
        tab.ready(READY_LIMIT).await?;
        Ok(tab)
    }

    /// Opens a tab at `address`. Before this resolves, the tab is reported as [`TabOpener::Call`] with `tag`, even if
    /// its page cannot be loaded; then the caller has to close it. With `whole`, waits until the page is loaded, but
    /// never longer than `limit`; the tab's state at that time has been reported. Its downloads belong to `session`.
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

    /// Waits until a tab has loaded its page, at most `limit`. Its state at that time has been reported.
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

    /// Applies the current task's policy to a tab: see [`crate::bounds`].
    pub async fn apply_policy(&self, target: &TargetId) {
        if let Some(policy) = bounds::here().filter(|policy| !policy.is_open())
            && let Ok(tab) = self.tab(target).await
        {
            self.guard_new_tabs().await;
            tab.apply_policy(&policy, self.stops_requests()).await;
        }
    }

    /// Removes all policies from a tab.
    pub async fn clear_policies(&self, target: &TargetId) {
        if let Ok(tab) = self.attach(target).await {
            tab.clear_policies().await;
        }
    }

    /// Whether requests that the policy disallows are blocked. Not in a person's own browser: there the user decides
    /// where to go.
    pub(crate) fn stops_requests(&self) -> bool {
        !self.0.personal
    }

    /// Attaches a tab if needed, to find the tools of its page. They have been reported when this resolves.
    pub async fn look_for_tools(&self, target: &TargetId) -> Result<(), ToolError> {
        let tab = self.attach(target).await?;
        if tab.state().ready {
            return Ok(()); // It is already followed.
        }
        tab.ready(READY_LIMIT).await?;
        report_tools(&tab).await;
        Ok(())
    }

    /// Generates up to `limit` tools from what a tab's page shows now. They have been reported when this resolves.
    pub async fn generate_tools(&self, target: &TargetId, limit: usize) -> Result<(), ToolError> {
        let tab = self.tab(target).await?;
        let read = introspect::read(&tab, limit);
        let read = tokio::time::timeout(GENERATE_LIMIT, read).await;
        read.map_err(|_| ToolError::Stuck)??;
        tab.found().report().await;
        Ok(())
    }

    /// Asks Chrome for the titles of its tabs, because Chrome does not report changes of titles. Changes have been
    /// reported when this resolves.
    pub async fn refresh(&self, limit: Duration) -> Result<(), ToolError> {
        let targets = target::GetTargets::default();
        let targets = self.0.session.send_within(targets, limit);
        let (targets, ()) = tokio::join!(targets, self.learn_default(limit));
        let targets = targets?.target_infos;
        let pages = targets.iter().filter(|info| info.r#type == "page");
        self.report(pages.map(TabFacts::from).collect()).await
    }

    /// Closes a tab and waits until it is gone. If it is the `last` one, a blank tab is opened first, so that the
    /// browser does not exit.
    pub async fn close_tab(&self, target: &TargetId, last: bool) -> Result<(), ToolError> {
        let (done, closed) = oneshot::channel();
        self.request(ActorRequest::AwaitGone {
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
        let closing = async {
            self.0
                .session
                .send_within(close.clone(), CLOSE_LIMIT)
                .await?;
            let mut closed = closed;
            // On a busy machine Chrome sometimes confirms the command and does not close a tab that was just opened.
            while tokio::time::timeout(CLOSE_AGAIN, &mut closed)
                .await
                .is_err()
            {
                if !self.asks_the_user(target).await {
                    self.0.session.post(close.clone());
                }
            }
            Ok(())
        };
        let timed_out = ToolError::TimedOut {
            what: "Closing the tab".into(),
            millis: CLOSE_LIMIT.as_millis(),
            next: "It may be asking the user to confirm; call handle_dialog or try again.".into(),
        };
        let closed = tokio::time::timeout(CLOSE_LIMIT, closing).await;
        closed.unwrap_or(Err(timed_out))
    }

    /// Whether a dialog is open in the tab.
    async fn asks_the_user(&self, target: &TargetId) -> bool {
        let tab = self.attached(target).await;
        tab.is_some_and(|tab| tab.state().dialog.is_some())
    }

    /// Brings a tab to the front.
    pub async fn bring_to_front(&self, target: &TargetId) -> Result<(), ToolError> {
        let target_id = target.clone();
        self.0
            .session
            .send(target::ActivateTarget { target_id })
            .await?;
        Ok(())
    }

    /// While a session holds a tab, makes it run as if it were in front; afterwards, restores its previous state.
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
            tab.clear_policies().await;
            crate::tools::reset_tab(&tab).await;
        }
    }

    /// Keeps generating up to `limit` tools from a tab's page whenever it changes. `None` stops it.
    pub async fn introspect(&self, target: &TargetId, limit: Option<usize>) {
        let tab = match limit {
            Some(_) => self.attach(target).await.ok(),
            None => self.attached(target).await,
        };
        if let Some(tab) = tab {
            tab.introspect(limit);
        }
    }

    /// Closes a browser that we launched, or disconnects from one that we did not.
    pub async fn shut_down(&self) {
        let (done, ended) = oneshot::channel();
        if self.0.launched {
            self.0.session.post(browser::Close::default());
        }
        if self.request(ActorRequest::ShutDown { done }).await.is_ok() {
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
                // Chrome uses the address as the title until it knows the title.
                false => facts.title.clear(),
            }
        }
        self.report(vec![facts]).await
    }

    /// Resolves when the tools that a tab's page has now have been reported.
    pub async fn report_tools(&self, target: &TargetId) -> Result<(), ToolError> {
        // A tab that its user took back meanwhile is not attached again.
        let Some(tab) = self.attached(target).await else {
            return Ok(());
        };
        if let Some(limit) = tab.awaits_reading() {
            let _ = tokio::time::timeout(GENERATE_LIMIT, introspect::read(&tab, limit)).await;
        }
        report_tools(&tab).await;
        Ok(())
    }

    /// Resolves when the changes of these tabs have been reported.
    async fn report(&self, tabs: Vec<TabFacts>) -> Result<(), ToolError> {
        let (done, reported) = oneshot::channel();
        self.request(ActorRequest::Refresh { tabs, done }).await?;
        reported.await.map_err(|_| ToolError::BrowserGone)
    }

    /// The handle of a tab, attached now if it was not.
    async fn attach(&self, target: &TargetId) -> Result<Tab, ToolError> {
        let (answer, attached) = oneshot::channel();
        self.request(ActorRequest::Attach {
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

    async fn request(&self, request: ActorRequest) -> Result<(), ToolError> {
        self.0
            .requests
            .send(request)
            .await
            .map_err(|_| ToolError::BrowserGone)
    }
}

/// Resolves when the tools that a page has now have been reported.
async fn report_tools(tab: &Tab) {
    tab.let_tools_settle().await;
    tab.found().report().await;
}

/// A page that takes longer to read gets its tools later.
const GENERATE_LIMIT: Duration = Duration::from_secs(2);
const READY_LIMIT: Duration = Duration::from_secs(10);
/// When Chrome is asked again to close a tab.
const CLOSE_AGAIN: Duration = Duration::from_secs(2);
/// Chrome can be slow on a busy machine; the call also has its own deadline.
const CLOSE_LIMIT: Duration = Duration::from_secs(20);
