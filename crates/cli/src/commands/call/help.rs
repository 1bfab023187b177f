//! What `tabmux call --list` and `tabmux call TOOL --help` print.

use super::verbs::Verb;
use crate::commands::schema_text::{self, Argument, choices, types};
use crate::wrap;
use serde_json::{Map, Value, json};
use tabmux_daemon::catalogue;
use tabmux_protocol::ToolInfo;

/// Every tool and its description.
pub(super) fn list(tools: &[ToolInfo], width: usize) -> String {
    let row = |tool: &ToolInfo| (tool.name.clone(), one_line(&tool.description));
    let rows: Vec<_> = tools.iter().map(row).collect();
    wrap::definitions(&rows, width)
}

/// Every tool as JSON, for programs.
pub(super) fn list_as_json(tools: &[ToolInfo]) -> serde_json::Result<String> {
    let tool = |tool: &ToolInfo| {
        json!({
            "name": tool.name,
            "description": tool.description,
            "category": catalogue::category(&tool.name).map(|category| category.name()),
            "inputSchema": *tool.input_schema,
        })
    };
    serde_json::to_string_pretty(&tools.iter().map(tool).collect::<Vec<_>>())
}

/// The help of a tool, for `tabmux call` or a shortcut.
pub(super) fn tool(tool: &ToolInfo, verb: Option<&Verb>, width: usize) -> String {
    let is_ours = is_ours(&tool.name);
    let arguments = schema_text::arguments(&tool.input_schema);
    let describe = |argument: &Argument<'_>| {
        let known = if is_ours {
            schema_text::known(argument.name)
        } else {
            ""
        };
        let mut meaning = schema_text::meaning(&argument.schema, known);
        if types(&argument.schema) == ["array"] {
            meaning.push_str(" May be repeated.");
        }
        one_line(&meaning)
    };
    let plain = |argument: &&Argument<'_>| verb.is_some_and(|verb| verb.has(argument.name));
    let (named, flags): (Vec<_>, Vec<_>) = arguments.iter().partition(plain);
    let about = match verb {
        Some(verb) => verb.about.to_owned(),
        None => one_line(&tool.description),
    };
    let mut parts = vec![
        wrap::wrap(&about, 0, width),
        usage(&tool.name, verb, &arguments, width),
    ];
    let named: Vec<_> = named
        .into_iter()
        .filter_map(|it| {
            let plain = verb?.plain.iter().find(|plain| plain.argument == it.name)?;
            let meaning = plain.meaning.map_or_else(|| describe(it), str::to_owned);
            Some((plain.word.to_owned(), meaning))
        })
        .collect();
    if !named.is_empty() {
        parts.push(format!("Arguments:\n{}", wrap::definitions(&named, width)));
    }
    let flags: Vec<_> = flags
        .into_iter()
        .map(|it| (flag(it), describe(it)))
        .collect();
    let title = if verb.is_some() { "Flags" } else { "Arguments" };
    if !flags.is_empty() {
        parts.push(format!("{title}:\n{}", wrap::definitions(&flags, width)));
    } else if verb.is_none() {
        parts.push("It takes no arguments.".to_owned());
    }
    parts.push(wrap::wrap(&end(&tool.name, verb), 0, width));
    parts.join("\n\n")
}

fn usage(tool: &str, verb: Option<&Verb>, arguments: &[Argument<'_>], width: usize) -> String {
    let flags = "[FLAGS]";
    let indent = "Usage: ".len();
    if let Some(verb) = verb {
        let words: Vec<_> = verb.plain.iter().map(|plain| plain.usage()).collect();
        let line = [
            &["tabmux", verb.name],
            &words.iter().map(String::as_str).collect::<Vec<_>>()[..],
            &[flags],
        ];
        return format!(
            "Usage: {}",
            wrap::wrap(&line.concat().join(" "), indent, width)
        );
    }
    let required = arguments.iter().filter(|argument| argument.is_required);
    let required: Vec<_> = required.map(flag).collect();
    let line = [
        &["tabmux call".to_owned(), tool.to_owned()],
        &required[..],
        &[flags.to_owned()],
    ]
    .concat();
    let with_flags = wrap::wrap(&line.join(" "), indent, width);
    match arguments {
        [] => format!("Usage: {with_flags}"),
        _ => {
            let with_json = wrap::wrap(&format!("tabmux call {tool} JSON"), indent, width);
            format!("Usage: {with_flags}\n{:indent$}{with_json}", "")
        }
    }
}

/// A flag with its value: `--uid TEXT`.
fn flag(argument: &Argument<'_>) -> String {
    match value_name(&argument.schema) {
        Some(value) => format!("--{} {value}", argument.name),
        None => format!("--{}", argument.name),
    }
}

fn value_name(schema: &Map<String, Value>) -> Option<String> {
    if let Some(choices) = choices(schema) {
        return Some(choices.join("|"));
    }
    let name = match types(schema).as_slice() {
        ["boolean"] => return None,
        ["string"] => "TEXT",
        ["integer" | "number"] => "NUMBER",
        ["array"] => {
            let items = schema.get("items").and_then(Value::as_object);
            return items
                .and_then(value_name)
                .or_else(|| Some("JSON".to_owned()));
        }
        ["object"] => "JSON",
        _ => "VALUE",
    };
    Some(name.to_owned())
}

fn end(tool: &str, verb: Option<&Verb>) -> String {
    match verb {
        Some(_) => format!(
            "Runs the tool {tool} in the session `default`, or --session NAME. --json prints the whole answer. \
             `tabmux call --help` shows the flags for the session and the browser."
        ),
        None => {
            let category = catalogue::category(tool)
                .map(|category| format!("Category: {}. ", category.name()));
            format!(
                "{}`tabmux call --help` shows the flags for the session and the browser.",
                category.unwrap_or_default()
            )
        }
    }
}

pub(super) fn is_ours(tool: &str) -> bool {
    catalogue::only_static()
        .chain(catalogue::all())
        .any(|known| known.name == tool)
}

/// Pages write the descriptions of their tools, so control characters and line breaks are removed.
fn one_line(text: &str) -> String {
    tabmux_text::one_line(text, LONGEST)
}

const LONGEST: usize = 1_000;
