//! Downloads of one browser: each is reported to the tab that started it, until it ends. In a launched browser, a
//! download belongs to the session that uses the tab, and counts against its quota.

use super::ContextId;
use super::actor::Actor;
use crate::files::{FileThreads, OutputFolder, OutputRoot};
use crate::machine::Machine;
use crate::tab::{Download, Progress, Tab, TargetId};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;
use tabmux_cdp::Session;
use tabmux_cdp::types::browser::{self, SetDownloadBehaviorBehavior};
use tabmux_text::one_line;

/// The running downloads.
#[derive(Debug, Default)]
pub(super) struct Downloads {
    running: VecDeque<Running>,
}

impl Downloads {
    /// Removes a download of the session with the most running ones; without sessions, of the tab with the most.
    fn evict(&mut self) -> Option<Running> {
        let whose: Vec<_> = self.running.iter().map(Running::whose).collect();
        self.running.remove(oldest_of_most(&whose)?)
    }
}

/// The index of the first item of the most frequent value.
fn oldest_of_most<T: PartialEq>(whose: &[T]) -> Option<usize> {
    let count = |one: &T| whose.iter().filter(|other| *other == one).count();
    let most = whose.iter().map(count).max()?;
    whose.iter().position(|one| count(one) == most)
}

#[derive(Debug)]
struct Running {
    /// The tabs that get reports of it.
    tabs: Vec<Tab>,
    download: Download,
    /// In a launched browser: the output folder of its session.
    owner: Option<OutputFolder>,
    /// The context of the tab that started it.
    context: Option<ContextId>,
    /// How many bytes count against its session's quota.
    counted: u64,
}

impl Running {
    fn tell(&self) {
        for tab in &self.tabs {
            tab.note_download(self.download.clone());
        }
    }

    /// Counts new bytes. The error is a sentence, if the quota is exceeded.
    fn grow(&mut self, event: &browser::DownloadProgress) -> Result<(), String> {
        let Some(owner) = &self.owner else {
            return Ok(());
        };
        let (now, whole) = (bytes(event.received_bytes), bytes(event.total_bytes));
        let grown = owner.downloads().grow(self.counted, now, whole);
        self.counted = now;
        grown
    }

    /// The session that it belongs to; without one, the tab that started it.
    fn whose(&self) -> (Option<usize>, Option<TargetId>) {
        match &self.owner {
            Some(owner) => (Some(owner.number()), None),
            None => (None, self.tabs.first().map(|tab| tab.target().clone())),
        }
    }

    /// It was cancelled because its session started too many: the file still counts, its bytes do not.
    fn give_back_bytes(&mut self) {
        if let Some(owner) = self.owner.as_ref() {
            owner.downloads().give_back_bytes(self.counted);
            self.counted = 0;
        }
    }

    /// It is complete.
    fn saved(mut self, progress: Progress) {
        self.download.progress = progress;
        self.tell();
    }

    /// It ended, and its file is not kept.
    fn give_back(&mut self) {
        if let Some(owner) = self.owner.take() {
            owner.downloads().give_back(self.counted);
        }
    }
}

/// Where a launched browser puts downloads until they are complete.
#[derive(Clone, Debug)]
pub(super) struct Staging(pub(super) Option<PathBuf>);

impl Staging {
    /// A separate folder for the downloads of one browser. Without one, nothing is downloaded.
    pub(super) async fn make(output: &OutputRoot) -> Self {
        let root = output.clone();
        let made = output.session().threads().run(move || root.make()).await;
        match made {
            Ok(Ok(folder)) => return Self(Some(folder)),
            Ok(Err(error)) => tracing::warn!(%error, "there is no folder for downloads"),
            Err(stuck) => tracing::warn!(%stuck, "there is no folder for downloads"),
        }
        Self(None)
    }

