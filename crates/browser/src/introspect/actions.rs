//! Buttons, switches, menus, tabs and links as tools.

use super::draft::{Draft, Item, ToolAction};
use super::facts::{Control, Group, Kind, Survey};
use super::forms::switch_schema;
use super::naming::snake;
use super::schema::choices;
use indexmap::IndexMap;
use serde_json::json;
use std::collections::BTreeMap;
use tabmux_text::one_line;

/// Tools for controls that are neither fields nor in a list.
pub(crate) fn drafts(survey: &Survey, used: &mut [bool]) -> Vec<Draft> {
    let mut drafts = sets(survey, used);
    drafts.extend(repeated(survey, used));
    for (at, control) in survey.controls.iter().enumerate() {
        if used.get(at).copied().unwrap_or(true) || control.disabled {
            continue;
        }
        match control.role.as_str() {
            // A link that leads elsewhere is one `click` with its name.
            "link" if !control.acts => {}
            "button" | "link" | "clickable" | "menuitem" | "tab" | "treeitem"
            | "menuitemcheckbox" | "menuitemradio" => drafts.extend(action(survey, control)),
            _ => {}
        }
    }
    drafts
}

/// Controls of one kind in one group become one tool; its argument says which of them.
fn sets(survey: &Survey, used: &mut [bool]) -> Vec<Draft> {
    let mut sets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, control) in survey.controls.iter().enumerate() {
        let free = !used.get(at).copied().unwrap_or(true);
        let mut around = survey.around(control);
        let set = around.find(|(_, group)| {
            matches!(
                group.kind,
                Kind::Nav | Kind::Tabs | Kind::Menu | Kind::Choice
            )
        });
        if let Some((group, found)) = set
            && free
            && belongs(found.kind, control)
        {
            sets.entry(group).or_default().push(at);
        }
    }
    let mut drafts = Vec::new();
    for (group, members) in sets {
        let controls = members.iter().filter_map(|at| survey.controls.get(*at));
        let controls: Vec<&Control> = controls
            .filter(|control| !control.name.is_empty())
            .collect();
        let Some(group) = survey.groups.get(group) else {
            continue;
        };
        let fewest = if group.kind == Kind::Nav { 2 } else { 1 };
        if controls.len() < fewest {
            continue;
        }
        drafts.push(set(group, &controls));
        for at in members {
            if let Some(used) = used.get_mut(at) {
                *used = true;
            }
        }
    }
    drafts
}

fn belongs(kind: Kind, control: &Control) -> bool {
    let role = control.role.as_str();
    match kind {
        Kind::Nav => role == "link" || role == "button" && is_page_number(&control.name),
        Kind::Tabs => matches!(role, "tab" | "link" | "button"),
        Kind::Menu => matches!(
            role,
            "menuitem" | "menuitemcheckbox" | "menuitemradio" | "link" | "button"
        ),
        _ => role == "option",
    }
}

fn set(group: &Group, controls: &[&Control]) -> Draft {
    let title = snake(&group.name, 3);
    let shown = one_line(&group.name, 80);
    let of = |what: &str| match shown.is_empty() {
        true => what.to_owned(),
        false => format!("{what} of \"{shown}\""),
    };
    let pages = controls
        .iter()
        .filter(|control| is_page_number(&control.name))
        .count();
    let is_pagination = group.kind == Kind::Nav && pages * 2 > controls.len();
    let (name, argument, description, rank) = match group.kind {
        _ if is_pagination => ("go_to_page".into(), "page", of("Go to another page"), 68),
        Kind::Nav => {
            let title = title.replace("_navigation", "").replace("navigation", "");
            let name = if title.is_empty() {
                "go_to".into()
            } else {
                format!("go_to_{title}")
            };
            (name, "page", of("Follow a link of the navigation"), 45)
        }
        Kind::Tabs => {
            let name = if title.is_empty() {
                "select_tab".into()
            } else {
                format!("select_{title}_tab")
            };
            (name, "tab", of("Show one of the tabs"), 60)
        }
        Kind::Menu => {
            let title = title.trim_end_matches("_menu").to_owned();
            let name = if title.is_empty() || title == "menu" {
                "choose_from_menu".into()
            } else {
                format!("choose_from_{title}_menu")
            };
            (name, "item", of("Choose an item of the menu"), 62)
        }
        _ => {
            let name = if title.is_empty() {
                "choose_option".into()
            } else {
                format!("choose_{title}")
            };
            (name, "option", of("Choose one of the options"), 58)
        }
    };
    choice(
        group.n,
        &name,
        argument,
        &format!("{description}."),
        rank,
        controls,
    )
}

/// A tool that presses the control that its argument names.
pub(crate) fn choice(
    n: u32,
    name: &str,
    argument: &'static str,
    description: &str,
    rank: i32,
    controls: &[&Control],
) -> Draft {
    let controls = controls.get(..MAX_CHOICES).unwrap_or(controls);
    let values = choices(controls.iter().map(|control| control.name.as_str()));
    let mut schema = json!({ "type": "object", "properties": {}, "required": [argument] });
    schema["properties"][argument] = json!({ "type": "string", "enum": values });
    Draft {
        key: (n, "set"),
        name: name.to_owned(),
        description: description.to_owned(),
        schema,
        action: ToolAction::Choose {
            argument,
            choices: named(controls),
        },
        rank,
    }
}

