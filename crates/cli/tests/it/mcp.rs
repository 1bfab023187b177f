//! `tabmux mcp`, started by hand.

use std::process::{Command, Stdio};

/// Spec: multi-browser 102.
#[test]
fn the_log_warns_that_the_agent_sees_everything_in_the_browser() {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_tabmux"))
        .args(["mcp", "--no-daemon"])
        .env("HOME", home.path())
        .env_remove("TABMUX_LOG")
        .env_remove("TABMUX_SOCKET")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let warning = "can see and change everything in the browser";
    assert!(said.contains("WARN") && said.contains(warning), "{said}");
    assert!(
        output.stdout.is_empty(),
        "the warning must not go to stdout"
    );
}

#[test]
fn invalid_origins_are_refused_at_the_start() {
    for (flag, bad) in [
        ("--allowedOrigins", "https://a.test/path"),
        ("--allowed-origins", ""),
        ("--blockedOrigins", "a.test;b*c"),
        ("--blocked-origins", "ftp://a.test"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_tabmux"))
            .args(["mcp", "--no-daemon", flag, bad])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && said.contains("is not an origin"),
            "{said}"
        );
    }
}
