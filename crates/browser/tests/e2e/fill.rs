//! Filling fields: every kind of field accepts its value, or the error says what it expects.

use crate::harness::BrowserHarness;
use crate::pick::pick;
use serde_json::{Value, json};
use tabmux_browser::Tab;

async fn fill(harness: &BrowserHarness, tab: &Tab, selector: &str, value: &str) -> String {
    let uid = pick(tab, selector).await;
    harness
        .text(tab, "fill", json!({ "uid": uid, "value": value }))
        .await
}

async fn refused(harness: &BrowserHarness, tab: &Tab, selector: &str, value: &str) -> String {
    let uid = pick(tab, selector).await;
    let error = harness
        .error(tab, "fill", json!({ "uid": uid, "value": value }))
        .await;
    error.replace(&uid, "UID")
}

async fn value_of(harness: &BrowserHarness, tab: &Tab, selector: &str) -> Value {
    harness
        .page_value(tab, &format!("document.querySelector('{selector}').value"))
        .await
}

/// Spec: multi-browser 63.
#[tokio::test]
async fn text_is_replaced_by_trusted_input() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("fields.html").await;
    assert_eq!(
        fill(&harness, &tab, "#text", "näw \"text\" 😀").await,
        "Filled."
    );
    assert_eq!(value_of(&harness, &tab, "#text").await, "näw \"text\" 😀");
    assert_eq!(
        harness.page_value(&tab, "heard").await,
        json!(["input text"])
    );
    assert_eq!(fill(&harness, &tab, "#text", "").await, "Filled.");
    assert_eq!(value_of(&harness, &tab, "#text").await, "");
    fill(&harness, &tab, "#area", "a\n\nb").await;
    assert_eq!(value_of(&harness, &tab, "#area").await, "a\n\nb");
    fill(&harness, &tab, "#rich", "first\nsecond").await;
    assert_eq!(
        harness
            .page_value(&tab, "rich.innerText.trim().split(/\\n+/)")
            .await,
        json!(["first", "second"])
    );
    fill(&harness, &tab, "#label", "through the label").await;
    assert_eq!(
        value_of(&harness, &tab, "#labelled").await,
        "through the label"
    );
}

#[tokio::test]
async fn the_answer_says_what_a_field_made_of_the_value() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("fields.html").await;
    assert_eq!(
        fill(&harness, &tab, "#mask", "1234567").await,
        "Filled. It now reads \"(123) 4567\"."
    );
    let text = fill(&harness, &tab, "#email", "nobody").await;
    assert!(text.starts_with("Filled. The page says: "), "{text}");
}

#[tokio::test]
async fn a_value_that_the_field_rejects_is_an_error() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("fields.html").await;
    assert_eq!(
        refused(&harness, &tab, "#short", "abcdef").await,
        "The field UID did not accept \"abcdef\"; it now holds \"abc\". Check what it expects."
    );
    assert_eq!(
        refused(&harness, &tab, "#stubborn", "x").await,
        "The field UID did not accept \"x\" and is empty now. Check what it expects."
    );
    assert_eq!(
        refused(&harness, &tab, "#number", "many").await,
        "The field UID did not accept \"many\" and is empty now. Check what it expects."
    );
}

#[tokio::test]
async fn lists_are_chosen_from_by_text_or_value() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("fields.html").await;
    fill(&harness, &tab, "#list", "Dark green").await;
    assert_eq!(
        harness.page_value(&tab, "[list.value, ...heard]").await,
        json!(["g", "input list", "change list"])
    );
    fill(&harness, &tab, "#list", "r").await;
    assert_eq!(value_of(&harness, &tab, "#list").await, "r");
    fill(&harness, &tab, "#many", "a, b").await;
    assert_eq!(
        harness
            .page_value(&tab, "[...many.selectedOptions].map((o) => o.text)")
            .await,
        json!(["a", "b"])
    );
    assert_eq!(
        refused(&harness, &tab, "#list", "Pink").await,
        "The list UID has no option \"Pink\". It has \"Red\", \"Dark green\", \"Blue\"."
    );
    assert_eq!(
        refused(&harness, &tab, "#list", "Blue").await,
        "The option \"Blue\" of UID is disabled. Choose another one."
    );
}

