//! Lists and tables of similar items: one tool per action that each item has, with an index.

use super::actions;
use super::draft::{Draft, Item, ToolAction};
use super::facts::{Control, Group, Kind, Survey};
use super::naming::{plural, singular, snake};
use indexmap::IndexMap;
use serde_json::json;
use std::collections::BTreeMap;
use tabmux_text::one_line;

/// The tools for all lists of a document. Marks the controls that they cover in `used`.
pub(crate) fn drafts(survey: &Survey, used: &mut [bool]) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (list, items) in lists(survey, used) {
        let Some(group) = survey.groups.get(list) else {
            continue;
        };
        if !is_plausible(group, &items) {
            continue;
        }
        let made = match choice_list(survey, group, &items) {
            Some(draft) => vec![draft],
            None if has_only_links(survey, group, &items) => continue,
            None => list_drafts(survey, group, &items),
        };
        if made.is_empty() {
            continue;
        }
        drafts.extend(made);
        for at in items.values().flatten() {
            if let Some(used) = used.get_mut(*at) {
                *used = true;
            }
        }
    }
    drafts
}

/// Indexes of controls, by the item that contains them.
type Items = BTreeMap<usize, Vec<usize>>;

fn lists(survey: &Survey, used: &[bool]) -> BTreeMap<usize, Items> {
    let mut lists: BTreeMap<usize, Items> = BTreeMap::new();
    for (at, control) in survey.controls.iter().enumerate() {
        if used.get(at).copied().unwrap_or(true) || !is_for_items(control) {
            continue;
        }
        if let Some((list, item)) = item_of(survey, control) {
            lists
                .entry(list)
                .or_default()
                .entry(item)
                .or_default()
                .push(at);
        }
    }
    lists
}

fn is_for_items(control: &Control) -> bool {
    matches!(
        control.role.as_str(),
        "link" | "button" | "clickable" | "treeitem"
    ) || is_switch(control)
}

fn is_switch(control: &Control) -> bool {
    control.field.kind == "toggle"
}

/// The list and the item that contain a control, unless it belongs to something else.
fn item_of(survey: &Survey, control: &Control) -> Option<(usize, usize)> {
    let around: Vec<_> = survey.around(control).collect();
    let others = [Kind::Nav, Kind::Tabs, Kind::Menu, Kind::Choice];
    if around.iter().any(|(_, group)| others.contains(&group.kind)) {
        return None;
    }
    // Items can be nested, as in trees: the outermost one is the item of the list.
    let mut pairs = around.iter().zip(around.iter().skip(1)).enumerate();
    let (at, ((item, _), (list, _))) = pairs.find(|(_, ((_, inner), (_, outer)))| {
        inner.kind == Kind::Item && outer.kind == Kind::List
    })?;
    if around
        .iter()
        .take(at)
        .any(|(_, group)| group.kind != Kind::Item && group.kind != Kind::Form)
    {
        return None;
    }
    let mut outside = around.iter().skip(at + 1);
    let in_form =
        outside.any(|(_, group)| matches!(group.kind, Kind::Form | Kind::Search | Kind::Panel));
    // Controls that a form around the list would submit belong to the form.
    (!in_form || !(is_switch(control) || control.submit)).then_some((*list, *item))
}

/// A guessed list must look like one: enough items, and none as large as a section of a page.
fn is_plausible(group: &Group, items: &Items) -> bool {
    let most = items.values().map(Vec::len).max().unwrap_or_default();
    let fewest_items = if group.guessed { 3 } else { 1 };
    items.len() >= fewest_items && most <= MAX_CONTROLS_IN_ITEM
}

