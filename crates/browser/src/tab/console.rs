//! What a page wrote to its console: the latest messages, limited in number and size.

use std::collections::VecDeque;
use tabmux_cdp::types::runtime::{self, RemoteObjectId};
use tabmux_cdp::types::{Json, log};
use tabmux_cdp::{RawEvent, Session, TooLarge};
use tabmux_text::shorten;

/// The console of one tab, oldest message first. Message numbers are never reused.
#[derive(Debug, Default)]
pub struct Console {
    messages: VecDeque<ConsoleMessage>,
    bytes: usize,
    /// How many messages there have been.
    begun: u64,
    /// How many messages were dropped because there were too many.
    pub lost: u64,
}

/// One message of a page's console.
#[derive(Clone, Debug)]
pub struct ConsoleMessage {
    /// Its number in this tab, from 1.
    pub id: u64,
    /// `log`, `warn`, `error`, …
    pub kind: String,
    /// The text as a console would show it, shortened.
    pub text: String,
    /// How often it was repeated in a row.
    pub times: u32,
    /// How many documents the tab had shown before the one of this message.
    pub epoch: u64,
    /// The arguments of the call.
    pub args: Vec<Argument>,
    /// The call stack, innermost first.
    pub stack: Vec<ScriptPosition>,
    /// The CDP session that delivered it.
    pub session: Session,
}

/// An argument of a console call.
#[derive(Clone, Debug)]
pub struct Argument {
    /// As a console would show it, shortened.
    pub text: String,
    /// Chrome's id of it, if it is an object; it may be released.
    pub object: Option<RemoteObjectId>,
}

/// A position in a script; line and column count from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptPosition {
    /// The function, or empty.
    pub function: String,
    /// The script.
    pub url: String,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl Console {
    /// The messages, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &ConsoleMessage> {
        self.messages.iter()
    }

    /// Whether no message is kept.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// The message with that number, if it is still kept.
    pub fn find(&self, id: u64) -> Option<&ConsoleMessage> {
        self.messages.iter().find(|message| message.id == id)
    }

    /// Processes an event. Returns whether it was a console event.
    pub(super) fn apply(&mut self, session: &Session, epoch: u64, event: &RawEvent) -> bool {
        let Some(parsed) = parse(event) else {
            return false;
        };
        self.push(session, epoch, parsed);
        true
    }

    /// Drops the messages of documents before this one.
    pub(super) fn forget_before(&mut self, epoch: u64) {
        while self
            .messages
            .front()
            .is_some_and(|message| message.epoch < epoch)
        {
            self.pop();
        }
    }

    fn push(&mut self, session: &Session, epoch: u64, parsed: Parsed) {
        if let Some(last) = self.messages.back_mut()
            && last.epoch == epoch
            && last.kind == parsed.kind
            && last.text == parsed.text
            && last.stack.first() == parsed.stack.first()
        {
            last.times = last.times.saturating_add(1);
            return;
        }
        self.begun += 1;
        let message = ConsoleMessage {
            id: self.begun,
            kind: parsed.kind,
            text: parsed.text,
            times: 1,
            epoch,
            args: parsed.args,
            stack: parsed.stack,
            session: session.clone(),
        };
        self.bytes += message.size();
        self.messages.push_back(message);
        while self.messages.len() > MOST_MESSAGES || self.bytes > MOST_BYTES {
            self.pop();
            self.lost += 1;
        }
    }

    fn pop(&mut self) {
        if let Some(message) = self.messages.pop_front() {
            self.bytes = self.bytes.saturating_sub(message.size());
        }
    }
}

impl ConsoleMessage {
    fn size(&self) -> usize {
        let args: usize = self.args.iter().map(|arg| arg.text.len() + 64).sum();
        let stack: usize = self
            .stack
            .iter()
            .map(|place| place.url.len() + place.function.len() + 64)
            .sum();
        self.text.len() + args + stack + 128
    }
}

/// The contents of an event.
struct Parsed {
    kind: String,
    text: String,
    args: Vec<Argument>,
    stack: Vec<ScriptPosition>,
}

