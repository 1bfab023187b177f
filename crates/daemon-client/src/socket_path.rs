//! Where the daemon's socket is, and whether its folder is safe.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tabmux_platform::files::{is_own, is_shared_folder, others_can_write, private_folders};
use tabmux_platform::folders::runtime_folder;
use tabmux_platform::socket::LONGEST_PATH;
use tabmux_protocol::wire::PROTOCOL;

/// The socket of this user's daemon, and the lock that its daemon holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketPath {
    socket: PathBuf,
}

/// Why a path cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SocketPathError {
    /// Other users may control the folder.
    #[error(
        "{path} cannot hold the daemon's socket: {why}. Remove it, or choose another path with --socket."
    )]
    Unsafe {
        /// The folder.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The folder cannot be created or read.
    #[error("{path} cannot be used: {error}. Choose another path with --socket.")]
    Io {
        /// The folder.
        path: String,
        /// What the system said.
        error: io::Error,
    },
    /// The path is too long for a socket.
    #[error(
        "{path} is too long for a socket ({most} bytes at most). Choose another path with --socket."
    )]
    TooLong {
        /// The path.
        path: String,
        /// How long it may be.
        most: usize,
    },
}

impl SocketPath {
    /// The named path, or this user's default: in `$XDG_RUNTIME_DIR`, else in `/run/user/UID`, else
    /// in `~/.local/state`.
    pub fn choose(named: Option<PathBuf>) -> Self {
        let socket = named.unwrap_or_else(|| {
            let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
            default_folder(runtime, runtime_folder, std::env::home_dir()).join(file_name(PROTOCOL))
        });
        Self { socket }
    }

    /// The socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The file that the running daemon has locked.
    pub fn lock(&self) -> PathBuf {
        self.sibling("lock")
    }

    /// A file of this daemon, next to its socket. Its name begins with the socket's, since several daemons may
    /// share a folder.
    pub fn sibling(&self, what: &str) -> PathBuf {
        let mut name = self.socket.clone().into_os_string();
        name.push(".");
        name.push(what);
        name.into()
    }

    /// Creates the folder if it is missing, and checks that no other user can put a socket there.
    pub fn prepare(&self) -> Result<(), SocketPathError> {
        if self.socket.as_os_str().len() > LONGEST_PATH {
            let path = self.socket.display().to_string();
            return Err(SocketPathError::TooLong {
                path,
                most: LONGEST_PATH,
            });
        }
        let folder = match self.socket.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let io = |error| SocketPathError::Io {
            path: folder.display().to_string(),
            error,
        };
        let made = private_folders().recursive(true).create(folder);
        match made {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(io(error)),
            _ => {}
        }
        let meta = fs::symlink_metadata(folder).map_err(io)?;
        check(&meta).map_err(|why| SocketPathError::Unsafe {
            path: folder.display().to_string(),
            why,
        })
    }
}

fn check(folder: &fs::Metadata) -> Result<(), &'static str> {
    if folder.file_type().is_symlink() {
        return Err("it is a link");
    }
    if !folder.is_dir() {
        return Err("it is not a folder");
    }
    // In a sticky folder such as /tmp other users cannot replace our socket; both sides also check
    // the user of the other process.
    if is_shared_folder(folder) {
        return Ok(());
    }
    if !is_own(folder) {
        return Err("it belongs to another user");
    }
    if others_can_write(folder) {
        return Err("others may write to it");
    }
    Ok(())
}

/// Daemons of different protocol versions use different sockets, so that they can run side by side.
fn file_name(protocol: u32) -> String {
    match protocol {
        FIRST_RELEASED => "daemon.sock".to_owned(),
        other => format!("daemon-{other}.sock"),
    }
}

