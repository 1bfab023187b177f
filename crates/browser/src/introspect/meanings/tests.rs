//! Names over many drawings of a page, without a page.

use super::super::draft::AfterFill;
use super::super::schema::{Argument, Fills};
use super::*;
use proptest::prelude::*;
use serde_json::json;

/// A form that a person can tell from others.
#[derive(Clone, Debug)]
struct Thing {
    title: &'static str,
    fields: Vec<&'static str>,
}

fn things() -> Vec<Thing> {
    let titles = ["", "Profile", "Address (3)"];
    let fields = [vec!["name", "email"], vec!["street", "city"], vec!["name"]];
    let of = |title| fields.clone().map(|fields| Thing { title, fields });
    titles.into_iter().flat_map(of).collect()
}

fn draft(thing: &Thing, element: u32) -> Draft {
    let arguments = thing.fields.iter().map(|name| Argument {
        name: (*name).to_owned(),
        label: (*name).to_owned(),
        schema: json!({"type": "string"}),
        required: false,
        secret: false,
        fills: Fills::Field(element),
    });
    Draft {
        key: (element, "form"),
        name: format!("save_{}", snake(thing.title, 1))
            .trim_end_matches('_')
            .to_owned(),
        description: format!("Fill the form \"{}\", then press \"Save\".", thing.title),
        schema: json!({"type": "object"}),
        action: ToolAction::Fill {
            arguments: arguments.collect(),
            then: AfterFill::Nothing,
        },
        rank: 90,
    }
}

proptest! {
    /// However often a page is drawn, with old or new elements, in any order: a name means one thing.
    #[test]
    fn a_name_never_comes_to_mean_another_thing(
        drawings in prop::collection::vec(
            prop::collection::vec((0..9_usize, 0..12_u32), 0..6), 1..40),
    ) {
        let things = things();
        let mut meanings = Meanings::default();
        let mut meant: HashMap<String, usize> = HashMap::new();
        for drawing in drawings {
            let mut seen = BTreeSet::new();
            let drawn = drawing.into_iter().filter(|(thing, _)| seen.insert(*thing));
            let drafts: Vec<_> = drawn.map(|(at, n)| (at, draft(&things[at], n))).collect();
            let mut names = BTreeSet::new();
            for (thing, draft) in meanings.name(drafts) {
                prop_assert!(names.insert(draft.name.clone()), "{} twice", draft.name);
                let before = *meant.entry(draft.name.clone()).or_insert(thing);
                prop_assert_eq!(before, thing, "{} meant something else", draft.name);
            }
        }
    }
}

/// The names of these things, drawn with elements numbered from `first`.
fn drawn(meanings: &mut Meanings, things: &[Thing], first: u32) -> Vec<String> {
    let drafts = things.iter().zip(first..);
    let drafts = drafts.map(|(thing, n)| ((), draft(thing, n)));
    let named = meanings.name(drafts.collect());
    named.into_iter().map(|(_, draft)| draft.name).collect()
}

#[test]
fn a_form_drawn_again_keeps_its_name() {
    let things = things();
    let mut meanings = Meanings::default();
    let profile = &things[3..4];
    assert_eq!(drawn(&mut meanings, profile, 1), ["save_profile"]);
    assert_eq!(drawn(&mut meanings, profile, 50), ["save_profile"]);
    assert_eq!(drawn(&mut meanings, &[], 60), [""; 0]);
    assert_eq!(drawn(&mut meanings, profile, 70), ["save_profile"]);
}

#[test]
fn another_form_of_that_title_gets_another_name() {
    let things = things();
    let mut meanings = Meanings::default();
    assert_eq!(drawn(&mut meanings, &things[3..4], 1), ["save_profile"]);
    assert_eq!(
        drawn(&mut meanings, &things[4..5], 2),
        ["save_profile_with_street"]
    );
    assert_eq!(drawn(&mut meanings, &things[3..4], 3), ["save_profile"]);
}

#[test]
fn the_same_form_with_one_more_field_keeps_its_name() {
    let mut thing = things()[3].clone();
    let mut meanings = Meanings::default();
    assert_eq!(drawn(&mut meanings, &[thing.clone()], 1), ["save_profile"]);
    thing.fields.push("company");
    assert_eq!(drawn(&mut meanings, &[thing], 1), ["save_profile"]);
}

#[test]
fn a_name_that_two_claimed_belongs_to_one_element() {
    let thing = things()[3].clone();
    let mut meanings = Meanings::default();
    let both = [thing.clone(), thing.clone()];
    let names = drawn(&mut meanings, &both, 1);
    assert_eq!(names, ["save_profile"]);
    let other = drawn(&mut meanings, std::slice::from_ref(&thing), 2);
    assert_eq!(other, ["save_profile_with_name"], "another element");
    assert_eq!(drawn(&mut meanings, &[thing], 1), ["save_profile"]);
}

#[test]
fn names_that_say_nothing_are_not_used() {
    for name in ["1", "press_3badb495_2", "x", "42", "set_k3j9x2", ""] {
        assert!(!is_understandable(name), "{name}");
    }
    for name in [
        "save",
        "go_to_page",
        "search_2024",
        "enter_a",
        "open_form_1040ez",
    ] {
        assert!(is_understandable(name), "{name}");
    }
}
