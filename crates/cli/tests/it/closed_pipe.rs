//! Commands whose reader closes the pipe, as in `tabmux status | true`: their exit code stays the same.

use std::path::Path;
use std::process::{Command, Output, Stdio};

#[test]
fn a_closed_pipe_causes_no_panic_and_no_other_exit_code() {
    let home = tempfile::tempdir().unwrap();
    for arguments in [
        &["status"][..],
        &["status", "--json"],
        &["tabs"],
        &["doctor"],
        &["doctor", "--json"],
        &["daemon", "stop"],
        &["extension", "status"],
        &["extension", "status", "--json"],
        &[
            "install",
            "cursor",
            "codex",
            "--dry-run",
            "--command=tabmux",
        ],
        &["install", "cursor", "--command=tabmux"],
        &["uninstall", "cursor"],
        &["policy", "list"],
        &["policy", "list", "--json"],
        &["policy", "page-origins", "list"],
        &["completions", "bash"],
        &["__tools-md"],
    ] {
        let read = run(home.path(), arguments, Stdio::piped());
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let unread = run(home.path(), arguments, writer.into());
        assert!(unread.stderr.is_empty(), "{arguments:?}: {unread:?}");
        assert_eq!(unread.status.code(), read.status.code(), "{arguments:?}");
    }
}

fn run(home: &Path, arguments: &[&str], stdout: Stdio) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tabmux"));
    command
        .args(arguments)
        .stdout(stdout)
        .stderr(Stdio::piped());
    command.env_clear().env("HOME", home);
    command.env("XDG_RUNTIME_DIR", home).env("TABMUX_PORT", "0");
    command.spawn().unwrap().wait_with_output().unwrap()
}
