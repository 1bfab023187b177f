//! The addresses of resources for clients without a handshake: they name the session, `tabmux://SESSION@tab/3/text`,
//! except for the default one.

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ReadResourceResult, Resource, ResourceContents};
use serde_json::Value;
use std::borrow::Cow;

/// The name of the session in an address, and the address within it.
pub(super) fn split(uri: &str) -> (Option<&str>, Cow<'_, str>) {
    let rest = uri
        .strip_prefix(SCHEME)
        .and_then(|rest| rest.split_once('@'));
    match rest {
        Some((name, rest)) if !name.contains(['/', '?']) => {
            (Some(name), Cow::Owned(format!("{SCHEME}{rest}")))
        }
        _ => (None, Cow::Borrowed(uri)),
    }
}

/// Whether what is read by this address, within a session, can be a whole file: all except short texts of tabs.
pub(super) fn can_be_long(uri: &str) -> bool {
    let kind = uri
        .strip_prefix(TAB)
        .and_then(|rest| rest.split('/').nth(1));
    let kind = kind.and_then(|kind| kind.split('?').next());
    !kind.is_some_and(|kind| SHORT.contains(&kind))
}

/// A listed resource of this session.
pub(super) fn listed(mut resource: Resource, session: &str) -> Resource {
    resource.uri = named(&resource.uri, session);
    resource.name = format!("{session}: {}", resource.name);
    resource
}

/// The content of a resource of this session, under the address that it was read by.
pub(super) fn under(
    mut result: ReadResourceResult,
    address: &str,
    session: &str,
) -> ReadResourceResult {
    let is_file = split(address).1.starts_with(FILE);
    for contents in &mut result.contents {
        match contents {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                address.clone_into(uri);
                // The content of a file is not ours.
                if !is_file {
                    *text = in_text(text, session);
                }
            }
            ResourceContents::BlobResourceContents { uri, .. } => address.clone_into(uri),
            _ => {}
        }
    }
    result
}

/// The answer of a call in this session.
pub(super) fn answered(mut result: CallToolResult, session: &str) -> CallToolResult {
    for block in &mut result.content {
        match block {
            ContentBlock::ResourceLink(link) => link.uri = named(&link.uri, session),
            ContentBlock::Text(text) => text.text = in_text(&text.text, session),
            _ => {}
        }
    }
    result
}

/// The error of a request in this session.
pub(super) fn failed(mut error: ErrorData, session: &str) -> ErrorData {
    error.message = in_text(&error.message, session).into();
    if let Some(Value::String(uri)) = error.data.as_mut().and_then(|data| data.get_mut("uri")) {
        *uri = named(uri, session);
    }
    error
}

/// A text with the session in each address that has none.
fn in_text(text: &str, session: &str) -> String {
    let text = text.replace(FILE, &named(FILE, session));
    text.replace(TAB, &named(TAB, session))
}

fn named(uri: &str, session: &str) -> String {
    match uri.strip_prefix(SCHEME) {
        Some(rest) => format!("{SCHEME}{session}@{rest}"),
        None => uri.to_owned(),
    }
}

const SCHEME: &str = "tabmux://";
const FILE: &str = "tabmux://file/";
const TAB: &str = "tabmux://tab/";
const SHORT: [&str; 4] = ["text", "snapshot", "console", "network"];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_address_names_its_session_and_is_found_again() {
        for (uri, session, within) in [
            ("tabmux://tab/3/text", None, "tabmux://tab/3/text"),
            ("tabmux://a.b@file/1", Some("a.b"), "tabmux://file/1"),
            ("tabmux://tab/3/text@x", None, "tabmux://tab/3/text@x"),
            ("file:///etc/passwd", None, "file:///etc/passwd"),
        ] {
            let (found, rest) = split(uri);
            assert_eq!((found, &*rest), (session, within));
            if let Some(session) = session {
                assert_eq!(named(&rest, session), uri);
            }
        }
    }

    #[test]
    fn the_text_of_an_answer_names_the_addresses_of_its_links() {
        let link = |uri: &str| ContentBlock::resource_link(Resource::new(uri, "x"));
        let text = "Saved to tabmux://file/1, tabmux://file/12. Read tabmux://tab/3/download/1.";
        let result = CallToolResult::success(vec![
            ContentBlock::text(text),
            link("tabmux://file/1"),
            link("tabmux://file/12"),
        ]);
        let told = serde_json::to_value(answered(result, "one")).unwrap();
        assert_eq!(
            told["content"][0]["text"],
            "Saved to tabmux://one@file/1, tabmux://one@file/12. Read tabmux://one@tab/3/download/1."
        );
        assert_eq!(told["content"][2]["uri"], "tabmux://one@file/12");
    }

    #[test]
    fn texts_of_tabs_are_short_and_everything_else_can_be_long() {
        for (uri, is_long) in [
            ("tabmux://file/1", true),
            ("tabmux://tab/3/pdf", true),
            ("tabmux://tab/3/download/1", true),
            ("tabmux://tab/3/screenshot", true),
            ("tabmux://tab/3/text?offset=4", false),
            ("tabmux://tab/3/network/7", false),
            ("x", true),
        ] {
            assert_eq!(can_be_long(uri), is_long, "{uri}");
        }
    }

    #[test]
    fn an_error_names_addresses_of_its_session() {
        let data = json!({"uri": "tabmux://file/3"});
        let error = ErrorData::internal_error("Read tabmux://file/3?offset=0", Some(data));
        let error = failed(error, "shop");
        assert_eq!(error.message, "Read tabmux://shop@file/3?offset=0");
        assert_eq!(error.data, Some(json!({"uri": "tabmux://shop@file/3"})));
    }
}
