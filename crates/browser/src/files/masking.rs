//! Files that tools write have no secret values in them, because agents can read them. What kind of file it is makes no
//! difference: a page chooses how what it sends begins.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use tabmux_text::secrets::{self, Masking};

/// Masks secret values in a file that is complete. Without such a value in it, only reads it.
pub(super) fn mask(file: &mut File) -> io::Result<()> {
    if !secrets::exist() {
        return Ok(());
    }
    if file.metadata()?.len() <= AT_ONCE {
        return mask_whole(file);
    }
    let masking = masking_of(file)?;
    file.rewind()?;
    if !secrets::are_in_bytes(&*file)? {
        return Ok(());
    }
    // A file without a name: nobody else can open it, and it goes away with this handle.
    let mut copy = tempfile::tempfile()?;
    file.rewind()?;
    secrets::copy_masked(&*file, &copy, masking)?;
    copy.rewind()?;
    file.rewind()?;
    file.set_len(0)?;
    io::copy(&mut copy, file).map(drop)
}

/// Masks a file that is read as a whole: values behind several escapes are found, too.
fn mask_whole(file: &mut File) -> io::Result<()> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    if mask_bytes(&mut bytes) {
        file.rewind()?;
        file.set_len(0)?;
        file.write_all(&bytes)?;
    }
    Ok(())
}

/// Masks secret values in text as such; in other bytes, such as a picture, everything else stays where it is.
fn mask_bytes(bytes: &mut Vec<u8>) -> bool {
    match str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => {
            let masked = secrets::masked(text);
            let changed = matches!(masked, std::borrow::Cow::Owned(_));
            if changed {
                *bytes = masked.into_owned().into_bytes();
            }
            changed
        }
        _ => secrets::mask_in_place(bytes),
    }
}

fn masking_of(file: &mut File) -> io::Result<Masking> {
    let mut start = Vec::new();
    file.rewind()?;
    file.take(1_024).read_to_end(&mut start)?;
    let is_text = match str::from_utf8(&start) {
        Ok(_) => true,
        // A character may be cut at the end.
        Err(error) => error.error_len().is_none(),
    };
    Ok(
        match !is_text || start.contains(&0) || start.starts_with(b"%PDF-") {
            true => Masking::InPlace,
            false => Masking::Shown,
        },
    )
}

/// Larger files, such as heap snapshots, are masked in a stream.
const AT_ONCE: u64 = 16_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(bytes: &[u8]) -> Vec<u8> {
        secrets::hide(["comet-value"]).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        mask(&mut file).unwrap();
        let mut now = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut now).unwrap();
        now
    }

    fn has_value(bytes: &[u8]) -> bool {
        bytes.windows(5).any(|part| part == b"comet")
    }

    #[test]
    fn a_file_is_masked_however_it_begins() {
        for start in [
            &b""[..],
            b"\0",
            b"%PDF-1.7\n",
            b"GIF89a",
            b"PK\x03\x04\0",
            b"\xff\xfe",
        ] {
            for rest in [&b"comet-value, comet%2Dvalue\xff"[..], b"a comet-value"] {
                let file = [start, rest].concat();
                let now = masked(&file);
                assert!(!has_value(&now), "{start:?}");
                assert!(now.starts_with(start));
            }
        }
        assert_eq!(masked(b"a comet-value b"), "a ••• b".as_bytes());
        assert_eq!(masked(b"\0a comet-value b"), b"\0a *********** b");
        assert_eq!(masked(b"\0nothing\xff"), b"\0nothing\xff");
    }

    #[test]
    fn a_file_in_utf16_is_masked() {
        let text = "\u{feff}the comet-value is typed";
        for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            let file: Vec<u8> = text.encode_utf16().flat_map(to_bytes).collect();
            let now = masked(&file);
            assert_eq!(now.len(), file.len());
            let visible: Vec<u8> = now.iter().copied().filter(|byte| *byte != 0).collect();
            assert!(!has_value(&visible), "{visible:?}");
            assert!(visible.ends_with(b" is typed"));
        }
    }

    #[test]
    fn a_large_binary_file_keeps_its_length() {
        let file = [&[0; 17_000_000][..], b"comet-value."].concat();
        let now = masked(&file);
        assert_eq!(now.len(), file.len());
        assert!(now.ends_with(b"\0***********."));
    }
}
