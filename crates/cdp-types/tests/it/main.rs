//! What browsers of all versions send, and what we send them.

#![expect(clippy::unwrap_used, reason = "a helper of tests may fail the test")]

use serde_json::{Value, json, to_value};
use tabmux_cdp_types::{
    Command, Empty, Event, Json,
    dom::{BackendNodeId, Node, Rect},
    input::{DispatchMouseEvent, DispatchMouseEventType, MouseButton},
    network::{LoadingFailed, ResourceType, ResponseReceived},
    page::{Enable, FrameId, FrameNavigated, Navigate, NavigateResponse},
    runtime::{CallFunctionOn, ConsoleAPICalled, RemoteObject, StackTrace},
    target::{SessionId, TargetInfo},
    web_mcp::{InvokeTool, ToolsAdded},
};
use tabmux_text::decode;

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    decode(&value.to_string()).unwrap()
}

#[test]
fn names_are_those_of_the_protocol() {
    assert_eq!(Navigate::METHOD, "Page.navigate");
    assert_eq!(FrameNavigated::METHOD, "Page.frameNavigated");
    assert_eq!(InvokeTool::METHOD, "WebMCP.invokeTool");
}

#[test]
fn commands_send_required_fields_always_and_optional_ones_when_set() {
    assert_eq!(to_value(Enable::default()).unwrap(), json!({}));
    assert_eq!(to_value(Navigate::default()).unwrap(), json!({ "url": "" }));
    let press = DispatchMouseEvent {
        r#type: DispatchMouseEventType::MOUSE_PRESSED,
        x: 1.0,
        y: 2.5,
        button: Some(MouseButton::LEFT),
        click_count: Some(1),
        ..Default::default()
    };
    assert_eq!(
        to_value(press).unwrap(),
        json!({ "type": "mousePressed", "x": 1.0, "y": 2.5, "button": "left", "clickCount": 1 })
    );
    let call = CallFunctionOn {
        function_declaration: "f".to_owned(),
        execution_context_id: Some(7.into()),
        ..Default::default()
    };
    assert_eq!(
        to_value(call).unwrap(),
        json!({ "functionDeclaration": "f", "executionContextId": 7 })
    );
}

#[test]
fn json_parameters_are_sent_as_they_are() {
    let input = Json::encode(&json!({ "a": [1, null] })).unwrap();
    let command = InvokeTool {
        frame_id: "F".into(),
        tool_name: "t".to_owned(),
        input,
    };
    assert_eq!(
        to_value(command).unwrap()["input"],
        json!({ "a": [1, null] })
    );
}

#[test]
fn missing_fields_are_defaults() {
    let event: FrameNavigated = read(json!({}));
    assert_eq!(event.frame.id, "");
    let answer: NavigateResponse = read(json!({ "frameId": "F" }));
    assert_eq!((answer.frame_id.as_str(), answer.error_text), ("F", None));
    let event: ResponseReceived = read(json!({ "response": { "status": 200 } }));
    assert_eq!(event.response.status, 200);
    assert!(event.response.headers.is_null());
    read::<Empty>(json!({}));
}

#[test]
fn null_is_the_same_as_missing() {
    let event: FrameNavigated = read(json!({ "frame": null, "type": null }));
    assert_eq!(event.frame.url, "");
    let event: ToolsAdded = read(json!({ "tools": null }));
    assert!(event.tools.is_empty());
    let info: TargetInfo = read(json!({ "targetId": null, "attached": null, "openerId": null }));
    assert_eq!(
        (info.target_id.as_str(), info.attached, info.opener_id),
        ("", false, None)
    );
    let trace: StackTrace = read(json!({ "callFrames": null, "parent": null }));
    assert!(trace.call_frames.is_empty() && trace.parent.is_none());
}

#[test]
fn unknown_fields_are_ignored() {
    let event: FrameNavigated = read(json!({ "frame": { "id": "F", "new": {} }, "newer": [1] }));
    assert_eq!(event.frame.id, "F");
    read::<Empty>(json!({ "anything": 1 }));
}

