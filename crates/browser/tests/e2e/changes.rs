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

/// A page on which each tool that acts has a consequence of its own.
const ACTIONS: &str = r#"<title>Actions</title>
    <label>Field <input id=field oninput="tell('input ' + value)" onkeydown="tell('key ' + event.key)"></label>
    <button onmouseenter="tell('over')">Hover</button>
    <div id=from draggable=true role=button style="width:80px;height:40px" ondragstart="event.dataTransfer.setData('text', '1')">From</div>
    <div role=button style="width:80px;height:40px" ondragover="event.preventDefault()" ondrop="tell('dropped')">To</div>
    <label>List <select onchange="tell('chose ' + value)"><option>One<option>Two</select></label>
    <label>File <input type=file onchange="tell('file ' + files[0].name)"></label>
    <output id=out></output>
    <script>tell = (words) => { out.textContent = words }</script>"#;

#[tokio::test]
async fn every_tool_that_acts_tells_what_it_changed() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/actions", Response::html(ACTIONS));
    std::fs::write(harness.files.path().join("note.txt"), "note").unwrap();
    let tab = harness.open("actions").await;
    let uid = async |name: &str| harness.uid(&tab, &format!("\"{name}\"")).await;
    let (field, hover, file) = (uid("Field").await, uid("Hover").await, uid("File").await);
    let (from, to, list) = (uid("From").await, uid("To").await, uid("List").await);
    for (tool, arguments, consequence) in [
        ("fill", json!({"uid": field, "value": "one"}), "input one"),
        (
            "fill_form",
            json!({"elements": [{"uid": field, "value": "two"}]}),
            "input two",
        ),
        ("type_text", json!({"text": "s"}), "input twos"),
        ("press_key", json!({"key": "Escape"}), "key Escape"),
        ("fill", json!({"uid": list, "value": "Two"}), "chose Two"),
        ("hover", json!({"uid": hover}), "over"),
        ("drag", json!({"from_uid": from, "to_uid": to}), "dropped"),
        (
            "upload_file",
            json!({"uid": file, "filePath": "note.txt"}),
            "file note.txt",
        ),
    ] {
        let answer = harness.seen(1, &tab, tool, arguments.clone()).await;
        let (_, changes) = answer
            .split_once("\nChanged on the page:\n")
            .unwrap_or_else(|| panic!("{tool}: {answer}"));
        assert!(changes.contains(consequence), "{tool}: {answer}");
        let mut quiet = arguments;
        quiet["changes"] = json!(false);
        let answer = harness.seen(1, &tab, tool, quiet).await;
        assert!(!answer.contains("on the page"), "{tool}: {answer}");
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

/// Messages that are in the document all the time, and those in a shadow root.
#[tokio::test]
async fn a_message_that_is_toggled_is_told() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let body = r#"<style>.off { display: none }</style>
        <button onclick="flash((on) => one.className = on ? '' : 'off')">Class</button>
        <button onclick="flash((on) => two.hidden = !on)">Hidden</button>
        <button onclick="flash((on) => three.style.display = on ? '' : 'none')">Style</button>
        <button onclick="flash((on) => four.open = on)">Open</button>
        <button onclick="flash((on) => five.hidden = !on)">Around</button>
        <button onclick="flash((on) => inner.hidden = !on)">Shadow</button>
        <button onclick="flash((on) => on ? document.body.append(late) : late.remove())">Component</button>
        <button onclick="seven.className = 'gone'; requestAnimationFrame(() => seven.hidden = true)">Dismiss</button>
        <p id=one role=status class=off>by class</p><p id=two role=alert hidden>by hidden</p>
        <p id=three class=toast style="display:none">by style</p><dialog id=four aria-live=polite>by open</dialog>
        <div id=five hidden><p role=status>by what is around it</p></div><div id=host></div>
        <p id=seven role=status>there before</p>
        <script>
        const flash = (show) => { show(true); requestAnimationFrame(() => show(false)) };
        const inRoot = (host, html) => Object.assign(host.attachShadow({ mode: "open" }), { innerHTML: html });
        const inner = inRoot(host, "<p role=status hidden>in a shadow root</p>").firstChild;
        const late = document.createElement("my-toast");
        inRoot(late, "<p role=status>in a new one</p>");
        </script>"#;
    harness.server.route("/toggled", Response::html(body));
    let tab = harness.open("toggled").await;
    for (name, message) in [
        ("Class", "by class"),
        ("Hidden", "by hidden"),
        ("Style", "by style"),
        ("Open", "by open"),
        ("Around", "by what is around it"),
        ("Shadow", "in a shadow root"),
        ("Component", "in a new one"),
    ] {
        assert_eq!(
            click(&harness, 1, &tab, &format!("\"{name}\"")).await,
            format!("Clicked.\nShown for a moment: \"{message}\"")
        );
    }
    // What was there before the action is not news.
    let answer = click(&harness, 1, &tab, "Dismiss").await;
    assert!(
        answer.ends_with("disappeared.") && !answer.contains("moment"),
        "{answer}"
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
        answer.len() <= 1_510 && answer.lines().count() <= 26,
        "{answer}"
    );
    let (_, rest) = answer
        .split_once("and 17 more lines changed: take_snapshot since=")
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
    // The same if a click leads there.
    let answer = click(&harness, 1, &tab, "\"back\"").await;
    let (_, outline) = answer.split_once("\nOn the page \"Shop\":\n").unwrap();
    assert!(
        without_uids(outline).starts_with("uid heading \"Cart\" level=1\nuid button \"Idle\""),
        "{outline}"
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

#[tokio::test]
async fn scrolling_tells_what_it_loaded() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let body = "<p>first</p><div style='height:3000px'></div><script>
        addEventListener('scroll', () => document.body.insertAdjacentHTML('beforeend', '<p>loaded</p>'), {once: true})
        </script>";
    harness.server.route("/long", Response::html(body));
    let tab = harness.open("long").await;
    let down = json!({ "direction": "down" });
    let answer = harness.seen(1, &tab, "scroll", down.clone()).await;
    assert!(
        answer.ends_with("Changed on the page:\n+ \"loaded\""),
        "{answer}"
    );
    let answer = harness.seen(1, &tab, "scroll", down).await;
    assert!(answer.ends_with("Nothing on the page changed."), "{answer}");
}

/// A page with few lines, so that the time limit of the walk does not matter, but more than 40 kB.
const LONG: &str = "<button onclick='list.prepend(row(\"inserted\"))'>Insert</button>
    <button onclick='for (let i = 0; i < 3; i++) list.firstChild.remove()'>Remove</button><div id=list></div><script>
    const row = (text) => Object.assign(document.createElement('p'), { textContent: text });
    for (let n = 1; n <= 70; n++) list.append(row(`${n} ${'word '.repeat(160)}`));</script>";

#[tokio::test]
async fn lines_at_the_end_of_a_long_page_are_neither_new_nor_gone() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/long", Response::html(LONG));
    let tab = harness.open("long").await;
    for (name, expected) in [
        ("Insert", "+ \"inserted\""),
        ("Remove", "3 lines disappeared."),
        ("Insert", "+ \"inserted\""),
    ] {
        assert_eq!(
            click(&harness, 1, &tab, name).await,
            format!("Clicked.\nChanged on the page:\n{expected}")
        );
    }
}

