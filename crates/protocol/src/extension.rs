//! What the extension and the daemon say to each other on the websocket `/`: one JSON object per frame,
//! each with a `type`. `docs/protocol.md` tells what they mean, and how both sides prove who they are.

mod shown;
#[cfg(test)]
mod tests;

pub use shown::{
    AgentInfo, AgentTab, Because, Colour, Doing, QuestionInfo, RulesInfo, SiteInfo, SiteRule,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of this protocol.
pub const EXTENSION_PROTOCOL: u32 = 1;

/// The id that the extension has everywhere, because its manifest has a key.
pub const EXTENSION_ID: &str = "kidkkbhkckkggbmfgbebagoimeiebefc";

/// The longest frame that an extension may send; a screenshot of a huge page is a part of it.
pub const LONGEST_FRAME: usize = 64 * 1024 * 1024;

/// The text that a side proves with the secret that both have. It names all that a proof is good for, so
/// that it is good for nothing else.
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

/// Who proves something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The one that was dialled.
    Daemon,
    /// The one that dialled.
    Extension,
}

/// What the extension says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum FromExtension {
    /// Wants a sign of life; the only message that is answered before the proof.
    Ping,
    /// Gives one.
    Pong,
    /// The first word.
    Hello {
        /// The protocol it speaks.
        version: u32,
        /// Its half of what is proved: 32 to 128 hex digits that it never said before.
        nonce: String,
        /// The name of this installation: another in each profile of each browser.
        instance: String,
        /// What people call that profile.
        #[serde(default)]
        #[cfg_attr(feature = "bindings", ts(optional))]
        name: Option<String>,
    },
    /// Shows that it has the secret, too.
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
    /// The user wants it to be left alone.
    Disconnected,
    /// A tab is there.
    TabCreated {
        /// The tab.
        tab: TabInfo,
    },
    /// A tab shows something else, or under another title.
    TabUpdated {
        /// The tab.
        tab: TabInfo,
    },
    /// A tab is gone.
    TabClosed {
        /// Which one.
        tab_id: u32,
    },
    /// The user has this tab in front.
    TabFocused {
        /// Which one.
        tab_id: u32,
        /// The tools of its page, as far as the extension knows them.
        #[serde(default)]
        #[cfg_attr(feature = "bindings", ts(type = "unknown[]"))]
        tools: Vec<Value>,
    },
    /// A page has other tools now.
    ToolsChanged {
        /// Which tab.
        tab_id: u32,
        /// All its tools.
        #[cfg_attr(feature = "bindings", ts(type = "unknown[]"))]
        tools: Vec<Value>,
    },
    /// A call of a page's tool is over.
    ToolResult {
        /// Which call.
        call_id: String,
        /// What the tool answered.
        #[serde(default)]
        #[cfg_attr(feature = "bindings", ts(type = "unknown"))]
        result: Value,
        /// Why it did not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        error: Option<String>,
    },
    /// Something with a `requestId` was done, or not.
    Done {
        /// What it was.
        request_id: u32,
        /// The tab that was opened.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        tab_id: Option<u32>,
        /// Why it was not done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        error: Option<String>,
    },
    /// The answer to a command.
    Cdp {
        /// Which command.
        request_id: u32,
        /// Chrome's answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional, type = "unknown"))]
        result: Option<Value>,
        /// Chrome's refusal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        error: Option<String>,
        /// How large the answer is, if it is too large to be sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional, type = "number"))]
        too_large: Option<u64>,
    },
    /// An event of Chrome's.
    CdpEvent {
        /// The tab.
        tab_id: u32,
        /// The frame or worker inside it, if it is not the tab's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        session_id: Option<String>,
        /// Which event.
        method: String,
        /// What it tells; only its small parts, if it is too large.
        #[serde(default)]
        #[cfg_attr(feature = "bindings", ts(type = "unknown"))]
        params: Value,
        /// How large it is, if it is too large to be sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional, type = "number"))]
        too_large: Option<u64>,
    },
    /// Chrome has let go of a tab: the user said so, or the tab is gone.
    Detached {
        /// Which one.
        tab_id: u32,
        /// Chrome's word for it.
        reason: String,
    },
    /// The worker of a page library wants to be heard, and comes through the extension because Chrome keeps
    /// public pages from this machine.
    PageOpened {
        /// Names the connection, as long as the extension's own lasts.
        connection: u32,
        /// The page's origin, as Chrome tells it.
        origin: String,
    },
    /// Such a worker says something: a frame as on the websocket `/page`.
    PageSaid {
        /// Which connection.
        connection: u32,
        /// The frame.
        text: String,
    },
    /// Such a worker is gone.
    PageEnded {
        /// Which connection.
        connection: u32,
    },
    /// The person wants all agents to stop.
    Pause {
        /// Whether they said so on an earlier connection: another one of theirs may have let agents go on since.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        again: Option<bool>,
    },
    /// The person lets them go on.
    Resume,
    /// The person wants a tab back from whoever holds it.
    TakeBack {
        /// Which one.
        tab_id: u32,
    },
    /// The person gives a tab to an agent.
    Give {
        /// Which one.
        tab_id: u32,
        /// The agent's session, as `overview` names it.
        session: String,
    },
    /// It shows its person the questions of `overview`, so the person can be asked there.
    CanAsk,
    /// The person answers a question.
    Answer {
        /// Which one, as `overview` names it.
        question: String,
        /// Whether the tool may run.
        allowed: bool,
    },
    /// The person wants an agent to follow them from tab to tab, or not to.
    Follow {
        /// The agent's session, as `overview` names it.
        session: String,
        /// Whether it follows from now on.
        follows: bool,
        /// The tab that the person has in front.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        tab_id: Option<u32>,
    },
    /// The person wants another rule about a site, for all agents.
    Rule {
        /// The site: an origin, or a pattern as `overview` has it.
        origin: String,
        /// What holds from now on.
        rule: SiteRule,
    },
    /// The person wants to know what their rules say about a site. The answer is `site`.
    Site {
        /// Its origin.
        origin: String,
    },
    /// The person wants agents to work in private windows, or to stay out of them.
    PrivateWindows {
        /// Whether they may.
        allowed: bool,
    },
    /// Tabs that it opened on an earlier connection, and of which it has not heard `tabKnown`. The answer for
    /// each is that, or `closeTab`.
    LeftTabs {
        /// Which ones.
        tab_ids: Vec<u32>,
    },
}

