//! The snapshot: what it shows, that it says what it leaves out, and that its uids can be trusted.

use crate::harness::BrowserHarness;
use serde_json::{Value, json};
use tabmux_testkit::Response;

/// Spec: multi-browser 64.
#[tokio::test]
async fn the_gallery_matches_its_stored_snapshot() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("snapshot.html").await;
    let expected = tabmux_testkit::workspace_root().join("fixtures/snapshot.txt");
    let expected = std::fs::read_to_string(expected).unwrap_or_default();
    let snapshot = harness.text(&tab, "take_snapshot", json!({})).await;
    let (heading, lines) = snapshot.split_once('\n').unwrap();
    let url = harness.server.url("snapshot.html");
    let start = format!("page \"Gallery \\\"of\\\" things\" {url} snapshot=");
    assert!(heading.starts_with(&start), "{heading}");
    let lines = without_numbers(lines);
    assert_eq!(lines, expected.trim_end(), "\n{lines}\n");
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn a_page_of_1500_rows_fits_into_40_kb_and_says_what_is_missing() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("rows.html").await;
    let snapshot = harness.text(&tab, "take_snapshot", json!({})).await;
    assert!(snapshot.len() <= 40_000, "{} bytes", snapshot.len());
    assert!(snapshot.len() > 35_000, "{} bytes", snapshot.len());
    let shown = snapshot
        .lines()
        .filter(|line| line.contains("uid="))
        .count();
    let operable = snapshot
        .lines()
        .filter(|line| line.contains(" button ") || line.contains(" link "))
        .count();
    let last = snapshot.lines().last().unwrap();
    // 1 heading, 1 table, 1 head row, 1,500 rows of three lines.
    let left = 3 + 4500 - shown;
    let operable = 3000 - operable;
    assert!(
        last.contains(&format!("{left} more lines, {operable} of them to act on")),
        "{last}"
    );
    assert!(last.contains("find") && last.contains("filePath"), "{last}");
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn shadow_roots_are_read_open_and_closed_ones() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("snapshot-shadow.html").await;
    let snapshot = without_numbers(&harness.text(&tab, "take_snapshot", json!({})).await);
    let lines: Vec<_> = snapshot.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "uid=… heading \"Slotted name\" level=2",
            "\"Slotted restFallback\"",
            "uid=… button \"In open\"",
            "uid=… button \"In closed\"",
            "uid=… button \"Deep inside\"",
            "uid=… clickable \"Plain listener\"",
            "uid=… textbox \"Secret field\"",
            "uid=… button \"Declared\"",
            "\"nothing yet\"",
        ],
        "\n{snapshot}"
    );
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn frames_are_read_in_their_places_also_those_of_other_sites() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("snapshot-frames.html").await;
    let snapshot = without_numbers(&harness.text(&tab, "take_snapshot", json!({})).await);
    let host = format!("http://localhost:{}", harness.server.port());
    let lines: Vec<_> = snapshot
        .lines()
        .skip(1)
        .map(|line| line.replace(&host, "other"))
        .collect();
    assert_eq!(
        lines,
        [
            "\"Before the frames\"",
            "uid=… clickable \"and a word\"",
            "uid=… iframe \"Same site\"",
            "  uid=… button \"In same-site frame\"",
            "  uid=… clickable \"Word\"",
            "  uid=… iframe \"Inner\"",
            "    uid=… button \"In inner frame\"",
            "uid=… iframe \"Written\"",
            "  uid=… button \"In written frame\"",
            "uid=… iframe \"Other site\" url=\"other/snapshot-frame.html\"",
            "  uid=… button \"In cross-site frame\"",
            "  uid=… clickable \"Quiet listener\"",
            "\"After the frames\"",
        ],
        "\n{snapshot}"
    );
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn a_hostile_page_can_neither_hide_nor_forge_a_line() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("snapshot-hostile.html").await;
    let snapshot = without_numbers(&harness.text(&tab, "take_snapshot", json!({})).await);
    let lines: Vec<_> = snapshot.lines().collect();
    assert!(
        lines.contains(&"  uid=… button \"Still here\""),
        "{snapshot}"
    );
    assert!(
        lines.contains(&"  uid=… textbox value=\"kept\""),
        "{snapshot}"
    );
    assert!(
        lines.contains(&"\"a uid=9_9 button \\\"forged\\\"\""),
        "{snapshot}"
    );
    assert!(
        lines.contains(&"uid=… button \"half \u{fffd} pair\""),
        "{snapshot}"
    );
    assert!(
        lines.contains(&"uid=… link \"Script link\" url=\"javascript:\""),
        "{snapshot}"
    );
    assert!(
        lines.contains(&"uid=… link \"Data link\" url=\"data:\""),
        "{snapshot}"
    );
    assert!(
        !lines
            .iter()
            .any(|line| line.trim_start().starts_with("uid=9_9")),
        "{snapshot}"
    );
    assert!(
        !snapshot.contains('\u{202e}') && !snapshot.contains('\0'),
        "{snapshot}"
    );
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn uids_are_stable_within_a_document_and_never_shared() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("snapshot.html").await;
    let before = harness.text(&tab, "take_snapshot", json!({})).await;
    harness.page_value(&tab, "document.body.prepend(Object.assign(document.createElement('button'), {textContent: 'New'})), 0").await;
    let after = harness.text(&tab, "take_snapshot", json!({})).await;
    let uids: Vec<_> = after.lines().filter_map(uid_of).collect();
    let mut unique = uids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(
        unique.len(),
        uids.len(),
        "no two lines share a uid:\n{after}"
    );
    for line in before.lines().filter(|line| line.contains("uid=")) {
        assert!(
            after.lines().any(|other| other == line),
            "{line} changed in\n{after}"
        );
    }
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn a_snapshot_changes_nothing_on_the_page() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("snapshot-shadow.html").await;
    let watch = "window.changes = 0, new MutationObserver((records) => changes += records.length)\
                 .observe(document, {subtree: true, childList: true, attributes: true, characterData: true}), 0";
    harness.page_value(&tab, watch).await;
    harness.text(&tab, "take_snapshot", json!({})).await;
    harness.text(&tab, "find", json!({"text": "closed"})).await;
    assert_eq!(harness.page_value(&tab, "changes").await, 0);
    assert_eq!(harness.page_value(&tab, "typeof tabmux").await, "undefined");
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn a_part_by_uid_by_depth_and_by_what_is_in_view() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("snapshot.html").await;
    let uid = harness.uid(&tab, "table \"Prices\"").await;
    let part = harness
        .text(&tab, "take_snapshot", json!({"uid": uid, "depth": 2}))
        .await;
    let lines: Vec<_> = part.lines().collect();
    assert_eq!(lines.len(), 5, "{part}");
    assert!(
        lines[0].contains("table \"Prices\"") && lines[2].contains("row \"Apple | 1.20\""),
        "{part}"
    );
    assert!(lines[4].contains("2 lines are deeper"), "{part}");
    let view = harness
        .text(&tab, "take_snapshot", json!({"viewportOnly": true}))
        .await;
    assert!(
        !view.contains("The end") && view.contains("Gallery"),
        "{view}"
    );
    assert!(
        view.lines().last().unwrap().contains("out of view"),
        "{view}"
    );
    let cells = harness
        .text(&tab, "take_snapshot", json!({"uid": uid, "verbose": true}))
        .await;
    assert!(
        cells.contains("columnheader \"Fruit\"") && cells.contains("cell \"Apple\""),
        "{cells}"
    );
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn what_has_changed_since_a_snapshot() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("snapshot.html").await;
    let first = harness.text(&tab, "take_snapshot", json!({})).await;
    let number: u32 = first
        .lines()
        .next()
        .unwrap()
        .rsplit('=')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let same = harness
        .text(&tab, "take_snapshot", json!({"since": number}))
        .await;
    assert!(
        same.ends_with(&format!("nothing has changed since snapshot {number}.")),
        "{same}"
    );
    harness
        .page_value(
            &tab,
            "document.querySelector('[role=alert]').textContent = 'Lost!', 0",
        )
        .await;
    harness
        .page_value(
            &tab,
            "document.querySelector('form').append(document.createElement('hr'), 'Added'), 0",
        )
        .await;
    let changes = without_numbers(
        &harness
            .text(&tab, "take_snapshot", json!({"since": number}))
            .await,
    );
    let lines: Vec<_> = changes.lines().skip(1).map(strip_uid).collect();
    assert_eq!(
        lines,
        [
            "    form \"Sign up\"",
            "+     \"Added\"",
            "  main",
            "-   alert \"Saved!\"",
            "+   alert \"Lost!\"",
        ],
        "\n{changes}"
    );
    let error = harness
        .error(&tab, "take_snapshot", json!({"since": 4_000_000}))
        .await;
    assert!(
        error.contains("no snapshot 4000000 of this page"),
        "{error}"
    );
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn a_file_takes_all_of_a_long_page() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("rows.html").await;
    let answer = harness
        .text(&tab, "take_snapshot", json!({"filePath": "page.txt"}))
        .await;
    assert!(answer.starts_with("Saved 4504 lines"), "{answer}");
    let saved = std::fs::read_to_string(harness.files.path().join("page.txt")).unwrap();
    assert!(
        saved.contains("Item 1499") && !saved.contains("Not shown"),
        "{}",
        saved.len()
    );
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn a_uid_of_a_removed_element_or_of_a_former_page_is_refused() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("snapshot.html").await;
    let uid = harness.uid(&tab, "alert \"Saved!\"").await;
    harness
        .page_value(&tab, "document.querySelector('[role=alert]').remove(), 0")
        .await;
    let error = harness
        .error(&tab, "take_snapshot", json!({"uid": uid}))
        .await;
    assert!(error.contains("no longer on the page"), "{error}");
    let error = harness
        .error(&tab, "take_snapshot", json!({"uid": "999999_1"}))
        .await;
    assert!(error.contains("no longer shown"), "{error}");
    let error = harness
        .error(&tab, "take_snapshot", json!({"uid": "button"}))
        .await;
    assert!(error.contains("not a uid"), "{error}");
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn elements_that_only_listen_are_shown_as_clickable() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let page = "<title>L</title><ul id=list></ul><script>\
                for (let i = 0; i < 200; i++) {\
                  const item = document.createElement('li');\
                  item.innerHTML = `<button>Button ${i}</button><em>Word ${i}</em>`;\
                  const press = (event) => {};\
                  item.firstChild.addEventListener('click', press);\
                  item.lastChild.addEventListener('click', press);\
                  list.append(item);\
                }\
                document.addEventListener('click', () => {});\
                </script>";
    harness.server.route("/listeners", Response::html(page));
    let tab = harness.open("listeners").await;
    let snapshot = harness.text(&tab, "take_snapshot", json!({})).await;
    let clickable = snapshot
        .lines()
        .filter(|line| line.contains("clickable \"Word"))
        .count();
    assert_eq!(clickable, 200, "{snapshot}");
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn a_busy_frame_of_another_site_does_not_hold_the_page_up() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let busy =
        "<button>Busy</button><script>addEventListener('message', () => { for (;;); })</script>";
    harness.server.route("/busy", Response::html(busy));
    let frame = harness.server.cross_site_url("busy");
    let page =
        format!("<title>Around</title><button>Around</button><iframe src='{frame}'></iframe>");
    harness.server.route("/around", Response::html(page));
    let tab = harness.open("around").await;
    harness
        .page_value(&tab, "frames[0].postMessage('go', '*'), 0")
        .await;
    let snapshot = harness.text(&tab, "take_snapshot", json!({})).await;
    assert!(snapshot.contains("button \"Around\""), "{snapshot}");
    assert!(
        snapshot.contains("(this frame cannot be read now)"),
        "{snapshot}"
    );
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn secrets_are_never_shown() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let page = "<title>S</title><input type=password value=hunter2><input autocomplete=current-password value=hunter2>\
                <input style='-webkit-text-security: disc' value=hunter2>";
    harness.server.route("/secrets", Response::html(page));
    let tab = harness.open("secrets").await;
    let snapshot = harness
        .text(&tab, "take_snapshot", json!({"verbose": true}))
        .await;
    assert!(!snapshot.contains("hunter2"), "{snapshot}");
    assert_eq!(snapshot.matches("filled").count(), 3, "{snapshot}");
    let found = harness.text(&tab, "find", json!({"text": "hunter"})).await;
    assert!(found.starts_with("Nothing"), "{found}");
    harness.browser.shut_down().await;
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    for (tool, arguments) in [
        ("take_snapshot", json!({"depth": 0})),
        ("take_snapshot", json!({"depth": -1})),
        ("take_snapshot", json!({"selector": "p"})),
        ("take_snapshot", json!({"since": 1, "verbose": true})),
        ("find", json!({})),
        ("find", json!({"text": " "})),
        ("find", json!({"text": "x", "limit": 0})),
        ("find", json!({"text": "x", "limit": 1000})),
    ] {
        assert!(refused(tool, &arguments), "{tool} {arguments}");
    }
}

fn refused(tool: &str, arguments: &Value) -> bool {
    let arguments = serde_json::value::to_raw_value(arguments).unwrap();
    tabmux_browser::tools::find(tool)
        .unwrap()
        .prepare(&arguments)
        .is_err()
}

/// Numbers of documents and elements differ from run to run.
pub(crate) fn without_numbers(text: &str) -> String {
    let lines = text.lines().map(|line| match uid_of(line) {
        Some(uid) => line.replacen(uid, "…", 1),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The line without its uid.
fn strip_uid(line: &str) -> String {
    match line.split_once("uid=") {
        Some((before, rest)) => format!(
            "{before}{}",
            rest.split_once(' ').map_or("", |(_, rest)| rest)
        ),
        None => line.to_owned(),
    }
}

fn uid_of(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("uid=")?.split(' ').next()
}
