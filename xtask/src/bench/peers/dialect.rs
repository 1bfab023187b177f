//! The servers, and the calls with which each does the same job.

use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::bench) enum Peer {
    Tabmux,
    DevTools,
    Playwright,
    AgentBrowser,
}

/// A job that every server can do.
pub(in crate::bench) enum Job<'a> {
    Open(&'a str),
    /// An expression; a promise is awaited.
    Evaluate(&'a str),
    Click(&'a str),
    /// References of fields and their values.
    Fill(&'a [(String, String)]),
    Snapshot,
    Screenshot,
}

/// A tool and its arguments.
pub(in crate::bench) type Call = (&'static str, Value);

impl Peer {
    pub(in crate::bench) const ALL: [Self; 4] = [
        Self::Tabmux,
        Self::DevTools,
        Self::Playwright,
        Self::AgentBrowser,
    ];

    pub(in crate::bench) fn name(self) -> &'static str {
        match self {
            Self::Tabmux => "tabmux",
            Self::DevTools => "chrome-devtools-mcp",
            Self::Playwright => "Playwright MCP",
            Self::AgentBrowser => "agent-browser",
        }
    }

    /// What its command line has in addition.
    pub(super) fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Tabmux => &["--tools=static"],
            Self::DevTools | Self::Playwright | Self::AgentBrowser => &[],
        }
    }

    /// Its name on npm and the version that is measured.
    pub(in crate::bench) fn package(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Tabmux => None,
            Self::DevTools => Some(("chrome-devtools-mcp", "1.11.0")),
            Self::Playwright => Some(("@playwright/mcp", "0.0.83")),
            Self::AgentBrowser => Some(("agent-browser", "0.41.0")),
        }
    }

    /// The calls that do a job, one after the other.
    pub(in crate::bench) fn calls(self, job: &Job<'_>) -> Vec<Call> {
        match self {
            Self::Tabmux => vec![devtools(job)],
            Self::DevTools => {
                let (tool, arguments) = devtools(job);
                vec![(tool, on_page(arguments, 1))]
            }
            Self::Playwright => vec![playwright(job)],
            Self::AgentBrowser => agent_browser(job),
        }
    }

    /// The call that evaluates an expression in a certain tab, where there is such a call.
    pub(in crate::bench) fn evaluate_in(self, page: u64, expression: &str) -> Option<Call> {
        let (tool, arguments) = devtools(&Job::Evaluate(expression));
        match self {
            Self::Tabmux | Self::DevTools => Some((tool, on_page(arguments, page))),
            Self::Playwright | Self::AgentBrowser => None,
        }
    }

    /// How an element is named in calls, read from its line in a snapshot.
    pub(in crate::bench) fn reference(self, line: &str) -> Option<String> {
        let after = |mark| line.split_once(mark).map(|(_, rest): (&str, &str)| rest);
        let end = |rest: &str| rest.split([' ', ',', ']']).next().map(str::to_owned);
        match self {
            Self::Tabmux | Self::DevTools => after("uid=").and_then(end),
            Self::Playwright => after("ref=").and_then(end),
            Self::AgentBrowser => after("ref=").and_then(end).map(|name| format!("@{name}")),
        }
    }
}

fn on_page(mut arguments: Value, page: u64) -> Value {
    arguments["pageId"] = page.into();
    arguments
}

/// The tools of chrome-devtools-mcp, which tabmux has too.
fn devtools(job: &Job<'_>) -> Call {
    match job {
        Job::Open(url) => ("navigate_page", json!({"type": "url", "url": url})),
        Job::Evaluate(script) => (
            "evaluate_script",
            json!({"function": format!("() => {script}")}),
        ),
        Job::Click(uid) => ("click", json!({"uid": uid})),
        Job::Fill(fields) => {
            let fields = fields.iter();
            let elements: Vec<Value> = fields
                .map(|(uid, value)| json!({"uid": uid, "value": value}))
                .collect();
            ("fill_form", json!({"elements": elements}))
        }
        Job::Snapshot => ("take_snapshot", json!({})),
        Job::Screenshot => ("take_screenshot", json!({})),
    }
}

fn playwright(job: &Job<'_>) -> Call {
    match job {
        Job::Open(url) => ("browser_navigate", json!({"url": url})),
        Job::Evaluate(script) => (
            "browser_evaluate",
            json!({"function": format!("() => {script}")}),
        ),
        Job::Click(target) => ("browser_click", json!({"target": target})),
        Job::Fill(fields) => {
            let fields = fields.iter();
            let fields: Vec<Value> = fields
                .map(|(target, value)| {
                    json!({"target": target, "name": target, "type": "textbox", "value": value})
                })
                .collect();
            ("browser_fill_form", json!({"fields": fields}))
        }
        Job::Snapshot => ("browser_snapshot", json!({})),
        Job::Screenshot => ("browser_take_screenshot", json!({"scale": "css"})),
    }
}

fn agent_browser(job: &Job<'_>) -> Vec<Call> {
    match job {
        Job::Open(url) => vec![("agent_browser_open", json!({"url": url}))],
        Job::Evaluate(script) => vec![("agent_browser_eval", json!({"script": script}))],
        Job::Click(selector) => vec![("agent_browser_click", json!({"selector": selector}))],
        Job::Fill(fields) => fields
            .iter()
            .map(|(selector, text)| {
                (
                    "agent_browser_fill",
                    json!({"selector": selector, "text": text}),
                )
            })
            .collect(),
        Job::Snapshot => vec![("agent_browser_snapshot", json!({}))],
        Job::Screenshot => vec![("agent_browser_screenshot", json!({}))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_names_elements_in_a_way_of_their_own() {
        let lines = [
            (Peer::Tabmux, "  uid=2_5 button \"Press\"", "2_5"),
            (Peer::DevTools, "  uid=1_7 button \"Press\"", "1_7"),
            (Peer::Playwright, "- button \"Press\" [ref=e8]", "e8"),
            (Peer::AgentBrowser, "- button \"Press\" [ref=e2, x]", "@e2"),
        ];
        for (peer, line, name) in lines {
            assert_eq!(peer.reference(line).as_deref(), Some(name));
        }
        assert_eq!(Peer::Tabmux.reference("page \"S\""), None);
    }
}
