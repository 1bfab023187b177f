//! navigate_page: reports where it went or why it failed, within its timeout.

use crate::harness::BrowserHarness;
use serde_json::json;
use tabmux_browser::Tab;
use tabmux_testkit::Response;

fn two_pages(harness: &BrowserHarness) {
    harness
        .server
        .route("/one", Response::html("<title>One</title><h1>one</h1>"));
    harness
        .server
        .route("/two", Response::html("<title>Two</title><h1>two</h1>"));
}

async fn go(harness: &BrowserHarness, tab: &Tab, path: &str) -> String {
    harness
        .text(
            tab,
            "navigate_page",
            json!({ "url": harness.server.url(path) }),
        )
        .await
}

/// Spec: multi-browser 61.
#[tokio::test]
async fn it_goes_there_and_back_and_forward_and_reloads() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    two_pages(&harness);
    let tab = harness.open("one").await;
    assert_eq!(
        go(&harness, &tab, "two").await,
        format!("The page is now {}\nTitle: Two", harness.server.url("two"))
    );
    for (way, title) in [
        ("back", "One"),
        ("forward", "Two"),
        ("back", "One"),
        ("reload", "One"),
    ] {
        let text = harness
            .text(&tab, "navigate_page", json!({ "type": way }))
            .await;
        assert!(text.ends_with(&format!("Title: {title}")), "{way}: {text}");
        assert_eq!(harness.page_value(&tab, "document.title").await, title);
    }
    let asked = harness.server.count("/one");
    harness
        .text(
            &tab,
            "navigate_page",
            json!({ "type": "reload", "ignoreCache": true }),
        )
        .await;
    assert_eq!(harness.server.count("/one"), asked + 1);
}

#[tokio::test]
async fn a_fragment_and_a_history_step_within_the_page_are_done_at_once() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    two_pages(&harness);
    let tab = harness.open("one").await;
    let text = go(&harness, &tab, "one#part").await;
    assert!(
        text.starts_with(&format!(
            "The page is now {}",
            harness.server.url("one#part")
        )),
        "{text}"
    );
    let text = harness
        .text(&tab, "navigate_page", json!({ "type": "back" }))
        .await;
    assert_eq!(
        text,
        format!("The page is now {}\nTitle: One", harness.server.url("one"))
    );
}

#[tokio::test]
async fn without_history_there_is_nowhere_to_go() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open_url("about:blank").await;
    for way in ["back", "forward"] {
        let error = harness
            .error(&tab, "navigate_page", json!({ "type": way }))
            .await;
        assert_eq!(
            error,
            format!("There is no page to go {way} to. Go to a URL instead.")
        );
    }
}

#[tokio::test]
async fn a_page_that_cannot_be_reached_is_an_error() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    two_pages(&harness);
    harness.server.hang_up("/dead");
    let tab = harness.open("one").await;
    let dead = harness.server.url("dead");
    let error = harness
        .error(&tab, "navigate_page", json!({ "url": dead }))
        .await;
    assert!(
        error.starts_with(&format!("{dead} could not be loaded: ERR_EMPTY_RESPONSE")),
        "{error}"
    );
    let error = harness
        .error(&tab, "navigate_page", json!({ "type": "reload" }))
        .await;
    assert!(
        error.starts_with(&format!("{dead} could not be loaded: ERR_EMPTY_RESPONSE")),
        "{error}"
    );
    go(&harness, &tab, "two").await;
    let missing = harness.server.url("missing");
    let text = harness
        .text(&tab, "navigate_page", json!({ "url": missing }))
        .await;
    assert_eq!(
        text,
        format!(
            "The page is now {missing}\nTitle: Not found\nThe server answered with status 404."
        )
    );
}

#[tokio::test]
async fn forbidden_and_malformed_addresses_leave_the_page_alone() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    two_pages(&harness);
    let tab = harness.open("one").await;
    for url in [
        "javascript:document.title='x'",
        "file:///etc/passwd",
        "chrome://version",
        "nonsense",
        "",
    ] {
        harness
            .error(&tab, "navigate_page", json!({ "url": url }))
            .await;
        assert_eq!(
            harness
                .page_value(&tab, "[document.title, location.pathname]")
                .await,
            json!(["One", "/one"])
        );
    }
}

#[tokio::test]
async fn a_timeout_is_a_bound_and_leaves_the_page_where_it_was() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    two_pages(&harness);
    harness.server.hang("/never");
    let tab = harness.open("one").await;
    let error = harness
        .error(
            &tab,
            "navigate_page",
            json!({ "url": harness.server.url("never"), "timeout": 300 }),
        )
        .await;
    assert_eq!(
        error,
        "The navigation did not happen within 300 ms. The tab still shows the previous page. Try again with a longer timeout."
    );
    harness.server.wait_for_abandoned("/never", 1).await;
    assert_eq!(harness.page_value(&tab, "document.title").await, "One");
}

