//! One test per family of tools that only checks the connection: results of the browser crate arrive at
//! the client.

use crate::harness::{McpHarness, page};
use serde_json::json;
use tabmux_testkit::Response;

#[tokio::test]
async fn a_popup_is_named_by_its_number_and_can_be_focused() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    harness.pages.route(
        "/opener",
        page(
            "Opener",
            "<button onclick=\"window.open('/a')\">Pop</button>",
        ),
    );
    let opener = harness.open("opener").await;
    let uid = harness.uid("\"Pop\"").await;
    let step = harness.step("click", json!({"uid": uid})).await;
    assert_eq!(step.notices, 0, "a popup is not focused");
    let tabs = harness.tabs_until(|tabs| tabs.rows().len() == 2).await;
    assert_eq!(tabs.focused(), Some(opener));
    let popup = tabs.ids()[1];
    let said = step.reply.ok().text();
    assert!(
        said.contains(&format!(
            "It opened tab {popup}. Call focus_tab to work there."
        )),
        "{said}"
    );
    harness.focus(popup).await;
    assert_eq!(harness.evaluate("() => document.title").await, "A");
    // A page may close what it opened; the session treats that like the user's action.
    // The script's answer and the close may come in either order.
    let close = json!({"function": "() => { window.close(); return 1 }"});
    harness.client.call_tool("evaluate_script", close).await;
    harness.one_notice().await;
    assert_eq!(harness.tabs().await.ids(), [opener]);
}

#[tokio::test]
async fn a_dialog_is_reported_and_blocks_only_its_page() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    let ask = "<button onclick=\"document.title = prompt('Your name?', 'Ann')\">Ask</button>";
    harness.pages.route("/ask", page("Asking", ask));
    let other = harness.open("b").await;
    let asking = harness.open("ask").await;
    let uid = harness.uid("\"Ask\"").await;
    let said = harness.text("click", json!({"uid": uid})).await;
    assert!(
        said.contains("A prompt dialog is open: \"Your name?\" (it offers \"Ann\")."),
        "{said}"
    );
    for (tool, arguments) in [("take_snapshot", json!({})), ("click", json!({"uid": uid}))] {
        let said = harness.refusal(tool, arguments).await;
        assert!(said.ends_with("Call handle_dialog first."), "{said}");
    }
    harness.focus(other).await;
    assert_eq!(harness.evaluate("() => document.title").await, "B");
    harness.focus(asking).await;
    let answer = json!({"action": "accept", "promptText": "Eve"});
    assert_eq!(
        harness.text("handle_dialog", answer).await,
        "Accepted the prompt dialog.\nThe title is now \"Eve\"."
    );
    assert_eq!(harness.evaluate("() => document.title").await, "Eve");
}

#[tokio::test]
async fn a_page_in_frames_of_two_sites_is_read_and_clicked() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    let button = |name: &str| {
        page(
            name,
            &format!("<button onclick=\"this.textContent = '{name} pressed'\">{name}</button>"),
        )
    };
    harness.pages.route("/near", button("Near"));
    harness.pages.route("/far", button("Far"));
    let far = harness.pages.cross_site_url("far");
    let body = format!("<iframe src=/near></iframe><iframe src='{far}'></iframe>");
    harness.pages.route("/outer", page("Outer", &body));
    harness.open("outer").await;
    for name in ["Near", "Far"] {
        let uid = harness.uid(&format!("button \"{name}\"")).await;
        harness.text("click", json!({"uid": uid})).await;
        let found = harness.text("find", json!({"text": "pressed"})).await;
        assert!(found.contains(&format!("\"{name} pressed\"")), "{found}");
    }
}

