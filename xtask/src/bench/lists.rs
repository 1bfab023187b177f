//! The size of the tool list in each state.

use super::bench_client::BenchClient;
use super::table::{Table, Unit};
use serde_json::json;
use std::path::Path;

pub(super) async fn measure(binary: &Path, browser: &Path, table: &mut Table) {
    table.heading("tools/list");
    let named = format!("--executablePath={}", browser.display());
    let bench_client = BenchClient::start(binary, &["--headless", "--isolated", &named]);
    bench_client.client.initialize().await;
    let (bytes, tools) = list(&bench_client).await;
    table.goal("disconnected", bytes, 400.0, Unit::Bytes, tools);
    bench_client
        .call("connect_browser", json!({"launch": true}))
        .await;
    let (bytes, tools) = list(&bench_client).await;
    table.fact("connected, no tabs", bytes, Unit::Bytes, tools);
    bench_client
        .call("open_tab", json!({"url": "about:blank", "focus": false}))
        .await;
    let (bytes, tools) = list(&bench_client).await;
    table.fact("connected, none focused", bytes, Unit::Bytes, tools);
    bench_client.open("about:blank").await;
    let (bytes, tools) = list(&bench_client).await;
    table.goal(
        "tab focused, page actions included",
        bytes,
        12_000.0,
        Unit::Bytes,
        tools,
    );
}

/// The length of the list as JSON, and its number of tools.
async fn list(bench_client: &BenchClient) -> (f64, String) {
    let tools = bench_client.client.list_tools().await;
    let bytes: usize = tools.iter().map(|tool| tool.to_string().len() + 1).sum();
    let many = if tools.len() == 1 { "" } else { "s" };
    (bytes as f64, format!("{} tool{many}", tools.len()))
}
