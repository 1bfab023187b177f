//! Giving files to the page.

use super::act::{self, Before, Drawing, Element};
use super::{Access, Category, Tool, ToolResult};
use crate::bounds;
use crate::error::ToolError;
use crate::run::Page;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;
use tabmux_cdp::Session;
use tabmux_cdp::types::{dom, page as cdp};

/// Uploads files.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct UploadFile {
    /// A file input, or what opens its chooser when clicked.
    uid: String,
    file_path: Option<String>,
    file_paths: Option<Vec<String>>,
    include_snapshot: Option<bool>,
}

impl Tool for UploadFile {
    const NAME: &'static str = "upload_file";
    const DESCRIPTION: &'static str = "Give local files to a file input.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Input;
    const TELLS_CHANGES: bool = true;
    const PROGRESSIVE: bool = false;

    fn check(&self) -> Result<(), String> {
        match (&self.file_path, &self.file_paths) {
            (Some(_), None) => Ok(()),
            (None, Some(paths)) if (1..=MAX_FILES).contains(&paths.len()) => Ok(()),
            (None, Some(_)) => Err(format!("`filePaths` must have 1 to {MAX_FILES} files")),
            _ => Err("give either `filePath` or `filePaths`".into()),
        }
    }

    fn target(&self) -> Option<&str> {
        Some(&self.uid)
    }

    async fn run(self, page: Page) -> ToolResult {
        let tab = &page.tab;
        let paths = self
            .file_path
            .iter()
            .chain(self.file_paths.iter().flatten());
        let mut files = Vec::new();
        for path in paths {
            files.push(page.files.readable(path).await?.display().to_string());
        }
        let element = Element::find(tab, &self.uid).await?;
        let before = Before::look(tab);
        let object = element.world.object(element.n).await?;
        let node = object.describe().await?;
        let count = files.len();
        let mut set = dom::SetFileInputFiles {
            files,
            ..Default::default()
        };
        if is_file_input(&node) {
            if count > 1 && attribute(&node, "multiple").is_none() {
                return Err(one_only());
            }
            page.acting();
            set.object_id = Some(object.id.clone());
            element.world.session.send(set).await?;
        } else {
            self.choose(&page, &element, set, count).await?;
        }
        let done = match count {
            1 => "Gave the file to the page.".to_owned(),
            count => format!("Gave {count} files to the page."),
        };
        let output = act::settle(tab, &before, None, &done).await?;
        act::with_snapshot(&page, self.include_snapshot, output).await
    }
}

impl UploadFile {
    /// Clicks the element and answers the file chooser that it opens.
    async fn choose(
        &self,
        page: &Page,
        element: &Element,
        mut set: dom::SetFileInputFiles,
        count: usize,
    ) -> Result<(), ToolError> {
        let tab = &page.tab;
        let _drawing = Drawing::of(tab);
        let mut tap = tab.stream_events(&["Page.fileChooserOpened"]);
        let intercepting = Intercepting::begin(&element.world.session).await?;
        let clicked = act::click(page, element, 1).await;
        let opened = match clicked {
            Ok(Some(_)) => tokio::time::timeout(CHOOSER_LIMIT, tap.events.recv()).await,
            _ => Ok(None),
        };
        drop(intercepting);
        clicked?;
        let Ok(Some((asking, event))) = opened else {
            return Err(self.asks_for_none());
        };
        let event: cdp::FileChooserOpened = event.decode().unwrap_or_default();
        // Any frame can open a file chooser meanwhile, even a forbidden one.
        let asks = tab.state().frames.find(&event.frame_id).cloned();
        bounds::may_enter(tab, &asks.ok_or(ToolError::DocumentGone)?)?;
        if count > 1 && event.mode == cdp::FileChooserOpenedMode::SELECT_SINGLE {
            return Err(one_only());
        }
        set.backend_node_id = event.backend_node_id;
        if set.backend_node_id.is_none() {
            return Err(ToolError::NotActionable {
                why: "The page asks for files in a way that cannot be answered from here.".into(),
            });
        }
        asking.send(set).await?;
        Ok(())
    }

    fn asks_for_none(&self) -> ToolError {
        ToolError::NotActionable {
            why: format!(
                "The element {} is not a file input, and clicking it opens no file chooser. Use the element that does.",
                self.uid
            ),
        }
    }
}

/// While this value lives, file choosers of the page come to us and not to the user.
struct Intercepting(Session);

impl Intercepting {
    async fn begin(session: &Session) -> Result<Self, ToolError> {
        // Created first: if the call is cancelled while Chrome answers, interception is on and must
        // be switched off.
        let intercepting = Self(session.clone());
        session.send(intercept(true)).await?;
        Ok(intercepting)
    }
}

impl Drop for Intercepting {
    fn drop(&mut self) {
        self.0.post(intercept(false));
    }
}

fn intercept(enabled: bool) -> cdp::SetInterceptFileChooserDialog {
    cdp::SetInterceptFileChooserDialog {
        enabled,
        ..Default::default()
    }
}

fn one_only() -> ToolError {
    ToolError::Arguments("This input takes one file only. Give one filePath.".into())
}

fn is_file_input(node: &dom::Node) -> bool {
    node.local_name == "input"
        && attribute(node, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("file"))
}

/// Chrome lists names and values alternately.
fn attribute<'a>(node: &'a dom::Node, name: &str) -> Option<&'a str> {
    let list = node.attributes.as_deref().unwrap_or_default();
    list.chunks_exact(2).find_map(|pair| match pair {
        [key, value] if key == name => Some(value.as_str()),
        _ => None,
    })
}

const MAX_FILES: usize = 50;
const CHOOSER_LIMIT: Duration = Duration::from_secs(3);

#[cfg(test)]
mod tests {
    use crate::fake::{self, Asked, FakeBrowser};
    use serde_json::json;

    #[tokio::test(start_paused = true)]
    async fn a_cancelled_upload_leaves_file_choosers_to_the_user() {
        // The click opens a dialog: Chrome answers only after that is closed.
        let mut harness = FakeBrowser::new(|asked: &Asked| match asked.method.as_str() {
            "Input.dispatchMouseEvent" => vec![],
            _ => fake::with_element(asked),
        })
        .await;
        let arguments = json!({"uid": harness.element().await, "filePath": "Cargo.toml"});
        let uploading = tokio::spawn(harness.run("upload_file", arguments));
        let command = "Page.setInterceptFileChooserDialog";
        let begun = harness.fake.hears(command).await.unwrap();
        assert_eq!(begun.params["enabled"], true);
        harness
            .fake
            .hears("Input.dispatchMouseEvent")
            .await
            .unwrap();
        uploading.abort();
        let ended = harness.fake.hears(command).await.unwrap();
        assert_eq!(ended.params["enabled"], false);
    }
}
