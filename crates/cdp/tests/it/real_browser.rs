//! A real browser, over the pipe and over the websocket.

use std::{path::Path, process::Stdio};

use tabmux_cdp::{
    CdpError, Connection, Events, PipeTransport, Session, WebSocketTransport,
    types::{
        browser::{Close, GetVersion},
        page::{self, LoadEventFired, Navigate},
        runtime::Evaluate,
        target::{AttachToTarget, CloseTarget, CreateTarget, DetachedFromTarget},
    },
};
use tabmux_testkit::{Chromium, patiently, real_browser};
use tokio::process::{Child, Command};

use crate::fake_browser::next_child;

#[tokio::test]
async fn a_real_browser_over_the_pipe() {
    let Some(executable) = real_browser() else {
        return;
    };
    let profile = tempfile::tempdir().unwrap();
    let mut chromium = launch_with_pipe(&executable, profile.path());
    let read = chromium.stdout.take().unwrap();
    let write = chromium.stdin.take().unwrap();
    let (session, mut events) = Connection::start(PipeTransport::new(read, write));
    drive(&session, &mut events).await;

    session.send(Close {}).await.unwrap();
    patiently(session.connection().closed(), || {
        "the pipe to end".to_owned()
    })
    .await;
    patiently(chromium.wait(), || "the browser to exit".to_owned())
        .await
        .unwrap();
}

#[tokio::test]
async fn a_real_browser_over_the_websocket() {
    let Some(executable) = real_browser() else {
        return;
    };
    let mut chromium = Chromium::start(&executable);
    let transport = WebSocketTransport::connect(chromium.websocket_url(), &[])
        .await
        .unwrap();
    let (session, mut events) = Connection::start(transport);
    drive(&session, &mut events).await;

    chromium.kill();
    patiently(session.connection().closed(), || {
        "the websocket to end".to_owned()
    })
    .await;
    let error = session.send(GetVersion::default()).await.unwrap_err();
    assert!(matches!(error, CdpError::Disconnected { .. }));
}

/// Opens a tab, navigates it, reads strings of every kind from it, and closes it.
async fn drive(session: &Session, events: &mut Events) {
    let version = session.send(GetVersion::default()).await.unwrap();
    assert!(version.product.contains("Chrom"), "{version:?}");

    let create = CreateTarget {
        url: "about:blank".to_owned(),
        ..Default::default()
    };
    let target_id = session.send(create).await.unwrap().target_id;
    let attach = AttachToTarget {
        target_id: target_id.clone(),
        flatten: Some(true),
    };
    let attached = session.send(attach).await.unwrap();
    let (tab, mut tab_events) = next_child(events).await;
    assert_eq!(tab.id(), Some(&attached.session_id));

    tab.send(page::Enable::default()).await.unwrap();
    let url = "data:text/html,<title>Hello</title>".to_owned();
    let navigated = tab
        .send(Navigate {
            url,
            ..Default::default()
        })
        .await
        .unwrap();
    assert_eq!(navigated.error_text, None);
    let loaded = async {
        while let Some(event) = tab_events.next().await {
            if event.decode::<LoadEventFired>().is_some() {
                return true;
            }
        }
        false
    };
    assert!(patiently(loaded, || "the page to load".to_owned()).await);

    assert_eq!(evaluate(&tab, "document.title").await, "Hello");
    assert_eq!(evaluate(&tab, r"'\u{1F600}'").await, "😀");
    assert_eq!(evaluate(&tab, r"'half \ud83d'").await, "half \u{FFFD}");
    assert_eq!(
        evaluate(&tab, "'x'.repeat(5_000_000)").await.len(),
        5_000_000
    );

    let refused = tab
        .send_raw("Page.noSuchCommand", &serde_json::json!({}), LIMIT)
        .await;
    assert!(
        matches!(refused, Err(CdpError::Rejected { code: -32601, .. })),
        "{refused:?}"
    );

    session.send(CloseTarget { target_id }).await.unwrap();
    let ended = async { while tab_events.next().await.is_some() {} };
    patiently(ended, || "the tab's events to end".to_owned()).await;
    let detached = patiently(events.next(), || "the detachment".to_owned())
        .await
        .unwrap();
    assert!(detached.decode::<DetachedFromTarget>().is_some());
    let error = tab.send(Evaluate::default()).await.unwrap_err();
    assert!(matches!(error, CdpError::Detached { .. }));
}

async fn evaluate(tab: &Session, expression: &str) -> String {
    let command = Evaluate {
        expression: expression.to_owned(),
        return_by_value: Some(true),
        ..Default::default()
    };
    let answer = tab.send(command).await.unwrap();
    answer.result.value.expect("a value").decode().unwrap()
}

/// The browser reads commands from descriptor 3 and writes to 4; a shell puts our pipes there.
fn launch_with_pipe(executable: &Path, profile: &Path) -> Child {
    let mut data_dir = std::ffi::OsString::from("--user-data-dir=");
    data_dir.push(profile);
    Command::new("sh")
        .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>&2"#])
        .arg(executable)
        .args([
            "--headless",
            "--remote-debugging-pipe",
            "--no-sandbox",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
        ])
        .args(["--disable-sync", "--disable-quic"])
        .arg(data_dir)
        .arg("about:blank")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

const LIMIT: std::time::Duration = std::time::Duration::from_secs(30);
