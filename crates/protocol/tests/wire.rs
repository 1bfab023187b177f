//! The JSON of every message on the daemon's socket, as other programs see it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use serde_json::{Value, json};
use tabmux_protocol::overview::Overview;
use tabmux_protocol::session::{ClientInfo, SessionOptions};
use tabmux_protocol::wire::{
    EventKind, FromClient, FromDaemon, PROTOCOL, Request, Response, Resume, SessionId,
};
use tabmux_protocol::{
    CallFailure, CallReply, Content, Progress, RequestId, ResourceBody, ResourceInfo,
    ResourceQuery, ResourceRequest,
};

fn raw(value: &Value) -> Box<serde_json::value::RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}

fn session() -> SessionId {
    SessionId("sess_0123456789abcdef0123456789abcdef".into())
}

/// The message is encoded as `expected`, and parses back to the same.
#[track_caller]
fn client_says(message: &FromClient, expected: Value) {
    let line = serde_json::to_string(message).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), expected);
    let back = FromClient::parse(&line).unwrap();
    assert_eq!(serde_json::to_string(&back).unwrap(), line);
}

#[track_caller]
fn daemon_says(message: &FromDaemon, expected: Value) {
    let line = serde_json::to_string(message).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), expected);
    let back = FromDaemon::parse(&line).unwrap();
    assert_eq!(serde_json::to_string(&back).unwrap(), line);
}

/// Spec: multi-client 26, 47.
#[test]
fn status_needs_nothing_but_an_id() {
    client_says(
        &FromClient::Status {
            id: "status_1".into(),
        },
        json!({"type": "STATUS", "id": "status_1"}),
    );
}

/// Spec: multi-client 27, 47.
#[test]
fn status_is_answered_with_exactly_these_keys() {
    daemon_says(
        &FromDaemon::StatusOk {
            id: "status_1".into(),
            extension_connected: true,
            active_sessions: 3,
        },
        json!({"type": "STATUS_OK", "id": "status_1", "extensionConnected": true, "activeSessions": 3}),
    );
}

/// Spec: multi-client 16.
#[test]
fn a_call_is_session_request_action_and_params() {
    client_says(
        &FromClient::Request(Request {
            session_id: session(),
            request_id: RequestId("sess_1:1".into()),
            action: "click".into(),
            params: raw(&json!({"uid": "1_2"})),
            progress: false,
            asking: Default::default(),
        }),
        json!({
            "type": "REQUEST",
            "sessionId": "sess_0123456789abcdef0123456789abcdef",
            "requestId": "sess_1:1",
            "action": "click",
            "params": {"uid": "1_2"}
        }),
    );
}

