//! Everything the daemon knows, as people look at it.

use serde::{Deserialize, Serialize};

/// The daemon and all it holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// The daemon's version.
    pub version: String,
    /// The protocol it speaks.
    pub protocol: u32,
    /// Its process.
    pub pid: u32,
    /// How long it has been running, in seconds.
    pub uptime_seconds: u64,
    /// The loopback port where pages offer tools, if it could be taken.
    #[serde(default)]
    pub port: Option<u16>,
    /// Whether a person lets no agent do anything.
    #[serde(default)]
    pub paused: bool,
    /// Every browser somebody asked for.
    pub browsers: Vec<BrowserRow>,
    /// Every tab of the connected ones.
    pub tabs: Vec<TabRow>,
    /// Every session.
    pub sessions: Vec<SessionRow>,
    /// What the main loop has spent on events, by kind.
    #[serde(default)]
    pub loop_costs: Vec<LoopCost>,
}

/// What the main loop has spent on one kind of event since its start, in milliseconds of processor time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LoopCost {
    /// The kind.
    pub event: String,
    /// How many there were.
    pub events: u64,
    /// What all of them cost.
    pub total_ms: f64,
    /// What the worst of them cost, everything included that the core wanted done then.
    pub worst_ms: f64,
}

/// One browser.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BrowserRow {
    /// Its number.
    pub index: u32,
    /// What it calls itself, once it has been connected.
    pub name: String,
    /// Its version.
    pub version: String,
    /// `pending`, `connecting`, `connected` or `disconnected`.
    pub state: String,
    /// Where it comes from.
    pub source: String,
    /// Whether it has WebMCP of its own, once a page has shown it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_mcp: Option<bool>,
    /// How it has served so far.
    #[serde(default)]
    pub metrics: BrowserMetrics,
}

/// How a browser has served since its daemon knows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BrowserMetrics {
    /// Calls that had work done in it and were answered.
    pub calls: u64,
    /// Those of them that were answered with an error.
    pub failed: u64,
    /// How long one of them takes, waiting included: the median of the last 256.
    pub median_ms: Option<f64>,
    /// How long the slowest took.
    pub slowest_ms: Option<f64>,
    /// How often it was connected; all but the first are reconnects.
    pub connects: u64,
    /// How often that was tried in vain.
    pub failed_connects: u64,
    /// For how long it has been connected now.
    pub connected_seconds: Option<u64>,
}

/// One tab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TabRow {
    /// Its number.
    pub id: u32,
    /// What it shows.
    pub url: String,
    /// Under which title.
    pub title: String,
    /// The number of its browser.
    pub browser: u32,
    /// The session that holds it.
    pub holder: Option<String>,
}

/// One session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRow {
    /// Its public name.
    pub id: String,
    /// The client's name.
    pub client: String,
    /// The tab it is bound to.
    pub tab: Option<u32>,
    /// How many of its calls are under way.
    pub calls: usize,
    /// How many it has made since it was opened.
    #[serde(default)]
    pub calls_made: u64,
    /// How long it has been open, in seconds.
    pub age_seconds: u64,
}
