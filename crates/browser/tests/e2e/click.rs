//! Clicking: the click reaches its element, or the error names what blocks it.

use crate::harness::BrowserHarness;
use crate::pick::{frame, pick, pick_in};
use serde_json::json;
use tabmux_browser::Tab;
use tabmux_testkit::Response;

/// Clicks an element of the obstacle page and returns the page's own log.
async fn click_hits(harness: &BrowserHarness, tab: &Tab, selector: &str) -> serde_json::Value {
    harness.page_value(tab, "void log.splice(0)").await;
    let uid = pick(tab, selector).await;
    harness.text(tab, "click", json!({ "uid": uid })).await;
    harness.page_value(tab, "log").await
}

/// Tries to click an element of the obstacle page that cannot be clicked, and checks the error.
async fn click_fails(harness: &BrowserHarness, tab: &Tab, selector: &str, expected: &str) {
    let uid = pick(tab, selector).await;
    let error = harness.error(tab, "click", json!({ "uid": uid })).await;
    assert_eq!(error, expected.replace("UID", &uid));
    assert_eq!(
        harness.page_value(tab, "[...log, scrollY]").await,
        json!([0])
    );
}

/// Spec: multi-browser 63.
#[tokio::test]
async fn a_click_lands_once_and_a_double_click_twice() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("obstacles.html").await;
    assert_eq!(click_hits(&harness, &tab, "#plain").await, json!(["plain"]));
    let uid = pick(&tab, "#plain").await;
    harness.page_value(&tab, "void log.splice(0)").await;
    let text = harness
        .text(&tab, "click", json!({ "uid": uid, "dblClick": true }))
        .await;
    assert_eq!(text, "Double-clicked.");
    assert_eq!(
        harness.page_value(&tab, "log").await,
        json!(["plain", "plain", "double plain"])
    );
}

#[tokio::test]
async fn a_covered_element_names_its_cover() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("obstacles.html").await;
    let sentence = "The element UID is covered by <div#consent>. Close or scroll away what covers it, then try again.";
    click_fails(&harness, &tab, "#covered", sentence).await;
}

#[tokio::test]
async fn a_disabled_element_is_not_clicked() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("obstacles.html").await;
    let sentence = "The element UID is disabled. Enable it first, or use another element.";
    click_fails(&harness, &tab, "#disabled", sentence).await;
    let sentence =
        "The element UID is disabled through <div>. Enable it first, or use another element.";
    click_fails(&harness, &tab, "#fenced", sentence).await;
}

#[tokio::test]
async fn hidden_inert_and_unpressable_elements_say_why() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("obstacles.html").await;
    let sentence = "The element UID is not visible (display: none). Open what contains it, or use another element.";
    click_fails(&harness, &tab, "#hidden", sentence).await;
    let sentence = "The element UID is inert through <div#asleep>. Something else on the page, such as a dialog, has to be dealt with first.";
    click_fails(&harness, &tab, "#inert", sentence).await;
    let sentence = "The element UID ignores the pointer (pointer-events: none). Use the element that is meant to be pressed.";
    click_fails(&harness, &tab, "#ghost", sentence).await;
}

#[tokio::test]
async fn a_detached_element_is_gone() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("obstacles.html").await;
    let uid = pick(&tab, "#plain").await;
    harness.page_value(&tab, "plain.remove()").await;
    let error = harness.error(&tab, "click", json!({ "uid": uid })).await;
    assert_eq!(
        error,
        format!(
            "The element {uid} is no longer on the page. Call take_snapshot to see what is there now."
        )
    );
}

#[tokio::test]
async fn a_uid_of_another_document_is_stale() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("obstacles.html").await;
    let uid = pick(&tab, "#plain").await;
    harness
        .text(&tab, "navigate_page", json!({ "type": "reload" }))
        .await;
    let error = harness.error(&tab, "click", json!({ "uid": uid })).await;
    assert_eq!(
        error,
        format!(
            "uid {uid} is from a page that is no longer shown. Call take_snapshot for the present page."
        )
    );
    let error = harness
        .error(&tab, "click", json!({ "uid": "the button" }))
        .await;
    assert_eq!(
        error,
        "`the button` is not a uid. Use one from take_snapshot or find, such as 3_14."
    );
}

