//! Properties that hold for any messages of a page worker.

use super::page_frames::{Frame, Head};
use crate::fuzzing::is_bounded;
use crate::page_quotas::PageQuotas;
use crate::page_tools::PageTools;
use crate::page_updates::{PageReader, PageReply, PageUpdate, page_id};
use crate::record::Record;
use std::sync::Arc;
use tabmux_core::{ConnectionId, PageId};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

/// A worker of the page library sends these messages, one per line.
///
/// # Panics
/// If more is kept or answered than the limits allow.
pub fn page_message(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let origin: Arc<str> = "https://app.example".into();
    let mut reader = PageReader::new(
        Arc::clone(&origin),
        PageQuotas::default().connect(&origin).kept,
    );
    let mut tools = PageTools::default();
    let (out, _kept) = mpsc::channel(1);
    let connection = tools.open(origin, String::new(), out);
    for frame in text.split('\n').take(MOST_MESSAGES) {
        match Head::read(frame).whole(frame) {
            Frame::Noise => {}
            Frame::Refused(answer) => {
                let answer = serde_json::to_string(&answer).expect("an answer has a form");
                assert!(answer.len() <= 2 * frame.len() + 500, "{answer}");
            }
            Frame::Message(message) | Frame::Answer(message) => {
                let update = RUNTIME.with(|runtime| runtime.block_on(reader.read(message)));
                if let Some(update) = update {
                    handle(&mut tools, connection, update);
                }
            }
        }
    }
    assert!(tools.close(connection) && !tools.close(connection));
}

fn handle(tools: &mut PageTools, connection: ConnectionId, update: PageUpdate) {
    match update {
        PageUpdate::TabCame(tab) | PageUpdate::TabChanged(tab) => {
            let page = page_id(&tab.tab_id);
            let first = tools.show(connection, &page, &tab.document_id);
            assert!(first.is_some() && tools.has(connection, &page));
            let kept = tools.document(connection, &page).unwrap_or_default();
            assert!(kept.chars().count() <= 101, "{kept}");
        }
        PageUpdate::TabGone { tab_id } => {
            tools.forget_page(connection, &page_id(&tab_id));
            assert!(!tools.has(connection, &page_id(&tab_id)));
        }
        PageUpdate::ToolOffered { tab_id, tool } => {
            offer(tools, connection, &page_id(&tab_id), &tool);
        }
        PageUpdate::ToolGone { tab_id, name } => {
            let page = page_id(&tab_id);
            tools.unregister(connection, &page, &name);
            assert!(tools.unregister(connection, &page, &name).is_none());
        }
        PageUpdate::ToolUnfit { reason, .. } => {
            assert!(reason.len() <= 300, "a long refusal: {reason}");
        }
        PageUpdate::Answered {
            answer: PageReply::Done(reply),
            ..
        } => is_bounded(&reply),
        PageUpdate::Answered { .. } | PageUpdate::Activated { .. } => {}
    }
}

fn offer(tools: &mut PageTools, connection: ConnectionId, page: &PageId, tool: &Arc<Record>) {
    let text = &tool.shared.text;
    assert!(text.description.chars().count() <= 4_200);
    let unseen = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    assert!(!text.description.contains(unseen), "{:?}", text.description);
    let schema = text.schema().len();
    assert!(schema <= 66 * 1_024, "{schema} bytes of schema");
    let facts = match tools.register(connection, page, Arc::clone(tool)) {
        Ok(facts) => facts,
        Err(why) => {
            assert!(why.len() <= 300, "a long refusal: {why}");
            return;
        }
    };
    let again = tools.register(connection, page, Arc::clone(tool));
    assert_eq!(again.map(|facts| facts.key), Ok(facts.key));
}

thread_local! {
    /// A reader prepares tools on the blocking thread pool.
    static RUNTIME: Runtime = Builder::new_current_thread()
        .build()
        .expect("a runtime can be made");
}

const MOST_MESSAGES: usize = 64;