/// The folder of this user's daemon. Some clients start tabmux without most of its environment and must find the same
/// folder, so the fallback is the system's usual `$XDG_RUNTIME_DIR`. Never the temporary folder: other users could
/// create ours first.
fn default_folder(
    runtime: Option<PathBuf>,
    system: impl FnOnce() -> Option<PathBuf>,
    home: Option<PathBuf>,
) -> PathBuf {
    let runtime = runtime.filter(|runtime| runtime.is_absolute());
    match runtime.or_else(system) {
        Some(runtime) => runtime.join("tabmux"),
        // Without a home this path cannot be used, and `prepare` says why.
        None => home.unwrap_or_default().join(".local/state/tabmux"),
    }
}

/// The protocol version whose socket has no number in its name.
const FIRST_RELEASED: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use tabmux_platform::folders::runtime_folder_at;

    fn socket_in(folder: &Path) -> SocketPath {
        SocketPath::choose(Some(folder.join("d.sock")))
    }

    /// Spec: security 12.
    #[test]
    fn a_missing_folder_is_made_for_us_alone() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("run");
        socket_in(&folder).prepare().unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        socket_in(&folder).prepare().unwrap();
    }

    #[test]
    fn a_stripped_environment_finds_the_folder_of_the_usual_one() {
        let home = tempfile::tempdir().unwrap();
        let system = home.path().join("run");
        let choose = |runtime: Option<&Path>| {
            let runtime = runtime.map(Path::to_owned);
            default_folder(
                runtime,
                || runtime_folder_at(&system),
                Some(home.path().into()),
            )
        };
        let in_home = home.path().join(".local/state/tabmux");
        assert_eq!(choose(None), in_home);
        assert_eq!(choose(Some(Path::new("relative"))), in_home);
        fs::create_dir(&system).unwrap();
        fs::set_permissions(&system, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(choose(None), in_home, "others may look into it");
        fs::set_permissions(&system, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(choose(None), system.join("tabmux"));
        assert_eq!(choose(None), choose(Some(&system)));
        let named = home.path().join("named");
        assert_eq!(choose(Some(&named)), named.join("tabmux"));
    }

    /// Spec: security 12.
    #[test]
    fn links_files_and_open_folders_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let real = home.path().join("real");
        fs::create_dir(&real).unwrap();
        let link = home.path().join("link");
        symlink(&real, &link).unwrap();
        assert!(
            socket_in(&link)
                .prepare()
                .unwrap_err()
                .to_string()
                .contains("it is a link")
        );
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(
            socket_in(&file)
                .prepare()
                .unwrap_err()
                .to_string()
                .contains("not a folder")
        );
        fs::set_permissions(&real, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(
            socket_in(&real)
                .prepare()
                .unwrap_err()
                .to_string()
                .contains("others may write")
        );
        fs::set_permissions(&real, fs::Permissions::from_mode(0o1777)).unwrap();
        socket_in(&real).prepare().unwrap();
    }

    /// Spec: security 31.
    #[test]
    fn our_socket_is_daemon_sock_and_later_versions_have_their_own() {
        assert_eq!(file_name(PROTOCOL), "daemon.sock");
        assert_eq!(file_name(5), "daemon-5.sock");
        assert_eq!(file_name(6), "daemon-6.sock");
    }

    #[test]
    fn daemons_in_one_folder_share_no_file() {
        let names = [
            "a.sock",
            "b.sock",
            "a.other",
            "daemon.sock",
            "daemon-3.sock",
        ];
        let paths = names.map(|name| SocketPath::choose(Some(Path::new("/run").join(name))));
        for what in ["lock", "sessions.json", "audit.jsonl"] {
            let files = paths.iter().map(|path| path.sibling(what));
            let files: std::collections::HashSet<_> = files.collect();
            assert_eq!(files.len(), names.len(), "{files:?}");
        }
    }

    #[test]
    fn a_path_that_no_socket_can_have_is_refused() {
        let long = PathBuf::from("/tmp").join("x".repeat(120));
        assert!(matches!(
            socket_in(&long).prepare(),
            Err(SocketPathError::TooLong { .. })
        ));
    }
}
