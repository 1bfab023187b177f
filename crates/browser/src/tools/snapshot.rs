//! The page as text: everything that can be read or used, with a uid for each element.

mod changes;

use super::look::{Budget, DocumentView, FrameInsertion, Inside, LeftOut, look, look_for};
use super::{Access, Category, Tool, ToolOutput, ToolResult};
use crate::error::ToolError;
use crate::files::Destination;
use crate::run::Page;
use crate::tab::Tab;
use crate::world::World;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tabmux_text::one_line;

/// Reads the page.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TakeSnapshot {
    /// Only this element and its content.
    uid: Option<String>,
    #[schemars(range(min = 1))]
    depth: Option<u32>,
    /// Only what can be seen without scrolling.
    viewport_only: Option<bool>,
    /// Include table cells, images without a name and full URLs.
    verbose: Option<bool>,
    /// Only changes since the snapshot of this number (in its first line).
    since: Option<u32>,
    /// Save all of it to this file instead.
    file_path: Option<String>,
    overwrite: Option<bool>,
}

impl Tool for TakeSnapshot {
    const NAME: &'static str = "take_snapshot";
    const DESCRIPTION: &'static str = "Read the page as text. Each line names one element with the uid that other \
                                       tools take. On a long page, find is quicker.";
    const ACCESS: Access = Access::Read;
    const CATEGORY: Category = Category::Debugging;

    fn check(&self) -> Result<(), String> {
        if self.depth == Some(0) {
            return Err("`depth` must be at least 1".into());
        }
        match self.since.is_some() && !(self.is_plain() && self.file_path.is_none()) {
            true => Err("`since` cannot be combined with other arguments".into()),
            false => Ok(()),
        }
    }

    async fn run(self, page: Page) -> ToolResult {
        let tab = &page.tab;
        let (world, root) = match &self.uid {
            Some(uid) => {
                let (world, n) = tab.element(uid).await?;
                (world, Some(n))
            }
            None => (tab.world().await?, None),
        };
        let most = if self.file_path.is_some() {
            MAX_IN_FILE
        } else {
            MAX_BYTES
        };
        let before = match self.since {
            Some(number) => Some(world.recall(number).ok_or_else(|| forgotten(number))?),
            None => None,
        };
        let views = look(tab, world.clone(), "tabmux.snapshot", |place| {
            self.argument(place, root, most)
        })
        .await?;
        let first = &views[0].view;
        if let (Some(uid), Some(_)) = (&self.uid, &first.fate) {
            return Err(ToolError::ElementGone { uid: uid.clone() });
        }
        let mut heading = String::new();
        if self.uid.is_none() {
            let url = tab
                .state()
                .frames
                .find(&world.frame)
                .map(|frame| frame.url.clone());
            heading = format!(
                "page {:?} {}",
                first.title,
                one_line(&url.unwrap_or_default(), 500)
            );
        }
        let mut text_out = SnapshotText::new(most, heading.len());
        text_out.write(&views, 0, 0, self.depth.map(|depth| depth as usize));
        let mut now = None;
        if self.is_plain() && self.file_path.is_none() {
            let lines = text_out.lines.clone();
            let cut = text_out.is_cut();
            let shown = match page.viewer() {
                Some(viewer) => world.show(viewer, &first.title, lines, cut),
                None => world.remember(&first.title, lines, cut),
            };
            heading = format!("{heading} snapshot={}", shown.number);
            now = Some(shown);
        }
        if text_out.lines.is_empty() {
            heading = format!("{heading} (nothing is shown here)");
        }
        if let (Some(before), Some(now)) = (before, now) {
            let number = before.number;
            let changes = changes::since(&before, &now);
            heading = match changes.lines.is_empty() {
                true => format!("{heading}: nothing has changed since snapshot {number}."),
                false => format!("{heading}: what has changed since snapshot {number}:"),
            };
            text_out.replace(changes.lines);
            text_out.at_end = changes.at_end;
        }
        let count = text_out.lines.len();
        let text = text_out.finish(heading);
        match &self.file_path {
            None => Ok(ToolOutput::text(text)),
            Some(path) => {
                let size = text.len();
                let to = Destination::new(Some(path), self.overwrite, "txt");
                let place = page.files.save(to, text.into_bytes()).await?;
                Ok(ToolOutput::text(format!(
                    "Saved {count} lines ({size} bytes) to {}.",
                    place.display()
                )))
            }
        }
    }
}

