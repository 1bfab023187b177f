//! The cost of starting and ending the server.

use super::bench_client::BenchClient;
use super::sample::{Sample, millis};
use super::table::{Table, Unit};
use serde_json::json;
use std::path::Path;
use std::time::Instant;
use tabmux_testkit::process;

pub(super) async fn measure(binary: &Path, browser: &Path, table: &mut Table) {
    table.heading("Starting");
    let mut answered = Sample::default();
    let mut memory = Vec::new();
    for _ in 0..STARTS {
        let begun = Instant::now();
        let bench_client = BenchClient::start(binary, &["--headless", "--isolated"]);
        bench_client.client.initialize_request("2025-11-25").await;
        answered.push(begun.elapsed());
        bench_client
            .client
            .notify("notifications/initialized", json!({}))
            .await;
        bench_client.client.list_tools().await;
        memory.extend(process::resident_bytes(bench_client.client.pid()));
    }
    memory.sort_unstable();
    let memory = memory.get(memory.len() / 2).copied().unwrap_or_default();
    let runs = format!("median of {}", answered.len());
    table.goal(
        "spawn → initialize answered",
        millis(answered.median()),
        10.0,
        Unit::Millis,
        runs,
    );
    table.goal(
        "memory before a browser is connected",
        memory as f64 / 1e6,
        15.0,
        Unit::Megabytes,
        "resident",
    );

    let mut launched = Sample::default();
    let mut ended = Sample::default();
    let mut gone = Sample::default();
    for _ in 0..LAUNCHES {
        let named = format!("--executablePath={}", browser.display());
        let mut bench_client = BenchClient::start(binary, &["--headless", "--isolated", &named]);
        bench_client.client.initialize().await;
        launched
            .time(bench_client.call("connect_browser", json!({"launch": true})))
            .await;
        bench_client
            .call("open_tab", json!({"url": "about:blank"}))
            .await;
        let family: Vec<u32> = process::descendants(bench_client.client.pid())
            .iter()
            .map(|p| p.pid)
            .collect();
        let end = async {
            bench_client.client.close_input().await;
            bench_client.client.wait_for_exit().await;
        };
        ended.time(end).await;
        process::wait_until_gone(&family).await;

        let bench_client = BenchClient::launched(binary, browser).await;
        let family: Vec<u32> = process::descendants(bench_client.client.pid())
            .iter()
            .map(|p| p.pid)
            .collect();
        process::kill_hard(bench_client.client.pid());
        gone.time(process::wait_until_gone(&family)).await;
    }
    table.fact(
        "connect_browser that launches",
        millis(launched.median()),
        Unit::Millis,
        "Chrome's own start included",
    );
    table.goal(
        "end of input → the server has ended",
        millis(ended.median()),
        1_000.0,
        Unit::Millis,
        "browser and profile gone",
    );
    table.goal(
        "kill -9 → no browser process is left",
        millis(gone.median()),
        2_000.0,
        Unit::Millis,
        "",
    );
}

const STARTS: usize = 25;
const LAUNCHES: usize = 3;