#[tokio::test]
async fn boxes_are_clicked_only_if_they_are_not_as_wanted() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("fields.html").await;
    fill(&harness, &tab, "#box", "true").await;
    fill(&harness, &tab, "#box", "true").await;
    assert_eq!(
        harness.page_value(&tab, "[box.checked, ...heard]").await,
        json!([true, "input box", "change box"])
    );
    fill(&harness, &tab, "#radio-b", "true").await;
    assert_eq!(
        harness
            .page_value(&tab, "document.querySelector('#radio-b').checked")
            .await,
        true
    );
    fill(&harness, &tab, "#switch", "true").await;
    let on = harness
        .page_value(&tab, "document.querySelector('#switch').ariaChecked")
        .await;
    assert_eq!(on, "true");
    assert_eq!(
        refused(&harness, &tab, "#radio-b", "false").await,
        "The radio button UID cannot be switched off. Fill another one of its group with \"true\"."
    );
    assert_eq!(
        refused(&harness, &tab, "#box", "yes").await,
        "The field UID does not accept \"yes\". It expects \"true\" or \"false\"."
    );
}

#[tokio::test]
async fn pickers_take_their_format_and_keep_their_value_otherwise() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("fields.html").await;
    for (selector, good, bad, wants) in [
        ("#date", "2026-01-31", "31.1.2026", "a date like 2026-01-31"),
        ("#time", "09:30", "half past", "a time like 09:30"),
        ("#colour", "#33aa00", "greenish", "a colour like #33aa00"),
        ("#range", "4", "5", "a number from 0 to 10 in steps of 2"),
    ] {
        fill(&harness, &tab, selector, good).await;
        assert_eq!(
            refused(&harness, &tab, selector, bad).await,
            format!("The field UID does not accept \"{bad}\". It expects {wants}.")
        );
        assert_eq!(value_of(&harness, &tab, selector).await, good);
    }
}

#[tokio::test]
async fn what_cannot_be_filled_says_so() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("fields.html").await;
    for (selector, expected) in [
        (
            "#file",
            "The element UID takes files, which fill cannot give it. Ask the user to choose them.",
        ),
        (
            "#fixed",
            "The field UID is read-only. The page fills it from something else.",
        ),
        (
            "#off",
            "The element UID is disabled. Enable it first, or use another element.",
        ),
        (
            "#gone",
            "The element UID is not visible (display: none). Open what contains it, or use another element.",
        ),
        (
            "#button",
            "The element UID cannot be filled. Use the uid of a field, or click it.",
        ),
    ] {
        assert_eq!(refused(&harness, &tab, selector, "x").await, expected);
    }
    assert_eq!(harness.page_value(&tab, "heard").await, json!([]));
}

#[tokio::test]
async fn a_form_is_filled_in_one_call_or_up_to_the_field_that_refused() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("fields.html").await;
    let (text, list, file) = (
        pick(&tab, "#text").await,
        pick(&tab, "#list").await,
        pick(&tab, "#file").await,
    );
    let elements = json!([{ "uid": text, "value": "Ada" }, { "uid": list, "value": "Dark green" }]);
    let answer = harness
        .text(&tab, "fill_form", json!({ "elements": elements }))
        .await;
    assert_eq!(answer, "Filled 2 fields.");
    assert_eq!(
        harness.page_value(&tab, "[text.value, list.value]").await,
        json!(["Ada", "g"])
    );
    let elements = json!([{ "uid": text, "value": "Bob" }, { "uid": file, "value": "x" }]);
    let error = harness
        .error(&tab, "fill_form", json!({ "elements": elements }))
        .await;
    assert!(
        error.ends_with("Ask the user to choose them. The 1 fields before it are filled."),
        "{error}"
    );
    let elements = json!([{ "uid": text, "value": "Eve" }, { "uid": "99999_1", "value": "x" }]);
    harness
        .error(&tab, "fill_form", json!({ "elements": elements }))
        .await;
    assert_eq!(
        value_of(&harness, &tab, "#text").await,
        "Bob",
        "a stale uid changes nothing"
    );
}
