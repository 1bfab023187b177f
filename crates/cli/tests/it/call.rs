//! `tabmux call`, `logs` and `completions`, run as a user does.

use std::process::{Command, Output};

#[test]
fn arguments_and_flags_that_make_no_sense_are_usage_errors_and_start_nothing() {
    let home = Home::new();
    let output = home.tabmux(&["call", "list_pages", "[1]"]);
    assert_eq!(output.status.code(), Some(2));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        complaint.starts_with("tabmux: the arguments are neither flags nor a JSON object"),
        "{complaint}"
    );
    let contradiction = ["--isolated", "--browserUrl", "http://127.0.0.1:1"];
    let output = home.tabmux(&[&["call", "list_pages"], &contradiction[..]].concat());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(!home.socket().exists());
}

#[test]
fn wrong_flags_name_the_right_ones_and_start_nothing() {
    let home = Home::new();
    for (words, complaint) in [
        (
            &["call", "click", "--uuid", "1"][..],
            "tabmux: click has no argument --uuid. It takes --uid, --dblClick, --includeSnapshot, --role, --name, --near, --tabId. \
             `tabmux call click --help` shows what it takes.",
        ),
        (
            &["call", "click"],
            "tabmux: click needs --uid, or --role, --name and --near. \
             `tabmux call click --help` shows what it takes.",
        ),
        (
            &["call", "click", "{}", "--uid", "1"],
            "tabmux: Write the arguments as flags or as JSON, not both. \
             `tabmux call click --help` shows what it takes.",
        ),
        (
            &["call", "take_screenshot", "--format", "gif"],
            "tabmux: --format takes png, jpeg or webp, not `gif`. \
             `tabmux call take_screenshot --help` shows what it takes.",
        ),
        (
            &["click"],
            "tabmux: UID is missing. Write `tabmux click UID`. `tabmux snapshot` shows the uid of each element; or name it with --role and --name. \
             `tabmux click --help` shows more.",
        ),
        (
            &["fill", "1_1", "two", "words"],
            "tabmux: `words` is one argument too many. Write `tabmux fill UID VALUE`, with quotes around a text that \
             has spaces. `tabmux fill --help` shows more.",
        ),
        (
            &["call"],
            "tabmux: name a tool, such as `tabmux call list_pages`. `tabmux call --list` shows all of them, \
             `tabmux call --help` the flags.",
        ),
        (
            &["close"],
            "tabmux: no session `default` is open. `tabmux sessions` shows which are.",
        ),
    ] {
        let output = home.tabmux(words);
        assert_ne!(output.status.code(), Some(0), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said.trim_end(), complaint, "{words:?}");
    }
    assert!(!home.socket().exists());
}

