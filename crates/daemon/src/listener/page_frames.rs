//! Parses the messages of a worker. Pages wrote most of their content, so they may be long, or cut in the middle of a
//! character.

use serde::Deserialize;
use std::borrow::Cow;
use tabmux_protocol::page::{FromPage, ToPage};
use tabmux_text::decode;

/// A parsed frame.
pub(super) enum Frame {
    /// A message for the daemon.
    Message(FromPage),
    /// The reply to a call.
    Answer(FromPage),
    /// An invalid message, which gets this answer at once.
    Refused(ToPage),
    /// An unknown or invalid message, which is ignored.
    Noise,
}

/// The fields that decide what to do with a frame. They are parsed before anything else.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Head<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    tab_id: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    call_id: Cow<'a, str>,
}

impl<'a> Head<'a> {
    /// A frame that cannot be parsed cheaply gives an empty head.
    pub(super) fn read(frame: &'a str) -> Self {
        serde_json::from_str(frame).unwrap_or_default()
    }

    /// The call that this frame answers.
    pub(super) fn answers(&self) -> Option<&str> {
        (self.kind == "TOOL_CALL_RESULT").then_some(&*self.call_id)
    }

    /// Parses the whole frame.
    pub(super) fn whole(self, frame: &str) -> Frame {
        let is_answer = self.answers().is_some();
        if frame.len() > LONGEST_MESSAGE && !is_answer {
            return self.refusal();
        }
        match decode(frame) {
            Ok(message) if is_answer => Frame::Answer(message),
            // The head did not name a call, so no call waits for this.
            Ok(FromPage::ToolCallResult { .. }) => Frame::Noise,
            Ok(message) => Frame::Message(message),
            Err(error) => {
                tracing::debug!(%error, "ignored an invalid message of a page");
                Frame::Noise
            }
        }
    }

    fn refusal(self) -> Frame {
        tracing::debug!(kind = %self.kind, "ignored a message of a page: it is too long");
        if self.kind != "REGISTER_TOOL" {
            return Frame::Noise;
        }
        Frame::Refused(ToPage::ToolRejected {
            tab_id: self.tab_id.into_owned(),
            name: self.name.into_owned(),
            reason: "Its description and schema are too long; the limit for a schema is 64 kB."
                .into(),
        })
    }
}

/// Only replies to calls may be longer.
pub(super) const LONGEST_MESSAGE: usize = 1_024 * 1_024;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(frame: &str) -> Frame {
        Head::read(frame).whole(frame)
    }

    #[test]
    fn half_of_a_surrogate_pair_is_replaced() {
        let cut = r#"{"type": "TOOL_CALL_RESULT", "callId": "1", "success": true, "result": {"content": [{"type": "text", "text": "a\ud83d"}]}}"#;
        let Frame::Answer(FromPage::ToolCallResult { result, .. }) = read(cut) else {
            panic!("it is an answer");
        };
        assert_eq!(result["content"][0]["text"], "a\u{fffd}");
    }

    #[test]
    fn a_name_cut_in_the_middle_of_a_character_is_accepted() {
        let cut = r#"{"type": "REGISTER_TOOL", "tabId": "t", "name": "a\ud83d"}"#;
        let Frame::Message(FromPage::RegisterTool(tool)) = read(cut) else {
            panic!("it is a tool");
        };
        assert_eq!(tool.name, "a\u{fffd}");
    }

    #[test]
    fn only_answers_may_be_long() {
        let long = "x".repeat(LONGEST_MESSAGE);
        let answer =
            json!({"type": "TOOL_CALL_RESULT", "callId": "1", "success": true, "result": long});
        assert!(matches!(
            read(&answer.to_string()),
            Frame::Answer(FromPage::ToolCallResult { .. })
        ));
        let tool =
            json!({"type": "REGISTER_TOOL", "inputSchema": {"x": long}, "tabId": "t", "name": "n"});
        let Frame::Refused(ToPage::ToolRejected { tab_id, name, .. }) = read(&tool.to_string())
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
            assert!(matches!(read(&ignored), Frame::Noise));
        }
    }
}
