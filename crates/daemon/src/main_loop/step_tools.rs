//! What a tool that a step names is to its session, so that all can be checked before the first runs.

use super::page_calls::check;
use crate::record::Record;
use serde_json::{Map, Value};
use std::sync::Arc;

/// A tool as a step names it.
#[derive(Clone, Debug)]
pub(crate) enum StepTool {
    /// The session has no such tool.
    Missing,
    /// One of ours.
    Ours,
    /// A tool of the page.
    Page(Arc<Record>),
}

impl StepTool {
    /// What is wrong with these arguments for a tool of the page, if anything is.
    pub(crate) async fn fault(&self, arguments: &Map<String, Value>) -> Option<String> {
        let Self::Page(record) = self else {
            return None;
        };
        let given = Arc::new(arguments.clone());
        check(record, given, |_, _| ()).await.err()
    }

    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// Whether it has an argument `tabId` of its own.
    pub(crate) fn declares_tab(&self) -> bool {
        matches!(self, Self::Page(record) if record.shared.text.declares_tab())
    }
}
