//! The user of this process.

/// The id of the user we act as.
pub(crate) fn own_uid() -> u32 {
    // SAFETY: geteuid has no preconditions and cannot fail.
    #[expect(unsafe_code, reason = "std offers no way to ask for the user id")]
    unsafe {
        libc::geteuid()
    }
}
