//! Forms, search boxes and single fields as tools.

use super::draft::{AfterFill, Draft, ToolAction};
use super::facts::{Control, Group, Kind, Survey};
use super::form_buttons;
use super::naming::snake;
use super::schema::{self, Argument, Fills};
use serde_json::json;
use std::collections::BTreeMap;
use tabmux_text::one_line;

/// The tools for all fields of a document. Marks the controls that they cover in `used`.
pub(crate) fn drafts(survey: &Survey, used: &mut [bool]) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (form, members) in forms(survey, used) {
        let Some(group) = survey.groups.get(form) else {
            continue;
        };
        drafts.extend(form_draft(survey, group, &members, used));
    }
    for fields in fields_without_form(survey, used) {
        drafts.extend(match fields.as_slice() {
            [one] => single_field(survey, *one),
            several => field_set(survey, several),
        });
        for at in fields {
            mark(used, at);
        }
    }
    drafts
}

/// Every form with the indexes of its controls. `lists` handles a form inside a list item.
fn forms(survey: &Survey, used: &[bool]) -> BTreeMap<usize, Vec<usize>> {
    let mut forms: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, control) in survey.controls.iter().enumerate() {
        let mut around = survey.around(control);
        let form = around.find(|(_, group)| is_form(group));
        if let Some((form, _)) = form
            && !used.get(at).copied().unwrap_or(true)
        {
            forms.entry(form).or_default().push(at);
        }
    }
    forms
}

fn is_form(group: &Group) -> bool {
    matches!(group.kind, Kind::Form | Kind::Search | Kind::Panel)
}

fn form_draft(
    survey: &Survey,
    group: &Group,
    members: &[usize],
    used: &mut [bool],
) -> Option<Draft> {
    let controls = |at: &usize| survey.controls.get(*at);
    let places = members
        .iter()
        .filter(|at| controls(at).is_some_and(schema::can_fill));
    let places: Vec<usize> = places.copied().take(MAX_FIELDS).collect();
    let fields: Vec<&Control> = places.iter().filter_map(controls).collect();
    if fields.is_empty() || fields.iter().all(|field| is_unnamed(field)) {
        return None;
    }
    let button = form_buttons::submit_button(survey, members, group);
    for at in places {
        mark(used, at);
    }
    if let Some(at) = button {
        mark(used, at);
    }
    let button = button.as_ref().and_then(controls);
    let mut arguments = schema::arguments(survey, &fields);
    let purpose = Purpose::of(group, &fields, button);
    let name = purpose.name(group, &fields, button);
    if purpose == Purpose::Search
        && let [only] = arguments.as_mut_slice()
    {
        only.name = "query".into();
        only.required = true;
    }
    let then = match (button, only_text_field(&fields)) {
        (Some(button), _) => AfterFill::Press {
            label: label_of(button),
            n: button.n,
        },
        (None, Some(n)) if group.kind != Kind::Panel => AfterFill::Enter { n },
        _ => AfterFill::Nothing,
    };
    let ending = match &then {
        AfterFill::Press { label, .. } => format!(", then press \"{label}\""),
        AfterFill::Enter { .. } => ", then press Enter".into(),
        AfterFill::Nothing => String::new(),
    };
    let title = title_of(group);
    let description = match (purpose, title.is_empty()) {
        (Purpose::Search, true) => format!("Search here{ending}."),
        (_, true) => format!("Fill this form{ending}."),
        (_, false) => format!("Fill the form \"{}\"{ending}.", one_line(title, 100)),
    };
    let mut schema = schema::object(&arguments);
    let is_free = !arguments.iter().any(|argument| argument.name == SUBMIT);
    if then != AfterFill::Nothing && purpose != Purpose::Search && is_free {
        schema["properties"][SUBMIT] =
            json!({ "type": "boolean", "description": "false: only fill" });
    }
    let description = match arguments.iter().any(|argument| argument.secret) {
        true => format!("{description} Secrets are not repeated in the answer."),
        false => format!("{description} Omitted fields stay unchanged."),
    };
    Some(Draft {
        key: (group.n, "form"),
        name,
        description,
        schema,
        action: ToolAction::Fill { arguments, then },
        rank: purpose.rank(),
    })
}

/// A field without any name: an agent could not know what it is for.
fn is_unnamed(field: &Control) -> bool {
    field.display_name().is_empty() && field.field.key.is_empty()
}

/// The field in which Enter submits a form without a button: it must be the only text field.
fn only_text_field(fields: &[&Control]) -> Option<u32> {
    let is_line = |field: &&&Control| {
        !matches!(
            field.field.kind.as_str(),
            "area" | "toggle" | "radio" | "one" | "many" | "pick" | "slide"
        )
    };
    let mut lines = fields.iter().filter(is_line);
    let only = lines.next()?;
    lines.next().is_none().then_some(only.n)
}

/// What a form is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    SignIn,
    Search,
    Other,
}

