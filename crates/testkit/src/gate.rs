//! Whether tests with a real browser run, and what a test says that does not run.

use std::{
    env,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// The browser for slow tests, or `None` (and a line that says why) if they should not run.
///
/// They run when `CI` is set or `E2E=1`; then a missing Chromium fails the test.
/// `TABMUX_TEST_BROWSER` names another executable.
pub fn real_browser() -> Option<PathBuf> {
    match decide(
        wanted(env::var("CI").ok(), env::var("E2E").ok()),
        find_browser,
    ) {
        Ok(browser) => Some(browser),
        Err(Skip::NotWanted) => {
            say_skipped("it needs a real browser; set E2E=1 to run it");
            None
        }
        Err(Skip::Missing) => panic!(
            "tests with a real browser are wanted (CI or E2E=1), but no Chromium was found: \
             install `chromium`, or set TABMUX_TEST_BROWSER to an executable"
        ),
    }
}

/// Says that the current test does not run, and why.
///
/// `cargo test` shows it even though the test passes. nextest does not, so `scripts/say-skipped` runs before its tests.
pub fn say_skipped(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // Not `eprintln!`, which the test harness captures.
    let _ = writeln!(io::stderr(), "skipped {test}: {why}");
}

fn wanted(ci: Option<String>, e2e: Option<String>) -> bool {
    let is_set = |value: Option<String>| value.is_some_and(|value| !matches!(&*value, "" | "0"));
    is_set(ci) || is_set(e2e)
}

fn decide(wanted: bool, find: impl FnOnce() -> Option<PathBuf>) -> Result<PathBuf, Skip> {
    if !wanted {
        return Err(Skip::NotWanted);
    }
    find().ok_or(Skip::Missing)
}

/// The browser on this machine, whether tests should use it or not.
pub fn find_browser() -> Option<PathBuf> {
    if let Some(named) = env::var_os("TABMUX_TEST_BROWSER") {
        return Some(PathBuf::from(named)).filter(|path| path.is_file());
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&path)
        .flat_map(|folder| NAMES.iter().map(move |name| folder.join(name)))
        .find(|candidate| candidate.is_file());
    on_path.or_else(|| {
        NAMES
            .iter()
            .map(|name| Path::new("/usr/bin").join(name))
            .find(|candidate| candidate.is_file())
    })
}

#[derive(Debug, PartialEq)]
enum Skip {
    NotWanted,
    Missing,
}

const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browser_tests_run_only_when_asked_for() {
        let text = |text: &str| Some(text.to_owned());
        assert!(!wanted(None, None));
        assert!(!wanted(text(""), text("0")));
        assert!(wanted(text("true"), None));
        assert!(wanted(None, text("1")));
    }

    #[test]
    fn a_missing_browser_differs_from_an_unwanted_one() {
        assert_eq!(
            decide(false, || panic!("not looked for")),
            Err(Skip::NotWanted)
        );
        assert_eq!(decide(true, || None), Err(Skip::Missing));
        assert_eq!(decide(true, || Some("/b".into())), Ok("/b".into()));
    }
}
