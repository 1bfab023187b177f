//! Reads what a worker says. Its pages wrote most of it, so it may be long, and cut in the middle of a character.

use serde::Deserialize;
use std::borrow::Cow;
use tabmux_browser::text::decode;
use tabmux_protocol::page::{FromPage, ToPage};

/// What a frame says.
pub(super) enum Frame {
    /// Something for the daemon.
    News(FromPage),
    /// The answer to a call.
    Answer(FromPage),
    /// Something that is answered with this at once.
    Refused(ToPage),
    /// Nothing.
    Noise,
}

/// As much of a frame as tells what to do with it. It is read before it costs anything.
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
    /// Of what cannot be read without more ado, it says nothing.
    pub(super) fn read(frame: &'a str) -> Self {
        serde_json::from_str(frame).unwrap_or_default()
    }

    /// The call that it is the answer to.
    pub(super) fn answers(&self) -> Option<&str> {
        (self.kind == "TOOL_CALL_RESULT").then_some(&*self.call_id)
    }

    /// Reads all of the frame that it is of.
    pub(super) fn whole(self, frame: &str) -> Frame {
        let is_answer = self.answers().is_some();
        if frame.len() > LONGEST_NEWS && !is_answer {
            return self.refusal();
        }
        match decode(frame) {
            Ok(message) if is_answer => Frame::Answer(message),
            // Its head did not say so.
            Ok(FromPage::ToolCallResult { .. }) => Frame::Noise,
            Ok(message) => Frame::News(message),
            Err(error) => {
                tracing::debug!(%error, "ignored what a page said");
                Frame::Noise
            }
        }
    }

    fn refusal(self) -> Frame {
        tracing::debug!(kind = %self.kind, "ignored what a page said: it is too long");
        if self.kind != "REGISTER_TOOL" {
            return Frame::Noise;
        }
        Frame::Refused(ToPage::ToolRejected {
            tab_id: self.tab_id.into_owned(),
            name: self.name.into_owned(),
            reason: "Its description and schema are too long; 64 kB of schema are enough for all."
                .into(),
        })
    }
}

/// Only answers to calls may be longer.
pub(super) const LONGEST_NEWS: usize = 1_024 * 1_024;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(frame: &str) -> Frame {
        Head::read(frame).whole(frame)
    }

    #[test]
    fn half_of_a_surrogate_pair_is_mended() {
        let cut = r#"{"type": "TOOL_CALL_RESULT", "callId": "1", "success": true, "result": {"content": [{"type": "text", "text": "a\ud83d"}]}}"#;
        let Frame::Answer(FromPage::ToolCallResult { result, .. }) = read(cut) else {
            panic!("it is an answer");
        };
        assert_eq!(result["content"][0]["text"], "a\u{fffd}");
    }

    #[test]
    fn a_name_that_was_cut_in_the_middle_of_a_character_is_a_name() {
        let cut = r#"{"type": "REGISTER_TOOL", "tabId": "t", "name": "a\ud83d"}"#;
        let Frame::News(FromPage::RegisterTool(tool)) = read(cut) else {
            panic!("it is a tool");
        };
        assert_eq!(tool.name, "a\u{fffd}");
    }

    #[test]
    fn only_answers_may_be_long() {
        let long = "x".repeat(LONGEST_NEWS);
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
