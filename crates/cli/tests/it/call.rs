//! `tabmux call`, `logs` and `completions`, as a person runs them.

use std::path::Path;
use std::process::{Command, Output};

#[test]
fn arguments_and_flags_that_make_no_sense_are_usage_errors_and_start_nothing() {
    let home = Home::new();
    let output = home.tabmux(&["call", "list_pages", "[1]"]);
    assert_eq!(output.status.code(), Some(2));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        complaint.starts_with("tabmux: the arguments are not a JSON object"),
        "{complaint}"
    );
    let contradiction = ["--isolated", "--browserUrl", "http://127.0.0.1:1"];
    let output = home.tabmux(&[&["call", "list_pages"], &contradiction[..]].concat());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(!home.socket().exists());
}

#[test]
fn an_unknown_tool_is_a_usage_error_that_names_the_others_and_the_log_can_be_read() {
    let home = Home::new();
    let before = home.tabmux(&["logs"]);
    assert_eq!(before.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&before.stderr).starts_with("tabmux: there is no log at "));

    let output = home.tabmux(&["call", "list_pagez"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        complaint.starts_with("tabmux: there is no tool `list_pagez`."),
        "{complaint}"
    );
    assert!(complaint.contains("list_pages"), "{complaint}");

    let log = home.tabmux(&["logs"]);
    assert_eq!(log.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&log.stdout).contains("the daemon is up"));
}

#[test]
fn a_tool_answers_in_words_in_json_with_a_picture_or_with_an_error() {
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    let home = Home::new();
    let browser = browser.to_str().unwrap();
    let flags = ["--headless", "--isolated", "--executablePath", browser];
    let call = |arguments: &[&str]| home.tabmux(&[&["call"], arguments, &flags[..]].concat());

    let pages = call(&["list_pages"]);
    assert_eq!(pages.status.code(), Some(0), "{pages:?}");
    assert!(!pages.stdout.is_empty());

    let reply = call(&["list_pages", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&reply.stdout).unwrap();
    assert_eq!(json["content"][0]["type"], "text", "{json}");
    assert_eq!(json["isError"], false);

    let picture = call(&["take_screenshot"]);
    assert_eq!(picture.status.code(), Some(0), "{picture:?}");
    let saved = home.folder.path().join("take_screenshot.png");
    let said = String::from_utf8_lossy(&picture.stdout);
    assert!(
        said.contains(&format!("Saved {}", saved.display())),
        "{said}"
    );
    assert!(std::fs::read(saved).unwrap().starts_with(b"\x89PNG"));

    let wrong = call(&["click", "{\"uid\": \"9_9\"}"]);
    assert_eq!(wrong.status.code(), Some(1), "{wrong:?}");
    assert!(wrong.stdout.is_empty() && !wrong.stderr.is_empty());
}

#[test]
fn a_named_session_keeps_its_tab_between_calls() {
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    let home = Home::new();
    let browser = browser.to_str().unwrap();
    let flags = ["--headless", "--isolated", "--executablePath", browser];
    let call = |session: &str, arguments: &[&str]| {
        home.tabmux(&[&["call", "--session", session], arguments].concat())
    };
    let page = r#"{"url": "data:text/html,<title>Kept</title>"}"#;
    let opened = call("work", &[&["navigate_page", page], &flags[..]].concat());
    assert_eq!(opened.status.code(), Some(0), "{opened:?}");

    // Whoever names no browser goes on where the session is.
    let title = r#"{"function": "() => document.title"}"#;
    let read = call("work", &["evaluate_script", title]);
    assert!(
        String::from_utf8_lossy(&read.stdout).contains("Kept"),
        "{read:?}"
    );

    let elsewhere = ["list_pages", "--browserUrl", "http://127.0.0.1:1"];
    let refused = call("work", &elsewhere);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(
        said.contains("Session `work` works with another browser"),
        "{said}"
    );

    let sessions = home.tabmux(&["sessions", "--json"]);
    let sessions: serde_json::Value = serde_json::from_slice(&sessions.stdout).unwrap();
    assert_eq!(sessions.as_array().unwrap().len(), 1, "{sessions}");
    assert_eq!(sessions[0]["client"], "tabmux call (work)");
}

#[test]
fn shells_get_their_completions() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let output = home.tabmux(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0));
        assert!(
            String::from_utf8_lossy(&output.stdout).contains("doctor"),
            "{shell}"
        );
    }
}

/// A folder with a daemon of its own, which is stopped at the end.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    fn socket(&self) -> std::path::PathBuf {
        self.folder.path().join("daemon.sock")
    }

    fn tabmux(&self, arguments: &[&str]) -> Output {
        run(self.folder.path(), &self.socket(), arguments)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.tabmux(&["daemon", "stop"]);
    }
}

fn run(folder: &Path, socket: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tabmux"))
        .args(arguments)
        .current_dir(folder)
        .env("TABMUX_SOCKET", socket)
        .env("TABMUX_PORT", "0")
        .env("XDG_DATA_HOME", folder)
        .output()
        .unwrap()
}
