//! Settings: of the whole core, and of each session.

use crate::{BrowserKey, LostTab, PageNumbers, Routing, SiteFilter, TabId, TargetId, ToolName};
use std::sync::Arc;
use std::time::Duration;

/// Settings of the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The page actions that a progressive session lists for a focused tab. The core sorts them by name.
    pub page_actions: Vec<ToolName>,
    /// All page actions, also those that are not in `page_actions`.
    pub tab_tools: Vec<ToolName>,
    /// All tools of [`Mode::Static`], in published order.
    pub static_tools: Vec<ToolName>,
    /// How long the core collects list changes that no agent caused, before it announces them.
    pub coalesce: Duration,
    /// The average time between two such announcements to one session: after each, its client fetches the
    /// whole list.
    pub notice_gap: Duration,
    /// How many of them may come in a burst after a quiet time.
    pub notice_burst: u32,
    /// How long a document's generated tools must not change before they are listed.
    pub page_rests: Duration,
    /// How long they must not change after that before new ones are added to a list that a session already has.
    pub page_quiet: Duration,
    /// How long that session's agent must also have been idle.
    pub agent_idle: Duration,
    /// The shortest deadline of a call.
    pub least_deadline: Duration,
    /// How much longer a call may take than the `timeout` that its agent asked for.
    pub deadline_margin: Duration,
    /// The longest deadline of a call, whatever its agent asked for.
    pub most_deadline: Duration,
    /// How many sessions may be open at once.
    pub sessions: usize,
    /// How many unanswered calls a session may have.
    pub calls_per_session: usize,
    /// How many calls may be running or queued on one tab; [`Access::Bypass`] does not count.
    ///
    /// [`Access::Bypass`]: crate::Access::Bypass
    pub calls_per_tab: usize,
    /// How many browsers a session may have.
    pub browsers_per_session: usize,
    /// How often the core tries to connect to a browser that the user named, before waiting calls fail.
    pub connect_tries: u32,
    /// The pause before the second attempt. It doubles with each attempt.
    pub connect_pause: Duration,
    /// How long calls that need the browser are refused after the last attempt failed.
    pub cooldown: Duration,
    /// How long a progressive session still counts as connected after it lost the connection to its browser.
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
    /// The highest tab number in use so far: agents may still know tabs of an earlier daemon.
    pub tabs_counted: u32,
    /// Tabs of an earlier daemon, which keep their numbers.
    pub remembered: Vec<RememberedTab>,
}

/// Settings of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionConfig {
    /// What people call its agent. Other sessions read it when they ask for a tab that this one holds
    /// exclusively.
    pub label: Arc<str>,
    /// Its browsers, numbered from 1 in this order.
    pub browsers: Vec<BrowserRef>,
    /// Whether to connect to them when the session opens, instead of when they are first needed.
    pub connects_at_once: bool,
    /// Whether its agent may choose a default browser.
    pub may_choose_default: bool,
    /// How its tools are listed.
    pub mode: Mode,
    /// How it numbers tabs.
    pub numbering: Numbering,
    /// Whether it has the page actions.
    pub page_actions: bool,
    /// Whether it has generated tools.
    pub generated_tools: bool,
    /// Tools that the user switched off: it cannot call them.
    pub withheld: Vec<ToolName>,
    /// If it may only read: the tools that do. Of page tools it has those that say so.
    pub reading: Option<Vec<ToolName>>,
    /// Tools that have to be enabled first, and their categories: by a flag, or in progressive mode by
    /// `more_tools`.
    pub on_request: Vec<(ToolName, Arc<str>)>,
    /// In progressive mode: page actions that its list has from the start, in addition to the usual ones.
    pub added: Vec<ToolName>,
    /// The only tools that it has, in published order: no other tools of ours, and no page tools. For
    /// [`Mode::Static`]. `None`: all tools of its mode.
    pub only: Option<Vec<ToolName>>,
    /// What happens to the tabs it created when it ends.
    pub on_end: OnEnd,
    /// What other sessions may do with the tabs it holds.
    pub tab_policy: TabPolicy,
    /// Whether it has a browser context of its own, with separate cookies, storage and tabs. It sees no other
    /// tabs.
    pub isolated: bool,
    /// Whether it may use no page outside of its browsers. Other sessions also have the tools of the page library
    /// in other browsers, and in none that is connected.
    pub only_own_browsers: bool,
    /// How the core chooses the tab for its calls of page tools.
    pub routing: Routing,
    /// Whether its focus follows the user's active tab.
    pub follow_user_focus: bool,
    /// Which pages it may not see.
    pub site_filter: SiteFilter,
    /// What it had before its daemon crashed.
    pub restored_tabs: RestoredTabs,
}

