//! A file that is written line by line and never grows beyond its limit.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tabmux_platform::files::{Refused, SafeOptions};

/// A file that only this user can read. When it is full it is renamed to `….1`, that one to `….2`, and the oldest
/// is deleted.
#[derive(Debug)]
pub struct RotatedFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    limit: u64,
}

impl RotatedFile {
    /// Opens or creates the file.
    ///
    /// # Errors
    /// When it cannot be opened, or is a link.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::limited(path, MOST_BYTES)
    }

    fn limited(path: &Path, limit: u64) -> io::Result<Self> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .private()
            .refusing(Refused::Links)
            .open(path)?;
        Ok(Self {
            path: path.to_owned(),
            bytes: file.metadata()?.len(),
            file,
            limit,
        })
    }

    fn rotate(&mut self) -> io::Result<()> {
        for number in (0..KEPT).rev() {
            let (from, to) = (
                numbered(&self.path, number),
                numbered(&self.path, number + 1),
            );
            match fs::rename(from, to) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        *self = Self::limited(&self.path, self.limit)?;
        Ok(())
    }
}

/// Each write is a whole line, or several.
impl Write for RotatedFile {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        if self.bytes > 0 && self.bytes + lines.len() as u64 > self.limit {
            self.rotate()?;
        }
        self.file.write_all(lines)?;
        self.bytes += lines.len() as u64;
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    match number {
        0 => path.to_owned(),
        number => {
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".{number}"));
            name.into()
        }
    }
}

const MOST_BYTES: u64 = 8 * 1024 * 1024;
const KEPT: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    /// Spec: security 30.
    #[test]
    fn a_log_is_rotated_and_bounded_and_for_its_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.log");
        fs::write(&path, "line0\n").unwrap();
        let mut log = RotatedFile::limited(&path, 15).unwrap();
        for number in 1..12 {
            log.write_all(format!("line{number}\n").as_bytes()).unwrap();
        }
        let text = |number| fs::read_to_string(numbered(&path, number)).unwrap();
        assert_eq!(text(0), "line10\nline11\n");
        assert_eq!(text(1), "line8\nline9\n");
        assert_eq!(text(3), "line4\nline5\n");
        assert!(!numbered(&path, 4).exists());
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        // A line that is longer than the limit gets a file of its own.
        log.write_all(&[b'x'; 100]).unwrap();
        assert_eq!((text(0).len(), text(1).as_str()), (100, "line10\nline11\n"));
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a"), folder.path().join("b"));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(RotatedFile::open(&link).is_err());
        assert!(!file.exists());
    }
}
