//! Zip archives, for wheels and MCP bundles: the same bytes for the same files.

use std::io::Write;

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::files::Entry;

/// The archive of the files. Their time is 1980-01-01, the first that the format knows.
pub(super) fn make(entries: &[Entry], level: Compression) -> Result<Vec<u8>> {
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    for entry in entries {
        let at = archive.len();
        let mut encoder = DeflateEncoder::new(Vec::new(), level);
        encoder.write_all(&entry.bytes)?;
        let packed = encoder.finish()?;
        let shared = shared_fields(entry, packed.len())?;
        put(&mut archive, &[0x0403_4b50]);
        archive.extend(&shared);
        archive.extend([0, 0]);
        archive.extend(entry.path.as_bytes());
        archive.extend(packed);
        directory.extend(directory_entry(entry, &shared, size(at)?));
    }
    let count = u16::try_from(entries.len()).context("too many files for a zip archive")?;
    let start = size(archive.len())?;
    let length = size(directory.len())?;
    archive.extend(directory);
    put(&mut archive, &[0x0605_4b50, 0]);
    archive.extend(count.to_le_bytes());
    archive.extend(count.to_le_bytes());
    put(&mut archive, &[length, start]);
    archive.extend([0, 0]);
    Ok(archive)
}

/// What the file's own header and the directory say alike, up to the length of the name.
fn shared_fields(entry: &Entry, packed: usize) -> Result<Vec<u8>> {
    let mut fields = Vec::new();
    let name = u16::try_from(entry.path.len()).context("a name is too long")?;
    // Version 2.0; the name is UTF-8; deflated; midnight of 1980-01-01.
    for number in [20_u16, 0x0800, 8, 0, 0x21] {
        fields.extend(number.to_le_bytes());
    }
    let sum = crc32fast::hash(&entry.bytes);
    put(&mut fields, &[sum, size(packed)?, size(entry.bytes.len())?]);
    fields.extend(name.to_le_bytes());
    Ok(fields)
}

fn directory_entry(entry: &Entry, shared: &[u8], at: u32) -> Vec<u8> {
    let mode: u32 = if entry.is_program {
        0o100_755
    } else {
        0o100_644
    };
    let mut bytes = Vec::new();
    put(&mut bytes, &[0x0201_4b50]);
    // Made on Unix, so that the mode is read.
    bytes.extend([20, 3]);
    bytes.extend(shared);
    // No extra field, no comment, disk 0, no internal attributes.
    bytes.extend([0; 8]);
    put(&mut bytes, &[mode << 16, at]);
    bytes.extend(entry.path.as_bytes());
    bytes
}

fn put(bytes: &mut Vec<u8>, numbers: &[u32]) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn size(bytes: usize) -> Result<u32> {
    u32::try_from(bytes).context("the archive is too large for the zip format")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    #[test]
    fn python_unpacks_it_and_finds_the_modes() {
        let entries = [
            Entry::text("a/text.txt", "many words ".repeat(100)),
            Entry::program("a/tabmux", "#!/bin/sh\n"),
        ];
        let bytes = make(&entries, Compression::best()).unwrap();
        assert_eq!(bytes, make(&entries, Compression::best()).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.zip");
        std::fs::write(&file, bytes).unwrap();
        let script = "import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\n\
             print([(i.filename, oct(i.external_attr >> 16), i.date_time[0]) for i in z.infolist()])\n\
             z.extractall(sys.argv[2])";
        let output = Command::new("python3")
            .args(["-c", script])
            .arg(&file)
            .arg(folder.path())
            .output()
            .unwrap();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "[('a/text.txt', '0o100644', 1980), ('a/tabmux', '0o100755', 1980)]\n",
            "{output:?}"
        );
        let text = folder.path().join("a/text.txt");
        assert_eq!(std::fs::read(&text).unwrap(), entries[0].bytes);
        assert!(std::fs::metadata(text).unwrap().permissions().mode() & 0o400 != 0);
    }
}
