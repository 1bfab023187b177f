//! One agent of a crowd: a client, a page with its secret, and calls whose answers contain the secret.

use crate::crowd::Crowd;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tabmux_testkit::Rng;
use tabmux_testkit::{McpClient, Pending};

/// A client that knows the secret of its own page.
pub(crate) struct Agent {
    pub(crate) client: McpClient,
    pub(crate) name: String,
    url: String,
}

/// A call whose answer shows which page it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Reads the secret.
    Read,
    /// Adds one to the page's own count, and reads both.
    Count,
    /// Searches for the secret.
    Find,
    /// Takes a snapshot of the whole page.
    Snapshot,
    /// Lists the session's pages; there is one.
    Pages,
    /// Asks for the session's state.
    Status,
    /// Presses the page's button with real input.
    Press,
}

impl Agent {
    /// A client of the crowd's daemon. Its secret is not a part of another agent's.
    pub(crate) async fn arrive(crowd: &Crowd, number: usize, rng: &mut Rng) -> Self {
        let name = format!("agent-{number:03}-{:08}", rng.below(100_000_000));
        let url = crowd.secret_of(&name);
        let client = crowd.client(&[]).await;
        Self { client, name, url }
    }

    /// Navigates to its own page, in the tab that it has or gets.
    pub(crate) async fn go(&self) -> Pending<'_> {
        let to = json!({"url": self.url});
        self.client.begin_call("navigate_page", to).await
    }

    /// Sends a call without waiting for its answer.
    pub(crate) async fn begin(&self, task: Task, button: &str) -> Pending<'_> {
        let script = |text: &str| ("evaluate_script", json!({"function": text}));
        let (tool, arguments) = match task {
            Task::Read => script("() => document.querySelector('#secret').textContent"),
            Task::Count => {
                script("() => document.title + ' ' + ++document.querySelector('output').value")
            }
            Task::Find => ("find", json!({"text": self.name})),
            Task::Snapshot => ("take_snapshot", json!({})),
            Task::Pages => ("list_pages", json!({})),
            Task::Status => ("browser_get_connection_status", json!({})),
            Task::Press => ("click", json!({"uid": button})),
        };
        self.client.begin_call(tool, arguments).await
    }

    /// The uid of the page's button.
    pub(crate) async fn button(&self) -> String {
        let snapshot = self.client.call_tool("take_snapshot", json!({})).await;
        let snapshot = snapshot.ok().text();
        let line = snapshot.lines().find(|line| line.contains("button"));
        let uid = line.and_then(|line| line.split("uid=").nth(1)?.split(' ').next());
        uid.unwrap_or_else(|| panic!("no button in\n{snapshot}"))
            .to_owned()
    }

    /// Whether a successful answer is from this agent's page and from no other.
    pub(crate) fn recognises(&self, task: Task, text: &str) -> bool {
        match task {
            Task::Read => text.trim_matches('"') == self.name,
            Task::Find | Task::Snapshot | Task::Count => self.is_only_secret_in(text),
            Task::Pages => {
                // In a person's browser their own tab is listed too, at first without its page.
                let persons =
                    |line: &&str| line.contains(PERSONS) || line.contains(": about:blank (");
                let mut own = text.lines().filter(|line| !persons(line));
                own.next().is_some() && own.next().is_none() && self.is_only_secret_in(text)
            }
            Task::Status => text.contains("sess_"),
            Task::Press => !text.contains("agent-") || self.is_only_secret_in(text),
        }
    }

    /// How often each request was answered.
    pub(crate) fn answers(&self) -> BTreeMap<i64, usize> {
        let mut counts = BTreeMap::new();
        for message in self.client.received() {
            if let Some(id) = message.get("id").and_then(Value::as_i64) {
                *counts.entry(id).or_default() += 1;
            }
        }
        counts
    }

    fn is_only_secret_in(&self, text: &str) -> bool {
        let own = self.name.trim_start_matches("agent-");
        let mut found = text.split("agent-").skip(1).peekable();
        found.peek().is_some() && found.all(|rest| rest.starts_with(own))
    }
}

/// The title of a page that belongs to no agent.
pub(crate) const PERSONS: &str = "The person's own";

/// The tasks of a mixed load.
pub(crate) const MIX: [Task; 8] = [
    Task::Read,
    Task::Count,
    Task::Find,
    Task::Press,
    Task::Status,
    Task::Snapshot,
    Task::Count,
    Task::Pages,
];
