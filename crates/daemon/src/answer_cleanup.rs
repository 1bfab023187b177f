//! The last step before an answer goes to a client: it removes invisible characters.

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;
use tabmux_protocol::{CallReply, Content};
use tabmux_text::{make_visible, visible};

/// The reply without characters that a person would not see. All page text in a reply is in one of these texts.
pub(crate) fn cleaned(mut reply: CallReply) -> CallReply {
    for part in &mut reply.content {
        match part {
            Content::Text { text } => clean(text),
            Content::Image { mime_type, .. } => clean(mime_type),
        }
    }
    if let Some(question) = &mut reply.question {
        clean(&mut question.message);
    }
    reply.structured = reply.structured.map(cleaned_json);
    reply
}

fn clean(text: &mut String) {
    if let Cow::Owned(clean) = visible(text) {
        *text = clean;
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
    fn an_answer_without_invisible_characters_is_unchanged() {
        let json = r#"{"a":"ä\n","b":1.50}"#;
        let mut reply = CallReply::text("👨\u{200d}👩 ok\n\t");
        reply.structured = RawValue::from_string(json.into()).ok();
        let before = serde_json::to_string(&reply).unwrap();
        let after = serde_json::to_string(&cleaned(reply)).unwrap();
        assert_eq!(before.replace("1.50", "1.5"), after);
    }
}
