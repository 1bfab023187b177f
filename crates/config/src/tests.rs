//! What the file adds to command lines.

use super::*;
use std::fs;
use tempfile::TempDir;

/// A file with this text, in a folder of its own.
fn file(text: &str) -> (TempDir, ConfigFile) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tabmux.toml");
    fs::write(&path, text).unwrap();
    let file = ConfigFile::read(Some(path)).unwrap();
    (folder, file)
}

/// The flags that `tabmux mcp` has from the file beside these words, or what is wrong.
fn added(text: &str, words: &[&str]) -> Result<Vec<String>, String> {
    let (folder, file) = file(text);
    let name = format!("--config={}", file.path.display());
    let own = ["tabmux", "mcp", &name].map(OsString::from);
    let given: Vec<_> = words.iter().map(OsString::from).collect();
    let all = own.iter().cloned().chain(given).collect();
    let place = format!("{}/", folder.path().display());
    let complete = complete(tabmux_stdio_proxy::Args::parser, MCP, all, &[])
        .map_err(|error| said(error).replace(&file.path.display().to_string(), "FILE"))?;
    let more = complete
        .iter()
        .skip(2)
        .take(complete.len() - own.len() - words.len());
    Ok(more
        .map(|word| word.to_string_lossy().replace(&place, "FOLDER/"))
        .collect())
}

/// The first sentence of an error of the command line.
fn said(error: clap::Error) -> String {
    let text = error.to_string();
    let lines = text.lines().take_while(|line| !line.is_empty());
    let text: Vec<_> = lines.map(str::trim).collect();
    text.join(" ").replacen("error: ", "", 1)
}

fn refusal(text: &str) -> String {
    added(text, &[]).unwrap_err()
}

#[test]
fn settings_are_the_flags_in_any_spelling() {
    let text = r#"
        [mcp]
        headless = true
        follow-user-focus = true
        tools = "static"
        changes = false
        generatedTools = 5
        allowedOrigins = ["https://a.test", "https://b.test"]
        categories = ["input", "network"]
        categoryStorage = true
    "#;
    assert_eq!(
        added(text, &[]).unwrap(),
        [
            "--headless",
            "--followUserFocus",
            "--tools=static",
            "--changes=off",
            "--generatedTools=5",
            "--allowedOrigins=https://a.test",
            "--allowedOrigins=https://b.test",
            "--categories=input",
            "--categories=network",
            "--categoryStorage=true",
        ]
    );
}

#[test]
fn paths_are_relative_to_the_folder_of_the_file() {
    let text = "[mcp]\nsecrets = 'secrets.env'\nfilesystemRoot = ['files', '/data']\nexecutablePath = 'chromium'\n";
    assert_eq!(
        added(text, &[]).unwrap(),
        [
            "--secrets=FOLDER/secrets.env",
            "--filesystemRoot=FOLDER/files",
            "--filesystemRoot=/data",
            "--executablePath=chromium",
        ]
    );
    let command = "[mcp]\nsecrets = 'exec:pass show tabmux'\n";
    assert_eq!(
        added(command, &[]).unwrap(),
        ["--secrets=exec:pass show tabmux"]
    );
}

#[test]
fn a_flag_overrides_the_profile_and_the_profile_overrides_the_table() {
    let text = "[mcp]\nheadless = true\ntools = 'static'\nconfirm = 'never'\n\
                [profiles.ci]\nheadless = false\ntools = 'auto'\n";
    assert_eq!(
        added(text, &[]).unwrap(),
        ["--headless", "--tools=static", "--confirm=never"]
    );
    assert_eq!(
        added(text, &["--profile", "ci"]).unwrap(),
        ["--confirm=never", "--tools=auto"]
    );
    assert_eq!(
        added(text, &["--profile=ci", "--tools", "progressive"]).unwrap(),
        ["--confirm=never"]
    );
}

#[test]
fn a_browser_that_is_chosen_replaces_another_one_with_all_that_belongs_to_it() {
    let launched = "[mcp]\nisolated = true\nuserAgent = 'me'\nheadless = true\ntools = 'static'\n";
    for chosen in [
        &["--browserUrl", "http://127.0.0.1:9222"][..],
        &["--autoConnect"],
    ] {
        assert_eq!(
            added(launched, chosen).unwrap(),
            ["--headless", "--tools=static"],
            "{chosen:?}"
        );
    }
    assert_eq!(
        added(launched, &["--extension"]).unwrap(),
        ["--tools=static"]
    );
    assert_eq!(
        added(launched, &["--userDataDir", "/tmp/profile"]).unwrap(),
        ["--userAgent=me", "--headless", "--tools=static"],
        "--isolated and --userDataDir exclude each other"
    );
    let attached = "[mcp]\nwsEndpoint = 'ws://127.0.0.1:9/x'\nwsHeaders = '{\"A\":\"b\"}'\n";
    assert_eq!(added(attached, &["--isolated"]).unwrap(), [""; 0]);
    assert_eq!(
        added(attached, &["--browserUrl=http://127.0.0.1:1"]).unwrap(),
        [""; 0]
    );
}

