//! What holds for every session tool.

use super::*;
use serde_json::{Map, json};
use tabmux_core::Mode;

/// Arguments with what the schema requires.
fn arguments(info: &ToolInfo) -> Box<RawValue> {
    let examples = json!({
        "url": "http://127.0.0.1:9222/",
        "category": "input",
        "name": "a_tool",
        "pageId": 1,
        "tabId": 1,
    });
    let required = info.input_schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    // `browserIndex` is taken out of the arguments before they are parsed.
    let names = names.filter(|name| *name != "browserIndex");
    let given: Map<_, _> = names
        .map(|name| (name.to_owned(), examples[name].clone()))
        .collect();
    serde_json::value::to_raw_value(&given).unwrap()
}

#[test]
fn every_session_tool_is_known_to_the_core_by_its_name_and_mode() {
    let mut options = SessionOptions::from_wire(Default::default()).unwrap();
    options.given.browser.allow_default = true;
    for spec in all() {
        let mode = match spec.listed_in.is_fixed() {
            true => Mode::Static,
            false => Mode::Progressive,
        };
        options.mode = mode;
        let parsed = spec.parse(&arguments(&spec.info()), &options).unwrap();
        assert_eq!(parsed.kind.tool().as_str(), spec.name);
        assert!(parsed.kind.exists_in(mode), "{}", spec.name);
    }
    let names: Vec<_> = all().iter().map(|spec| spec.name).collect();
    for name in ToolName::session_tools() {
        assert!(names.contains(&name.as_str()), "{name} has no definition");
    }
    assert_eq!(ToolName::session_tools().count(), names.len());
}

#[test]
fn a_tool_of_the_fixed_list_says_so_before_its_arguments_are_read() {
    let mut options = SessionOptions::from_wire(Default::default()).unwrap();
    options.mode = Mode::Progressive;
    let wrong = RawValue::from_string(r#"{"wrong": 1}"#.to_owned()).unwrap();
    for name in ["add_browser", "select_default_browser"] {
        let Err(Rejected::Arguments(text)) = find(name).unwrap().parse(&wrong, &options) else {
            unreachable!("{name} is of the other mode");
        };
        let tool = ToolName::new(name);
        assert_eq!(text, Refusal::OtherList { tool }.to_string());
    }
    options.mode = Mode::Static;
    options.given.browser.allow_default = false;
    let unknown = find("select_default_browser").unwrap();
    let unknown = unknown.parse(&wrong, &options);
    assert!(matches!(unknown, Err(Rejected::UnknownTool)));
}