fn parse(event: &RawEvent) -> Option<Parsed> {
    if let Some(cut) = event.too_large() {
        return parse_cut(event.method(), cut);
    }
    if let Some(event) = event.decode::<runtime::ConsoleAPICalled>() {
        let args: Vec<_> = event.args.iter().take(MOST_ARGS).map(argument).collect();
        return Some(Parsed {
            kind: kind(event.r#type.as_str()),
            text: shorten(&format_words(&args), MOST_TEXT),
            stack: places(event.stack_trace.as_ref()),
            args,
        });
    }
    if let Some(event) = event.decode::<runtime::ExceptionThrown>() {
        let details = &event.exception_details;
        let mut stack = places(details.stack_trace.as_ref());
        if stack.is_empty() {
            stack.extend(details.url.as_ref().map(|url| ScriptPosition {
                function: String::new(),
                url: shorten(url, MOST_URL),
                line: count(details.line_number),
                column: count(details.column_number),
            }));
        }
        return Some(Parsed {
            kind: "error".into(),
            text: shorten(
                &format!("Uncaught {}", crate::script::describe(details)),
                MOST_TEXT,
            ),
            args: details
                .exception
                .as_ref()
                .map(argument)
                .into_iter()
                .collect(),
            stack,
        });
    }
    let entry = event.decode::<log::EntryAdded>()?.entry;
    let mut text = entry.text;
    if let Some(url) = entry.url.as_deref().filter(|url| !url.is_empty()) {
        text = format!("{} ({})", text.trim_end(), shorten(url, 300));
    }
    Some(Parsed {
        kind: kind(entry.level.as_str()),
        text: shorten(&text, MOST_TEXT),
        args: Vec::new(),
        stack: places(entry.stack_trace.as_ref()),
    })
}

/// What is known about a message that was too large.
fn parse_cut(method: &str, cut: &TooLarge) -> Option<Parsed> {
    let kind = match method {
        "Runtime.consoleAPICalled" => kind(&cut.find("type").unwrap_or_else(|| "log".into())),
        "Log.entryAdded" => kind(&cut.find("level").unwrap_or_else(|| "info".into())),
        "Runtime.exceptionThrown" => "error".into(),
        _ => return None,
    };
    Some(Parsed {
        kind,
        text: format!("(a message of {} bytes, too large to be kept)", cut.bytes),
        args: Vec::new(),
        stack: Vec::new(),
    })
}

/// Chrome says `warning`, but pages and we say `warn`.
fn kind(name: &str) -> String {
    match name {
        "warning" => "warn".into(),
        other => shorten(other, 40),
    }
}

fn places(stack: Option<&runtime::StackTrace>) -> Vec<ScriptPosition> {
    let mut places = Vec::new();
    let mut next = stack;
    while let Some(stack) = next {
        let room = MOST_PLACES - places.len();
        places.extend(
            stack
                .call_frames
                .iter()
                .take(room)
                .map(|frame| ScriptPosition {
                    function: shorten(&frame.function_name, 200),
                    url: shorten(&frame.url, MOST_URL),
                    line: count(frame.line_number),
                    column: count(frame.column_number),
                }),
        );
        next = stack.parent.as_deref();
    }
    places
}

fn count(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

fn argument(value: &runtime::RemoteObject) -> Argument {
    let text = match (&value.value, &value.unserializable_value, &value.preview) {
        (Some(value), _, _) => value
            .decode::<String>()
            .unwrap_or_else(|_| value.as_str().to_owned()),
        (None, Some(value), _) => value.as_str().to_owned(),
        (None, None, Some(preview)) if is_plain(value) => preview_text(preview),
        _ => value
            .description
            .clone()
            .unwrap_or_else(|| value.r#type.to_string()),
    };
    Argument {
        text: shorten(&text, MOST_ARG),
        object: value.object_id.clone(),
    }
}

/// Whether the properties of an object say more than its description.
fn is_plain(value: &runtime::RemoteObject) -> bool {
    let subtype = value.subtype.as_ref().map(|subtype| subtype.as_str());
    matches!(subtype, None | Some("array")) && value.r#type.as_str() == "object"
}

fn preview_text(preview: &runtime::ObjectPreview) -> String {
    let is_array = preview
        .subtype
        .as_ref()
        .is_some_and(|subtype| subtype.as_str() == "array");
    let mut parts: Vec<String> = preview
        .properties
        .iter()
        .map(|property| {
            let value = property.value.as_deref().unwrap_or("…");
            let value = match property.r#type.as_str() {
                "string" => Json::encode(value)
                    .map_or_else(|_| value.into(), |json| json.as_str().to_owned()),
                _ => value.to_owned(),
            };
            match is_array {
                true => value,
                false => format!("{}: {value}", property.name),
            }
        })
        .collect();
    if preview.overflow {
        parts.push("…".into());
    }
    match is_array {
        true => format!("[{}]", parts.join(", ")),
        false => format!("{{{}}}", parts.join(", ")),
    }
}

/// The text of a message as a console shows it: `%s` and similar are replaced by the arguments that
/// follow.
fn format_words(args: &[Argument]) -> String {
    let mut rest = args.iter();
    let Some(first) = rest.next() else {
        return String::new();
    };
    let mut text = String::new();
    let mut chars = first.text.chars().peekable();
    while let Some(c) = chars.next() {
        let sign = chars.peek().copied();
        match sign {
            Some('%') if c == '%' => {
                chars.next();
                text.push('%');
            }
            Some('s' | 'd' | 'i' | 'f' | 'o' | 'O' | 'c')
                if c == '%' && first.object.is_none() && !rest.as_slice().is_empty() =>
            {
                chars.next();
                let word = rest.next().map(|arg| arg.text.as_str()).unwrap_or_default();
                // Styles are not shown.
                if sign != Some('c') {
                    text.push_str(word);
                }
            }
            _ => text.push(c),
        }
    }
    for arg in rest {
        text.push(' ');
        text.push_str(&arg.text);
    }
    text
}

const MOST_MESSAGES: usize = 2_000;
const MOST_BYTES: usize = 2_000_000;
const MOST_TEXT: usize = 4_000;
const MOST_ARGS: usize = 20;
const MOST_ARG: usize = 2_000;
const MOST_PLACES: usize = 30;
const MOST_URL: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn words(texts: &[&str]) -> String {
        let args: Vec<_> = texts
            .iter()
            .map(|text| Argument {
                text: (*text).to_owned(),
                object: None,
            })
            .collect();
        format_words(&args)
    }

    #[test]
    fn format_specifiers_are_replaced_by_arguments() {
        assert_eq!(words(&["a", "b"]), "a b");
        assert_eq!(words(&["%s is %d%%", "x", "5", "more"]), "x is 5% more");
        assert_eq!(words(&["%cred", "color: red"]), "red");
        assert_eq!(words(&["100%s"]), "100%s");
        assert_eq!(words(&[]), "");
    }
}
