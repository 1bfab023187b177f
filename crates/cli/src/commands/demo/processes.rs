//! Our processes. Where the system does not tell, the demo prints nothing about them.

use std::thread;
use std::time::{Duration, Instant};
use tabmux_platform::process::{self, running_parent};

/// The resident memory of a process, in megabytes.
pub(super) fn resident_megabytes(pid: u32) -> Option<f64> {
    let kilobytes = u32::try_from(process::resident_kilobytes(pid)?).ok()?;
    Some(f64::from(kilobytes) / 1024.0)
}

/// All descendants of `pid`.
pub(super) fn descendants(pid: u32) -> Vec<u32> {
    let all: Vec<(u32, u32)> = process::all()
        .filter_map(|pid| Some((pid, running_parent(pid)?)))
        .collect();
    let mut family = vec![pid];
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        let children = all
            .iter()
            .filter(|(pid, of)| *of == parent && !family.contains(pid));
        let children: Vec<u32> = children.map(|(pid, _)| *pid).collect();
        family.extend(children);
        next += 1;
    }
    family.split_off(1)
}

/// Which of these processes still run after a moment.
pub(super) fn still_running(pids: &[u32]) -> Vec<u32> {
    let deadline = Instant::now() + MOMENT;
    loop {
        let left: Vec<u32> = pids
            .iter()
            .copied()
            .filter(|&pid| running_parent(pid).is_some())
            .collect();
        if left.is_empty() || Instant::now() >= deadline {
            return left;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

const MOMENT: Duration = Duration::from_secs(2);

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::{Command, Stdio, id};

    #[test]
    fn a_child_is_found_while_it_runs() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        assert!(descendants(id()).contains(&child.id()));
        assert!(resident_megabytes(id()).is_some_and(|size| size > 0.1));
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(still_running(&[child.id()]).is_empty());
    }
}
