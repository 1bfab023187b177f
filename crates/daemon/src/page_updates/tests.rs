//! Repeated messages are dropped, and what is kept is limited.

use super::*;
use crate::page_quotas::{KEPT, PageQuotas};
use serde_json::json;

fn reader(page_quotas: &PageQuotas) -> PageReader {
    let origin: Arc<str> = "http://localhost:5173".into();
    let room = page_quotas.connect(&origin).kept;
    PageReader::new(origin, room)
}

fn message(said: Value) -> FromPage {
    serde_json::from_value(said).unwrap()
}

fn tab(id: &str) -> FromPage {
    message(json!({
        "type": "REGISTER_TAB", "tabId": id, "documentId": "d", "url": "http://localhost:5173/", "title": ""
    }))
}

fn tool(tab: &str, name: &str, words: &str) -> FromPage {
    let schema = json!({"type": "object", "$comment": words});
    message(json!({
        "type": "REGISTER_TOOL", "tabId": tab, "name": name, "description": "Adds.", "inputSchema": schema
    }))
}

async fn offered(reader: &mut PageReader, said: FromPage) -> Option<Arc<Record>> {
    match reader.read(said).await {
        None => None,
        Some(PageUpdate::ToolOffered { tool, .. }) => Some(tool),
        Some(other) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_unchanged_tool_is_sent_once_and_a_changed_one_again() {
    let page_quotas = PageQuotas::default();
    let mut reader = reader(&page_quotas);
    reader.read(tab("t")).await;
    let kept = offered(&mut reader, tool("t", "add", "one")).await.unwrap();
    assert!(
        offered(&mut reader, tool("t", "add", "one"))
            .await
            .is_none()
    );
    let other = offered(&mut reader, tool("t", "add", "two")).await.unwrap();
    assert!(!Arc::ptr_eq(&kept.shared, &other.shared));
    assert!(
        offered(&mut reader, tool("t", "add", "one"))
            .await
            .is_some()
    );
}

#[tokio::test]
async fn tools_that_the_main_loop_lacks_are_sent_again() {
    let page_quotas = PageQuotas::default();
    let mut reader = reader(&page_quotas);
    // The main loop rejected it.
    drop(offered(&mut reader, tool("t", "add", "one")).await.unwrap());
    let kept = offered(&mut reader, tool("t", "add", "one")).await;
    assert!(kept.is_some());
    // A tab that registers again has no tools, whether or not the main loop knows that yet.
    for gone in [
        tab("t"),
        message(json!({"type": "UNREGISTER_TAB", "tabId": "t"})),
        message(json!({"type": "UNREGISTER_TOOL", "tabId": "t", "name": "add"})),
    ] {
        assert!(reader.read(gone).await.is_some());
        let again = offered(&mut reader, tool("t", "add", "one")).await;
        // Its text is still cached, and is not cleaned twice.
        let again = again.unwrap();
        assert!(Arc::ptr_eq(&again.shared, &kept.as_ref().unwrap().shared));
    }
}

#[tokio::test]
async fn shared_tools_count_once_and_their_quota_is_returned() {
    let page_quotas = PageQuotas::default();
    let mut reader = reader(&page_quotas);
    let mut kept = Vec::new();
    let long = "x".repeat(60_000);
    for number in 0..200 {
        let tab = format!("tab-{number}");
        kept.extend(offered(&mut reader, tool(&tab, "add", &long)).await);
    }
    assert_eq!(kept.len(), 200);
    let mut refused = None;
    for number in 0..100 {
        let name = format!("tool-{number}");
        let words = format!("{number}{long}");
        match reader.read(tool("t", &name, &words)).await {
            Some(PageUpdate::ToolOffered { tool, .. }) => kept.push(tool),
            Some(PageUpdate::ToolUnfit { reason, .. }) => refused = Some((number, reason)),
            other => panic!("{other:?}"),
        }
        if refused.is_some() {
            break;
        }
    }
    let (number, reason) = refused.unwrap();
    let (each, in_tabs) = (60_043 + SAID_BYTES + RECORD_BYTES, 200 * (3 + RECORD_BYTES));
    assert_eq!(number, (KEPT.connection - in_tabs) / each - 1);
    assert!(reason.contains("may have 4 MiB"), "{reason}");
    kept.clear();
    for number in 0..number {
        let name = format!("tool-{number}");
        let words = format!("{number}{long}");
        kept.extend(offered(&mut reader, tool("t", &name, &words)).await);
    }
    assert_eq!(kept.len(), number);
}

#[tokio::test]
async fn tools_of_tabs_that_are_not_there_are_not_remembered() {
    let page_quotas = PageQuotas::default();
    let mut reader = reader(&page_quotas);
    reader.read(tab("t")).await;
    let kept = offered(&mut reader, tool("t", "add", "one")).await;
    for number in 0..2_000 {
        let other = tool(&format!("tab-{number}"), &format!("add-{number}"), "one");
        drop(offered(&mut reader, other).await.unwrap());
        // Tools that the main loop rejects are not remembered either, if the tab is registered.
        let refused = tool("t", &format!("add-{number}"), &format!("{number}"));
        drop(offered(&mut reader, refused).await.unwrap());
    }
    assert!(reader.known.len() < 100, "{}", reader.known.len());
    assert!(reader.texts.len() < 100, "{}", reader.texts.len());
    assert_eq!(reader.tabs.len(), 1);
    for number in 0..2_000 {
        reader.read(tab(&number.to_string())).await;
    }
    assert_eq!(reader.tabs.len(), MOST_TABS);
    drop(kept);
}

#[tokio::test]
async fn names_of_tools_count_in_each_tab() {
    let page_quotas = PageQuotas::default();
    let mut reader = reader(&page_quotas);
    let mut kept = Vec::new();
    let long = "x".repeat(200);
    let refused = 'all: {
        for number in 0..1_000 {
            let id = format!("tab-{number}");
            reader.read(tab(&id)).await;
            for count in 0..64 {
                let tool = tool(&id, &format!("{count:03}{long}"), "one");
                match reader.read(tool).await {
                    Some(PageUpdate::ToolOffered { tool, .. }) => kept.push(tool),
                    Some(PageUpdate::ToolUnfit { reason, .. }) => break 'all Some(reason),
                    other => panic!("{other:?}"),
                }
            }
        }
        None
    };
    assert!(refused.is_some_and(|reason| reason.contains("4 MiB of names")));
    assert_eq!(kept.len(), KEPT.connection / (RECORD_BYTES + 203) - 1 - 1);
}
