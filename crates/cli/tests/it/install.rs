//! `tabmux install` and `tabmux uninstall`, in their own home folder.

use std::fs;
use std::os::unix::fs::PermissionsExt;
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

/// And docs/clients.md shows the same entry to those who write it by hand.
#[test]
fn every_client_gets_its_entry_in_its_own_config() {
    let home = tempfile::tempdir().unwrap();
    let names = CLIENTS.map(|(name, ..)| name);
    let output = tabmux(home.path(), &[&["install"], &names[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let guide = include_str!("../../../../docs/clients.md");
    let blocks: Vec<&str> = guide.split("```").skip(1).step_by(2).collect();
    for (name, path, expected) in CLIENTS {
        let text = read(home.path(), path).replace(env!("CARGO_BIN_EXE_tabmux"), "tabmux");
        let is_shown = if expected.is_json() {
            let same = |block: &&str| json_of(block.strip_prefix("json")) == Some(expected.value());
            assert_eq!(json_of(Some(&text)), Some(expected.value()), "{name}");
            blocks.iter().any(same)
        } else {
            assert_eq!(text, expected.0, "{name}");
            blocks
                .iter()
                .any(|block| block.ends_with(&format!("\n{}", expected.0)))
        };
        assert!(
            is_shown,
            "docs/clients.md does not show the entry of {name}"
        );
    }
}

fn json_of(text: Option<&str>) -> Option<serde_json::Value> {
    serde_json::from_str(text?).ok()
}

/// A whole config with nothing but our entry.
#[derive(Clone, Copy)]
struct Config(&'static str);

impl Config {
    fn is_json(self) -> bool {
        self.0.starts_with('{')
    }

    fn value(self) -> serde_json::Value {
        serde_json::from_str(self.0).unwrap()
    }
}

const PLAIN: Config =
    Config(r#"{"mcpServers": {"browser": {"command": "tabmux", "args": ["mcp"]}}}"#);

/// The clients, their configs, and what is in them.
const CLIENTS: [(&str, &str, Config); 16] = [
    (
        "claude-code",
        ".claude.json",
        Config(
            r#"{"mcpServers": {"browser": {"type": "stdio", "command": "tabmux", "args": ["mcp"]}}}"#,
        ),
    ),
    (
        "claude-desktop",
        "xdg/Claude/claude_desktop_config.json",
        PLAIN,
    ),
    ("cursor", ".cursor/mcp.json", PLAIN),
    (
        "vscode",
        "xdg/Code/User/mcp.json",
        Config(
            r#"{"servers": {"browser": {"type": "stdio", "command": "tabmux", "args": ["mcp"]}}}"#,
        ),
    ),
    (
        "codex",
        ".codex/config.toml",
        Config("[mcp_servers.browser]\ncommand = \"tabmux\"\nargs = [\"mcp\"]\n"),
    ),
    ("gemini", ".gemini/settings.json", PLAIN),
    ("windsurf", ".codeium/windsurf/mcp_config.json", PLAIN),
    (
        "opencode",
        "xdg/opencode/opencode.json",
        Config(
            r#"{"mcp": {"browser": {"type": "local", "command": ["tabmux", "mcp"], "enabled": true}}}"#,
        ),
    ),
    (
        "zed",
        "xdg/zed/settings.json",
        Config(r#"{"context_servers": {"browser": {"command": "tabmux", "args": ["mcp"]}}}"#),
    ),
    (
        "cline",
        "xdg/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        PLAIN,
    ),
    (
        "roo",
        "xdg/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        PLAIN,
    ),
    ("continue", ".continue/mcpServers/tabmux.json", PLAIN),
    (
        "goose",
        "xdg/goose/config.yaml",
        Config(
            "extensions:\n  browser:\n    enabled: true\n    type: stdio\n    name: browser\n    cmd: tabmux\n    \
             args:\n    - mcp\n    envs: {}\n    timeout: 300\n",
        ),
    ),
    (
        "amp",
        "xdg/amp/settings.json",
        Config(r#"{"amp.mcpServers": {"browser": {"command": "tabmux", "args": ["mcp"]}}}"#),
    ),
    ("junie", ".junie/mcp/mcp.json", PLAIN),
    ("lmstudio", ".lmstudio/mcp.json", PLAIN),
];

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
fn an_entry_of_npx_is_recognised_and_becomes_the_program_itself() {
    let by_npx = r#"{"mcpServers": {"browser": {"command": "npx", "args": ["-y", "tabmux", "mcp", "--headless"]}}}"#;
    let home = home_with(".cursor/mcp.json", by_npx);
    tabmux(home.path(), &["install", "cursor"]);
    let itself = by_npx.replace("\"npx\"", concat!('"', env!("CARGO_BIN_EXE_tabmux"), '"'));
    let itself = itself.replace(r#""-y", "tabmux", "#, "");
    assert_eq!(read(home.path(), ".cursor/mcp.json"), itself);
    let home = home_with(".cursor/mcp.json", by_npx);
    tabmux(home.path(), &["uninstall", "cursor"]);
    assert_eq!(
        read(home.path(), ".cursor/mcp.json"),
        r#"{"mcpServers": {}}"#
    );
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

#[test]
fn all_shows_every_client_that_is_here_and_writes_only_with_yes() {
    let home = home_with(".cursor/mcp.json", OTHERS);
    fs::create_dir_all(home.path().join("xdg/goose")).unwrap();
    let shown = tabmux(home.path(), &["install", "--all"]);
    let shown = told(&shown.stdout, home.path());
    assert!(
        shown.starts_with("cursor: HOME/.cursor/mcp.json\n"),
        "{shown}"
    );
    assert!(
        shown.contains("goose: HOME/xdg/goose/config.yaml\n"),
        "{shown}"
    );
    assert!(
        shown.ends_with(
            "Standard input is not a terminal, so this cannot be confirmed. Add --yes to write this.\nNothing was written.\n"
        ),
        "{shown}"
    );
    assert_eq!(read(home.path(), ".cursor/mcp.json"), OTHERS);
    tabmux(home.path(), &["install", "--all", "--yes"]);
    assert!(read(home.path(), ".cursor/mcp.json").contains("browser"));
    assert!(read(home.path(), "xdg/goose/config.yaml").contains("browser"));
    assert!(!home.path().join(".claude.json").exists());
    tabmux(home.path(), &["uninstall", "--all", "--yes"]);
    assert_eq!(read(home.path(), ".cursor/mcp.json"), OTHERS);
}

#[test]
fn without_any_client_all_says_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let output = tabmux(home.path(), &["install", "--all"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        told(&output.stderr, home.path()),
        "tabmux: no MCP client that tabmux knows was found here; name one: tabmux install CLIENT\n"
    );
}

#[test]
fn a_program_in_a_build_folder_is_not_written() {
    let home = home_with(".cursor/mcp.json", OTHERS);
    let install = |path: &str| {
        Command::new(env!("CARGO_BIN_EXE_tabmux"))
            .args(["install", "cursor"])
            .env_clear()
            .env("HOME", home.path())
            .env("PATH", path)
            .output()
            .unwrap()
    };
    let refused = told(&install("").stderr, home.path());
    assert!(
        refused
            .starts_with("tabmux: TABMUX is in a folder that a build or a package runner deletes"),
        "{refused}"
    );
    assert_eq!(read(home.path(), ".cursor/mcp.json"), OTHERS);
    let bin = home.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let program = bin.join("tabmux");
    for (mode, said) in [
        (0o755, "Another Program 1.0"),
        (0o755, "tabmuxer 1.0"),
        (0o644, "tabmux 9.9.9"),
    ] {
        make_program(&program, mode, said);
        assert_eq!(install(bin.to_str().unwrap()).status.code(), Some(1));
        assert_eq!(read(home.path(), ".cursor/mcp.json"), OTHERS, "{said}");
    }
    make_program(&program, 0o755, "tabmux 9.9.9");
    install(bin.to_str().unwrap());
    let written = read(home.path(), ".cursor/mcp.json");
    assert!(written.contains(program.to_str().unwrap()), "{written}");
}

/// A program that only prints its version.
fn make_program(path: &Path, mode: u32, said: &str) {
    fs::write(path, format!("#!/bin/sh\necho {said}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
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
    let (command, rest) = arguments.split_first().unwrap();
    // The program under test is in a build folder, whose path is not written unless it is named.
    let named = ["--command", env!("CARGO_BIN_EXE_tabmux")];
    let named = named.iter().filter(|_| *command == "install");
    Command::new(env!("CARGO_BIN_EXE_tabmux"))
        .arg(command)
        .args(named)
        .args(rest)
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