#[test]
fn every_tool_can_be_listed_and_explained_in_40_columns() {
    let home = Home::new();
    let shown = |words: &[&str]| {
        let mut command = home.command(words);
        let output = command.env("COLUMNS", "40").output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let help = shown(&["call", "click", "--help"]);
    assert!(
        help.contains("\n  --uid TEXT\n      From take_snapshot or find."),
        "{help}"
    );
    let listed: serde_json::Value =
        serde_json::from_str(&shown(&["call", "--list", "--json"])).unwrap();
    let tools = listed.as_array().unwrap().iter();
    let names: Vec<String> = tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    // Every category is on, because users name the tool that they want.
    assert!(names.contains(&"cookies".to_owned()), "{names:?}");
    let mut screens = vec![shown(&["call", "--list"]), shown(&["call", "--help"])];
    screens.extend(names.iter().map(|name| shown(&["call", name, "--help"])));
    let verbs = ["open", "snapshot", "click", "fill", "screenshot", "close"];
    screens.extend(verbs.map(|verb| shown(&[verb, "--help"])));
    for screen in screens {
        let is_text =
            |line: &&str| line.trim().contains(' ') && !line.trim_start().starts_with('-');
        for line in screen.lines().filter(is_text) {
            assert!(line.chars().count() <= 40, "{line}\n\n{screen}");
        }
    }
    let few: serde_json::Value = serde_json::from_str(&shown(&[
        "call",
        "--once",
        "--list",
        "--json",
        "--categories",
        "input",
    ]))
    .unwrap();
    let few = few.to_string();
    assert!(
        few.contains("\"fill\"") && !few.contains("\"take_snapshot\""),
        "{few}"
    );
}

#[test]
fn the_everyday_commands_work_on_one_page_from_any_folder() {
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    let home = Home::new();
    let pages = tabmux_testkit::FixtureServer::start();
    let body = "<!doctype html><title>Shop</title><label>Name <input></label>\
                <button onclick=\"document.title = document.querySelector('input').value\">Buy</button>";
    pages.route("/shop", tabmux_testkit::Response::html(body));
    let ok = |words: &[&str]| {
        let output = home.tabmux(words);
        assert_eq!(output.status.code(), Some(0), "{words:?} {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let flags = [
        "--headless",
        "--isolated",
        "--executablePath",
        browser.to_str().unwrap(),
    ];
    let address = pages.url("shop");
    let address = address.strip_prefix("http://").unwrap();
    ok(&[&["open", address], &flags[..]].concat());
    let snapshot = ok(&["snapshot"]);
    let uid = |kind: &str| {
        let line = snapshot.lines().find(|line| line.contains(kind)).unwrap();
        let uid = line.split_once("uid=").unwrap().1;
        uid.split([' ', ']']).next().unwrap().to_owned()
    };
    ok(&["fill", &uid("textbox"), "Ada Lovelace"]);
    ok(&["click", &uid("button")]);
    let title = ok(&[
        "call",
        "evaluate_script",
        "--function",
        "() => document.title",
    ]);
    assert_eq!(title.trim(), "\"Ada Lovelace\"");

    // Screenshots are saved in the current folder.
    let said = ok(&["screenshot"]);
    let picture = home.folder.path().join("screenshot.png");
    assert!(said.contains(picture.to_str().unwrap()), "{said}");
    let other_folder = home.folder.path().join("other");
    std::fs::create_dir(&other_folder).unwrap();
    let mut command = home.command(&["screenshot", "shot.jpg"]);
    let output = command.current_dir(&other_folder).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(
        std::fs::read(other_folder.join("shot.jpg"))
            .unwrap()
            .starts_with(b"\xff\xd8")
    );

    let sessions: serde_json::Value = serde_json::from_str(&ok(&["sessions", "--json"])).unwrap();
    assert_eq!(sessions[0]["callsMade"], 7, "{sessions}");
    let status: serde_json::Value = serde_json::from_str(&ok(&["status", "--json"])).unwrap();
    assert!(status["otherDaemons"].is_array(), "{status}");
    assert_eq!(ok(&["close"]), "Session `default` has ended.\n");
    assert_eq!(ok(&["sessions", "--json"]).trim(), "[]");
}

#[test]
fn an_unknown_tool_is_a_usage_error_that_names_the_others_and_the_log_can_be_read() {
    let home = Home::new();
    let before = home.tabmux(&["logs"]);
    assert_eq!(before.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&before.stderr).starts_with("tabmux: there is no log at "));

    let output = home.tabmux(&["call", "list_pagez"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        complaint.starts_with("tabmux: there is no tool `list_pagez`."),
        "{complaint}"
    );
    assert!(complaint.contains("list_pages"), "{complaint}");

    let log = home.tabmux(&["logs"]);
    assert_eq!(log.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&log.stdout).contains("the daemon is up"));
}

#[test]
fn a_tool_answers_with_text_json_a_picture_or_an_error() {
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    let home = Home::new();
    let browser = browser.to_str().unwrap();
    let flags = ["--headless", "--isolated", "--executablePath", browser];
    let call = |arguments: &[&str]| home.tabmux(&[&["call"], arguments, &flags[..]].concat());

    let pages = call(&["list_pages"]);
    assert_eq!(pages.status.code(), Some(0), "{pages:?}");
    assert!(!pages.stdout.is_empty());

    let reply = call(&["list_pages", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&reply.stdout).unwrap();
    assert_eq!(json["content"][0]["type"], "text", "{json}");
    assert_eq!(json["isError"], false);

    let picture = call(&["take_screenshot"]);
    assert_eq!(picture.status.code(), Some(0), "{picture:?}");
    let saved = home.folder.path().join("take_screenshot.png");
    let said = String::from_utf8_lossy(&picture.stdout);
    assert!(
        said.contains(&format!("Saved {}", saved.display())),
        "{said}"
    );
    assert!(std::fs::read(saved).unwrap().starts_with(b"\x89PNG"));

    let wrong = call(&["click", "{\"uid\": \"9_9\"}"]);
    assert_eq!(wrong.status.code(), Some(1), "{wrong:?}");
    assert!(wrong.stdout.is_empty() && !wrong.stderr.is_empty());
}

#[test]
fn a_named_session_keeps_its_tab_between_calls() {
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    let home = Home::new();
    let browser = browser.to_str().unwrap();
    let flags = ["--headless", "--isolated", "--executablePath", browser];
    let call = |session: &str, arguments: &[&str]| {
        home.tabmux(&[&["call", "--session", session], arguments].concat())
    };
    let page = r#"{"url": "data:text/html,<title>Kept</title>"}"#;
    let opened = call("work", &[&["navigate_page", page], &flags[..]].concat());
    assert_eq!(opened.status.code(), Some(0), "{opened:?}");

    // Without a browser flag the session keeps its browser.
    let title = r#"{"function": "() => document.title"}"#;
    let read = call("work", &["evaluate_script", title]);
    assert!(
        String::from_utf8_lossy(&read.stdout).contains("Kept"),
        "{read:?}"
    );

    let other_browser = ["list_pages", "--browserUrl", "http://127.0.0.1:1"];
    let refused = call("work", &other_browser);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(
        said.contains("Session `work` works with another browser"),
        "{said}"
    );

    let sessions = home.tabmux(&["sessions", "--json"]);
    let sessions: serde_json::Value = serde_json::from_slice(&sessions.stdout).unwrap();
    assert_eq!(sessions.as_array().unwrap().len(), 1, "{sessions}");
    assert_eq!(sessions[0]["client"], "tabmux call (work)");
}

#[test]
fn shells_get_their_completions() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let output = home.tabmux(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0));
        assert!(
            String::from_utf8_lossy(&output.stdout).contains("doctor"),
            "{shell}"
        );
    }
}

/// A folder with its own daemon, which is stopped at the end.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    fn socket(&self) -> std::path::PathBuf {
        self.folder.path().join("daemon.sock")
    }

    fn tabmux(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let folder = self.folder.path();
        let mut command = Command::new(env!("CARGO_BIN_EXE_tabmux"));
        command
            .args(arguments)
            .current_dir(folder)
            .env("TABMUX_SOCKET", self.socket())
            .env("TABMUX_PORT", "0")
            .env("HOME", folder)
            .env("XDG_DATA_HOME", folder);
        command
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.tabmux(&["daemon", "stop"]);
    }
}
