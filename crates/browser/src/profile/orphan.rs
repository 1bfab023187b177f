//! A browser whose tabmux was killed, and which still uses the profile that the next browser needs.

use super::{ProfileChoice, data_home, holder_of};
use crate::files::FileThreads;
use std::path::Path;
use std::time::Duration;
use tabmux_platform::process::{command_line, kill_if, name, parent};
use tokio::time::Instant;

/// Waits while such a browser uses the profile: a browser that starts before that would find it locked. It exits by
/// itself and saves its cookies. If it needs too long, it is killed.
pub(crate) async fn wait_for_orphan(choice: &ProfileChoice) {
    let path = match choice {
        ProfileChoice::Temporary => return,
        ProfileChoice::At(path) => std::path::absolute(path).unwrap_or_else(|_| path.clone()),
        ProfileChoice::Ours => data_home().join("profile"),
    };
    let begun = Instant::now();
    let threads = FileThreads::new();
    while begun.elapsed() < LIMIT {
        let path = path.clone();
        let is_late = begun.elapsed() >= PATIENCE;
        let held = threads.run(move || is_held(&path, is_late));
        if !held.await.unwrap_or(false) {
            return;
        }
        // The kernel reports the end of a process to its parent only.
        tokio::time::sleep(PAUSE).await;
    }
}

fn is_held(profile: &Path, is_late: bool) -> bool {
    let orphan = holder_of(profile).filter(|&pid| is_orphan(pid));
    if let Some(pid) = orphan.filter(|_| is_late) {
        kill(pid, profile);
    }
    orphan.is_some()
}

/// Whether the program that started this browser is gone: then its parent is not a tabmux process. If that cannot be
/// determined, assumes that it is alive.
fn is_orphan(browser: u32) -> bool {
    match parent(browser) {
        None => false,
        Some(0 | 1) => true,
        Some(parent) => name(parent) != name(std::process::id()),
    }
}

/// Kills this process if it is a browser that a tabmux started with this profile.
fn kill(browser: u32, profile: &Path) {
    if kill_if(browser, || is_from_tabmux(browser, profile)) {
        tracing::info!(browser, "killed a browser that outlived its tabmux");
    }
}

/// A browser of a person has no pipe for DevTools.
fn is_from_tabmux(browser: u32, profile: &Path) -> bool {
    let Some(words) = command_line(browser) else {
        return false;
    };
    let folder = format!("--user-data-dir={}", profile.display());
    let has = |flag: &str| words.iter().any(|word| word == flag);
    has("--remote-debugging-pipe") && has(&folder)
}

/// A browser with many tabs needs up to three seconds to exit, and its agents wait for the next one.
const PATIENCE: Duration = Duration::from_millis(1_500);
const LIMIT: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::{Command, Stdio};
    use tempfile::TempDir;

    /// A profile whose lock names this process.
    fn profile_of(pid: u32) -> (TempDir, ProfileChoice) {
        let folder = tempfile::tempdir().unwrap();
        lock(folder.path(), pid);
        let choice = ProfileChoice::At(folder.path().to_owned());
        (folder, choice)
    }

    fn lock(profile: &Path, pid: u32) {
        std::os::unix::fs::symlink(format!("host-{pid}"), profile.join("SingletonLock")).unwrap();
    }

    /// A process with these arguments whose parent has exited. It ends when the profile's pipe is gone.
    fn orphan_in(profile: &Path, arguments: &[&str]) -> u32 {
        let pipe = profile.join("pipe");
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        let shell = Command::new("sh")
            .args([
                "-c",
                r#"sh -c 'read line < "$0"' "$@" >/dev/null 2>&1 & echo $!"#,
                "sh",
            ])
            .arg(&pipe)
            .args(arguments)
            .output();
        let pid = String::from_utf8(shell.unwrap().stdout).unwrap();
        lock(profile, pid.trim().parse().unwrap());
        pid.trim().parse().unwrap()
    }

    fn end(profile: &Path) {
        fs::write(profile.join("pipe"), "end").unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_browser_whose_tabmux_lives_is_not_waited_for() {
        // A child of ours: its parent is a tabmux process, and alive.
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let (_folder, choice) = profile_of(child.id());
        let begun = Instant::now();
        wait_for_orphan(&choice).await;
        assert_eq!(begun.elapsed(), Duration::ZERO);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[tokio::test]
    async fn an_orphan_that_exits_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pid = orphan_in(folder.path(), &[]);
        assert!(is_orphan(pid));
        let choice = ProfileChoice::At(folder.path().to_owned());
        tokio::join!(wait_for_orphan(&choice), async { end(folder.path()) });
        assert_eq!(holder_of(folder.path()), None);
    }

    #[tokio::test(start_paused = true)]
    async fn an_orphan_that_stays_is_killed_if_a_tabmux_started_it() {
        let folder = tempfile::tempdir().unwrap();
        let data = format!("--user-data-dir={}", folder.path().display());
        orphan_in(folder.path(), &["--remote-debugging-pipe", &data]);
        wait_for_orphan(&ProfileChoice::At(folder.path().to_owned())).await;
        while holder_of(folder.path()).is_some() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn another_program_that_holds_the_profile_is_not_killed() {
        for arguments in [
            &["--remote-debugging-pipe", "--user-data-dir=/other"],
            &["--a", "--b"],
        ] {
            let folder = tempfile::tempdir().unwrap();
            let pid = orphan_in(folder.path(), arguments);
            wait_for_orphan(&ProfileChoice::At(folder.path().to_owned())).await;
            kill(pid, folder.path());
            assert_eq!(holder_of(folder.path()), Some(pid));
            // It still reads: a killed process would not.
            end(folder.path());
        }
    }
}
