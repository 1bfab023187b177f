//! The state that survives the daemon: which session had which tabs and followed the person, in a file that only its
//! user can read. Launched browsers end with their daemon; about those it only records that they are gone.

mod counter;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
#[cfg(test)]
mod tests;

use crate::handle::Client;
use counter::Counter;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tabmux_core::{
    BrowserKey, Fate, Loss, LostTab, PageNumbers, RememberedTab, RestoredTabs, TabId, TargetId,
};
use tabmux_platform::files::{Refused, SafeOptions, is_own};
use tabmux_protocol::wire::Resume;
use tokio::sync::watch;

/// The contents of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Notes {
    /// How many tab numbers have been used.
    pub(crate) tabs_counted: u32,
    /// Sessions by their public names.
    pub(crate) sessions: HashMap<String, SessionNotes>,
}

impl Notes {
    /// The notes about a client's session.
    pub(crate) fn about(&mut self, client: &Client) -> &mut SessionNotes {
        let known = self.sessions.entry(client.session.clone());
        known.or_insert_with(|| SessionNotes {
            secret: client.secret.clone(),
            ..SessionNotes::default()
        })
    }
}

/// One session's tabs, and the secret that proves its owner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionNotes {
    pub(crate) secret: String,
    pub(crate) tabs: Vec<TabNotes>,
    /// A lost tab that the session has not been told about yet.
    #[serde(default)]
    pub(crate) lost: Option<LostNotes>,
    /// The browser of a progressive session, if it outlives the daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) connected: Option<String>,
    /// How many page numbers of its own have been used.
    #[serde(default)]
    pub(crate) pages_counted: u32,
    /// Its number among sessions of the same client name.
    #[serde(default)]
    pub(crate) number: usize,
    /// Whether it follows the person, if the person decided that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) follows: Option<bool>,
}

/// A lost tab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LostNotes {
    /// The browser, as its user named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    browser: Option<String>,
    number: u32,
    /// The session's own number for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    page: Option<u32>,
    fate: FateNotes,
}

impl LostNotes {
    /// Adds the session's own number for it.
    pub(crate) fn called(self, page: Option<u32>) -> Self {
        Self { page, ..self }
    }
}

/// How it was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum FateNotes {
    Closed,
    Crashed,
    BrowserGone,
    TakenBack,
}

impl From<Loss> for LostNotes {
    fn from(Loss { browser, tab }: Loss) -> Self {
        Self {
            browser: browser.map(|key| key.0.to_string()),
            number: tab.tab.0,
            page: None,
            fate: match tab.fate {
                Fate::Closed => FateNotes::Closed,
                Fate::Crashed => FateNotes::Crashed,
                Fate::BrowserGone => FateNotes::BrowserGone,
                Fate::TakenBack => FateNotes::TakenBack,
            },
        }
    }
}

impl From<&LostNotes> for Loss {
    fn from(lost: &LostNotes) -> Self {
        let fate = match lost.fate {
            FateNotes::Closed => Fate::Closed,
            FateNotes::Crashed => Fate::Crashed,
            FateNotes::BrowserGone => Fate::BrowserGone,
            FateNotes::TakenBack => Fate::TakenBack,
        };
        let tab = TabId(lost.number);
        Self {
            browser: lost.browser.as_deref().map(|key| BrowserKey(key.into())),
            tab: LostTab { tab, fate },
        }
    }
}

/// One tab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TabNotes {
    /// The browser, as its user named it.
    pub(crate) browser: String,
    pub(crate) target: String,
    pub(crate) number: u32,
    /// The session's own number for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) page: Option<u32>,
    /// Whether it outlives the daemon.
    pub(crate) stays: bool,
    /// Whether it was opened for the session.
    pub(crate) opened: bool,
    /// Whether the session was bound to it.
    pub(crate) bound: bool,
    /// The extension installation through which it is connected, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) extension: Option<String>,
}

/// A tab of a session that did not reconnect.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Abandoned {
    /// The browser, as its user named it.
    pub(crate) browser: String,
    /// The extension installation through which it is connected, if any.
    pub(crate) extension: Option<String>,
    pub(crate) target: TargetId,
}

impl Abandoned {
    /// Whether these notes describe this tab.
    pub(crate) fn is(&self, tab: &TabNotes) -> bool {
        tab.browser == self.browser
            && tab.extension == self.extension
            && *tab.target == *self.target.0
    }
}

/// The file, and the notes of an earlier daemon.
#[derive(Debug)]
pub(crate) struct Memory {
    /// Sessions of an earlier daemon that have not reconnected yet.
    left: HashMap<String, SessionNotes>,
    /// Those whose ownership a client has proved.
    claimed: HashSet<String>,
    /// The tabs of reconnected sessions, for the next daemon: some may not be found again yet.
    back: HashMap<String, Vec<TabNotes>>,
    last: Notes,
    /// The core's change counter when the notes were last taken; `None` if they must be taken again.
    noted: Option<u64>,
    /// How long they may take to reconnect.
    grace: Duration,
    /// The newest notes, with their version.
    write: Option<watch::Sender<(u64, Notes)>>,
    /// The version that is in the file.
    written: watch::Receiver<u64>,
    writer: Option<JoinHandle<()>>,
    /// Whether a write timed out and has not finished since.
    late: Arc<AtomicBool>,
}

