//! A press counts only where it was seen to land: if a page moves things under the pointer, or removes the element
//! while the button is pressed, the answer is not "Clicked.".

use crate::harness::BrowserHarness;
use crate::pick::{frame, pick, pick_in};
use serde_json::json;
use tabmux_browser::Tab;
use tabmux_testkit::{Response, patiently};

async fn page_with(harness: &BrowserHarness, html: &str) -> Tab {
    harness.server.route("/page", Response::html(html));
    harness.open("page").await
}

/// A page with a button "Safe", and a frame with a button "Pay" that moves under the pointer on `event`.
fn page_that_moves_a_frame(event: &str, address: &str) -> String {
    format!(
        "<body style='margin:0'><button id=safe style='position:absolute;left:20px;top:20px;width:200px;height:80px'>\
         Safe</button><iframe id=bank src='{address}' style='position:absolute;left:20px;top:300px;width:200px;\
         height:80px;border:0'></iframe><script>paid = 0; onmessage = () => paid++;\
         safe.addEventListener('{event}', () => bank.style.top = '20px')</script>"
    )
}

const PAY: &str = "<body style='margin:0'><button id=pay style='position:absolute;inset:0;width:100%;height:100%' \
                   onpointerdown='parent.postMessage(1, `*`)'>Pay</button>";

#[tokio::test]
async fn a_frame_that_is_moved_under_the_pointer_is_not_pressed() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/pay", Response::html(PAY));
    let sites = [
        harness.server.url("pay"),
        harness.server.cross_site_url("pay"),
    ];
    for address in sites {
        for event in ["mouseover", "mousemove", "pointerenter"] {
            for (tool, done) in [("click", "dblClick"), ("click", "includeSnapshot")] {
                let tab = page_with(&harness, &page_that_moves_a_frame(event, &address)).await;
                frame(&tab, "/pay").await;
                let uid = pick(&tab, "#safe").await;
                let error = harness
                    .error(&tab, tool, json!({ "uid": uid, done: true }))
                    .await;
                assert_eq!(
                    error,
                    format!(
                        "The element {uid} is covered by <iframe#bank>. Close or scroll away what covers it, \
                         then try again."
                    ),
                    "{event} {address}"
                );
                assert_eq!(
                    harness.page_value(&tab, "paid").await,
                    0,
                    "{event} {address}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_press_that_went_into_another_frame_is_an_error() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/pay", Response::html(PAY));
    for address in [
        harness.server.url("pay"),
        harness.server.cross_site_url("pay"),
    ] {
        // Only our check after the move is fooled: for everything else the frame is there.
        let html = page_that_moves_a_frame("mouseover", &address)
            + "<script>bank.style.pointerEvents = 'none'; safe.addEventListener('mousemove', () => {\
               setTimeout(() => bank.style.pointerEvents = '', 0) })</script>";
        let tab = page_with(&harness, &html).await;
        frame(&tab, "/pay").await;
        let uid = pick(&tab, "#safe").await;
        let told = harness.run(&tab, "click", json!({ "uid": uid })).await;
        // The timer may fire before or after our second check; the result is never a success.
        let error = told
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(error.contains("<iframe#bank>"), "{error} {address}");
    }
}

#[tokio::test]
async fn a_target_in_a_frame_is_not_confused_with_what_covers_it() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/pay", Response::html(PAY));
    for address in [
        harness.server.url("pay"),
        harness.server.cross_site_url("pay"),
    ] {
        let html = format!(
            "<body style='margin:0'><iframe id=bank src='{address}' style='position:absolute;left:20px;top:20px;\
             width:200px;height:80px;border:0'></iframe><button id=trap hidden style='position:absolute;left:20px;\
             top:20px;width:200px;height:80px'>Trap</button><script>pressed = paid = 0; onmessage = () => paid++; trap.onpointerdown = () => pressed++;\
             bank.onpointerenter = bank.onmouseover = () => trap.hidden = false</script>"
        );
        let tab = page_with(&harness, &html).await;
        let inside = frame(&tab, "/pay").await;
        let uid = pick_in(&tab, &inside, "#pay").await;
        let told = harness.run(&tab, "click", json!({ "uid": uid })).await;
        // Chrome reports a pointer in another process to the outer page with a delay: the trap may come too late.
        match told {
            Ok(_) => assert_eq!(harness.page_value(&tab, "paid").await, 1, "{address}"),
            Err(error) => assert!(error.to_string().contains("<button#trap>"), "{error}"),
        }
        assert_eq!(harness.page_value(&tab, "pressed").await, 0, "{address}");
    }
}

#[tokio::test]
async fn clicking_a_frame_presses_what_is_in_it() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/pay", Response::html(PAY));
    let around = format!(
        "<body style='margin:0'><iframe id=pay src='{}' style='border:0'></iframe>\
                          <script>onmessage = (e) => parent.postMessage(e.data, `*`)</script>",
        harness.server.url("pay")
    );
    harness.server.route("/around", Response::html(around));
    for address in ["pay", "around"] {
        for address in [
            harness.server.url(address),
            harness.server.cross_site_url(address),
        ] {
            let html = format!(
                "<iframe id=frame src='{address}'></iframe><script>paid = 0; onmessage = () => paid++</script>"
            );
            let tab = page_with(&harness, &html).await;
            frame(&tab, "/pay").await;
            let uid = pick(&tab, "#frame").await;
            let text = harness.text(&tab, "click", json!({ "uid": uid })).await;
            assert_eq!(text, "Clicked.", "{address}");
            // The outer page learns of it by messages, which take time.
            let paid = async { while harness.page_value(&tab, "paid").await != 1 {} };
            patiently(paid, || format!("a press in {address}")).await;
            let text = harness.text(&tab, "hover", json!({ "uid": uid })).await;
            assert_eq!(text, "The pointer is over the element.");
        }
    }
}

