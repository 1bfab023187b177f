//! A log without secret values. The log writes each entry at once, so no value is parted.

use std::io::{self, Write};
use tabmux_text::secrets;

/// Masks secret values in what is written.
#[derive(Debug)]
pub(super) struct Masked<W>(pub(super) W);

impl<W: Write> Write for Masked<W> {
    fn write(&mut self, entry: &[u8]) -> io::Result<usize> {
        match secrets::exist() {
            false => self.0.write(entry),
            true => {
                let text = String::from_utf8_lossy(entry);
                self.0.write_all(secrets::masked(&text).as_bytes())?;
                Ok(entry.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_the_log_has_no_secret_value() {
        secrets::hide(["log-s3cret"]).unwrap();
        let mut log = Masked(Vec::new());
        log.write_all(b"typed log-s3cret \xff, log%2Ds3cret\n")
            .unwrap();
        let log = String::from_utf8(log.0).unwrap();
        assert!(log.starts_with("typed \u{2022}\u{2022}\u{2022} "), "{log}");
        assert!(!log.contains("s3cret"), "{log}");
    }
}
