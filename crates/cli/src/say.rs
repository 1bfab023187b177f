//! What commands tell people. Whoever closed the pipe has read enough, and that is no failure.

use std::io::{self, ErrorKind, Write};

/// Prints this and a line's end.
pub(crate) fn say(text: impl AsRef<str>) -> io::Result<()> {
    print(format!("{}\n", text.as_ref()))
}

/// Prints this.
pub(crate) fn print(text: impl AsRef<[u8]>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let printed = out.write_all(text.as_ref()).and_then(|()| out.flush());
    match printed {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

/// Says what went wrong. Where nobody can hear even that, there is nothing left to do.
pub(crate) fn complain(text: impl AsRef<str>) {
    let _ = writeln!(io::stderr(), "{}", text.as_ref());
}
