//! The user that this process runs as.

/// The id of that user.
pub fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}
