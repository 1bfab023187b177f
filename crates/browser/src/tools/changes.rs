//! What an action changed on the page, at the end of its answer: the difference between the page now and what the
//! caller was last shown of it.

mod compare;
mod report;
mod wanted;

pub(super) use wanted::Wanted;

use super::snapshot::{self, PageText};
use super::{Block, ToolOutput, ToolResult};
use crate::run::Page;
use crate::tab::{DocumentId, Tab};
use crate::world::{Shown, World};
use serde::Deserialize;
use std::time::Duration;
use tabmux_text::one_line;
use tokio::time::timeout;

/// Who is told about changes: each session has its own idea of what a page looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Viewer(pub u64);

/// Runs an action, and adds to its output what changed on the page. `target` is the uid that was acted on.
pub(crate) async fn with_changes(
    page: &Page,
    viewer: Viewer,
    target: Option<String>,
    action: impl Future<Output = ToolResult>,
) -> ToolResult {
    let before = Seen::before(&page.tab, viewer).await;
    let mut output = action.await?;
    if let Some(before) = before.filter(|_| !page.gave_snapshot()) {
        let changes = before.changes(&page.tab, viewer, target.as_deref()).await;
        append(&mut output, changes);
    }
    Ok(output)
}

/// Runs an action that leads to another page, and adds the outline of that page to its output.
pub(crate) async fn with_outline(
    page: &Page,
    viewer: Viewer,
    action: impl Future<Output = ToolResult>,
) -> ToolResult {
    let mut output = action.await?;
    append(&mut output, outline(&page.tab, viewer).await);
    Ok(output)
}

async fn outline(tab: &Tab, viewer: Viewer) -> Option<String> {
    let world = world(tab).await?;
    let text = read(tab, &world).await?;
    Some(show_outline(&world, viewer, text))
}

fn show_outline(world: &World, viewer: Viewer, text: PageText) -> String {
    let shown = world.show(viewer, &text.title, text.lines);
    report::outline(&one_line(&shown.title, 100), &shown.lines)
}

/// The main document as the viewer was last shown it.
struct Seen {
    document: DocumentId,
    shown: Shown,
}

impl Seen {
    /// What the viewer knows, or else the page as it is now. Also begins to watch for messages that the page shows only
    /// for a moment. `None` if the page cannot be read, such as under a dialog.
    async fn before(tab: &Tab, viewer: Viewer) -> Option<Self> {
        let world = world(tab).await?;
        world.post("tabmux.watchMessages()");
        let shown = match world.shown_to(viewer) {
            Some(shown) => shown,
            None if tab.state().dialog.is_some() => return None,
            None => {
                let text = read(tab, &world).await?;
                world.show(viewer, &text.title, text.lines)
            }
        };
        Some(Self {
            document: world.document,
            shown,
        })
    }

    /// The changes since then, in words. `None` if the page cannot be read now.
    async fn changes(self, tab: &Tab, viewer: Viewer, target: Option<&str>) -> Option<String> {
        let world = world(tab).await?;
        let (passing, text) = tokio::join!(passing_messages(&world), read(tab, &world));
        let Some(text) = text else {
            return Some(TOO_LARGE.into());
        };
        if world.document != self.document {
            return Some(show_outline(&world, viewer, text));
        }
        let complete = text.complete;
        let before = self.shown;
        let now = world.show(viewer, &text.title, text.lines);
        let difference = compare::compare(&before.lines, &now.lines);
        let mut parts: Vec<_> = passing.iter().map(|text| shown_briefly(text)).collect();
        if now.title != before.title {
            parts.push(format!(
                "The title is now \"{}\".",
                one_line(&now.title, 100)
            ));
        }
        match difference.is_empty() {
            false => parts.push(report::changes(
                &difference,
                &now.lines,
                target,
                before.number,
            )),
            true if !parts.is_empty() => {}
            true if complete => parts.push("Nothing on the page changed.".into()),
            true => parts.push(
                "Nothing changed in the part of this long page that take_snapshot shows.".into(),
            ),
        }
        Some(parts.join("\n"))
    }
}

async fn world(tab: &Tab) -> Option<World> {
    timeout(LIMIT, tab.world()).await.ok()?.ok()
}

async fn read(tab: &Tab, world: &World) -> Option<PageText> {
    timeout(LIMIT, snapshot::read(tab, world, WALK_CAP_MS))
        .await
        .ok()?
        .ok()?
}

/// Messages that the page has shown and removed since the watch began.
async fn passing_messages(world: &World) -> Vec<String> {
    #[derive(Default, Deserialize)]
    struct Passing {
        texts: Vec<String>,
    }
    let asked = timeout(LIMIT, world.call::<Passing>("tabmux.passingMessages", ())).await;
    asked.ok().and_then(Result::ok).unwrap_or_default().texts
}

fn shown_briefly(text: &str) -> String {
    format!("Shown for a moment: \"{}\"", one_line(text, 200))
}

/// Adds the text, if there is one, to the last block of text.
fn append(output: &mut ToolOutput, text: Option<String>) {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return;
    };
    match output.blocks.last_mut() {
        Some(Block::Text(last)) => last.push_str(&format!("\n{text}")),
        _ => output.blocks.push(Block::Text(text)),
    }
}

const TOO_LARGE: &str =
    "What changed was not read: the page is large or busy. Call take_snapshot or find.";
/// How long a walk through one document may take in the page.
const WALK_CAP_MS: u32 = 40;
/// The limit for pages whose scripts block them.
const LIMIT: Duration = Duration::from_secs(1);
