//! Answers report the effects of an action: navigation, tabs, dialogs, downloads, server responses.

use crate::harness::{BrowserHarness, Capability, text_of};
use crate::pick::pick;
use serde_json::json;
use tabmux_browser::Tab;
use tabmux_testkit::Response;

pub(crate) async fn page_with(harness: &BrowserHarness, html: &str) -> Tab {
    harness.server.route("/page", Response::html(html));
    harness.open("page").await
}

pub(crate) async fn click(harness: &BrowserHarness, tab: &Tab, selector: &str) -> String {
    let uid = pick(tab, selector).await;
    harness.text(tab, "click", json!({ "uid": uid })).await
}

#[tokio::test]
async fn a_click_that_navigates_answers_with_the_loaded_page() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let gate = harness.server.hold(
        "/slow.js",
        Response::new(200, "text/javascript", "ready = 1"),
    );
    harness.server.route(
        "/next",
        Response::html("<title>Next</title><script src=/slow.js></script>"),
    );
    let tab = page_with(&harness, "<a href=/next>next</a>").await;
    let uid = pick(&tab, "a").await;
    let open_later = async {
        harness.server.wait_for_request("/slow.js").await;
        gate.open();
    };
    let (text, ()) = tokio::join!(
        harness.text(&tab, "click", json!({ "uid": uid })),
        open_later
    );
    assert_eq!(
        text,
        format!(
            "Clicked.\nThe page navigated to {}",
            harness.server.url("next")
        )
    );
    assert_eq!(harness.page_value(&tab, "ready").await, 1);
}

#[tokio::test]
async fn a_navigation_within_the_page_is_reported() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = page_with(
        &harness,
        "<button onclick='history.pushState(0, ``, `/elsewhere`)'>b</button>",
    )
    .await;
    let text = click(&harness, &tab, "button").await;
    assert_eq!(
        text,
        format!(
            "Clicked.\nThe address is now {}",
            harness.server.url("elsewhere")
        )
    );
}

#[tokio::test]
async fn what_the_server_answers_is_shown_before_the_click_answers() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/a", Response::text("first"));
    harness.server.route("/b", Response::text("second"));
    let html = "<button onclick='go()'>b</button><script>const ask = async (path) => \
                document.body.append(await (await fetch(path)).text());\
                const go = async () => { await ask(`/a`); await ask(`/b`); }</script>";
    let tab = page_with(&harness, html).await;
    click(&harness, &tab, "button").await;
    assert_eq!(
        harness
            .page_value(&tab, "document.body.innerText.includes('firstsecond')")
            .await,
        true
    );
}

#[tokio::test]
async fn a_tab_that_a_click_opened_is_named() {
    let Some(mut harness) = BrowserHarness::start().await else {
        return;
    };
    harness
        .server
        .route("/popup", Response::html("<title>Popup</title>"));
    let tab = page_with(&harness, "<a href=/popup target=_blank>open</a>").await;
    let uid = pick(&tab, "a").await;
    let output = harness
        .run(&tab, "click", json!({ "uid": uid }))
        .await
        .unwrap();
    let (first, _) = harness.appeared().await;
    assert_eq!(&first, tab.target());
    let (popup, _) = harness.appeared().await;
    assert_eq!(output.opened, [popup]);
    assert_eq!(text_of(&output), "Clicked.");
}

#[tokio::test]
async fn a_dialog_ends_the_click_at_once_and_blocks_the_others() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = page_with(
        &harness,
        "<button onclick='answer = prompt(`Your name?`, `nobody`)'>b</button>",
    )
    .await;
    let text = click(&harness, &tab, "button").await;
    assert_eq!(
        text,
        "Done, and it opened a dialog. A prompt dialog is open: \"Your name?\" (it offers \"nobody\"). \
         Call handle_dialog to go on."
    );
    let error = harness
        .error(&tab, "press_key", json!({ "key": "a" }))
        .await;
    assert!(
        error.contains("A prompt dialog is open") && error.contains("Call handle_dialog"),
        "{error}"
    );
    let answer = json!({ "action": "accept", "promptText": "Ada" });
    harness.text(&tab, "handle_dialog", answer).await;
    assert_eq!(harness.page_value(&tab, "answer").await, "Ada");
    let error = harness
        .error(&tab, "handle_dialog", json!({ "action": "accept" }))
        .await;
    assert!(error.contains("No dialog is open"), "{error}");
}

