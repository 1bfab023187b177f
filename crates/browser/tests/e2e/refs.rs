//! Uids over re-rendering: a uid follows what it stands for, and never comes to mean another thing.

use crate::harness::BrowserHarness;
use serde_json::json;
use std::collections::HashMap;
use tabmux_browser::Tab;
use tabmux_testkit::Response;

/// A list that is changed at random and rendered in one of four ways: as new HTML, by patching elements in their order
/// (without keys), by moving elements with their items (with keys), and by replacing each element.
const PAGE: &str = r#"<title>List</title><input aria-label=Search><button id=toggle>Play</button><ul id=list></ul><script>
    let seed = 1;
    const random = (most) => { seed = (seed * 48271) % 2147483647; return seed % most };
    const WORDS = "apple pear plum kiwi fig lime mango peach grape melon".split(" ");
    let items = WORDS.slice(0, 5).map((word) => ({ word, count: 1 }));
    const inside = ({ word, count }) => `${word} ${count} <label><input type=checkbox>Pick</label><button>Remove</button>`;
    const fresh = (item) => { const li = document.createElement("li"); li.innerHTML = inside(item); li.word = item.word; return li };
    const patch = (li, { word, count }) => { li.firstChild.data = `${word} ${count} `; li.word = word; return li };
    const ways = [
        () => { list.innerHTML = items.map((item) => `<li>${inside(item)}</li>`).join("") },
        () => {
            while (list.children.length > items.length) list.lastChild.remove();
            while (list.children.length < items.length) list.append(fresh(items[list.children.length]));
            items.forEach((item, at) => patch(list.children[at], item));
        },
        () => {
            const known = new Map([...list.children].map((li) => [li.firstChild.data.split(" ")[0], li]));
            list.replaceChildren(...items.map((item) => known.has(item.word) ? patch(known.get(item.word), item) : fresh(item)));
        },
        () => list.replaceChildren(...items.map(fresh)),
    ];
    const changes = [
        () => items.splice(random(items.length + 1), 0, ...WORDS.filter((word) => !items.some((item) => item.word === word)).slice(0, 1).map((word) => ({ word, count: 1 }))),
        () => items.length > 1 && items.splice(random(items.length), 1),
        () => items.reverse(),
        () => items.sort((a, b) => a.word < b.word ? -1 : 1),
        () => items[random(items.length)].count++,
        () => items.forEach((item) => item.count += 2),
        () => { toggle.textContent = toggle.textContent === "Play" ? "Pause" : "Play" },
    ];
    step = () => { changes[random(changes.length)](); ways[random(ways.length)]() };
    ways[0]();
    </script>"#;

/// What each uid of a snapshot stands for: the role, and the word of the row around it. The toggle is one thing under
/// both names.
async fn things(harness: &BrowserHarness, tab: &Tab) -> HashMap<String, String> {
    let snapshot = harness.text(tab, "take_snapshot", json!({})).await;
    let mut row = String::new();
    let mut things = HashMap::new();
    for line in snapshot.lines().skip(1) {
        let trimmed = line.trim_start();
        let mut words = trimmed.split(' ');
        let uid = words
            .next()
            .unwrap()
            .strip_prefix("uid=")
            .unwrap_or_default();
        let role = words.next().unwrap_or_default();
        if role == "listitem" {
            row = trimmed
                .split('"')
                .nth(1)
                .unwrap()
                .split(' ')
                .next()
                .unwrap()
                .to_owned();
        }
        let around = if line.starts_with("    ") || role == "listitem" {
            &*row
        } else {
            ""
        };
        if !uid.is_empty() {
            things.insert(uid.to_owned(), format!("{role} {around}"));
        }
    }
    things
}

#[tokio::test]
async fn uids_follow_their_things_over_random_rendering() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/list", Response::html(PAGE));
    let tab = harness.open("list").await;
    let steps = if std::env::var_os("TABMUX_SOAK").is_some() {
        1_000
    } else {
        150
    };
    let (mut kept, mut lost) = (0_u32, 0_u32);
    let mut meant: HashMap<String, String> = HashMap::new();
    let mut before = things(&harness, &tab).await;
    for step in 0..steps {
        harness.page_value(&tab, "step()").await;
        let now = things(&harness, &tab).await;
        for (uid, thing) in &now {
            let earlier = meant.entry(uid.clone()).or_insert_with(|| thing.clone());
            assert_eq!(
                earlier, thing,
                "uid {uid} means another thing at step {step}"
            );
        }
        for (uid, thing) in &before {
            match now.get(uid) {
                Some(_) => kept += 1,
                None if now.values().any(|other| other == thing) => lost += 1,
                None => {}
            }
        }
        before = now;
    }
    println!("{steps} steps: {kept} kept, {lost} lost");
    assert!(
        lost * 20 <= kept + lost,
        "{lost} of {} things lost their uid",
        kept + lost
    );
}

#[tokio::test]
async fn an_element_that_was_replaced_can_be_used_by_its_uid() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let page = "<ul id=list></ul><p id=said></p><script>\
        render = () => list.innerHTML = ['apple', 'pear'].map((it) => \
            `<li>${it} <button onclick=\"said.textContent += '${it} '\">Buy</button></li>`).join(''); render()</script>";
    harness.server.route("/shop", Response::html(page));
    let tab = harness.open("shop").await;
    let snapshot = harness.text(&tab, "take_snapshot", json!({})).await;
    let uids: Vec<_> = snapshot
        .lines()
        .filter(|line| line.contains("button"))
        .map(|line| line.trim_start()[4..].split(' ').next().unwrap().to_owned())
        .collect();
    for uid in &uids {
        harness.page_value(&tab, "render()").await;
        harness.text(&tab, "click", json!({ "uid": uid })).await;
    }
    assert_eq!(
        harness.page_value(&tab, "said.textContent").await,
        json!("apple pear ")
    );
}

#[tokio::test]
async fn an_ambiguous_uid_is_refused_with_the_candidates() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let page = "<div id=box></div><script>\
        render = () => box.innerHTML = '<button>Same</button><button>Same</button>'; render()</script>";
    harness.server.route("/twins", Response::html(page));
    let tab = harness.open("twins").await;
    let uids_in = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.contains("button \"Same\""));
        lines
            .map(|line| line.trim_start()[4..].split(' ').next().unwrap().to_owned())
            .collect()
    };
    let before = uids_in(&harness.text(&tab, "take_snapshot", json!({})).await);
    harness.page_value(&tab, "render()").await;
    let error = harness
        .error(&tab, "click", json!({ "uid": before[0] }))
        .await;
    let named = uids_in(&error);
    assert!(
        error.contains("is no longer on the page. These have the same role and name"),
        "{error}"
    );
    assert_eq!(named.len(), 2, "{error}");
    // The next call succeeds without a snapshot.
    harness
        .text(&tab, "click", json!({ "uid": named[1] }))
        .await;
}
