//! Properties that hold for any input of the daemon. `fuzz/` runs them with generated input, tests with stored input.

pub use crate::extension::fuzzing::extension_message;
pub use crate::listener::fuzzing::page_message;
pub use crate::memory::fuzzing::memory_file;
pub use crate::policy::fuzzing::policy_file;
pub use crate::steps::fuzzing::steps;

use crate::argument_check::ArgumentCheck;
use crate::convert::{self, Rejected, page_error, page_result, page_value};
use crate::options::SessionOptions;
use crate::resources::address::Address;
use serde::Serialize;
use serde_json::{Map, Value};
use tabmux_browser::page_tools::{SaidBy, ToolText};
use tabmux_protocol::session as wanted;
use tabmux_protocol::wire::{FromClient, FromDaemon, LONGEST_LINE, Request};
use tabmux_protocol::{CallReply, CallRequest, Content, ResourceQuery};

/// A client writes this line to the daemon's socket, or the daemon to a client.
///
/// # Panics
/// If a message changes when it is serialized and parsed again, or a refusal is too long.
pub fn socket_line(line: &[u8]) {
    let Ok(line) = str::from_utf8(line) else {
        return;
    };
    if let Ok(message) = FromDaemon::parse(line) {
        let written = written(&message, line);
        let again = FromDaemon::parse(&written).expect("what we write we can read");
        assert_eq!(serde_json::to_string(&again).ok(), Some(written));
    }
    let Ok(message) = FromClient::parse(line) else {
        return;
    };
    let written = written(&message, line);
    let again = FromClient::parse(&written).expect("what we write we can read");
    assert_eq!(serde_json::to_string(&again).ok(), Some(written));
    match message {
        FromClient::Register { options, .. } => {
            if let Err(why) = SessionOptions::from_wire(*options) {
                assert!(why.len() <= MOST_REFUSAL, "a long refusal: {why}");
            }
        }
        FromClient::Request(request) => call(request),
        FromClient::Resource { request, .. } => {
            if let ResourceQuery::Read { uri } = request.query {
                // Each resource has one address.
                let address = Address::parse(&uri).map(|address| address.to_string());
                assert!(address.is_none_or(|address| address == uri), "{uri}");
            }
        }
        _ => {}
    }
}

fn written(message: &impl Serialize, line: &str) -> String {
    let written = serde_json::to_string(message).expect("a message has a form");
    // Omitted options are written with their defaults.
    assert!(written.len() <= 2 * line.len() + 4_096, "{written}");
    written
}

/// The arguments of a call are parsed strictly, and a refusal is a sentence of limited length.
fn call(request: Request) {
    let call = CallRequest {
        request_id: request.request_id,
        tool: request.action,
        arguments: request.params,
        progress: request.progress,
        asking: request.asking,
    };
    for tools in [wanted::ToolMode::Static, wanted::ToolMode::Progressive] {
        let options = wanted::SessionOptions {
            tools,
            ..wanted::SessionOptions::default()
        };
        let options = SessionOptions::from_wire(options).expect("the usual options make sense");
        if let Err(Rejected::Arguments(why)) = convert::parse(&call, &options) {
            assert!(!why.is_empty());
            assert!(why.len() <= MOST_REFUSAL, "a long refusal: {why}");
        }
    }
}

/// The schema of a page tool, and arguments for it, separated by a newline.
///
/// # Panics
/// If clients would get a schema that is not an object schema, or more text than the page wrote.
pub fn page_schema(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let (schema, arguments) = text.split_once('\n').unwrap_or((text, "{}"));
    let Ok(whole) = serde_json::from_str::<Map<String, Value>>(schema) else {
        return;
    };
    let before = Value::Object(whole).to_string().len();
    let prepare = |schema| ToolText::prepare("", schema, SaidBy::Page, "https://app.example");
    let first = prepare(schema);
    let kept = first.read_schema();
    assert_eq!(kept.get("type"), Some(&Value::from("object")));
    assert!(kept["properties"].is_object());
    // Allows for an ellipsis where text was cut, and the two keys that MCP requires.
    let after = first.schema().len();
    assert!(after <= before + 100, "{before} bytes became {after}");
    assert!(jsonschema::meta::validate(&Value::Object(kept)).is_ok());
    let again = prepare(first.schema());
    assert_eq!(again.schema(), first.schema());
    if let Ok(arguments) = serde_json::from_str::<Map<String, Value>>(arguments)
        && let Err(why) = ArgumentCheck::default().check(&first, &Value::Object(arguments))
    {
        assert!(why.len() <= MOST_REFUSAL, "a long refusal: {why}");
    }
}

/// The reply of a page tool: JSON, or an error.
///
/// # Panics
/// If an agent would get nothing, or more than the size limit of a reply.
pub fn page_answer(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let (code, error) = text.split_once('\n').unwrap_or(("", text));
    is_bounded(&page_error(error, code));
    if let Ok(value) = tabmux_text::decode::<Value>(text) {
        is_bounded(&page_result(value.clone()));
        is_bounded(&page_value(value));
    }
}

pub(crate) fn is_bounded(reply: &CallReply) {
    let (mut texts, mut pictures) = (0, 0);
    for part in &reply.content {
        match part {
            Content::Text { text } => texts += text.len(),
            Content::Image { data, mime_type } => {
                pictures += data.len();
                assert!(mime_type.chars().count() <= 61, "{mime_type}");
            }
            Content::ResourceLink(_) | Content::Resource(_) => panic!("pages give none"),
        }
    }
    let structured = reply.structured.as_ref();
    let structured = structured.map_or(0, |structured| structured.get().len());
    assert!(!reply.content.is_empty() || structured > 0, "no answer");
    assert!(reply.content.len() <= 102, "{}", reply.content.len());
    assert!(texts <= 60_000, "{texts} bytes of text");
    assert!(pictures <= 8 << 20, "{pictures} bytes of pictures");
    assert!(structured <= 40_000, "{structured} bytes of structure");
    let line = serde_json::to_string(reply).expect("a reply has a form");
    assert!(line.len() < LONGEST_LINE, "a line of {} bytes", line.len());
    let again: CallReply = serde_json::from_str(&line).expect("what we write we can read");
    assert_eq!(again.content, reply.content);
}

/// A longer refusal would fill an agent's context with foreign text.
const MOST_REFUSAL: usize = 3_000;

#[cfg(test)]
mod tests {
    use super::*;
    use tabmux_testkit::play_corpus;

    #[test]
    fn steps_that_are_accepted_are_bounded() {
        play_corpus("run_steps", steps);
    }

    #[test]
    fn lines_of_the_socket_are_read_as_they_were_written() {
        play_corpus("socket_line", socket_line);
    }

    #[test]
    fn schemas_of_pages_become_schemas_of_objects() {
        play_corpus("page_schema", page_schema);
    }

    #[test]
    fn answers_of_pages_are_bounded() {
        play_corpus("page_answer", page_answer);
    }

    #[test]
    fn messages_of_page_workers_are_bounded() {
        play_corpus("page_message", page_message);
    }

    #[test]
    fn an_extension_is_answered_once_and_shows_no_private_tab() {
        play_corpus("extension_message", extension_message);
    }

    #[test]
    fn rules_are_read_as_they_were_written() {
        play_corpus("policy_file", policy_file);
    }

    #[test]
    fn sessions_are_given_back_once_and_to_their_own_clients() {
        play_corpus("memory_file", memory_file);
    }
}
