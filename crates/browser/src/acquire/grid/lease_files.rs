//! Files that name the sessions of grids that we have, so that the next daemon gives back those of one that was
//! killed. A file is locked as long as its process lives, and has no secrets in it: a grid with a password is asked
//! when a session names it again.

use super::hub::Hub;
use crate::files::FileThreads;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tabmux_platform::files::{Refused, SafeOptions, private_folders};

/// The file of one session, locked.
#[derive(Debug)]
pub(super) struct LeaseFile {
    path: PathBuf,
    lock: File,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Contents {
    /// The grid's address, without credentials.
    grid: String,
    /// The id of the session.
    session: String,
    /// Whether the grid needs more than the address.
    login: bool,
}

impl LeaseFile {
    /// Writes the file of a session. Without it the session still works; it is only not given back after a crash.
    pub(super) async fn write(hub: &Hub, session: &str) -> Option<Self> {
        let contents = Contents {
            grid: hub.bare(""),
            session: session.to_owned(),
            login: hub.needs_login(),
        };
        let folder = folder();
        let threads = FileThreads::new();
        match threads.run(move || write(&folder, &contents)).await {
            Ok(Ok(file)) => Some(file),
            Ok(Err(error)) => {
                tracing::warn!(%error, "a browser of a grid could not be noted");
                None
            }
            Err(stuck) => {
                tracing::warn!(%stuck, "a browser of a grid could not be noted");
                None
            }
        }
    }

    /// Whether it was written a day ago.
    fn is_old(&self) -> bool {
        let about = self.lock.metadata().and_then(|about| about.modified());
        about.is_ok_and(|written| written.elapsed().is_ok_and(|age| age > A_DAY))
    }

    pub(super) async fn remove(self) {
        let threads = FileThreads::new();
        let removed = threads.run(move || fs::remove_file(&self.path)).await;
        if let Ok(Err(error)) = removed {
            tracing::debug!(%error, "the file of a browser of a grid could not be removed");
        }
    }
}

/// Gives back what killed daemons have left, if their grids need no password.
pub async fn release_orphans() {
    release_all(|contents| {
        let address = (!contents.login).then(|| format!("grid+{}", contents.grid))?;
        Hub::of(&address.into()).ok()
    })
    .await;
}

/// Gives back what killed daemons have left of this grid.
pub(super) async fn release_orphans_of(hub: Hub) {
    release_all(|contents| hub.of_lease(&contents.grid)).await;
}

/// Gives back the sessions for which there is a grid. Only the file at hand is locked: a grid that does not answer
/// must not keep others from theirs.
async fn release_all(grid_of: impl Fn(&Contents) -> Option<Hub>) {
    let folder = folder();
    let found = FileThreads::new().run(move || find(&folder)).await;
    for (path, contents) in found.unwrap_or_default() {
        let Some(hub) = grid_of(&contents) else {
            continue;
        };
        let locked = FileThreads::new().run(move || lock(path)).await;
        if let Ok(Some(file)) = locked {
            release(&hub, file, &contents.session).await;
        }
    }
}

async fn release(hub: &Hub, file: LeaseFile, session: &str) {
    if hub.end_session(session).await {
        tracing::info!(
            session,
            "gave back a browser of a grid that a killed daemon had"
        );
        file.remove().await;
    } else if file.is_old() {
        tracing::warn!(
            session,
            "a browser of a grid could not be given back for a day; the grid ends what nobody uses"
        );
        file.remove().await;
    }
}

/// `$XDG_STATE_HOME/tabmux/leases`.
#[cfg(not(test))]
fn folder() -> PathBuf {
    crate::saved_state::state_home().join("leases")
}

/// Tests leave the folder of their user alone.
#[cfg(test)]
pub(super) fn folder() -> PathBuf {
    std::env::temp_dir().join("tabmux-tests-leases")
}

/// The file gets its name only once it is complete and locked, so that nobody takes it for one of a killed daemon.
fn write(folder: &Path, contents: &Contents) -> io::Result<LeaseFile> {
    private_folders().recursive(true).create(folder)?;
    let path = folder.join(format!("{}.{ENDING}", contents.session));
    let draft = folder.join(format!("{}.new", contents.session));
    let mut file = OpenOptions::new()
        .create_new(true)
        .write(true)
        .private()
        .refusing(Refused::Links)
        .open(&draft)?;
    let written = file
        .try_lock()
        .map_err(io::Error::from)
        .and_then(|()| file.write_all(serde_json::to_string(contents)?.as_bytes()))
        .and_then(|()| fs::rename(&draft, &path));
    match written {
        Ok(()) => Ok(LeaseFile { path, lock: file }),
        Err(error) => {
            let _ = fs::remove_file(draft);
            Err(error)
        }
    }
}

/// All files, also those of living processes. At most [`MOST`].
fn find(folder: &Path) -> Vec<(PathBuf, Contents)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let files = paths.filter(|path| path.extension().is_some_and(|it| it == ENDING));
    let files = files.filter_map(|path| {
        let mut text = String::new();
        let file = open(&path)?;
        file.take(LONGEST).read_to_string(&mut text).ok()?;
        let contents = serde_json::from_str(&text).ok()?;
        Some((path, contents))
    });
    files.take(MOST).collect()
}

