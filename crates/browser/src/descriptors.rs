//! How many file descriptors a process may have: as many as possible for the daemon, and as before for what
//! it starts.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

/// The limit before it was raised.
static BEFORE: OnceLock<Rlimit> = OnceLock::new();

/// Raises this process's limit as far as it may be.
pub fn raise() {
    let before = BEFORE.get_or_init(|| getrlimit(Resource::Nofile));
    let wanted = [before.maximum, Some(MOST_ON_MACOS)];
    let raised = wanted.into_iter().any(|current| {
        let limit = Rlimit {
            current,
            maximum: before.maximum,
        };
        setrlimit(Resource::Nofile, limit).is_ok()
    });
    if !raised {
        tracing::warn!("the limit of file descriptors could not be raised");
    }
    let now = getrlimit(Resource::Nofile).current;
    if now.is_some_and(|now| now < ENOUGH) {
        tracing::warn!(
            limit = now,
            "there are few file descriptors; `ulimit -Hn` raises the limit"
        );
    }
}

/// What is started has the limit that we were started with: programs that use `select` break above 1,024, and
/// others close as many descriptors as there might be.
pub fn restore_in(command: &mut Command) {
    let Some(before) = BEFORE.get().copied() else {
        return;
    };
    let restore = move || Ok(setrlimit(Resource::Nofile, before)?);
    // SAFETY: between fork and exec only a system call is made, with values that were copied before.
    #[expect(unsafe_code, reason = "std cannot set limits of what it starts")]
    unsafe {
        command.pre_exec(restore);
    }
}

/// There, no limit is given as the highest one, and this is the highest that is taken.
const MOST_ON_MACOS: u64 = 10_240;

/// The sockets of pages, extensions and clients, their browsers, and as much again.
const ENOUGH: u64 = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_started_has_the_limit_from_before() {
        let limit = |soft: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", &format!("ulimit -{soft}n")]);
            restore_in(&mut command);
            String::from_utf8(command.output().unwrap().stdout).unwrap()
        };
        let hard = getrlimit(Resource::Nofile).maximum;
        let lower = Rlimit {
            current: Some(200),
            maximum: hard,
        };
        setrlimit(Resource::Nofile, lower).unwrap();
        raise();
        assert_eq!(getrlimit(Resource::Nofile).current, hard);
        assert_eq!(limit("S").trim(), "200");
        assert_ne!(limit("H").trim(), "200");
    }
}
