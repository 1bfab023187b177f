//! Everything in tabmux that depends on the operating system.
//!
//! No other crate of the product uses `std::os`, `rustix`, `libc` or `/proc`; `cargo xtask tidy` checks it. So this
//! crate is what a port to another system has to provide, and the documentation of its items is the contract.
//! `docs/platforms.md` says which systems are tested, and what is planned for Windows.
//!
//! # Contract
//! - [`user`]: identities of users can be compared, and one of them may do everything.
//! - [`files`]: a file or folder can be created so that only this user can access it; links and pipes in its place
//!   are noticed; whose it is and whether others can access it can be asked.
//! - [`socket`]: a local stream socket with a path, which only this user can open, and whose two ends learn each
//!   other's user from the system.
//! - [`connection`]: whose process is at the other end of a loopback connection, if the system tells.
//! - [`process`]: a program is started in a group that signals to ours do not reach, and is ended with all that it
//!   started; what is known about other processes is optional.
//! - [`pipes`]: a program is started with two extra pipes, and our own standard streams are awaited.
//! - [`signals`]: the request to end this process is awaited.
//! - [`limits`]: this process may open many files, and what it starts has the limits from before.
//! - [`folders`]: where a user's short-lived files such as sockets belong.
//!
//! Locks are not here: `File::try_lock` of the standard library has the same meaning on all systems. A lock ends with
//! the process that holds it.
//!
//! What a system does not tell is `None` or an empty list, and callers go on without it.

#[cfg(not(unix))]
compile_error!("tabmux needs a Unix system; docs/platforms.md says what is missing for others");

pub mod connection;
pub mod files;
pub mod folders;
pub mod limits;
pub mod pipes;
pub mod process;
pub mod signals;
pub mod socket;
pub mod user;

use std::ffi::OsStr;
use std::time::Duration;

/// The processor time of this thread so far. Unlike wall time, it does not depend on how busy the machine is.
pub fn thread_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_nanos(nanos)
}

/// The rest of a text of the system, which may be no UTF-8, after a beginning.
pub fn strip_prefix<'a>(text: &'a OsStr, prefix: &str) -> Option<&'a OsStr> {
    use std::os::unix::ffi::OsStrExt;
    let rest = text.as_bytes().strip_prefix(prefix.as_bytes())?;
    Some(OsStr::from_bytes(rest))
}

/// Whether this error says that the machine does not have this kind of network.
pub fn is_without_network(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(libc::EAFNOSUPPORT)
}
