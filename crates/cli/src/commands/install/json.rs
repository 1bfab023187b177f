//! Entries in a JSON config. Only our own lines change: order, spacing and comments of the rest stay.

mod spans;

use super::entry::{Entry, Found, Refusal, is_ours};
use super::format::JsonEntry;
use serde_json::Value;
use spans::{Document, Member};
use std::ops::Range;

/// The text with the entry below `key`, or `None` if the entry exists already.
pub(super) fn add(
    text: &str,
    key: &str,
    shape: JsonEntry,
    entry: &Entry,
) -> Result<Option<String>, Refusal> {
    if text.trim().is_empty() {
        return add("{}\n", key, shape, entry);
    }
    let document = Document::parse(text)?;
    let style = Style::of(text);
    let node = node(entry, shape);
    let Some(servers) = document.find(&document.root(), key) else {
        let servers = Node::Object(vec![(entry.name.clone(), node)]);
        return Ok(Some(insert(
            &document,
            &document.root(),
            &style,
            key,
            &servers,
        )));
    };
    let servers = object(&document, &servers, key)?;
    let Some(existing) = document.find(&servers, &entry.name) else {
        return Ok(Some(insert(
            &document,
            &servers,
            &style,
            &entry.name,
            &node,
        )));
    };
    let (command, arguments) = run_by(&document.value(&existing.value)).ok_or(Refusal::Taken)?;
    if !is_ours(&command, &arguments, &entry.command) {
        return Err(Refusal::Taken);
    }
    let Some(change) = entry.change(&command, &arguments) else {
        return Ok(None);
    };
    let mut changes = Vec::new();
    match shape {
        JsonEntry::OpenCode => {
            let arguments = change.arguments.unwrap_or(arguments);
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            changes.push(("command", command_line(&entry.command, &arguments)));
        }
        JsonEntry::Plain | JsonEntry::Typed => {
            if change.command {
                changes.push(("command", string(&entry.command)));
            }
            if let Some(arguments) = &change.arguments {
                changes.push(("args", list(arguments)));
            }
        }
    }
    Ok(Some(set(&document, &existing.value, &changes)))
}

/// The text without our entry, or `None` if it has none.
pub(super) fn remove(
    text: &str,
    key: &str,
    name: &str,
    own_path: &str,
) -> Result<Option<String>, Refusal> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let document = Document::parse(text)?;
    let Some(servers) = document.find(&document.root(), key) else {
        return Ok(None);
    };
    let servers = object(&document, &servers, key)?;
    let is_there = document
        .find(&servers, name)
        .and_then(|existing| run_by(&document.value(&existing.value)))
        .is_some_and(|(command, arguments)| is_ours(&command, &arguments, own_path));
    Ok(is_there.then(|| remove_member(&document, &servers, name)))
}

/// All our entries.
pub(super) fn ours(text: &str, key: &str, own_path: &str) -> Result<Vec<Found>, Refusal> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let document = Document::parse(text)?;
    let Some(servers) = document.find(&document.root(), key) else {
        return Ok(Vec::new());
    };
    let servers = object(&document, &servers, key)?;
    let entries = document.members(&servers).into_iter();
    let ours = entries.filter_map(|entry| {
        let (program, arguments) = run_by(&document.value(&entry.value))?;
        let name = entry.key;
        is_ours(&program, &arguments, own_path).then_some(Found { name, program })
    });
    Ok(ours.collect())
}

fn object(document: &Document<'_>, member: &Member, key: &str) -> Result<Range<usize>, Refusal> {
    if document.is_object(&member.value) {
        return Ok(member.value.clone());
    }
    Err(Refusal::WrongShape {
        what: format!("`{key}`"),
    })
}

/// The program of a server and its arguments, which may all be in one list.
fn run_by(value: &Value) -> Option<(String, Vec<String>)> {
    let texts = |list: &Value| -> Option<Vec<String>> {
        let texts = list.as_array()?.iter().filter_map(Value::as_str);
        Some(texts.map(str::to_owned).collect())
    };
    match value.get("command")? {
        Value::String(command) => Some((command.clone(), texts(value.get("args")?)?)),
        line => {
            let mut line = texts(line)?;
            (!line.is_empty()).then(|| (line.remove(0), line))
        }
    }
}

/// A value to write: JSON text as is, or an object to format.
enum Node {
    Leaf(String),
    Object(Vec<(String, Self)>),
}

fn node(entry: &Entry, shape: JsonEntry) -> Node {
    let command = ("command", string(&entry.command));
    let arguments = ("args", list(&entry.arguments()));
    let fields = match shape {
        JsonEntry::Plain => vec![command, arguments],
        JsonEntry::Typed => vec![("type", string("stdio")), command, arguments],
        JsonEntry::OpenCode => vec![
            ("type", string("local")),
            ("command", command_line(&entry.command, &entry.arguments())),
            ("enabled", "true".to_owned()),
        ],
    };
    let fields = fields.into_iter();
    Node::Object(
        fields
            .map(|(name, text)| (name.to_owned(), Node::Leaf(text)))
            .collect(),
    )
}