#[tokio::test]
async fn a_page_that_loads_too_slowly_is_an_error_at_its_timeout() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let page = format!("<title>Slow</title>{}<p>end", " ".repeat(5_000));
    let _gate = harness
        .server
        .hold_body("/slow", Response::html(page), 2_000);
    let tab = harness.open_url("about:blank").await;
    let slow = harness.server.url("slow");
    let error = harness
        .error(
            &tab,
            "navigate_page",
            json!({ "url": slow, "timeout": 1000 }),
        )
        .await;
    assert!(
        error.starts_with(&format!("Loading {slow} did not happen within 1000 ms.")),
        "{error}"
    );
}

#[tokio::test]
async fn a_page_that_asks_to_stay_is_left() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    two_pages(&harness);
    harness.server.route(
        "/clingy",
        Response::html("<title>Clingy</title><input id=i><script>onbeforeunload = (e) => e.preventDefault()</script>"),
    );
    let tab = harness.open("clingy").await;
    let uid = crate::pick::pick(&tab, "#i").await;
    harness
        .text(&tab, "fill", json!({ "uid": uid, "value": "unsaved" }))
        .await;
    assert_eq!(
        go(&harness, &tab, "two").await,
        format!("The page is now {}\nTitle: Two", harness.server.url("two"))
    );
}

#[tokio::test]
async fn a_dialog_of_the_new_page_is_reported() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness
        .server
        .route("/alert", Response::html("<script>alert('hello')</script>"));
    let tab = harness.open_url("about:blank").await;
    let text = harness
        .text(
            &tab,
            "navigate_page",
            json!({ "url": harness.server.url("alert") }),
        )
        .await;
    assert_eq!(
        text,
        "The page opened a dialog while it loaded. An alert dialog is open: \"hello\". Call handle_dialog to go on."
    );
}

#[tokio::test]
async fn a_page_in_an_endless_loop_can_be_left() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    two_pages(&harness);
    let tab = harness.open("one").await;
    let spin = "void setTimeout(() => { console.log('spinning'); for (;;); })";
    harness.page_value(&tab, spin).await;
    tab.until(std::time::Duration::from_secs(20), |state| {
        state
            .console
            .iter()
            .any(|message| message.text == "spinning")
    })
    .await
    .unwrap();
    let text = go(&harness, &tab, "two").await;
    assert!(text.ends_with("Title: Two"), "{text}");
}

/// Spec: multi-browser 61.
#[tokio::test]
async fn a_script_runs_before_the_next_page_and_only_once() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/page",
        Response::html("<script>seen = window.planted ?? 'nothing'</script>"),
    );
    let tab = harness.open("page").await;
    let go = json!({ "url": harness.server.url("page"), "initScript": "window.planted = 'early'" });
    harness.text(&tab, "navigate_page", go).await;
    assert_eq!(harness.page_value(&tab, "seen").await, "early");
    harness
        .text(&tab, "navigate_page", json!({ "type": "reload" }))
        .await;
    assert_eq!(harness.page_value(&tab, "seen").await, "nothing");
}

/// Spec: multi-browser 61.
#[tokio::test]
async fn a_page_that_asks_before_leaving_may_be_kept() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route(
        "/page",
        Response::html(
            "<button>b</button><script>onbeforeunload = (e) => e.preventDefault()</script>",
        ),
    );
    harness.server.route("/next", Response::html("next"));
    let tab = harness.open("page").await;
    let uid = crate::pick::pick(&tab, "button").await;
    // Chrome shows leave-page dialogs only after a user action on the page.
    harness.text(&tab, "click", json!({ "uid": uid })).await;
    let stay = json!({ "url": harness.server.url("next"), "handleBeforeUnload": "dismiss" });
    let error = harness.error(&tab, "navigate_page", stay).await;
    assert!(error.contains("the answer was to stay"), "{error}");
    assert!(tab.state().frames.main().unwrap().url.ends_with("/page"));
    let text = harness
        .text(
            &tab,
            "navigate_page",
            json!({ "url": harness.server.url("next") }),
        )
        .await;
    assert!(text.contains("/next"), "{text}");
}

/// To leave a busy page its scripts are disabled; those of the next page must run.
#[tokio::test]
async fn the_page_after_one_in_an_endless_loop_runs_its_own_scripts() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let next =
        "<button onclick='this.value = 1'>Press</button><script>document.title = 'Ran'</script>";
    harness.server.route("/next", Response::html(next));
    let tab = harness.open("next").await;
    for round in 1..=5 {
        // Messages of old pages are dropped, so each round checks its own.
        let words = format!("spinning {round}");
        let spin = format!("void setTimeout(() => {{ console.log('{words}'); for (;;); }})");
        harness.page_value(&tab, &spin).await;
        let patience = std::time::Duration::from_secs(20);
        let spinning = tab.until(patience, |state| {
            state.console.iter().any(|said| said.text == words)
        });
        assert!(spinning.await.unwrap());
        go(&harness, &tab, "next").await;
        assert_eq!(harness.page_value(&tab, "document.title").await, "Ran");
        let press = "(b => { b.click(); return b.value })(document.querySelector('button'))";
        assert_eq!(harness.page_value(&tab, press).await, "1");
    }
}
