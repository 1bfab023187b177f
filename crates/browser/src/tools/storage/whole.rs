//! Reads all entries of a storage, in parts: a full storage can be a message of 30 MB.

use super::entries::{Kind, ask};
use crate::error::ToolError;
use crate::world::World;
use serde::Deserialize;
use serde_json::json;

/// All entries, as pairs of key and value. They are copied in the page first, so a page that changes its storage
/// meanwhile does not mix two versions.
pub(super) async fn read_all(
    world: &World,
    kind: Kind,
) -> Result<Vec<(String, String)>, ToolError> {
    let mut entries: Vec<(String, String)> = Vec::new();
    let mut next = Some(Position::default());
    while let Some(position) = next {
        let Position(entry, offset) = position;
        let request = json!({ "from": [entry, offset], "part": PART });
        let found = ask(world, kind, request).await?;
        for (number, part) in found.entries.into_iter().enumerate() {
            match entries.last_mut().filter(|_| number == 0 && offset > 0) {
                Some((key, value)) => {
                    key.push_str(&part.key);
                    value.push_str(&part.value);
                }
                None => entries.push((part.key, part.value)),
            }
        }
        next = found.next.filter(|next| next.is_after(position));
    }
    Ok(entries)
}

/// Where a part begins: the number of an entry, and how many characters of its key and value come before.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position(usize, usize);

impl Position {
    fn is_after(self, other: Self) -> bool {
        self > other
    }
}

/// How many characters are read at a time. Chrome writes up to six bytes for one, and the other tabs of the browser
/// wait while it writes and while we parse.
const PART: usize = 100_000;
