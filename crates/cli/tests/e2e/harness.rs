//! The test harness of an agent: the real binary, a client, and a web server with pages.

use crate::over_extension::{self, Capability};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use tabmux_testkit::{
    Chromium, FixtureServer, McpClient, OverExtension, Response, ToolReply, patiently, process,
};
use tempfile::TempDir;

/// One running `tabmux mcp` with its client. Dropping it ends everything that it started.
pub(crate) struct McpHarness {
    pub(crate) client: McpClient,
    pub(crate) pages: FixtureServer,
    /// The server's home and temporary folder, so that it finds no other profile.
    pub(crate) home: TempDir,
}

impl McpHarness {
    /// A server that will launch its own browser, before the handshake. `None` if tests with a real browser
    /// are off.
    pub(crate) fn silent(flags: &[&str]) -> Option<Self> {
        let browser = tabmux_testkit::real_browser()?;
        if OverExtension::here().is_some() {
            return Some(Self::start(&[&["--extension"], flags].concat()));
        }
        let named = format!("--executablePath={}", browser.display());
        let own = [
            "--headless",
            "--isolated",
            "--chromeArg=--disable-quic",
            &named,
        ];
        Some(Self::start(&[&own, flags].concat()))
    }

    /// A server after the handshake: DISCONNECTED.
    pub(crate) async fn disconnected(flags: &[&str]) -> Option<Self> {
        let harness = Self::silent(flags)?;
        harness.client.initialize().await;
        Some(harness)
    }

    /// A server after `connect_browser`: its own browser, and no tabs.
    pub(crate) async fn launched(flags: &[&str]) -> Option<Self> {
        let harness = Self::disconnected(flags).await?;
        let step = harness
            .step("connect_browser", json!({"launch": true}))
            .await;
        assert_eq!(step.notices, 1);
        assert_eq!(step.json()["tabCount"], 0);
        Some(harness)
    }

    /// A server that is attached to a running browser.
    pub(crate) async fn attached(chromium: &Chromium, flags: &[&str]) -> Self {
        let url = format!("--browserUrl={}", chromium.http_url());
        let harness = Self::start(&[&[url.as_str()], flags].concat());
        harness.client.initialize().await;
        assert_eq!(harness.step("connect_browser", json!({})).await.notices, 1);
        harness
    }

    /// Whether Chrome offers this capability here.
    pub(crate) fn can(&self, capability: Capability) -> bool {
        capability.is_given()
    }

    /// A server with exactly these flags and its own home.
    pub(crate) fn start(flags: &[&str]) -> Self {
        let home = TempDir::with_prefix("tabmux-e2e-").unwrap();
        if let Some(over) = OverExtension::here() {
            over_extension::move_in(over, home.path());
        }
        let client = McpClient::spawn(command(home.path(), flags));
        let pages = FixtureServer::start();
        for name in ["a", "b", "c"] {
            let title = name.to_uppercase();
            pages.route(
                &format!("/{name}"),
                page(&title, &format!("<p>This is {title}.</p>")),
            );
        }
        Self {
            client,
            pages,
            home,
        }
    }

    /// Calls a tool and counts the notifications before its answer. A notification after the answer fails
    /// the test.
    pub(crate) async fn step(&self, tool: &str, arguments: Value) -> Step {
        self.client.assert_no_notification().await;
        let pending = self.client.begin_call(tool, arguments).await;
        let reply = pending.tool_reply().await;
        let notices = self.client.take_notifications_before(pending.id());
        for notice in &notices {
            assert_eq!(notice, &list_changed());
        }
        self.client.assert_no_notification().await;
        Step {
            reply,
            notices: notices.len(),
        }
    }

    /// Calls a tool that must succeed; returns its text.
    pub(crate) async fn text(&self, tool: &str, arguments: Value) -> String {
        self.client.call_tool(tool, arguments).await.ok().text()
    }

