//! `tabmux demo`, from the first line to the picture.

use std::path::Path;
use std::process::{Command, Output};

#[test]
fn the_demo_runs_to_its_end_and_saves_a_picture() {
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let output = demo(
        folder.path(),
        &["--executablePath", browser.to_str().unwrap()],
    );
    let told = String::from_utf8(output.stdout).unwrap();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}\n{complained}");

    let picture = std::fs::read(folder.path().join("tabmux-demo.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"));

    let mut rest = told.as_str();
    for milestone in [
        "Hello",
        "connect_browser {\"launch\": true}",
        "notifications/tools/list_changed",
        "+ list_tabs + open_tab - connect_browser",
        "open_tab {\"url\": \"http://127.0.0.1:",
        "+ beds_left",
        "+ book_now",
        "beds_left {\"night\": \"Saturday\"}",
        "5 beds are free on Saturday.",
        "textbox \"Your name\"",
        "Filled 5 fields.",
        "Clicked.",
        "See you on Saturday, Ada Lovelace",
        "error: uid",
        "a PNG of 1100 × ",
        "{\"closed\": true",
        "exit code 0",
        " now",
        "The picture of the ticket: tabmux-demo.png",
    ] {
        let Some((_, after)) = rest.split_once(milestone) else {
            panic!("`{milestone}` is missing, or not where it belongs:\n{told}");
        };
        rest = after;
    }
    assert!(!told.contains('\x1b'), "colours belong on a terminal only");
    let widest = told
        .lines()
        .max_by_key(|line| line.chars().count())
        .unwrap();
    assert!(widest.chars().count() <= 80, "{widest}");
}

#[test]
fn a_picture_that_cannot_be_saved_is_an_error() {
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let output = demo(
        folder.path(),
        &[
            "--executablePath",
            browser.to_str().unwrap(),
            "--out",
            "nowhere/ticket.png",
        ],
    );
    assert_eq!(output.status.code(), Some(1));
    let complained = String::from_utf8(output.stderr).unwrap();
    assert!(
        complained.contains("stopped at \"Take a picture\""),
        "{complained}"
    );
    assert!(
        complained.contains("choose another path with --out"),
        "{complained}"
    );
}

#[test]
fn without_a_browser_the_demo_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let output = demo(folder.path(), &["--executablePath", "/nowhere/chrome"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let complained = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        complained,
        "tabmux: There is no browser at /nowhere/chrome. Check --executablePath.\n"
    );
}

fn demo(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tabmux"));
    command.arg("demo").args(arguments).current_dir(folder);
    command.output().expect("tabmux starts")
}
