//! One server under measurement with its client and its own home folder.

use super::Bench;
use super::dialect::{Call, Job, Peer};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tabmux_testkit::{McpClient, Pending, ToolReply, process};
use tempfile::TempDir;

pub(in crate::bench) struct PeerServer {
    pub(super) peer: Peer,
    client: McpClient,
    home: TempDir,
    /// How long the server took to answer `initialize`, from its spawn.
    pub(super) started: Duration,
    /// The size of what it tells every agent at the start.
    pub(in crate::bench) instruction_bytes: usize,
}

/// The result of a job, and how long it took.
pub(in crate::bench) struct Done {
    pub(super) took: Duration,
    pub(in crate::bench) text: String,
    /// The size of the whole answer on the wire.
    pub(super) bytes: usize,
}

impl PeerServer {
    pub(super) async fn take(peer: Peer, bench: &Bench) -> Result<Self> {
        Self::with_flags(peer, peer.flags(), bench).await
    }

    /// Starts a server with certain flags.
    pub(in crate::bench) async fn with_flags(
        peer: Peer,
        flags: &[&str],
        bench: &Bench,
    ) -> Result<Self> {
        let home = TempDir::with_prefix("tabmux-peer-")?;
        let mut command = command(peer, bench, home.path());
        command.args(flags);
        let begun = Instant::now();
        let client = McpClient::spawn(command);
        let told = client.initialize_request("2025-11-25").await;
        let started = begun.elapsed();
        let instruction_bytes = told["instructions"].as_str().map_or(0, str::len);
        client.notify("notifications/initialized", json!({})).await;
        Ok(Self {
            peer,
            client,
            home,
            started,
            instruction_bytes,
        })
    }

    /// The size of the tool list in bytes.
    pub(super) async fn list_bytes(&self) -> usize {
        let tools = self.list_tools().await;
        json!({"tools": tools}).to_string().len()
    }

    pub(in crate::bench) async fn does(&self, job: &Job<'_>) -> Result<Done> {
        let calls = self.peer.calls(job);
        let begun = Instant::now();
        let mut last = None;
        for call in calls {
            last = Some(succeeded(&self.begin(call).await).await?);
        }
        let took = begun.elapsed();
        let reply = last.context("no call does this")?;
        Ok(Done {
            took,
            text: reply.text(),
            bytes: reply.raw.to_string().len(),
        })
    }

    /// Sends a call without waiting for its answer.
    pub(in crate::bench) async fn begin(&self, (tool, arguments): Call) -> Pending<'_> {
        self.client.begin_call(tool, arguments).await
    }

    /// How often the server has said that its list changed.
    pub(in crate::bench) fn list_changes(&self) -> usize {
        let received = self.client.received();
        let changes = received
            .iter()
            .filter(|message| message["method"] == "notifications/tools/list_changed");
        changes.count()
    }

    /// The list of tools.
    pub(in crate::bench) async fn list_tools(&self) -> Vec<Value> {
        self.client.list_tools().await
    }

    /// The references of elements, by their names on the page.
    pub(super) async fn references(&self, names: &[String]) -> Result<Vec<String>> {
        let snapshot = self.does(&Job::Snapshot).await?.text;
        let found = names.iter().map(|name| {
            let quoted = format!("{name:?}");
            let mut lines = snapshot.lines().filter(|line| line.contains(&quoted));
            lines
                .find_map(|line| self.peer.reference(line))
                .with_context(|| format!("nothing is named {name} in {snapshot}"))
        });
        found.collect()
    }

    /// The memory of the server and its helpers, without that of the browser.
    pub(super) fn memory(&self) -> u64 {
        let ours = self.processes().into_iter();
        ours.filter(|pid| !is_browser(*pid))
            .filter_map(process::resident_bytes)
            .sum()
    }

    /// All processes that were started from here, found by their environment, because parents may have changed.
    fn processes(&self) -> BTreeSet<u32> {
        let mark = format!("HOME={}\0", self.home.path().display());
        let was_started_here = |pid: &u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(&mark)
        };
        let children = process::descendants(self.client.pid());
        let all = process::processes().into_iter().map(|one| one.pid);
        let mut found: BTreeSet<u32> = all.filter(was_started_here).collect();
        found.extend(children.iter().map(|child| child.pid));
        found
    }
}