#[tokio::test]
async fn since_leaves_out_what_others_pushed_out_of_a_long_page() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/long", Response::html(LONG));
    let tab = harness.open("long").await;
    let mut snapshot = harness.text(&tab, "take_snapshot", json!({})).await;
    for (name, expected) in [
        ("Insert", &["+ \"inserted\""][..]),
        ("Remove", &["- \"inserted\"", "- \"1 word", "- \"2 word"]),
        ("Insert", &["+ \"inserted\""]),
    ] {
        let (_, number) = snapshot.split_once(" snapshot=").unwrap();
        let number = number.split([':', '\n']).next().unwrap();
        let since: u32 = number.parse().unwrap();
        let uid = harness.uid(&tab, name).await;
        harness.text(&tab, "click", json!({ "uid": uid })).await;
        snapshot = harness
            .text(&tab, "take_snapshot", json!({ "since": since }))
            .await;
        let told = snapshot.lines().skip(1);
        let told = told.filter(|line| line.starts_with(['+', '-']) && !line.contains("button"));
        let told: Vec<_> = told.collect();
        let all = told.iter().zip(expected);
        assert!(
            told.len() == expected.len()
                && all.into_iter().all(|(line, begin)| line.starts_with(begin)),
            "{name}: {told:?}"
        );
    }
}

