//! The folder in which a launched browser keeps its state: ours by default, a temporary one on request.

mod orphan;

pub(crate) use orphan::wait_for_orphan;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tabmux_platform::files::{is_own, private_folder_permissions, private_folders};
use tabmux_platform::process::is_alive;

/// Which profile a launched browser should use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum ProfileChoice {
    /// Our own, kept between runs: `$XDG_DATA_HOME/tabmux/profile`.
    #[default]
    Ours,
    /// A temporary one, removed with the browser.
    Temporary,
    /// One that the user named.
    At(PathBuf),
}

/// A profile folder in use. A temporary one is removed on drop.
#[derive(Debug)]
pub struct Profile {
    path: PathBuf,
    temporary: bool,
    /// Where the browser's short-lived files are, if not in the profile.
    scratch: Option<PathBuf>,
    /// A notice for the user, such as that another profile is used.
    pub notice: Option<String>,
}

impl Profile {
    /// Prepares the folder. Falls back to a temporary one when another process uses ours.
    pub fn open(choice: &ProfileChoice) -> io::Result<Self> {
        match choice {
            ProfileChoice::Temporary => Self::temporary(),
            ProfileChoice::At(path) => {
                private_dir(path)?;
                clear_scratch(path);
                Ok(Self {
                    path: std::path::absolute(path)?,
                    temporary: false,
                    scratch: None,
                    notice: None,
                })
            }
            ProfileChoice::Ours => {
                let (path, holder) = ours();
                private_dir(&path)?;
                let Some(holder) = holder else {
                    clear_scratch(&path);
                    return Ok(Self {
                        path,
                        temporary: false,
                        scratch: None,
                        notice: None,
                    });
                };
                let notice = format!(
                    "The profile {} is in use by process {holder}; using a temporary profile.",
                    path.display()
                );
                let mut profile = Self::temporary()?;
                profile.notice = Some(notice);
                Ok(profile)
            }
        }
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A folder for the browser's short-lived files, if there can be one.
    pub(crate) fn scratch(&mut self) -> Option<PathBuf> {
        if let Some(scratch) = scratch_of(&self.path) {
            return private_dir(&scratch).is_ok().then_some(scratch);
        }
        self.scratch = short_scratch();
        self.scratch.clone()
    }

    /// Whether it is removed when its browser ends.
    pub(crate) fn is_temporary(&self) -> bool {
        self.temporary
    }

    fn temporary() -> io::Result<Self> {
        sweep(&std::env::temp_dir(), PREFIX);
        // The name contains our process id, so that a later run can tell whether it is stale.
        let path = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{}-", std::process::id()))
            .permissions(private_folder_permissions())
            .tempdir()?
            .keep();
        Ok(Self {
            path,
            temporary: true,
            scratch: None,
            notice: None,
        })
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        clear_scratch(&self.path);
        if let Some(scratch) = &self.scratch {
            remove(scratch);
        }
        if self.temporary {
            remove(&self.path);
        }
    }
}

/// The path of our own profile, and the process that uses it, if any.
pub fn ours() -> (PathBuf, Option<u32>) {
    let path = data_home().join("profile");
    let holder = holder_of(&path);
    (path, holder)
}

/// Removes folders with this name prefix whose owner process is dead.
fn sweep(folder: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|n| n.strip_prefix(prefix))
            .and_then(|n| n.split('-').next());
        let Some(owner) = owner.and_then(|pid| pid.parse::<u32>().ok()) else {
            continue;
        };
        if !is_alive(owner) && is_ours(&entry.path()) {
            remove(&entry.path());
        }
    }
}

fn remove(path: &Path) {
    // A dying browser may still be writing; the next run removes the rest.
    for _ in 0..3 {
        if fs::remove_dir_all(path).is_ok() || !path.exists() {
            return;
        }
    }
    tracing::debug!(path = %path.display(), "a temporary profile could not be removed");
}

/// Where a browser with this profile puts short-lived files. Chrome leaves them behind when it is killed; in here,
/// tabmux removes them. `None` if the path of the socket inside would be too long; then use [`short_scratch`].
fn scratch_of(profile: &Path) -> Option<PathBuf> {
    let scratch = profile.join("tabmux-tmp");
    let longest = scratch.as_os_str().len() + SOCKET_NAME.len();
    (longest <= LONGEST_SOCKET_PATH).then_some(scratch)
}

