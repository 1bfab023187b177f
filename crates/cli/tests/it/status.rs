//! `tabmux status` and `tabmux daemon stop`, with a file at the socket's path, and with two daemons.

use std::fs;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use tabmux_testkit::patiently;

#[test]
fn a_file_at_the_sockets_path_is_reported() {
    let home = tempfile::tempdir().unwrap();
    let socket = home.path().join("daemon.sock");
    fs::write(&socket, "").unwrap();
    for arguments in [
        &["status"][..],
        &["tabs"],
        &["daemon", "stop"],
        &["extension", "status"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tabmux"));
        command.args(arguments).arg("--socket").arg(&socket);
        let output = command
            .env_clear()
            .env("HOME", home.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            format!(
                "tabmux: {} is not a socket. Remove it, or choose another path with --socket.\n",
                socket.display()
            )
        );
    }
}

#[tokio::test]
async fn another_daemon_of_this_user_is_reported_with_how_to_stop_it() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str], socket: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tabmux"));
        command.args(arguments).env_clear().env("HOME", home.path());
        command.env("TABMUX_PORT", "0").env("PATH", "/usr/bin:/bin");
        command.env("TABMUX_SOCKET", home.path().join(socket));
        command
    };
    let other = home.path().join("other.sock");
    let mut command = run(&["daemon", "run", "--idle=0"], "other.sock");
    let mut daemon = command.stderr(Stdio::null()).spawn().unwrap();
    let listens = async {
        while UnixStream::connect(&other).is_err() {
            tokio::task::yield_now().await;
        }
    };
    patiently(listens, || "a daemon that listens".into()).await;
    let stop = format!("`tabmux daemon stop --socket {}` ends it.", other.display());
    let printed = run(&["--version"], "own.sock").output().unwrap().stdout;
    let status = run(&["status", "--json"], "other.sock").output().unwrap();
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    let build = status["build"].as_str().unwrap();
    // With the commit, so that `doctor` tells two builds of one version apart.
    assert!(build.ends_with(')'), "{build}");
    assert_eq!(format!("tabmux {build}\n").into_bytes(), printed);
    let pid = format!("process {}", daemon.id());
    let version = concat!("tabmux ", env!("CARGO_PKG_VERSION"));
    for what in ["status", "doctor"] {
        let seen = run(&[what], "own.sock").output().unwrap();
        let seen = String::from_utf8_lossy(&seen.stdout).into_owned();
        for part in [&stop, &pid, version] {
            assert!(seen.contains(part), "{what} does not say `{part}`: {seen}");
        }
        let own = run(&[what], "other.sock").output().unwrap();
        let own = String::from_utf8_lossy(&own.stdout).into_owned();
        assert!(!own.contains("Another daemon"), "{own}");
    }
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}
