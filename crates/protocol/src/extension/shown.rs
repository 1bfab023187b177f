//! The contents of the side panel.

use serde::{Deserialize, Serialize};

/// An agent, as a person sees it in one browser. Contains nothing from pages and nothing that was typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AgentInfo {
    /// Its session.
    pub session: String,
    /// The name of its program; agents with the same name are numbered.
    pub name: String,
    /// Its colour among all agents.
    pub colour: Colour,
    /// Whether it works in this browser, so that the person can give it tabs here.
    pub here: bool,
    /// Whether it is connected to a browser, this one or another.
    #[serde(default)]
    pub connected: bool,
    /// Whether it follows the person's active tab.
    #[serde(default)]
    pub follows: bool,
    /// Its tabs in this browser.
    pub tabs: Vec<AgentTab>,
    /// How many more tabs it has.
    #[serde(default)]
    pub more_tabs: usize,
    /// Its running calls, in any browser.
    pub doing: Vec<Doing>,
    /// How many more calls are running.
    #[serde(default)]
    pub more_doing: usize,
}

/// A tab of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AgentTab {
    /// Chrome's id of it.
    pub tab_id: u32,
    /// Whether it was opened for this agent; otherwise it belongs to the person.
    pub own: bool,
    /// Whether the agent's calls go there if they name no tab.
    pub bound: bool,
}

/// A running call of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Doing {
    /// The tool.
    pub tool: String,
    /// Its tab in this browser, once it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub tab_id: Option<u32>,
    /// When it started, in milliseconds since 1970.
    #[cfg_attr(feature = "bindings", ts(type = "number"))]
    pub since: u64,
}

/// The colours of Chrome's tab groups, except grey, which means "no agent".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "colours speak for themselves")]
pub enum Colour {
    Blue,
    Green,
    Purple,
    Orange,
    Cyan,
    Pink,
    Yellow,
    Red,
}

impl Colour {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Blue,
        Self::Green,
        Self::Purple,
        Self::Orange,
        Self::Cyan,
        Self::Pink,
        Self::Yellow,
        Self::Red,
    ];
}

/// A question to the person: may this tool run? All texts come from pages and agents, shortened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct QuestionInfo {
    /// Its id, for the answer.
    pub id: String,
    /// The session of the agent that wants to run the tool.
    pub session: String,
    /// The agent's name.
    pub name: String,
    /// The tool, by the name that its page gave it.
    pub tool: String,
    /// The site that offers it.
    pub origin: String,
    /// Its arguments, shortened.
    pub arguments: String,
    /// Why the person is asked.
    pub because: Because,
    /// When the question expires, in milliseconds since 1970.
    #[cfg_attr(feature = "bindings", ts(type = "number"))]
    pub until: u64,
}

/// Why a person is asked about a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum Because {
    /// The tool declares that its effects may be hard to undo.
    HardToUndo,
    /// The session asks about every tool that does not declare itself read-only.
    Always,
}

/// The person's rules about sites, for all agents: those that `tabmux policy` shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct RulesInfo {
    /// The allowed sites. If there are any, agents may access no others.
    pub allowed: Vec<String>,
    /// The blocked sites, which agents may never access.
    pub blocked: Vec<String>,
    /// How many more rules there are.
    pub more: usize,
    /// Whether agents may work in private windows.
    pub private_windows: bool,
    /// Set if the rules cannot be read: why. Then all sites are blocked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub problem: Option<String>,
}

/// What the person's rules say about one site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SiteInfo {
    /// Its origin, as in the request.
    pub origin: String,
    /// Whether agents may access it.
    pub allowed: bool,
    /// The rule that decided, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub rule: Option<String>,
    /// Whether that rule is only about this site.
    #[serde(default)]
    pub alone: bool,
}

/// The person's rule about a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum SiteRule {
    /// Agents may access it. With at least one such rule, all other sites are blocked.
    Allow,
    /// Agents may never access it.
    Block,
    /// No rule.
    None,
}
