//! Tabs that come and go while nobody waits for them any more.

use super::{BrowserEvent, Origin};
use crate::address::AddressPolicy;
use crate::fake::{self, Asked, Stand};
use serde_json::json;
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn a_tab_that_is_made_for_a_cancelled_call_is_announced_and_later_ones_are() {
    let mut stand = Stand::new(|asked: &Asked| match asked.method.as_str() {
        "Target.createTarget" => vec![],
        _ => fake::usual(asked),
    })
    .await;
    let browser = stand.browser.clone();
    let address = AddressPolicy::default().parse("http://here.test/").unwrap();
    let opening = tokio::spawn(async move {
        let limit = Duration::from_secs(10);
        browser.open(&address, None, 42, false, limit).await
    });
    let asked = stand.fake.hears("Target.createTarget").await.unwrap();
    opening.abort();
    assert!(opening.await.is_err());
    let created = |target| {
        let info = json!({"targetInfo": fake::target_info(target)});
        fake::browser_event("Target.targetCreated", info)
    };
    stand.fake.say(created("MADE")).await;
    stand
        .fake
        .say(asked.answer(json!({"targetId": "MADE"})))
        .await;
    assert_eq!(
        appears(&mut stand).await,
        Some(("MADE".into(), Origin::Call(42)))
    );
    stand.fake.say(created("OTHER")).await;
    assert_eq!(
        appears(&mut stand).await,
        Some(("OTHER".into(), Origin::Browser))
    );
}

async fn appears(stand: &mut Stand) -> Option<(String, Origin)> {
    let event = tokio::time::timeout(Duration::from_secs(60), stand.events.recv()).await;
    match event.ok()?? {
        (_, BrowserEvent::TabAppeared { tab, origin }) => Some((tab.target.to_string(), origin)),
        _ => None,
    }
}
