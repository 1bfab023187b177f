//! The messages between the extension and the daemon on the websocket `/`: one JSON object per frame, each with
//! a `type`. `docs/protocol.md` describes them, and how both sides authenticate.

mod cdp;
mod shown;
#[cfg(test)]
mod tests;

pub use cdp::{CdpAnswer, CdpCommand, CdpEvent, RawJson};
pub use shown::{
    AgentInfo, AgentTab, Because, Colour, Doing, QuestionInfo, RulesInfo, SiteInfo, SiteRule,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of this protocol.
pub const EXTENSION_PROTOCOL: u32 = 1;

/// The extension's id, which the key in its manifest fixes.
pub const EXTENSION_ID: &str = "kidkkbhkckkggbmfgbebagoimeiebefc";

/// The maximum length of a frame from an extension. Screenshots of huge pages have to fit.
pub const LONGEST_FRAME: usize = 64 * 1024 * 1024;

/// The text that a side signs with the shared secret. It contains the whole context, so that a proof cannot be
/// replayed in another one.
pub fn proof_text(
    role: Role,
    extension_nonce: &str,
    daemon_nonce: &str,
    extension_id: &str,
    host: &str,
) -> String {
    let role = match role {
        Role::Daemon => "daemon",
        Role::Extension => "extension",
    };
    format!(
        "tabmux {EXTENSION_PROTOCOL}\n{role}\n{extension_nonce}\n{daemon_nonce}\n{extension_id}\n{host}"
    )
}

/// Which side sends a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The daemon, which accepted the connection.
    Daemon,
    /// The extension, which opened it.
    Extension,
}

