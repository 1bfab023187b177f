//! Facts in, tools out: no page and no browser.

use super::*;
use proptest::prelude::*;
use serde_json::json;
use std::collections::HashSet;

/// The names of the tools for these facts, the best first.
fn names(facts: Value) -> Vec<String> {
    let (tools, _) = tools(facts, &mut Meanings::default(), 30);
    tools.into_iter().map(|tool| tool.name).collect()
}

fn tools(facts: Value, meanings: &mut Meanings, limit: usize) -> (Vec<GeneratedTool>, usize) {
    let survey: Survey = serde_json::from_value(facts).unwrap();
    propose(&[(DocumentId(1), survey)], meanings, limit)
}

fn button(n: u32, name: &str) -> Value {
    json!({"n": n, "role": "button", "name": name, "group": -1})
}

fn text(n: u32, name: &str, group: i64) -> Value {
    json!({"n": n, "role": "textbox", "name": name, "group": group, "field": "text"})
}

#[test]
fn a_form_is_named_by_its_button_and_its_title() {
    let form = |button: &str, heading: &str| {
        names(json!({
            "groups": [{"kind": "form", "n": 1, "outer": -1, "heading": heading}],
            "controls": [text(2, "From", 0), text(3, "To", 0),
                {"n": 4, "role": "button", "name": button, "group": 0, "submit": true}],
        }))
    };
    for (button, heading, name) in [
        ("Search", "Flights", "search_flights"),
        ("Search flights", "Anything", "search_flights"),
        ("Submit", "", "submit_form"),
        ("Save", "Profile", "save_profile"),
        ("Book", "", "book"),
    ] {
        assert_eq!(form(button, heading), [name], "{button} / {heading}");
    }
}

#[test]
fn of_two_alike_only_the_known_one_has_a_tool() {
    let mut known = Meanings::default();
    let (first, _) = tools(json!({"controls": [button(5, "Like")]}), &mut known, 30);
    assert_eq!(first[0].name, "like");
    let both = json!({"controls": [button(9, "Like"), button(5, "Like")]});
    let (both, left_out) = tools(both, &mut known, 30);
    let names: Vec<_> = both
        .iter()
        .map(|tool| (tool.key.0, tool.name.as_str()))
        .collect();
    assert_eq!((names, left_out), (vec![(5, "like")], 1));
}

#[test]
fn buttons_have_tools_only_where_nothing_else_is() {
    let few = json!({"controls": [button(1, "Star repo"), button(2, "Fork repo")]});
    assert_eq!(names(few), ["star_repo", "fork_repo"]);
    let many: Vec<_> = (1..6).map(|n| button(n, &format!("Button {n}"))).collect();
    assert_eq!(names(json!({ "controls": many })), [""; 0]);
    let form = json!({
        "groups": [{"kind": "form", "n": 1, "outer": -1, "heading": "Profile"}],
        "controls": [button(7, "Star repo"), text(2, "Name", 0),
            {"n": 4, "role": "button", "name": "Save", "group": 0, "submit": true}],
    });
    assert_eq!(names(form), ["save_profile"]);
}

#[test]
fn a_list_of_open_things_has_items() {
    let groups = json!([{"kind": "list", "n": 1, "outer": -1, "name": "Open", "size": 3},
        {"kind": "item", "n": 2, "outer": 0, "text": "One"},
        {"kind": "item", "n": 3, "outer": 0, "text": "Two"}]);
    let link = |n: u32, name: &str, group: i64| json!({"n": n, "role": "link", "name": name, "group": group});
    let icon = |n: u32, group: i64| json!({"n": n, "role": "button", "name": "⏰", "group": group});
    let controls = [link(4, "One", 1), icon(5, 1), link(6, "Two", 2), icon(7, 2)];
    let found = names(json!({ "groups": groups, "controls": controls }));
    assert_eq!(found, ["open_item", "list_items"], "and none for the icons");
}

#[test]
fn the_best_come_first_and_the_rest_is_counted() {
    let mut controls: Vec<_> = (10..60)
        .map(|n| json!({"n": n, "role": "button", "name": format!("Do {n}"), "group": -1, "pressable": true}))
        .collect();
    controls.push(
        json!({"n": 1, "role": "searchbox", "name": "Search", "group": -1, "field": "search"}),
    );
    let (kept, left_out) = tools(json!({ "controls": controls }), &mut Meanings::default(), 4);
    let names: Vec<_> = kept.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["search", "set_do_10", "set_do_11", "set_do_12"]);
    assert_eq!(left_out, 47);
}

#[test]
fn names_in_any_script_are_names() {
    let found = names(
        json!({"controls": [button(1, "検索"), button(2, "Über uns"), button(3, "×"), button(4, "")]}),
    );
    assert_eq!(found, ["ueber_uns", "close"]);
}

proptest! {
    /// Whatever a page contains: names are valid and unique, schemas are objects, and everything is bounded.
    #[test]
    fn whatever_a_page_says_the_tools_are_valid(
        controls in prop::collection::vec(any_control(), 0..60),
        groups in prop::collection::vec(any_group(), 0..12),
    ) {
        let facts = json!({ "controls": controls, "groups": groups });
        let (found, _) = tools(facts.clone(), &mut Meanings::default(), 30);
        prop_assert!(found.len() <= 30);
        let mut seen = HashSet::new();
        let mut bytes = 0;
        for tool in &found {
            prop_assert!(seen.insert(tool.name.clone()), "{} twice", tool.name);
            prop_assert!((1..=64).contains(&tool.name.len()));
            prop_assert!(tool.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'));
            prop_assert_eq!(&tool.schema["type"], "object");
            prop_assert!(!tool.description.chars().any(char::is_control));
            bytes += tool.schema.to_string().len() + tool.description.len();
        }
        prop_assert!(bytes <= MAX_BYTES);
        let (again, _) = tools(facts, &mut Meanings::default(), 30);
        prop_assert_eq!(found, again);
    }
}

fn any_group() -> impl Strategy<Value = Value> {
    let kinds = prop::sample::select(vec![
        "form", "search", "panel", "nav", "tabs", "menu", "choice", "dialog", "fieldset", "list",
        "item", "?",
    ]);
    (kinds, -1..12_i64, ".{0,40}", "[a-z -]{0,12}", any::<bool>()).prop_map(|(kind, outer, name, hint, guessed)| {
        json!({"kind": kind, "n": 1, "outer": outer, "name": name, "hint": hint, "text": name, "guessed": guessed})
    })
}

fn any_control() -> impl Strategy<Value = Value> {
    let roles = prop::sample::select(vec![
        "button",
        "link",
        "textbox",
        "checkbox",
        "radio",
        "combobox",
        "tab",
        "menuitem",
        "option",
        "treeitem",
        "clickable",
        "switch",
        "searchbox",
        "nonsense",
    ]);
    let kinds = prop::sample::select(vec![
        "", "text", "number", "date", "one", "many", "toggle", "radio", "area", "pick", "slide",
        "file", "password", "junk",
    ]);
    (roles, kinds, 1..200_u32, ".{0,60}", -1..12_i64, any::<bool>(), "[0-9.-]{0,4}").prop_map(
        |(role, field, n, name, group, flag, number)| {
            json!({
                "n": n, "role": role, "name": name, "group": group, "heading": name, "submit": flag, "acts": flag,
                "field": field, "key": name, "required": flag, "secret": flag, "min": number, "step": number,
                "value": name, "options": [{"text": name}, {"text": ""}], "pressable": flag,
            })
        },
    )
}