impl Drop for PeerServer {
    fn drop(&mut self) {
        let patience = Instant::now() + Duration::from_secs(5);
        loop {
            let left = self.processes();
            if left.is_empty() || Instant::now() > patience {
                return;
            }
            for pid in left {
                let children = process::descendants(pid);
                process::kill_hard(pid);
                children
                    .iter()
                    .for_each(|child| process::kill_hard(child.pid));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The answer to a call that must succeed.
pub(super) async fn succeeded(pending: &Pending<'_>) -> Result<ToolReply> {
    let reply = match pending.answer().await {
        Ok(result) => ToolReply::new(result),
        Err(error) => bail!("{error}"),
    };
    match reply.is_error() {
        true => bail!("{}", reply.text()),
        false => Ok(reply),
    }
}

fn command(peer: Peer, bench: &Bench, home: &Path) -> Command {
    let script = |path: &str| {
        let mut command = Command::new("node");
        command.arg(bench.shelf.join("node_modules").join(path));
        command
    };
    let browser = bench.browser.display();
    let mut command = match peer {
        Peer::Tabmux => {
            let mut command = Command::new(&bench.tabmux);
            command
                .args(["mcp", "--headless", "--isolated"])
                .arg("--viewport=1280x720")
                .arg(format!("--executablePath={browser}"))
                .env("TABMUX_SOCKET", home.join("run/daemon.sock"));
            command
        }
        Peer::DevTools => {
            let mut command = script("chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js");
            command
                .args(["--headless", "--isolated", "--viewport=1280x720"])
                .args(["--no-usage-statistics", "--no-performance-crux"])
                .env("CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS", "1")
                .args(as_root().then_some("--chromeArg=--no-sandbox"))
                .arg(format!("--executablePath={browser}"));
            command
        }
        Peer::Playwright => {
            let mut command = script("@playwright/mcp/cli.js");
            command
                .args(["--headless", "--isolated", "--viewport-size=1280x720"])
                .args(as_root().then_some("--no-sandbox"))
                .arg(format!("--executable-path={browser}"));
            command
        }
        Peer::AgentBrowser => {
            let native = bench.shelf.join("node_modules/agent-browser/bin");
            let mut command = Command::new(native.join(native_name()));
            command
                .arg("mcp")
                .env("AGENT_BROWSER_EXECUTABLE_PATH", &bench.browser)
                .envs(as_root().then_some(("AGENT_BROWSER_ARGS", "--no-sandbox")));
            command
        }
    };
    command
        .current_dir(home)
        .env("HOME", home)
        .env("TMPDIR", home);
    for name in ["XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
        command.env_remove(name);
    }
    command
}

/// The native program with which its own installer replaces its Node.js launcher.
fn native_name() -> String {
    let machine = match std::env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "x64",
    };
    format!("agent-browser-linux-{machine}")
}

/// Chrome's own sandbox refuses to work for root.
fn as_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

fn is_browser(pid: u32) -> bool {
    let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    name.contains("chrom") && !name.contains("mcp")
}

/// The number of the tab that `new_page` has opened.
pub(super) fn opened_page(text: &str) -> Result<u64> {
    let line = text.lines().find(|line| line.contains("selected"));
    let words = line.unwrap_or_default().split([' ', ':']);
    let number = words.filter_map(|word| word.parse().ok()).next();
    number.with_context(|| format!("no page was opened: {text}"))
}

/// Opens one more tab, where tabs have numbers.
pub(super) fn new_page(url: &str) -> Call {
    ("new_page", json!({"url": url}))
}
