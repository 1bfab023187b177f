//! Access control for the extension's connection.

use crate::fake_extension::{Daemon, prove};
use serde_json::{Value, json};
use tabmux_daemon::extension::Secret;
use tabmux_daemon::{Client, SessionOptions};
use tabmux_protocol::extension::{EXTENSION_ID, Role};
use tabmux_protocol::overview::ExtensionRow;
use tabmux_protocol::{Backend, CallRequest, Content, RequestId};
use tabmux_testkit::patiently;

/// Spec: security 2, 3, 4.
#[tokio::test]
async fn only_our_extension_at_our_address_may_open_the_websocket() {
    let daemon = Daemon::start().await;
    let host = daemon.host();
    let ours = format!("chrome-extension://{EXTENSION_ID}");
    let other = format!("chrome-extension://{}", "a".repeat(32));
    let longer = format!("{ours}.evil.example");
    let upper = ours.to_uppercase();
    let firefox = format!("moz-extension://{EXTENSION_ID}");
    let refused: [(&str, Option<&str>); 12] = [
        (&host, Some("https://evil.example")),
        (&host, Some("http://localhost:5173")),
        (&host, Some("http://127.0.0.1:8765")),
        (&host, Some("null")),
        (&host, Some("file://")),
        (&host, None),
        (&host, Some(&other)),
        (&host, Some(&longer)),
        (&host, Some(&upper)),
        (&host, Some(&firefox)),
        ("evil.example:8765", Some(&ours)),
        ("127.0.0.1:1", Some(&ours)),
    ];
    for (host, origin) in refused {
        let refused = daemon.dial(host, origin).await.err();
        assert_eq!(refused, Some(403), "{host} {origin:?}");
    }
    assert!(daemon.dial(&host, Some(&ours)).await.is_ok());
}

/// Spec: dynamic-tools 64; security 5, 7.
#[tokio::test]
async fn before_the_proof_only_ping_is_answered() {
    let daemon = Daemon::start().await;
    let nothing_else = [
        json!({"type": "connected", "browser": {"name": "Evil", "version": "1"}, "tabs": []}),
        json!({"type": "proof", "proof": "00"}),
        json!({"type": "tabCreated", "tab": {"id": 1}}),
        json!({"type": "hello"}),
        json!({"type": "dance"}),
        json!({"type": "hello", "version": 1, "nonce": "short", "instance": "0123456789"}),
        json!({"type": "hello", "version": 1, "nonce": "a1".repeat(32), "instance": "../../etc"}),
        json!({"type": "hello", "version": 99, "nonce": "a1".repeat(32), "instance": "0123456789"}),
        json!({"type": "ping", "padding": "x".repeat(100_000)}),
        json!([]),
    ];
    for message in nothing_else {
        let mut outsider = daemon.unproved().await;
        outsider.say(json!({"type": "ping"})).await;
        assert_eq!(outsider.hear().await, Some(json!({"type": "pong"})));
        outsider.say(message.clone()).await;
        let answer = outsider.hear().await.unwrap();
        assert_eq!(answer["type"], "refused", "{message}: {answer}");
        assert!(
            answer["reason"].as_str().unwrap().ends_with('.'),
            "{answer}"
        );
        assert_eq!(outsider.hear().await, Some(json!({"closed": 4001})));
    }
    let mut flood = daemon.unproved().await;
    for _ in 0..30 {
        flood.say(json!({"type": "ping"})).await;
    }
    let last = loop {
        match flood.hear().await {
            Some(word) if word == json!({"type": "pong"}) => {}
            other => break other,
        }
    };
    assert_eq!(last.unwrap()["type"], "refused");
    assert!(!is_connected(&daemon).await);
}

