//! The panics of tabmux that its log reports. No test expects one.

use std::fs;
use std::path::Path;

/// The lines about panics in this log, and in the older ones beside it; none if there is no log.
pub fn panics_in(log: &Path) -> Vec<String> {
    let name = log.file_name().unwrap_or_default().to_string_lossy();
    let folder = log.parent().map(fs::read_dir);
    let files = folder.into_iter().flatten().flatten().flatten();
    let mut logs: Vec<_> = files.map(|file| file.path()).collect();
    logs.retain(|path| {
        path.file_name()
            .is_some_and(|it| is_of(&it.to_string_lossy(), &name))
    });
    // The oldest first: it has the highest number.
    logs.sort_by(|one, other| other.cmp(one));
    let texts = logs.iter().filter_map(|path| fs::read(path).ok());
    texts.flat_map(|text| lines_about_panics(&text)).collect()
}

/// Whether a file is the log, or an older one, such as `daemon.log.2`.
fn is_of(file: &str, log: &str) -> bool {
    let rest = file.strip_prefix(log);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn lines_about_panics(log: &[u8]) -> Vec<String> {
    let log = String::from_utf8_lossy(log);
    let lines = log.lines().filter(|line| line.contains(PANIC));
    lines.map(str::to_owned).collect()
}

/// What such a line has, and no other.
const PANIC: &str = "Internal tabmux error: process ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_found_in_rotated_logs_too() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("daemon.log");
        assert_eq!(panics_in(&log), Vec::<String>::new());
        let line = |at: u32| format!("ERROR {PANIC}7 panicked at a.rs:{at}:1: no.");
        let (old, new) = (line(1), line(2));
        fs::write(
            folder.path().join("daemon.log.1"),
            format!("{old}\nWARN b\n"),
        )
        .unwrap();
        fs::write(&log, [&b"\xff\n"[..], new.as_bytes()].concat()).unwrap();
        fs::write(folder.path().join("daemon.login"), line(3)).unwrap();
        assert_eq!(panics_in(&log), [old, new]);
    }
}
