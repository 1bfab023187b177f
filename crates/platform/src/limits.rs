//! The limit of open files: as high as possible for the daemon, unchanged for the processes it starts.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

/// The limit before we raised it.
static BEFORE: OnceLock<Rlimit> = OnceLock::new();

/// Raises this process's limit as far as possible.
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
        tracing::warn!("could not raise the limit of open files");
    }
    let now = getrlimit(Resource::Nofile).current;
    if now.is_some_and(|now| now < ENOUGH) {
        tracing::warn!(
            limit = now,
            "the limit of open files is low; raise it with `ulimit -Hn`"
        );
    }
}

/// Gives a child process the limit that we were started with: programs that use `select` break above 1,024, and
/// others close every possible descriptor one by one.
pub fn restore_in(command: &mut Command) {
    let Some(before) = BEFORE.get().copied() else {
        return;
    };
    let restore = move || Ok(setrlimit(Resource::Nofile, before)?);
    // SAFETY: between fork and exec this makes one system call only, with values that were copied before.
    #[expect(
        unsafe_code,
        reason = "pre_exec is the only way to set the limits of a child process"
    )]
    unsafe {
        command.pre_exec(restore);
    }
}

/// On macOS the hard limit can be "unlimited", but no higher value than this is accepted.
const MOST_ON_MACOS: u64 = 10_240;

/// Enough for the sockets of pages, extensions, clients and their browsers, twice.
const ENOUGH: u64 = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_process_has_the_original_limit() {
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