/// Spec: security 7.
#[tokio::test]
async fn a_forged_origin_without_the_secret_gets_nothing() {
    let daemon = Daemon::start().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let wrong = Secret::load_or_make(&elsewhere.path().join("s")).unwrap();
    let right = daemon.secret();
    let host = daemon.host();
    let nonce = "b2".repeat(32);
    let forgeries: [(&str, Box<Forge<'_>>); 6] = [
        (
            "another secret",
            Box::new(|ours, _| prove(&wrong, Role::Extension, &nonce, ours, &host)),
        ),
        (
            "the daemon's own proof",
            Box::new(|_, theirs| theirs.to_owned()),
        ),
        (
            "for another port",
            Box::new(|ours, _| prove(&right, Role::Extension, &nonce, ours, "127.0.0.1:1")),
        ),
        (
            "for another nonce",
            Box::new(|ours, _| prove(&right, Role::Extension, ours, ours, &host)),
        ),
        (
            "half of it",
            Box::new(|ours, _| {
                prove(&right, Role::Extension, &nonce, ours, &host)[..32].to_owned()
            }),
        ),
        ("none", Box::new(|_, _| String::new())),
    ];
    for (what, forge) in &forgeries {
        let mut outsider = daemon.unproved().await;
        let challenge = outsider.hello(&nonce, "0123456789").await;
        let text = |key: &str| challenge[key].as_str().unwrap().to_owned();
        let proof = forge(&text("nonce"), &text("proof"));
        outsider.say(json!({"type": "proof", "proof": proof})).await;
        let answer = outsider.hear().await.unwrap();
        assert_eq!(answer["type"], "refused", "{what}");
        assert!(
            answer["reason"]
                .as_str()
                .unwrap()
                .contains("tabmux extension install")
        );
        assert_eq!(
            outsider.hear().await,
            Some(json!({"closed": 4001})),
            "{what}"
        );
    }
    assert!(!is_connected(&daemon).await);
}

/// Spec: security 7.
#[tokio::test]
async fn an_intercepted_proof_is_useless() {
    let daemon = Daemon::start().await;
    let (secret, host, nonce) = (daemon.secret(), daemon.host(), "c3".repeat(32));
    let mut first = daemon.unproved().await;
    let challenge = first.hello(&nonce, "0123456789").await;
    let proof = prove(
        &secret,
        Role::Extension,
        &nonce,
        challenge["nonce"].as_str().unwrap(),
        &host,
    );
    first.say(json!({"type": "proof", "proof": proof})).await;
    assert_eq!(first.hear().await, Some(json!({"type": "welcome"})));
    drop(first);
    let mut thief = daemon.unproved().await;
    let again = thief.hello(&nonce, "0123456789").await;
    assert_ne!(again["nonce"], challenge["nonce"]);
    thief.say(json!({"type": "proof", "proof": proof})).await;
    assert_eq!(thief.hear().await.unwrap()["type"], "refused");
}

/// Spec: security 5.
#[tokio::test]
async fn a_new_secret_takes_effect_at_once() {
    let daemon = Daemon::start().await;
    let old = daemon.secret();
    let new = Secret::rotate(&daemon.secret).unwrap();
    let mut late = daemon.unproved().await;
    late.hello(&"d4".repeat(32), "0123456789").await;
    late.say(json!({"type": "proof", "proof": prove(&old, Role::Extension, "", "", "")}))
        .await;
    assert_eq!(late.hear().await.unwrap()["type"], "refused");
    let mut fresh = daemon.unproved().await;
    assert_eq!(fresh.greet(&new, "0123456789").await["type"], "welcome");
}

/// Spec: security 8.
#[tokio::test]
async fn a_live_extension_is_never_replaced_and_a_second_profile_is_another() {
    let daemon = Daemon::start().await;
    let mut first = daemon.extension("firstprofile").await;
    let mut twin = daemon.unproved().await;
    let answer = twin.greet(&daemon.secret(), "firstprofile").await;
    assert_eq!(
        answer["reason"],
        "This installation of the extension is connected already."
    );
    let mut second = daemon.extension("secondprofile").await;
    for extension in [&mut first, &mut second] {
        extension.say(json!({"type": "ping"})).await;
        assert_eq!(extension.hear().await, Some(json!({"type": "pong"})));
    }
    drop(first);
    // Its slot is free again as soon as the daemon has noticed the disconnection.
    let again = async {
        loop {
            let mut again = daemon.unproved().await;
            let answer = again.greet(&daemon.secret(), "firstprofile").await;
            if answer == json!({"type": "welcome"}) {
                return again;
            }
        }
    };
    patiently(again, || "a free slot".to_owned()).await;
}

/// Spec: multi-client 5, 25, 27, 29, 43, 45; dynamic-tools 62, 95.
#[tokio::test]
async fn status_shows_whether_an_extension_is_connected() {
    let daemon = Daemon::start().await;
    assert!(!is_connected(&daemon).await);
    let mut extension = daemon.extension("0123456789").await;
    assert!(is_connected(&daemon).await);
    extension
        .say(json!({"type": "connected", "browser": {"name": "Chrome", "version": "156.0"}, "tabs": []}))
        .await;
    extension.say_raw("no JSON").await;
    extension.say(json!({"type": "ping"})).await;
    assert_eq!(extension.hear().await, Some(json!({"type": "pong"})));
    assert!(is_connected(&daemon).await);
    drop(extension);
    let gone = async { while is_connected(&daemon).await {} };
    patiently(gone, || "no connection".to_owned()).await;
}

/// Spec: security 9.
#[tokio::test]
async fn a_frame_that_is_too_large_ends_its_connection_only() {
    let daemon = Daemon::start().await;
    let mut bystander = daemon.extension("bystander").await;
    let mut flood = daemon.extension("floodflood").await;
    flood.say_raw(&"x".repeat(100 * 1024 * 1024)).await;
    while flood
        .hear()
        .await
        .is_some_and(|word| word["closed"] == Value::Null)
    {}
    bystander.say(json!({"type": "ping"})).await;
    assert_eq!(bystander.hear().await, Some(json!({"type": "pong"})));
}

/// Builds a proof from the daemon's nonce and the daemon's own proof.
type Forge<'a> = dyn Fn(&str, &str) -> String + 'a;

/// An extension that does not send its version is as welcome.
#[tokio::test]
async fn the_overview_has_the_version_that_each_extension_sends() {
    let daemon = Daemon::start().await;
    let _silent = daemon.named_extension("0123456789", "Home").await;
    let mut telling = daemon.unproved().await;
    telling.version = Some("0.0.9");
    let answer = telling.greet(&daemon.secret(), "9876543210").await;
    assert_eq!(answer, json!({"type": "welcome"}));
    let row = |name: Option<&str>, version: Option<&str>| ExtensionRow {
        name: name.map(str::to_owned),
        version: version.map(str::to_owned),
    };
    let overview = daemon.hub.overview().await.unwrap();
    assert_eq!(
        overview.extensions,
        [row(None, Some("0.0.9")), row(Some("Home"), None)]
    );
}

/// The reply of `browser_get_connection_status`.
async fn is_connected(daemon: &Daemon) -> bool {
    let options = SessionOptions::from_wire(tabmux_protocol::session::SessionOptions::default());
    let session = daemon.hub.open(options.unwrap(), Client::default()).await;
    let status = CallRequest {
        request_id: RequestId("1".into()),
        tool: "browser_get_connection_status".into(),
        arguments: serde_json::value::to_raw_value(&json!({})).unwrap(),
        progress: false,
        asking: Default::default(),
    };
    let reply = session.call(status).await.unwrap();
    let Some(Content::Text { text }) = reply.content.first() else {
        panic!("{reply:?}");
    };
    let status: Value = serde_json::from_str(text).unwrap();
    status["extensionConnected"].as_bool().unwrap()
}