/// What the daemon says to the extension.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum ToExtension {
    /// Wants a sign of life.
    Ping,
    /// Gives one.
    Pong,
    /// Answers `hello`: shows that the daemon has the secret, and wants to see the same.
    Challenge {
        /// The protocol it speaks.
        version: u32,
        /// The daemon's half of what is proved.
        nonce: String,
        /// 64 hex digits.
        proof: String,
    },
    /// The extension is heard.
    Welcome,
    /// It is not, and this is the last word.
    Refused {
        /// Why, and what to do.
        reason: String,
    },
    /// Wants to know the browser and its tabs, and every change from now on.
    Connect {
        /// Of no use to an extension, whose browser runs already.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        launch: Option<bool>,
        /// Whether it wants to know of tabs in private windows, too. It does not, unless it says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        private: Option<bool>,
    },
    /// Open a tab.
    OpenTab {
        /// For the answer.
        request_id: u32,
        /// Where.
        url: String,
        /// Whether the user should see it.
        focus: bool,
    },
    /// Show a tab to the user.
    FocusTab {
        /// For the answer.
        request_id: u32,
        /// Which one.
        tab_id: u32,
    },
    /// Close a tab.
    CloseTab {
        /// For the answer.
        request_id: u32,
        /// Which one.
        tab_id: u32,
    },
    /// Run a tool of a page.
    CallTool {
        /// For the answer.
        call_id: String,
        /// Where.
        tab_id: u32,
        /// Which one.
        tool_name: String,
        /// With what.
        #[cfg_attr(feature = "bindings", ts(type = "unknown"))]
        args: Value,
    },
    /// Take hold of a tab, so that it takes commands and tells its events.
    Attach {
        /// For the answer.
        request_id: u32,
        /// Which one.
        tab_id: u32,
    },
    /// Let go of it.
    Detach {
        /// Which one.
        tab_id: u32,
    },
    /// It is written down whose a tab is that was opened: should either side go now, it is not lost.
    TabKnown {
        /// Which one.
        tab_id: u32,
    },
    /// A command for Chrome.
    Cdp {
        /// For the answer.
        request_id: u32,
        /// The tab.
        tab_id: u32,
        /// The frame or worker inside it, if it is not the tab itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        session_id: Option<String>,
        /// Which command.
        method: String,
        /// With what.
        #[serde(default)]
        #[cfg_attr(feature = "bindings", ts(type = "unknown"))]
        params: Value,
    },
    /// A frame for the worker of a page library.
    PageTold {
        /// Which connection.
        connection: u32,
        /// The frame. The first is empty: the page may come. Until then it is not to know that anybody is here.
        text: String,
    },
    /// Such a worker is not heard any more.
    PageEnded {
        /// Which connection.
        connection: u32,
    },
    /// Who works here, for the person to see: all of it, whenever it is not what was told before.
    Overview {
        /// Whether the person lets no agent do anything.
        paused: bool,
        /// The agents, oldest first.
        agents: Vec<AgentInfo>,
        /// How many more there are.
        #[serde(default)]
        more_agents: usize,
        /// What the person is asked, oldest first.
        #[serde(default)]
        questions: Vec<QuestionInfo>,
        /// The person's rules about sites.
        #[serde(default)]
        rules: RulesInfo,
    },
    /// What the person's rules say about a site.
    Site(SiteInfo),
    /// What the person wanted was not done.
    Denied {
        /// Why, in a sentence for the person.
        reason: String,
    },
}

/// A browser, by its own words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct BrowserInfo {
    /// `Chrome`, `Chromium`, `Edge`, …
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it tells servers that it is.
    #[serde(default)]
    pub user_agent: String,
}

/// A tab, as the extension sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TabInfo {
    /// Chrome's number of it.
    pub id: u32,
    /// Its title.
    #[serde(default)]
    pub title: String,
    /// What it shows.
    #[serde(default)]
    pub url: String,
    /// The window it is in.
    #[serde(default)]
    pub window_id: i32,
    /// Whether it is the one to be seen in its window.
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

/// All of this as TypeScript, for the extension.
#[cfg(feature = "bindings")]
pub fn typescript() -> String {
    use ts_rs::TS;
    let types = [
        FromExtension::decl(),
        ToExtension::decl(),
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
        "/** What the extension and the daemon say to each other. Written by `cargo xtask codegen`. */\n\n\
         export const PROTOCOL = {EXTENSION_PROTOCOL};\n\n{}",
        types.join("\n")
    )
}