#[tokio::test]
async fn hover_succeeds_only_if_the_pointer_reached_the_element() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    // The button moves away before it gets any pointer event.
    let html = "<body style='margin:0'><button id=b style='position:absolute;left:20px;top:20px;width:200px;\
                height:80px'>b</button><script>addEventListener('pointermove', () => b.style.top = '400px', true);\
                b.onpointerenter = () => b.style.top = '400px'</script>";
    let tab = page_with(&harness, html).await;
    let uid = pick(&tab, "#b").await;
    // The pointer was over it for a moment: the page saw it.
    let text = harness.text(&tab, "hover", json!({ "uid": uid })).await;
    assert_eq!(text, "The pointer is over the element.");
}

#[tokio::test]
async fn a_drag_does_not_start_on_what_moved_under_the_pointer() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/pay", Response::html(PAY));
    let address = harness.server.url("pay");
    let tab = page_with(&harness, &page_that_moves_a_frame("mouseover", &address)).await;
    frame(&tab, "/pay").await;
    let uid = pick(&tab, "#safe").await;
    let error = harness
        .error(&tab, "drag", json!({ "from_uid": uid, "to_uid": uid }))
        .await;
    assert!(error.contains("is covered by <iframe#bank>"), "{error}");
    assert_eq!(harness.page_value(&tab, "paid").await, 0);
}

/// What a page does while the button is pressed, and the expected answer.
const LOST_CLICKS: [(&str, &str); 7] = [
    (
        "set.innerHTML = set.innerHTML",
        "it is no longer on the page",
    ),
    ("b.remove()", "it is no longer on the page"),
    (
        "b.style.top = '500px'",
        "<fieldset#set> was under the pointer when the mouse button was released",
    ),
    ("b.disabled = true", "it is disabled now"),
    ("set.disabled = true", "it is disabled now"),
    (
        "b.style.pointerEvents = 'none'",
        "<fieldset#set> was under the pointer when the mouse button was released",
    ),
    ("b.hidden = true", "it is not visible any more"),
];

#[tokio::test]
async fn a_target_that_scrolls_away_is_pressed_again() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let html = "<div id=box style='height: 200px; overflow: auto'></div><script>const clicked = [];\
                for (let i = 0; i < 60; i++) {\
                  const button = document.createElement('button'); button.textContent = `B${i}`; button.style.display = 'block';\
                  for (const type of ['mousedown', 'mouseup', 'click']) button.addEventListener(type, () => clicked.push(type + i));\
                  box.append(button);\
                }</script>";
    // The list scrolls right after our check that the target is under the pointer.
    let scroll_after_check = "((times) => { const aim = tabmux.aim; tabmux.aim = async (at) => { const found = await aim(at);\
                              if (found.ok && times-- > 0) document.getElementById('box').scrollTop += 40; return found; }; return 0; })";
    for (times, clicked) in [
        (1, json!(["mousedown5", "mouseup5", "click5"])),
        (9, json!([])),
    ] {
        let tab = page_with(&harness, html).await;
        let uid = harness.uid(&tab, "button \"B5\"").await;
        let world = tab.world().await.unwrap();
        let _: u32 = world.call(scroll_after_check, times).await.unwrap();
        let told = harness.run(&tab, "click", json!({ "uid": uid })).await;
        assert_eq!(told.is_ok(), times == 1, "{told:?}");
        if let Err(error) = told {
            assert!(
                error.to_string().contains("scrolled away and <button> was"),
                "{error}"
            );
        }
        assert_eq!(harness.page_value(&tab, "clicked").await, clicked);
    }
}

