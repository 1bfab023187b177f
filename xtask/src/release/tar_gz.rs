//! Archives in tar format, compressed with gzip: the same bytes for the same files.

use std::io::Write;

use anyhow::{Result, ensure};
use flate2::{Compression, GzBuilder};

use super::files::Entry;

/// The archive of the files, all of them changed at that time.
pub(super) fn make(entries: &[Entry], time: u64, level: Compression) -> Result<Vec<u8>> {
    // Without the name and the time of the archive, which would differ.
    let mut archive = GzBuilder::new().mtime(0).write(Vec::new(), level);
    for entry in entries {
        archive.write_all(&header(entry, time)?)?;
        archive.write_all(&entry.bytes)?;
        let rest = entry.bytes.len() % BLOCK;
        if rest != 0 {
            archive.write_all(&[0; BLOCK][rest..])?;
        }
    }
    archive.write_all(&[0; 2 * BLOCK])?;
    Ok(archive.finish()?)
}

/// The header of a file in POSIX's ustar format.
fn header(entry: &Entry, time: u64) -> Result<[u8; BLOCK]> {
    let mut header = [0; BLOCK];
    let mut put = |at: usize, text: &str| {
        header[at..at + text.len()].copy_from_slice(text.as_bytes());
    };
    ensure!(
        entry.path.len() <= 100,
        "{} is too long for an archive",
        entry.path
    );
    let mode = if entry.is_program { 0o755 } else { 0o644 };
    put(0, &entry.path);
    put(100, &format!("{mode:07o}"));
    put(108, "0000000");
    put(116, "0000000");
    put(124, &format!("{:011o}", entry.bytes.len()));
    put(136, &format!("{time:011o}"));
    // The checksum is computed as if these were spaces.
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\0");
    put(263, "00");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    Ok(header)
}

const BLOCK: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;
    use std::process::Command;

    #[test]
    fn tar_unpacks_it_with_contents_modes_and_times() {
        let entries = [
            Entry::text("tabmux-1/README.md", "x".repeat(700)),
            Entry::program("tabmux-1/tabmux", "#!/bin/sh\n"),
        ];
        let bytes = make(&entries, 1_600_000_000, Compression::fast()).unwrap();
        assert_eq!(
            bytes,
            make(&entries, 1_600_000_000, Compression::fast()).unwrap()
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.tar.gz");
        std::fs::write(&file, bytes).unwrap();
        let status = Command::new("tar")
            .arg("-xzf")
            .arg(&file)
            .arg("-C")
            .arg(folder.path())
            .status();
        assert!(status.unwrap().success());
        let unpacked = |name: &str| folder.path().join("tabmux-1").join(name);
        assert_eq!(
            std::fs::read(unpacked("README.md")).unwrap(),
            entries[0].bytes
        );
        let program = std::fs::metadata(unpacked("tabmux")).unwrap();
        assert_eq!(
            (program.mode() & 0o111, program.mtime()),
            (0o111, 1_600_000_000)
        );
        assert_eq!(
            std::fs::metadata(unpacked("README.md")).unwrap().mode() & 0o111,
            0
        );
    }
}