/// A message from the extension.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum FromExtension {
    /// Asks for a `pong`; the only message that is answered before the proof.
    Ping,
    /// Answers a `ping`.
    Pong,
    /// The first message.
    Hello {
        /// The protocol it speaks.
        version: u32,
        /// The extension's nonce: 32 to 128 hex digits that it never used before.
        nonce: String,
        /// The id of this installation, different in each profile of each browser.
        instance: String,
        /// The name of the profile, for people.
        #[serde(default)]
        #[cfg_attr(feature = "bindings", ts(optional))]
        name: Option<String>,
        /// The version of its files, which the extension of tabmux sends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        extension_version: Option<String>,
    },
    /// Proves that the extension has the secret, too.
    Proof {
        /// 64 hex digits.
        proof: String,
    },
    /// Answers `connect`: the browser and all its tabs.
    Connected {
        /// The browser.
        browser: BrowserInfo,
        /// Its tabs.
        tabs: Vec<TabInfo>,
    },
    /// The user disconnected the browser.
    Disconnected,
    /// A tab was opened.
    TabCreated {
        /// The tab.
        tab: TabInfo,
    },
    /// A tab's address or title changed.
    TabUpdated {
        /// The tab.
        tab: TabInfo,
    },
    /// A tab was closed.
    TabClosed {
        /// The tab.
        tab_id: u32,
    },
    /// The user activated this tab.
    TabFocused {
        /// The tab.
        tab_id: u32,
        /// The tools of its page, if the extension knows them.
        #[serde(default)]
        #[cfg_attr(feature = "bindings", ts(type = "unknown[]"))]
        tools: Vec<Value>,
    },
    /// The tools of a page changed.
    ToolsChanged {
        /// The tab.
        tab_id: u32,
        /// All its tools.
        #[cfg_attr(feature = "bindings", ts(type = "unknown[]"))]
        tools: Vec<Value>,
    },
    /// The result of a page tool.
    ToolResult {
        /// The call.
        call_id: String,
        /// The tool's answer.
        #[serde(default)]
        #[cfg_attr(feature = "bindings", ts(type = "unknown"))]
        result: Value,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        error: Option<String>,
    },
    /// The outcome of a message with a `requestId`.
    Done {
        /// The message's `requestId`.
        request_id: u32,
        /// The new tab, for `openTab`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        tab_id: Option<u32>,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        error: Option<String>,
    },
    /// Chrome's answer to a command.
    Cdp(CdpAnswer),
    /// An event from Chrome.
    CdpEvent(CdpEvent),
    /// Chrome detached the debugger from a tab: the user stopped it, or the tab is gone.
    Detached {
        /// The tab.
        tab_id: u32,
        /// Chrome's reason.
        reason: String,
    },
    /// A worker of the page library connects through the extension, because Chrome does not let public pages
    /// connect to this machine.
    PageOpened {
        /// The id of the connection, valid as long as the extension's own connection.
        connection: u32,
        /// The page's origin, as Chrome reports it.
        origin: String,
    },
    /// A frame from such a worker, as on the websocket `/page`.
    PageSaid {
        /// The connection.
        connection: u32,
        /// The frame.
        text: String,
    },
    /// Such a worker disconnected.
    PageEnded {
        /// The connection.
        connection: u32,
    },
    /// The person pauses all agents.
    Pause {
        /// Whether the extension repeats a pause of an earlier connection. The person may have resumed agents in
        /// another browser since.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        again: Option<bool>,
    },
    /// The person resumes all agents.
    Resume,
    /// The person takes a tab back from its agents.
    TakeBack {
        /// The tab.
        tab_id: u32,
    },
    /// The person gives a tab to an agent.
    Give {
        /// The tab.
        tab_id: u32,
        /// The agent's session, as in `overview`.
        session: String,
    },
    /// The extension shows the questions of `overview` to its person, so the daemon can ask there.
    CanAsk,
    /// The person answers a question.
    Answer {
        /// The question's id, as in `overview`.
        question: String,
        /// Whether the tool may run.
        allowed: bool,
    },
    /// The person makes an agent follow them from tab to tab, or stops it.
    Follow {
        /// The agent's session, as in `overview`.
        session: String,
        /// Whether it follows from now on.
        follows: bool,
        /// The person's active tab.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        tab_id: Option<u32>,
    },
    /// The person changes the rule about a site, for all agents.
    Rule {
        /// The site: an origin, or a pattern as in `overview`.
        origin: String,
        /// The new rule.
        rule: SiteRule,
    },
    /// Asks what the person's rules say about a site. The answer is `site`.
    Site {
        /// Its origin.
        origin: String,
    },
    /// The person allows or forbids agents to work in private windows.
    PrivateWindows {
        /// Whether it is allowed.
        allowed: bool,
    },
    /// Tabs that the extension opened on an earlier connection and for which it got no `tabKnown`. The answer
    /// for each is `tabKnown` or `closeTab`.
    LeftTabs {
        /// The tabs.
        tab_ids: Vec<u32>,
    },
}

