//! The user that this process runs as.

/// The id of that user.
pub fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether that user may do everything, so that Chrome's sandbox does not start.
pub fn is_root() -> bool {
    own_uid() == ROOT
}

/// The user who may do everything.
pub const ROOT: u32 = 0;
