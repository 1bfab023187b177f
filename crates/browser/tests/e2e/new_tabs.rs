//! New tabs that a page opens without being their opener: they may go where the page may, from their first request.

use crate::lab::{Capability, Lab};
use serde_json::json;
use std::time::Duration;
use tabmux_browser::bounds::within;
use tabmux_browser::tab::Load;
use tabmux_browser::{OriginPolicy, OriginRules, RuledBy, Tab};
use tabmux_cdp::types::input::{DispatchMouseEvent, DispatchMouseEventType, MouseButton};
use tabmux_testkit::Response;

/// Only the server's own address may be seen; under its other name it is another site.
fn policy() -> OriginPolicy {
    OriginPolicy::of([OriginRules {
        by: RuledBy::Flags,
        allowed: vec!["http://127.0.0.1:*".parse().unwrap()],
        blocked: Vec::new(),
    }])
}

#[derive(Clone, Copy, Debug)]
enum Way {
    /// A press of the mouse on the link, with these modifiers.
    Left(i64),
    /// A press of its middle button.
    Middle,
    /// A script of the page's own.
    Script(&'static str),
}

const WAYS: [Way; 9] = [
    Way::Left(CONTROL),
    Way::Left(SHIFT),
    Way::Middle,
    Way::Script("link.dispatchEvent(new MouseEvent('click', { ctrlKey: true, bubbles: true }))"),
    Way::Script("link.dispatchEvent(new MouseEvent('click', { shiftKey: true, bubbles: true }))"),
    Way::Script("link.rel = 'noopener'; link.target = '_blank'; link.click()"),
    Way::Script("window.open(link.href, '_blank', 'noopener')"),
    Way::Script("window.open(link.href)"),
    Way::Script(
        "const form = document.createElement('form'); form.action = link.href; form.target = '_blank'; \
         form.rel = 'noopener'; document.body.append(form); form.submit()",
    ),
];

/// Opens a new tab that way, and answers when it is known what became of it.
async fn take(lab: &mut Lab, tab: &Tab, way: Way) -> Tab {
    let (button, modifiers) = match way {
        Way::Left(modifiers) => (MouseButton::LEFT, modifiers),
        _ => (MouseButton::MIDDLE, 0),
    };
    match way {
        Way::Script(script) => drop(
            lab.page_value(tab, &format!("void (() => {{ {script} }})()"))
                .await,
        ),
        Way::Left(_) | Way::Middle => {
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
    let (new, _) = lab.appeared().await;
    let new = lab.browser.tab(&new).await.unwrap();
    let over = new.until(Duration::from_secs(20), |state| {
        let begun = state.navigations_begun > 0 || state.load == Load::Complete;
        state.ready && !state.navigating && begun
    });
    assert!(over.await.unwrap(), "{way:?}");
    new
}

/// A page with a link there, under the policy.
async fn page_with_link(lab: &mut Lab, to: &str) -> Tab {
    let html = format!(
        "<body style='margin:0'><a id=link href='{to}' style='position:absolute;inset:0'>link</a>"
    );
    lab.server.route("/page", Response::html(html));
    let tab = within(policy(), lab.open("page")).await;
    lab.appeared().await;
    tab
}

#[tokio::test]
async fn no_new_tab_sends_a_request_to_a_blocked_site() {
    let Some(mut lab) = Lab::start().await else {
        return;
    };
    let secret = lab.server.cross_site_url("secret");
    lab.server
        .route("/secret", Response::html("the code is 1234"));
    lab.server.route("/away", Response::redirect(&secret));
    for to in [secret, lab.server.url("away")] {
        for way in WAYS {
            let tab = page_with_link(&mut lab, &to).await;
            let new = take(&mut lab, &tab, way).await;
            if lab.can(Capability::PopupsFromTheirFirstByte) {
                assert_eq!(lab.server.count("/secret"), 0, "{way:?} {to}");
            }
            let text = within(policy(), lab.run(&new, "take_snapshot", json!({}))).await;
            assert!(!format!("{text:?}").contains("1234"), "{way:?} {text:?}");
        }
    }
}

#[tokio::test]
async fn new_tabs_go_where_they_may() {
    let Some(mut lab) = Lab::start().await else {
        return;
    };
    lab.server
        .route("/open", Response::html("<p>open to all</p>"));
    for way in WAYS {
        let to = lab.server.url("open");
        let tab = page_with_link(&mut lab, &to).await;
        let new = take(&mut lab, &tab, way).await;
        let text = lab.text(&new, "take_snapshot", json!({})).await;
        assert!(text.contains("open to all"), "{way:?} {text}");
    }
}

#[tokio::test]
async fn a_tab_of_somebody_without_a_policy_opens_what_it_likes() {
    let Some(mut lab) = Lab::start().await else {
        return;
    };
    lab.server
        .route("/secret", Response::html("<p>the code is 1234</p>"));
    // To an extension Chrome names the tab in front as the opener, and the new tab is bound as that one is.
    if !lab.can(Capability::PopupsFromTheirFirstByte) {
        return;
    }
    let secret = lab.server.cross_site_url("secret");
    // Somebody else in the same browser may not see it.
    page_with_link(&mut lab, &secret).await;
    let free = lab.open("page").await;
    lab.appeared().await;
    let new = take(&mut lab, &free, Way::Left(CONTROL)).await;
    let text = lab.text(&new, "take_snapshot", json!({})).await;
    assert!(text.contains("1234"), "{text}");
}

const CONTROL: i64 = 2;
const SHIFT: i64 = 8;
