//! Tabs that appear and disappear after their caller has stopped waiting.

use super::{Browser, BrowserEvent, TabOpener};
use crate::address::AddressPolicy;
use crate::fake::{self, Asked, Fake, FakeBrowser, SESSION, TAB};
use crate::origins::{OriginPolicy, OriginRules, RuledBy};
use crate::tab::{TabSettings, TargetId};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::mpsc;

#[tokio::test(start_paused = true)]
async fn a_tab_for_a_cancelled_call_is_reported_and_so_are_later_ones() {
    let mut harness = FakeBrowser::new(|asked: &Asked| match asked.method.as_str() {
        "Target.createTarget" => vec![],
        _ => fake::usual(asked),
    })
    .await;
    let browser = harness.browser.clone();
    let address = AddressPolicy::default().parse("http://here.test/").unwrap();
    let opening = tokio::spawn(async move {
        let limit = Duration::from_secs(10);
        browser.open(&address, None, 42, false, limit, None).await
    });
    let asked = harness.fake.hears("Target.createTarget").await.unwrap();
    opening.abort();
    assert!(opening.await.is_err());
    let created = |target| {
        let info = json!({"targetInfo": fake::target_info(target)});
        fake::browser_event("Target.targetCreated", info)
    };
    harness.fake.say(created("MADE")).await;
    harness
        .fake
        .say(asked.answer(json!({"targetId": "MADE"})))
        .await;
    assert_eq!(
        appears(&mut harness).await,
        Some(("MADE".into(), TabOpener::Call(42)))
    );
    harness.fake.say(created("OTHER")).await;
    assert_eq!(
        appears(&mut harness).await,
        Some(("OTHER".into(), TabOpener::Browser))
    );
}

#[tokio::test(start_paused = true)]
async fn a_tab_that_becomes_private_while_attaching_is_detached() {
    let (transport, mut fake) = Fake::new(|asked: &Asked| match asked.method.as_str() {
        "Target.getTargets" => vec![asked.answer(json!({"targetInfos": [private()]}))],
        "Target.getBrowserContexts" => {
            vec![asked.answer(json!({"defaultBrowserContextId": "DEFAULT"}))]
        }
        "Target.attachToTarget" => vec![],
        _ => fake::usual(asked),
    });
    let connected = Browser::connect_over(transport, TabSettings::default()).await;
    let connected = connected.unwrap().guarded().await.with_private(true);
    let (report, mut events) = mpsc::channel::<(u32, BrowserEvent)>(100);
    let browser = connected.follow(0, report);
    let attaching = browser.clone();
    tokio::spawn(async move { attaching.tab(&TargetId::from(TAB)).await });
    let asked = fake.hears("Target.attachToTarget").await.unwrap();
    assert_eq!(browser.set_private(false), [TargetId::from(TAB)]);
    assert!(matches!(
        events.recv().await,
        Some((_, BrowserEvent::TabGone { .. }))
    ));
    let attached =
        json!({"sessionId": SESSION, "targetInfo": private(), "waitingForDebugger": false});
    fake.say(fake::browser_event("Target.attachedToTarget", attached))
        .await;
    fake.say(asked.answer(json!({"sessionId": SESSION}))).await;
    let detached = fake.hears("Target.detachFromTarget").await;
    assert_eq!(detached.unwrap().params["sessionId"], SESSION);
}

#[tokio::test(start_paused = true)]
async fn an_oversize_request_follows_the_rules_of_all_tabs() {
    let mut harness = FakeBrowser::new(fake::usual).await;
    let tab = harness.tab().await.unwrap();
    let policy = OriginPolicy::of([OriginRules {
        by: RuledBy::Flags,
        allowed: Vec::new(),
        blocked: vec!["http://blocked.test".parse().unwrap()],
    }]);
    tab.guard().add(&policy, true);
    for (url, answer) in [
        (
            r#","request":{"url":"http://free.test/""#,
            "Fetch.continueRequest",
        ),
        (
            r#","request":{"url":"http://blocked.test/""#,
            "Fetch.failRequest",
        ),
        ("", "Fetch.failRequest"),
    ] {
        let cut = format!(r#"{{"requestId":"R"{url},"method":"POST","postData":"xx"#);
        harness
            .fake
            .say_browser_cut("Fetch.requestPaused", &cut)
            .await;
        let heard = harness.fake.hears(answer).await;
        assert_eq!(heard.expect(url).params["requestId"], "R");
    }
}

#[tokio::test(start_paused = true)]
async fn each_request_for_a_new_tab_names_one_tab() {
    let mut harness = FakeBrowser::new(fake::usual).await;
    let tab = harness.tab().await.unwrap();
    let url = "http://here.test/new";
    let request = json!({
        "frameId": fake::FRAME, "reason": "anchorClick", "url": url, "disposition": "newTab"
    });
    let mut appeared = 0;
    for (target, requested) in [("FIRST", true), ("USERS", false), ("SECOND", true)] {
        if requested {
            let request = fake::event("Page.frameRequestedNavigation", request.clone());
            harness.fake.say(request).await;
            appeared += 1;
            let noted = tab.until(Duration::from_secs(60), |state| {
                state.new_tabs_requested == appeared
            });
            assert!(noted.await.unwrap());
        }
        let mut info = fake::target_info(target);
        info["url"] = url.into();
        let created = json!({"targetInfo": info});
        let created = fake::browser_event("Target.targetCreated", created);
        harness.fake.say(created).await;
        if requested {
            let named = tab.until(Duration::from_secs(60), |state| {
                state.popups.last() == Some(&TargetId::from(target))
            });
            assert!(named.await.unwrap(), "{target}");
        } else {
            while appears(&mut harness)
                .await
                .is_some_and(|(id, _)| id != target)
            {}
            tab.catch_up().await;
        }
    }
    let named = tab.state().popups.clone();
    assert_eq!(named, ["FIRST", "SECOND"].map(TargetId::from));
}

fn private() -> Value {
    let mut info = fake::target_info(TAB);
    info["browserContextId"] = "PRIVATE".into();
    info
}

async fn appears(harness: &mut FakeBrowser) -> Option<(String, TabOpener)> {
    let event = tokio::time::timeout(Duration::from_secs(60), harness.events.recv()).await;
    match event.ok()?? {
        (_, BrowserEvent::TabAppeared { tab, origin }) => Some((tab.target.to_string(), origin)),
        _ => None,
    }
}
