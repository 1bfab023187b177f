//! What a person is shown in the side panel.

use serde::{Deserialize, Serialize};

/// An agent, as a person sees it in one browser. Nothing of what pages say or what is typed is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AgentInfo {
    /// Its session.
    pub session: String,
    /// What its program calls itself; agents of the same name have numbers.
    pub name: String,
    /// Its colour among all agents.
    pub colour: Colour,
    /// Whether it works in this browser, so that it can be given tabs here.
    pub here: bool,
    /// Whether it is connected to a browser, this one or another.
    #[serde(default)]
    pub connected: bool,
    /// Whether it works in the tab that the person turns to.
    #[serde(default)]
    pub follows: bool,
    /// Its tabs in this browser.
    pub tabs: Vec<AgentTab>,
    /// How many more there are.
    #[serde(default)]
    pub more_tabs: usize,
    /// What it is doing now, wherever that is.
    pub doing: Vec<Doing>,
    /// How much more it is doing.
    #[serde(default)]
    pub more_doing: usize,
}

/// A tab of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AgentTab {
    /// Chrome's number of it.
    pub tab_id: u32,
    /// Whether it was opened for this agent; otherwise it is the person's.
    pub own: bool,
    /// Whether the agent works in it when it names none.
    pub bound: bool,
}

/// One call of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Doing {
    /// The tool.
    pub tool: String,
    /// The tab of this browser that it works on, once it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub tab_id: Option<u32>,
    /// When it began, in milliseconds since 1970.
    #[cfg_attr(feature = "bindings", ts(type = "number"))]
    pub since: u64,
}

/// The colours that Chrome has for groups of tabs, but for grey, which stands for nobody.
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

/// A question to the person: may this tool run? All of it is the word of strangers, bounded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct QuestionInfo {
    /// What its answer names.
    pub id: String,
    /// The session of the agent that wants to run the tool.
    pub session: String,
    /// What that agent is called.
    pub name: String,
    /// The tool, as its page calls it.
    pub tool: String,
    /// The site that offers it.
    pub origin: String,
    /// What it would be called with, shortened.
    pub arguments: String,
    /// Why the person is asked.
    pub because: Because,
    /// When it is too late for an answer, in milliseconds since 1970.
    #[cfg_attr(feature = "bindings", ts(type = "number"))]
    pub until: u64,
}

/// Why a person is asked about a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum Because {
    /// It says that what it does may be hard to undo.
    HardToUndo,
    /// Its agent's session asks about every tool that does not say that it only reads.
    Always,
}

/// The person's rules about sites, for all agents: those that `tabmux policy` shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct RulesInfo {
    /// If there are any, agents may see no others.
    pub allowed: Vec<String>,
    /// These they may never see.
    pub blocked: Vec<String>,
    /// How many more there are.
    pub more: usize,
    /// Whether agents may work in private windows.
    pub private_windows: bool,
    /// Why there are none: they cannot be read, and nothing is permitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub problem: Option<String>,
}

/// What the person's rules say about one site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SiteInfo {
    /// Its origin, as it was asked for.
    pub origin: String,
    /// Whether agents may see it and act there.
    pub allowed: bool,
    /// The rule that decides, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub rule: Option<String>,
    /// Whether that rule is about this site alone.
    #[serde(default)]
    pub alone: bool,
}

/// What a person wants to hold for a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum SiteRule {
    /// Agents may see it. From the first such rule on they may see no others.
    Allow,
    /// They may never see it.
    Block,
    /// There is no rule about it.
    None,
}
