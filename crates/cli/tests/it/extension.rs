//! `tabmux extension`, where no browser is needed.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tabmux_testkit::patiently;

#[test]
fn installing_again_keeps_the_name_and_the_port_unless_others_are_given() {
    let home = tempfile::tempdir().unwrap();
    let install = |more: &[&str]| {
        let arguments = [&["install", "--wait=0"], more].concat();
        let output = extension(home.path(), &arguments);
        assert!(output.status.success(), "{output:?}");
        let text = fs::read_to_string(home.path().join("tabmux/extension/pairing.json")).unwrap();
        let pairing: Value = serde_json::from_str(&text).unwrap();
        (
            pairing["port"].as_u64(),
            pairing["name"].as_str().map(str::to_owned),
        )
    };
    assert_eq!(install(&[]), (Some(8765), None));
    let work = (Some(9001), Some("Work".to_owned()));
    assert_eq!(install(&["--name", "Work", "--port", "9001"]), work);
    assert_eq!(install(&[]), work);
    assert_eq!(
        install(&["--name", "Home"]),
        (Some(9001), Some("Home".to_owned()))
    );
    assert_eq!(install(&["--name="]), (Some(9001), None));
}

#[test]
fn without_an_installation_rotate_and_uninstall_change_nothing() {
    let home = tempfile::tempdir().unwrap();
    let rotated = extension(home.path(), &["rotate"]);
    assert_eq!(rotated.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&rotated.stderr),
        "tabmux: no extension is paired; run `tabmux extension install`\n"
    );
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    let removed = extension(home.path(), &["uninstall"]);
    assert!(removed.status.success());
    assert_eq!(
        said(&removed),
        "The extension is not installed, so nothing was removed.\n"
    );
}

#[test]
fn a_broken_pairing_is_reported_with_advice() {
    let home = tempfile::tempdir().unwrap();
    extension(home.path(), &["install", "--wait=0"]);
    let status = || {
        let json = extension(home.path(), &["status", "--json"]);
        let json: Value = serde_json::from_slice(&json.stdout).unwrap();
        (
            json["paired"] == true,
            said(&extension(home.path(), &["status"])),
        )
    };
    let (paired, told) = status();
    assert!(paired && !told.contains("not paired"), "{told}");
    let folder = home.path().join("tabmux");
    let secret = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let secret = secret
        .filter(|path| path.is_file())
        .find(|path| fs::read_to_string(path).is_ok_and(|text| text.trim().len() == 64));
    let secret = secret.unwrap();
    fs::write(&secret, "ab".repeat(32)).unwrap();
    let (paired, told) = status();
    assert!(!paired, "{told}");
    assert!(
        told.contains("It is not paired. Its folder holds another secret than the daemon's"),
        "{told}"
    );
    assert!(
        told.contains("Run `tabmux extension install`, then reload"),
        "{told}"
    );
    fs::write(&secret, "none").unwrap();
    assert!(status().1.contains("Run `tabmux extension rotate`."));
    fs::remove_file(&secret).unwrap();
    assert!(
        status()
            .1
            .contains("Run `tabmux extension install`, then reload")
    );
}

#[tokio::test]
async fn status_says_how_to_reconnect_an_extension() {
    let home = tempfile::tempdir().unwrap();
    extension(home.path(), &["install", "--wait=0"]);
    let told = |arguments: &[&str]| {
        let output = extension(home.path(), arguments);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        said(&output)
    };
    let without_daemon = told(&["status"]);
    assert!(
        without_daemon.contains("No daemon is running"),
        "{without_daemon}"
    );
    let daemon = tabmux(home.path(), &["daemon", "run", "--port=0"]);
    let mut daemon = tokio::process::Command::from(daemon);
    daemon.stderr(Stdio::null()).kill_on_drop(true);
    let _daemon = daemon.spawn().unwrap();
    let is_up = async {
        while told(&["status", "--json"]).contains("\"daemon\": false") {
            tokio::task::yield_now().await;
        }
    };
    patiently(is_up, || "a daemon that answers".into()).await;
    assert_eq!(
        told(&["status"]),
        "It is installed.\nIt is not connected. Open the browser in which it is loaded. If it is still not \
         connected after a minute, click the reload arrow of \"tabmux Browser Tools\" in chrome://extensions.\n"
    );
}

fn extension(home: &Path, arguments: &[&str]) -> Output {
    let arguments = [&["extension"], arguments].concat();
    tabmux(home, &arguments).output().unwrap()
}

fn tabmux(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tabmux"));
    command.args(arguments).env_clear().env("HOME", home);
    command
        .env("XDG_DATA_HOME", home)
        .env("XDG_RUNTIME_DIR", home);
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