/// Locks a file, unless its process lives.
fn lock(path: PathBuf) -> Option<LeaseFile> {
    let lock = open(&path)?;
    lock.try_lock().ok()?;
    Some(LeaseFile { path, lock })
}

fn open(path: &Path) -> Option<File> {
    let mut options = OpenOptions::new();
    let options = options.read(true).refusing(Refused::Links);
    options.open(path).ok()
}

const ENDING: &str = "json";
const LONGEST: u64 = 64 * 1024;
/// Given back at a time.
const MOST: usize = 200;
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[cfg(test)]
mod tests {
    use super::*;
    use tabmux_testkit::{FixtureServer, Response};

    fn contents(session: &str) -> Contents {
        Contents {
            grid: "http://hub:4444".into(),
            session: session.into(),
            login: false,
        }
    }

    fn names(found: &[(PathBuf, Contents)]) -> Vec<&str> {
        found.iter().map(|(_, it)| it.session.as_str()).collect()
    }

    #[test]
    fn a_file_can_be_locked_once_its_process_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let file = write(folder.path(), &contents("one")).unwrap();
        let path = file.path.clone();
        assert_eq!(names(&find(folder.path())), ["one"]);
        assert!(lock(path.clone()).is_none(), "its process lives");
        drop(file);
        let locked = lock(path.clone()).unwrap();
        assert!(lock(path.clone()).is_none(), "another daemon gives it back");
        drop(locked);
        assert!(lock(path).is_some());
        fs::write(folder.path().join("two.json"), "{").unwrap();
        fs::write(folder.path().join("three.new"), "{}").unwrap();
        assert_eq!(names(&find(folder.path())), ["one"]);
    }

    /// Another process may look for files at any time while one is written.
    #[test]
    fn a_file_that_is_being_written_is_neither_found_nor_lockable() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().to_owned();
        let (done, ended) = std::sync::mpsc::channel::<()>();
        let looking = std::thread::spawn(move || {
            while ended.try_recv().is_err() {
                for (path, _) in find(&place) {
                    assert!(lock(path).is_none());
                }
            }
        });
        let files: Vec<_> = (0..200)
            .map(|number| write(folder.path(), &contents(&number.to_string())).unwrap())
            .collect();
        done.send(()).unwrap();
        looking.join().unwrap();
        assert!(files.iter().all(|file| file.path.exists()));
    }

    #[tokio::test]
    async fn a_grid_that_does_not_answer_keeps_no_other_from_its_sessions() {
        let server = FixtureServer::start();
        server.hang("/dead/session/one");
        let ok = Response::new(200, "application/json", "{\"value\":null}");
        server.route("/living/session/two", ok);
        for (grid, session) in [("dead", "one"), ("living", "two")] {
            let contents = Contents {
                grid: server.url(grid),
                session: session.into(),
                login: true,
            };
            write(&folder(), &contents).unwrap();
        }
        let hub = |grid: &str| Hub::of(&format!("grid+{}", server.url(grid)).into()).unwrap();
        let dead = tokio::spawn(release_orphans_of(hub("dead")));
        server.wait_for_request("/dead/session/one").await;
        release_orphans_of(hub("living")).await;
        assert_eq!(server.count("/living/session/two"), 1);
        assert!(!folder().join("two.json").exists());
        dead.abort();
        fs::remove_file(folder().join("one.json")).unwrap();
    }
}