/// A browser of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserRef {
    /// Sessions with equal keys share the browser.
    pub key: BrowserKey,
    /// What people call it.
    pub label: Arc<str>,
    /// Whether the user named it by its address. Then the first static session that needs a tab there
    /// takes over the active tab.
    pub attached: bool,
    /// Whether it is handed out for a time: it is disconnected when the last session that uses it ends.
    pub leased: bool,
}

/// Tabs that a session had before its daemon crashed, by the browser's ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoredTabs {
    /// The tabs that were opened for it.
    pub opened: Vec<TargetId>,
    /// The tabs that it was bound to, at most one in each browser.
    pub bound: Vec<TargetId>,
    /// A tab that it was bound to and that is gone, if the session does not know this yet.
    pub lost: Option<Loss>,
    /// The browser that a progressive session was connected to, if it still runs.
    pub connected: Option<BrowserKey>,
    /// Its tab numbers, if it had its own.
    pub numbers: PageNumbers,
}

/// A tab that a session was bound to and that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Its browser, if known.
    pub browser: Option<BrowserKey>,
    /// The tab, and what happened to it.
    pub tab: LostTab,
}

/// A tab that had a number before the daemon crashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedTab {
    /// Its browser.
    pub browser: BrowserKey,
    /// The browser's id of it.
    pub target: TargetId,
    /// Its number.
    pub number: TabId,
}

/// How a session's tools are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The list follows the session's state: its agent connects, opens tabs and focuses them.
    #[default]
    Progressive,
    /// The list never changes: tabmux connects, opens and binds what a call needs.
    Static,
}

/// How a session numbers tabs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbering {
    /// By the shared numbers, the same in all sessions.
    #[default]
    Shared,
    /// By its own numbers, from 1. For [`Mode::Static`].
    Own,
}

/// What happens to the tabs that a session created when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnEnd {
    /// They are closed, unless another session is bound to them.
    #[default]
    Close,
    /// They stay open, and no session holds them.
    Keep,
}

/// What other sessions may do with the tabs that a session holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TabPolicy {
    /// Others do not see them, but can use them by number.
    #[default]
    Respect,
    /// Others can neither see nor use them.
    Exclusive,
    /// All sessions see them.
    Shared,
}

impl SessionConfig {
    /// The default settings of a session with this one browser.
    pub fn new(key: BrowserKey) -> Self {
        let label = key.0.clone();
        let attached = false;
        Self {
            label: "Agent".into(),
            browsers: vec![BrowserRef {
                key,
                label,
                attached,
                leased: false,
            }],
            connects_at_once: false,
            may_choose_default: false,
            mode: Mode::default(),
            numbering: Numbering::default(),
            page_actions: true,
            generated_tools: true,
            withheld: Vec::new(),
            reading: None,
            on_request: Vec::new(),
            added: Vec::new(),
            only: None,
            on_end: OnEnd::default(),
            tab_policy: TabPolicy::default(),
            isolated: false,
            only_own_browsers: false,
            routing: Routing::default(),
            follow_user_focus: false,
            site_filter: SiteFilter::default(),
            restored_tabs: RestoredTabs::default(),
        }
    }

    /// Whether its flags switch a session tool on. Tools of disabled categories are in `withheld`.
    pub(crate) fn switches_on(&self, tool: ToolName) -> bool {
        match tool {
            ToolName::MORE_TOOLS => self.page_actions,
            ToolName::SELECT_DEFAULT_BROWSER => self.may_choose_default,
            _ => true,
        }
    }
}

impl Config {
    /// The highest tab number that agents may know.
    pub(crate) fn numbers_used(&self) -> u32 {
        let remembered = self.remembered.iter().map(|tab| tab.number.0);
        remembered.max().unwrap_or(0).max(self.tabs_counted)
    }

    /// How long a call may take, including its time in queues, if its agent asked for `timeout`.
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
            page_rests: Duration::from_secs(1),
            page_quiet: Duration::from_secs(3),
            agent_idle: Duration::from_secs(30),
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
            // If Chrome restarts an extension's worker, it does so within three seconds.
            away: Duration::from_secs(5),
            // More than `daemon/src/listener.rs` accepts at once, because an evicted connection may still be open here
            // when its successor arrives.
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