/// The same with a short path, for a browser whose profile has a long one. It is removed with the profile; what a
/// killed tabmux left behind, the next one removes.
fn short_scratch() -> Option<PathBuf> {
    let name = format!("{SCRATCH_PREFIX}{}-", std::process::id());
    let longest = LONGEST_SOCKET_PATH - SOCKET_NAME.len() - name.len() - "/XXXXXX".len();
    let folders = [std::env::temp_dir(), PathBuf::from("/tmp")];
    let mut short = folders
        .into_iter()
        .filter(|folder| folder.as_os_str().len() <= longest);
    short.find_map(|folder| {
        sweep(&folder, SCRATCH_PREFIX);
        let made = tempfile::Builder::new()
            .prefix(&name)
            .permissions(private_folder_permissions())
            .tempdir_in(folder);
        made.ok().map(tempfile::TempDir::keep)
    })
}

/// Removes what an earlier browser with this profile left behind, unless it still runs.
fn clear_scratch(profile: &Path) {
    if holder_of(profile).is_none()
        && let Some(scratch) = scratch_of(profile)
    {
        let _ = fs::remove_dir_all(scratch);
    }
}

/// Chrome marks a profile as in use by a link `SingletonLock` → `host-pid`.
fn holder_of(profile: &Path) -> Option<u32> {
    let target = fs::read_link(profile.join("SingletonLock")).ok()?;
    let pid = target.to_str()?.rsplit('-').next()?.parse().ok()?;
    is_alive(pid).then_some(pid)
}

fn is_ours(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir() && is_own(&meta))
}

/// Creates a folder that only this user can read, with its parents.
pub fn private_dir(path: &Path) -> io::Result<()> {
    private_folders().recursive(true).create(path)
}

/// `$XDG_DATA_HOME/tabmux`, or its default below the home folder.
pub fn data_home() -> PathBuf {
    std::env::var_os("XDG_DATA_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| std::env::home_dir().map(|home| home.join(".local/share")))
        .unwrap_or_else(std::env::temp_dir)
        .join("tabmux")
}

const PREFIX: &str = "tabmux-profile-";
const SCRATCH_PREFIX: &str = "tabmux-tmp-";
const SOCKET_NAME: &str = "/org.chromium.Chromium.XXXXXX/SingletonSocket";
const LONGEST_SOCKET_PATH: usize = 107;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_temporary_profile_is_removed_with_its_browser() {
        let profile = Profile::open(&ProfileChoice::Temporary).unwrap();
        let path = profile.path().to_owned();
        fs::write(path.join("state"), "x").unwrap();
        drop(profile);
        assert!(!path.exists());
    }

    #[test]
    fn a_named_profile_stays() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("mine");
        drop(Profile::open(&ProfileChoice::At(path.clone())).unwrap());
        assert!(path.is_dir());
    }

    #[test]
    fn profiles_of_dead_processes_are_swept_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let alive = folder
            .path()
            .join(format!("{PREFIX}{}-a", std::process::id()));
        // Process ids never get this high.
        let dead = folder.path().join(format!("{PREFIX}999999999-b"));
        let foreign = folder.path().join("something-else");
        for path in [&alive, &dead, &foreign] {
            fs::create_dir(path).unwrap();
        }
        sweep(folder.path(), PREFIX);
        assert!(alive.exists() && foreign.exists() && !dead.exists());
    }

    #[test]
    fn a_lock_of_a_dead_process_does_not_hold_a_profile() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(holder_of(folder.path()), None);
        let lock = folder.path().join("SingletonLock");
        std::os::unix::fs::symlink("host-999999999", &lock).unwrap();
        assert_eq!(holder_of(folder.path()), None);
        fs::remove_file(&lock).unwrap();
        std::os::unix::fs::symlink(format!("host-{}", std::process::id()), &lock).unwrap();
        assert_eq!(holder_of(folder.path()), Some(std::process::id()));
    }

    #[test]
    fn files_of_a_killed_browser_are_removed_at_the_next_start() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("mine");
        let open = || Profile::open(&ProfileChoice::At(path.clone())).unwrap();
        let litter = open().scratch().unwrap().join("org.chromium.Chromium.x1");
        private_dir(&litter).unwrap();
        let _again = open();
        assert!(!litter.exists());
    }

    #[test]
    fn a_long_profile_path_gets_a_short_temporary_folder() {
        let home = tempfile::tempdir().unwrap();
        let deep = home.path().join("x".repeat(80));
        assert_eq!(scratch_of(&deep), None);
        let mut profile = Profile::open(&ProfileChoice::At(deep)).unwrap();
        let scratch = profile.scratch().unwrap();
        assert!(scratch.as_os_str().len() + SOCKET_NAME.len() <= LONGEST_SOCKET_PATH);
        assert_eq!(
            fs::metadata(&scratch).unwrap().permissions().mode() & 0o777,
            0o700
        );
        private_dir(&scratch.join("org.chromium.Chromium.x1")).unwrap();
        drop(profile);
        assert!(!scratch.exists());
    }
}
