//! The oldest glibc that can load a binary, from its version needs.
//!
//! `objdump -T` does not show the version that packed relocations need; `readelf -V` does.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// What a binary needs of glibc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Floor {
    /// The highest version of a symbol.
    pub(super) version: (u32, u32),
    /// Needs that have no number, such as `GLIBC_ABI_DT_RELR`.
    pub(super) marks: Vec<String>,
}

impl Floor {
    pub(super) fn of(binary: &Path) -> Result<Self> {
        let output = Command::new("readelf")
            .args(["--version-info", "--wide"])
            .arg(binary)
            .output();
        let output = output.context("readelf does not run; install binutils")?;
        ensure!(
            output.status.success(),
            "readelf cannot read {}",
            binary.display()
        );
        Ok(Self::read(&String::from_utf8_lossy(&output.stdout)))
    }

    fn read(text: &str) -> Self {
        let mut floor = Self {
            version: (0, 0),
            marks: Vec::new(),
        };
        let words = text.split(|letter: char| letter.is_whitespace() || letter == '(');
        for need in words.filter_map(|word| word.strip_prefix("GLIBC_")) {
            let need = need.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
            match numbers(need) {
                Some(version) => floor.version = floor.version.max(version),
                None => floor.marks.push(format!("GLIBC_{need}")),
            }
        }
        floor.marks.sort();
        floor.marks.dedup();
        floor
    }

    /// Refuses a binary that needs more than the version, or anything without a number.
    pub(super) fn check(&self, highest: (u32, u32)) -> Result<()> {
        ensure!(
            self.marks.is_empty(),
            "the binary needs {}, which only new systems have",
            self.marks.join(", ")
        );
        ensure!(
            self.version <= highest,
            "the binary needs glibc {}, but its packages promise {}.{}",
            self.text(),
            highest.0,
            highest.1
        );
        Ok(())
    }

    pub(super) fn text(&self) -> String {
        format!("{}.{}", self.version.0, self.version.1)
    }
}

/// The first two numbers of `2.17` or `2.2.5`.
fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers_and_marks_are_found() {
        let floor = Floor::read(
            "  0x0010:   Name: GLIBC_2.2.5  Flags: none  Version: 9\n  004:   1 (*global*)   3 (GLIBC_2.17)   2 (GLIBC_2.4)\n",
        );
        assert_eq!(floor.version, (2, 17));
        floor.check((2, 17)).unwrap();
        assert!(
            floor
                .check((2, 16))
                .unwrap_err()
                .to_string()
                .contains("glibc 2.17")
        );
        let packed = Floor::read("Name: GLIBC_2.4 Flags\nName: GLIBC_ABI_DT_RELR  Flags: none\n");
        let refusal = packed.check((2, 28)).unwrap_err().to_string();
        assert!(refusal.contains("GLIBC_ABI_DT_RELR"), "{refusal}");
    }
}
