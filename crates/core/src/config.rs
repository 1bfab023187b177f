//! What the driver decides once: for the whole core, and for each session.

use crate::{BrowserKey, LostTab, PageNumbers, Routing, SiteFilter, TabId, TargetId, ToolName};
use std::sync::Arc;
use std::time::Duration;

/// Settings that hold for the core's whole life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The generic page actions of a focused tab, in any order: the core publishes them sorted by name.
    pub page_actions: Vec<ToolName>,
    /// All generic tools that work on a tab, those included that are not in the short list of a focused one.
    pub tab_tools: Vec<ToolName>,
    /// All tools of [`Mode::Static`], in published order.
    pub static_tools: Vec<ToolName>,
    /// How long list changes that no agent asked for are gathered before they are announced.
    pub coalesce: Duration,
    /// In the long run, this much time is between two such announcements to one session: each makes its client
    /// fetch the whole list.
    pub notice_gap: Duration,
    /// So many may come at once after a quiet time.
    pub notice_burst: u32,
    /// The shortest deadline of a call.
    pub least_deadline: Duration,
    /// What a call may take beyond the `timeout` its agent asked for.
    pub deadline_margin: Duration,
    /// The longest deadline of a call, whatever its agent asked for.
    pub most_deadline: Duration,
    /// How many sessions may be open at once.
    pub sessions: usize,
    /// How many calls of one session may be open at once.
    pub calls_per_session: usize,
    /// How many calls may be at work or waiting on one tab; [`Access::Bypass`] does not count.
    ///
    /// [`Access::Bypass`]: crate::Access::Bypass
    pub calls_per_tab: usize,
    /// How many browsers a session may have.
    pub browsers_per_session: usize,
    /// How often a browser that was named is tried before those who wait for it are told, the pause
    /// before the second try, which doubles from then on, and how long it is left alone after the last.
    pub connect_tries: u32,
    /// See [`connect_tries`](Self::connect_tries).
    pub connect_pause: Duration,
    /// See [`connect_tries`](Self::connect_tries).
    pub cooldown: Duration,
    /// How long a progressive session whose browser is away is thought to be connected.
    pub away: Duration,
    /// How many workers of the page library may be connected.
    pub page_connections: usize,
    /// How many tabs one such worker may have.
    pub pages_per_connection: usize,
    /// How many tools one tab may offer.
    pub tools_per_tab: usize,
    /// How many tools all tabs together may offer.
    pub page_tools: usize,
    /// How many different names these may have.
    pub page_tool_names: usize,
    /// How many numbers of tabs are used up: agents may still know tabs of an earlier daemon.
    pub tabs_counted: u32,
    /// Tabs that keep the number they had then.
    pub remembered: Vec<RememberedTab>,
}

/// Settings that hold for a session's whole life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionConfig {
    /// What people call its agent. Other sessions read it when they ask for a tab that this one holds
    /// exclusively.
    pub label: Arc<str>,
    /// The browsers it means, numbered from 1 in this order.
    pub browsers: Vec<BrowserRef>,
    /// Whether they are connected when the session opens, instead of when they are first needed.
    pub connects_at_once: bool,
    /// Whether its agent may choose a browser that is meant when none is named.
    pub may_choose_default: bool,
    /// How its tools are listed.
    pub mode: Mode,
    /// What it calls tabs.
    pub numbering: Numbering,
    /// Whether it is offered the generic page actions.
    pub page_actions: bool,
    /// Whether it is offered tools that were generated from pages.
    pub generated_tools: bool,
    /// Tools that its user switched off: it cannot call them.
    pub withheld: Vec<ToolName>,
    /// Tools that have to be asked for, and their categories: by a flag, or where the list follows the work
    /// by `more_tools`.
    pub on_request: Vec<(ToolName, Arc<str>)>,
    /// Page actions that its list has from the start beside the usual ones, if that follows the work.
    pub added: Vec<ToolName>,
    /// The only tools that it has, in published order: no others of ours, and none of pages. For
    /// [`Mode::Static`]. `None`: all of its mode.
    pub only: Option<Vec<ToolName>>,
    /// What becomes of the tabs it created when it ends.
    pub on_end: OnEnd,
    /// What other sessions may do with the tabs it holds.
    pub tab_policy: TabPolicy,
    /// Whether it has cookies, storage and tabs of its own: it is shown no tabs but those of its own
    /// context.
    pub isolated: bool,
    /// How its calls of page tools find their tab.
    pub routing: Routing,
    /// Whether its focus goes to the tab that the user turns to.
    pub follow_user_focus: bool,
    /// What it may not see.
    pub site_filter: SiteFilter,
    /// What it had before its daemon died.
    pub restored_tabs: RestoredTabs,
}