#[tokio::test]
async fn a_moving_element_is_waited_for_but_not_for_ever() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("obstacles.html").await;
    harness
        .page_value(&tab, "arriving.className = 'going'")
        .await;
    assert_eq!(
        click_hits(&harness, &tab, "#arriving").await,
        json!(["arriving"])
    );
    assert_eq!(
        click_hits(&harness, &tab, "#throbbing").await,
        json!(["throbbing"])
    );
    harness.page_value(&tab, "void log.splice(0)").await;
    let sentence = "The element UID is still moving. Wait for it to stop, then try again.";
    click_fails(&harness, &tab, "#drifting", sentence).await;
}

#[tokio::test]
async fn an_element_that_is_about_to_be_enabled_is_waited_for() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("obstacles.html").await;
    harness
        .page_value(
            &tab,
            "void setTimeout(() => (disabled.disabled = false), 200)",
        )
        .await;
    assert_eq!(
        click_hits(&harness, &tab, "#disabled").await,
        json!(["disabled"])
    );
}

#[tokio::test]
async fn what_is_out_of_view_is_scrolled_to() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("obstacles.html").await;
    assert_eq!(click_hits(&harness, &tab, "#far").await, json!(["far"]));
    assert_eq!(click_hits(&harness, &tab, "#inner").await, json!(["inner"]));
    harness.page_value(&tab, "scrollTo(0, 2000)").await;
    assert_eq!(
        click_hits(&harness, &tab, "#under").await,
        json!(["under"]),
        "from under the bar"
    );
}

#[tokio::test]
async fn a_link_over_several_lines_and_a_box_behind_its_label_are_hit() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("obstacles.html").await;
    assert_eq!(
        click_hits(&harness, &tab, "#wrapped").await,
        json!(["wrapped"])
    );
    let address = harness.page_value(&tab, "location.hash").await;
    assert_eq!(address, "#wrapped");
    assert_eq!(
        click_hits(&harness, &tab, "#box").await,
        json!(["label", "box"])
    );
    assert_eq!(harness.page_value(&tab, "box.checked").await, true);
}

#[tokio::test]
async fn a_press_that_something_else_caught_is_an_error() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("obstacles.html").await;
    let uid = pick(&tab, "#trap").await;
    let error = harness.error(&tab, "click", json!({ "uid": uid })).await;
    assert_eq!(
        error,
        format!(
            "The element {uid} is covered by <div#sprung>. Close or scroll away what covers it, then try again."
        )
    );
}

#[tokio::test]
async fn a_click_reaches_into_frames_of_this_and_of_other_sites() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/inside",
        Response::html(
            "<body style='height: 3000px'><button id=b style='position: absolute; top: 2000px' \
             onclick='parent.postMessage(location.hostname, `*`)'>B</button>",
        ),
    );
    let outer = format!(
        "<body style='height: 5000px'><script>heard = []; onmessage = (e) => heard.push(e.data)</script>\
         <iframe src='{}#same' style='margin-top: 1500px; border: 9px solid; transform: rotate(20deg)'></iframe>\
         <iframe src='{}#other' style='margin-top: 1500px; padding: 7px; transform: scale(0.7)'></iframe>",
        harness.server.url("inside"),
        harness.server.cross_site_url("inside"),
    );
    harness.server.route("/outer", Response::html(outer));
    let tab = harness.open("outer").await;
    for (ending, host) in [("#same", "127.0.0.1"), ("#other", "localhost")] {
        harness.page_value(&tab, "void heard.splice(0)").await;
        let frame = frame(&tab, ending).await;
        let uid = pick_in(&tab, &frame, "#b").await;
        harness.text(&tab, "click", json!({ "uid": uid })).await;
        assert_eq!(harness.page_value(&tab, "heard").await, json!([host]));
    }
    harness.page_value(&tab, "document.body.insertAdjacentHTML('beforeend', '<div id=lid style=\"position: fixed; inset: 0\"></div>')").await;
    let frame = frame(&tab, "#other").await;
    let uid = pick_in(&tab, &frame, "#b").await;
    let error = harness.error(&tab, "click", json!({ "uid": uid })).await;
    assert!(error.contains("is covered by <div#lid>"), "{error}");
}

