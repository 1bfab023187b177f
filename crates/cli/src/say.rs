//! Output for people. A closed pipe is not an error: the reader has seen enough.

use std::io::{self, ErrorKind, Write};

/// Prints the text and a line break.
pub(crate) fn say(text: impl AsRef<str>) -> io::Result<()> {
    print(format!("{}\n", text.as_ref()))
}

/// Prints the bytes.
pub(crate) fn print(text: impl AsRef<[u8]>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let printed = out.write_all(text.as_ref()).and_then(|()| out.flush());
    match printed {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

/// Prints an error. If standard error is closed too, the error is lost.
pub(crate) fn complain(text: impl AsRef<str>) {
    let _ = writeln!(io::stderr(), "{}", text.as_ref());
}