#[tokio::test]
async fn a_form_is_filled_and_sent() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    let form = "<form action=/sent><label>Name <input name=name></label>\
                <label>Colour <select name=colour><option>red<option>blue</select></label>\
                <button>Send</button></form>";
    harness.pages.route("/form", page("Form", form));
    harness.pages.route_with("/sent", |request| {
        page("Sent", &format!("<p>Got {}.</p>", request.query))
    });
    harness.open("form").await;
    let name = harness.uid("textbox \"Name\"").await;
    let colour = harness.uid("combobox \"Colour\"").await;
    let elements = json!([{"uid": name, "value": "Ann"}, {"uid": colour, "value": "blue"}]);
    harness
        .text("fill_form", json!({"elements": elements}))
        .await;
    let send = harness.uid("button \"Send\"").await;
    let said = harness.text("click", json!({"uid": send})).await;
    assert!(said.contains("/sent?name=Ann&colour=blue"), "{said}");
    let there = harness
        .text("wait_for", json!({"text": ["Got name=Ann&colour=blue."]}))
        .await;
    assert!(there.contains("is there"), "{there}");
}

#[tokio::test]
async fn ten_background_tabs_are_captured_at_once() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    let mut shots = Vec::new();
    for n in 0..10 {
        let colour = format!("background: rgb({}, 0, 0)", n * 25);
        harness.pages.route(
            "/colour",
            page("Colour", &format!("<body style='{colour}'>")),
        );
        harness.open("colour").await;
        shots.push(
            harness
                .client
                .begin_call("take_screenshot", json!({}))
                .await,
        );
    }
    harness.open("a").await;
    let mut pictures = std::collections::HashSet::new();
    for shot in shots {
        let reply = shot.tool_reply().await.ok();
        let images = reply
            .content()
            .iter()
            .filter(|block| block["type"] == "image");
        let [image] = images.collect::<Vec<_>>()[..] else {
            panic!("one picture: {}", reply.raw)
        };
        pictures.insert(image["data"].as_str().unwrap().to_owned());
    }
    assert_eq!(pictures.len(), 10, "every tab has a picture of its own");
}

#[tokio::test]
async fn the_long_page_is_bounded_and_its_last_rows_are_found() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    harness.open("rows.html").await;
    let snapshot = harness.text("take_snapshot", json!({})).await;
    assert!(snapshot.len() <= 40_000, "{} bytes", snapshot.len());
    let last = snapshot.lines().last().unwrap();
    assert!(
        !last.contains("uid="),
        "a line that says what was left out: {last}"
    );
    let found = harness.text("find", json!({"text": "Buy 1499"})).await;
    let line = found
        .lines()
        .find(|line| line.contains("button \"Buy 1499\""))
        .unwrap();
    let uid = line
        .split("uid=")
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .unwrap();
    harness.text("click", json!({"uid": uid})).await;
    assert_eq!(
        harness
            .evaluate("() => document.getElementById('log').textContent")
            .await,
        "Bought item 1499."
    );
}

#[tokio::test]
async fn progress_is_sent_only_to_clients_that_ask() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    harness
        .pages
        .route("/slow", Response::html("<title>Slow</title>"));
    harness.open("a").await;
    let wait = |meta| json!({"name": "wait_for", "arguments": {"text": ["never"], "timeout": 100}, "_meta": meta});
    harness
        .client
        .request("tools/call", wait(json!({})))
        .await
        .unwrap();
    harness.client.assert_no_notification().await;
    harness
        .client
        .request("tools/call", wait(json!({"progressToken": "p"})))
        .await
        .unwrap();
    for notice in harness.client.take_notifications().await {
        assert_eq!(notice["method"], "notifications/progress");
        assert_eq!(notice["params"]["progressToken"], "p");
    }
}

/// Calls on different tabs run concurrently: two calls, each of which waits for a request of the other's page.
#[tokio::test]
async fn calls_on_two_tabs_run_at_the_same_time() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    let gates = ["/one", "/two"].map(|path| harness.pages.hold(path, Response::text("go")));
    let fetch =
        |path: &str| json!({"function": format!("async () => (await fetch('{path}')).status")});
    harness.open("a").await;
    let one = harness
        .client
        .begin_call("evaluate_script", fetch("/one"))
        .await;
    harness.open("b").await;
    let two = harness
        .client
        .begin_call("evaluate_script", fetch("/two"))
        .await;
    harness.pages.wait_for_request("/one").await;
    harness.pages.wait_for_request("/two").await;
    assert!(!one.is_answered() && !two.is_answered());
    for gate in &gates {
        gate.open();
    }
    assert_eq!(one.tool_reply().await.ok().text(), "200");
    assert_eq!(two.tool_reply().await.ok().text(), "200");
}
