//! The page as Markdown, for reading: without uids.

mod joined;
mod show;

use super::look::look;
use super::{Access, Category, Tool, ToolOutput, ToolResult};
use crate::error::ToolError;
use crate::run::Page;
use joined::{Joined, LinkStyle};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tabmux_text::one_line;

/// Reads the page.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ReadPage {
    /// Only this element.
    uid: Option<String>,
    /// Only sections with this text.
    find: Option<String>,
    offset: Option<u32>,
    // These are documented in docs/reading.md and not listed.
    #[schemars(skip)]
    limit: Option<u32>,
    #[schemars(skip)]
    scope: Option<Scope>,
    #[schemars(skip)]
    links: Option<LinkStyle>,
    #[schemars(skip)]
    outline: Option<bool>,
}

/// How much of the page is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Scope {
    /// The main content.
    #[default]
    Main,
    /// Everything that is shown.
    All,
}

impl Tool for ReadPage {
    const NAME: &'static str = "read_page";
    const DESCRIPTION: &'static str = "Read the page's main content as Markdown, without uids.";
    const ACCESS: Access = Access::Read;
    const CATEGORY: Category = Category::Debugging;

    fn check(&self) -> Result<(), String> {
        let outline = self.outline.unwrap_or_default();
        if self
            .find
            .as_ref()
            .is_some_and(|text| text.trim().is_empty())
        {
            return Err("`find` must not be blank".into());
        }
        if outline && self.find.is_some() {
            return Err("`find` and `outline` cannot be combined".into());
        }
        match self.limit {
            Some(limit) if !(MIN_LIMIT..=MAX_LIMIT).contains(&limit) => Err(format!(
                "`limit` must be between {MIN_LIMIT} and {MAX_LIMIT}"
            )),
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
        let views = look(
            tab,
            world.clone(),
            "tabmux.markdown",
            |place| json!({ "root": if place.is_none() { root } else { None } }),
        )
        .await?;
        let first = &views[0].view;
        if let (Some(uid), Some(_)) = (&self.uid, &first.fate) {
            return Err(ToolError::ElementGone { uid: uid.clone() });
        }
        if let Some(kind) = &first.kind {
            return Err(not_a_document(kind));
        }
        let url = tab
            .state()
            .frames
            .find(&world.frame)
            .map(|it| it.url.clone());
        let url = one_line(&url.unwrap_or_default(), 500);
        let heading = format!("page {:?} {url}", first.title);
        let joined = Joined::new(&views);
        Ok(ToolOutput::text(self.answer(&joined, &heading, &url)))
    }
}

impl ReadPage {
    /// The heading says what is shown, and of how much.
    fn answer(&self, joined: &Joined, heading: &str, url: &str) -> String {
        let limit = self.limit.unwrap_or(DEFAULT_LIMIT) as usize;
        let (part, mut about) = self.part(joined);
        let mut text = joined.text(part, self.links.unwrap_or_default());
        if let Some(find) = &self.find {
            let mut found = show::sections(&text, find, limit);
            if found.count == 0 && part == joined::Part::Main {
                about = "all content, because the main content has no match".into();
                text = joined.text(joined::Part::All, self.links.unwrap_or_default());
                found = show::sections(&text, find, limit);
            }
            let what = format!("{:?} in {about}", one_line(find, 100));
            return self.finish(heading, &found.heading(&what), &found.body, joined, url);
        }
        if self.outline.unwrap_or_default() {
            let outline = show::outline(&text, limit);
            return self.finish(
                heading,
                &format!("outline of {about}"),
                &outline,
                joined,
                url,
            );
        }
        let range = show::range(&text, self.offset.unwrap_or_default() as usize, limit);
        let said = range.heading(&about);
        self.finish(heading, &said, &range.body, joined, url)
    }

    /// Which part is shown, and how that is said.
    fn part(&self, joined: &Joined) -> (joined::Part, String) {
        let (main, all) = (joined.main, joined.all);
        if self.uid.is_some() {
            return (joined::Part::All, "this element".into());
        }
        if self.scope == Some(Scope::All) {
            return (joined::Part::All, "all content".into());
        }
        if main > 0 && (main < MIN_MAIN || main * 4 < all) {
            let about = format!("all content, because its main part has only {main} characters");
            return (joined::Part::All, about);
        }
        match main == 0 || main == all {
            true => (joined::Part::All, "all content".into()),
            false => (
                joined::Part::Main,
                format!("main content (scope \"all\" has {all})"),
            ),
        }
    }

    fn finish(&self, heading: &str, about: &str, body: &str, joined: &Joined, url: &str) -> String {
        let body = joined.with_links(body, self.links.unwrap_or_default(), url);
        let mut text = format!("{heading}: {about}\n\n{}", tabmux_text::visible(&body));
        text.truncate(text.trim_end().len());
        if joined.unread > 0 {
            text.push_str("\n[Not read: a frame that is loading or does not respond.]");
        }
        if !joined.whole {
            text.push_str(
                "\n[The page is longer than this tool reads. Use uid to read a part of it.]",
            );
        }
        text
    }
}

fn not_a_document(kind: &str) -> ToolError {
    let kind = one_line(kind, 60);
    ToolError::NotActionable {
        why: format!(
            "This tab shows a file of type {kind}, which has no text to read. take_screenshot shows it; \
             evaluate_script can fetch its address and process the bytes."
        ),
    }
}

/// Below this, and below a quarter of all, the main content was probably not recognised.
const MIN_MAIN: usize = 200;
const MIN_LIMIT: u32 = 200;
const DEFAULT_LIMIT: u32 = 12_000;
const MAX_LIMIT: u32 = 40_000;
