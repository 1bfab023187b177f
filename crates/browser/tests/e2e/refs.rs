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
    println!("{}", uids_follow(&harness, "list", 150).await);
}

#[tokio::test]
async fn uids_follow_their_things_when_frameworks_render() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let modules = tabmux_testkit::workspace_root().join("fixtures/frameworks/node_modules");
    assert!(
        modules.is_dir(),
        "the frameworks are missing: run `make demo-apps`"
    );
    for framework in ["react", "vue"] {
        let page = format!("frameworks/{framework}.html");
        println!("{}", uids_follow(&harness, &page, 80).await);
    }
}

/// Whichever way the list is rendered, only the item that has changed is told.
#[tokio::test]
async fn since_tells_true_changes_of_a_page_that_was_rendered_again() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/list", Response::html(PAGE));
    let tab = harness.open("list").await;
    let mut since = number_of(&harness.text(&tab, "take_snapshot", json!({})).await);
    for way in 0..4 {
        let render = format!("ways[{way}]()");
        harness.page_value(&tab, &render).await;
        let ask = json!({ "since": since });
        let same = harness.text(&tab, "take_snapshot", ask).await;
        let nothing = format!(": nothing has changed since snapshot {since}.");
        assert!(same.ends_with(&nothing), "way {way}: {same}");
        harness
            .page_value(&tab, &format!("items[1].count++; {render}"))
            .await;
        let ask = json!({ "since": number_of(&same) });
        let told = harness.text(&tab, "take_snapshot", ask).await;
        let of_items = told.lines().filter(|line| line.starts_with(['+', '-']));
        let others: Vec<_> = of_items.filter(|line| !line.contains("pear ")).collect();
        assert_eq!(others, [""; 0], "way {way}: {told}");
        let (old, new) = (format!("pear {}", way + 1), format!("pear {}", way + 2));
        assert!(
            told.contains(&old) && told.contains(&new),
            "way {way}: {told}"
        );
        since = number_of(&told);
    }
}

/// The number in the first line of a snapshot.
fn number_of(snapshot: &str) -> u32 {
    let (_, rest) = snapshot.split_once(" snapshot=").unwrap();
    rest.split([':', '\n']).next().unwrap().parse().unwrap()
}

/// Reads the page, and gives up following the uids when it looks at the clock after `looks` times, if it does.
async fn gives_up(tab: &Tab, looks: u32) -> bool {
    let follow = "((looks) => { const lines = []; tabmux.walk((line) => void lines.push(line)); \
                  return !tabmux.follow(lines, () => --looks < 0) })";
    let world = tab.world().await.unwrap();
    world.call(follow, json!(looks)).await.unwrap()
}

/// Gives numbers to all elements before they are shown, as a survey or the search for closed shadow roots may do.
async fn number_everything(tab: &Tab) {
    let number = "(() => { tabmux.walk(({ element }) => void (element && tabmux.ref(element))); return true })";
    let world = tab.world().await.unwrap();
    assert!(world.call::<bool>(number, ()).await.unwrap());
}

/// Changes and renders the list of a page at random: no uid means another thing, and nearly all things keep theirs. Says
/// how many did.
async fn uids_follow(harness: &BrowserHarness, page: &str, steps: u32) -> String {
    let tab = harness.open(page).await;
    let steps = match std::env::var_os("TABMUX_SOAK") {
        Some(_) => 1_000,
        None => steps,
    };
    let (mut kept, mut lost) = (0_u32, 0_u32);
    let mut given_up = 0;
    let mut meant: HashMap<String, String> = HashMap::new();
    let mut before = things(harness, &tab).await;
    assert!(before.len() > 15, "{page} shows the list: {before:?}");
    for step in 0..steps {
        harness.page_value(&tab, "step()").await;
        if step % 4 == 1 {
            number_everything(&tab).await;
        }
        if step % 3 == 0 {
            given_up += u32::from(gives_up(&tab, step / 3 % 4).await);
        }
        let now = things(harness, &tab).await;
        for (uid, thing) in &now {
            let earlier = meant.entry(uid.clone()).or_insert_with(|| thing.clone());
            assert_eq!(
                earlier, thing,
                "{page}: uid {uid} means another thing at step {step}"
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
    assert!(
        given_up * 20 > steps,
        "{page}: only {given_up} were given up"
    );
    assert!(
        lost * 20 <= kept + lost,
        "{page}: {lost} of {} things lost their uid",
        kept + lost
    );
    format!("{page}, {steps} steps: {kept} kept, {lost} lost, {given_up} given up")
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