/// A message from the daemon to the extension.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum ToExtension {
    /// Asks for a `pong`.
    Ping,
    /// Answers a `ping`.
    Pong,
    /// Answers `hello`: proves that the daemon has the secret, and asks for the extension's proof.
    Challenge {
        /// The protocol it speaks.
        version: u32,
        /// The daemon's nonce.
        nonce: String,
        /// 64 hex digits.
        proof: String,
    },
    /// The connection is accepted.
    Welcome,
    /// The connection is refused and will be closed.
    Refused {
        /// Why, and what to do next.
        reason: String,
    },
    /// Asks for the browser and its tabs, and for every change from now on.
    Connect {
        /// Ignored: the extension's browser is already running.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        launch: Option<bool>,
        /// Whether to report tabs in private windows, too. Default: no.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        private: Option<bool>,
    },
    /// Opens a tab.
    OpenTab {
        /// Repeated in the answer.
        request_id: u32,
        /// The address.
        url: String,
        /// Whether to bring it to the front.
        focus: bool,
    },
    /// Brings a tab to the front.
    FocusTab {
        /// Repeated in the answer.
        request_id: u32,
        /// The tab.
        tab_id: u32,
    },
    /// Closes a tab.
    CloseTab {
        /// Repeated in the answer.
        request_id: u32,
        /// The tab.
        tab_id: u32,
    },
    /// Runs a page tool.
    CallTool {
        /// Repeated in the answer.
        call_id: String,
        /// The tab.
        tab_id: u32,
        /// The tool.
        tool_name: String,
        /// Its arguments.
        #[cfg_attr(feature = "bindings", ts(type = "unknown"))]
        args: Value,
    },
    /// Attaches the debugger to a tab, so that it accepts commands and sends events.
    Attach {
        /// Repeated in the answer.
        request_id: u32,
        /// The tab.
        tab_id: u32,
    },
    /// Detaches the debugger from a tab.
    Detach {
        /// The tab.
        tab_id: u32,
    },
    /// The daemon has saved the owner of a tab that the extension opened, so the tab is not lost if either side
    /// crashes.
    TabKnown {
        /// The tab.
        tab_id: u32,
    },
    /// A command for Chrome.
    Cdp(CdpCommand),
    /// A frame for a worker of the page library.
    PageTold {
        /// The connection.
        connection: u32,
        /// The frame. The first one is empty and accepts the connection. Until then the page must not learn that
        /// a daemon is running.
        text: String,
    },
    /// Closes the connection of such a worker.
    PageEnded {
        /// The connection.
        connection: u32,
    },
    /// The complete state for the side panel, sent whenever it changed.
    Overview {
        /// Whether the person paused all agents.
        paused: bool,
        /// The agents, oldest first.
        agents: Vec<AgentInfo>,
        /// How many more agents there are.
        #[serde(default)]
        more_agents: usize,
        /// The questions to the person, oldest first.
        #[serde(default)]
        questions: Vec<QuestionInfo>,
        /// The person's rules about sites.
        #[serde(default)]
        rules: RulesInfo,
    },
    /// What the person's rules say about a site.
    Site(SiteInfo),
    /// An action of the person failed.
    Denied {
        /// Why, in a sentence for the person.
        reason: String,
    },
}

/// A browser, as it describes itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct BrowserInfo {
    /// `Chrome`, `Chromium`, `Edge`, …
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its user agent string.
    #[serde(default)]
    pub user_agent: String,
}

/// A tab, as the extension sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TabInfo {
    /// Chrome's id of it.
    pub id: u32,
    /// Its title.
    #[serde(default)]
    pub title: String,
    /// Its address.
    #[serde(default)]
    pub url: String,
    /// The window it is in.
    #[serde(default)]
    pub window_id: i32,
    /// Whether it is the active tab of its window.
    #[serde(default)]
    pub active: bool,
    /// The tab that opened it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub opener_id: Option<u32>,
    /// Whether it is in a private window.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "bindings", ts(optional, as = "Option<bool>"))]
    pub private: bool,
}

/// The TypeScript types of these messages, for the extension.
#[cfg(feature = "bindings")]
pub fn typescript() -> String {
    use ts_rs::TS;
    let types = [
        FromExtension::decl(),
        ToExtension::decl(),
        CdpAnswer::decl(),
        CdpEvent::decl(),
        CdpCommand::decl(),
        BrowserInfo::decl(),
        TabInfo::decl(),
        AgentInfo::decl(),
        AgentTab::decl(),
        Doing::decl(),
        Colour::decl(),
        QuestionInfo::decl(),
        Because::decl(),
        RulesInfo::decl(),
        SiteInfo::decl(),
        SiteRule::decl(),
    ];
    let types = types.map(|text| format!("export {text}\n"));
    format!(
        "/** The messages between the extension and the daemon. Generated by `cargo xtask codegen`. */\n\n\
         export const PROTOCOL = {EXTENSION_PROTOCOL};\n\n{}",
        types.join("\n")
    )
}
