//! Reads what a worker says. Its pages wrote most of it, so it may be long, and cut in the middle of a character.

use serde::Deserialize;
use std::borrow::Cow;
use tabmux_browser::text::decode;
use tabmux_protocol::page::{FromPage, ToPage};

/// What a frame says.
pub(super) enum Word {
    /// Something for the daemon.
    News(FromPage),
    /// Something that is answered with this at once.
    Refused(ToPage),
    /// Nothing.
    Noise,
}

pub(super) fn read(frame: &str) -> Word {
    if frame.len() > LONGEST_NEWS {
        match serde_json::from_str::<Head<'_>>(frame) {
            Ok(head) if head.kind == "TOOL_CALL_RESULT" => {}
            Ok(head) => return head.refusal(),
            Err(_) => return Word::Noise,
        }
    }
    decode(frame).map_or_else(
        |error| {
            tracing::debug!(%error, "ignored what a page said");
            Word::Noise
        },
        Word::News,
    )
}

/// As much of a frame as is read of one that is too long.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    tab_id: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
}

impl Head<'_> {
    fn refusal(self) -> Word {
        tracing::debug!(kind = %self.kind, "ignored what a page said: it is too long");
        if self.kind != "REGISTER_TOOL" {
            return Word::Noise;
        }
        Word::Refused(ToPage::ToolRejected {
            tab_id: self.tab_id.into_owned(),
            name: self.name.into_owned(),
            reason: "Its description and schema are too long; 64 kB of schema are enough for all."
                .into(),
        })
    }
}

/// Only answers to calls may be longer.
const LONGEST_NEWS: usize = 1_024 * 1_024;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn half_of_a_surrogate_pair_is_mended() {
        let cut = r#"{"type": "TOOL_CALL_RESULT", "callId": "1", "success": true, "result": {"content": [{"type": "text", "text": "a\ud83d"}]}}"#;
        let Word::News(FromPage::ToolCallResult { result, .. }) = read(cut) else {
            panic!("it is an answer");
        };
        assert_eq!(result["content"][0]["text"], "a\u{fffd}");
    }

    #[test]
    fn only_answers_may_be_long() {
        let long = "x".repeat(LONGEST_NEWS);
        let answer =
            json!({"type": "TOOL_CALL_RESULT", "callId": "1", "success": true, "result": long});
        assert!(matches!(
            read(&answer.to_string()),
            Word::News(FromPage::ToolCallResult { .. })
        ));
        let tool =
            json!({"type": "REGISTER_TOOL", "inputSchema": {"x": long}, "tabId": "t", "name": "n"});
        let Word::Refused(ToPage::ToolRejected { tab_id, name, .. }) = read(&tool.to_string())
        else {
            panic!("its page is told");
        };
        assert_eq!((&*tab_id, &*name), ("t", "n"));
        let tab = json!({"type": "UPDATE_TAB", "tabId": "t", "title": long});
        for ignored in [
            tab.to_string(),
            long.clone(),
            format!("[{long}"),
            format!("\"{long}\""),
        ] {
            assert!(matches!(read(&ignored), Word::Noise));
        }
    }
}
