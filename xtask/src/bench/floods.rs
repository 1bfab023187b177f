//! What the worst known pages cost the daemon's main loop, which every session needs.
//!
//! `bystander` measures the effect of attacks on other sessions; this benchmark is about the rule that no event
//! costs the loop more than a millisecond.

use super::sample::{Sample, millis};
use super::shared::{Setup, Transport};
use super::table::{Table, Unit};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use tabmux_testkit::{FixtureServer, McpClient, PageWorker, Response, process};
use tokio::task::JoinHandle;

pub(super) async fn measure(binary: &Path, browser: &Path, table: &mut Table) {
    table.heading("Pages that flood: the main loop and a bystander");
    let pages = FixtureServer::start();
    pages.route("/running", Response::html(LOUD));
    pages.route("/quiet", Response::html("<title>Quiet</title><p>Quiet</p>"));
    for flood in [Flood::Tools, Flood::Workers(1), Flood::Workers(16)] {
        let setup = Setup::new(binary, browser);
        let quiet = setup.arrive(Transport::Daemon).await;
        open(&quiet, pages.url("/quiet")).await;
        let _loud = flood.begin(&setup, &pages).await;
        let (mut snapshots, mut peak) = (Sample::default(), 0);
        let begun = Instant::now();
        while begun.elapsed() < LASTS {
            snapshots
                .time(quiet.call_tool("take_snapshot", json!({})))
                .await
                .ok();
            let daemon = setup.daemon().and_then(process::resident_bytes);
            peak = peak.max(daemon.unwrap_or_default());
        }
        flood.report(&setup.status(), &snapshots, peak, table);
    }
}

/// The source of a flood.
#[derive(Clone, Copy)]
enum Flood {
    /// A page: 60 tools of 46 kB through `document.modelContext`, every 120 ms.
    Tools,
    /// This many workers of the page library, with tools of 58 kB.
    Workers(u16),
}

/// A flood that lasts until it is dropped.
struct RunningFlood {
    _client: Option<McpClient>,
    workers: Vec<JoinHandle<()>>,
}

impl Flood {
    async fn begin(self, setup: &Setup<'_>, pages: &FixtureServer) -> RunningFlood {
        let mut running = RunningFlood {
            _client: None,
            workers: Vec::new(),
        };
        match self {
            Self::Tools => {
                let client = setup.arrive(Transport::Daemon).await;
                open(&client, pages.url("/running")).await;
                running._client = Some(client);
            }
            Self::Workers(count) => {
                let port = setup.status()["port"].as_u64().unwrap_or_default();
                let workers = (0..count).map(|number| tokio::spawn(shout(port, number)));
                running.workers = workers.collect();
            }
        }
        running
    }

    fn name(self) -> String {
        match self {
            Self::Tools => "60 tools of 46 kB every 120 ms".to_owned(),
            Self::Workers(count) => format!("{count} × workers with tools of 58 kB"),
        }
    }

    fn report(self, status: &Value, snapshots: &Sample, peak: u64, table: &mut Table) {
        let name = self.name();
        let costs = status["loopCosts"].as_array().map(Vec::as_slice);
        let costs = costs.unwrap_or_default().iter();
        // Connecting a browser is not caused by a page.
        let costs = costs.filter(|cost| cost["event"] != "connected");
        let worst = costs.max_by(|one, other| worst_of(one).total_cmp(&worst_of(other)));
        let worst = worst.cloned().unwrap_or_default();
        table.goal(
            &format!("{name}: worst event"),
            worst_of(&worst),
            1.0,
            Unit::Millis,
            format!("processor time of the main loop, `{}`", worst["event"]),
        );
        table.goal(
            &format!("{name}: another's snapshot"),
            millis(snapshots.p95()),
            250.0,
            Unit::Millis,
            format!(
                "95 of 100 of {}; median {:.1} ms",
                snapshots.len(),
                millis(snapshots.median())
            ),
        );
        table.goal(
            &format!("{name}: memory of the daemon"),
            peak as f64 / 1e6,
            150.0,
            Unit::Megabytes,
            "resident, the most that was seen",
        );
    }
}

impl Drop for RunningFlood {
    fn drop(&mut self) {
        self.workers.iter().for_each(JoinHandle::abort);
    }
}

fn worst_of(cost: &Value) -> f64 {
    cost["worstMs"].as_f64().unwrap_or_default()
}

async fn open(client: &McpClient, url: String) {
    client.call_tool("new_page", json!({"url": url})).await.ok();
}

/// A worker that registers its tool again and again, as fast as the daemon reads.
async fn shout(port: u64, number: u16) {
    let (host, origin) = (
        format!("127.0.0.1:{port}"),
        format!("http://localhost:{}", 5_000 + number),
    );
    let headers = [("Host", host.as_str()), ("Origin", origin.as_str())];
    let Ok((mut worker, _)) = PageWorker::dial(&host, &headers).await else {
        return;
    };
    worker.greet().await;
    let tab = format!("running-{number}");
    worker.tab(&tab).await;
    for turn in 0_u64.. {
        let properties = (0..600).map(|n| {
            let property =
                json!({"type": "string", "description": format!("{turn} {}", "x".repeat(50))});
            (format!("property_{n}"), property)
        });
        let schema =
            json!({"type": "object", "properties": serde_json::Map::from_iter(properties)});
        worker
            .offer(&tab, &format!("tool_{}", turn % 50), schema)
            .await;
    }
}

const LASTS: Duration = Duration::from_secs(10);

const LOUD: &str = r#"<title>RunningFlood</title><script>
    const schema = (turn) => ({type: "object", properties: Object.fromEntries(Array.from({length: 480}, (_, n) =>
      ["property_" + n, {type: "string", description: turn + " " + "x".repeat(50)}]))});
    let turn = 0, before;
    setInterval(() => {
      before?.abort();
      before = new AbortController();
      turn += 1;
      for (let n = 0; n < 60; n++) document.modelContext.registerTool({name: "tool_" + n, description: "Turn " + turn,
        inputSchema: schema(turn), execute: () => turn}, {signal: before.signal});
    }, 120);
    </script>"#;
