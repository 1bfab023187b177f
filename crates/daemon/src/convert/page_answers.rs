//! Replies of page tools, limited in size. A note says what was omitted.

use serde_json::Value;
use serde_json::value::RawValue;
use tabmux_protocol::{CallReply, Content};
use tabmux_text::shorten;

/// Converts the reply of a page tool: a `CallToolResult` of MCP, as far as it is valid.
pub(crate) fn page_result(result: Value) -> CallReply {
    let is_error = result.get("isError") == Some(&Value::Bool(true));
    let given = result.get("content").and_then(Value::as_array);
    let blocks = given.map(Vec::as_slice).unwrap_or_default();
    let mut budget = Budget::default();
    let shown = blocks.iter().take(MOST_BLOCKS);
    let mut content: Vec<_> = shown.map_while(|block| budget.block(block)).collect();
    let left_out = blocks.len() - content.len();
    let mut note = |text| content.push(Content::Text { text });
    if left_out > 0 {
        note(format!(
            "[{left_out} more parts of the page's answer were left out.]"
        ));
    }
    let structured = result.get("structuredContent").filter(|it| it.is_object());
    let structured = structured.map(Value::to_string);
    if let Some(text) = structured.as_ref().filter(|text| text.len() > MOST_TEXT) {
        let size = text.len();
        note(format!(
            "[The page's structured answer has {size} bytes and was left out.]"
        ));
    }
    let structured = structured.filter(|text| text.len() <= MOST_TEXT);
    if content.is_empty() && structured.is_none() {
        let text = match given {
            Some(_) => "The tool ended without a result.".to_owned(),
            None => cut(&result.to_string(), MOST_TEXT),
        };
        content.push(Content::Text { text });
    }
    CallReply {
        content,
        structured: structured.and_then(|text| RawValue::from_string(text).ok()),
        is_error,
        question: None,
    }
}

/// Converts the reply of a WebMCP tool, which has no fixed form: a `CallToolResult` is used as one, an object becomes
/// structured content, and everything else becomes text.
pub(crate) fn page_value(value: Value) -> CallReply {
    match value {
        Value::Object(ref fields) if fields.get("content").is_some_and(Value::is_array) => {
            page_result(value)
        }
        Value::Object(_) => {
            let text = value.to_string();
            let fits = text.len() <= MOST_TEXT;
            let structured = fits.then(|| RawValue::from_string(text.clone()));
            CallReply {
                structured: structured.and_then(Result::ok),
                ..CallReply::text(cut(&text, MOST_TEXT))
            }
        }
        Value::String(text) => CallReply::text(cut(&text, MOST_TEXT)),
        other => CallReply::text(cut(&other.to_string(), MOST_TEXT)),
    }
}

/// The reply for a page tool that failed.
pub(crate) fn page_error(error: &str, code: &str) -> CallReply {
    let error = shorten(error, 2_000);
    CallReply::error(match code {
        "gone" => format!(
            "The page went away before it answered ({error}). Call list_page_tools to see what is there."
        ),
        "busy" => "The page has too many calls already. Wait for some of them, then call again."
            .to_owned(),
        "too_large" => format!("The tool's answer is too large ({error}). Ask for less."),
        _ => error,
    })
}

/// The bytes that one reply may still use.
struct Budget {
    text: usize,
    pictures: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            text: MOST_TEXT,
            pictures: MOST_PICTURES,
        }
    }
}

impl Budget {
    /// Converts one part of a reply; `None` if the budget is used up.
    fn block(&mut self, block: &Value) -> Option<Content> {
        let text = |key: &str| block.get(key).and_then(Value::as_str);
        match (text("type"), text("text"), text("data"), text("mimeType")) {
            (Some("text"), Some(text), ..) => self.text(text),
            (Some("image"), _, Some(data), Some(mime_type)) => {
                if !is_base64(data) || !is_picture(mime_type) {
                    return self.text("[A picture was left out: it is not valid base64.]");
                }
                let Some(left) = self.pictures.checked_sub(data.len()) else {
                    let size = data.len();
                    return self.text(&format!("[A picture of {size} bytes was left out.]"));
                };
                self.pictures = left;
                Some(Content::Image {
                    data: data.to_owned(),
                    mime_type: mime_type.to_owned(),
                })
            }
            _ => self.text(&block.to_string()),
        }
    }

    fn text(&mut self, text: &str) -> Option<Content> {
        if self.text == 0 {
            return None;
        }
        let shown = cut(text, self.text);
        self.text = self.text.saturating_sub(text.len());
        Some(Content::Text { text: shown })
    }
}

