//! Messages to clients that are too long for a line.

use tabmux_protocol::CallReply;
use tabmux_protocol::wire::{FromDaemon, LONGEST_REPLY, Response, encoded_length};

/// A replacement for a message that is too long for a line: the receiver must get some reply.
pub(super) fn shorter(message: FromDaemon) -> FromDaemon {
    const WHY: &str = "The answer is too long to be sent. Ask for less";
    tracing::warn!("a message to a client was too long");
    match message {
        FromDaemon::Response(response) => FromDaemon::Response(Response {
            reply: Some(CallReply::error(format!("{WHY}."))),
            failure: None,
            ..response
        }),
        FromDaemon::ToolsOk { id, mut tools } => {
            let mut room = LONGEST_REPLY;
            tools.retain(|tool| match room.checked_sub(encoded_length(tool) + 1) {
                Some(left) => {
                    room = left;
                    true
                }
                None => false,
            });
            FromDaemon::ToolsOk { id, tools }
        }
        other => {
            let id = match other {
                FromDaemon::OverviewOk { id, .. } => Some(id),
                _ => None,
            };
            FromDaemon::Error {
                id,
                request_id: None,
                error: WHY.to_owned(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tabmux_protocol::RequestId;
    use tabmux_protocol::wire::LONGEST_LINE;

    #[test]
    fn a_message_that_is_too_long_becomes_a_short_error() {
        let long = "\u{1}".repeat(LONGEST_LINE / 5);
        let response = Response {
            request_id: RequestId("1".into()),
            reply: Some(CallReply::text(long.clone())),
            failure: None,
        };
        let tool = |description: &str| tabmux_protocol::ToolInfo {
            name: "who".into(),
            description: description.into(),
            input_schema: Arc::default(),
            output_schema: None,
            hints: None,
        };
        let tools = vec![tool("short"), tool(&long), tool("short")];
        let id = "7".to_owned();
        let told = shorter(FromDaemon::ToolsOk { id, tools });
        assert!(matches!(&told, FromDaemon::ToolsOk { tools, .. } if tools.len() == 2));
        for message in [told, shorter(FromDaemon::Response(response))] {
            assert!(encoded_length(&message) < LONGEST_LINE);
        }
        assert!(CallReply::text(long).that_fits().is_error);
        assert!(!CallReply::text("short").that_fits().is_error);
    }
}
