//! Local and session storage of a page.

use super::site;
use super::whole::Position;
use crate::error::ToolError;
use crate::run::Page;
use crate::tools::{Access, Category, Tool, ToolOutput, ToolResult, paging};
use crate::world::World;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabmux_text::{escaped, one_line, shorten};

/// Shows or changes local storage.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::tools) struct LocalStorage(Entries);

impl Tool for LocalStorage {
    const NAME: &'static str = "local_storage";
    const DESCRIPTION: &'static str =
        "See the local storage of the page's origin, or one entry; set or delete entries.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Storage;
    const OPT_IN: bool = true;
    const PROGRESSIVE: bool = false;

    fn check(&self) -> Result<(), String> {
        self.0.check()
    }

    async fn run(self, page: Page) -> ToolResult {
        self.0.run(page, Kind::Local).await
    }
}

/// Shows or changes session storage.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::tools) struct SessionStorage(Entries);

impl Tool for SessionStorage {
    const NAME: &'static str = "session_storage";
    const DESCRIPTION: &'static str =
        "The same as local_storage, for session storage, which ends with the tab.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Storage;
    const OPT_IN: bool = true;
    const PROGRESSIVE: bool = false;

    fn check(&self) -> Result<(), String> {
        self.0.check()
    }

    async fn run(self, page: Page) -> ToolResult {
        self.0.run(page, Kind::Session).await
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entries {
    key: Option<String>,
    /// Set the entry to this value.
    value: Option<String>,
    /// Delete the entry; without a key, all of them.
    delete: Option<bool>,
    page_size: Option<u32>,
    page_idx: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Local,
    Session,
}

impl Entries {
    fn check(&self) -> Result<(), String> {
        paging::check_size(self.page_size)?;
        match &self.value {
            Some(_) if self.key.is_none() => Err("`value` needs the `key` of the entry".into()),
            Some(_) if self.delete == Some(true) => Err("give either `value` or `delete`".into()),
            _ => Ok(()),
        }
    }

    async fn run(self, page: Page, kind: Kind) -> ToolResult {
        site(&page.tab)?;
        let world = page.tab.world().await?;
        let text = match (self.key, self.value) {
            (Some(key), Some(value)) => {
                ask(&world, kind, json!({ "set": [[key, value]] })).await?;
                format!("Set {}.", one_line(&key, 60))
            }
            (key, _) if self.delete == Some(true) => {
                let found = ask(&world, kind, json!({ "delete": true, "key": key })).await?;
                match found.count {
                    0 if key.is_some() => return Err(no_such_entry(kind)),
                    1 => "Deleted 1 entry.".into(),
                    count => format!("Deleted {count} entries."),
                }
            }
            (Some(key), None) => {
                let found = ask(&world, kind, json!({ "key": key, "most": MAX_VALUE })).await?;
                let entry = found.entries.into_iter().next();
                let Entry { value, length, .. } = entry.ok_or_else(|| no_such_entry(kind))?;
                let value = escaped(&value).into_owned();
                match length > MAX_VALUE {
                    true => format!(
                        "{value}\n… {length} characters in all; save_storage writes all of them."
                    ),
                    false => value,
                }
            }
            (None, _) => {
                let found = ask(&world, kind, json!({ "most": 200 })).await?;
                paging::page(
                    &found.entries,
                    "entries",
                    self.page_size,
                    self.page_idx,
                    line,
                )?
            }
        };
        Ok(ToolOutput::text(text))
    }
}

/// The requested content of a storage.
#[derive(Debug, Deserialize)]
pub(super) struct Found {
    /// The reason of a failure, in a few words.
    error: Option<String>,
    /// How many entries were deleted.
    #[serde(default)]
    count: u32,
    #[serde(default)]
    pub(super) entries: Vec<Entry>,
    /// Where the next part begins, if only a part was requested.
    pub(super) next: Option<Position>,
}

/// One entry; its value may be shortened.
#[derive(Debug, Deserialize)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) value: String,
    #[serde(default)]
    length: usize,
}

/// Accesses a storage of the page from an isolated world, unseen by the page.
pub(super) async fn ask(
    world: &World,
    kind: Kind,
    mut request: serde_json::Value,
) -> Result<Found, ToolError> {
    if let Some(request) = request.as_object_mut() {
        request.insert("kind".into(), json!(kind));
    }
    let found: Found = world.call(ASK, request).await?;
    match &found.error {
        Some(why) => Err(ToolError::NotActionable {
            why: format!(
                "The page's {} cannot do that: {}. Nothing was changed.",
                kind.name(),
                one_line(why, 200).trim_end_matches('.')
            ),
        }),
        None => Ok(found),
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Local => "local storage",
            Self::Session => "session storage",
        }
    }
}

fn no_such_entry(kind: Kind) -> ToolError {
    ToolError::NotActionable {
        why: format!(
            "The page's {} has no such entry. Omit the key to list all entries.",
            kind.name()
        ),
    }
}

fn line(entry: &Entry) -> String {
    let value = one_line(&entry.value, 200);
    let key = one_line(&shorten(&entry.key, 200), 200);
    match entry.length > entry.value.encode_utf16().count() {
        true => format!("{key} = {value}… ({} characters)", entry.length),
        false => format!("{key} = {value}"),
    }
}

const MAX_VALUE: usize = 20_000;

/// Reads a storage, or changes it: all requested changes or none.
const ASK: &str = r"((request) => {
    // A part of a copy that the first part makes and the last one removes.
    const part = (store, keys, { kind, from: [first, start], part: room }) => {
        const copies = (globalThis.tabmuxStorageCopies ??= {});
        if (first === 0 && start === 0) copies[kind] = keys().map((key) => [key, store.getItem(key) ?? '']);
        const copy = copies[kind] ?? [];
        const entries = [];
        let offset = start;
        for (let at = first; at < copy.length; at++, offset = 0) {
            const [key, value] = copy[at].map((text) => text.toWellFormed());
            const whole = key + value;
            let end = Math.min(whole.length, offset + room);
            // Both halves of a pair stay together.
            if (end < whole.length && end > offset + 1 && /[\ud800-\udbff]/.test(whole[end - 1])) end -= 1;
            entries.push({ key: key.slice(offset, end), value: whole.slice(Math.max(offset, key.length), end) });
            room -= end - offset;
            if (end < whole.length) return { entries, next: [at, end] };
            if (room <= 1 && at + 1 < copy.length) return { entries, next: [at + 1, 0] };
        }
        delete copies[kind];
        return { entries };
    };
    try {
        const store = request.kind === 'local' ? localStorage : sessionStorage;
        const keys = () => Array.from({ length: store.length }, (_, at) => store.key(at)).sort();
        if (request.set) {
            const before = request.set.map(([key]) => [key, store.getItem(key)]);
            try {
                for (const [key, value] of request.set) store.setItem(key, value);
            } catch (error) {
                for (const [key] of before) store.removeItem(key);
                for (const [key, value] of before) if (value !== null) store.setItem(key, value);
                throw error;
            }
            return {};
        }
        const wanted = request.key == null ? keys() : keys().filter((key) => key === request.key);
        if (request.delete) {
            for (const key of wanted) store.removeItem(key);
            return { count: wanted.length };
        }
        if (request.from) return part(store, keys, request);
        const entries = wanted.map((key) => {
            const value = store.getItem(key) ?? '';
            return {
                key: key.slice(0, Math.max(request.most, request.key?.length ?? 0)).toWellFormed(),
                value: value.slice(0, request.most).toWellFormed(),
                length: value.length,
            };
        });
        return { entries };
    } catch (error) {
        return { error: error.message };
    }
})";
