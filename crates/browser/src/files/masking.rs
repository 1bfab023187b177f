//! Files that tools write have no secret values in them, because agents can read them. Pictures, videos and PDFs stay as
//! they are.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use tabmux_text::secrets;

/// Masks secret values in a file that is complete. Without such a value in it, only reads it.
pub(super) fn mask(file: &mut File) -> io::Result<()> {
    if !secrets::exist() || is_binary(file)? {
        return Ok(());
    }
    if file.metadata()?.len() <= AT_ONCE {
        return mask_text(file);
    }
    file.rewind()?;
    if !secrets::are_in_bytes(&*file)? {
        return Ok(());
    }
    // A file without a name: nobody else can open it, and it goes away with this handle.
    let mut copy = tempfile::tempfile()?;
    file.rewind()?;
    secrets::copy_masked(&*file, &copy)?;
    copy.rewind()?;
    file.rewind()?;
    file.set_len(0)?;
    io::copy(&mut copy, file).map(drop)
}

/// Masks a file that is read as a whole: values behind several escapes are found, too.
fn mask_text(file: &mut File) -> io::Result<()> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    if let Cow::Owned(masked) = secrets::masked(&text) {
        file.rewind()?;
        file.set_len(0)?;
        file.write_all(masked.as_bytes())?;
    }
    Ok(())
}

fn is_binary(file: &mut File) -> io::Result<bool> {
    let mut start = Vec::new();
    file.rewind()?;
    file.take(1_024).read_to_end(&mut start)?;
    Ok(start.contains(&0) || start.starts_with(b"%PDF-"))
}

/// Larger files, such as heap snapshots, are masked in a stream.
const AT_ONCE: u64 = 16_000_000;
