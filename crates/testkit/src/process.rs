//! Running processes and their memory, read from `/proc`.

use crate::PATIENCE;
use rustix::process::{Pid, Resource, Rlimit, Signal};
use rustix::process::{getrlimit, kill_process, kill_process_group, setrlimit};
use std::{collections::HashSet, fs, time::Duration};

/// One living process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its parent's id.
    pub parent: u32,
    /// Its process group.
    pub group: u32,
    /// Its command line, arguments separated by blanks.
    pub command: String,
}

/// Every living process (zombies are dead).
pub fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(read_process)
        .collect()
}

/// The processes, this one excepted, whose command line contains `needle`.
pub fn processes_with(needle: &str) -> Vec<Process> {
    let own = std::process::id();
    let mut found = processes();
    found.retain(|process| process.pid != own && process.command.contains(needle));
    found
}

/// The living processes of a process group.
pub(crate) fn processes_in_group(group: u32) -> Vec<Process> {
    let mut found = processes();
    found.retain(|process| process.group == group);
    found
}

/// The living children, grandchildren and so on of `pid`.
pub fn descendants(pid: u32) -> Vec<Process> {
    let all = processes();
    let mut family = HashSet::from([pid]);
    loop {
        let before = family.len();
        for process in &all {
            if family.contains(&process.parent) {
                family.insert(process.pid);
            }
        }
        if family.len() == before {
            break;
        }
    }
    family.remove(&pid);
    all.into_iter()
        .filter(|process| family.contains(&process.pid))
        .collect()
}

/// How many dead children of `pid` were never reaped.
pub fn zombies_of(pid: u32) -> usize {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let stats = entries.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    let is_zombie = |stat: &String| {
        let fields = stat.rsplit_once(") ").map(|(_, fields)| fields);
        fields.is_some_and(|fields| fields.starts_with(&format!("Z {pid} ")))
    };
    stats.filter(is_zombie).count()
}

/// Whether a process of that id lives.
pub fn is_alive(pid: u32) -> bool {
    read_process(pid).is_some()
}

/// Waits until no process has `needle` in its command line.
pub async fn wait_until_none_with(needle: &str) {
    wait_until_empty(&format!("processes with `{needle}`"), || {
        processes_with(needle)
    })
    .await;
}

/// Waits until a process group is empty.
pub async fn wait_until_group_is_gone(group: u32) {
    wait_until_empty(&format!("process group {group}"), || {
        processes_in_group(group)
    })
    .await;
}

/// Waits until none of these processes lives.
pub async fn wait_until_gone(pids: &[u32]) {
    wait_until_empty(&format!("processes {pids:?}"), || {
        pids.iter().copied().filter_map(read_process).collect()
    })
    .await;
}

/// The resident memory of a process in bytes.
pub fn resident_bytes(pid: u32) -> Option<u64> {
    status_bytes(pid, "VmRSS:")
}

/// The peak resident memory of a process since it began, or since [`reset_peak`].
pub fn peak_bytes(pid: u32) -> Option<u64> {
    status_bytes(pid, "VmHWM:")
}

/// Measures the peak of a process's memory from now on.
pub fn reset_peak(pid: u32) {
    // The kernel's documentation of `clear_refs`: 5 sets the peak to what is resident now.
    fs::write(format!("/proc/{pid}/clear_refs"), "5").expect("the process is ours");
}

fn status_bytes(pid: u32, field: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Raises this process's limit of open files as far as the system permits.
pub fn raise_file_limit() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit {
        current: maximum,
        maximum,
    };
    let _ = setrlimit(Resource::Nofile, limit);
}

/// Kills a process with `SIGKILL`, as a crash would.
pub fn kill_hard(pid: u32) {
    let _ = kill_process(as_pid(pid), Signal::KILL);
}

/// Stops a process (`SIGSTOP`) until it is thawed.
pub fn freeze(pid: u32) {
    let _ = kill_process(as_pid(pid), Signal::STOP);
}

/// Resumes a process that was stopped.
pub fn thaw(pid: u32) {
    let _ = kill_process(as_pid(pid), Signal::CONT);
}

/// Kills a whole process group with `SIGKILL`.
pub(crate) fn kill_group_hard(group: u32) {
    let _ = kill_process_group(as_pid(group), Signal::KILL);
}

fn as_pid(id: u32) -> Pid {
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw);
    pid.expect("a process has a positive id")
}

// The kernel reports the end of a process to its parent only, so this has to poll.
async fn wait_until_empty(what: &str, look: impl Fn() -> Vec<Process>) {
    let mut ticks = tokio::time::interval(Duration::from_millis(10));
    let emptied = async {
        loop {
            ticks.tick().await;
            if look().is_empty() {
                return;
            }
        }
    };
    if tokio::time::timeout(PATIENCE, emptied).await.is_err() {
        panic!("{what} still there after {PATIENCE:?}: {:#?}", look());
    }
}

fn read_process(pid: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may itself contain blanks and parentheses.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    match fields.next()? {
        "X" => return None,
        // The first thread has ended. The others may still hold the files and sockets of the process.
        "Z" if threads(pid) <= 1 => return None,
        _ => {}
    }
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).replace('\0', " ");
    Some(Process {
        pid,
        parent,
        group,
        command: command.trim_end().to_owned(),
    })
}

fn threads(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn this_process_is_alive_and_has_a_size() {
        let own = std::process::id();
        assert!(is_alive(own));
        let resident = resident_bytes(own).unwrap();
        assert!(resident > 100_000);
        assert!(peak_bytes(own).unwrap() >= resident);
    }

    #[tokio::test]
    async fn a_child_is_seen_while_it_lives_and_not_after() {
        let mut child = Command::new("cat")
            .args(["-", "/dev/null/tabmux-testkit-needle"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        assert!(
            descendants(std::process::id())
                .iter()
                .any(|process| process.pid == child.id())
        );
        drop(child.stdin.take());
        wait_until_none_with("tabmux-testkit-needle").await;
        wait_until_gone(&[child.id()]).await;
        child.wait().unwrap();
    }

    #[tokio::test]
    async fn a_group_is_gone_after_it_was_killed() {
        use std::os::unix::process::CommandExt as _;
        let mut child = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        assert_eq!(processes_in_group(child.id()).len(), 1);
        kill_group_hard(child.id());
        wait_until_group_is_gone(child.id()).await;
        child.wait().unwrap();
    }
}
