//! Downloads of one browser: each is told to the tab that began it, and followed to its end.

use super::actor::Actor;
use crate::tab::{Download, Progress, Tab};
use crate::text::one_line;
use tabmux_cdp::types::browser;

impl<E> Actor<E> {
    pub(super) fn handle_download(&mut self, event: browser::DownloadWillBegin) {
        let tabs = self.tabs.values().filter_map(|entry| entry.tab.as_ref());
        let shows = |tab: &&Tab| tab.state().frames.find(&event.frame_id).is_some();
        let Some(tab) = tabs.into_iter().find(shows) else {
            return;
        };
        let download = Download {
            guid: event.guid,
            name: one_line(&event.suggested_filename, 200),
            progress: Progress::Running,
            received: 0.0,
        };
        tab.note_download(download.clone());
        if self.downloads.len() >= MOST_DOWNLOADS {
            self.downloads.pop_front();
        }
        self.downloads.push_back((tab.clone(), download));
    }

    pub(super) fn handle_download_progress(&mut self, event: browser::DownloadProgress) {
        let running = self
            .downloads
            .iter()
            .position(|(_, download)| download.guid == event.guid);
        let Some((tab, download)) = running.and_then(|index| self.downloads.get_mut(index)) else {
            return;
        };
        download.received = event.received_bytes;
        download.progress = match event.state.as_str() {
            "completed" => Progress::Saved(event.file_path.filter(|path| !path.is_empty())),
            "canceled" => Progress::Stopped,
            _ => return,
        };
        tab.note_download(download.clone());
        self.downloads
            .retain(|(_, download)| download.guid != event.guid);
    }
}

const MOST_DOWNLOADS: usize = 100;