/// Whether a text is base64 as MCP requires: padded, without line breaks.
fn is_base64(text: &str) -> bool {
    let padding = text.bytes().rev().take_while(|byte| *byte == b'=').count();
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let digits = &text.as_bytes()[..text.len() - padding];
    !text.is_empty() && text.len().is_multiple_of(4) && padding <= 2 && digits.iter().all(is_digit)
}

/// Whether a MIME type is that of an image, such as `image/svg+xml`.
fn is_picture(mime_type: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-');
    let kind = mime_type.strip_prefix("image/").unwrap_or_default();
    (1..=LONGEST_KIND).contains(&kind.len()) && kind.bytes().all(is_sign)
}

fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let end = (0..=limit).rev().find(|end| text.is_char_boundary(*end));
    let shown = end.and_then(|end| text.get(..end));
    format!(
        "{}…\n[The page's answer has {} bytes; the rest was left out.]",
        shown.unwrap_or_default(),
        text.len()
    )
}

const LONGEST_KIND: usize = 40;
const MOST_BLOCKS: usize = 100;
const MOST_TEXT: usize = 40_000;
/// Fits into one message to the client.
const MOST_PICTURES: usize = 8 * 1_024 * 1_024;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The texts of a reply, and the bytes of its pictures.
    fn shown(reply: &CallReply) -> (Vec<&str>, usize) {
        let mut pictures = 0;
        let texts = reply.content.iter().filter_map(|part| match part {
            Content::Text { text } => Some(text.as_str()),
            Content::Image { data, .. } => {
                pictures += data.len();
                None
            }
            other => panic!("{other:?}"),
        });
        (texts.collect(), pictures)
    }

    /// Spec: security 9.
    #[test]
    fn many_parts_share_one_size_limit() {
        let part = json!({"type": "text", "text": "茶".repeat(5_000)});
        let reply = page_result(json!({"content": vec![part; 500]}));
        let (texts, _) = shown(&reply);
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        assert!((40_000..41_000).contains(&bytes), "{bytes}");
        assert!(texts[2].ends_with("[The page's answer has 15000 bytes; the rest was left out.]"));
        assert_eq!(
            texts[3],
            "[497 more parts of the page's answer were left out.]"
        );
    }

    /// Spec: security 9.
    #[test]
    fn pictures_fit_into_one_message_to_the_client() {
        let picture =
            json!({"type": "image", "data": "A".repeat(5 << 20), "mimeType": "image/png"});
        let reply = page_result(json!({"content": vec![picture; 4]}));
        let (texts, pictures) = shown(&reply);
        assert_eq!(pictures, 5 << 20);
        assert_eq!(texts, ["[A picture of 5242880 bytes was left out.]"; 3]);
    }

    #[test]
    fn an_invalid_picture_is_omitted() {
        let image = |data: &str, mime_type: &str| json!({"type": "image", "data": data, "mimeType": mime_type});
        for (data, mime_type) in [
            ("\u{1}".repeat(8 << 20).as_str(), "image/png"),
            ("\"\"\"\"", "image/png"),
            ("AAA", "image/png"),
            ("A===", "image/png"),
            ("AA=A", "image/png"),
            ("", "image/png"),
            ("äAA", "image/png"),
            ("AAAA", "text/html"),
            ("AAAA", "image/"),
            ("AAAA", "image/png\u{202e}"),
        ] {
            let reply = page_result(json!({"content": [image(data, mime_type)]}));
            let (texts, pictures) = shown(&reply);
            assert_eq!((texts.len(), pictures), (1, 0), "{mime_type}");
            assert!(
                texts[0].starts_with("[A picture was left out"),
                "{}",
                texts[0]
            );
        }
        for mime_type in ["image/png", "image/svg+xml", "image/vnd.microsoft.icon"] {
            let reply = page_result(json!({"content": [image("AAA=", mime_type)]}));
            assert_eq!(shown(&reply), (vec![], 4), "{mime_type}");
        }
    }

    #[test]
    fn omitted_structured_content_is_mentioned() {
        let large = json!({"content": [], "structuredContent": {"a": "x".repeat(50_000)}});
        let reply = page_result(large);
        assert!(reply.structured.is_none());
        let (texts, _) = shown(&reply);
        assert_eq!(
            texts,
            ["[The page's structured answer has 50008 bytes and was left out.]"]
        );
        let small = page_result(json!({"content": [], "structuredContent": {"a": 1}}));
        assert_eq!(small.structured.unwrap().get(), r#"{"a":1}"#);
    }
}
