//! The last step before anything goes to a client: it removes invisible characters, and masks secret values.

use crate::convert;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;
use std::sync::Arc;
use tabmux_protocol::{BackendEvent, CallFailure, CallReply, Content, ToolInfo};
use tabmux_text::{make_visible, secrets, visible};

/// The reply without characters that a person would not see, and without secret values. All page text in a reply is in one of these texts.
pub(crate) fn cleaned(mut reply: CallReply) -> CallReply {
    for part in &mut reply.content {
        match part {
            Content::Text { text } => clean(text),
            Content::Image { mime_type, .. } => clean(mime_type),
            Content::ResourceLink(link) => {
                clean(&mut link.name);
                let more = [&mut link.title, &mut link.description];
                more.into_iter().flatten().for_each(clean);
            }
            Content::Resource(body) => body.text.iter_mut().for_each(clean),
        }
    }
    if let Some(question) = &mut reply.question {
        clean(&mut question.message);
    }
    reply.structured = reply.structured.map(cleaned_json).map(masked_json);
    reply
}

/// The failure without secret values.
pub(crate) fn cleaned_failure(mut failure: CallFailure) -> CallFailure {
    match &mut failure {
        CallFailure::UnknownTool { name: text }
        | CallFailure::UnknownResource { uri: text }
        | CallFailure::Unavailable { why: text } => {
            secrets::mask(text);
        }
        CallFailure::Cancelled | CallFailure::Closed => {}
    }
    failure
}

/// The event without characters that a person would not see, and without secret values.
pub(crate) fn cleaned_event(mut event: BackendEvent) -> BackendEvent {
    if let BackendEvent::Progress(progress) = &mut event
        && let Some(message) = &mut progress.message
    {
        clean(message);
    }
    event
}

/// The list without secret values. A page's tool that has one in its name is left out: under another name it could not
/// be called. Our own tools stay as they are: their texts are the same for everybody.
pub(crate) fn cleaned_list(mut tools: Vec<ToolInfo>) -> Vec<ToolInfo> {
    if !secrets::exist() {
        return tools;
    }
    tools.retain(|tool| convert::is_ours(&tool.name) || !secrets::are_in(&tool.name));
    for tool in &mut tools {
        if convert::is_ours(&tool.name) {
            continue;
        }
        secrets::mask(&mut tool.description);
        let mut schema = Value::Object((*tool.input_schema).clone());
        secrets::mask_json(&mut schema);
        if let Value::Object(schema) = schema {
            tool.input_schema = Arc::new(schema);
        }
    }
    tools
}

/// Removes hidden characters first: inside a secret value they would prevent its masking.
fn clean(text: &mut String) {
    if let Cow::Owned(clean) = visible(text) {
        *text = clean;
    }
    secrets::mask(text);
}

fn masked_json(json: Box<RawValue>) -> Box<RawValue> {
    // The search knows every way to write a text in JSON, but not every way to write a number, such as 1e6.
    if !secrets::exist() {
        return json;
    }
    let Ok(mut value) = serde_json::from_str::<Value>(json.get()) else {
        return json;
    };
    let before = value.clone();
    secrets::mask_json(&mut value);
    match value == before {
        true => json,
        false => to_raw_value(&value).unwrap_or(json),
    }
}

/// The JSON is parsed first, because its texts may be escaped.
fn cleaned_json(json: Box<RawValue>) -> Box<RawValue> {
    let is_plain = json.get().is_ascii() && !json.get().contains("\\u");
    if is_plain {
        return json;
    }
    let Ok(mut value) = serde_json::from_str::<Value>(json.get()) else {
        return json;
    };
    make_visible(&mut value);
    to_raw_value(&value).unwrap_or(json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tabmux_protocol::{Progress, RequestId};

    #[test]
    fn invisible_characters_are_removed_from_every_part_of_an_answer() {
        let hidden = "\u{1b}[31m\u{202e}\u{61c}\u{200b}\u{e0041}\u{feff}\u{9b}";
        let dirty = format!("a{hidden}b\n");
        let mut reply = CallReply::question("1".into(), dirty.clone());
        reply.content = vec![
            Content::Text {
                text: dirty.clone(),
            },
            Content::Image {
                data: "AAAA".into(),
                mime_type: dirty.clone(),
            },
        ];
        let structured = json!({ &dirty: [{ "x": dirty }] });
        let escaped = r#"{"x":"\u202e\u001b\udb40\udc41y"}"#.to_owned();
        for json in [
            to_raw_value(&structured).unwrap(),
            RawValue::from_string(escaped).unwrap(),
        ] {
            reply.structured = Some(json);
            let told = serde_json::to_value(cleaned(reply.clone())).unwrap();
            let told = format!("{told:#?}");
            for c in hidden.chars().filter(|c| !c.is_ascii() || c.is_control()) {
                assert!(
                    !told.contains(&c.escape_debug().to_string()),
                    "{c:?} {told}"
                );
            }
        }
    }

    #[test]
    fn progress_has_no_invisible_characters_and_no_secret_values() {
        secrets::hide(["moon-value"]).unwrap();
        let progress = Progress {
            request_id: RequestId("1".into()),
            value: 1.0,
            total: None,
            message: Some("Types moon\u{200b}-value\u{202e} and \u{1b}[31mmore".into()),
        };
        let BackendEvent::Progress(progress) = cleaned_event(BackendEvent::Progress(progress))
        else {
            unreachable!("progress stays progress");
        };
        assert_eq!(progress.message.unwrap(), "Types ••• and [31mmore");
    }

    #[test]
    fn a_secret_value_hides_no_tool_of_ours() {
        secrets::hide(["t_browse", "star-value"]).unwrap();
        let tool = |name: &str| ToolInfo {
            name: name.into(),
            description: "Says t_browse.".into(),
            input_schema: Arc::default(),
            output_schema: None,
            hints: None,
        };
        let given = vec![tool("connect_browser"), tool("star-value"), tool("other")];
        let told = cleaned_list(given);
        let told: Vec<_> = told
            .iter()
            .map(|tool| (&*tool.name, &*tool.description))
            .collect();
        assert_eq!(
            told,
            [
                ("connect_browser", "Says t_browse."),
                ("other", "Says •••.")
            ]
        );
    }

    #[test]
    fn an_answer_without_invisible_characters_is_unchanged() {
        let json = r#"{"a":"ä\n","b":1.50}"#;
        let mut reply = CallReply::text("👨\u{200d}👩 ok\n\t");
        reply.structured = RawValue::from_string(json.into()).ok();
        let before = serde_json::to_string(&reply).unwrap();
        let after = serde_json::to_string(&cleaned(reply)).unwrap();
        assert_eq!(before.replace("1.50", "1.5"), after);
    }
}
