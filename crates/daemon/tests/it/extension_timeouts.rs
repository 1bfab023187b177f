//! Timeouts for extensions, and what a new secret does.

use crate::fake_extension::{Daemon, Extension, pass};
use serde_json::json;
use tabmux_daemon::extension::Secret;
use tabmux_testkit::patiently;
use tokio::time::Duration;

/// Spec: security 5.
#[tokio::test]
async fn an_extension_without_a_proof_is_closed_after_10_seconds() {
    let daemon = Daemon::start().await;
    let mut silent = daemon.unproved().await;
    let mut half = daemon.unproved().await;
    answers(&mut silent).await;
    half.hello(&"a1".repeat(32), "0123456789").await;
    pass(Duration::from_secs(9)).await;
    answers(&mut silent).await;
    pass(Duration::from_secs(2)).await;
    for late in [&mut silent, &mut half] {
        let refused = late.hear().await.unwrap();
        assert_eq!(
            refused["reason"],
            "The extension did not send its proof in time."
        );
        assert_eq!(late.hear().await, Some(json!({"closed": 4001})));
    }
}

/// Spec: dynamic-tools 63, 96.
#[tokio::test]
async fn a_silent_extension_is_closed_after_60_seconds() {
    let daemon = Daemon::start().await;
    let mut extension = daemon.extension("0123456789").await;
    for _ in 0..3 {
        pass(Duration::from_secs(59)).await;
        answers(&mut extension).await;
    }
    // The daemon's own pings continue, but do not count.
    pass(Duration::from_secs(61)).await;
    assert_eq!(extension.hear().await, None);
}

/// Spec: security 5.
#[tokio::test]
async fn a_new_secret_ends_the_connections_of_the_old_one() {
    let daemon = Daemon::start().await;
    let mut old = daemon.extension("0123456789").await;
    let new = Secret::rotate(&daemon.secret).unwrap();
    let refused = old.hear().await.unwrap();
    assert_eq!(
        refused["reason"],
        "The pairing secret has changed. Reload the extension."
    );
    assert_eq!(old.hear().await, Some(json!({"closed": 4001})));
    let again = async {
        loop {
            let mut fresh = daemon.unproved().await;
            let answer = fresh.greet(&new, "0123456789").await;
            if answer["type"] == "welcome" {
                return fresh;
            }
        }
    };
    let mut fresh = patiently(again, || "a free slot".to_owned()).await;
    assert_eq!(fresh.hear().await, Some(json!({"type": "connect"})));
    // A removed secret is not valid, either.
    std::fs::remove_file(&daemon.secret).unwrap();
    assert_eq!(fresh.hear().await.unwrap()["type"], "refused");
}

/// It is still connected.
async fn answers(extension: &mut Extension) {
    extension.say(json!({"type": "ping"})).await;
    assert_eq!(extension.hear().await, Some(json!({"type": "pong"})));
}
