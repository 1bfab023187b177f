//! What an action changed on the page, at the end of its answer: the difference between the page now and what the
//! caller was last shown of it.

mod compare;
mod messages;
mod report;
mod wanted;

pub(super) use compare::Ends;
pub(super) use wanted::Wanted;
pub(crate) use wanted::of_generated;

use super::look::Budget;
use super::snapshot::{self, PageText};
use super::{Block, ToolOutput, ToolResult};
use crate::run::Page;
use crate::tab::{DocumentId, Tab};
use crate::world::{Shown, World};
use messages::Watch;
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
    let tab = &page.tab;
    let before = Before::look(tab, viewer).await;
    let mut output = action.await?;
    if !page.gave_snapshot() {
        let target = target.as_deref().or_else(|| page.aimed_at());
        let changes = match before {
            Before::Seen(seen) => seen.changes(tab, viewer, target).await,
            Before::TooLarge(document, watch) => unread(tab, viewer, document, watch).await,
            Before::Blocked => None,
        };
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

/// Begins what [`since_begin`] ends: remembers the page, if the viewer was not shown it yet.
pub(super) async fn begin(tab: &Tab, viewer: Viewer) {
    match Before::look(tab, viewer).await {
        Before::Seen(Seen { watch, .. }) | Before::TooLarge(_, watch) => watch.leave(),
        Before::Blocked => {}
    }
}

/// What changed since the viewer was last shown the page, or the outline of another page.
pub(super) async fn since_begin(tab: &Tab, viewer: Viewer, stayed: bool) -> Option<String> {
    if !stayed {
        return outline(tab, viewer).await;
    }
    let world = world(tab).await?;
    let Some(shown) = world.shown_to(viewer) else {
        return Some(UNREAD_BEFORE.into());
    };
    let seen = Seen {
        document: world.document,
        shown,
        watch: Watch::running(tab, &world),
    };
    seen.changes(tab, viewer, None).await
}

/// The outline of a page, or that it was not read. `None` if that is impossible now, such as under a dialog.
async fn outline(tab: &Tab, viewer: Viewer) -> Option<String> {
    let world = world(tab).await?;
    match read(tab, &world).await {
        Some(text) => Some(show_outline(&world, viewer, text)),
        None if tab.state().dialog.is_some() => None,
        None => Some(TOO_LARGE.into()),
    }
}

fn show_outline(world: &World, viewer: Viewer, text: PageText) -> String {
    let shown = world.show(viewer, &text.title, text.lines, text.cut);
    report::outline(&one_line(&shown.title, 100), &shown.lines)
}

/// The page before an action.
enum Before {
    Seen(Seen),
    /// The viewer has not seen this document, and it cannot be read in time.
    TooLarge(DocumentId, Watch),
    /// It cannot be read at all, such as under a dialog.
    Blocked,
}

impl Before {
    /// What the viewer knows, or else the page as it is now. Also begins to watch for messages that the page shows only
    /// for a moment.
    async fn look(tab: &Tab, viewer: Viewer) -> Self {
        let Some(world) = world(tab).await else {
            return Self::Blocked;
        };
        let document = world.document;
        let watch = Watch::begin(tab, &world);
        let shown = match world.shown_to(viewer) {
            Some(shown) => shown,
            None if tab.state().dialog.is_some() => return Self::Blocked,
            None => match read(tab, &world).await {
                Some(text) => world.show(viewer, &text.title, text.lines, text.cut),
                None if tab.state().dialog.is_some() => return Self::Blocked,
                None => return Self::TooLarge(document, watch),
            },
        };
        Self::Seen(Seen {
            document,
            shown,
            watch,
        })
    }
}

/// After an action on a page that could not be read: the outline of another page, or that it was not read.
async fn unread(tab: &Tab, viewer: Viewer, document: DocumentId, watch: Watch) -> Option<String> {
    let now = world(tab).await?;
    match now.document == document {
        true => Some(not_read(&watch.end().await)),
        false => outline(tab, viewer).await,
    }
}

/// The main document as the viewer was last shown it.
struct Seen {
    document: DocumentId,
    shown: Shown,
    watch: Watch,
}

impl Seen {
    /// The changes since then, in words. `None` if the page cannot be read now.
    async fn changes(mut self, tab: &Tab, viewer: Viewer, target: Option<&str>) -> Option<String> {
        let world = world(tab).await?;
        let watch = std::mem::take(&mut self.watch);
        let (messages, text) = tokio::join!(watch.end(), read(tab, &world));
        Some(self.report(&world, viewer, target, &messages, text))
    }

    fn report(
        self,
        world: &World,
        viewer: Viewer,
        target: Option<&str>,
        messages: &[String],
        text: Option<PageText>,
    ) -> String {
        let Some(text) = text else {
            return not_read(messages);
        };
        if world.document != self.document {
            return show_outline(world, viewer, text);
        }
        let complete = text.complete;
        let before = self.shown;
        let now = world.show(viewer, &text.title, text.lines, text.cut);
        let difference = compare::compare(&before, &now);
        let mut messages = report::messages_of(messages);
        if now.title != before.title {
            let title = one_line(&now.title, 100);
            messages.push(format!("The title is now \"{title}\"."));
        }
        match difference.is_empty() {
            false => {
                return report::changes(&messages, &difference, &now.lines, target, before.number);
            }
            true if !messages.is_empty() => {}
            true if complete => messages.push("Nothing on the page changed.".into()),
            true => messages.push(
                "Nothing changed in the part of this long page that take_snapshot shows.".into(),
            ),
        }
        messages.join("\n")
    }
}

async fn world(tab: &Tab) -> Option<World> {
    timeout(LIMIT, tab.world()).await.ok()?.ok()
}

/// The page, unless that takes too long. Then it is not tried again for a while.
async fn read(tab: &Tab, world: &World) -> Option<PageText> {
    if world.is_too_large() {
        return None;
    }
    let budget = Budget::millis(MOST_WORK_MS);
    let reading = timeout(LIMIT, snapshot::read(tab, world, &budget)).await;
    match &reading {
        Ok(Ok(Some(_))) => world.note_read(),
        _ if tab.state().dialog.is_some() => {}
        Ok(Err(_)) => {}
        Ok(Ok(None)) => world.note_too_large(budget.spent()),
        Err(_) => world.note_too_large(LIMIT),
    }
    reading.ok()?.ok()?
}

/// The messages of a page that was not read.
fn not_read(messages: &[String]) -> String {
    let mut messages = report::messages_of(messages);
    messages.push(TOO_LARGE.into());
    messages.join("\n")
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

/// How the report of no changes begins.
const TOO_LARGE: &str =
    "What changed was not read: the page is large or busy. Call take_snapshot or find.";
const UNREAD_BEFORE: &str = "What changed was not read: the page was large, busy or under a dialog before the first \
                             step. Call take_snapshot or find.";
/// How long the page may work to be read, with all its frames. What follows handles at most 40 kB of text.
const MOST_WORK_MS: f64 = 50.0;
/// The limit for pages whose scripts block them.
const LIMIT: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_a_page_that_is_too_large_are_told() {
        assert_eq!(
            not_read(&["Saved".into()]),
            format!("Shown for a moment: \"Saved\"\n{TOO_LARGE}")
        );
        assert_eq!(not_read(&[]), TOO_LARGE);
    }
}