impl Memory {
    /// Stores nothing.
    pub(crate) fn none() -> Self {
        Self {
            left: HashMap::new(),
            claimed: HashSet::new(),
            back: HashMap::new(),
            last: Notes::default(),
            noted: None,
            grace: Duration::ZERO,
            write: None,
            written: watch::channel(0).1,
            writer: None,
            late: Arc::default(),
        }
    }

    /// Reads the notes of an earlier daemon, and keeps the file up to date from now on.
    pub(crate) fn at(path: PathBuf, grace: Duration) -> Self {
        let mut last = read(&path).unwrap_or_else(|error| {
            tracing::warn!(%error, path = %path.display(), "the notes of an earlier daemon cannot be read");
            Notes::default()
        });
        let counter = Counter::open(&path.with_extension("count"), last.tabs_counted);
        last.tabs_counted = counter.count();
        let (write, notes) = watch::channel((0, last.clone()));
        let (done, written) = watch::channel(0);
        let writer = std::thread::spawn(move || keep(&path, counter, notes, &done));
        Self {
            left: last.sessions.clone(),
            claimed: HashSet::new(),
            back: HashMap::new(),
            last,
            noted: None,
            grace,
            write: Some(write),
            written,
            writer: Some(writer),
            late: Arc::default(),
        }
    }

    /// How many tab numbers have been used.
    pub(crate) fn tabs_counted(&self) -> u32 {
        self.last.tabs_counted
    }

    /// The tabs that keep their numbers.
    pub(crate) fn tabs(&self) -> Vec<RememberedTab> {
        let tabs = self.left.values().flat_map(|session| &session.tabs);
        let tabs = tabs.filter(|tab| tab.stays);
        let tabs = tabs.map(|tab| RememberedTab {
            browser: BrowserKey(tab.browser.as_str().into()),
            target: TargetId(tab.target.as_str().into()),
            number: TabId(tab.number),
        });
        tabs.collect()
    }

    /// Whether a tab belongs to a session that may reconnect. A tab that the session only had a number for does not
    /// count.
    pub(crate) fn awaits(&self, target: &TargetId) -> bool {
        let mut tabs = self.left.values().flat_map(|session| &session.tabs);
        tabs.any(|tab| tab.stays && (tab.opened || tab.bound) && *tab.target == *target.0)
    }

    /// Gives a session of an earlier daemon to the client that proves its ownership.
    pub(crate) fn take_up(&mut self, resume: &Resume) -> Option<RestoredTabs> {
        let name = &resume.session_id.0;
        let known = self.left.get(name)?;
        if known.secret != resume.secret {
            tracing::warn!(session = name, "refused to resume a session: wrong secret");
            return None;
        }
        if !self.claimed.insert(name.clone()) {
            return None;
        }
        let tabs = &known.tabs;
        let target = |tab: &TabNotes| TargetId(tab.target.as_str().into());
        let stays = |tab: &&TabNotes| tab.stays;
        let with_daemon = tabs.iter().find(|tab| tab.bound && !tab.stays);
        let with_daemon = with_daemon.map(|tab| Loss {
            browser: Some(BrowserKey(tab.browser.as_str().into())),
            tab: LostTab {
                tab: TabId(tab.number),
                fate: Fate::BrowserGone,
            },
        });
        let lost = with_daemon.or_else(|| known.lost.as_ref().map(Loss::from));
        let numbered = tabs.iter().map(|tab| (tab.number, tab.page));
        let numbered = numbered.chain(known.lost.iter().map(|lost| (lost.number, lost.page)));
        let numbered = numbered.filter_map(|(tab, page)| Some((TabId(tab), page?)));
        let left = || tabs.iter().filter(stays);
        Some(RestoredTabs {
            opened: left().filter(|tab| tab.opened).map(target).collect(),
            bound: left().filter(|tab| tab.bound).map(target).collect(),
            lost: lost.filter(|_| !resume.told),
            connected: known.connected.as_deref().map(|key| BrowserKey(key.into())),
            numbers: PageNumbers::restored(known.pages_counted, numbered),
        })
    }

    /// The label number of a session whose ownership a client has proved.
    pub(crate) fn number_of(&self, session: &str) -> Option<usize> {
        self.claimed_notes(session).map(|known| known.number)
    }

    /// Whether such a session followed the person, if the person had decided that.
    pub(crate) fn follows_of(&self, session: &str) -> Option<bool> {
        self.claimed_notes(session)?.follows
    }

    fn claimed_notes(&self, session: &str) -> Option<&SessionNotes> {
        let is_claimed = self.claimed.contains(session);
        self.left.get(session).filter(|_| is_claimed)
    }