impl Purpose {
    fn of(group: &Group, fields: &[&Control], button: Option<&Control>) -> Self {
        let passwords = fields.iter().filter(|field| field.field.kind == "password");
        if passwords.count() == 1 && fields.len() <= 4 {
            return Self::SignIn;
        }
        let texts: Vec<&&Control> = fields.iter().filter(|field| is_text(field)).collect();
        let button_searches = button.is_some_and(|button| begins_with_search(&button.name));
        let searches = group.kind == Kind::Search
            || texts.iter().any(|field| is_search(field))
            || button_searches && texts.len() == 1;
        match searches && texts.len() == 1 {
            true => Self::Search,
            false => Self::Other,
        }
    }

    fn rank(self) -> i32 {
        match self {
            Self::SignIn => 100,
            Self::Search => 95,
            Self::Other => 90,
        }
    }

    fn name(self, group: &Group, fields: &[&Control], button: Option<&Control>) -> String {
        let said = button
            .map(|button| snake(&button.name, 5))
            .unwrap_or_default();
        match self {
            Self::SignIn if said.is_empty() || VAGUE.contains(&said.as_str()) => "sign_in".into(),
            Self::SignIn => said,
            Self::Search => search_name(group, fields),
            Self::Other => form_name(group, fields, &said),
        }
    }
}

/// `search_inbox` if the page names what is searched, else `search`.
fn search_name(group: &Group, fields: &[&Control]) -> String {
    let field = fields.iter().find(|field| is_text(field));
    let words = field
        .into_iter()
        .flat_map(|field| [field.name.as_str(), field.field.placeholder.as_str()]);
    for words in words.chain([group.name.as_str()]) {
        let name = snake(words, 4);
        if name.starts_with("search_") && name.len() > "search_for".len() {
            return name
                .replace("search_for_", "search_")
                .replace("search_the_", "search_");
        }
    }
    "search".into()
}

/// The button's text if it is specific enough, else with the form's title: `search` + `flights`.
fn form_name(group: &Group, fields: &[&Control], button: &str) -> String {
    let title = snake(title_of(group), 4);
    if button.contains('_') && !VAGUE.contains(&button) {
        return button.to_owned();
    }
    let one = match fields {
        [one] => snake(one.display_name(), 4),
        _ => String::new(),
    };
    match (button, title.as_str()) {
        ("", "") if !one.is_empty() => format!("fill_{one}"),
        ("", "") => named_by_markup(group),
        ("", title) => format!("fill_{title}"),
        (button, "") if VAGUE.contains(&button) && !one.is_empty() => format!("{button}_{one}"),
        (button, "") if VAGUE.contains(&button) => format!("{button}_form"),
        (button, "") => button.to_owned(),
        (button, title) if title.starts_with(button) => title.to_owned(),
        (button, title) => format!("{button}_{title}"),
    }
}

fn named_by_markup(group: &Group) -> String {
    let hint = snake(&group.hint, 3);
    match hint.is_empty() || hint == "form" {
        true => "fill_form".into(),
        false => format!("fill_{hint}"),
    }
}

fn title_of(group: &Group) -> &str {
    match group.name.is_empty() {
        true => &group.heading,
        false => &group.name,
    }
}

/// Fields outside of forms, grouped if they share a group and a heading.
fn fields_without_form(survey: &Survey, used: &[bool]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(i64, &str, Vec<usize>)> = Vec::new();
    for (at, control) in survey.controls.iter().enumerate() {
        let free = !used.get(at).copied().unwrap_or(true);
        if !free || !control.is_field() || !schema::can_fill(control) || is_unnamed(control) {
            continue;
        }
        let field_group = field_group(survey, control);
        let is_text_alone = is_search(control);
        let same = groups.iter_mut().find(|(group, heading, _)| {
            *group == field_group && *heading == control.heading && !is_text_alone
        });
        match same {
            Some((.., members)) if members.len() < MAX_FIELDS => members.push(at),
            _ => groups.push((field_group, &control.heading, vec![at])),
        }
    }
    groups.into_iter().map(|(.., members)| members).collect()
}

/// The group that keeps fields together; guessed list items do not count.
fn field_group(survey: &Survey, control: &Control) -> i64 {
    let mut around = survey.around(control);
    let field_group = around.find(|(_, group)| {
        matches!(
            group.kind,
            Kind::Dialog | Kind::Fieldset | Kind::Toolbar | Kind::Header | Kind::Footer
        )
    });
    field_group
        .and_then(|(at, _)| i64::try_from(at).ok())
        .unwrap_or(-1)
}

