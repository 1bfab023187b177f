//! The time that the extension adds to a call, compared with a debugging port in the same browser and daemon.

use super::sample::{Sample, millis};
use super::table::{Table, Unit};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use tabmux_testkit::{ExtendedChromium, FixtureServer, McpClient, Response, process};
use tempfile::TempDir;

/// The two take turns, so that other load on the machine affects both alike.
pub(super) async fn measure(binary: &Path, browser: &Path, table: &mut Table) {
    table.heading("Over the extension, compared with a debugging port");
    let chromium = ExtendedChromium::start(browser, &[]);
    let setup = Setup::of(&chromium);
    let pages = FixtureServer::start();
    pages.route("/small", Response::html(SMALL));
    let port = format!("--browserUrl={}", chromium.chromium.http_url());
    let direct = setup.arrive(binary, &chromium, &port, &pages).await;
    let tunnel = setup.arrive(binary, &chromium, "--extension", &pages).await;
    for (tool, arguments) in [
        ("evaluate_script", json!({"function": "() => 1+1"})),
        ("take_snapshot", json!({})),
    ] {
        let mut samples = (Sample::default(), Sample::default());
        for _ in 0..CALLS {
            samples.0.time(call(&direct, tool, &arguments)).await;
            samples.1.time(call(&tunnel, tool, &arguments)).await;
        }
        let (direct, tunnel) = samples;
        for (name, direct, tunnel) in [
            ("median", direct.median(), tunnel.median()),
            ("p99", direct.p99(), tunnel.p99()),
        ] {
            let (direct, tunnel) = (millis(direct), millis(tunnel));
            table.fact(
                &format!("{tool}: added by the extension, {name}"),
                tunnel - direct,
                Unit::Millis,
                format!("of {CALLS}: {tunnel:.2} ms, over the port {direct:.2} ms"),
            );
        }
    }
}

async fn call(client: &McpClient, tool: &str, arguments: &Value) {
    client.call_tool(tool, arguments.clone()).await.ok();
}

/// The home folder of a daemon and its clients. Dropping it ends them.
struct Setup(TempDir);

impl Setup {
    fn of(chromium: &ExtendedChromium) -> Self {
        #[expect(clippy::expect_used, reason = "without a folder there is no bench")]
        let home = TempDir::with_prefix("tabmux-bench-").expect("a temporary folder");
        chromium.pair(home.path());
        Self(home)
    }

    /// A client with its own small page, in the browser that its flag names.
    async fn arrive(
        &self,
        binary: &Path,
        chromium: &ExtendedChromium,
        flag: &str,
        pages: &FixtureServer,
    ) -> McpClient {
        let home = self.0.path();
        let mut command = Command::new(binary);
        command
            .args(["mcp", "--tools=static", flag])
            .current_dir(home)
            .env("HOME", home)
            .env("TMPDIR", home)
            .env("TABMUX_SOCKET", home.join("run/daemon.sock"))
            .env("TABMUX_PORT", chromium.port.to_string());
        for name in ["XDG_RUNTIME_DIR", "XDG_DATA_HOME", "TABMUX_LOG"] {
            command.env_remove(name);
        }
        let client = McpClient::spawn(command);
        client.initialize().await;
        let open = json!({"url": pages.url("small")});
        call(&client, "new_page", &open).await;
        client
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        for one in process::processes_with(&self.0.path().display().to_string()) {
            process::kill_hard(one.pid);
        }
    }
}

const CALLS: usize = 500;

const SMALL: &str = "<!doctype html><title>Small</title><h1>A small page</h1><p>With a few words.</p>\
    <button>Press</button><a href=#x>A link</a>";
