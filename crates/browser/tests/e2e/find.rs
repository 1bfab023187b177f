//! Searching a page: everything that is shown can be found, in any frame.

use crate::harness::BrowserHarness;
use crate::snapshot::without_numbers;
use serde_json::json;

#[tokio::test]
async fn find_reaches_row_1499_of_1500() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("rows.html").await;
    let found = without_numbers(
        &harness
            .text(&tab, "find", json!({"text": "item 1499"}))
            .await,
    );
    assert_eq!(
        found,
        "1 match for \"item 1499\":\n\
         uid=… row \"Item 1499 | 23\"\n  \
           uid=… button \"Buy 1499\"\n  \
           uid=… link \"Details\" url=\"#item-1499\""
    );
    let many = harness
        .text(&tab, "find", json!({"role": "button", "limit": 3}))
        .await;
    assert!(
        many.starts_with("1500 matches for role button, the first 3"),
        "{many}"
    );
    assert_eq!(many.lines().count(), 4, "{many}");
    let none = harness
        .text(
            &tab,
            "find",
            json!({"text": "no such thing", "role": "link"}),
        )
        .await;
    assert!(
        none.starts_with("Nothing on the page matches \"no such thing\" with role link"),
        "{none}"
    );
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn find_looks_into_frames_shadow_roots_options_and_sentences() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("snapshot-frames.html").await;
    let found = without_numbers(&harness.text(&tab, "find", json!({"role": "button"})).await);
    let names = ["same-site", "inner", "written", "cross-site"];
    for name in names {
        assert!(
            found.contains(&format!("button \"In {name} frame\"")),
            "{found}"
        );
    }
    assert!(
        found.starts_with("4 matches"),
        "the hidden frame is not searched: {found}"
    );
    let limited = harness
        .text(&tab, "find", json!({"role": "button", "limit": 2}))
        .await;
    assert_eq!(limited.lines().count(), 3, "{limited}");
    let tab = harness.open("snapshot-shadow.html").await;
    let found = harness
        .text(&tab, "find", json!({"text": "deep inside"}))
        .await;
    assert!(found.contains("button \"Deep inside\""), "{found}");
    let tab = harness.open("snapshot.html").await;
    let found = harness.text(&tab, "find", json!({"text": "rust"})).await;
    assert!(found.contains("combobox \"Colour\""), "{found}");
    let found = harness
        .text(&tab, "find", json!({"text": "press here to go on"}))
        .await;
    assert!(found.contains("\"Press\""), "{found}");
    harness.browser.shut_down().await;
}