#[test]
fn a_switch_that_the_command_line_turns_off_is_off() {
    let (_folder, file) = file("[mcp]\nheadless = true\nslim = true\n");
    let name = OsString::from(format!("--config={}", file.path.display()));
    let words = vec!["tabmux".into(), "mcp".into(), name];
    let complete = complete(tabmux_stdio_proxy::Args::parser, MCP, words, &["headless"]).unwrap();
    assert_eq!(complete[2..complete.len() - 1], ["--slim"]);
}

#[test]
fn a_wrong_setting_says_where_it_is_and_what_to_write() {
    for (text, expected) in [
        (
            "[mcp]\nheadles = true\n",
            "FILE, line 2: there is no setting `headles` in [mcp]; did you mean `headless`?",
        ),
        (
            "[mcp]\n\nqqq = 1\n",
            "FILE, line 3: there is no setting `qqq` in [mcp]; the settings are the flags of `tabmux mcp`, without hyphens before them",
        ),
        (
            "[mcp]\nheadless = 'yes'\n",
            "FILE, line 2: `headless` is true or false",
        ),
        (
            "[mcp]\ntools = ['static', 'auto']\n",
            "FILE, line 2: `tools` has one value, not a list",
        ),
        (
            "[mcp]\nallowedOrigins = []\n",
            "FILE, line 2: `allowedOrigins` is an empty list; leave it out",
        ),
        (
            "[mcp]\ntools = { is = 'static' }\n",
            "FILE, line 2: `tools` is a text, a number, true or false",
        ),
        (
            "[mcp.tools]\nis = 'static'\n",
            "FILE, line 1: `tools` has a value, not a table of its own",
        ),
        (
            "[mcp]\nallowedOrigins = 'https://a.test'\nallowed-origins = 'https://b.test'\n",
            "FILE, line 3: `allowed-origins` is already set in line 2",
        ),
        (
            "[mcp]\nwsHeaders = '{}'\n",
            "FILE, [mcp]: the following required arguments were not provided: --wsEndpoint <[NAME=]URL[|COMMAND]>",
        ),
        (
            "[mcp]\nbrowserUrl = 'work=|start --token secret'\n",
            "FILE, line 2: invalid value '…' for '--browserUrl <[NAME=]URL[|COMMAND]>': write it like http://127.0.0.1:9222",
        ),
        (
            "[mcp]\nsocket = '/tmp/s'\n",
            "FILE, line 2: `socket` cannot be set here: all commands of tabmux must use the same one; set TABMUX_SOCKET instead",
        ),
        (
            "[mcp]\ntools = 'dynamic'\n",
            "FILE, line 2: invalid value 'dynamic' for '--tools <TOOLS>' [possible values: auto, progressive, static]",
        ),
        (
            "[mcp]\nisolated = true\nuserDataDir = '/x'\n",
            "FILE, line 2: the argument '--isolated' cannot be used with '--userDataDir <DIR>'",
        ),
    ] {
        assert_eq!(refusal(text), expected, "{text}");
    }
    assert_eq!(
        added("[profiles.ci]\n[profiles.work]\n", &["--profile", "home"]).unwrap_err(),
        "FILE: there is no profile `home`; there are: ci, work"
    );
}

#[test]
fn what_is_wrong_without_the_file_is_not_blamed_on_it() {
    let said = added("[mcp]\nheadless = true\n", &["--tools", "none"]).unwrap_err();
    assert!(
        said.starts_with("invalid value 'none' for '--tools"),
        "{said}"
    );
}

/// The flags that replace each other must exist.
#[test]
fn the_names_of_browser_flags_are_flags() {
    let mut parser = tabmux_stdio_proxy::Args::parser();
    parser.build();
    let command = command_below(&parser, MCP.path).unwrap();
    for name in precedence::browser_flags().chain(MCP.refused.iter().map(|(name, _)| *name)) {
        let mut all = command.get_arguments();
        assert!(all.any(|arg| arg.get_long() == Some(name)), "{name}");
    }
}
