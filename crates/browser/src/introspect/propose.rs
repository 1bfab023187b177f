//! From facts to tools: the controls of a page's frames become a ranked, bounded list with unique names.

use super::draft::{Draft, ToolAction};
use super::facts::{Kind, Survey};
use super::{actions, forms, lists};
use crate::tab::DocumentId;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// A tool that was generated from what a page shows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GeneratedTool {
    /// Its name: `snake_case`, unique in its tab.
    pub(crate) name: String,
    /// What it does, with texts from the page.
    pub(crate) description: String,
    /// The JSON schema of its arguments.
    pub(crate) schema: Value,
    pub(crate) read_only: bool,
    /// The document whose elements it acts on.
    pub(crate) document: DocumentId,
    pub(crate) action: ToolAction,
    key: (u32, &'static str),
}

/// Names that were assigned before, so that the same tool keeps its name.
pub(crate) type Names = HashMap<Key, String>;

/// A document, an element in it, the kind of action, and the wanted name.
type Key = (DocumentId, u32, &'static str, String);

/// The tools for these documents, the best first, at most `limit`; and how many were left out. Removes unused entries
/// from `names`.
pub(crate) fn propose(
    surveys: &[(DocumentId, Survey)],
    names: &mut Names,
    limit: usize,
) -> (Vec<GeneratedTool>, usize) {
    let mut drafts: Vec<(DocumentId, Draft)> = Vec::new();
    for (document, survey) in surveys {
        drafts.extend(
            of_document(survey)
                .into_iter()
                .map(|draft| (*document, draft)),
        );
    }
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
    drafts.truncate(limit);
    let left_out = proposed - drafts.len();
    let mut tools = named(drafts, names);
    name_list_tools(&mut tools);
    (tools, left_out)
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

/// Gives every draft a unique name. A tool that had a name keeps it; others get a different one.
fn named(drafts: Vec<(DocumentId, Draft)>, names: &mut Names) -> Vec<GeneratedTool> {
    let keys: Vec<Key> = drafts
        .iter()
        .map(|(document, draft)| (*document, draft.key.0, draft.key.1, draft.name.clone()))
        .collect();
    let present: HashSet<&Key> = keys.iter().collect();
    names.retain(|key, _| present.contains(key));
    let mut taken: HashSet<String> = HashSet::new();
    // Assign kept names first, so that no other tool can take them.
    let kept: Vec<Option<String>> = keys
        .iter()
        .map(|key| {
            names
                .get(key)
                .filter(|name| taken.insert((*name).clone()))
                .cloned()
        })
        .collect();
    let mut tools = Vec::with_capacity(drafts.len());
    for (((document, draft), key), kept) in drafts.into_iter().zip(&keys).zip(kept) {
        let name = kept.unwrap_or_else(|| {
            let numbered = (2_u32..).map(|n| format!("{}_{n}", draft.name));
            let mut names = std::iter::once(draft.name.clone()).chain(numbered);
            let free = names.find(|name| taken.insert(name.clone()));
            free.unwrap_or_else(|| draft.name.clone())
        });
        names.insert(key.clone(), name.clone());
        tools.push(GeneratedTool {
            name,
            description: draft.description,
            schema: draft.schema,
            read_only: draft.action.is_read_only(),
            document,
            action: draft.action,
            key: draft.key,
        });
    }
    tools
}

/// The total size of a page's tools, and the size of each.
const MAX_BYTES: usize = 48_000;
const MAX_BYTES_OF_TOOL: usize = 8_000;

#[cfg(test)]
mod tests;
