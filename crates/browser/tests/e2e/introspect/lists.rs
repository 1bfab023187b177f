//! Lists and tables of similar items.

use super::harness::PageToolsHarness;
use serde_json::json;

/// Spec: dynamic-tools 52.
#[tokio::test]
async fn items_of_a_list_are_opened_by_index() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let body = r##"<h1>Threads</h1><ul id="list"></ul><script>
        const draw = (texts) => list.innerHTML = texts.map((text) => `<li><input type="checkbox" aria-label="Done">
          <a href="#${text}">${text}</a> <time>today</time> <button onclick="this.closest('li').remove()">Delete</button></li>`).join("");
        draw(["Hello", "Invoice", "Lunch"]);</script>"##;
    let tab = harness.page("/threads", body).await;
    harness.read(&tab).await;
    assert_eq!(
        harness.names(&tab),
        [
            "open_thread",
            "list_threads",
            "set_done_of_thread",
            "delete_thread"
        ]
    );
    assert_eq!(
        harness.argument(&tab, "open_thread", "index"),
        json!({"type": "number", "minimum": 0, "multipleOf": 1, "description": "0 is the first one; list_threads lists them"})
    );
    assert!(harness.tool(&tab, "list_threads").read_only);
    assert_eq!(
        harness.does(&tab, "list_threads", json!({})).await,
        "0: Done Hello today Delete\n1: Done Invoice today Delete\n2: Done Lunch today Delete"
    );
    let answer = harness
        .does(&tab, "open_thread", json!({ "index": 1 }))
        .await;
    assert!(
        answer.contains("The address is now http://HOST/threads#Invoice"),
        "{answer}"
    );
    harness
        .does(
            &tab,
            "set_done_of_thread",
            json!({ "index": 2, "on": true }),
        )
        .await;
    let done = harness
        .page_value(
            &tab,
            "[...document.querySelectorAll('input')].map((box) => box.checked)",
        )
        .await;
    assert_eq!(done, json!([false, false, true]));
    harness
        .does(&tab, "delete_thread", json!({ "index": 0 }))
        .await;
    assert_eq!(harness.page_value(&tab, "list.children.length").await, 2);

    // The list is drawn again: the index refers to the items at the time of the call.
    harness
        .page_value(&tab, "void draw(['Newest', 'Second'])")
        .await;
    let answer = harness
        .does(&tab, "open_thread", json!({ "index": 0 }))
        .await;
    assert!(answer.contains("#Newest"), "{answer}");
    let error = harness
        .refuses(&tab, "open_thread", json!({ "index": 7 }))
        .await;
    assert_eq!(
        error,
        "There is no item 7: there are 2 items now, and 0 is the first."
    );
}

#[tokio::test]
async fn rows_of_a_table_and_cards_that_are_alike_are_items() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let card = |name: &str| {
        format!(
            "<div class=card><h3>{name}</h3><p>Nice</p><button onclick=\"got = '{name}'\">Add to cart</button></div>"
        )
    };
    let body = format!(
        "<table><caption>Orders</caption><thead><tr><th>Number<th>Date</thead>
         <tbody><tr><td><a href='#1'>4711</a><td>Monday<tr><td><a href='#2'>4712</a><td>Friday</table>
         <section aria-label=Shop><div>{}{}{}</div></section><script>var got</script>",
        card("Pen"),
        card("Ink"),
        card("Pad")
    );
    let tab = harness.page("/orders", &body).await;
    harness.read(&tab).await;
    let answer = harness
        .does(&tab, "open_order", json!({ "index": 1 }))
        .await;
    assert!(answer.contains("#2"), "{answer}");
    assert_eq!(
        harness.does(&tab, "list_orders", json!({})).await,
        "0: 4711 | Monday\n1: 4712 | Friday"
    );
    let add = harness
        .names(&tab)
        .into_iter()
        .find(|name| name.starts_with("add_to_cart"))
        .unwrap();
    harness.does(&tab, &add, json!({ "index": 1 })).await;
    assert_eq!(harness.page_value(&tab, "got").await, "Ink");
}
