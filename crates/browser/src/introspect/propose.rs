//! From facts to tools: the controls of a page's frames become a ranked, bounded list with unique names.

use super::brief::{self, Brief};
use super::draft::{Draft, ToolAction};
use super::facts::{Kind, Survey};
use super::meanings::Meanings;
use super::{actions, forms, lists};
use crate::tab::DocumentId;
use serde_json::Value;
use std::collections::HashMap;

/// A tool that was generated from what a page shows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GeneratedTool {
    /// Its name: `snake_case`, unique in its tab.
    pub(crate) name: String,
    /// What it does, with texts from the page.
    pub(crate) description: String,
    /// The JSON schema of its arguments.
    pub(crate) schema: Value,
    /// How it is listed, if that is shorter.
    pub(crate) brief: Option<Brief>,
    pub(crate) read_only: bool,
    /// The document whose elements it acts on.
    pub(crate) document: DocumentId,
    pub(crate) action: ToolAction,
    key: (u32, &'static str),
}

/// The tools for these documents, the best first, at most `limit`; and how many were left out.
pub(crate) fn propose(
    surveys: &[(DocumentId, Survey)],
    meanings: &mut Meanings,
    limit: usize,
) -> (Vec<GeneratedTool>, usize) {
    let mut drafts: Vec<(DocumentId, Draft)> = Vec::new();
    for (document, survey) in surveys {
        let made = of_document(survey).into_iter();
        drafts.extend(made.map(|draft| (*document, draft)));
    }
    without_plain_buttons(&mut drafts);
    drafts.sort_by_key(|(_, draft)| std::cmp::Reverse(draft.rank));
    let proposed = drafts.len();
    let mut budget = MAX_BYTES;
    drafts.retain_mut(|(_, draft)| {
        shrink(&mut draft.schema);
        let bytes = draft.schema.to_string().len() + draft.description.len();
        let fits = bytes <= MAX_BYTES_OF_TOOL && bytes <= budget;
        budget -= if fits { bytes } else { 0 };
        fits
    });
    let mut drafts = meanings.name(drafts);
    drafts.truncate(limit);
    let left_out = proposed - drafts.len();
    let mut tools: Vec<_> = drafts.into_iter().map(GeneratedTool::new).collect();
    name_list_tools(&mut tools);
    brief::fit(&mut tools);
    (tools, left_out)
}

/// One `click` with a name does what the tool of a button would do. Only a page that has nothing but a few buttons gets
/// tools for them.
fn without_plain_buttons(drafts: &mut Vec<(DocumentId, Draft)>) {
    let is_plain = |draft: &Draft| matches!(draft.action, ToolAction::Press { .. });
    let plain = drafts.iter().filter(|(_, draft)| is_plain(draft)).count();
    if plain < drafts.len() || plain > FEW_BUTTONS {
        drafts.retain(|(_, draft)| !is_plain(draft));
    }
}

impl GeneratedTool {
    pub(super) fn new((document, draft): (DocumentId, Draft)) -> Self {
        Self {
            name: draft.name,
            description: draft.description,
            schema: draft.schema,
            brief: None,
            read_only: draft.action.is_read_only(),
            document,
            action: draft.action,
            key: draft.key,
        }
    }
}

/// Drops long enumerations from a schema that would be too large: the page validates the value anyway.
fn shrink(schema: &mut Value) {
    if schema.to_string().len() <= MAX_BYTES_OF_TOOL {
        return;
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(|all| all.values_mut()) {
        for place in ["", "/items"] {
            if let Some(Value::Object(part)) = property.pointer_mut(place) {
                part.shift_remove("enum");
            }
        }
    }
}

/// Tools that take an index name the tool that lists the items.
fn name_list_tools(tools: &mut [GeneratedTool]) {
    let lists = tools.iter().filter(|tool| tool.key.1 == "list");
    let lists: HashMap<_, _> = lists
        .map(|tool| ((tool.document, tool.key.0), tool.name.clone()))
        .collect();
    for tool in tools.iter_mut() {
        let index = tool.schema.pointer_mut("/properties/index/description");
        if let (Some(index), Some(name)) = (index, lists.get(&(tool.document, tool.key.0))) {
            *index = Value::String(format!("0 is the first one; {name} lists them"));
        }
    }
}

fn of_document(survey: &Survey) -> Vec<Draft> {
    let mut used = vec![false; survey.controls.len()];
    // A modal dialog blocks everything else.
    let modal = survey
        .groups
        .iter()
        .any(|group| group.kind == Kind::Dialog && group.modal);
    if modal {
        for (used, control) in used.iter_mut().zip(&survey.controls) {
            *used = !survey.around(control).any(|(_, group)| group.modal);
        }
    }
    for (used, control) in used.iter_mut().zip(&survey.controls) {
        *used |= survey.around(control).any(|(_, group)| group.offered);
    }
    let mut drafts = lists::drafts(survey, &mut used);
    drafts.extend(forms::drafts(survey, &mut used));
    drafts.extend(actions::drafts(survey, &mut used));
    drafts
}

/// The total size of a page's tools, and the size of each.
const MAX_BYTES: usize = 48_000;
const MAX_BYTES_OF_TOOL: usize = 8_000;
const FEW_BUTTONS: usize = 4;

#[cfg(test)]
mod tests;
