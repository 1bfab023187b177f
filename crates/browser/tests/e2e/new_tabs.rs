//! New tabs that have no opener: the page's policy applies to them from their first request.

use crate::harness::{BrowserHarness, Capability};
use serde_json::json;
use std::time::Duration;
use tabmux_browser::bounds::within;
use tabmux_browser::tab::Load;
use tabmux_browser::{OriginPolicy, OriginRules, RuledBy, Tab};
use tabmux_cdp::types::input::{DispatchMouseEvent, DispatchMouseEventType, MouseButton};
use tabmux_testkit::Response;

/// Only the server's own address is allowed; under its other name it is another site.
fn policy() -> OriginPolicy {
    OriginPolicy::of([OriginRules {
        by: RuledBy::Flags,
        allowed: vec!["http://127.0.0.1:*".parse().unwrap()],
        blocked: Vec::new(),
    }])
}

#[derive(Clone, Copy, Debug)]
enum OpenBy {
    /// A mouse click on the link, with these modifiers.
    Left(i64),
    /// A click with the middle button.
    Middle,
    /// A script of the page.
    Script(&'static str),
}

const WAYS: [OpenBy; 9] = [
    OpenBy::Left(CONTROL),
    OpenBy::Left(SHIFT),
    OpenBy::Middle,
    OpenBy::Script("link.dispatchEvent(new MouseEvent('click', { ctrlKey: true, bubbles: true }))"),
    OpenBy::Script(
        "link.dispatchEvent(new MouseEvent('click', { shiftKey: true, bubbles: true }))",
    ),
    OpenBy::Script("link.rel = 'noopener'; link.target = '_blank'; link.click()"),
    OpenBy::Script("window.open(link.href, '_blank', 'noopener')"),
    OpenBy::Script("window.open(link.href)"),
    OpenBy::Script(
        "const form = document.createElement('form'); form.action = link.href; form.target = '_blank'; \
         form.rel = 'noopener'; document.body.append(form); form.submit()",
    ),
];

/// Opens a new tab this way, and returns once its outcome is known.
async fn take(harness: &mut BrowserHarness, tab: &Tab, way: OpenBy) -> Tab {
    let (button, modifiers) = match way {
        OpenBy::Left(modifiers) => (MouseButton::LEFT, modifiers),
        _ => (MouseButton::MIDDLE, 0),
    };
    match way {
        OpenBy::Script(script) => drop(
            harness
                .page_value(tab, &format!("void (() => {{ {script} }})()"))
                .await,
        ),
        OpenBy::Left(_) | OpenBy::Middle => {
            for r#type in [
                DispatchMouseEventType::MOUSE_PRESSED,
                DispatchMouseEventType::MOUSE_RELEASED,
            ] {
                let press = DispatchMouseEvent {
                    r#type,
                    x: 30.0,
                    y: 30.0,
                    modifiers: Some(modifiers),
                    button: Some(button.clone()),
                    click_count: Some(1),
                    ..Default::default()
                };
                tab.session().send(press).await.unwrap();
            }
        }
    }
    let (new, _) = harness.appeared().await;
    let new = harness.browser.tab(&new).await.unwrap();
    let over = new.until(Duration::from_secs(20), |state| {
        let begun = state.navigations_begun > 0 || state.load == Load::Complete;
        state.ready && !state.navigating && begun
    });
    assert!(over.await.unwrap(), "{way:?}");
    new
}

/// A page with a link to `to`, under the policy.
async fn page_with_link(harness: &mut BrowserHarness, to: &str) -> Tab {
    let html = format!(
        "<body style='margin:0'><a id=link href='{to}' style='position:absolute;inset:0'>link</a>"
    );
    harness.server.route("/page", Response::html(html));
    let tab = within(policy(), harness.open("page")).await;
    harness.appeared().await;
    tab
}

#[tokio::test]
async fn no_new_tab_sends_a_request_to_a_blocked_site() {
    let Some(mut harness) = BrowserHarness::start().await else {
        return;
    };
    let secret = harness.server.cross_site_url("secret");
    harness
        .server
        .route("/secret", Response::html("the code is 1234"));
    harness.server.route("/away", Response::redirect(&secret));
    for to in [secret, harness.server.url("away")] {
        for way in WAYS {
            let tab = page_with_link(&mut harness, &to).await;
            let new = take(&mut harness, &tab, way).await;
            if harness.can(Capability::PopupsFromTheirFirstByte) {
                assert_eq!(harness.server.count("/secret"), 0, "{way:?} {to}");
            }
            let text = within(policy(), harness.run(&new, "take_snapshot", json!({}))).await;
            assert!(!format!("{text:?}").contains("1234"), "{way:?} {text:?}");
        }
    }
}

#[tokio::test]
async fn new_tabs_go_where_they_may() {
    let Some(mut harness) = BrowserHarness::start().await else {
        return;
    };
    harness
        .server
        .route("/open", Response::html("<p>open to all</p>"));
    for way in WAYS {
        let to = harness.server.url("open");
        let tab = page_with_link(&mut harness, &to).await;
        let new = take(&mut harness, &tab, way).await;
        let text = harness.text(&new, "take_snapshot", json!({})).await;
        assert!(text.contains("open to all"), "{way:?} {text}");
    }
}

#[tokio::test]
async fn a_session_without_a_policy_opens_any_site() {
    let Some(mut harness) = BrowserHarness::start().await else {
        return;
    };
    harness
        .server
        .route("/secret", Response::html("<p>the code is 1234</p>"));
    // To an extension, Chrome reports the foreground tab as the opener, and the new tab gets that tab's policy.
    if !harness.can(Capability::PopupsFromTheirFirstByte) {
        return;
    }
    let secret = harness.server.cross_site_url("secret");
    // Another session in the same browser may not see it.
    page_with_link(&mut harness, &secret).await;
    let free = harness.open("page").await;
    harness.appeared().await;
    let new = take(&mut harness, &free, OpenBy::Left(CONTROL)).await;
    let text = harness.text(&new, "take_snapshot", json!({})).await;
    assert!(text.contains("1234"), "{text}");
}

const CONTROL: i64 = 2;
const SHIFT: i64 = 8;
