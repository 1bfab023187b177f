//! `tabmux skill`: where the file goes, and that the commands in it work.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

#[test]
fn the_skill_is_written_where_agents_look_and_removed_again() {
    let home = tempfile::tempdir().unwrap();
    let for_all = home.path().join(".agents/skills/tabmux/SKILL.md");
    let for_claude = home.path().join(".claude/skills/tabmux/SKILL.md");
    let install = || tabmux(home.path(), &["skill", "install"]);
    assert_eq!(install().status.code(), Some(0));
    assert!(for_all.is_file() && !home.path().join(".claude").exists());
    fs::create_dir(home.path().join(".claude")).unwrap();
    let told = text(&install().stdout);
    assert!(
        told.contains("already has it") && told.contains("was written"),
        "{told}"
    );
    let shown = tabmux(home.path(), &["skill", "show"]).stdout;
    assert_eq!(fs::read(&for_claude).unwrap(), shown);
    // An older version of it is replaced.
    fs::write(&for_all, "---\nname: tabmux\n---\nold").unwrap();
    install();
    assert_eq!(fs::read(&for_all).unwrap(), shown);
    tabmux(home.path(), &["skill", "uninstall"]);
    assert!(!for_all.parent().unwrap().exists() && !for_claude.exists());
}

#[test]
fn the_file_of_someone_else_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("tabmux/SKILL.md");
    fs::create_dir(home.path().join("tabmux")).unwrap();
    fs::write(&file, "mine").unwrap();
    let folder = home.path().to_str().unwrap();
    for command in ["install", "uninstall"] {
        let output = tabmux(home.path(), &["skill", command, "--folder", folder]);
        assert_eq!(output.status.code(), Some(1));
        let complaint = text(&output.stderr);
        assert!(
            complaint.contains("is not from tabmux, so it was kept"),
            "{complaint}"
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    }
}

#[test]
fn its_commands_work_in_a_real_browser() {
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let skill = text(&tabmux(home.path(), &["skill", "show"]).stdout);
    let commands = commands(&skill);
    let names: Vec<&str> = commands.iter().map(|words| words[0].as_str()).collect();
    assert_eq!(names, ["open", "snapshot", "fill", "click", "screenshot"]);
    let mut answers = Vec::new();
    for words in &commands {
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        if words[0] == "open" {
            words[1] = PAGE;
            words.extend([
                "--headless",
                "--isolated",
                "--executablePath",
                browser.to_str().unwrap(),
            ]);
        }
        let output = tabmux(home.path(), &words);
        let answer = text(&output.stdout);
        if output.status.code() != Some(0) {
            tabmux(home.path(), &["daemon", "stop"]);
            panic!("{words:?}: {answer}{}{answers:?}", text(&output.stderr));
        }
        answers.push(answer);
    }
    let title = tabmux(
        home.path(),
        &[
            "call",
            "evaluate_script",
            "--function",
            "() => document.title",
        ],
    );
    tabmux(home.path(), &["daemon", "stop"]);
    assert!(
        text(&title.stdout).contains("Saved Ada Lovelace"),
        "{title:?}"
    );
    assert!(
        fs::read(home.path().join("page.png"))
            .unwrap()
            .starts_with(b"\x89PNG")
    );
}

/// The commands of its first block, without `tabmux`, in words.
fn commands(skill: &str) -> Vec<Vec<String>> {
    let block = skill.split("```").nth(1).unwrap();
    let lines = block
        .lines()
        .filter_map(|line| line.strip_prefix("tabmux "));
    let words = |line: &str| {
        let parts = line.split('"').enumerate();
        let words = parts.flat_map(|(index, part)| match index % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        });
        words.collect::<Vec<_>>()
    };
    lines.map(words).collect()
}

fn tabmux(home: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tabmux"));
    command.args(words).current_dir(home);
    command
        .env("HOME", home)
        .env("XDG_DATA_HOME", home)
        .env("TABMUX_PORT", "0");
    command
        .env("TABMUX_SOCKET", home.join("daemon.sock"))
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A page on which the uids of the skill's commands are those of a field and a button.
const PAGE: &str = "data:text/html,<title>Names</title><h1>Names</h1><p>Save a name.</p>\
                    <input aria-label=Name><button onclick=\"document.title='Saved '\
                    +document.querySelector('input').value\">Save</button>";