    /// The command that makes a context's downloads go there, each named by its id.
    pub(super) fn behavior(&self, context: Option<ContextId>) -> browser::SetDownloadBehavior {
        let folder = self.0.as_ref();
        browser::SetDownloadBehavior {
            behavior: match folder {
                Some(_) => SetDownloadBehaviorBehavior::ALLOW_AND_NAME,
                None => SetDownloadBehaviorBehavior::DENY,
            },
            browser_context_id: context,
            download_path: folder.map(|folder| folder.display().to_string()),
            events_enabled: Some(true),
        }
    }

    /// Removes the folder when the browser ends.
    pub(super) async fn remove(self, output: &OutputRoot) {
        if let Some(folder) = self.0 {
            let remove = move || std::fs::remove_dir_all(folder);
            let _ = output.session().threads().run(remove).await;
        }
    }
}

impl<E> Actor<E> {
    pub(super) fn handle_download(&mut self, event: browser::DownloadWillBegin) {
        let (tabs, context) = self.beginners(&event.frame_id);
        if tabs.is_empty() && self.staging.is_none() {
            return;
        }
        let mut running = Running {
            download: Download {
                guid: event.guid,
                name: one_line(&event.suggested_filename, 200),
                progress: Progress::Running,
                received: 0.0,
            },
            context,
            owner: None,
            tabs,
            counted: 0,
        };
        if self.staging.is_some() {
            let owner = running.tabs.iter().find_map(Tab::user);
            let admitted = match &owner {
                Some(owner) => owner.downloads().begin(),
                None => Err("no session uses this tab.".to_owned()),
            };
            if let Err(why) = admitted {
                return stop(&self.session, &mut running, why);
            }
            running.owner = owner;
        }
        running.tell();
        self.downloads.running.push_back(running);
        if self.downloads.running.len() > MOST_DOWNLOADS
            && let Some(mut evicted) = self.downloads.evict()
            && evicted.owner.is_some()
        {
            evicted.give_back_bytes();
            stop(
                &self.session,
                &mut evicted,
                "too many downloads are running.".into(),
            );
        }
    }

    pub(super) fn handle_download_progress(&mut self, event: browser::DownloadProgress) {
        let list = &mut self.downloads.running;
        let place = list.iter().position(|it| it.download.guid == event.guid);
        let Some(index) = place else {
            // A cancelled one may have completed before Chrome received the command.
            if event.state == "completed" {
                self.remove_staged(&event.guid);
            }
            return;
        };
        let Some(running) = list.get_mut(index) else {
            return;
        };
        let is_stopped = event.state == "canceled";
        let is_whole = event.state == "completed";
        if !is_stopped {
            running.download.received = event.received_bytes;
        }
        // A short one may be complete before any progress is reported.
        let grown = match is_stopped {
            true => Ok(()),
            false => running.grow(&event),
        };
        if grown.is_ok() && !is_stopped && !is_whole {
            return;
        }
        let Some(mut running) = list.remove(index) else {
            return;
        };
        let staged = self.staging.as_ref().and_then(|it| it.0.as_ref());
        let staged = staged.map(|folder| folder.join(&running.download.guid));
        match (grown, running.owner.clone(), staged) {
            (grown, Some(owner), Some(staged)) if is_whole => {
                tokio::spawn(end(running, owner, staged, grown));
            }
            (Err(why), ..) => {
                running.give_back();
                stop(&self.session, &mut running, why);
            }
            (Ok(()), ..) if is_stopped => {
                running.download.progress = Progress::Stopped;
                running.give_back();
                running.tell();
            }
            (Ok(()), ..) => {
                running.give_back();
                let place = event.file_path.filter(|it| !it.is_empty());
                match self.settings.machine {
                    Machine::This => running.saved(Progress::Saved(place)),
                    Machine::Perhaps => drop(tokio::spawn(find(running, place))),
                    Machine::Other => running.saved(Progress::SavedElsewhere(place)),
                }
            }
        }
    }

