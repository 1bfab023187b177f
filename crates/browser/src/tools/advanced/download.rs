//! Waiting for a download, and fetching it.

use crate::error::ToolError;
use crate::files::Destination;
use crate::run::Page;
use crate::tab::{Download, Progress, Tab, TabState};
use crate::tools::{Access, Category, Tool, ToolOutput, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;
use std::time::Duration;

/// Waits for a download.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::tools) struct WaitForDownload {
    /// Save a copy to this file or, if it ends with /, in this folder.
    file_path: Option<String>,
    overwrite: Option<bool>,
    /// Answer with its text.
    content: Option<bool>,
    /// In milliseconds. Default: 30000.
    timeout: Option<u32>,
}

impl Tool for WaitForDownload {
    const NAME: &'static str = "wait_for_download";
    const DESCRIPTION: &'static str = "Wait until the tab's next download is complete: the oldest that was not waited \
                                       for yet. Returns its path.";
    const ACCESS: Access = Access::Read;
    const CATEGORY: Category = Category::Advanced;
    const OPT_IN: bool = true;
    const PROGRESSIVE: bool = false;
    const NEEDS_PAGE: bool = false;

    fn check(&self) -> Result<(), String> {
        if self.timeout.is_some_and(|timeout| timeout > MAX_TIMEOUT_MS) {
            return Err(format!("`timeout` must be at most {MAX_TIMEOUT_MS}"));
        }
        match self.overwrite.is_some() && self.file_path.is_none() {
            true => Err("`overwrite` needs a `filePath`".into()),
            false => Ok(()),
        }
    }

    fn timeout(&self) -> Option<Duration> {
        Some(Duration::from_millis(self.timeout.unwrap_or(TIMEOUT_MS).into()) + GRACE)
    }

    async fn run(self, page: Page) -> ToolResult {
        let tab = &page.tab;
        let limit = Duration::from_millis(self.timeout.unwrap_or(TIMEOUT_MS).into());
        let seen = tab.download_waited_for();
        let next = |state: &TabState| next_after(&state.downloads, seen.as_deref()).cloned();
        let ended = |download: Download| download.progress != Progress::Running;
        tab.until(limit, |state| next(state).is_some_and(ended))
            .await?;
        let download = next(&tab.state()).ok_or_else(|| none(limit))?;
        if download.progress == Progress::Running {
            return Err(still_running(&download, limit));
        }
        let output = match &download.progress {
            Progress::Saved(Some(path)) => {
                let fetched = self.fetch(&page, &download, path).await;
                fetched.map_err(|error| not_fetched(&download, &error))?
            }
            Progress::SavedElsewhere(_) if self.wants_file() => return Err(elsewhere(&download)),
            _ => ToolOutput::text(download.tell()),
        };
        // Only now: a call that cannot fetch it can be repeated.
        tab.wait_for_downloads_after(download.guid);
        Ok(output)
    }
}

impl WaitForDownload {
    /// Whether its file must be read.
    fn wants_file(&self) -> bool {
        self.file_path.is_some() || self.content == Some(true)
    }

    async fn fetch(&self, page: &Page, download: &Download, path: &str) -> ToolResult {
        let mut words = download.tell();
        if let Some(to) = &self.file_path {
            let bytes = page.files.read(path, MAX_COPY).await?;
            let to = Destination::new(Some(&named(to, path)), self.overwrite, "");
            let place = page.files.save(to, bytes).await?;
            words.push_str(&format!("\nCopied to {}.", place.display()));
        }
        if self.content == Some(true) {
            let bytes = page.files.read(path, MAX_COPY).await?;
            words.push('\n');
            words.push_str(&text_of(bytes));
        }
        Ok(ToolOutput::text(words))
    }
}

/// The path of the copy: in a folder, it has the name of the download.
fn named(to: &str, download: &str) -> String {
    let name = Path::new(download).file_name();
    match name.filter(|_| to.ends_with('/')) {
        Some(name) => format!("{to}{}", name.to_string_lossy()),
        None => to.to_owned(),
    }
}

/// The next session does not wait for downloads of this one.
pub(super) fn clear(tab: &Tab) {
    let last = tab.state().downloads.last().map(|it| it.guid.clone());
    if let Some(last) = last {
        tab.wait_for_downloads_after(last);
    }
}

/// The content, if it is a text.
fn text_of(bytes: Vec<u8>) -> String {
    let Ok(text) = String::from_utf8(bytes) else {
        return "It is not a text. Use its path.".into();
    };
    match text.chars().count() {
        count if count > MAX_SHOWN => format!(
            "The first {MAX_SHOWN} of {count} characters:\n{}",
            tabmux_text::shorten(&text, MAX_SHOWN)
        ),
        _ => format!("Its text:\n{text}"),
    }
}

/// The first download after the one with this id; without it, the first of all.
fn next_after<'a>(downloads: &'a [Download], seen: Option<&str>) -> Option<&'a Download> {
    let place = downloads
        .iter()
        .position(|it| Some(it.guid.as_str()) == seen);
    downloads.get(place.map_or(0, |place| place + 1))
}

fn not_fetched(download: &Download, error: &ToolError) -> ToolError {
    ToolError::File(format!(
        "{} {error} The next wait_for_download waits for the same download.",
        download.tell()
    ))
}

fn elsewhere(download: &Download) -> ToolError {
    ToolError::File(format!(
        "{} Omit `filePath` and `content`, or use a browser on this machine.",
        download.tell()
    ))
}

fn none(limit: Duration) -> ToolError {
    ToolError::TimedOut {
        what: "A download".into(),
        millis: limit.as_millis(),
        next: "Click what starts it first; list_network_requests shows the downloads of this tab."
            .into(),
    }
}

fn still_running(download: &Download, limit: Duration) -> ToolError {
    ToolError::TimedOut {
        what: format!("The end of the download {}", download.name),
        millis: limit.as_millis(),
        next: format!("{} bytes have arrived; wait again.", download.received),
    }
}

const TIMEOUT_MS: u32 = 30_000;
const MAX_TIMEOUT_MS: u32 = 600_000;
/// For reading and copying the file.
const GRACE: Duration = Duration::from_secs(20);
const MAX_COPY: u64 = 50_000_000;
const MAX_SHOWN: usize = 20_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_download_is_waited_for_once() {
        let download = |guid: &str| Download {
            guid: guid.into(),
            name: String::new(),
            progress: Progress::Running,
            received: 0.0,
        };
        let list = [download("a"), download("b")];
        let next = |seen| next_after(&list, seen).map(|it| it.guid.as_str());
        assert_eq!(next(None), Some("a"));
        assert_eq!(next(Some("a")), Some("b"));
        assert_eq!(next(Some("b")), None);
        assert_eq!(next_after(&[], Some("a")), None);
    }
}