/// The program and its arguments as one list.
fn command_line(command: &str, arguments: &[&str]) -> String {
    list(&[&[command], arguments].concat())
}

fn string(text: &str) -> String {
    Value::from(text).to_string()
}

fn list(items: &[impl AsRef<str>]) -> String {
    let items: Vec<String> = items.iter().map(|item| string(item.as_ref())).collect();
    format!("[{}]", items.join(", "))
}

/// The formatting of the file.
struct Style {
    line_break: &'static str,
    indent: String,
}

impl Style {
    fn of(text: &str) -> Self {
        let blank = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
        let first = text
            .lines()
            .find(|line| blank(line) > 0 && line.trim_start().starts_with('"'));
        Self {
            line_break: if text.contains("\r\n") { "\r\n" } else { "\n" },
            indent: first.map_or("  ", |line| &line[..blank(line)]).to_owned(),
        }
    }

    /// `"name": node` over several lines, the first of which is indented already.
    fn block(&self, name: &str, node: &Node, at: &str) -> String {
        let name = string(name);
        match node {
            Node::Leaf(leaf) => format!("{name}: {leaf}"),
            Node::Object(fields) => {
                let inner = format!("{at}{}", self.indent);
                let between = format!(",{}{inner}", self.line_break);
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(name, node)| self.block(name, node, &inner))
                    .collect();
                let (line_break, fields) = (self.line_break, fields.join(&between));
                format!("{name}: {{{line_break}{inner}{fields}{line_break}{at}}}")
            }
        }
    }
}

/// `"name": node` on one line.
fn inline(name: &str, node: &Node) -> String {
    match node {
        Node::Leaf(leaf) => format!("{}: {leaf}", string(name)),
        Node::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, node)| inline(name, node))
                .collect();
            format!("{}: {{{}}}", string(name), fields.join(", "))
        }
    }
}

/// Adds a member at the end of an object.
fn insert(
    document: &Document<'_>,
    object: &Range<usize>,
    style: &Style,
    name: &str,
    node: &Node,
) -> String {
    let text = document.text;
    let line_break = style.line_break;
    if let Some(last) = document.members(object).last() {
        let at = last.value.end;
        // A comma that was there already now follows the new member.
        let new = if text[object.start..last.start].contains('\n') {
            let indent = indent_at(text, last.start);
            format!(",{line_break}{indent}{}", style.block(name, node, indent))
        } else {
            format!(", {}", inline(name, node))
        };
        return format!("{}{new}{}", &text[..at], &text[at..]);
    }
    let close = object.end - 1;
    let kept = text[..close].trim_end();
    let outer = indent_at(text, object.start);
    let inner = format!("{outer}{}", style.indent);
    let block = style.block(name, node, &inner);
    format!(
        "{kept}{line_break}{inner}{block}{line_break}{outer}{}",
        &text[close..]
    )
}

/// The white space at the beginning of the line of that position.
fn indent_at(text: &str, position: usize) -> &str {
    let line = text[..position].rfind('\n').map_or(0, |at| at + 1);
    let rest = &text[line..position];
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

/// Replaces values of an object in place.
fn set(document: &Document<'_>, object: &Range<usize>, changes: &[(&str, String)]) -> String {
    let mut spans: Vec<(Range<usize>, &str)> = changes
        .iter()
        .filter_map(|(key, new)| Some((document.find(object, key)?.value, new.as_str())))
        .collect();
    spans.sort_by_key(|(span, _)| span.start);
    let mut text = document.text.to_owned();
    for (span, new) in spans.into_iter().rev() {
        text.replace_range(span, new);
    }
    text
}

/// Removes a member of an object, with one comma.
fn remove_member(document: &Document<'_>, object: &Range<usize>, name: &str) -> String {
    let members = document.members(object);
    let Some(index) = members.iter().rposition(|member| member.key == name) else {
        return document.text.to_owned();
    };
    let member = &members[index];
    let start = document.text[..member.start].trim_end().len();
    let mut text = document.text.to_owned();
    let before = index.checked_sub(1).map(|before| &members[before]);
    match (document.comma_after(member.value.end), before) {
        (Some(comma), _) => text.replace_range(start..=comma, ""),
        (None, Some(before)) => {
            text.replace_range(start..member.value.end, "");
            if let Some(comma) = document.comma_after(before.value.end) {
                // The removed white space may have begun right at this comma.
                text.replace_range(comma..=comma, "");
            }
        }
        (None, None) => text.replace_range(start..member.value.end, ""),
    }
    if members.len() == 1 {
        let inner = object.start + 1;
        let blank = text[inner..].len() - text[inner..].trim_start().len();
        if text[inner + blank..].starts_with('}') {
            text.replace_range(inner..inner + blank, "");
        }
    }
    text
}

#[cfg(test)]
mod tests;
