//! Elements named by `role`, `name` and `near` in place of a uid, for every tool that takes one. They are looked for when
//! the call runs; the tool itself only sees uids.
//!
//! A target is one element, or the call fails with a sentence that names the candidates.

mod read;

pub(super) use read::{NamedTargets, takes_uid};

use super::look::look;
use crate::error::ToolError;
use crate::run::Page;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::time::Duration;
use tabmux_text::one_line;
use tokio::time::Instant;

/// An element as the agent names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Target {
    role: Option<String>,
    name: Option<String>,
    near: Option<String>,
}

/// Adds the arguments that can replace a uid to a schema.
pub(super) fn list(schema: &mut Map<String, Value>) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for name in ["role", "name", "near"] {
            properties.insert(name.to_owned(), json!({"type": "string"}));
        }
    }
}

/// What one document has for a target.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Found {
    /// How well the best ones match; smaller is better.
    rank: Option<u32>,
    found: usize,
    uids: Vec<String>,
    /// The best matches, or else what is similar.
    lines: Vec<String>,
    /// How many lines have the text that the target is near.
    anchors: usize,
    /// Whether the document is of another origin than the tab's page.
    foreign: bool,
}

/// The uids of the targets, in their order. `fields` says that fields are meant.
pub(super) async fn resolve(
    page: &Page,
    targets: &[Target],
    fields: bool,
) -> Result<Vec<String>, ToolError> {
    let deadline = Instant::now() + WAIT;
    let mut found = search(page, targets, fields).await?;
    // What a previous action opened may still be on its way, in any frame.
    while found.iter().any(|it| it.found == 0) && Instant::now() < deadline {
        tokio::time::sleep(PAUSE).await;
        found = search(page, targets, fields).await?;
    }
    let uids = targets.iter().zip(&found).map(|(target, found)| {
        let only = (found.found == 1).then(|| found.uids.first()).flatten();
        only.cloned().ok_or_else(|| target.refusal(found))
    });
    uids.collect()
}

/// The best matches in all frames, for each target.
async fn search(page: &Page, targets: &[Target], fields: bool) -> Result<Vec<Found>, ToolError> {
    let argument = json!({ "wanted": targets, "fields": fields });
    let world = page.tab.world().await?;
    let mut views = look(&page.tab, world, "tabmux.targets", |_| argument.clone()).await?;
    let of_target = |index: usize| {
        let all = views
            .iter_mut()
            .filter_map(|sight| sight.view.targets.get_mut(index));
        let all = all.map(std::mem::take);
        let (foreign, own): (Vec<_>, Vec<_>) = all.partition(|found| found.foreign);
        let best = |some: Vec<Found>| some.into_iter().fold(Found::default(), Found::or);
        best(own).or_foreign(best(foreign))
    };
    Ok((0..targets.len()).map(of_target).collect())
}

impl Found {
    /// What the tab's own site has, and what frames of other sites have. A foreign frame cannot outbid the page: what
    /// it has as well is only another candidate.
    fn or_foreign(self, foreign: Self) -> Self {
        let rank = match (self.rank, foreign.rank) {
            (Some(own), Some(other)) => Some(own.max(other)),
            (_, other) => other,
        };
        self.or(Self { rank, ..foreign })
    }

    /// The better one of two; both together if they are equally good.
    fn or(self, other: Self) -> Self {
        let anchors = self.anchors + other.anchors;
        let [mut first, second] = match (self.rank, other.rank) {
            (None, Some(_)) => return Self { anchors, ..other },
            (Some(_), None) => return Self { anchors, ..self },
            (Some(one), Some(two)) if one < two => return Self { anchors, ..self },
            (Some(one), Some(two)) if two < one => return Self { anchors, ..other },
            _ => [self, other],
        };
        first.anchors = anchors;
        first.found += second.found;
        first.uids.extend(second.uids);
        first.lines.extend(second.lines);
        first
    }
}

impl Target {
    fn refusal(&self, found: &Found) -> ToolError {
        let lines = found.lines.iter().take(MOST_LISTED);
        let lines: Vec<_> = lines.map(String::as_str).collect();
        let lines = lines.join("\n");
        let near = self.near.as_deref().map(|near| one_line(near, 100));
        let why = match (found.found, near) {
            (0, Some(near)) if found.anchors == 0 => format!(
                "No element {self} was found: the text {near:?} is not on the page. {}",
                advice(&lines)
            ),
            (0, _) => format!("No element {self} was found. {}", advice(&lines)),
            (count, _) => format!(
                "{count} elements match {self}. Nothing was done; call again with one of these uids, or with a `near` \
                 that tells them apart:\n{lines}"
            ),
        };
        ToolError::NotActionable { why }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let role = self.role.as_deref().map(|role| one_line(role, 40));
        let quoted = |text: &str| format!("{:?}", one_line(text, 100));
        let name = self.name.as_deref().map(quoted);
        let near = self.near.as_deref().map(quoted);
        let near = near.map(|near| format!("near {near}"));
        let parts: Vec<_> = [role, name, near].into_iter().flatten().collect();
        f.write_str(&parts.join(" "))
    }
}

fn advice(lines: &str) -> String {
    match lines {
        "" => "Call take_snapshot or find to see what there is.".into(),
        lines => format!("The closest are:\n{lines}"),
    }
}

const MOST_LISTED: usize = 10;
/// How long a target may take to appear, and the pause between two looks.
const WAIT: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rank: Option<u32>, uids: &[&str]) -> Found {
        let uids: Vec<String> = uids.iter().map(|uid| (*uid).to_owned()).collect();
        Found {
            rank,
            found: if rank.is_some() { uids.len() } else { 0 },
            lines: uids.clone(),
            uids,
            anchors: 1,
            foreign: false,
        }
    }

    #[test]
    fn a_frame_of_another_site_cannot_outbid_the_page() {
        let cases = [
            (Some(0), Some(0), 2),
            (Some(2), Some(0), 2),
            (Some(0), Some(2), 1),
            (None, Some(2), 1),
            (Some(2), None, 1),
        ];
        for (own, foreign, count) in cases {
            let best = found(own, &["a"]).or_foreign(found(foreign, &["b"]));
            assert_eq!(best.found, count, "{own:?} {foreign:?}");
        }
    }

    #[test]
    fn the_best_match_of_all_frames_wins() {
        let cases = [
            (Some(0), Some(2), 1, "a"),
            (Some(2), Some(0), 1, "b"),
            (Some(2), None, 1, "a"),
            (None, Some(6), 1, "b"),
            (Some(2), Some(2), 2, "a b"),
            (None, None, 0, "a b"),
        ];
        for (one, other, count, lines) in cases {
            let best = found(one, &["a"]).or(found(other, &["b"]));
            assert_eq!((best.found, best.lines.join(" ").as_str()), (count, lines));
            assert_eq!(best.anchors, 2);
        }
    }
}