/// Our script in the outer document meets the elements of the frame first.
#[tokio::test]
async fn elements_of_frames_work_after_a_snapshot() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/inside",
        Response::html("<label>City <input id=city value=Rome></label><button onclick='parent.heard++'>Go</button>"),
    );
    harness.server.route(
        "/outer",
        Response::html("<script>heard = 0</script><h1>Outer</h1><iframe src=/inside></iframe>"),
    );
    let tab = harness.open("outer").await;
    let snapshot = harness.text(&tab, "take_snapshot", json!({})).await;
    let uid = |name: &str| {
        let line = snapshot.lines().find(|line| line.contains(name)).unwrap();
        let (_, rest) = line.split_once("uid=").unwrap();
        rest.split(' ').next().unwrap().to_owned()
    };
    assert!(snapshot.contains("value=\"Rome\""), "{snapshot}");
    harness
        .text(&tab, "click", json!({ "uid": uid("\"Go\"") }))
        .await;
    assert_eq!(harness.page_value(&tab, "heard").await, json!(1));
    let fill = json!({ "uid": uid("\"City\""), "value": "Oslo" });
    harness.text(&tab, "fill", fill).await;
    let city = "document.querySelector('iframe').contentDocument.querySelector('#city').value";
    assert_eq!(harness.page_value(&tab, city).await, json!("Oslo"));
}

#[tokio::test]
async fn a_click_reaches_into_shadow_roots() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/shadow",
        Response::html(
            "<div id=outer></div><script>heard = [];\
             const inner = outer.attachShadow({ mode: 'open' }).appendChild(document.createElement('p'));\
             const button = inner.attachShadow({ mode: 'open' }).appendChild(document.createElement('button'));\
             button.onclick = () => heard.push('deep');</script>",
        ),
    );
    let tab = harness.open("shadow").await;
    let uid = pick(&tab, "#outer>>>p>>>button").await;
    harness.text(&tab, "click", json!({ "uid": uid })).await;
    assert_eq!(harness.page_value(&tab, "heard").await, json!(["deep"]));
}

#[tokio::test]
async fn a_click_reaches_into_a_closed_shadow_root() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/closed",
        Response::html(
            "<x-box></x-box><div id=lid style='position: absolute; top: 300px; left: 0; width: 300px; height: 99px'></div>\
             <script>heard = [];\
             const root = document.querySelector('x-box').attachShadow({ mode: 'closed' });\
             root.innerHTML = '<button>Secret</button><button style=\"position: absolute; top: 310px\">Lidded</button>';\
             root.addEventListener('click', (e) => heard.push(e.target.textContent));</script>",
        ),
    );
    let tab = harness.open("closed").await;
    let uid = harness.uid(&tab, "\"Secret\"").await;
    assert_eq!(
        harness.text(&tab, "click", json!({ "uid": uid })).await,
        "Clicked."
    );
    assert_eq!(harness.page_value(&tab, "heard").await, json!(["Secret"]));
    let uid = harness.uid(&tab, "\"Lidded\"").await;
    let error = harness.error(&tab, "click", json!({ "uid": uid })).await;
    assert!(error.contains("is covered by <div#lid>"), "{error}");
}

#[tokio::test]
async fn an_option_of_a_closed_list_is_chosen() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("fields.html").await;
    let uid = pick(&tab, "#list option[value=g]").await;
    let text = harness.text(&tab, "click", json!({ "uid": uid })).await;
    assert_eq!(text, "Chose the option.");
    assert_eq!(
        harness.page_value(&tab, "[list.value, ...heard]").await,
        json!(["g", "input list", "change list"])
    );
}

#[tokio::test]
async fn hovering_shows_what_a_disabled_element_has_to_say() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("obstacles.html").await;
    let uid = pick(&tab, "#disabled").await;
    let text = harness.text(&tab, "hover", json!({ "uid": uid })).await;
    assert_eq!(text, "The pointer is over the element.");
    assert_eq!(
        harness.page_value(&tab, "disabled.matches(':hover')").await,
        true
    );
}
