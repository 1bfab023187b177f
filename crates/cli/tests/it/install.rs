//! `tabmux install` and `tabmux uninstall`, in their own home folder.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

#[test]
fn a_dry_run_shows_the_change_and_writes_nothing() {
    let home = home_with(".cursor/mcp.json", OTHERS);
    let output = tabmux(home.path(), &["install", "cursor", "--dry-run"]);
    assert_eq!(
        told(&output.stdout, home.path()),
        "cursor: HOME/.cursor/mcp.json
        \"docs\": {
          \"command\": \"docs\"
  +     },
  +     \"browser\": {
  +       \"command\": \"TABMUX\",
  +       \"args\": [\"mcp\"]
        }
      },
Nothing was written. Run it without --dry-run to write this.
"
    );
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(read(home.path(), ".cursor/mcp.json"), OTHERS);
    assert!(!home.path().join(".cursor/mcp.json.bak").exists());
}

#[test]
fn installing_keeps_a_backup_and_a_second_time_changes_nothing() {
    let home = home_with(".cursor/mcp.json", OTHERS);
    let first = tabmux(home.path(), &["install", "cursor"]);
    let first = told(&first.stdout, home.path());
    assert!(
        first.ends_with(
            "Written. The old file is kept as HOME/.cursor/mcp.json.bak. Restart the client to use it.\n"
        ),
        "{first}"
    );
    assert_eq!(read(home.path(), ".cursor/mcp.json.bak"), OTHERS);
    let installed = read(home.path(), ".cursor/mcp.json");
    let json: serde_json::Value = serde_json::from_str(&installed).unwrap();
    assert_eq!(json["mcpServers"]["docs"]["command"], "docs");
    assert_eq!(
        json["mcpServers"]["browser"]["command"],
        env!("CARGO_BIN_EXE_tabmux")
    );

    let second = tabmux(home.path(), &["install", "cursor"]);
    assert_eq!(
        told(&second.stdout, home.path()),
        "cursor: HOME/.cursor/mcp.json already has it.\n"
    );
    assert_eq!(read(home.path(), ".cursor/mcp.json"), installed);
    assert_eq!(read(home.path(), ".cursor/mcp.json.bak"), OTHERS);

    tabmux(home.path(), &["uninstall", "cursor"]);
    assert_eq!(read(home.path(), ".cursor/mcp.json"), OTHERS);
    let again = tabmux(home.path(), &["uninstall", "cursor"]);
    assert_eq!(
        told(&again.stdout, home.path()),
        "cursor: HOME/.cursor/mcp.json has no tabmux entry.\n"
    );
}

