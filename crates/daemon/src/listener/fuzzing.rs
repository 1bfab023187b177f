//! What has to hold for whatever a page's worker says.

use super::page_words::{self, Word};
use crate::convert::{page_error, page_result};
use crate::fuzzing::is_bounded;
use crate::page_tools::PageTools;
use tabmux_core::{ConnectionId, PageId};
use tabmux_protocol::page::{FromPage, PageTool};
use tokio::sync::mpsc;

/// A worker of the page library says these messages, one a line.
///
/// # Panics
/// If more is kept or answered than may be.
pub fn page_message(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let mut tools = PageTools::default();
    let (out, _kept) = mpsc::channel(1);
    let connection = tools.open("https://app.example".into(), out);
    for frame in text.split('\n').take(MOST_MESSAGES) {
        match page_words::read(frame) {
            Word::Noise => {}
            Word::Refused(answer) => {
                let answer = serde_json::to_string(&answer).expect("an answer has a form");
                assert!(answer.len() <= 2 * frame.len() + 500, "{answer}");
            }
            Word::News(message) => hear(&mut tools, connection, message),
        }
    }
    assert!(tools.close(connection) && !tools.close(connection));
}

fn hear(tools: &mut PageTools, connection: ConnectionId, message: FromPage) {
    let page = |tab: &str| PageId(tab.into());
    match message {
        FromPage::RegisterTab(tab) | FromPage::UpdateTab(tab) => {
            let page = page(&tab.tab_id);
            let first = tools.show(connection, &page, &tab.document_id);
            assert!(first.is_some() && tools.has(connection, &page));
            let kept = tools.document(connection, &page).unwrap_or_default();
            assert!(kept.chars().count() <= 101, "{kept}");
        }
        FromPage::UnregisterTab { tab_id } => {
            tools.forget_page(connection, &page(&tab_id));
            assert!(!tools.has(connection, &page(&tab_id)));
        }
        FromPage::RegisterTool(tool) => register(tools, connection, tool),
        FromPage::UnregisterTool { tab_id, name } => {
            tools.unregister(connection, &page(&tab_id), &name);
            assert!(
                tools
                    .unregister(connection, &page(&tab_id), &name)
                    .is_none()
            );
        }
        FromPage::ToolCallResult {
            result,
            error,
            code,
            ..
        } => {
            is_bounded(&page_result(result));
            is_bounded(&page_error(&error, &code));
        }
        FromPage::SetActiveTab { .. }
        | FromPage::Hello { .. }
        | FromPage::Ping
        | FromPage::Pong => {}
    }
}

fn register(tools: &mut PageTools, connection: ConnectionId, tool: PageTool) {
    let page = PageId(tool.tab_id.as_str().into());
    let facts = match tools.register(connection, &page, tool.clone()) {
        Ok(facts) => facts,
        Err(why) => {
            assert!(why.len() <= 300, "a long refusal: {why}");
            return;
        }
    };
    let record = tools.record(connection, &page, facts.key);
    let info = record.expect("it is kept").info("tool", true);
    assert!(info.description.chars().count() <= 4_200);
    let unseen = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    assert!(!info.description.contains(unseen), "{:?}", info.description);
    let schema = serde_json::to_string(&info.input_schema).map_or(0, |it| it.len());
    assert!(schema <= 66 * 1_024, "{schema} bytes of schema");
    let again = tools.register(connection, &page, tool);
    assert_eq!(again.map(|facts| facts.key), Ok(facts.key));
}

const MOST_MESSAGES: usize = 64;
