//! Fields of a page as arguments: their types, limits, choices and defaults.

use super::facts::{Choice, Control, Field, Kind, Survey};
use super::naming::camel;
use serde_json::{Map, Value, json};
use tabmux_text::one_line;

/// One argument of a tool, and what it fills.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Argument {
    pub(crate) name: String,
    /// The field's name for users.
    pub(crate) label: String,
    pub(crate) schema: Value,
    pub(crate) required: bool,
    pub(crate) secret: bool,
    pub(crate) fills: Fills,
}

/// What an argument fills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fills {
    /// Sets a field's value.
    Field(u32),
    /// Chooses from a custom list of the page, which has to be opened first.
    Picker(u32),
    /// Moves a custom slider of the page.
    Slider(u32),
    /// Ticks the named checkboxes and unticks the others.
    Boxes(Vec<(String, u32)>),
    /// Selects the named radio button.
    Radios(Vec<(String, u32)>),
}

/// The arguments for these fields, in order, with unique names.
pub(crate) fn arguments(survey: &Survey, fields: &[&Control]) -> Vec<Argument> {
    let mut arguments: Vec<Argument> = Vec::new();
    let mut done = vec![false; fields.len()];
    for (at, control) in fields.iter().enumerate() {
        if done.get(at).copied().unwrap_or(true) {
            continue;
        }
        let mut members = vec![*control];
        if is_grouped(control) {
            for (later, other) in fields.iter().enumerate().skip(at + 1) {
                if are_grouped(survey, control, other) {
                    members.push(other);
                    if let Some(done) = done.get_mut(later) {
                        *done = true;
                    }
                }
            }
        }
        let mut argument = match members.as_slice() {
            _ if control.field.kind == "radio" => radios(survey, &members),
            [_] => single(survey, control),
            _ => boxes(survey, &members),
        };
        argument.name = free_name(&argument.name, &arguments);
        arguments.push(argument);
    }
    arguments
}

fn is_grouped(control: &Control) -> bool {
    matches!(control.field.kind.as_str(), "radio" | "toggle")
}

/// Radio buttons of one group, or checkboxes with one name.
fn are_grouped(survey: &Survey, one: &Control, other: &Control) -> bool {
    let (a, b) = (&one.field, &other.field);
    if a.kind != b.kind {
        return false;
    }
    let same_key = !a.key.is_empty() && a.key == b.key;
    let choice = |control| {
        let mut around = survey.around(control);
        around
            .find(|(_, group)| group.kind == Kind::Choice)
            .map(|(at, _)| at)
    };
    same_key || a.kind == "radio" && choice(one).is_some() && choice(one) == choice(other)
}

/// The schema of a tool with these arguments.
pub(crate) fn object(arguments: &[Argument]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for argument in arguments {
        properties.insert(argument.name.clone(), argument.schema.clone());
        if argument.required {
            required.push(argument.name.clone());
        }
    }
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// Whether a tool can fill this field.
pub(crate) fn can_fill(control: &Control) -> bool {
    let takes = !matches!(
        control.field.kind.as_str(),
        "" | "file" | "none" | "hidden" | "button" | "submit" | "reset" | "image"
    );
    takes && !control.disabled && !(control.field.fixed && control.field.kind != "pick")
}

/// The values of an enumeration: shortened, without duplicates.
pub(crate) fn choices<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for text in texts {
        let text = one_line(text, MAX_CHOICE);
        if !text.is_empty() && !values.contains(&text) {
            values.push(text);
        }
    }
    values
}

fn single(survey: &Survey, control: &Control) -> Argument {
    let field = &control.field;
    let mut schema = type_of(field);
    let mut about = one_line(control.display_name(), MAX_LABEL);
    let mut say = |more: &str| {
        if !more.is_empty() && !about.contains(more) {
            if !about.is_empty() {
                about.push_str(if about.ends_with(['.', ':', '?', '!']) {
                    " "
                } else {
                    ". "
                });
            }
            about.push_str(more);
        }
    };
    let mut around = survey.around(control);
    let legend = around.find(|(_, group)| group.kind == Kind::Fieldset && !group.name.is_empty());
    if let Some((_, legend)) = legend {
        say(&one_line(&legend.name, MAX_LABEL));
    }
    say(&one_line(&field.description, MAX_LABEL));
    if !field.placeholder.is_empty() && field.placeholder != control.display_name() {
        say(&format!(
            "For example: {}",
            one_line(&field.placeholder, MAX_LABEL)
        ));
    }
    say(match field.kind.as_str() {
        "datetime-local" => "As 2026-01-31T09:30",
        "month" => "As 2026-01",
        "time" => "As 09:30",
        "week" => "As 2026-W05",
        _ => "",
    });
    if field.more_options > 0 {
        say(&format!(
            "{} of its options are not listed here",
            field.more_options
        ));
    }
    if field.secret {
        say("Never repeated in answers");
    }
    if !about.is_empty() {
        schema.insert("description".into(), json!(about));
    }
    let default = default_of(field, &schema);
    let required = field.required && default.is_none();
    if let Some(default) = default {
        schema.insert("default".into(), default);
    }
    Argument {
        name: argument_name(control),
        label: one_line(
            if control.display_name().is_empty() {
                &field.key
            } else {
                control.display_name()
            },
            MAX_LABEL,
        ),
        schema: Value::Object(schema),
        required,
        secret: field.secret,
        fills: match field.kind.as_str() {
            "pick" => Fills::Picker(control.n),
            "slide" => Fills::Slider(control.n),
            _ => Fills::Field(control.n),
        },
    }
}