/// A page as text, with default settings.
pub(super) struct PageText {
    pub(super) title: String,
    pub(super) lines: Vec<String>,
    /// Whether nothing was left out.
    pub(super) complete: bool,
    /// Whether lines at the end were left out.
    pub(super) cut: bool,
}

/// Reads the page. `None` if the budget is too small for one of its documents.
pub(super) async fn read(
    tab: &Tab,
    world: &World,
    budget: &Budget,
) -> Result<Option<PageText>, ToolError> {
    let plain = TakeSnapshot::default();
    let argument = |place: Option<&FrameInsertion>| plain.argument(place, None, MAX_BYTES);
    let views = look_for(tab, world.clone(), "tabmux.snapshot", argument, budget).await?;
    if views.iter().any(|seen| seen.view.late) {
        return Ok(None);
    }
    let mut text = SnapshotText::new(MAX_BYTES, 0);
    text.write(&views, 0, 0, None);
    Ok(Some(PageText {
        title: views[0].view.title.clone(),
        complete: text.left == LeftOut::default() && !text.endless && text.unread == 0,
        cut: text.is_cut(),
        lines: text.lines,
    }))
}

/// The elements in view that a person can act on: their uids, and their lines without `uid=`.
pub(super) async fn actionable(tab: &Tab) -> Result<Vec<(String, String)>, ToolError> {
    let in_view = TakeSnapshot {
        viewport_only: Some(true),
        ..TakeSnapshot::default()
    };
    let views = look(tab, tab.world().await?, "tabmux.snapshot", |place| {
        in_view.argument(place, None, MAX_BYTES)
    })
    .await?;
    let lines = views.iter().flat_map(|seen| {
        let lines = seen.view.lines.iter().zip(seen.view.marks.bytes());
        lines.filter(|(_, mark)| *mark == b'1')
    });
    let named = lines.filter_map(|(line, _)| {
        let line = line.trim_start().strip_prefix("uid=")?;
        let uid = line.split(' ').next()?;
        Some((uid.to_owned(), line.to_owned()))
    });
    Ok(named.collect())
}

fn forgotten(number: u32) -> ToolError {
    ToolError::Arguments(format!(
        "There is no snapshot {number} of this page any more. Call take_snapshot without `since`."
    ))
}

impl TakeSnapshot {
    /// Whether it asks for the whole page with default settings.
    fn is_plain(&self) -> bool {
        self.uid.is_none()
            && self.depth.is_none()
            && !self.viewport_only.unwrap_or_default()
            && !self.verbose.unwrap_or_default()
    }

    fn argument(&self, place: Option<&FrameInsertion>, root: Option<u32>, most: usize) -> Value {
        let indent = place.map_or(0, |place| place.indent);
        json!({
            "maxBytes": most,
            "root": if place.is_none() { root } else { None },
            "depth": self.depth.map(|depth| (depth as usize).saturating_sub(indent)),
            "viewportOnly": self.viewport_only.unwrap_or_default(),
            "view": place.and_then(|place| place.view.as_ref()),
            "verbose": self.verbose.unwrap_or_default(),
        })
    }
}

/// The text of a snapshot while it is built, frame within frame, within its budget.
struct SnapshotText {
    lines: Vec<String>,
    budget: usize,
    full: bool,
    most: usize,
    left: LeftOut,
    /// Frames that could not be read, and whether a document was too large to be counted.
    unread: usize,
    endless: bool,
    /// A remark about changes at the end of a long page.
    at_end: Option<String>,
}

impl SnapshotText {
    fn new(most: usize, taken: usize) -> Self {
        Self {
            budget: most.saturating_sub(taken + RESERVED_BYTES),
            lines: Vec::new(),
            full: false,
            most,
            left: LeftOut::default(),
            unread: 0,
            endless: false,
            at_end: None,
        }
    }