#[test]
fn unknown_values_of_an_enumeration_are_kept() {
    let event: LoadingFailed = read(json!({ "type": "Hologram" }));
    assert_eq!(event.r#type, "Hologram");
    assert_ne!(event.r#type, ResourceType::DOCUMENT);
    let event: LoadingFailed = read(json!({ "type": "Document" }));
    assert_eq!(event.r#type, ResourceType::DOCUMENT);
    let event: ConsoleAPICalled = read(json!({ "type": "whisper" }));
    assert_eq!(event.r#type.to_string(), "whisper");
}

#[test]
fn numbers_come_as_integers_fractions_or_text() {
    let status = |value: Value| {
        read::<ResponseReceived>(json!({ "response": { "status": value } }))
            .response
            .status
    };
    assert_eq!(status(json!(200)), 200);
    assert_eq!(status(json!(200.0)), 200);
    assert_eq!(status(json!(200.9)), 200);
    assert_eq!(status(json!("200")), 200);
    assert_eq!(status(json!(" 2e2 ")), 200);
    assert_eq!(status(json!(-1)), -1);
    assert_eq!(status(json!(u64::MAX)), i64::MAX);
    assert_eq!(
        status(json!(9_007_199_254_740_993_i64)),
        9_007_199_254_740_993
    );

    let rect: Rect = read(json!({ "x": 1, "y": "2.5", "width": 3.5, "height": true }));
    assert_eq!(
        (rect.x, rect.y, rect.width, rect.height),
        (1.0, 2.5, 3.5, 1.0)
    );

    let node: Node = read(json!({ "backendNodeId": "12", "childNodeCount": 3.0 }));
    assert_eq!(
        (node.backend_node_id, node.child_node_count),
        (BackendNodeId(12), Some(3))
    );
}

#[test]
fn texts_and_ids_come_as_numbers_too() {
    let event: ToolsAdded = read(json!({ "tools": [{ "toolId": 5, "name": 7, "frameId": 1.5 }] }));
    let tool = &event.tools[0];
    assert_eq!(
        (
            tool.tool_id.as_str(),
            tool.name.as_str(),
            tool.frame_id.as_str()
        ),
        ("5", "7", "1.5")
    );
    let node: Node = read(json!({ "attributes": ["a", 1, true, null] }));
    assert_eq!(node.attributes.unwrap(), ["a", "1", "true", ""]);
}

#[test]
fn booleans_come_as_numbers_and_text_too() {
    let attached = |value: Value| read::<TargetInfo>(json!({ "attached": value })).attached;
    for yes in [json!(true), json!(1), json!("true")] {
        assert!(attached(yes));
    }
    for no in [json!(false), json!(0), json!("false"), json!(null)] {
        assert!(!attached(no));
    }
}

#[test]
fn values_of_a_wrong_kind_are_errors() {
    for json in [
        r#"{"response":{"status":"many"}}"#,
        r#"{"response":{"status":{}}}"#,
        r#"{"response":[[]]}"#,
        r#"{"type":{}}"#,
        "17",
        "{",
    ] {
        assert!(decode::<ResponseReceived>(json).is_err(), "{json}");
    }
}

#[test]
fn values_of_any_shape_stay_text_until_decoded() {
    let object: RemoteObject = decode(r#"{"type":"object","value":{ "b":1,  "a":[2] }}"#).unwrap();
    let value = object.value.unwrap();
    assert_eq!(value.as_str(), r#"{ "b":1,  "a":[2] }"#);
    assert_eq!(
        value.decode::<Value>().unwrap(),
        json!({ "a": [2], "b": 1 })
    );

    let object: RemoteObject = decode(r#"{"type":"string","value":"\ud83d"}"#).unwrap();
    assert_eq!(
        object.value.unwrap().decode::<String>().unwrap(),
        "\u{FFFD}"
    );
}

#[test]
fn recursive_types_hold_themselves() {
    let node: Node =
        read(json!({ "contentDocument": { "shadowRoots": [{ "nodeName": "deep" }] } }));
    assert_eq!(
        node.content_document.unwrap().shadow_roots.unwrap()[0].node_name,
        "deep"
    );
}

#[test]
fn ids_are_found_by_their_text() {
    let frames = std::collections::HashMap::from([(FrameId::from("F"), 1)]);
    assert_eq!(frames.get("F"), Some(&1));
    let session = SessionId::from("S".to_owned());
    assert_eq!(session.clone(), session);
    assert_eq!(format!("{session} {session:?}"), "S \"S\"");
}