    /// Calls a tool that must fail without a notification; returns its sentence.
    pub(crate) async fn refusal(&self, tool: &str, arguments: Value) -> String {
        let step = self.step(tool, arguments).await;
        assert_eq!(step.notices, 0, "{}", step.reply.text());
        step.reply.expect_error()
    }

    /// Opens one of the pages and focuses it; returns the number of the tab.
    pub(crate) async fn open(&self, path: &str) -> u64 {
        let url = self.pages.url(path);
        let opened = self
            .client
            .call_tool("open_tab", json!({"url": url}))
            .await
            .ok()
            .json();
        self.client.take_notifications().await;
        opened["tab"]["id"].as_u64().unwrap()
    }

    /// Focuses a tab.
    pub(crate) async fn focus(&self, tab: u64) {
        self.client
            .call_tool("focus_tab", json!({"tabId": tab}))
            .await
            .ok();
        self.client.take_notifications().await;
    }

    /// Runs a function in the focused page that returns a value.
    pub(crate) async fn evaluate(&self, function: &str) -> Value {
        let arguments = json!({"function": function});
        self.client
            .call_tool("evaluate_script", arguments)
            .await
            .ok()
            .json()
    }

    /// The uid of the one line of a snapshot of the focused page that contains `part`.
    pub(crate) async fn uid(&self, part: &str) -> String {
        let snapshot = self.text("take_snapshot", json!({})).await;
        let lines: Vec<_> = snapshot
            .lines()
            .filter(|line| line.contains(part))
            .collect();
        let [line] = lines.as_slice() else {
            panic!("{} lines contain {part:?} in\n{snapshot}", lines.len());
        };
        let (_, rest) = line
            .split_once("uid=")
            .unwrap_or_else(|| panic!("no uid in {line:?}"));
        rest.split(' ').next().unwrap_or_default().to_owned()
    }

    /// What `list_tabs` answers.
    pub(crate) async fn tabs(&self) -> Tabs {
        Tabs(
            self.client
                .call_tool("list_tabs", json!({}))
                .await
                .ok()
                .json(),
        )
    }

    /// Calls `list_tabs` until the answer is as wanted, after the user or the browser did something.
    pub(crate) async fn tabs_until(&self, wanted: impl Fn(&Tabs) -> bool) -> Tabs {
        let last = std::cell::RefCell::default();
        let asking = async {
            loop {
                let tabs = self.tabs().await;
                if wanted(&tabs) {
                    return tabs;
                }
                last.replace(Some(tabs));
            }
        };
        patiently(asking, || format!("other tabs than {:?}", last.borrow())).await
    }

    /// The names of the tools that are listed now.
    pub(crate) async fn names(&self) -> Vec<String> {
        self.client.tool_names().await
    }

    /// Waits for one notification, and checks that it is the only one so far.
    pub(crate) async fn one_notice(&self) {
        assert_eq!(self.client.next_notification().await, list_changed());
        self.client.assert_no_notification().await;
    }

    /// Kills the browser of the server with SIGKILL.
    pub(crate) fn kill_browser(&self) {
        if let Some(over) = OverExtension::here() {
            return over.end_browser();
        }
        let server = self.client.pid();
        let mut processes = process::descendants(server);
        processes.retain(|process| process.parent == server);
        let [browser] = processes.as_slice() else {
            panic!("one browser: {processes:?}")
        };
        process::kill_hard(browser.pid);
    }

    /// The folder for temporary files of the server and its browser.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.home.path().join("tmp")
    }
}

impl Drop for McpHarness {
    /// Ends the server with its browser, and waits until no process writes to its home.
    fn drop(&mut self) {
        let server = self.client.pid();
        let mut family = process::descendants(server);
        if OverExtension::here().is_some() {
            // The daemon is not a child of ours.
            family.extend(process::processes_with(
                &self.home.path().display().to_string(),
            ));
        }
        process::kill_hard(server);
        let patience = std::time::Instant::now() + std::time::Duration::from_secs(5);
        while !family.is_empty() && std::time::Instant::now() < patience {
            for member in &family {
                process::kill_hard(member.pid);
            }
            std::thread::yield_now();
            family.retain(|member| process::is_alive(member.pid));
        }
    }
}