/// Page numbers and days of a calendar are chosen by their text, not by an index.
fn choice_list(survey: &Survey, group: &Group, items: &Items) -> Option<Draft> {
    let controls = items
        .values()
        .flatten()
        .filter_map(|at| survey.controls.get(*at));
    let controls: Vec<&Control> = controls
        .filter(|control| !control.name.is_empty())
        .collect();
    let mostly = |fits: fn(&str) -> bool| {
        let fitting = controls
            .iter()
            .filter(|control| fits(&control.name))
            .count();
        fitting * 4 >= controls.len() * 3
    };
    let is_day = |name: &str| name.parse::<u32>().is_ok_and(|day| (1..=31).contains(&day));
    if controls.len() >= 20 && mostly(is_day) {
        let does = "Choose a day of the calendar.";
        let mut draft = actions::choice(group.n, "choose_day", "day", does, 64, &controls);
        // The listed days change with the month; the accepted values do not.
        draft.schema["properties"]["day"] =
            json!({ "type": "string", "pattern": "^([1-9]|[12][0-9]|3[01])$" });
        return Some(draft);
    }
    let is_pagination = controls.len() >= 2
        && mostly(actions::is_page_number)
        && items.iter().all(|item| has_only_control(survey, item));
    if is_pagination {
        let does = "Go to another page.";
        return Some(actions::choice(
            group.n,
            "go_to_page",
            "page",
            does,
            68,
            &controls,
        ));
    }
    // A few short options, such as filters, if the markup has a name for them.
    let word = meaningful_word(&group.hint)?;
    let is_few = group.name.is_empty()
        && (2..=FEW_CHOICES).contains(&controls.len())
        && items.iter().all(|item| has_only_control(survey, item));
    is_few.then(|| {
        let name = format!("choose_{}", singular(&word));
        actions::choice(
            group.n,
            &name,
            "option",
            "Choose one of these.",
            60,
            &controls,
        )
    })
}

/// The name of a list in the markup, if it is meaningful.
fn meaningful_word(hint: &str) -> Option<String> {
    let is_word = hint.len() >= 4 && hint.chars().all(|c| c.is_ascii_lowercase());
    let says_little = "list items item menu content group container inline tree unstyled navbar";
    (is_word && !says_little.split(' ').any(|word| word == hint)).then(|| hint.to_owned())
}

/// A list without a title that contains only links: these go with the other links of the page.
fn has_only_links(survey: &Survey, group: &Group, items: &Items) -> bool {
    let mut controls = items
        .values()
        .flatten()
        .filter_map(|at| survey.controls.get(*at));
    title_of(group).is_empty()
        && controls.all(|control| control.role == "link")
        && items.iter().all(|item| has_only_control(survey, item))
}

/// Whether an item has no text besides its one control.
fn has_only_control(survey: &Survey, (item, places): (&usize, &Vec<usize>)) -> bool {
    let mut controls = places.iter().filter_map(|at| survey.controls.get(*at));
    let item = survey.groups.get(*item);
    let text = item.map_or("", |item| item.text.as_str());
    controls.all(|control| control.name == text)
}

fn list_drafts(survey: &Survey, group: &Group, items: &Items) -> Vec<Draft> {
    let noun = noun_of(group);
    let all = plural(&noun);
    let where_from = match title_of(group) {
        "" => String::new(),
        title => format!(" in \"{}\"", one_line(title, 80)),
    };
    let mut drafts = Vec::new();
    let clusters = clusters(survey, items, group.size);
    let readable = noun.replace('_', " ");
    for (cluster, members) in clusters {
        let (name, does, switch) = match &cluster {
            Cluster::Main => (
                format!("open_{noun}"),
                format!("Open the {readable}"),
                false,
            ),
            Cluster::Alike { name, switch } => {
                let words = one_line(name, 60);
                let verb = snake(name, 4);
                if verb.is_empty() {
                    // An icon without a name: its tool would say nothing.
                    continue;
                }
                match switch {
                    true => (
                        format!("set_{verb}_of_{noun}"),
                        format!("Switch \"{words}\" of the {readable}"),
                        true,
                    ),
                    false if verb.ends_with(&noun) => {
                        (verb, format!("Press \"{words}\" of the {readable}"), false)
                    }
                    false => (
                        format!("{verb}_{noun}"),
                        format!("Press \"{words}\" of the {readable}"),
                        false,
                    ),
                }
            }
        };
        let about = "0 is the first one";
        let mut schema = json!({
            "type": "object",
            "properties": { "index": { "type": "number", "minimum": 0, "multipleOf": 1, "description": about } },
            "required": ["index"],
        });
        if switch {
            schema["properties"]["on"] = json!({ "type": "boolean" });
            schema["required"] = json!(["index", "on"]);
        }
        drafts.push(Draft {
            key: (
                group.n,
                if cluster == Cluster::Main {
                    "open"
                } else {
                    "each"
                },
            ),
            name,
            description: format!("{does} with this index{where_from}."),
            schema,
            action: ToolAction::Item {
                items: members,
                switch,
            },
            rank: if cluster == Cluster::Main { 72 } else { 70 },
        });
    }
    drafts.truncate(MAX_TOOLS_OF_LIST);
    if drafts.is_empty() {
        return drafts;
    }
    let texts = items.keys().filter_map(|item| survey.groups.get(*item));
    drafts.push(Draft {
        key: (group.n, "list"),
        name: format!("list_{all}"),
        description: format!(
            "List all {}{where_from}, with the index that other tools take.",
            all.replace('_', " ")
        ),
        schema: json!({ "type": "object", "properties": {} }),
        action: ToolAction::List {
            items: texts.map(|item| one_line(&item.text, 160)).collect(),
        },
        rank: 71,
    });
    drafts
}

