//! Browsers that are connected before their first call, and the metrics of each.

use crate::crowd::Crowd;
use serde_json::{Value, json};
use tabmux_testkit::{Chromium, patiently};

fn by_url(chromium: &Chromium) -> String {
    format!("--browserUrl={}", chromium.http_url())
}

/// The output of `tabmux browsers --json`.
fn browsers(crowd: &Crowd) -> Vec<Value> {
    let output = crowd.tabmux().args(["browsers", "--json"]).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Spec: multi-browser 13.
#[tokio::test(flavor = "multi_thread")]
async fn all_browsers_are_connected_in_the_background_when_that_is_wanted() {
    let Some(crowd) = Crowd::gather() else { return };
    let gone = crowd.running_browser();
    let nobody = by_url(&gone);
    drop(gone);
    let (first, second) = (crowd.running_browser(), crowd.running_browser());
    let (one, two) = (by_url(&first), by_url(&second));
    let client = crowd
        .visitor(&[&one, &nobody, &two, "--connectAtStart"])
        .await;
    let states = async || {
        let list = client.call_tool("list_browsers", json!({})).await.ok();
        let text = list.text();
        let words = ["pending", "connecting", "disconnected", "connected"];
        let rows = text.lines().filter(|line| line.starts_with('['));
        let state = |row: &str| {
            let mut words = words.into_iter();
            words.find(|word| row.contains(&format!(" - {word}")))
        };
        rows.filter_map(state).collect::<Vec<_>>()
    };
    // No call needs a browser here, but all connect.
    let come = || "all browsers to be tried".to_owned();
    let wanted = ["connected", "disconnected", "connected"];
    patiently(async { while states().await != wanted {} }, come).await;
    let title = json!({"browserIndex": 3, "function": "() => 1 + 1"});
    let answer = client.call_tool("evaluate_script", title).await.ok();
    assert_eq!(answer.text(), "2");
}

/// Spec: multi-browser 89.
#[tokio::test(flavor = "multi_thread")]
async fn calls_are_counted_for_the_browser_that_served_them() {
    let Some(crowd) = Crowd::gather() else { return };
    let (first, second) = (crowd.running_browser(), crowd.running_browser());
    let client = crowd.visitor(&[&by_url(&first), &by_url(&second)]).await;
    client.call_tool("list_browsers", json!({})).await.ok();
    assert_eq!(browsers(&crowd)[0]["metrics"]["calls"], 0);
    let run = async |browser: u32, function: &str| {
        let arguments = json!({"browserIndex": browser, "function": function});
        client.call_tool("evaluate_script", arguments).await
    };
    run(1, "() => 1").await.ok();
    run(1, "() => nothing").await.expect_error();
    run(1, "() => new Promise(done => setTimeout(done, 50))").await;
    run(2, "() => 2").await.ok();
    let rows = browsers(&crowd);
    let [one, two] = &rows[..] else {
        panic!("{rows:?}");
    };
    assert_eq!(one["metrics"]["calls"], 3, "{one}");
    assert_eq!(one["metrics"]["failed"], 1, "{one}");
    assert!(one["metrics"]["slowestMs"].as_f64() >= Some(50.0), "{one}");
    assert!(
        one["metrics"]["medianMs"].as_f64() <= one["metrics"]["slowestMs"].as_f64(),
        "{one}"
    );
    assert_eq!(two["metrics"]["calls"], 1, "{two}");
    assert_eq!(two["metrics"]["failed"], 0, "{two}");
    for row in &rows {
        assert_eq!(row["metrics"]["connects"], 1, "{row}");
        assert!(row["metrics"]["connectedSeconds"].is_u64(), "{row}");
    }
    // The table shows the same below each row, on a terminal of 80 columns.
    let mut table = crowd.tabmux();
    let table = table.arg("browsers").env("COLUMNS", "80").output().unwrap();
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("\n   3 calls, 1 failed, median "), "{table}");
    assert!(table.contains("\n   1 call, 0 failed, median "), "{table}");
    assert!(
        table.lines().all(|line| line.chars().count() <= 80),
        "{table}"
    );
}
