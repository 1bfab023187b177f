//! The end of an action's answer: what changed on the page.

use crate::harness::BrowserHarness;
use serde_json::json;
use tabmux_browser::Tab;
use tabmux_testkit::Response;

/// A page whose buttons do one thing each.
const PAGE: &str = r#"<title>Shop</title><h1>Cart</h1>
    <button onclick="">Idle</button>
    <button onclick="rows.insertAdjacentHTML('beforeend', '<li><button>Remove pear</button></li>')">Add</button>
    <button onclick="rows.firstElementChild.remove()">Drop</button>
    <button onclick="ask.showModal()">Ask</button>
    <button onclick="if (confirm('Empty the cart?')) rows.replaceChildren()">Empty</button>
    <button onclick="toast()">Toast</button>
    <button onclick="for (let i = 0; i < 40; i++) more.insertAdjacentHTML('beforeend', `<p>line ${i}</p>`)">Many</button>
    <label><input type=checkbox>Gift</label>
    <ul id=rows><li>apple</li><li>plum</li></ul>
    <dialog id=ask><p>Really?</p><button>Yes</button></dialog>
    <div id=more></div>
    <script>
    function toast() {
        const note = document.createElement("div");
        note.role = "status"; note.textContent = "Saved"; document.body.append(note);
        requestAnimationFrame(() => note.remove());
    }
    </script>"#;

async fn open(harness: &BrowserHarness) -> Tab {
    harness.server.route("/shop", Response::html(PAGE));
    harness.open("shop").await
}

/// Clicks the element with this name, and gives the answer without the uids' numbers.
async fn click(harness: &BrowserHarness, viewer: u64, tab: &Tab, name: &str) -> String {
    let uid = harness.uid(tab, name).await;
    harness
        .seen(viewer, tab, "click", json!({ "uid": uid }))
        .await
}

fn without_uids(answer: &str) -> String {
    let words = answer.split(' ').map(|word| match word.split_once("uid=") {
        Some((before, _)) => format!("{before}uid"),
        None => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn an_action_tells_what_appeared_changed_and_disappeared() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = open(&harness).await;
    for (name, expected) in [
        ("Idle", "Clicked.\nNothing on the page changed."),
        (
            "Add",
            "Clicked.\nChanged on the page:\n+ uid button \"Remove pear\"",
        ),
        (
            "Drop",
            "Clicked.\nChanged on the page:\n1 line disappeared.",
        ),
        (
            "Gift",
            "Clicked.\nChanged on the page:\n~ uid checkbox \"Gift\" checked focused",
        ),
        (
            "Ask",
            "Clicked.\nChanged on the page:\n+ uid dialog modal\n+ \"Really?\"\n+ uid button \"Yes\" focused",
        ),
    ] {
        assert_eq!(
            without_uids(&click(&harness, 1, &tab, name).await),
            expected
        );
    }
}

#[tokio::test]
async fn a_message_that_comes_and_goes_is_told() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = open(&harness).await;
    assert_eq!(
        click(&harness, 1, &tab, "Toast").await,
        "Clicked.\nShown for a moment: \"Saved\""
    );
}

#[tokio::test]
async fn the_answer_to_a_dialog_is_followed_by_what_it_changed() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = open(&harness).await;
    let answer = click(&harness, 1, &tab, "Empty").await;
    assert!(answer.contains("it opened a dialog"), "{answer}");
    let accept = json!({ "action": "accept" });
    let answer = harness.seen(1, &tab, "handle_dialog", accept).await;
    assert!(
        answer.ends_with("\nChanged on the page:\n3 lines disappeared."),
        "{answer}"
    );
}

#[tokio::test]
async fn many_changes_are_counted_and_can_be_asked_for() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = open(&harness).await;
    let answer = click(&harness, 1, &tab, "Many").await;
    assert!(
        answer.len() <= 1_700 && answer.lines().count() <= 28,
        "{answer}"
    );
    let (_, rest) = answer
        .split_once("and 15 more lines changed: take_snapshot since=")
        .unwrap();
    let since: u32 = rest.trim().parse().unwrap();
    let all = harness
        .seen(1, &tab, "take_snapshot", json!({ "since": since }))
        .await;
    assert!(all.contains("\"line 39\""), "{all}");
}

#[tokio::test]
async fn each_viewer_is_told_what_is_new_to_it() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = open(&harness).await;
    for viewer in [1, 2] {
        harness.seen(viewer, &tab, "take_snapshot", json!({})).await;
    }
    click(&harness, 1, &tab, "Add").await;
    let answer = click(&harness, 2, &tab, "Idle").await;
    assert_eq!(
        without_uids(&answer),
        "Clicked.\nChanged on the page:\n+ uid button \"Remove pear\""
    );
    assert_eq!(
        click(&harness, 2, &tab, "Idle").await,
        "Clicked.\nNothing on the page changed."
    );
}

#[tokio::test]
async fn another_page_is_told_as_its_outline() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = open(&harness).await;
    harness.server.route(
        "/next",
        Response::html("<title>Next</title><h1>There</h1><p>text</p><input aria-label=Name><a href=shop>back</a>"),
    );
    let url = json!({ "url": harness.server.url("next") });
    let answer = harness.seen(1, &tab, "navigate_page", url).await;
    let (_, outline) = answer.split_once("On the page ").unwrap();
    assert_eq!(
        without_uids(outline),
        "\"Next\":\nuid heading \"There\" level=1\nuid textbox \"Name\"\nand 2 more lines: take_snapshot"
    );
}

#[tokio::test]
async fn a_call_can_say_that_it_does_not_want_the_changes() {
    assert!(
        crate::harness::refused("click", json!({ "uid": "1_1", "changes": 1 }))
            .contains("`changes` must be true or false")
    );
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = open(&harness).await;
    let uid = harness.uid(&tab, "Add").await;
    let call = json!({ "uid": uid, "changes": false });
    assert_eq!(harness.seen(1, &tab, "click", call).await, "Clicked.");
}

#[tokio::test]
async fn a_wanted_snapshot_replaces_the_changes() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = open(&harness).await;
    let uid = harness.uid(&tab, "Add").await;
    let call = json!({ "uid": uid, "includeSnapshot": true });
    let answer = harness.seen(1, &tab, "click", call).await;
    assert!(
        answer.contains("Remove pear") && !answer.contains("Changed on the page"),
        "{answer}"
    );
}
