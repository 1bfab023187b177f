//! For which connections the extension keeps a tab attached, whatever happens while it attaches one.

use super::{Deliveries, Tunnels};
use serde_json::json;
use serde_json::value::to_raw_value;
use tabmux_browser::Frame;
use tabmux_protocol::extension::{
    BrowserInfo, CdpAnswer, CdpCommand, CdpEvent, FromExtension, TabInfo, ToExtension,
};
use tokio::sync::mpsc;

#[test]
fn a_tab_that_is_being_attached_for_a_connection_that_ends_is_detached() {
    let mut tunnels = with_tab();
    let only = open(&mut tunnels);
    let request = attach(&mut tunnels, only).unwrap();
    assert_eq!(detached(&tunnels.close(only)), [TAB]);
    // By then no connection waits for it.
    assert_eq!(detached(&tunnels.handle(done(request))), [0; 0]);
}

#[test]
fn a_tab_that_another_connection_has_or_asked_for_first_is_not_detached() {
    let mut tunnels = with_tab();
    let (first, second) = (open(&mut tunnels), open(&mut tunnels));
    let request = attach(&mut tunnels, first).unwrap();
    attach(&mut tunnels, second).unwrap();
    assert_eq!(detached(&tunnels.close(second)), [0; 0]);
    assert_eq!(detached(&tunnels.handle(done(request))), [0; 0]);
    let third = open(&mut tunnels);
    assert_eq!(attach(&mut tunnels, third), None, "it is held");
    assert_eq!(detached(&tunnels.close(third)), [0; 0]);
    assert_eq!(detached(&tunnels.close(first)), [TAB]);
}

#[test]
fn a_tab_that_chrome_refuses_to_a_connection_is_detached_with_the_one_that_asked_before() {
    let mut tunnels = with_tab();
    let (first, second) = (open(&mut tunnels), open(&mut tunnels));
    attach(&mut tunnels, first).unwrap();
    attach(&mut tunnels, second).unwrap();
    assert_eq!(detached(&tunnels.close(first)), [TAB]);
}

#[test]
fn a_tab_that_becomes_private_while_it_is_attached_is_detached() {
    let mut tunnels = Tunnels::default();
    let only = open(&mut tunnels);
    tunnels.set_private(true);
    tunnels.handle(connected(true));
    let request = attach(&mut tunnels, only).unwrap();
    tunnels.set_private(false);
    assert_eq!(detached(&tunnels.handle(done(request))), [TAB]);
}

#[tokio::test]
async fn an_oversized_frame_fails_its_command_or_becomes_a_bare_event() {
    let mut tunnels = with_tab();
    let (feed, mut fed) = mpsc::channel(100);
    let tunnel = tunnels.open(feed);
    let request = attach(&mut tunnels, tunnel).unwrap();
    let session = format!("tab-{TAB}-{request}");
    let mut deliveries = tunnels.handle(done(request));
    let command = json!({"id": 2, "method": "Page.captureScreenshot", "sessionId": session});
    let asked = tunnels.command(tunnel, &command.to_string()).to_extension;
    let Some(ToExtension::Cdp(CdpCommand { request_id, .. })) = asked.first() else {
        panic!("{asked:?}");
    };
    let answer = FromExtension::Cdp(CdpAnswer {
        request_id: *request_id,
        result: None,
        error: None,
        too_large: Some(99),
    });
    let event = FromExtension::CdpEvent(CdpEvent {
        tab_id: TAB,
        session_id: None,
        method: "Runtime.consoleAPICalled".into(),
        params: to_raw_value(&json!({"type": "log"})).unwrap().into(),
        too_large: Some(98),
    });
    for message in [answer, event] {
        deliveries
            .to_tunnels
            .extend(tunnels.handle(message).to_tunnels);
    }
    for (feed, frame) in deliveries.to_tunnels {
        feed.send(frame).await.unwrap();
    }
    let mut cut = Vec::new();
    while let Ok(frame) = fed.try_recv() {
        if let Frame::Oversize(frame) = frame {
            cut.push((String::from_utf8(frame.head).unwrap(), frame.length));
        }
    }
    let event = format!(
        r#"{{"sessionId":"{session}","method":"Runtime.consoleAPICalled","params":{{"type":"log"}}"#
    );
    assert_eq!(cut, [(r#"{"id":2,"result":"#.to_owned(), 99), (event, 98)]);
}

#[test]
fn commands_answers_and_events_pass_as_they_are_written() {
    let mut tunnels = with_tab();
    let tunnel = open(&mut tunnels);
    let request = attach(&mut tunnels, tunnel).unwrap();
    let session = format!("tab-{TAB}-{request}");
    tunnels.handle(done(request));
    // Half an emoji, spaces, an exponent, and more levels than a parser accepts.
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let raw = format!(r#"{{"cut": "\ud83d", "n": 1.0e2, "deep":{deep}}}"#);
    let command = format!(r#"{{"id":2,"method":"A.b","params":{raw},"sessionId":"{session}"}}"#);
    let asked = tunnels.command(tunnel, &command).to_extension;
    let [ToExtension::Cdp(asked)] = &asked[..] else {
        panic!("{asked:?}");
    };
    assert_eq!(asked.params.as_str(), raw);
    let request = asked.request_id;
    let answer = format!(r#"{{"type":"cdp","requestId":{request},"result":{raw}}}"#);
    let event = format!(r#"{{"type":"cdpEvent","tabId":{TAB},"method":"A.c","params":{raw}}}"#);
    let frames = [answer, event].map(|frame| {
        let message = FromExtension::parse(&frame).unwrap();
        whole(&tunnels.handle(message))
    });
    assert_eq!(
        frames,
        [
            format!(r#"{{"id":2,"result":{raw},"sessionId":"{session}"}}"#),
            format!(r#"{{"method":"A.c","params":{raw},"sessionId":"{session}"}}"#),
        ]
    );
}

/// The only frame, as text.
fn whole(deliveries: &Deliveries) -> String {
    match &deliveries.to_tunnels[..] {
        [(_, Frame::Whole(frame))] => String::from_utf8(frame.to_vec()).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn with_tab() -> Tunnels {
    let mut tunnels = Tunnels::default();
    tunnels.handle(connected(false));
    tunnels
}

fn open(tunnels: &mut Tunnels) -> u32 {
    tunnels.open(mpsc::channel(100).0)
}

/// Asks for the tab. Returns the request id, if the extension has to act.
fn attach(tunnels: &mut Tunnels, tunnel: u32) -> Option<u32> {
    let command = json!({
        "id": 1, "method": "Target.attachToTarget", "params": {"targetId": TAB.to_string(), "flatten": true}
    });
    let deliveries = tunnels.command(tunnel, &command.to_string());
    deliveries
        .to_extension
        .into_iter()
        .find_map(|message| match message {
            ToExtension::Attach { request_id, .. } => Some(request_id),
            _ => None,
        })
}

fn detached(deliveries: &Deliveries) -> Vec<u32> {
    let said = deliveries.to_extension.iter();
    said.filter_map(|message| match message {
        ToExtension::Detach { tab_id } => Some(*tab_id),
        _ => None,
    })
    .collect()
}

fn connected(private: bool) -> FromExtension {
    let tab = TabInfo {
        id: TAB,
        url: "http://here.test/".into(),
        private,
        ..TabInfo::default()
    };
    FromExtension::Connected {
        browser: BrowserInfo::default(),
        tabs: vec![tab],
    }
}

fn done(request_id: u32) -> FromExtension {
    FromExtension::Done {
        request_id,
        tab_id: None,
        error: None,
    }
}

const TAB: u32 = 7;