#[tokio::test]
async fn a_download_is_reported() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness
        .server
        .route("/report", Response::download("report.csv", "a,b"));
    let tab = page_with(&harness, "<a href=/report>download</a>").await;
    let text = click(&harness, &tab, "a").await;
    if !harness.can(Capability::Downloads) {
        assert_eq!(
            text,
            "Clicked.\nA download started: report.csv. It is saved."
        );
        return;
    }
    let told = "Clicked.\nA download started: report.csv. It is saved as ";
    let path = text.strip_prefix(told).unwrap_or_else(|| panic!("{text}"));
    let path = path
        .strip_suffix(" (3 bytes).")
        .unwrap_or_else(|| panic!("{text}"));
    assert_eq!(std::fs::read(path).unwrap(), b"a,b");
    std::fs::remove_file(path).unwrap();
}

#[tokio::test]
async fn a_link_that_only_downloads_is_reported_and_saved() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let html = "<a download='notes.txt' href='data:text/plain,hello'>save</a>";
    let tab = page_with(&harness, html).await;
    let text = click(&harness, &tab, "a").await;
    if !harness.can(Capability::Downloads) {
        assert_eq!(
            text,
            "Clicked.\nA download started: notes.txt. It is saved."
        );
        return;
    }
    assert!(
        text.contains("A download started: notes.txt. It is saved as "),
        "{text}"
    );
    let path = text
        .split(" saved as ")
        .nth(1)
        .unwrap()
        .split(" (")
        .next()
        .unwrap();
    assert_eq!(std::fs::read(path).unwrap(), b"hello");
    std::fs::remove_file(path).unwrap();
}

#[tokio::test]
async fn an_answer_without_content_is_no_download() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/nothing", Response::no_content());
    let tab = page_with(&harness, "<a href=/nothing>nothing</a>").await;
    assert_eq!(click(&harness, &tab, "a").await, "Clicked.");
}

#[tokio::test]
async fn a_page_that_never_settles_is_still_clicked() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let html = "<button onclick='hits = 1'>b</button><i></i><script>const spin = () => {\
                document.querySelector('i').textContent += '.'; requestAnimationFrame(spin) }; spin();\
                new EventSource('/stream')</script>";
    harness.server.hang("/stream");
    let tab = page_with(&harness, html).await;
    assert_eq!(click(&harness, &tab, "button").await, "Clicked.");
    assert_eq!(harness.page_value(&tab, "hits").await, 1);
}

#[tokio::test]
async fn a_click_that_leads_nowhere_says_so() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.hang_up("/dead");
    let tab = page_with(&harness, "<a href=/dead>dead</a>").await;
    let text = click(&harness, &tab, "a").await;
    assert_eq!(text, "Clicked.\nThe page it led to could not be loaded.");
}

#[tokio::test]
async fn handle_dialog_reports_what_follows_the_dialog() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness
        .server
        .route("/next", Response::html("<title>Next</title>"));
    let html = "<button onclick='if (confirm(`Sure?`) && confirm(`Really?`)) location = `/next`'>b</button>";
    let tab = page_with(&harness, html).await;
    click(&harness, &tab, "button").await;
    let accept = json!({ "action": "accept" });
    let text = harness.text(&tab, "handle_dialog", accept.clone()).await;
    assert_eq!(
        text,
        "Accepted the confirm dialog. Then the page opened another one. A confirm dialog is open: \"Really?\". \
         Call handle_dialog again."
    );
    let text = harness.text(&tab, "handle_dialog", accept).await;
    assert_eq!(
        text,
        format!(
            "Accepted the confirm dialog.\nThe page navigated to {}",
            harness.server.url("next")
        )
    );
}

#[tokio::test]
async fn an_action_can_include_a_new_snapshot() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = page_with(
        &harness,
        "<button onclick='this.textContent = `After`'>Before</button>",
    )
    .await;
    let uid = pick(&tab, "button").await;
    let text = harness
        .text(
            &tab,
            "click",
            json!({ "uid": uid, "includeSnapshot": true }),
        )
        .await;
    assert!(text.starts_with("Clicked.\n"), "{text}");
    assert!(
        text.contains(&format!("uid={uid} button \"After\"")),
        "{text}"
    );
}