#[tokio::test]
async fn a_press_without_a_click_is_not_a_click() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    for event in ["pointerdown", "mousedown"] {
        for (action, why) in LOST_CLICKS {
            let html = format!(
                "<body style='margin:0;height:600px'><fieldset id=set style='border:0;padding:0;margin:0;height:120px'>\
                 <button id=b style='position:absolute;left:20px;top:20px;width:200px;height:80px'>b</button></fieldset>\
                 <script>clicks = 0; b.onclick = () => clicks++; b.addEventListener('{event}', () => {{ {action} }})</script>"
            );
            let tab = page_with(&harness, &html).await;
            let uid = pick(&tab, "#b").await;
            let error = harness.error(&tab, "click", json!({ "uid": uid })).await;
            assert_eq!(
                error,
                format!(
                    "The press reached the element {uid}, but no click followed: {why}. Call take_snapshot to see \
                     what changed, then try again."
                ),
                "{event} {action}"
            );
            assert_eq!(
                harness.page_value(&tab, "clicks").await,
                0,
                "{event} {action}"
            );
        }
    }
}

/// Legitimate pages on which no click, or only a late one, reaches the element, and the expected answer.
const HONEST: [(&str, &str, &str); 8] = [
    (
        "a menu that opens on mousedown over its button",
        "<button id=b onmousedown='menu.hidden = false'>b</button><div id=menu hidden style='position:fixed;inset:0'>\
         menu</div>",
        "Pressed, and the page changed at once. No click followed: <div#menu> was under the pointer when the mouse button was released.",
    ),
    (
        "an element that leaves as it is pressed, with what it opened",
        "<button id=b onpointerdown='this.remove(); document.body.append(`opened`)'>b</button>",
        "Pressed, and the page changed at once. No click followed: it is no longer on the page.",
    ),
    (
        "a target that keeps its events to itself",
        "<button id=b>b</button><script>for (const it of ['pointerdown', 'mousedown', 'mouseup', 'click'])\
         document.addEventListener(it, (e) => { e.stopImmediatePropagation(); e.preventDefault() }, true)</script>",
        "Clicked.",
    ),
    (
        "a label for its box",
        "<label id=b><input type=checkbox hidden> label</label>",
        "Clicked.",
    ),
    (
        "a list that the browser draws",
        "<select id=b><option>one<option>two</select>",
        "Clicked.",
    ),
    (
        "an element that can be dragged",
        "<div id=b draggable=true style='width:80px;height:40px'>b</div>",
        "Clicked.",
    ),
    (
        "an element that takes the pointer",
        "<button id=b onpointerdown='this.setPointerCapture(event.pointerId)'>b</button>",
        "Clicked.",
    ),
    (
        "an element that goes when it is clicked",
        "<button id=b onclick='this.remove()'>b</button>",
        "Clicked.",
    ),
];

#[tokio::test]
async fn legitimate_pages_that_act_on_the_press_itself_succeed() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    for (name, html, told) in HONEST {
        let tab = page_with(&harness, html).await;
        let uid = pick(&tab, "#b").await;
        let text = harness.text(&tab, "click", json!({ "uid": uid })).await;
        assert_eq!(text, told, "{name}");
    }
}

#[tokio::test]
async fn a_page_that_leaves_as_it_is_pressed_was_pressed() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness
        .server
        .route("/next", Response::html("<title>Next</title>"));
    for event in ["pointerdown", "mousedown"] {
        let html = format!("<button id=b on{event}='location = `/next`'>b</button>");
        let tab = page_with(&harness, &html).await;
        let uid = pick(&tab, "#b").await;
        let text = harness.text(&tab, "click", json!({ "uid": uid })).await;
        assert_eq!(
            text,
            format!(
                "Clicked.\nThe page navigated to {}",
                harness.server.url("next")
            ),
            "{event}"
        );
    }
}

#[tokio::test]
async fn a_double_click_that_loses_one_click_says_so() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = page_with(&harness, "<button id=b onclick='this.remove()'>b</button>").await;
    let uid = pick(&tab, "#b").await;
    let error = harness
        .error(&tab, "click", json!({ "uid": uid, "dblClick": true }))
        .await;
    assert_eq!(
        error,
        format!(
            "The element {uid} was clicked once, but not a second time: it is no longer on the page. Call \
             take_snapshot to see what changed, then try again."
        )
    );
}
