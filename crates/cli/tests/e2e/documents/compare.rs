//! Compares the output of a command with what a document shows.

/// Compares line by line. `…` in a line stands for any text, and a line `…` for any number of lines. The error shows
/// both, with a mark at the lines that differ.
pub(super) fn compare(expected: &str, actual: &str) -> Result<(), String> {
    let wanted: Vec<&str> = expected.lines().map(str::trim_end).collect();
    let got: Vec<&str> = actual.lines().map(str::trim_end).collect();
    if lines_match(&wanted, &got) {
        return Ok(());
    }
    let common = wanted
        .iter()
        .zip(&got)
        .take_while(|(wanted, got)| line_matches(wanted, got));
    let common = common.count();
    let mut told = String::new();
    for (number, line) in wanted.iter().enumerate() {
        let mark = if number < common { "  " } else { "- " };
        told += &format!("{mark}{line}\n");
    }
    for line in got.iter().skip(common) {
        told += &format!("+ {line}\n");
    }
    Err(told)
}

fn lines_match(wanted: &[&str], got: &[&str]) -> bool {
    match wanted.split_first() {
        None => got.is_empty(),
        Some((&"…", rest)) => (0..=got.len()).any(|skipped| lines_match(rest, &got[skipped..])),
        Some((first, rest)) => match got.split_first() {
            Some((line, others)) => line_matches(first, line) && lines_match(rest, others),
            None => false,
        },
    }
}

fn line_matches(wanted: &str, got: &str) -> bool {
    match wanted.split_once('…') {
        None => wanted == got,
        Some((start, rest)) => got.strip_prefix(start).is_some_and(|got| {
            let mut ends = got.char_indices().map(|(end, _)| end).chain([got.len()]);
            ends.any(|end| line_matches(rest, &got[end..]))
        }),
    }
}

#[test]
fn three_dots_stand_for_anything_and_the_rest_must_be_equal() {
    for (wanted, got) in [
        ("a\n", "a\n"),
        ("tab … of …\n", "tab 7 of 9\n"),
        ("a\n…\nz\n", "a\nz\n"),
        ("a\n…\nz\n", "a\nb\nc\nz\n"),
        ("a…\n", "a\n"),
        ("", ""),
    ] {
        assert_eq!(compare(wanted, got), Ok(()), "{wanted:?} {got:?}");
    }
    for (wanted, got) in [
        ("a\n", ""),
        ("", "a\n"),
        ("tab …!\n", "tab 7\n"),
        ("a\n…\nz\n", "a\nb\n"),
    ] {
        assert!(compare(wanted, got).is_err(), "{wanted:?} {got:?}");
    }
    assert_eq!(
        compare("a\nb\n", "a\nc\n"),
        Err("  a\n- b\n+ c\n".to_owned())
    );
}
