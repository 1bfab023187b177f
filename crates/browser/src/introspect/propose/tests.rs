//! Facts in, tools out: no page and no browser.

use super::*;
use proptest::prelude::*;
use serde_json::json;

/// The names of the tools for these facts, the best first.
fn names(facts: Value) -> Vec<String> {
    let (tools, _) = tools(facts, &mut Names::new(), 30);
    tools.into_iter().map(|tool| tool.name).collect()
}

fn tools(facts: Value, names: &mut Names, limit: usize) -> (Vec<GeneratedTool>, usize) {
    let survey: Survey = serde_json::from_value(facts).unwrap();
    propose(&[(DocumentId(1), survey)], names, limit)
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
fn the_same_thing_keeps_its_name_and_number_two_gets_a_number() {
    let mut known = Names::new();
    let (first, _) = tools(json!({"controls": [button(5, "Like")]}), &mut known, 30);
    assert_eq!(first[0].name, "like");
    let both = json!({"controls": [button(9, "Like"), button(5, "Like")]});
    let (both, _) = tools(both, &mut known, 30);
    let names: Vec<_> = both
        .iter()
        .map(|tool| (tool.key.0, tool.name.as_str()))
        .collect();
    assert_eq!(names, [(9, "like_2"), (5, "like")]);
}

#[test]
fn the_best_come_first_and_the_rest_is_counted() {
    let mut controls: Vec<_> = (10..60).map(|n| button(n, &format!("Do {n}"))).collect();
    controls.push(
        json!({"n": 1, "role": "searchbox", "name": "Search", "group": -1, "field": "search"}),
    );
    let (kept, left_out) = tools(json!({ "controls": controls }), &mut Names::new(), 4);
    let names: Vec<_> = kept.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["search", "do_10", "do_11", "do_12"]);
    assert_eq!(left_out, 47);
}

#[test]
fn names_in_any_script_are_names() {
    let found = names(
        json!({"controls": [button(1, "検索"), button(2, "Über uns"), button(3, "×"), button(4, "")]}),
    );
    assert_eq!(found[1..], ["ueber_uns", "close"]);
    assert!(found[0].starts_with("press_"), "{found:?}");
}

proptest! {
    /// Whatever a page contains: names are valid and unique, schemas are objects, and everything is bounded.
    #[test]
    fn whatever_a_page_says_the_tools_are_valid(
        controls in prop::collection::vec(any_control(), 0..60),
        groups in prop::collection::vec(any_group(), 0..12),
    ) {
        let facts = json!({ "controls": controls, "groups": groups });
        let (found, _) = tools(facts.clone(), &mut Names::new(), 30);
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
        let (again, _) = tools(facts, &mut Names::new(), 30);
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
