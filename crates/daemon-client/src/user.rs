//! The user of this process.

/// The id of the user we act as.
pub(crate) fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}