    /// Whether lines at the end were left out.
    fn is_cut(&self) -> bool {
        self.left.lines > 0 || self.endless
    }

    /// Writes a frame, with the frames inside it at their positions.
    fn write(&mut self, views: &[DocumentView], at: usize, indent: usize, depth: Option<usize>) {
        let sight = &views[at];
        let view = &sight.view;
        let mut frames = view.frames.iter().enumerate().peekable();
        let mut marks = view.marks.bytes();
        for (number, line) in view.lines.iter().enumerate() {
            self.line(indent, line, marks.next() == Some(b'1'));
            while let Some((which, place)) = frames.next_if(|(_, place)| place.line == number + 1) {
                let indent = indent + place.indent;
                if depth.is_some_and(|depth| indent >= depth) {
                    continue;
                }
                match sight.inside(which) {
                    Inside::DocumentView(frame) => self.write(views, frame, indent, depth),
                    Inside::Nothing => {}
                    Inside::Unread => {
                        self.unread += 1;
                        self.line(indent, "(this frame cannot be read now)", false);
                    }
                }
            }
        }
        self.left.lines += view.left.lines;
        self.left.operable += view.left.operable;
        self.left.frames += view.left.frames;
        self.left.deeper += view.left.deeper;
        self.left.outside += view.left.outside;
        self.left.characters += view.left.characters;
        self.endless |= !view.whole;
    }

    fn line(&mut self, indent: usize, line: &str, operable: bool) {
        let indent = 2 * indent.min(MAX_INDENT);
        let bytes = indent + line.len() + 1;
        self.full |= bytes > self.budget;
        if self.full {
            self.left.lines += 1;
            self.left.operable += usize::from(operable);
            return;
        }
        self.budget -= bytes;
        self.lines.push(format!("{:indent$}{line}", ""));
    }

    /// Replaces the lines, as far as the new ones fit.
    fn replace(&mut self, lines: Vec<String>) {
        self.budget += self
            .lines
            .drain(..)
            .map(|line| line.len() + 1)
            .sum::<usize>();
        self.full = false;
        for line in lines {
            self.line(0, &line, false);
        }
    }

    /// The text, with remarks about what was left out.
    fn finish(mut self, heading: String) -> String {
        let LeftOut {
            lines,
            operable,
            frames,
            deeper,
            outside,
            characters,
        } = self.left;
        if lines > 0 {
            let frames = match frames {
                0 => String::new(),
                _ => format!(" and {frames} frames with their content"),
            };
            let more = if self.endless { "at least " } else { "" };
            self.remark(&format!(
                "{more}{lines} more lines, {operable} of them to act on,{frames} were left out to stay within {} kB. \
                 Use find to search the whole page, take_snapshot with the uid of a part, or with filePath for all.",
                self.most / 1000
            ));
        } else if self.endless {
            self.remark("the rest of a page that is too large to be read completely. Use take_snapshot with the uid of a part.");
        }
        if let Some(words) = self.at_end.take() {
            self.remark(&words);
        }
        if deeper > 0 {
            self.remark(&format!(
                "{deeper} lines are deeper. Raise depth, or give the uid of a part."
            ));
        }
        if outside > 0 {
            self.remark(&format!(
                "{outside} lines are out of view. Scroll, or omit viewportOnly."
            ));
        }
        if characters > 0 {
            self.remark(&format!(
                "{characters} characters of long texts were cut. With filePath they are kept."
            ));
        }
        if self.unread > 0 {
            self.remark(
                "a frame that is loading or does not respond. Try again, or continue without it.",
            );
        }
        if !heading.is_empty() {
            self.lines.insert(0, heading.trim_start().to_owned());
        }
        self.lines.join("\n")
    }

    fn remark(&mut self, words: &str) {
        self.lines.push(format!("[Not shown: {words}]"));
    }
}

const MAX_BYTES: usize = 40_000;
const MAX_IN_FILE: usize = 16_000_000;
/// Space for the end of the heading and the closing remarks.
const RESERVED_BYTES: usize = 900;
const MAX_INDENT: usize = 60;
