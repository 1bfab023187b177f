//! The cost of sharing one daemon: memory of each process, and added latency.

use super::sample::{Sample, millis};
use super::table::{Table, Unit};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use tabmux_testkit::{McpClient, process};
use tempfile::TempDir;

pub(super) async fn measure(binary: &Path, browser: &Path, table: &mut Table) {
    table.heading("Sharing one daemon");
    start(binary, browser, table).await;
    memory(binary, browser, table).await;
    latency(binary, browser, table).await;
}

/// The time until `initialize` is answered when the client has to start the daemon.
async fn start(binary: &Path, browser: &Path, table: &mut Table) {
    let mut answered = Sample::default();
    for _ in 0..STARTS {
        let setup = Setup::new(binary, browser);
        let begun = Instant::now();
        let client = setup.spawn(Transport::Daemon);
        client.initialize_request("2025-11-25").await;
        answered.push(begun.elapsed());
    }
    table.goal(
        "spawn → initialize answered, no daemon yet",
        millis(answered.median()),
        10.0,
        Unit::Millis,
        format!("median of {}", answered.len()),
    );
}

/// The memory of ten clients and their daemon, each client with a tab.
async fn memory(binary: &Path, browser: &Path, table: &mut Table) {
    let setup = Setup::new(binary, browser);
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let client = setup.arrive(Transport::Daemon).await;
        evaluate(&client).await;
        clients.push(client);
    }
    let sizes = clients
        .iter()
        .filter_map(|client| process::resident_bytes(client.pid()));
    let largest = sizes.max().unwrap_or_default();
    let daemon = setup.daemon().and_then(process::resident_bytes);
    table.goal(
        "memory of each further client",
        largest as f64 / 1e6,
        8.0,
        Unit::Megabytes,
        format!("resident, the largest of {CLIENTS}"),
    );
    table.goal(
        "memory of the daemon with ten tabs",
        daemon.unwrap_or_default() as f64 / 1e6,
        25.0,
        Unit::Megabytes,
        "resident",
    );
}

/// The time that stdio-proxy and daemon add to a cheap call. Both take turns, so that other load on the
/// machine affects both alike.
async fn latency(binary: &Path, browser: &Path, table: &mut Table) {
    let (near, far) = (Setup::new(binary, browser), Setup::new(binary, browser));
    let direct = near.arrive(Transport::InProcess).await;
    let shared = far.arrive(Transport::Daemon).await;
    for client in [&direct, &shared] {
        evaluate(client).await;
        status(client).await;
    }
    let mut statuses = (Sample::default(), Sample::default());
    let mut scripts = (Sample::default(), Sample::default());
    for _ in 0..CALLS {
        statuses.0.time(status(&direct)).await;
        statuses.1.time(status(&shared)).await;
        scripts.0.time(evaluate(&direct)).await;
        scripts.1.time(evaluate(&shared)).await;
    }
    for (what, (direct, shared)) in [
        ("browser_get_connection_status", statuses),
        ("evaluate_script", scripts),
    ] {
        let (direct, shared) = (millis(direct.median()), millis(shared.median()));
        table.goal(
            &format!("{what}: added by proxy and daemon"),
            shared - direct,
            0.2,
            Unit::Millis,
            format!("medians of {CALLS}: {shared:.2} ms, in-process {direct:.2} ms"),
        );
    }
}

async fn status(client: &McpClient) {
    call(client, "browser_get_connection_status", json!({})).await;
}

async fn evaluate(client: &McpClient) {
    call(client, "evaluate_script", json!({"function": "() => 1"})).await;
}

async fn call(client: &McpClient, tool: &str, arguments: Value) {
    client.call_tool(tool, arguments).await.ok();
}

/// The home folder of a daemon, its clients and their browser. Dropping it ends them.
pub(super) struct Setup<'a> {
    binary: &'a Path,
    browser: &'a Path,
    home: TempDir,
}

/// How a client reaches its browser.
#[derive(Clone, Copy)]
pub(super) enum Transport {
    Daemon,
    InProcess,
}

impl<'a> Setup<'a> {
    pub(super) fn new(binary: &'a Path, browser: &'a Path) -> Self {
        #[expect(clippy::expect_used, reason = "without a folder there is no bench")]
        let home = TempDir::with_prefix("tabmux-bench-").expect("a temporary folder");
        Self {
            binary,
            browser,
            home,
        }
    }

    fn spawn(&self, way: Transport) -> McpClient {
        let home = self.home.path();
        let mut command = Command::new(self.binary);
        command.args(["mcp", "--tools=static", "--headless"]);
        command.arg("--chromeArg=--disable-quic");
        command.arg(format!("--executablePath={}", self.browser.display()));
        command.arg(format!("--userDataDir={}", home.join("profile").display()));
        command
            .current_dir(home)
            .env("HOME", home)
            .env("TMPDIR", home);
        for name in ["XDG_RUNTIME_DIR", "XDG_DATA_HOME", "TABMUX_LOG"] {
            command.env_remove(name);
        }
        // Any free port: other benchmarks may run at the same time.
        command.env("TABMUX_PORT", "0");
        match way {
            Transport::Daemon => command.env("TABMUX_SOCKET", home.join("run/daemon.sock")),
            Transport::InProcess => command.env_remove("TABMUX_SOCKET").arg("--no-daemon"),
        };
        McpClient::spawn(command)
    }

    pub(super) async fn arrive(&self, way: Transport) -> McpClient {
        let client = self.spawn(way);
        client.initialize().await;
        client
    }

    /// The output of `tabmux status --json`.
    pub(super) fn status(&self) -> Value {
        let mut command = Command::new(self.binary);
        command.args(["status", "--json"]);
        command
            .env("HOME", self.home.path())
            .env("TABMUX_SOCKET", self.home.path().join("run/daemon.sock"));
        let said = command.output().map(|output| output.stdout);
        serde_json::from_slice(&said.unwrap_or_default()).unwrap_or_default()
    }

    pub(super) fn daemon(&self) -> Option<u32> {
        let all = process::processes_with(&self.mark());
        let daemon = all.iter().find(|one| one.command.contains(" daemon run "));
        daemon.map(|daemon| daemon.pid)
    }

    fn mark(&self) -> String {
        self.home.path().display().to_string()
    }
}

impl Drop for Setup<'_> {
    fn drop(&mut self) {
        for one in process::processes_with(&self.mark()) {
            process::kill_hard(one.pid);
        }
    }
}

const STARTS: usize = 25;
const CLIENTS: usize = 10;
const CALLS: usize = 300;