/// The outcome of a call.
pub(crate) struct Step {
    pub(crate) reply: ToolReply,
    pub(crate) notices: usize,
}

impl Step {
    /// The answer of a call that must succeed.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        self.reply.clone().ok().json()
    }

    /// Compares with the literal text of the answer, which must also be in its structured content.
    #[track_caller]
    pub(crate) fn is(&self, notices: usize, literal: &Value) {
        let text = literal.to_string();
        let expected = json!({
            "content": [{"type": "text", "text": text}],
            "structuredContent": literal,
        });
        assert_eq!(self.reply.raw, expected);
        assert_eq!(self.notices, notices, "notifications of {text}");
    }
}

/// An answer of `list_tabs`.
#[derive(Debug, PartialEq)]
pub(crate) struct Tabs(pub(crate) Value);

impl Tabs {
    pub(crate) fn rows(&self) -> &[Value] {
        self.0["tabs"].as_array().unwrap()
    }

    pub(crate) fn urls(&self) -> Vec<&str> {
        self.rows()
            .iter()
            .filter_map(|row| row["url"].as_str())
            .collect()
    }

    pub(crate) fn ids(&self) -> Vec<u64> {
        self.rows()
            .iter()
            .filter_map(|row| row["id"].as_u64())
            .collect()
    }

    pub(crate) fn focused(&self) -> Option<u64> {
        self.0["focusedTabId"].as_u64()
    }

    /// The number of the tab that shows this page.
    pub(crate) fn id_of(&self, url: &str) -> u64 {
        let row = self.rows().iter().find(|row| row["url"] == url);
        let row = row.unwrap_or_else(|| panic!("no tab shows {url}: {self:?}"));
        row["id"].as_u64().unwrap()
    }
}

/// A page with a title.
pub(crate) fn page(title: &str, body: &str) -> Response {
    Response::html(format!("<!doctype html><title>{title}</title>{body}"))
}

/// Asserts the names, with a readable message.
#[track_caller]
pub(crate) fn assert_names(names: &[String], expected: &[&str]) {
    assert_eq!(names, expected);
}

/// The core tools while a tab is focused.
pub(crate) const FOCUSED: [&str; 4] = ["list_tabs", "open_tab", "focus_tab", "close_tab"];

/// The generic page actions and what adds to them, sorted.
pub(crate) const ACTIONS: [&str; 17] = [
    "click",
    "evaluate_script",
    "fill",
    "fill_form",
    "find",
    "handle_dialog",
    "hover",
    "more_tools",
    "navigate_page",
    "press_key",
    "read_page",
    "run_steps",
    "scroll",
    "take_screenshot",
    "take_snapshot",
    "type_text",
    "wait_for",
];

fn list_changed() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
}

/// The program. A flag that begins with `TABMUX_` is an environment variable.
fn command(home: &Path, flags: &[&str]) -> Command {
    let (variables, flags): (Vec<_>, Vec<_>) = flags
        .iter()
        .copied()
        .partition(|flag| flag.starts_with("TABMUX_"));
    let temporary = home.join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tabmux"));
    let chosen = flags.iter().any(|flag| flag.starts_with("--tools="));
    let flags = match OverExtension::here() {
        Some(over) => {
            over_extension::direct(over, command.arg("mcp"), home);
            over_extension::flags_without_launch(over, &flags)
        }
        None => {
            command.args(["mcp", "--no-daemon"]);
            flags
        }
    };
    command
        .args((!chosen).then_some("--tools=progressive"))
        .args(flags)
        .current_dir(home)
        .env("HOME", home)
        .env("TMPDIR", temporary);
    for name in [
        "XDG_DATA_HOME",
        "XDG_CONFIG_HOME",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "TABMUX_LOG",
    ] {
        command.env_remove(name);
    }
    let variables = variables.iter().filter_map(|one| one.split_once('='));
    command.envs(variables);
    command
}
