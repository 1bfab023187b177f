//! `tabmux config`, and clients that have settings from the file.

use serde_json::json;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};
use tabmux_testkit::McpClient;

/// A home with this config file.
fn home(text: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("config/tabmux");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("tabmux.toml"), text).unwrap();
    home
}

fn command(home: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tabmux"));
    command
        .args(words)
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("XDG_RUNTIME_DIR", home)
        .env("COLUMNS", "200");
    for name in [
        "TABMUX_CONFIG",
        "TABMUX_PROFILE",
        "TABMUX_SOCKET",
        "TABMUX_LOG",
    ] {
        command.env_remove(name);
    }
    command
}

fn run(home: &Path, words: &[&str]) -> Output {
    command(home, words).output().unwrap()
}

/// The output, with FILE for the file.
fn said(home: &Path, words: &[&str]) -> String {
    let output = run(home, words);
    assert!(output.status.success(), "{output:?}");
    named(home, &output.stdout)
}

fn complaint(home: &Path, words: &[&str]) -> String {
    let output = run(home, words);
    assert!(!output.status.success(), "{output:?}");
    named(home, &output.stderr)
}

fn named(home: &Path, text: &[u8]) -> String {
    let file = home.join("config/tabmux/tabmux.toml");
    String::from_utf8_lossy(text).replace(&file.display().to_string(), "FILE")
}

const TWO: &str = "[mcp]\nheadless = true\ntools = 'static'\n\n[profiles.ci]\nisolated = true\n";

/// The names of the tools that a client without a daemon gets.
async fn tools(home: &Path, words: &[&str]) -> Vec<String> {
    let words = [&["mcp", "--no-daemon"], words].concat();
    let client = McpClient::spawn(command(home, &words));
    client.initialize_named("claude-code").await;
    let list = client.request("tools/list", json!({})).await.unwrap();
    let rows = list["tools"].as_array().unwrap().iter();
    rows.map(|row| row["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_client_has_the_flags_of_the_file_unless_it_has_its_own() {
    let home = home("[mcp]\ntools = 'static'\n[profiles.small]\nslim = true\n");
    let fixed = tools(home.path(), &[]).await;
    assert!(fixed.len() > 30, "{fixed:?}");
    let small = ["evaluate", "navigate", "screenshot"];
    assert_eq!(tools(home.path(), &["--profile", "small"]).await, small);
    let own = tools(home.path(), &["--tools", "progressive"]).await;
    assert_eq!(own, ["connect_browser"]);

    let other = home.path().join("other.toml");
    fs::write(&other, "[mcp]\nslim = true\n").unwrap();
    let named = format!("--config={}", other.display());
    assert_eq!(tools(home.path(), &[&named]).await, small);
}

#[test]
fn the_settings_are_shown_with_their_places() {
    let home = home(TWO);
    assert_eq!(
        said(home.path(), &["config", "show", "--profile", "ci"]),
        "FILE\n\n\
         FLAG        FROM                   VALUE\n\
         --headless  [mcp], line 2          true\n\
         --tools     [mcp], line 3          static\n\
         --isolated  [profiles.ci], line 6  true\n"
    );
    assert_eq!(said(home.path(), &["config", "path"]), "FILE\n");
    assert_eq!(
        said(home.path(), &["config", "check"]),
        "FILE is correct. Profiles: ci.\n"
    );
    let none = tempfile::tempdir().unwrap();
    let nothing = "There is no file FILE; every flag has its default.\n";
    assert_eq!(said(none.path(), &["config", "check"]), nothing);
    assert_eq!(said(none.path(), &["config", "show"]), nothing);
}

#[test]
fn passwords_in_the_file_are_not_shown() {
    let home = home(
        "[mcp]\nbrowserUrl = ['grid=grid+https://me:secret1@hub.test?k=secret2', 'http://a.test?token=secret3|start it']\n\
         proxyServer = 'http://me:secret4@proxy.test'\nwsHeaders = '{\"Authorization\":\"secret5\"}'\n",
    );
    for words in [&["config", "show"][..], &["config", "show", "--json"]] {
        let shown = said(home.path(), words);
        assert!(!shown.contains("secret"), "{shown}");
        assert!(
            shown.contains("hub.test") && shown.contains("start it"),
            "{shown}"
        );
    }
}

#[test]
fn everything_that_is_wrong_is_named_at_once() {
    let home = home("[mcp]\nheadles = true\n[profiles.ci]\ntools = 'all'\n[daemon]\nport = 1\n");
    assert_eq!(
        complaint(home.path(), &["config", "check"]),
        "tabmux: FILE, line 2: there is no setting `headles` in [mcp]; did you mean `headless`?\n\
         tabmux: FILE, line 6: `port` cannot be set here: pages and the extension must know it, too; set TABMUX_PORT instead\n"
    );
    let refused = complaint(home.path(), &["mcp"]);
    assert!(
        refused.contains("FILE, line 2: there is no setting `headles`"),
        "{refused}"
    );
    let refused = complaint(home.path(), &["serve"]);
    assert!(
        refused.contains("FILE, line 2: there is no setting `headles`"),
        "{refused}"
    );
    let refused = complaint(home.path(), &["daemon", "run"]);
    assert!(
        refused.contains("FILE, line 6: `port` cannot be set here"),
        "{refused}"
    );
    let doctor = run(home.path(), &["doctor"]);
    let report = named(home.path(), &doctor.stdout);
    assert!(
        report.contains("config") && report.contains("so no client can start"),
        "{report}"
    );
}

#[test]
fn a_file_that_others_can_change_is_refused() {
    let home = home(TWO);
    let file = home.path().join("config/tabmux/tabmux.toml");
    fs::set_permissions(&file, Permissions::from_mode(0o622)).unwrap();
    for words in [&["mcp"][..], &["config", "check"], &["config", "show"]] {
        let refused = complaint(home.path(), words);
        assert!(refused.contains("run `chmod go-w` on it"), "{refused}");
    }
}
