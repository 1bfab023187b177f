//! The daemon's state, for people.

use serde::{Deserialize, Serialize};

/// The state of the daemon.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// The daemon's version.
    pub version: String,
    /// Its version with the commit, as `tabmux --version` prints it. Empty in daemons that do not say it.
    #[serde(default)]
    pub build: String,
    /// The protocol it speaks.
    pub protocol: u32,
    /// Its process id.
    pub pid: u32,
    /// How long it has been running, in seconds.
    pub uptime_seconds: u64,
    /// The loopback port for pages and extensions, if it could be bound.
    #[serde(default)]
    pub port: Option<u16>,
    /// Whether a person paused all agents.
    #[serde(default)]
    pub paused: bool,
    /// Every browser that a session uses.
    pub browsers: Vec<BrowserRow>,
    /// Every tab of the connected browsers.
    pub tabs: Vec<TabRow>,
    /// Every session.
    pub sessions: Vec<SessionRow>,
    /// The page library in the pages that are connected, once for each origin and version.
    #[serde(default)]
    pub libraries: Vec<LibraryRow>,
    /// The extensions that are connected.
    #[serde(default)]
    pub extensions: Vec<ExtensionRow>,
    /// The time that the main loop spent on events, by kind.
    #[serde(default)]
    pub loop_costs: Vec<LoopCost>,
}

/// The processor time that the main loop spent on one kind of event since its start, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LoopCost {
    /// The kind of event.
    pub event: String,
    /// The number of events.
    pub events: u64,
    /// The time for all of them.
    pub total_ms: f64,
    /// The time for the slowest one, including the outputs of the core.
    pub worst_ms: f64,
}

/// The page library in the pages of one origin.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LibraryRow {
    /// The origin.
    pub origin: String,
    /// The version of the library, as the page says it.
    pub version: String,
}

/// The extension in one browser profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionRow {
    /// The name of the profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The version of the files that Chrome runs. Older extensions do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// One browser.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BrowserRow {
    /// Its number.
    pub index: u32,
    /// Its product name, once it has been connected.
    pub name: String,
    /// Its version.
    pub version: String,
    /// `pending`, `connecting`, `connected` or `disconnected`.
    pub state: String,
    /// How it was found: launched, by address, or through an extension.
    pub source: String,
    /// Whether it has native WebMCP, once a page has shown it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_mcp: Option<bool>,
    /// Its metrics.
    #[serde(default)]
    pub metrics: BrowserMetrics,
}

/// The metrics of a browser since the daemon first used it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BrowserMetrics {
    /// Answered calls that did work in it.
    pub calls: u64,
    /// How many of them were answered with an error.
    pub failed: u64,
    /// The median duration of the last 256 calls, including time in queues.
    pub median_ms: Option<f64>,
    /// The duration of the slowest call.
    pub slowest_ms: Option<f64>,
    /// How often it was connected; all but the first are reconnects.
    pub connects: u64,
    /// How often connecting failed.
    pub failed_connects: u64,
    /// How long the current connection has lasted.
    pub connected_seconds: Option<u64>,
}

/// One tab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TabRow {
    /// Its number.
    pub id: u32,
    /// Its address.
    pub url: String,
    /// Its title.
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
    /// Its public id.
    pub id: String,
    /// The client's name.
    pub client: String,
    /// The tab it is bound to.
    pub tab: Option<u32>,
    /// How many of its calls are running.
    pub calls: usize,
    /// How many calls it has made.
    #[serde(default)]
    pub calls_made: u64,
    /// How long it has been open, in seconds.
    pub age_seconds: u64,
}
