//! Other processes: groups of those that we started, and facts about any process.
//!
//! The facts are read from Linux's `/proc`. On other systems these functions return nothing.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process};
#[cfg(target_os = "linux")]
use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// Makes a program the first of its own process group: signals to our group do not reach it, and
/// [`kill_group`] ends it with everything that it starts.
pub fn own_group(command: &mut Command) {
    command.process_group(0);
}

/// Kills a process group. The process that it is named after must not have been reaped, or the number may mean
/// another one by now.
pub fn kill_group(first: u32) {
    if let Some(group) = as_pid(first) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Whether such a process exists, even one of another user.
pub fn is_alive(pid: u32) -> bool {
    as_pid(pid).is_some_and(|pid| matches!(test_kill_process(pid), Ok(()) | Err(Errno::PERM)))
}

/// The process that started this one.
pub fn own_parent() -> u32 {
    std::os::unix::process::parent_id()
}

/// Kills a process if it is still the one that `is_that_one` recognises: the number cannot pass to another process
/// between the check and the signal. Returns whether the signal was sent; where the system has no such handle, never.
#[cfg(target_os = "linux")]
pub fn kill_if(pid: u32, is_that_one: impl FnOnce() -> bool) -> bool {
    let Some(Ok(process)) = as_pid(pid).map(|pid| pidfd_open(pid, PidfdFlags::empty())) else {
        return false;
    };
    is_that_one() && pidfd_send_signal(&process, Signal::KILL).is_ok()
}

/// Without a handle for a process, another one could be killed.
#[cfg(not(target_os = "linux"))]
pub fn kill_if(_: u32, _: impl FnOnce() -> bool) -> bool {
    false
}

/// The name of a process's program.
pub fn name(pid: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim().to_owned())
}

/// The parent of a process.
pub fn parent(pid: u32) -> Option<u32> {
    status(pid, "PPid:")?.parse().ok()
}

/// The parent of a process that is still running. Zombies do not count as running.
pub fn running_parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain anything, even parentheses; the fields after it are regular.
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(parent)
}

/// The memory that a process has in use, in kilobytes.
pub fn resident_kilobytes(pid: u32) -> Option<u64> {
    status(pid, "VmRSS:")?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

/// The words of a process's command line.
pub fn command_line(pid: u32) -> Option<Vec<OsString>> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    Some(words(&bytes))
}

/// The variables of a process's environment, each as `NAME=value`.
pub fn environment(pid: u32) -> Option<Vec<OsString>> {
    let bytes = fs::read(format!("/proc/{pid}/environ")).ok()?;
    Some(words(&bytes))
}

/// The value of a variable in an environment.
pub fn variable(environment: &[OsString], name: &str) -> Option<OsString> {
    let value = |entry| crate::strip_prefix(crate::strip_prefix(entry, name)?, "=");
    let mut values = environment.iter().filter_map(|entry| value(entry));
    values.next().map(OsStr::to_owned)
}

/// The numbers of all processes that the system shows.
pub fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The numbers of the processes of this user.
pub fn all_own() -> impl Iterator<Item = u32> {
    all().filter(|pid| {
        let folder = fs::metadata(format!("/proc/{pid}"));
        folder.is_ok_and(|meta| meta.uid() == crate::user::own_uid())
    })
}

/// The paths of all sockets with a path that a program listens at, by the number that [`listening_socket`] needs.
pub fn listening_sockets() -> HashMap<u64, PathBuf> {
    let table = fs::read("/proc/net/unix");
    table.map(|table| listening(&table)).unwrap_or_default()
}

/// The first of these sockets that a process listens at.
pub fn listening_socket(pid: u32, sockets: &HashMap<u64, PathBuf>) -> Option<PathBuf> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let mut numbers = open.filter_map(|entry| {
        let target = fs::read_link(entry.ok()?.path()).ok()?;
        let number = target
            .to_str()?
            .strip_prefix("socket:[")?
            .strip_suffix(']')?;
        number.parse::<u64>().ok()
    });
    numbers.find_map(|number| sockets.get(&number).cloned())
}

fn as_pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

fn status(pid: u32, field: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix(field))?;
    Some(value.trim().to_owned())
}

fn words(bytes: &[u8]) -> Vec<OsString> {
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    let words = bytes.split(|byte| *byte == 0);
    words
        .map(|word| OsString::from_vec(word.to_vec()))
        .collect()
}

/// The path of each listening socket by its inode, from `/proc/net/unix`.
fn listening(table: &[u8]) -> HashMap<u64, PathBuf> {
    const LISTENS: &str = "00010000";
    let lines = table.split(|byte| *byte == b'\n').skip(1);
    let entry = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        let mut fields = line.split_ascii_whitespace();
        let is_listening = fields.nth(3) == Some(LISTENS);
        let number = fields.nth(2)?.parse().ok()?;
        let path = fields.next().filter(|path| path.starts_with('/'))?;
        is_listening.then(|| (number, PathBuf::from(path)))
    };
    lines.filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listening_sockets_are_read_from_the_table() {
        let table = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000: 00000002 00000000 00010000 0001 01 17 /run/user/7/tabmux/daemon-1.sock\n\
            0000: 00000003 00000000 00000000 0001 03 18 /run/user/7/tabmux/daemon-1.sock\n\
            0000: 00000002 00000000 00010000 0001 01 19 @abstract\n\
            0000: 00000003 00000000 00000000 0001 03 20\n";
        let found = listening(table);
        assert_eq!(
            found,
            HashMap::from([(17, "/run/user/7/tabmux/daemon-1.sock".into())])
        );
    }

    #[test]
    fn variables_are_read_by_exact_name() {
        let variables = words(b"XDISPLAY=:0\0DISPLAY=:1\0EMPTY=\0");
        let value = |name| variable(&variables, name);
        assert_eq!(value("DISPLAY"), Some(":1".into()));
        assert_eq!(value("EMPTY"), Some("".into()));
        assert_eq!(value("WAYLAND_DISPLAY"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_and_its_children_are_known() {
        use std::process::{Stdio, id};
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = child.id();
        assert!(is_alive(pid) && all_own().any(|own| own == pid));
        assert_eq!((parent(pid), running_parent(pid)), (Some(id()), Some(id())));
        assert_eq!(
            variable(&environment(id()).unwrap(), "PATH"),
            std::env::var_os("PATH")
        );
        assert!(!kill_if(pid, || false) && is_alive(pid));
        assert!(kill_if(pid, || name(pid).as_deref() == Some("cat")));
        child.wait().unwrap();
        assert!(!is_alive(pid) && !kill_if(pid, || true));
    }

    #[test]
    fn a_group_ends_with_all_that_it_started() {
        use std::io::Read as _;
        use std::process::Stdio;
        let mut command = Command::new("sh");
        command.args(["-c", "cat & echo started; wait"]);
        // The inner process keeps the output open until it ends.
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        own_group(&mut command);
        let mut child = command.spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        let mut begun = [0; 8];
        output.read_exact(&mut begun).unwrap();
        kill_group(child.id());
        output.read_to_end(&mut Vec::new()).unwrap();
        child.wait().unwrap();
    }
}