#[test]
fn arguments_and_answers_pass_through_unchanged() {
    let line = r#"{"type":"REQUEST","sessionId":"s","requestId":"r","action":"a","params":{"n": 1.0e2, "b":1}}"#;
    let FromClient::Request(request) = FromClient::parse(line).unwrap() else {
        panic!()
    };
    assert_eq!(request.params.get(), r#"{"n": 1.0e2, "b":1}"#);
    let line =
        r#"{"type":"RESPONSE","requestId":"r","reply":{"content":[],"structured":{"n": 1.0e2}}}"#;
    let FromDaemon::Response(response) = FromDaemon::parse(line).unwrap() else {
        panic!()
    };
    assert_eq!(
        response.reply.unwrap().structured.unwrap().get(),
        r#"{"n": 1.0e2}"#
    );
}

#[test]
fn registering_names_the_protocol_and_may_resume() {
    let resume = Resume {
        session_id: session(),
        secret: "s".into(),
        told: false,
    };
    let register = FromClient::Register {
        id: "1".into(),
        protocol: PROTOCOL,
        version: "0.1.0".into(),
        client: ClientInfo {
            name: "cursor".into(),
            pid: 7,
        },
        options: Box::new(SessionOptions::default()),
        resume: Some(resume),
        name: None,
        screen: [("DISPLAY".to_owned(), ":0".to_owned())].into(),
    };
    let line = serde_json::to_value(&register).unwrap();
    assert_eq!(line["type"], "REGISTER");
    assert_eq!(line["screen"], json!({"DISPLAY": ":0"}));
    assert_eq!(
        line["resume"],
        json!({"sessionId": session().0, "secret": "s"})
    );
    assert_eq!(line["options"]["tools"], "auto");
    // A client that knows fewer options is accepted.
    let short = r#"{"type":"REGISTER","id":"1","protocol":4,"version":"0","client":{"name":"x","pid":1},"options":{}}"#;
    assert!(matches!(
        FromClient::parse(short).unwrap(),
        FromClient::Register { resume: None, .. }
    ));
}

#[test]
fn the_other_messages() {
    let (id, session_id) = ("1".to_owned(), session());
    let request_id = RequestId("r".into());
    client_says(
        &FromClient::Cancel {
            session_id: session_id.clone(),
            request_id: request_id.clone(),
        },
        json!({"type": "CANCEL", "sessionId": session_id.0, "requestId": "r"}),
    );
    client_says(
        &FromClient::Roots {
            session_id: session_id.clone(),
            roots: vec!["/home/me/project".into()],
        },
        json!({"type": "ROOTS", "sessionId": session_id.0, "roots": ["/home/me/project"]}),
    );
    client_says(
        &FromClient::Disconnect {
            session_id: session_id.clone(),
        },
        json!({"type": "DISCONNECT", "sessionId": session_id.0}),
    );
    client_says(
        &FromClient::End {
            id: id.clone(),
            name: "default".into(),
        },
        json!({"type": "END", "id": "1", "name": "default"}),
    );
    daemon_says(
        &FromDaemon::Ended {
            id: id.clone(),
            was_open: true,
        },
        json!({"type": "ENDED", "id": "1", "wasOpen": true}),
    );
    client_says(
        &FromClient::Ping { id: id.clone() },
        json!({"type": "PING", "id": "1"}),
    );
    daemon_says(
        &FromDaemon::Pong {
            id: id.clone(),
            version: "0.1.0".into(),
        },
        json!({"type": "PONG", "id": "1", "version": "0.1.0"}),
    );
    daemon_says(
        &FromDaemon::Event {
            event: EventKind::ToolsChanged,
        },
        json!({"type": "EVENT", "event": "toolsChanged"}),
    );
    let progress = Progress {
        request_id: request_id.clone(),
        value: 1.0,
        total: None,
        message: None,
    };
    daemon_says(
        &FromDaemon::Progress(progress),
        json!({"type": "PROGRESS", "requestId": "r", "value": 1.0}),
    );
    let reply = CallReply {
        content: vec![Content::Image {
            data: "AA==".into(),
            mime_type: "image/png".into(),
        }],
        ..CallReply::default()
    };
    daemon_says(
        &FromDaemon::Response(Response {
            request_id: request_id.clone(),
            reply: Some(reply),
            failure: None,
        }),
        json!({
            "type": "RESPONSE",
            "requestId": "r",
            "reply": {
                "content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}],
                "isError": false
            }
        }),
    );
    let failure = CallFailure::UnknownTool { name: "x".into() };
    daemon_says(
        &FromDaemon::Response(Response {
            request_id,
            reply: None,
            failure: Some(failure),
        }),
        json!({"type": "RESPONSE", "requestId": "r", "failure": {"kind": "unknownTool", "name": "x"}}),
    );
    daemon_says(
        &FromDaemon::Error {
            id: Some(id.clone()),
            request_id: None,
            error: "Invalid session".into(),
        },
        json!({"type": "ERROR", "id": "1", "error": "Invalid session"}),
    );
    let overview = FromDaemon::OverviewOk {
        id,
        overview: Overview::default(),
    };
    assert_eq!(
        serde_json::to_value(overview).unwrap()["type"],
        "OVERVIEW_OK"
    );
}

#[test]
fn nonsense_is_an_error_not_a_panic() {
    for line in [
        "",
        "{}",
        "[]",
        "null",
        r#"{"type":"REQUEST"}"#,
        r#"{"type":"DANCE"}"#,
        r#"{"type":7}"#,
    ] {
        assert!(FromClient::parse(line).is_err(), "{line}");
        assert!(FromDaemon::parse(line).is_err(), "{line}");
    }
}

#[test]
fn resources_are_asked_for_and_answered_like_calls() {
    let request_id = RequestId("sess_1:7".into());
    let reading = ResourceRequest {
        request_id: request_id.clone(),
        query: ResourceQuery::Read {
            uri: "tabmux://tab/1/text".into(),
        },
        progress: false,
    };
    client_says(
        &FromClient::Resource {
            session_id: session(),
            request: reading,
        },
        json!({
            "type": "RESOURCE", "sessionId": session(), "requestId": "sess_1:7",
            "query": {"kind": "read", "uri": "tabmux://tab/1/text"},
        }),
    );
    client_says(
        &FromClient::Watch {
            session_id: session(),
            uris: vec!["tabmux://tab/1/text".into()],
        },
        json!({"type": "WATCH", "sessionId": session(), "uris": ["tabmux://tab/1/text"]}),
    );
    daemon_says(
        &FromDaemon::ResourceChanged {
            uri: "tabmux://tab/1/text".into(),
        },
        json!({"type": "RESOURCE_CHANGED", "uri": "tabmux://tab/1/text"}),
    );
    let body = ResourceBody {
        uri: "tabmux://tab/1/text".into(),
        mime_type: "text/markdown".into(),
        text: Some("# A".into()),
        blob: None,
    };
    let link = ResourceInfo {
        uri: "tabmux://tab/1/text".into(),
        name: "text".into(),
        ..ResourceInfo::default()
    };
    daemon_says(
        &FromDaemon::Response(Response {
            request_id,
            reply: Some(CallReply {
                content: vec![Content::Resource(body), Content::ResourceLink(link)],
                ..CallReply::default()
            }),
            failure: None,
        }),
        json!({
            "type": "RESPONSE", "requestId": "sess_1:7", "reply": {"isError": false, "content": [
                {
                    "type": "resource", "uri": "tabmux://tab/1/text", "mimeType": "text/markdown",
                    "text": "# A",
                },
                {"type": "resourceLink", "uri": "tabmux://tab/1/text", "name": "text"},
            ]},
        }),
    );
}
