//! The user that this process runs as.

/// The id of that user.
pub fn own_uid() -> u32 {
    // SAFETY: geteuid has no preconditions and cannot fail.
    #[expect(unsafe_code, reason = "std offers no way to ask for the user id")]
    unsafe {
        libc::geteuid()
    }
}
