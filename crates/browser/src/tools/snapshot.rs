//! The page as text: what there is to read and to act on, with a uid for everything.

use super::look::{Inside, Left, Place, Sight, look};
use super::{Access, Tool, ToolOutput, ToolResult};
use crate::error::ToolError;
use crate::run::Page;
use crate::text::one_line;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Reads the page.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TakeSnapshot {
    /// Only this element and what is in it.
    uid: Option<String>,
    /// Only so many levels.
    #[schemars(range(min = 1))]
    depth: Option<u32>,
    /// Only what can be seen without scrolling.
    viewport_only: Option<bool>,
    /// Table cells, nameless pictures and whole addresses too.
    verbose: Option<bool>,
    /// Save it there, all of it, instead of returning it.
    file_path: Option<String>,
}

impl Tool for TakeSnapshot {
    const NAME: &'static str = "take_snapshot";
    const DESCRIPTION: &'static str = "Read the page as text. Each line names one element with the uid that other \
                                       tools take. On a long page, find is quicker.";
    const ACCESS: Access = Access::Read;

    fn check(&self) -> Result<(), String> {
        match self.depth {
            Some(0) => Err("`depth` begins at 1".into()),
            _ => Ok(()),
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
        let most = if self.file_path.is_some() { MOST_IN_FILE } else { MOST_BYTES };
        let url = tab.state().frames.find(&world.frame).map(|frame| frame.url.clone());
        let sights = look(tab, world, "tabmux.snapshot", |place| self.argument(place, root, most)).await?;
        let first = &sights[0].view;
        if let (Some(uid), Some(_)) = (&self.uid, &first.fate) {
            return Err(ToolError::ElementGone { uid: uid.clone() });
        }
        let heading = match self.uid {
            None => format!("page {:?} {}\n", first.title, one_line(&url.unwrap_or_default(), 500)),
            Some(_) => String::new(),
        };
        let mut sheet = Sheet::new(heading, most);
        sheet.write(&sights, 0, 0, self.depth.map(|depth| depth as usize));
        match &self.file_path {
            None => Ok(ToolOutput::text(sheet.finish())),
            Some(path) => {
                let lines = sheet.lines;
                let text = sheet.finish();
                let place = page.files.save(Some(path), "txt", text.as_bytes())?;
                Ok(ToolOutput::text(format!(
                    "Saved {lines} lines ({} bytes) to {}.",
                    text.len(),
                    place.display()
                )))
            }
        }
    }
}

impl TakeSnapshot {
    fn argument(&self, place: Option<&Place>, root: Option<u32>, most: usize) -> Value {
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

/// The text that is being put together, frame within frame, within its budget.
struct Sheet {
    text: String,
    room: usize,
    lines: usize,
    full: bool,
    most: usize,
    left: Left,
    /// Frames that could not be read, and whether a document was too large to count.
    unread: usize,
    endless: bool,
}

impl Sheet {
    fn new(heading: String, most: usize) -> Self {
        Self {
            room: most.saturating_sub(heading.len() + ROOM_FOR_THE_END),
            text: heading,
            lines: 0,
            full: false,
            most,
            left: Left::default(),
            unread: 0,
            endless: false,
        }
    }

    /// Writes a frame and, in their places, the frames inside it.
    fn write(&mut self, sights: &[Sight], at: usize, indent: usize, depth: Option<usize>) {
        let sight = &sights[at];
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
                    Inside::Sight(frame) => self.write(sights, frame, indent, depth),
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
        let indent = 2 * indent.min(DEEPEST_INDENT);
        let bytes = indent + line.len() + 1;
        self.full |= bytes > self.room;
        if self.full {
            self.left.lines += 1;
            self.left.operable += usize::from(operable);
            return;
        }
        self.room -= bytes;
        self.lines += 1;
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The text, with a truthful word about what is not in it.
    fn finish(mut self) -> String {
        let Left { lines, operable, frames, deeper, outside, characters } = self.left;
        if lines > 0 {
            let frames = match frames {
                0 => String::new(),
                _ => format!(" and {frames} frames with all that is in them"),
            };
            let more = if self.endless { "at least " } else { "" };
            self.remark(&format!(
                "{more}{lines} more lines, {operable} of them to act on,{frames} were left out to stay within {} kB. \
                 Use find to search the whole page, take_snapshot with the uid of a part, or with filePath for all.",
                self.most / 1000
            ));
        } else if self.endless {
            self.remark("the page is too large to be read to its end. Use take_snapshot with the uid of a part.");
        }
        if deeper > 0 {
            self.remark(&format!("{deeper} lines lie deeper. Raise depth, or give the uid of a part."));
        }
        if outside > 0 {
            self.remark(&format!("{outside} lines are out of view. Scroll, or leave viewportOnly out."));
        }
        if characters > 0 {
            self.remark(&format!("{characters} characters of long texts were cut. With filePath they are kept."));
        }
        if self.unread > 0 {
            self.remark("a frame that cannot be read is loading or does not respond. Try again, or go on without it.");
        }
        if self.lines == 0 && self.left == Left::default() {
            self.text.push_str("(nothing is shown here)\n");
        }
        self.text.truncate(self.text.trim_end().len());
        self.text
    }

    fn remark(&mut self, words: &str) {
        self.text.push_str("[Not shown: ");
        self.text.push_str(words);
        self.text.push_str("]\n");
    }
}

const MOST_BYTES: usize = 40_000;
const MOST_IN_FILE: usize = 16_000_000;
/// What the closing remarks need at most.
const ROOM_FOR_THE_END: usize = 900;
const DEEPEST_INDENT: usize = 60;