/// A tool for one field.
fn single_field(survey: &Survey, at: usize) -> Option<Draft> {
    let control = survey.controls.get(at)?;
    let mut arguments = schema::arguments(survey, &[control]);
    let argument = arguments.first_mut()?;
    let label = one_line(&argument.label, 80);
    let words = match snake(&argument.label, 5) {
        words if words.is_empty() => snake(&control.field.key, 4),
        words => words,
    };
    if words.is_empty() && !is_search(control) {
        return None;
    }
    let (name, argument_name, then, description) = match control.field.kind.as_str() {
        _ if is_search(control) => (
            search_name(&Group::default(), &[control]),
            "query",
            AfterFill::Enter { n: control.n },
            "Search here, then press Enter.".to_owned(),
        ),
        "toggle" => (
            format!("set_{words}"),
            "on",
            AfterFill::Nothing,
            format!("Switch \"{label}\" on or off."),
        ),
        "one" | "pick" | "radio" => (
            format!("choose_{words}"),
            "option",
            AfterFill::Nothing,
            format!("Choose \"{label}\"."),
        ),
        "many" => (
            format!("choose_{words}"),
            "options",
            AfterFill::Nothing,
            format!("Choose \"{label}\"."),
        ),
        "area" => (
            format!("fill_{words}"),
            "text",
            AfterFill::Nothing,
            format!("Fill \"{label}\"."),
        ),
        _ if is_text(control) => (
            format!("enter_{words}"),
            "text",
            AfterFill::Enter { n: control.n },
            format!("Fill \"{label}\", then press Enter."),
        ),
        _ => (
            format!("set_{words}"),
            "value",
            AfterFill::Nothing,
            format!("Set \"{label}\"."),
        ),
    };
    argument.name = argument_name.into();
    argument.required = true;
    Some(Draft {
        key: (control.n, "field"),
        name,
        description,
        schema: schema::object(&arguments),
        rank: if is_search(control) { 93 } else { 65 },
        action: ToolAction::Fill { arguments, then },
    })
}

/// A tool for several fields without a submit button.
fn field_set(survey: &Survey, places: &[usize]) -> Option<Draft> {
    let fields: Vec<&Control> = places
        .iter()
        .filter_map(|at| survey.controls.get(*at))
        .collect();
    let first = fields.first()?;
    let arguments = schema::arguments(survey, &fields);
    if let (
        [
            Argument {
                fills: Fills::Radios(_) | Fills::Boxes(_),
                ..
            },
        ],
        [at, ..],
    ) = (arguments.as_slice(), places)
    {
        let mut draft = single_field(survey, *at)?;
        let label = arguments
            .first()
            .map(|argument| argument.label.clone())
            .unwrap_or_default();
        draft.name = format!("choose_{}", snake(&label, 5));
        draft.description = format!("Choose \"{}\".", one_line(&label, 80));
        let mut arguments = arguments;
        if let Some(argument) = arguments.first_mut() {
            let many = matches!(argument.fills, Fills::Boxes(_));
            argument.name = if many { "options" } else { "option" }.into();
            argument.required = true;
        }
        draft.schema = schema::object(&arguments);
        draft.action = ToolAction::Fill {
            arguments,
            then: AfterFill::Nothing,
        };
        return Some(draft);
    }
    let field_group = usize::try_from(field_group(survey, first)).ok();
    let group = field_group.and_then(|field_group| survey.groups.get(field_group));
    let title = group.map_or("", |group| group.name.as_str());
    let title = if title.is_empty() {
        first.heading.as_str()
    } else {
        title
    };
    let words = snake(title, 4);
    Some(Draft {
        key: (first.n, "fields"),
        name: if words.is_empty() {
            "fill_fields".into()
        } else {
            format!("fill_{words}")
        },
        description: match title.is_empty() {
            true => "Fill these fields. Omitted fields stay unchanged.".into(),
            false => format!(
                "Fill the fields of \"{}\". Omitted fields stay unchanged.",
                one_line(title, 100)
            ),
        },
        schema: schema::object(&arguments),
        action: ToolAction::Fill {
            arguments,
            then: AfterFill::Nothing,
        },
        rank: 75,
    })
}

fn is_text(control: &Control) -> bool {
    matches!(
        control.field.kind.as_str(),
        "text" | "search" | "email" | "url" | "tel" | "password"
    )
}

fn is_search(control: &Control) -> bool {
    let field = &control.field;
    control.role == "searchbox"
        || field.kind == "text"
            && (matches!(field.key.as_str(), "q" | "query" | "search" | "s")
                || begins_with_search(&control.name)
                || begins_with_search(&field.placeholder))
}

fn begins_with_search(text: &str) -> bool {
    let name = snake(text, 2);
    name == "search" || name.starts_with("search_")
}

fn label_of(control: &Control) -> String {
    let words = if control.name.is_empty() {
        &control.hint
    } else {
        &control.name
    };
    one_line(words, 80)
}

fn mark(used: &mut [bool], at: usize) {
    if let Some(used) = used.get_mut(at) {
        *used = true;
    }
}

/// The schema of a tool with one switch.
pub(crate) fn switch_schema(about: &str) -> serde_json::Value {
    json!({
        "type": "object",
        "properties": { "on": { "type": "boolean", "description": about } },
        "required": ["on"],
    })
}

/// The argument of a form that says whether it is submitted.
pub(crate) const SUBMIT: &str = "submit";
const MAX_FIELDS: usize = 40;
/// Button texts that do not say what they submit.
const VAGUE: [&str; 14] = [
    "submit", "ok", "go", "send", "save", "continue", "next", "apply", "add", "update", "create",
    "done", "confirm", "start",
];