/// A browser that a session means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserRef {
    /// Sessions with equal keys share it.
    pub key: BrowserKey,
    /// What people call it.
    pub label: Arc<str>,
    /// Whether the user named it by its address. Then the first static session that needs a tab there
    /// takes over the page in front.
    pub attached: bool,
}

/// Tabs that a session had before its daemon died, by the browser's names of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoredTabs {
    /// Those that were opened for it.
    pub opened: Vec<TargetId>,
    /// Those that it was bound to, one for each browser at most.
    pub bound: Vec<TargetId>,
    /// One that it was bound to and that is gone, which it has not been told yet.
    pub lost: Option<Loss>,
    /// The browser that a progressive session was connected to, if that is still there.
    pub connected: Option<BrowserKey>,
    /// What it called tabs, if it had numbers of its own.
    pub numbers: PageNumbers,
}

/// A tab that a session was bound to and that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Where it was, if that is known.
    pub browser: Option<BrowserKey>,
    /// Which one, and what became of it.
    pub tab: LostTab,
}

/// A tab that had a number before its daemon died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedTab {
    /// Where it is.
    pub browser: BrowserKey,
    /// The browser's name of it.
    pub target: TargetId,
    /// Its number.
    pub number: TabId,
}

/// How a session's tools are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The list is a function of the session's state: its agent connects, opens and focuses.
    #[default]
    Progressive,
    /// The list never changes: whatever a call needs is connected, opened and bound for it.
    Static,
}

/// What a session calls tabs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbering {
    /// As everybody does: their numbers over all browsers and sessions.
    #[default]
    Shared,
    /// By numbers of its own, from 1, whatever others do. For [`Mode::Static`].
    Own,
}

/// What becomes of the tabs that a session created when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnEnd {
    /// They are closed, unless another session is bound to them.
    #[default]
    Close,
    /// They stay, and are free for others.
    Keep,
}

/// What other sessions may do with the tabs that a session holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TabPolicy {
    /// They are not shown to others, but can be named by them.
    #[default]
    Respect,
    /// They are neither shown to others, nor can others use them.
    Exclusive,
    /// They are shown to everyone.
    Shared,
}

impl SessionConfig {
    /// What a session that means this browser gets if it asks for nothing else.
    pub fn new(key: BrowserKey) -> Self {
        let label = key.0.clone();
        let attached = false;
        Self {
            label: "Agent".into(),
            browsers: vec![BrowserRef {
                key,
                label,
                attached,
            }],
            connects_at_once: false,
            may_choose_default: false,
            mode: Mode::default(),
            numbering: Numbering::default(),
            page_actions: true,
            generated_tools: true,
            withheld: Vec::new(),
            on_request: Vec::new(),
            added: Vec::new(),
            only: None,
            on_end: OnEnd::default(),
            tab_policy: TabPolicy::default(),
            isolated: false,
            routing: Routing::default(),
            follow_user_focus: false,
            site_filter: SiteFilter::default(),
            restored_tabs: RestoredTabs::default(),
        }
    }
}

impl Config {
    /// The highest number of a tab that agents may know.
    pub(crate) fn numbers_used(&self) -> u32 {
        let remembered = self.remembered.iter().map(|tab| tab.number.0);
        remembered.max().unwrap_or(0).max(self.tabs_counted)
    }

    /// How long a call may take, queueing included, if its agent asked for `timeout`.
    pub fn deadline(&self, timeout: Option<Duration>) -> Duration {
        timeout
            .map_or(Duration::ZERO, |timeout| {
                timeout.saturating_add(self.deadline_margin)
            })
            .max(self.least_deadline)
            .min(self.most_deadline)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            page_actions: Vec::new(),
            tab_tools: Vec::new(),
            static_tools: Vec::new(),
            coalesce: Duration::from_millis(25),
            notice_gap: Duration::from_millis(500),
            notice_burst: 40,
            least_deadline: Duration::from_secs(30),
            deadline_margin: Duration::from_secs(1),
            most_deadline: Duration::from_secs(600),
            sessions: 100,
            calls_per_session: 128,
            calls_per_tab: 64,
            browsers_per_session: 16,
            connect_tries: 5,
            connect_pause: Duration::from_millis(250),
            cooldown: Duration::from_secs(60),
            // Chrome starts an extension's worker again within three seconds, if it does.
            away: Duration::from_secs(5),
            // More than are let in at once (`daemon/src/listener.rs`): one that makes room may be there a moment
            // longer than the one it makes room for.
            page_connections: 128,
            pages_per_connection: 1_000,
            tools_per_tab: 64,
            page_tools: 100_000,
            page_tool_names: 1_000,
            tabs_counted: 0,
            remembered: Vec::new(),
        }
    }
}