fn type_of(field: &Field) -> Map<String, Value> {
    let mut schema = Map::new();
    let mut set = |key: &str, value: Value| {
        schema.insert(key.into(), value);
    };
    let options = field.options.as_deref().map(offered).unwrap_or_default();
    let all_told = !options.is_empty() && field.more_options == 0;
    match field.kind.as_str() {
        "toggle" => set("type", json!("boolean")),
        "number" | "range" | "slide" => {
            set("type", json!("number"));
            if let Some(least) = number(&field.min) {
                set("minimum", least);
            }
            if let Some(most) = number(&field.max) {
                set("maximum", most);
            }
            // The step of a custom slider is unknown until it moves.
            if field.kind != "slide"
                && let Some(step) = whole_step(field)
            {
                set("multipleOf", json!(step));
            }
        }
        "many" => {
            set("type", json!("array"));
            let items = match all_told {
                true => json!({ "type": "string", "enum": options }),
                false => json!({ "type": "string" }),
            };
            set("items", items);
            set("uniqueItems", json!(true));
        }
        "one" | "pick" => {
            set("type", json!("string"));
            if all_told {
                set("enum", json!(options));
            }
        }
        kind => {
            set("type", json!("string"));
            match kind {
                "date" => set("format", json!("date")),
                "email" => set("format", json!("email")),
                "url" => set("format", json!("uri")),
                "time" => set("pattern", json!("^\\d{2}:\\d{2}(:\\d{2})?$")),
                "datetime-local" => set(
                    "pattern",
                    json!("^\\d{4,}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2})?$"),
                ),
                "month" => set("pattern", json!("^\\d{4,}-\\d{2}$")),
                "week" => set("pattern", json!("^\\d{4,}-W\\d{2}$")),
                "color" => set("pattern", json!("^#[0-9a-fA-F]{6}$")),
                _ => {}
            }
            if field.secret {
                set("format", json!("password"));
            }
            // `{{secret:NAME}}` is of another length than what it stands for.
            if let Ok(least) = field.min_length.parse::<u32>()
                && least > 0
                && !field.secret
            {
                set("minLength", json!(least));
            }
            if let Ok(most) = field.max_length.parse::<u32>()
                && most > 0
                && !field.secret
            {
                set("maxLength", json!(most));
            }
        }
    }
    schema
}

/// The options that can be chosen. An empty option is included if the field may stay empty.
fn offered(options: &[Choice]) -> Vec<String> {
    let usable = options
        .iter()
        .filter(|option| !option.disabled && !option.empty);
    choices(usable.map(|option| option.text.as_str()))
}

fn default_of(field: &Field, schema: &Map<String, Value>) -> Option<Value> {
    if field.secret {
        return None;
    }
    let value = field.value.as_ref()?;
    let allowed = |text: &str| match schema.get("enum").and_then(Value::as_array) {
        Some(options) => options.iter().any(|option| option == text),
        None => true,
    };
    match (field.kind.as_str(), value) {
        ("toggle", Value::Bool(on)) => on.then(|| json!(true)),
        ("number" | "range" | "slide", Value::String(text)) => number(text),
        ("many", Value::Array(chosen)) => (!chosen.is_empty()).then(|| json!(chosen)),
        ("one", Value::Array(chosen)) => {
            let chosen = chosen.first()?.as_str()?;
            let chosen = one_line(chosen, MAX_CHOICE);
            allowed(&chosen).then(|| json!(chosen))
        }
        (_, Value::String(text)) if !text.is_empty() && allowed(text) => {
            Some(json!(one_line(text, 200)))
        }
        _ => None,
    }
}