    /// Removes a complete file that is not kept.
    fn remove_staged(&self, guid: &str) {
        let folder = self.staging.as_ref().and_then(|it| it.0.as_ref());
        if let Some(folder) = folder.filter(|_| !guid.contains('/')) {
            let staged = folder.join(guid);
            let remove = async move {
                let remove = move || std::fs::remove_file(staged);
                let _ = FileThreads::new().run(remove).await;
            };
            tokio::spawn(remove);
        }
    }

    /// The tab of a frame, and its context. If a link to a file opened a new blank tab, also the tab with the link.
    fn beginners(&self, frame: &tabmux_cdp::types::page::FrameId) -> (Vec<Tab>, Option<ContextId>) {
        let shows = |tab: &Tab| {
            tab.target().as_str() == frame.as_str() || tab.state().frames.find(frame).is_some()
        };
        let mut entries = self.tabs.values();
        let entry = entries.find(|entry| entry.tab.as_ref().is_some_and(shows));
        let Some(entry) = entry else {
            return (Vec::new(), None);
        };
        let opener = entry.opener.as_ref().filter(|_| entry.is_blank());
        let opener = opener.and_then(|opener| self.tabs.get(opener)?.tab.clone());
        let tabs = entry.tab.iter().cloned().chain(opener).collect();
        (tabs, entry.context())
    }
}

/// Moves a complete download into its session's folder, or removes it.
async fn end(
    mut running: Running,
    owner: OutputFolder,
    staged: PathBuf,
    wanted: Result<(), String>,
) {
    let (folder, name) = (owner.clone(), running.download.name.clone());
    let work = move || {
        let taken = wanted.and_then(|()| {
            let taken = folder.take_in(&staged, &name);
            taken.map_err(|error| format!("it cannot be kept: {error}."))
        });
        taken.inspect_err(|_| drop(std::fs::remove_file(&staged)))
    };
    running.download.progress = match owner.threads().run_within(KEEP_LIMIT, work).await {
        Ok(Ok(place)) => Progress::Saved(Some(place.display().to_string())),
        Ok(Err(why)) => {
            running.give_back();
            Progress::Refused(why)
        }
        // The file may still come, so it counts.
        Err(stuck) => Progress::Refused(stuck.to_string()),
    };
    running.tell();
}

/// Looks whether a complete download of a browser that may run elsewhere is a file of this machine. Another file may
/// have its path here, but not its length, too.
async fn find(running: Running, place: Option<String>) {
    let Some(place) = place else {
        return running.saved(Progress::SavedElsewhere(None));
    };
    let path = PathBuf::from(&place);
    let length = move || std::fs::symlink_metadata(path).map(|it| it.is_file().then_some(it.len()));
    let length = FileThreads::new().run(length).await;
    let is_here =
        matches!(length, Ok(Ok(Some(length))) if length == bytes(running.download.received));
    running.saved(match is_here {
        true => Progress::Saved(Some(place)),
        false => Progress::SavedElsewhere(Some(place)),
    });
}

/// Makes Chrome cancel a download and remove its partial file.
fn stop(session: &Session, running: &mut Running, why: String) {
    session.post(browser::CancelDownload {
        guid: running.download.guid.clone(),
        browser_context_id: running.context.clone(),
    });
    running.download.progress = Progress::Refused(why);
    running.tell();
}

/// Chrome counts in floating point.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates"
)]
fn bytes(count: f64) -> u64 {
    count as u64
}

/// How many downloads of one browser run at once.
const MOST_DOWNLOADS: usize = 100;

/// How long it may take to copy the largest download to another file system.
const KEEP_LIMIT: Duration = Duration::from_secs(120);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_with_most_downloads_loses_one() {
        assert_eq!(oldest_of_most::<u8>(&[]), None);
        assert_eq!(oldest_of_most(&[1]), Some(0));
        assert_eq!(oldest_of_most(&[1, 2, 2, 3]), Some(1));
        let mut flood = vec![1];
        flood.extend([2; 100]);
        assert_eq!(
            oldest_of_most(&flood),
            Some(1),
            "the other's is not touched"
        );
    }
}
