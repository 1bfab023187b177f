//! Whether connected pages have the page library of this version.

use super::Check;
use tabmux_protocol::overview::LibraryRow;

/// Nothing if all pages have this version, or none is connected.
pub(super) fn check(libraries: &[LibraryRow], own_version: &str) -> Option<Check> {
    let others = libraries.iter().filter(|row| row.version != own_version);
    let others: Vec<String> = others.map(named).collect();
    let (shown, more) = others.split_at(others.len().min(MOST_SHOWN));
    let shown = match (shown, more.len()) {
        ([], _) => return None,
        (shown, 0) => shown.join(", "),
        (shown, more) => format!("{} and {more} more", shown.join(", ")),
    };
    Some(Check::warn(
        "library",
        format!(
            "This is tabmux {own_version}, but these pages have another @tabmux/page: {shown}."
        ),
        format!(
            "Run `npm install @tabmux/page@{own_version}` in their projects, or update tabmux."
        ),
    ))
}

fn named(row: &LibraryRow) -> String {
    match row.version.as_str() {
        "" => format!("{} (no version)", row.origin),
        version => format!("{} ({version})", row.origin),
    }
}

const MOST_SHOWN: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_with_another_version_are_named_with_what_to_do() {
        let row = |origin: &str, version: &str| LibraryRow {
            origin: origin.to_owned(),
            version: version.to_owned(),
        };
        assert_eq!(check(&[], "0.2.0"), None);
        assert_eq!(check(&[row("http://localhost:1", "0.2.0")], "0.2.0"), None);
        let rows = [
            row("http://localhost:1", "0.2.0"),
            row("http://localhost:2", "0.1.0"),
            row("http://localhost:3", ""),
        ];
        let found = check(&rows, "0.2.0").unwrap();
        assert_eq!(
            found.finding,
            "This is tabmux 0.2.0, but these pages have another @tabmux/page: http://localhost:2 (0.1.0), \
             http://localhost:3 (no version)."
        );
        assert!(
            found
                .advice
                .unwrap()
                .contains("npm install @tabmux/page@0.2.0")
        );
        let many: Vec<_> = (0..8)
            .map(|port| row(&format!("http://localhost:{port}"), "9"))
            .collect();
        assert!(
            check(&many, "0.2.0")
                .unwrap()
                .finding
                .contains("and 3 more")
        );
    }
}
