//! What it costs to say at the end of an action what changed on the page: the same click with and without it.

use super::bench_client::BenchClient;
use super::sample::{Sample, millis};
use super::table::{Table, Unit};
use serde_json::json;
use std::path::Path;
use tabmux_testkit::{Chromium, FixtureServer, Response};

pub(super) async fn measure(binary: &Path, browser: &Path, table: &mut Table) {
    table.heading("What changed");
    let pages = FixtureServer::start();
    let chromium = Chromium::start(browser);
    let bench_client = BenchClient::attached(binary, &chromium).await;
    for (rows, most) in PAGES {
        let page = format!("rows-{rows}");
        pages.route(&format!("/{page}"), Response::html(html(rows)));
        bench_client.open(&pages.url(&page)).await;
        let cost = one_page(&bench_client).await;
        let unread = match cost.unread {
            0 => "every change was told".to_owned(),
            unread => format!("{unread} of {CLICKS} answers said that the page is too large"),
        };
        table.goal(
            &format!("added to a click, {} lines", rows * LINES_PER_ROW),
            cost.millis,
            most,
            Unit::Millis,
            format!("medians of {CLICKS}; {unread}"),
        );
    }
}

struct Cost {
    millis: f64,
    unread: usize,
}

/// Both kinds of click take turns, so that other load on the machine affects both alike.
async fn one_page(bench_client: &BenchClient) -> Cost {
    let uid = bench_client.uid("button \"Press\"").await;
    let (mut with, mut without) = (Sample::default(), Sample::default());
    let mut unread = 0;
    for _ in 0..CLICKS {
        let told = with
            .time(bench_client.call("click", json!({"uid": uid})))
            .await;
        unread += usize::from(told.contains("What changed was not read"));
        let quiet = json!({"uid": uid, "changes": false});
        without.time(bench_client.call("click", quiet)).await;
    }
    Cost {
        millis: millis(with.median()) - millis(without.median()),
        unread,
    }
}

/// A table in which each click changes one row and draws the others again.
fn html(rows: usize) -> String {
    format!(
        "<!doctype html><title>Rows</title><button onclick=draw()>Press</button><table id=all></table><script>\
         let n = 0; const draw = () => {{ n++; all.innerHTML = Array.from({{ length: {rows} }}, (_, i) => \
         `<tr><td>Person ${{i}}${{i === 1 ? ` ${{n}}` : ''}}</td><td>mail ${{i}}</td><td><a href=#${{i}}>Edit</a></td>\
         <td><button>Delete</button></td></tr>`).join('') }}; draw()</script>"
    )
}

/// How many rows, and what telling may cost: up to the time limit of reading, and beyond it.
const PAGES: [(usize, f64); 6] = [
    (5, 10.0),
    (100, 60.0),
    (300, 60.0),
    (700, 60.0),
    (2_000, 60.0),
    (6_000, 60.0),
];
const LINES_PER_ROW: usize = 3;
const CLICKS: usize = 20;
