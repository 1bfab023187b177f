//! Elements named by role, name and near instead of a uid.

use crate::harness::BrowserHarness;
use crate::snapshot::without_numbers;
use serde_json::{Value, json};
use tabmux_browser::Tab;
use tabmux_testkit::Response;

const PAGE: &str = r#"<title>Invoices</title><h1>Invoices</h1>
    <table>
      <tr><td>Invoice 1<td>Acme<td><button>Delete</button>
      <tr><td>Invoice 17<td>Acme<td><button>Delete</button>
      <tr><td>Invoice 18<td>locked<td>
      <tr><td><a href=#19>Invoice 19</a><td>Acme<td><button>Pay</button>
      <tr><td><a href=#20>Invoice 20</a><td>Acme<td><button>Pay</button>
    </table>
    <ul><li>Ann <button>Remove</button><li>Bob <button>Remove</button></ul>
    <div class=card><b>Red</b> <div><button>Choose</button></div></div>
    <div class=card><b>Blue</b> <div><button>Choose</button></div></div>
    <div><div><b>Mon</b></div><div><b>Tue</b><button>Cancel</button></div></div>
    <div><div><b>Plan</b></div><div><b><button>Upgrade</button></b></div></div>
    <p>Volume 12 <button>Unsubscribe</button></p><label>Token * <input></label>
    <button>Save</button><button>Save as draft</button>
    <button disabled>Send</button><button>Send later</button>
    <h2>Only a heading</h2><a href=#city>City</a>
    <form><label>City <input name=city></label><label>Street <input name=street></label></form>
    <iframe srcdoc="<button>In the frame</button>"></iframe>
    <output id=log></output>
    <script>
    document.addEventListener("click", ({ target }) => {
        const row = target.closest("tr, li, .card");
        log.textContent = `${row ? row.firstElementChild?.textContent || row.textContent : ""} ${target.textContent}`.trim();
    });
    </script>"#;

async fn open(harness: &BrowserHarness) -> Tab {
    harness.server.route("/targets.html", Response::html(PAGE));
    harness.open("targets.html").await
}

async fn click(harness: &BrowserHarness, tab: &Tab, target: Value) -> String {
    match harness.run(tab, "click", target).await {
        Ok(_) => {
            let log = json!({"function": "() => document.getElementById('log').textContent"});
            harness.text(tab, "evaluate_script", log).await
        }
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_name_is_enough_to_click_an_element() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = open(&harness).await;
    for (target, pressed) in [
        (json!({"role": "button", "name": "save"}), "\"Save\""),
        (json!({"name": "as  draft"}), "\"Save as draft\""),
        (
            json!({"name": "Delete", "near": "Invoice 1"}),
            "\"Invoice 1 Delete\"",
        ),
        (
            json!({"name": "Delete", "near": "invoice 17"}),
            "\"Invoice 17 Delete\"",
        ),
        // The text is in a link, in another cell than the button.
        (
            json!({"name": "Pay", "near": "Invoice 20"}),
            "\"Invoice 20 Pay\"",
        ),
        (
            json!({"name": "Remove", "near": "Bob"}),
            "\"Remove Remove\"",
        ),
        (json!({"name": "Choose", "near": "Blue"}), "\"Blue Choose\""),
        (json!({"name": "Upgrade", "near": "Plan"}), "\"Upgrade\""),
    ] {
        let told = click(&harness, &tab, target.clone()).await;
        assert!(told.contains(pressed), "{target}: {told}");
    }
    let framed = json!({"name": "In the frame"});
    let framed = harness.text(&tab, "take_snapshot", framed).await;
    assert!(framed.contains("button \"In the frame\""), "{framed}");
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn fields_are_filled_by_their_labels() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = open(&harness).await;
    let city = json!({"name": "City", "value": "Rome"});
    harness.text(&tab, "fill", city).await;
    let form = json!({"elements": [{"name": "City", "value": "Oslo"}, {"role": "textbox", "name": "street", "value": "Main"}]});
    harness.text(&tab, "fill_form", form).await;
    let values = json!({"function": "() => [...document.forms[0].elements].map((field) => field.value).join()"});
    let values = harness.text(&tab, "evaluate_script", values).await;
    assert!(values.contains("Oslo,Main"), "{values}");
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn an_ambiguous_name_lists_candidates_that_work() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = open(&harness).await;
    let error = harness.run(&tab, "click", json!({"name": "Delete"})).await;
    let error = error.unwrap_err().to_string();
    assert_eq!(
        without_numbers(&error),
        "2 elements match \"Delete\". Nothing was done; call again with one of these uids, or with a `near` that tells \
         them apart:\n\
         uid=… button \"Delete\" in row \"Invoice 1 | Acme\"\n\
         uid=… button \"Delete\" in row \"Invoice 17 | Acme\""
    );
    let second = error.lines().last().unwrap();
    let uid = second.strip_prefix("uid=").unwrap().split(' ').next();
    let told = click(&harness, &tab, json!({"uid": uid})).await;
    assert!(told.contains("Invoice 17 Delete"), "{told}");
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn what_is_not_there_is_not_guessed() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = open(&harness).await;
    for (target, told) in [
        // The only row near has no such button, and its neighbours are other rows.
        (
            json!({"name": "Delete", "near": "Invoice 18"}),
            "No element \"Delete\" near \"Invoice 18\" was found. The closest are:\nuid=… button \"Delete\" in row",
        ),
        // Records without classes are records, too.
        (
            json!({"name": "Cancel", "near": "Mon"}),
            "No element \"Cancel\" near \"Mon\" was found. The closest are:\nuid=… button \"Cancel\"",
        ),
        // A part of a word is another word.
        (
            json!({"name": "Subscribe"}),
            "No element \"Subscribe\" was found. The closest are:\nuid=… button \"Unsubscribe\"",
        ),
        (
            json!({"name": "Unsubscribe", "near": "Volume 1"}),
            "the text \"Volume 1\" is not on the page",
        ),
        (
            json!({"name": "Save", "near": "Invoice 99"}),
            "the text \"Invoice 99\" is not on the page",
        ),
        (
            json!({"role": "button", "name": "Saving"}),
            "No element button \"Saving\" was found. The closest are:\nuid=… button \"Save",
        ),
        (json!({"name": "Send"}), "is disabled"),
        (
            json!({"role": "slider"}),
            "Call take_snapshot or find to see what there is.",
        ),
    ] {
        let error = click(&harness, &tab, target.clone()).await;
        let error = without_numbers(&error);
        assert!(error.contains(told), "{target}: {error}");
    }
    harness.browser.shut_down().await;
}
