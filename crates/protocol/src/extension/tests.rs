//! Every example in `docs/protocol.md` is a valid message, written in the same form.

use super::*;

/// Every example of the document.
fn examples() -> Vec<Value> {
    let document = include_str!("../../../../docs/protocol.md");
    let blocks = document.split("```json\n").skip(1);
    let lines = blocks.filter_map(|block| block.split("```").next());
    lines
        .flat_map(str::lines)
        .map(|text| serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}")))
        .collect()
}

/// Spec: dynamic-tools 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79; dynamic-tools 80.
#[test]
fn every_example_is_encoded_as_it_is_written() {
    let mut kinds = std::collections::BTreeSet::new();
    for example in examples() {
        let received = FromExtension::parse(&example.to_string());
        let sent = ToExtension::parse(&example.to_string());
        let again = [
            received.ok().and_then(|it| serde_json::to_value(it).ok()),
            sent.ok().and_then(|it| serde_json::to_value(it).ok()),
        ];
        assert!(
            again.contains(&Some(example.clone())),
            "{example}: {again:?}"
        );
        kinds.insert(example["type"].as_str().unwrap().to_owned());
    }
    let all = [
        "answer",
        "attach",
        "callTool",
        "canAsk",
        "cdp",
        "cdpEvent",
        "challenge",
        "closeTab",
        "connect",
        "connected",
        "denied",
        "detach",
        "detached",
        "disconnected",
        "done",
        "focusTab",
        "follow",
        "give",
        "hello",
        "leftTabs",
        "openTab",
        "overview",
        "pageEnded",
        "pageOpened",
        "pageSaid",
        "pageTold",
        "pause",
        "ping",
        "pong",
        "privateWindows",
        "proof",
        "refused",
        "resume",
        "rule",
        "site",
        "tabClosed",
        "tabCreated",
        "tabFocused",
        "tabKnown",
        "tabUpdated",
        "takeBack",
        "toolResult",
        "toolsChanged",
        "welcome",
    ];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), all);
}

#[test]
fn what_chrome_sent_stays_as_it_was_written() {
    let params = r#"{ "cut": "\ud83d", "n": 1.0e2, "deep": [[{}]] }"#;
    let frame = format!(r#"{{"type":"cdpEvent","tabId":7,"method":"M.e","params":{params}}}"#);
    let FromExtension::CdpEvent(event) = FromExtension::parse(&frame).unwrap() else {
        panic!("it is an event");
    };
    assert_eq!(event.params.as_str(), params);
    let again = serde_json::to_string(&FromExtension::CdpEvent(event)).unwrap();
    assert_eq!(again, frame);
}
