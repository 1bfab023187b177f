//! Arbitrary inputs of pages and their workers.

use super::once::{browser, target};
use crate::{
    CallKind, ConnectionId, DocumentId, Input, PageFacts, PageId, SchemaId, Source, TabLocation,
    TabRef, ToolFacts, ToolKey, ToolName,
};
use proptest::prelude::*;

pub(super) fn page_input() -> impl Strategy<Value = Input> {
    prop_oneof![
        4 => (connection(), 0..2_u8).prop_map(|(connection, n)| {
            let origin = format!("https://{n}.test").into();
            Input::PagesConnected { connection, origin }
        }),
        1 => connection().prop_map(|connection| Input::PagesDisconnected { connection }),
        8 => (connection(), page(), document()).prop_map(|(connection, id, document)| {
            let (url, title) = ("https://a.test/".into(), "A".into());
            let page = PageFacts { id, url, title, document };
            Input::PageAppeared { connection, page }
        }),
        1 => (connection(), page()).prop_map(|(connection, page)| {
            Input::PageGone { connection, page }
        }),
        4 => (connection(), page(), browser(), 0..8_u8, document()).prop_map(
            |(connection, page, browser, n, document)| {
                let target = target(n);
                Input::PageJoined { connection, page, browser, target, document }
            }
        ),
        12 => (connection(), page(), tool()).prop_map(|(connection, page, tool)| {
            Input::ToolRegistered { connection, page, tool }
        }),
        3 => (connection(), page(), key()).prop_map(|(connection, page, key)| {
            Input::ToolUnregistered { connection, page, key }
        }),
        8 => (browser(), 0..8_u8, document(), source(), prop::collection::vec(tool(), 0..5)).prop_map(
            |(browser, n, document, source, tools)| {
                let target = target(n);
                Input::ToolsFound { browser, target, document, source, tools, left_out: 0 }
            }
        ),
        1 => (browser(), 0..8_u8, document()).prop_map(|(browser, n, document)| {
            let target = target(n);
            Input::DocumentChanged { browser, target, document }
        }),
        4 => place().prop_map(|tab| Input::TabActivated { tab }),
        1 => place().prop_map(|tab| Input::TabDeactivated { tab }),
    ]
}

/// A worker, a page, and its tool `a`.
pub(super) fn page_with_tool() -> [Input; 3] {
    let (connection, page) = (ConnectionId(1), PageId("page-1".into()));
    let facts = PageFacts {
        id: page.clone(),
        url: "https://a.test/".into(),
        title: "A".into(),
        document: DocumentId(1),
    };
    let tool = ToolFacts {
        key: ToolKey(1),
        name: "a".into(),
        schema: SchemaId(1),
        read_only: false,
    };
    let origin = "https://0.test".into();
    [
        Input::PagesConnected { connection, origin },
        Input::PageAppeared {
            connection,
            page: facts,
        },
        Input::ToolRegistered {
            connection,
            page,
            tool,
        },
    ]
}

pub(super) fn page_call() -> impl Strategy<Value = CallKind> {
    let tab = || {
        let named = prop_oneof![
            (1..12_u32).prop_map(|tab| TabRef::from(f64::from(tab))),
            page().prop_map(|page| TabRef::from(&*page.0)),
        ];
        prop::option::weighted(0.25, named)
    };
    prop_oneof![
        6 => (name(), tab()).prop_map(|(name, tab)| CallKind::PageTool { name, tab }),
        3 => (name(), tab()).prop_map(|(name, tab)| CallKind::CallPageTool { name, tab }),
        1 => tab().prop_map(|tab| CallKind::ListPageTools { tab }),
        1 => Just(CallKind::ListBrowserTabs),
    ]
}

/// Whether tools with this key declare themselves read-only.
pub(super) fn is_read_only(key: ToolKey) -> bool {
    key.0.is_multiple_of(3)
}

fn tool() -> impl Strategy<Value = ToolFacts> {
    let names = prop::sample::select(vec!["a", "b", "c d", "c/d", "click", ""]);
    let names = prop_oneof![2 => Just("a"), 1 => names];
    (key(), names, 0..3_u64).prop_map(|(key, name, schema)| ToolFacts {
        key,
        name: name.into(),
        schema: SchemaId(schema),
        read_only: is_read_only(key),
    })
}

fn name() -> impl Strategy<Value = ToolName> {
    prop_oneof![3 => Just("a"), 1 => prop::sample::select(vec!["b", "c_d", "c_d_2", "page_click"])]
        .prop_map(ToolName::new)
}

fn key() -> impl Strategy<Value = ToolKey> {
    (0..6_u64).prop_map(ToolKey)
}

fn source() -> impl Strategy<Value = Source> {
    prop_oneof![
        1 => Just(Source::Library),
        6 => Just(Source::WebMcp),
        3 => Just(Source::Generated),
    ]
}

fn document() -> impl Strategy<Value = DocumentId> {
    prop_oneof![20 => Just(DocumentId(1)), 1 => Just(DocumentId(2)), 1 => Just(DocumentId(0))]
}

fn connection() -> impl Strategy<Value = ConnectionId> {
    prop_oneof![9 => Just(ConnectionId(1)), 2 => Just(ConnectionId(2)), 1 => Just(ConnectionId(3))]
}

fn page() -> impl Strategy<Value = PageId> {
    prop_oneof![
        6 => Just("page-1"),
        3 => Just("page-2"),
        1 => prop::sample::select(vec!["page-3", "4", ""]),
    ]
    .prop_map(|page| PageId(page.into()))
}

fn place() -> impl Strategy<Value = TabLocation> {
    prop_oneof![
        (browser(), 0..8_u8).prop_map(|(browser, n)| {
            let target = target(n);
            TabLocation::Browser { browser, target }
        }),
        (connection(), page())
            .prop_map(|(connection, page)| TabLocation::Page { connection, page }),
    ]
}