/// The page has more elements than can be read in 50 ms on any machine.
#[tokio::test]
async fn a_large_page_says_that_changes_were_not_read() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let body = "<button style='position:fixed;top:0;left:0'>Go</button><script>
        // Elements without a line: the walk passes all of them before it has enough lines to stop.
        document.body.insertAdjacentHTML('beforeend', '<i><i></i></i>'.repeat(200000));</script>";
    harness.server.route("/large", Response::html(body));
    let tab = harness.open("large").await;
    let uid = harness.uid(&tab, "Go").await;
    for _ in 0..2 {
        let answer = harness.seen(5, &tab, "click", json!({ "uid": uid })).await;
        assert_eq!(
            answer,
            "Clicked.\nWhat changed was not read: the page is large or busy. Call take_snapshot or find."
        );
    }
    // Nor are the steps of `run_steps` followed by an outline of the page that was there before.
    let stage = async |ask| {
        let ask = json!({"steps": [], "stage": ask});
        harness.seen(6, &tab, "run_steps", ask).await
    };
    let begun = stage(json!({"begin": {"uids": [], "changes": true}})).await;
    let begun: serde_json::Value = serde_json::from_str(&begun).unwrap();
    let end = |changes: bool| json!({"end": {"document": begun["document"], "changes": changes}});
    let told = stage(end(true)).await;
    assert!(told.starts_with("What changed was not read: "), "{told}");
    assert_eq!(stage(end(false)).await, "");
}

#[tokio::test]
async fn a_message_in_a_frame_is_told() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let inner = r#"<button onclick="flash()">Save</button>
        <script>
        function flash() {
            const note = document.createElement("div");
            note.role = "status"; note.textContent = "Saved inside"; document.body.append(note);
            requestAnimationFrame(() => note.remove());
        }
        </script>"#;
    harness.server.route("/inner", Response::html(inner));
    let outer = "<h1>Outer</h1><iframe src=/inner></iframe>";
    harness.server.route("/outer", Response::html(outer));
    let tab = harness.open("outer").await;
    assert_eq!(
        click(&harness, 1, &tab, "\"Save\"").await,
        "Clicked.\nShown for a moment: \"Saved inside\""
    );
}

#[tokio::test]
async fn a_failed_action_ends_its_watch() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = open(&harness).await;
    let uid = harness.uid(&tab, "Idle").await;
    let click = json!({ "uid": uid });
    harness.seen(1, &tab, "click", click.clone()).await;
    harness
        .page_value(&tab, "document.querySelector('button').remove()")
        .await;
    let failed = harness.try_seen(1, &tab, "click", click).await;
    assert!(failed.is_err(), "{failed:?}");
    harness
        .page_value(&tab, "toast(); new Promise(requestAnimationFrame)")
        .await;
    let world = tab.world().await.unwrap();
    let found: serde_json::Value = world.call("tabmux.passingMessages", ()).await.unwrap();
    assert_eq!(found, json!({ "texts": [] }));
}