fn named(controls: &[&Control]) -> Vec<(String, u32)> {
    let named = controls
        .iter()
        .map(|control| (one_line(&control.name, 100), control.n));
    named.collect()
}

/// Page numbers, and words such as "next".
pub(crate) fn is_page_number(name: &str) -> bool {
    let name = name.trim().to_lowercase();
    let name = name.strip_prefix("page ").unwrap_or(&name);
    let first = name.split_whitespace().next().unwrap_or_default();
    name.parse::<u32>().is_ok()
        || matches!(
            first,
            "next"
                | "previous"
                | "prev"
                | "first"
                | "last"
                | "«"
                | "»"
                | "‹"
                | "›"
                | "older"
                | "newer"
        )
}

/// A button that is repeated outside of any list: one tool with an index.
fn repeated(survey: &Survey, used: &mut [bool]) -> Vec<Draft> {
    let mut same: IndexMap<&str, Vec<usize>> = IndexMap::new();
    for (at, control) in survey.controls.iter().enumerate() {
        let free = !used.get(at).copied().unwrap_or(true);
        if free && control.role == "button" && !control.name.is_empty() && !control.pressable {
            same.entry(control.name.as_str()).or_default().push(at);
        }
    }
    let mut drafts = Vec::new();
    let same = same.into_iter();
    for (name, places) in same.filter(|(name, places)| places.len() >= 3 && !verb(name).is_empty())
    {
        let controls: Vec<&Control> = places
            .iter()
            .filter_map(|at| survey.controls.get(*at))
            .collect();
        let items = controls.iter().map(|control| Item {
            text: one_line(&control.heading, 100),
            n: control.n,
        });
        let shown = one_line(name, 80);
        drafts.push(Draft {
            key: (controls.first().map_or(0, |first| first.n), "repeated"),
            name: verb(name),
            description: format!("Press the button \"{shown}\" with this index; there are several."),
            schema: json!({
                "type": "object",
                "properties": { "index": { "type": "number", "minimum": 0, "multipleOf": 1, "description": "0 is the first one on the page" } },
                "required": ["index"],
            }),
            action: ToolAction::Item { items: items.collect(), switch: false },
            rank: 48,
        });
        for at in places {
            if let Some(used) = used.get_mut(at) {
                *used = true;
            }
        }
    }
    drafts
}

/// A tool that presses or switches one control.
fn action(survey: &Survey, control: &Control) -> Option<Draft> {
    if verb(&control.name).is_empty() || is_noise(control) {
        return None;
    }
    let label = one_line(&control.name, 80);
    let within = match control.heading.is_empty() {
        true => String::new(),
        false => format!(" under \"{}\"", one_line(&control.heading, 60)),
    };
    let verb = verb(&control.name);
    let place = |rank: i32| {
        let edge = survey
            .around(control)
            .any(|(_, group)| matches!(group.kind, Kind::Footer | Kind::Header));
        let weight = if control.role == "clickable" { -15 } else { 0 };
        rank + weight - if edge { 8 } else { 0 }
    };
    let switches = control.pressable || matches!(control.role.as_str(), "menuitemcheckbox");
    if switches {
        return Some(Draft {
            key: (control.n, "switch"),
            name: format!("set_{verb}"),
            description: format!("Switch \"{label}\" on or off{within}."),
            schema: switch_schema("Whether to switch it on"),
            action: ToolAction::Switch {
                label,
                n: control.n,
            },
            rank: place(52),
        });
    }
    let (name, does) = match control.role.as_str() {
        _ if control.popup && control.role == "button" => (
            with_end(&format!("open_{}", without(&verb, "open_")), "_menu"),
            "Open the menu of",
        ),
        _ if control.expandable => (
            format!("toggle_{}", without(&verb, "toggle_")),
            "Expand or collapse",
        ),
        "link" => (verb, "Press the link"),
        "tab" => (format!("show_{verb}"), "Show the tab"),
        "button" => (verb, "Press the button"),
        _ => (verb, "Press"),
    };
    Some(Draft {
        key: (control.n, "press"),
        name,
        description: format!("{does} \"{label}\"{within}."),
        schema: json!({ "type": "object", "properties": {} }),
        action: ToolAction::Press {
            label,
            n: control.n,
        },
        rank: place(50),
    })
}

/// Skip links for screen readers, and long clickable texts.
fn is_noise(control: &Control) -> bool {
    let name = snake(&control.name, 4);
    name.starts_with("skip_to") || control.role == "clickable" && control.name.chars().count() > 80
}

/// The tool name for pressing a control; empty if its name has no words.
fn verb(name: &str) -> String {
    let words = snake(name, 5);
    match words.is_empty() {
        false => words,
        true => match name.trim() {
            "×" | "✕" | "✖" | "⨯" | "x" => "close".into(),
            "+" | "＋" => "add".into(),
            "-" | "−" | "–" => "remove".into(),
            "»" | "›" | ">" | "→" => "next".into(),
            "«" | "‹" | "<" | "←" => "previous".into(),
            "☰" | "⋮" | "…" | "⋯" => "menu".into(),
            _ => String::new(),
        },
    }
}

fn without<'a>(name: &'a str, beginning: &str) -> &'a str {
    name.strip_prefix(beginning).unwrap_or(name)
}

fn with_end(name: &str, end: &str) -> String {
    match name.ends_with(end) || name.ends_with(end.trim_start_matches('_')) {
        true => name.to_owned(),
        false => format!("{name}{end}"),
    }
}

const MAX_CHOICES: usize = 60;