    /// A session was opened; it may be one of an earlier daemon.
    pub(crate) fn opened(&mut self, client: &Client) {
        let name = &client.session;
        if self.claimed.remove(name)
            && let Some(notes) = self.left.remove(name)
        {
            self.back.insert(name.clone(), notes.tabs);
        }
    }

    /// A session was closed.
    pub(crate) fn closed(&mut self, client: &Client) {
        self.back.remove(&client.session);
    }

    /// The notes about the session's tabs of an earlier daemon that it has not found again.
    pub(crate) fn missing(&self, client: &Client, restored_tabs: &RestoredTabs) -> Vec<TabNotes> {
        let tabs = self.back.get(&client.session).into_iter().flatten();
        let is_missing = |tab: &&TabNotes| {
            let mut targets = restored_tabs.opened.iter().chain(&restored_tabs.bound);
            tab.stays && targets.any(|target| *target.0 == *tab.target)
        };
        tabs.filter(is_missing).cloned().collect()
    }

    /// Takes the tabs of sessions that did not reconnect. Forgets them.
    pub(crate) fn take_abandoned(&mut self) -> Vec<Abandoned> {
        self.noted = None;
        let tabs = self.left.drain().flat_map(|(_, session)| session.tabs);
        let opened = tabs.filter(|tab| tab.opened && tab.stays);
        opened
            .map(|tab| Abandoned {
                browser: tab.browser,
                extension: tab.extension,
                target: TargetId(tab.target.into()),
            })
            .collect()
    }

    /// Stores the notes, if they changed.
    pub(crate) fn keep(&mut self, mut notes: Notes) {
        let Some(write) = &self.write else {
            return;
        };
        for (name, left) in &self.left {
            notes
                .sessions
                .entry(name.clone())
                .or_insert_with(|| left.clone());
        }
        if notes != self.last {
            self.last = notes.clone();
            write.send_modify(|newest| *newest = (newest.0 + 1, notes));
        }
    }

    /// A future that resolves when all notes are in the file; `None` if they are. A disk that hangs is waited for
    /// once and briefly: replies matter more than notes for a later daemon.
    pub(crate) fn writing(&self) -> Option<impl Future<Output = ()> + Send + use<>> {
        let newest = self.write.as_ref()?.borrow().0;
        let mut written = self.written.clone();
        let is_behind = *written.borrow() < newest;
        let late = Arc::clone(&self.late);
        if !is_behind {
            late.store(false, Ordering::Relaxed);
        }
        let waits = is_behind && !late.load(Ordering::Relaxed);
        waits.then_some(async move {
            let writing = written.wait_for(|written| *written >= newest);
            if tokio::time::timeout(WRITE_LIMIT, writing).await.is_err() {
                tracing::warn!("storing sessions takes too long; replies do not wait for it");
                late.store(true, Ordering::Relaxed);
            }
        })
    }

    /// Whether there is a file to keep, and the core has changed since the notes were taken.
    pub(crate) fn wants_notes(&mut self, version: u64) -> bool {
        self.write.is_some() && self.noted.replace(version) != Some(version)
    }

    /// How long sessions of an earlier daemon may take to reconnect, if there are any.
    pub(crate) fn grace(&self) -> Option<Duration> {
        (!self.left.is_empty()).then_some(self.grace)
    }

    /// Waits until everything is written.
    pub(crate) fn finish(mut self) {
        self.write = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// How long a reply waits for the disk.
const WRITE_LIMIT: Duration = Duration::from_secs(1);

/// Writes the newest notes, until the sender is dropped.
fn keep(
    path: &Path,
    mut counter: Counter,
    mut notes: watch::Receiver<(u64, Notes)>,
    done: &watch::Sender<u64>,
) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else {
        return;
    };
    while runtime.block_on(notes.changed()).is_ok() {
        let (number, newest) = notes.borrow_and_update().clone();
        counter.store(newest.tabs_counted);
        if let Err(error) = write(path, &newest) {
            tracing::warn!(%error, path = %path.display(), "sessions could not be stored");
        }
        done.send_replace(number);
    }
}

/// Reads a file that this user owns. In a folder like /tmp any user may create one first.
fn read(path: &Path) -> io::Result<Notes> {
    let file = fs::OpenOptions::new()
        .read(true)
        .refusing(Refused::LinksAndWaiting)
        .open(path);
    let mut file = match file {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Notes::default()),
        Err(error) => return Err(error),
    };
    let about = file.metadata()?;
    if !about.is_file() || !is_own(&about) {
        return Err(io::Error::other("it is not a file of this user"));
    }
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

/// Writes a temporary file first, so that a crash leaves the old file intact.
fn write(path: &Path, notes: &Notes) -> io::Result<()> {
    let draft = path.with_extension("new");
    // An old temporary file is from a crashed daemon, or from another user.
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .private()
        .open(&draft)?;
    file.write_all(&serde_json::to_vec(notes)?)?;
    fs::rename(draft, path)
}