#[test]
fn every_client_gets_its_entry_in_its_own_config() {
    let home = tempfile::tempdir().unwrap();
    let clients = [
        ("claude-code", ".claude.json", "mcpServers"),
        (
            "claude-desktop",
            "xdg/Claude/claude_desktop_config.json",
            "mcpServers",
        ),
        ("cursor", ".cursor/mcp.json", "mcpServers"),
        ("vscode", "xdg/Code/User/mcp.json", "\"servers\""),
        ("codex", ".codex/config.toml", "[mcp_servers.browser]"),
        ("gemini", ".gemini/settings.json", "mcpServers"),
        (
            "windsurf",
            ".codeium/windsurf/mcp_config.json",
            "mcpServers",
        ),
    ];
    let names = clients.map(|(name, ..)| name);
    let output = tabmux(home.path(), &[&["install"], &names[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for (name, path, key) in clients {
        let text = read(home.path(), path);
        assert!(
            text.contains(key) && text.contains("\"mcp\""),
            "{name}: {text}"
        );
    }
}

#[test]
fn installing_again_after_a_move_keeps_arguments_that_the_user_added() {
    let theirs = r#"["mcp", "--allowedOrigins", "https://example.com"]"#;
    let json = format!(
        r#"{{"mcpServers": {{"browser": {{"command": "/old/tabmux", "args": {theirs}}}}}}}"#
    );
    let toml = format!("[mcp_servers.browser]\ncommand = \"/old/tabmux\"\nargs = {theirs}\n");
    for (client, path, config) in [
        ("codex", ".codex/config.toml", &toml),
        (
            "claude-desktop",
            "xdg/Claude/claude_desktop_config.json",
            &json,
        ),
        ("cursor", ".cursor/mcp.json", &json),
    ] {
        let home = home_with(path, config);
        let output = tabmux(home.path(), &["install", client]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let expected = config.replace("/old/tabmux", env!("CARGO_BIN_EXE_tabmux"));
        assert_eq!(read(home.path(), path), expected, "{client}");
    }
}

#[test]
fn an_entry_of_another_name_is_suggested() {
    let home = home_with(".cursor/mcp.json", OTHERS);
    tabmux(home.path(), &["install", "cursor", "--name", "tabs"]);
    let output = tabmux(home.path(), &["uninstall", "cursor"]);
    assert_eq!(
        told(&output.stdout, home.path()),
        "cursor: HOME/.cursor/mcp.json has no tabmux entry named `browser`, but one named `tabs`; \
         use --name tabs to remove it.\n"
    );
    tabmux(home.path(), &["uninstall", "cursor", "--name", "tabs"]);
    assert_eq!(read(home.path(), ".cursor/mcp.json"), OTHERS);
}

#[test]
fn a_broken_config_is_not_changed_and_the_others_are() {
    let home = home_with(".codex/config.toml", "model = = 1\n");
    let output = tabmux(home.path(), &["install", "codex", "gemini"]);
    assert_eq!(output.status.code(), Some(1));
    let complaint = told(&output.stderr, home.path());
    assert!(
        complaint.starts_with("tabmux: codex: HOME/.codex/config.toml is not valid TOML ("),
        "{complaint}"
    );
    assert!(
        complaint.ends_with("so it was not changed. Fix it, then run this again.\n"),
        "{complaint}"
    );
    assert_eq!(read(home.path(), ".codex/config.toml"), "model = = 1\n");
    assert!(!home.path().join(".codex/config.toml.bak").exists());
    assert!(read(home.path(), ".gemini/settings.json").contains("browser"));
}

#[test]
fn a_taken_name_is_an_error_and_another_can_be_chosen() {
    let theirs = "{\"mcpServers\": {\"browser\": {\"command\": \"npx\", \"args\": []}}}";
    let home = home_with(".claude.json", theirs);
    let output = tabmux(home.path(), &["install", "claude-code"]);
    assert_eq!(
        told(&output.stderr, home.path()),
        "tabmux: claude-code: HOME/.claude.json already has another server named `browser`, so it \
         was not changed. Choose another name with --name.\n"
    );
    assert_eq!(output.status.code(), Some(1));
    let named = [
        "install",
        "claude-code",
        "--name",
        "tabs",
        "--",
        "--headless",
    ];
    tabmux(home.path(), &named);
    let json: serde_json::Value = serde_json::from_str(&read(home.path(), ".claude.json")).unwrap();
    assert_eq!(json["mcpServers"]["browser"]["command"], "npx");
    assert_eq!(
        json["mcpServers"]["tabs"]["args"],
        serde_json::json!(["mcp", "--headless"])
    );
}

const OTHERS: &str = r#"{
  "mcpServers": {
    "docs": {
      "command": "docs"
    }
  },
  "a": 1
}
"#;

fn home_with(path: &str, text: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    home
}

fn tabmux(home: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tabmux"))
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", home.join("xdg"))
        .output()
        .unwrap()
}

fn told(text: &[u8], home: &Path) -> String {
    String::from_utf8_lossy(text)
        .replace(home.to_str().unwrap(), "HOME")
        .replace(env!("CARGO_BIN_EXE_tabmux"), "TABMUX")
}

fn read(home: &Path, path: &str) -> String {
    fs::read_to_string(home.join(path)).unwrap()
}