/// Controls that do the same in each item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Cluster {
    /// The control that has the item's name.
    Main,
    /// Controls with the same name in each item.
    Alike { name: String, switch: bool },
}

/// For each action, the element to press in each item; items without it keep their index.
fn clusters(survey: &Survey, items: &Items, size: usize) -> Vec<(Cluster, Vec<Item>)> {
    let mut counts: IndexMap<(String, bool), usize> = IndexMap::new();
    for places in items.values() {
        for control in places.iter().filter_map(|at| survey.controls.get(*at)) {
            *counts
                .entry((words_of(control).to_owned(), is_switch(control)))
                .or_default() += 1;
        }
    }
    let is_alike = |control: &Control| {
        let count = counts.get(&(words_of(control).to_owned(), is_switch(control)));
        let enough = items.len().div_ceil(2).max(2);
        let lone =
            items.len() == 1 && matches!(control.role.as_str(), "button" | "checkbox" | "switch");
        lone || count.is_some_and(|count| *count >= enough)
    };
    let mut clusters: IndexMap<Cluster, Vec<Item>> = IndexMap::new();
    for (index, (item, places)) in items.iter().enumerate() {
        let text = survey
            .groups
            .get(*item)
            .map(|group| one_line(&group.text, 160));
        let text = text.unwrap_or_default();
        let mut has_main = false;
        for control in places.iter().filter_map(|at| survey.controls.get(*at)) {
            let cluster = match is_alike(control) {
                true => Cluster::Alike {
                    name: words_of(control).to_owned(),
                    switch: is_switch(control),
                },
                // A checkbox named like its item is the checkbox of each item.
                false if is_switch(control) => Cluster::Alike {
                    name: "selected".into(),
                    switch: true,
                },
                false if has_main || words_of(control).is_empty() => continue,
                false => Cluster::Main,
            };
            has_main |= cluster == Cluster::Main;
            let members = clusters.entry(cluster).or_default();
            if members.len() > index {
                continue;
            }
            // Items without this control keep their index, with no element to press.
            while members.len() < index {
                members.push(Item {
                    text: String::new(),
                    n: 0,
                });
            }
            members.push(Item {
                text: text.clone(),
                n: control.n,
            });
        }
    }
    // A few links in a few items are not an action of the list.
    let enough =
        |members: &[Item]| members.iter().filter(|item| item.n != 0).count() * 5 >= size * 3;
    let kept = clusters
        .into_iter()
        .filter(|(cluster, members)| match cluster {
            Cluster::Main => enough(members),
            Cluster::Alike { name, .. } => !name.is_empty(),
        });
    kept.collect()
}

fn words_of(control: &Control) -> &str {
    match control.name.is_empty() {
        true => &control.hint,
        false => &control.name,
    }
}

/// The noun for one item.
fn noun_of(group: &Group) -> String {
    let title = without_numbers(&snake(title_of(group), 3));
    let hint = snake(&group.hint, 3);
    let hint = ["_list", "_table", "_items", "_grid"]
        .iter()
        .find_map(|end| hint.strip_suffix(end))
        .map(str::to_owned);
    let noun = [Some(title), hint]
        .into_iter()
        .flatten()
        .find(|noun| !noun.is_empty());
    let noun = noun.filter(|noun| noun != "open");
    noun.map_or_else(|| "item".into(), |noun| singular(&noun))
}

/// Titles often count the items: "Inbox (3)".
fn without_numbers(name: &str) -> String {
    let words = name.split('_');
    let words = words.filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
    words.collect::<Vec<_>>().join("_")
}

fn title_of(group: &Group) -> &str {
    match group.name.is_empty() {
        true => &group.heading,
        false => &group.name,
    }
}

/// Items with more controls are sections of a page, not items.
const MAX_CONTROLS_IN_ITEM: usize = 8;
const FEW_CHOICES: usize = 8;
const MAX_TOOLS_OF_LIST: usize = 6;