fn radios(survey: &Survey, members: &[&Control]) -> Argument {
    let (named, first) = members_of(members);
    let chosen = members
        .iter()
        .find(|member| member.field.value == Some(json!(true)));
    let mut schema = Map::new();
    schema.insert("type".into(), json!("string"));
    schema.insert(
        "enum".into(),
        json!(choices(named.iter().map(|(text, _)| text.as_str()))),
    );
    let (name, label) = group_name(survey, members, "choice");
    schema.insert("description".into(), json!(label));
    let default = chosen.map(|chosen| one_line(chosen.display_name(), MAX_CHOICE));
    if let Some(default) = &default {
        schema.insert("default".into(), json!(default));
    }
    Argument {
        name,
        label,
        schema: Value::Object(schema),
        required: first.is_some_and(|first| first.field.required) && default.is_none(),
        secret: false,
        fills: Fills::Radios(named),
    }
}

fn boxes(survey: &Survey, members: &[&Control]) -> Argument {
    let (named, _) = members_of(members);
    let ticked = members
        .iter()
        .filter(|member| member.field.value == Some(json!(true)));
    let ticked: Vec<_> = ticked
        .map(|one| one_line(one.display_name(), MAX_CHOICE))
        .collect();
    let options = choices(named.iter().map(|(text, _)| text.as_str()));
    let (name, label) = group_name(survey, members, "choices");
    let mut schema = json!({
        "type": "array",
        "items": { "type": "string", "enum": options },
        "uniqueItems": true,
        "description": label,
    });
    if !ticked.is_empty() {
        schema["default"] = json!(ticked);
    }
    Argument {
        name,
        label,
        schema,
        required: false,
        secret: false,
        fills: Fills::Boxes(named),
    }
}

fn members_of<'a>(members: &[&'a Control]) -> (Vec<(String, u32)>, Option<&'a Control>) {
    let named = members
        .iter()
        .filter(|member| !member.display_name().is_empty());
    let named = named.map(|member| (one_line(member.display_name(), MAX_CHOICE), member.n));
    (named.collect(), members.first().copied())
}

/// The name of a checkbox group: its legend, else its key.
fn group_name(survey: &Survey, members: &[&Control], otherwise: &str) -> (String, String) {
    let first = members.first();
    let around = first.into_iter().flat_map(|first| survey.around(first));
    let mut legends = around
        .filter(|(_, group)| matches!(group.kind, Kind::Choice | Kind::Fieldset))
        .map(|(_, group)| group.name.as_str())
        .filter(|name| !name.is_empty());
    let legend = legends.next().unwrap_or_default();
    let key = first.map_or("", |first| first.field.key.as_str());
    let name = [camel(legend), camel(key)]
        .into_iter()
        .find(|name| !name.is_empty());
    let label = if legend.is_empty() { key } else { legend };
    let label = one_line(if label.is_empty() { otherwise } else { label }, MAX_LABEL);
    (name.unwrap_or_else(|| otherwise.to_owned()), label)
}

/// The name of an argument: its label, else its key, else its placeholder.
fn argument_name(control: &Control) -> String {
    let field = &control.field;
    let label = match control.name == field.placeholder {
        true => "",
        false => control.name.as_str(),
    };
    let telling = field.key.len() > 2 && !field.key.contains(|c: char| c.is_ascii_digit());
    let key = if telling { field.key.as_str() } else { "" };
    let words = [
        label,
        &field.before,
        key,
        &field.placeholder,
        &field.key,
        &control.hint,
    ];
    let name = words.into_iter().map(camel).find(|name| !name.is_empty());
    name.unwrap_or_else(|| match field.kind.as_str() {
        "toggle" => "on".into(),
        _ => "value".into(),
    })
}

fn free_name(wanted: &str, taken: &[Argument]) -> String {
    let is_taken = |name: &str| taken.iter().any(|argument| argument.name == name);
    let numbered = (2_u32..).map(|n| format!("{wanted}{n}"));
    let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
    names
        .find(|name| !is_taken(name))
        .unwrap_or_else(|| wanted.to_owned())
}

/// A number as JSON, as an integer where possible.
fn number(text: &str) -> Option<Value> {
    let number: f64 = text
        .trim()
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())?;
    match number.fract() == 0.0 && number.abs() < 1e15 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it is whole and small enough"
        )]
        true => Some(json!(number as i64)),
        false => Some(json!(number)),
    }
}

/// Only steps that are integers and start at a multiple of themselves; a schema cannot express others.
fn whole_step(field: &Field) -> Option<u32> {
    let step = match field.step.as_str() {
        "" => 1,
        step => step.parse().ok().filter(|step| *step > 0)?,
    };
    let base = match field.min.as_str() {
        "" => 0,
        min => min.parse::<i64>().ok()?,
    };
    (base % i64::from(step) == 0).then_some(step)
}

const MAX_CHOICE: usize = 100;
const MAX_LABEL: usize = 120;
