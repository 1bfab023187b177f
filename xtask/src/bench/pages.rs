//! The cost of calls on pages, compared with raw CDP where possible.

use super::bench_client::BenchClient;
use super::raw::{RawTab, WALK};
use super::sample::{Sample, millis};
use super::table::{Table, Unit};
use serde_json::json;
use std::path::Path;
use std::time::Instant;
use tabmux_testkit::{Chromium, FixtureServer, Response};

pub(super) async fn measure(binary: &Path, browser: &Path, table: &mut Table) {
    let pages = FixtureServer::start();
    pages.route("/small", Response::html(SMALL));
    pages.route("/restless", Response::html(RESTLESS));
    let chromium = Chromium::start(browser);
    let bench_client = BenchClient::attached(binary, &chromium).await;

    table.heading("Scripts");
    evaluate(&bench_client, &chromium, &pages, table).await;
    table.heading("Acting");
    click(&bench_client, &pages, table).await;
    table.heading("Seeing");
    snapshot(&bench_client, &chromium, &pages, table).await;
    table.heading("At once");
    at_once(binary, browser, &pages, table).await;
}

async fn evaluate(
    bench_client: &BenchClient,
    chromium: &Chromium,
    pages: &FixtureServer,
    table: &mut Table,
) {
    let url = pages.url("small");
    bench_client.open(&url).await;
    let Ok(raw_tab) = RawTab::at(chromium, &url).await else {
        return;
    };
    let (mut ours, mut raw) = (Sample::default(), Sample::default());
    for _ in 0..300 {
        raw.time(raw_tab.evaluate("1+1")).await;
        ours.time(bench_client.call("evaluate_script", json!({"function": "() => 1+1"})))
            .await;
    }
    let (ours, raw) = (millis(ours.median()), millis(raw.median()));
    table.fact(
        "raw CDP Runtime.evaluate 1+1",
        raw,
        Unit::Millis,
        "median of 300",
    );
    table.fact("evaluate_script 1+1", ours, Unit::Millis, "over MCP");
    table.goal("evaluate_script / raw", ours / raw, 2.0, Unit::Times, "");
}

async fn click(bench_client: &BenchClient, pages: &FixtureServer, table: &mut Table) {
    for (what, page, most) in [
        ("click on a small page", "small", 40.0),
        (
            "click on a page that never stops changing",
            "restless",
            150.0,
        ),
    ] {
        bench_client.open(&pages.url(page)).await;
        let uid = bench_client.uid("button \"Press\"").await;
        let mut sample = Sample::default();
        for _ in 0..30 {
            sample
                .time(bench_client.call("click", json!({"uid": uid})))
                .await;
        }
        table.goal(
            what,
            millis(sample.median()),
            most,
            Unit::Millis,
            "median of 30",
        );
    }
}

async fn snapshot(
    bench_client: &BenchClient,
    chromium: &Chromium,
    pages: &FixtureServer,
    table: &mut Table,
) {
    bench_client.open(&pages.url("small")).await;
    let mut small = Sample::default();
    for _ in 0..100 {
        small
            .time(bench_client.call("take_snapshot", json!({})))
            .await;
    }
    table.goal(
        "take_snapshot of a small page",
        millis(small.median()),
        10.0,
        Unit::Millis,
        "median of 100",
    );

    let url = pages.url("rows.html");
    bench_client.open(&url).await;
    let Ok(raw_tab) = RawTab::at(chromium, &url).await else {
        return;
    };
    let (mut ours, mut raw) = (Sample::default(), Sample::default());
    let mut bytes = 0;
    for _ in 0..20 {
        raw.time(raw_tab.evaluate(WALK)).await;
        bytes = ours
            .time(bench_client.call("take_snapshot", json!({})))
            .await
            .len();
    }
    let (ours, raw) = (millis(ours.median()), millis(raw.median()));
    table.fact(
        "raw in-page walk of 1,500 rows",
        raw,
        Unit::Millis,
        "median of 20",
    );
    table.fact("take_snapshot of 1,500 rows", ours, Unit::Millis, "");
    table.goal("take_snapshot / raw walk", ours / raw, 3.0, Unit::Times, "");
    table.goal("its size", bytes as f64, 40_000.0, Unit::Bytes, "");
    let mut find = Sample::default();
    for _ in 0..20 {
        find.time(bench_client.call("find", json!({"text": "Buy 1499"})))
            .await;
    }
    table.fact(
        "find in 1,500 rows",
        millis(find.median()),
        Unit::Millis,
        "the last one",
    );
}

async fn at_once(binary: &Path, browser: &Path, pages: &FixtureServer, table: &mut Table) {
    let bench_client = BenchClient::launched(binary, browser).await;
    let function = "() => new Promise(done => setTimeout(() => done(1), 2000))";
    let begun = Instant::now();
    let mut waits = Vec::new();
    for _ in 0..2 {
        bench_client.open(&pages.url("small")).await;
        let call = json!({"function": function});
        waits.push((
            Instant::now(),
            bench_client
                .client
                .begin_call("evaluate_script", call)
                .await,
        ));
    }
    let first = waits.first().map_or(begun, |(asked, _)| *asked);
    for (_, wait) in &waits {
        wait.tool_reply().await.ok();
    }
    let both = first.elapsed().as_secs_f64();
    table.goal(
        "two scripts of 2 s in two tabs",
        both,
        2.5,
        Unit::Seconds,
        "opening the second included",
    );

    let mut shots = Vec::new();
    let mut tabs = Vec::new();
    for _ in 0..10 {
        tabs.push(bench_client.open(&pages.url("small")).await);
    }
    let begun = Instant::now();
    for tab in tabs {
        bench_client.call("focus_tab", json!({"tabId": tab})).await;
        shots.push(
            bench_client
                .client
                .begin_call("take_screenshot", json!({}))
                .await,
        );
    }
    for shot in &shots {
        shot.tool_reply().await.ok();
    }
    let ten = millis(begun.elapsed());
    table.fact(
        "ten screenshots of background tabs",
        ten,
        Unit::Millis,
        "all asked for at once",
    );
}

const SMALL: &str = "<!doctype html><title>Small</title><h1>A small page</h1><p>With a few words.</p>\
    <form><label>Name <input></label><button type=button>Press</button></form><a href=#x>A link</a>";

/// Changes in every frame.
const RESTLESS: &str = "<!doctype html><title>Restless</title><button>Press</button><p id=out></p>\
    <script>let n = 0; (function change() { document.getElementById('out').textContent = ++n; \
    const p = document.createElement('i'); out.append(p); requestAnimationFrame(change) })(); \
    setInterval(() => { out.title = ++n }, 5)</script>";
