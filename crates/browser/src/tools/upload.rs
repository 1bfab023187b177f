//! Giving files to the page.

mod dropping;
mod seen;

use super::act::{self, Before, Drawing, Element};
use super::{Access, Category, Tool, ToolResult};
use crate::bounds;
use crate::error::ToolError;
use crate::files::Destination;
use crate::run::Page;
use crate::tab::Clicks;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
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
    /// The file itself, in base64, at most 3 MB. Then `filePath` is its name.
    #[schemars(extend("unlisted" = true))]
    content: Option<String>,
    /// Drop the files onto the element, without a click that might open a chooser. Also done if none opens.
    #[schemars(extend("unlisted" = true))]
    drop: Option<bool>,
}

impl Tool for UploadFile {
    const NAME: &'static str = "upload_file";
    const DESCRIPTION: &'static str = "Give local files to a file input.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Input;
    const TELLS_CHANGES: bool = true;
    const PROGRESSIVE: bool = false;

    fn check(&self) -> Result<(), String> {
        if self.content.is_some() && self.file_path.is_none() {
            return Err("`content` needs a `filePath`, the name of the file".into());
        }
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
        if let (Some(content), Some(name)) = (&self.content, &self.file_path) {
            files.push(sent(&page, name, content).await?);
        }
        for path in paths.filter(|_| self.content.is_none()) {
            files.push(page.files.readable(path).await?.display().to_string());
        }
        let element = Element::find(tab, &self.uid).await?;
        if !seen::sees(tab, &element.world, &files).await? {
            return Err(elsewhere());
        }
        let before = Before::look(tab);
        let object = element.world.object(element.n).await?;
        let node = object.describe().await?;
        let count = files.len();
        if self.drop == Some(true) {
            self.drop_onto(&page, &element, files).await?;
            return self.finish(&page, &before, &dropped(count)).await;
        }
        let paths = files.clone();
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
        } else if !self.choose(&page, &element, set, count).await? {
            self.drop_onto(&page, &element, paths).await?;
            return self.finish(&page, &before, &dropped(count)).await;
        }
        let done = match count {
            1 => "Gave the file to the page.".to_owned(),
            count => format!("Gave {count} files to the page."),
        };
        self.finish(&page, &before, &done).await
    }
}

/// Writes a file that came with the call to the session's own folder, where the browser reads it.
async fn sent(page: &Page, name: &str, content: &str) -> Result<String, ToolError> {
    let bytes = BASE64_STANDARD.decode(content).map_err(|_| {
        ToolError::Arguments("`content` is not base64. Encode the bytes of the file.".into())
    })?;
    let to = Destination::new(Some(name), Some(true), "");
    // A name without a folder, also for clients that have folders here.
    let files = page.files.clone().of_remote_client();
    let place = files.save(to, bytes).await?;
    Ok(place.display().to_string())
}

impl UploadFile {
    async fn finish(&self, page: &Page, before: &Before, done: &str) -> ToolResult {
        let output = act::settle(&page.tab, before, None, done).await?;
        act::with_snapshot(page, self.include_snapshot, output).await
    }

    async fn drop_onto(
        &self,
        page: &Page,
        element: &Element,
        files: Vec<String>,
    ) -> Result<(), ToolError> {
        match dropping::drop_files(page, element, files).await? {
            true => Ok(()),
            false => Err(self.takes_none()),
        }
    }

    /// Clicks the element and answers the file chooser that it opens; false if it opens none.
    async fn choose(
        &self,
        page: &Page,
        element: &Element,
        mut set: dom::SetFileInputFiles,
        count: usize,
    ) -> Result<bool, ToolError> {
        let tab = &page.tab;
        let _drawing = Drawing::of(tab);
        let mut tap = tab.stream_events(&["Page.fileChooserOpened"]);
        let intercepting = Intercepting::begin(&element.world.session).await?;
        let clicked = act::click(page, element, Clicks::left(1)).await;
        let opened = match clicked {
            Ok(Some(_)) => tokio::time::timeout(CHOOSER_LIMIT, tap.events.recv()).await,
            _ => Ok(None),
        };
        drop(intercepting);
        clicked?;
        let Ok(Some((asking, event))) = opened else {
            return Ok(false);
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
        Ok(true)
    }

    fn takes_none(&self) -> ToolError {
        let uid = &self.uid;
        let why = match self.drop {
            Some(true) => format!(
                "The element {uid} takes no files that are dropped on it. Use the element that does, or omit `drop`."
            ),
            _ => format!(
                "The element {uid} is not a file input, clicking it opens no file chooser, and it takes no files that \
                 are dropped on it. Use the element that does."
            ),
        };
        ToolError::NotActionable { why }
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

fn dropped(count: usize) -> String {
    match count {
        1 => "Dropped the file on the element.".to_owned(),
        count => format!("Dropped {count} files on the element."),
    }
}

fn elsewhere() -> ToolError {
    ToolError::File(
        "The browser runs on another machine and does not see the files of this one. The page got nothing. Use a \
         browser on this machine for uploads."
            .into(),
    )
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
    use crate::machine::Machine;
    use serde_json::{Value, json};

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

    /// Uploads in a browser that runs there and sees an empty file. Returns the error, and all commands.
    async fn upload_to(machine: Machine, arguments: Value) -> (String, Vec<String>) {
        let say = |asked: &Asked| match asked.method.as_str() {
            "DOM.describeNode" => {
                let attributes = ["type", "file"];
                let node = json!({"localName": "input", "attributes": attributes});
                vec![asked.answer(json!({"node": node}))]
            }
            "Runtime.callFunctionOn" => vec![asked.gives(json!([[0, 1]]))],
            _ if asked.runs("createElement") => {
                vec![asked.answer(json!({"result": {"objectId": "OURS"}}))]
            }
            _ => fake::with_element(asked),
        };
        let mut harness = FakeBrowser::at(machine, say).await;
        let mut arguments = arguments;
        arguments["uid"] = harness.element().await.into();
        arguments["filePath"] = "Cargo.toml".into();
        let refused = harness.run("upload_file", arguments).await.unwrap_err();
        let asked = harness.fake.heard_so_far().into_iter();
        let given = asked.filter(|it| it.params.to_string().contains("Cargo.toml"));
        let to = |it: Asked| format!("{} {}", it.method, it.params["objectId"]);
        (refused.to_string(), given.map(to).collect())
    }

    #[tokio::test(start_paused = true)]
    async fn a_browser_elsewhere_gets_no_path_of_this_machine() {
        for drop in [false, true] {
            let (refused, given) = upload_to(Machine::Other, json!({ "drop": drop })).await;
            assert!(refused.contains("The page got nothing."), "{refused}");
            assert_eq!(given, [""; 0]);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_gets_no_file_that_its_browser_does_not_see() {
        for drop in [false, true] {
            let (refused, given) = upload_to(Machine::Perhaps, json!({ "drop": drop })).await;
            assert!(refused.contains("The page got nothing."), "{refused}");
            assert_eq!(given, ["DOM.setFileInputFiles \"OURS\""]);
        }
    }
}
