//! `tabmux doctor`, as a new user runs it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tabmux_testkit::patiently;

#[test]
fn a_new_user_sees_that_all_checks_pass() {
    let home = new_home();
    let output = doctor(home.path(), &[]);
    let told = text(&output, home.path());
    // The line about root depends on the user who runs the test.
    let told: Vec<&str> = told
        .lines()
        .filter(|line| !line.contains("  user "))
        .collect();
    assert_eq!(
        told[..told.len() - 1].join("\n"),
        "ok    browser  Chromium 150.0.1 at HOME/browser.\n\
         ok    display  No display, so browsers run headless.\n\
         ok    folder   HOME/run/tabmux is created when needed.\n\
         ok    daemon   None is running; the first client starts it.\n\
         ok    port     The daemon takes any free port for pages.\n\
         ok    log      No log yet; it will be HOME/run/tabmux/daemon.log.\n\
         ok    profile  HOME/data/tabmux/profile is free.\n\
         ok    clients  No client is configured for tabmux; run `tabmux install CLIENT`.\n"
    );
    assert_eq!(output.status.code(), Some(0));
    assert!(
        !home.path().join("run/tabmux").exists(),
        "doctor created a folder"
    );
}

#[test]
fn failures_have_advice_and_exit_code_1() {
    let home = new_home();
    let folder = home.path().join("run/tabmux");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("daemon.sock"), "").unwrap();
    fs::create_dir(folder.join("daemon.log")).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let output = doctor(home.path(), &["--executablePath", "/nowhere/chrome"]);
    let told = text(&output, home.path());
    for line in [
        "fail  browser  There is no browser at /nowhere/chrome. Check --executablePath.\n",
        "fail  folder   HOME/run/tabmux cannot hold the daemon's socket: others may write to it. Remove",
        "fail  daemon   HOME/run/tabmux/daemon.sock is not a socket. Remove it",
        "fail  log      HOME/run/tabmux/daemon.log is not a file. Remove it.\n",
        "\n4 problems to fix.\n",
    ] {
        assert!(told.contains(line), "{line} is missing:\n{told}");
    }
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn unreadable_rules_are_reported_because_every_page_is_blocked() {
    let home = new_home();
    let folder = home.path().join("data/tabmux");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("policy.json"), "{").unwrap();
    let output = doctor(home.path(), &[]);
    let told = text(&output, home.path());
    let line = told.lines().find(|line| line.contains("  rules ")).unwrap();
    assert!(
        line.starts_with("fail  rules    HOME/data/tabmux/policy.json is damaged ("),
        "{line}"
    );
    assert!(
        line.ends_with("), so every page is blocked. Fix or remove it."),
        "{line}"
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn an_unreadable_config_is_reported_in_whole_sentences() {
    let home = new_home();
    fs::create_dir_all(home.path().join(".cursor/mcp.json")).unwrap();
    fs::create_dir(home.path().join(".codex")).unwrap();
    fs::write(home.path().join(".codex/config.toml"), [0xff]).unwrap();
    let told = text(&doctor(home.path(), &[]), home.path());
    assert!(told.contains(" Fix it, then run this again.\n"), "{told}");
    assert!(
        told.contains(
            "HOME/.cursor/mcp.json cannot be read (Is a directory (os error 21)). Make it a file"
        ),
        "{told}"
    );
    assert!(!told.contains(".."), "{told}");
}

#[test]
fn an_invalid_port_variable_is_reported() {
    let home = new_home();
    let output = doctor_in(home.path(), &[], "abc");
    let told = text(&output, home.path());
    assert!(
        told.contains("fail  port     TABMUX_PORT is `abc`, which is not a port. Set it"),
        "{told}"
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn programs_get_the_same_as_json() {
    let home = new_home();
    let output = doctor(home.path(), &["--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["ok"], true);
    assert_eq!(json["checks"][0]["name"], "browser");
    assert_eq!(json["checks"][0]["level"], "ok");
}

#[tokio::test]
async fn a_daemon_of_another_build_is_reported_until_stopped() {
    let home = new_home();
    let program = home.path().join("tabmux");
    let (own, other) = copy_as_another_build(&program);
    let mut command = tabmux(&program, home.path(), "0");
    command.args(["daemon", "run", "--idle=0"]);
    let mut command = tokio::process::Command::from(command);
    command.stderr(Stdio::null()).kill_on_drop(true);
    let mut daemon = command.spawn().unwrap();
    let socket = home.path().join("run/tabmux/daemon.sock");
    let listens = async {
        while UnixStream::connect(&socket).is_err() {
            tokio::task::yield_now().await;
        }
    };
    patiently(listens, || "a daemon that listens".into()).await;

    let output = doctor(home.path(), &[]);
    let line = format!(
        "warn  daemon   tabmux {other} is up (process {}), but this is {own}. Run `tabmux daemon stop`; the next \
         client starts the new one.\n",
        daemon.id().unwrap()
    );
    let told = text(&output, home.path());
    assert!(told.contains(&line), "{line} is missing:\n{told}");
    assert_eq!(output.status.code(), Some(0));

    let mut stop = tabmux(Path::new(TABMUX), home.path(), "0");
    let stopped = stop.args(["daemon", "stop"]).output().unwrap();
    assert!(stopped.status.success(), "{stopped:?}");
    let ends = async { daemon.wait().await.unwrap() };
    patiently(ends, || "the end of the daemon".into()).await;
    let told = text(&doctor(home.path(), &[]), home.path());
    let line = "ok    daemon   None is running; the first client starts it.\n";
    assert!(told.contains(line), "{told}");
}

/// Writes a copy of the program that calls itself another build; returns both builds.
fn copy_as_another_build(copy: &Path) -> (String, String) {
    let printed = Command::new(TABMUX).arg("--version").output().unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    let own = printed.trim().strip_prefix("tabmux ").unwrap().to_owned();
    // As long as the other one, because it replaces it in the file.
    let other = own.replace(char::is_alphanumeric, "9");
    let mut sed = Command::new("sed");
    sed.env("LC_ALL", "C").arg(format!("s/{own}/{other}/g"));
    sed.arg(TABMUX).stdout(fs::File::create(copy).unwrap());
    assert!(sed.status().unwrap().success());
    drop(sed);
    fs::set_permissions(copy, fs::Permissions::from_mode(0o755)).unwrap();
    (own, other)
}

/// A home with a runtime folder and a fake browser that only prints its version.
fn new_home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("run")).unwrap();
    let browser = home.path().join("browser");
    fs::write(&browser, "#!/bin/sh\necho Chromium 150.0.1\n").unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
    home
}

fn doctor(home: &Path, arguments: &[&str]) -> Output {
    doctor_in(home, arguments, "0")
}

fn doctor_in(home: &Path, arguments: &[&str], port: &str) -> Output {
    let mut command = tabmux(Path::new(TABMUX), home, port);
    command.arg("doctor").args(arguments).output().unwrap()
}

fn tabmux(program: &Path, home: &Path, port: &str) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("HOME", home)
        .env("TABMUX_PORT", port)
        .env("PATH", "/usr/bin:/bin")
        .env("XDG_RUNTIME_DIR", home.join("run"))
        .env("XDG_DATA_HOME", home.join("data"))
        .env("CHROME_PATH", home.join("browser"));
    command
}

fn text(output: &Output, home: &Path) -> String {
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).replace(home.to_str().unwrap(), "HOME")
}

const TABMUX: &str = env!("CARGO_BIN_EXE_tabmux");
