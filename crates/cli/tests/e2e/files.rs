//! Paths that agents may not use: special files, files of other agents, hidden files and existing files.

use crate::crowd::Crowd;
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tabmux_testkit::{McpClient, Response};

#[tokio::test(flavor = "multi_thread")]
async fn a_path_that_is_a_fifo_is_refused_by_every_tool_and_stops_nobody() {
    let Some(crowd) = Crowd::gather() else { return };
    let project = project(&crowd);
    for name in ["fifo", "fifo.mp4"] {
        assert!(run("mkfifo", &[project.join(name).as_os_str()]));
    }
    let client = crowd.client_working_in(&project, &[ALL_TOOLS]);
    client.initialize().await;
    open_form(&crowd, &client).await;
    let uid = uid_of(&client, "File").await;
    let fifo = |tool: &str, more: Value| {
        let name = match tool {
            "screencast_start" => "fifo.mp4",
            _ => "fifo",
        };
        let mut arguments = json!({"filePath": name});
        if !matches!(tool, "upload_file" | "load_storage" | "route") {
            arguments["overwrite"] = json!(true);
        }
        let more = more.as_object().cloned().unwrap_or_default();
        arguments.as_object_mut().unwrap().extend(more);
        arguments
    };
    let body = |which: &str| json!({"reqid": 1, which: "fifo", "overwrite": true});
    let calls = [
        ("take_screenshot", fifo("take_screenshot", json!({}))),
        ("take_snapshot", fifo("take_snapshot", json!({}))),
        ("save_pdf", fifo("save_pdf", json!({}))),
        ("take_heapsnapshot", fifo("take_heapsnapshot", json!({}))),
        (
            "evaluate_script",
            fifo("evaluate_script", json!({"function": "() => 1"})),
        ),
        ("evaluate_script", json!({"sourcePath": "fifo"})),
        ("get_network_request", body("responseFilePath")),
        ("save_storage", fifo("save_storage", json!({}))),
        ("load_storage", fifo("load_storage", json!({}))),
        (
            "performance_start_trace",
            fifo("performance_start_trace", json!({"autoStop": true})),
        ),
        ("screencast_start", fifo("screencast_start", json!({}))),
        ("upload_file", fifo("upload_file", json!({"uid": uid}))),
        ("route", fifo("route", json!({"url": "*"}))),
    ];
    for (tool, arguments) in calls {
        let refused = client.call_tool(tool, arguments).await.expect_error();
        assert!(refused.contains("not a regular file"), "{tool}: {refused}");
        assert!(crowd.daemon().is_some(), "status after {tool}");
    }
    client.call_tool("take_snapshot", json!({})).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_whose_log_cannot_be_written_answers_and_ends_at_sigterm() {
    let Some(crowd) = Crowd::gather() else { return };
    let project = project(&crowd);
    let fifo = crowd.home().join("log");
    assert!(run("mkfifo", &[fifo.as_os_str()]));
    // Holds the log open without reading it: every write blocks once the pipe is full.
    let mut reader = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(&fifo)
        .unwrap();
    let mut daemon = crowd
        .tabmux()
        .args(["daemon", "run", "--logFile"])
        .arg(&fifo)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let up = async {
        while crowd.daemon().is_none() {
            tokio::task::yield_now().await;
        }
    };
    tabmux_testkit::patiently(up, || "no daemon".into()).await;
    // In pieces and finally byte by byte, until not even a line fits.
    for size in [4_096, 1] {
        while reader.write(&vec![b'\n'; size]).is_ok() {}
    }
    // Launching a browser writes to the log.
    let client = crowd.client_working_in(&project, &[]);
    client.initialize().await;
    open_form(&crowd, &client).await;
    assert!(crowd.daemon().is_some());
    drop(client);
    let pid = daemon.id().to_string();
    assert!(run("kill", &["-TERM".as_ref(), pid.as_ref()]));
    let ended = tokio::task::spawn_blocking(move || daemon.wait());
    let ended = tabmux_testkit::patiently(ended, || "the daemon runs".into()).await;
    assert!(ended.unwrap().is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_agent_cannot_name_another_agents_files() {
    let Some(crowd) = Crowd::gather() else { return };
    let project = project(&crowd);
    let whole_cache = crowd.home().join(".cache");
    std::fs::create_dir_all(&whole_cache).unwrap();
    let root = format!("--filesystemRoot={}", whole_cache.display());
    let one = crowd.client_working_in(&project, &[ALL_TOOLS]);
    let other = crowd.client_working_in(&project, &[ALL_TOOLS, &root]);
    for client in [&one, &other] {
        client.initialize().await;
        open_form(&crowd, client).await;
    }
    let set = json!({"function": "() => { document.cookie = 'secret=1; path=/' }"});
    one.call_tool("evaluate_script", set).await.ok();
    let saved = one.call_tool("save_storage", json!({})).await.ok().text();
    let place = path_in(&saved);
    assert!(place.is_file(), "{saved}");
    let uid = uid_of(&other, "File").await;
    let calls = [
        ("load_storage", json!({"filePath": place})),
        ("upload_file", json!({"uid": uid, "filePath": place})),
        ("evaluate_script", json!({"sourcePath": place})),
        (
            "take_snapshot",
            json!({"filePath": place, "overwrite": true}),
        ),
    ];
    for (tool, arguments) in calls {
        let refused = other.call_tool(tool, arguments).await.expect_error();
        assert!(refused.contains("it is outside"), "{tool}: {refused}");
    }
    // It can use its own files, and they are deleted with the session.
    one.call_tool("load_storage", json!({"filePath": place}))
        .await
        .ok();
    drop(one);
    let gone = async {
        while place.parent().unwrap().exists() {
            tokio::task::yield_now().await;
        }
    };
    tabmux_testkit::patiently(gone, || format!("{} is there", place.display())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_home_behind_a_link_or_below_the_working_folder_is_not_worked_in() {
    let Some(crowd) = Crowd::gather() else { return };
    let real = crowd.home().join("people/somebody");
    std::fs::create_dir_all(real.join(".ssh")).unwrap();
    std::fs::write(real.join(".ssh/id_rsa"), "secret").unwrap();
    std::fs::write(real.join("notes.txt"), "mine").unwrap();
    let link = crowd.home().join("home");
    symlink(&real, &link).unwrap();
    for (folder, path) in [
        (real.clone(), "notes.txt"),
        (link.clone(), "notes.txt"),
        (crowd.home().join("people"), "somebody/notes.txt"),
        (crowd.home().join("people"), "somebody/.ssh/id_rsa"),
    ] {
        let client = crowd.client_at_home(&link, &folder, &[ALL_TOOLS]);
        client.initialize().await;
        open_form(&crowd, &client).await;
        let uid = uid_of(&client, "File").await;
        let upload = json!({"uid": uid, "filePath": path});
        let refused = client.call_tool("upload_file", upload).await.expect_error();
        assert!(refused.contains("cannot be read"), "{folder:?}: {refused}");
        let write = json!({"filePath": path, "overwrite": true});
        let refused = client
            .call_tool("take_snapshot", write)
            .await
            .expect_error();
        assert!(
            refused.contains("cannot be written"),
            "{folder:?}: {refused}"
        );
    }
    let kept = std::fs::read_to_string(real.join(".ssh/id_rsa")).unwrap();
    assert_eq!(kept, "secret");
}

/// Spec: security 26.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_hidden_or_there_already_is_not_written() {
    let Some(crowd) = Crowd::gather() else { return };
    let project = project(&crowd);
    std::fs::create_dir(project.join(".git")).unwrap();
    let (hidden, visible) = (project.join(".git/config"), project.join("notes.txt"));
    for path in [&hidden, &visible] {
        std::fs::write(path, "mine").unwrap();
    }
    let client = crowd.client_working_in(&project, &[]);
    client.initialize().await;
    open_form(&crowd, &client).await;
    let save = async |path: &str, overwrite: Value| {
        let arguments = json!({"reqid": 1, "responseFilePath": path, "overwrite": overwrite});
        client.call_tool("get_network_request", arguments).await
    };
    for overwrite in [json!(null), json!(true)] {
        let refused = save(".git/config", overwrite).await.expect_error();
        assert!(refused.contains("hidden (.git)"), "{refused}");
    }
    let refused = save("notes.txt", json!(false)).await.expect_error();
    assert!(refused.contains("overwrite: true"), "{refused}");
    for path in [&hidden, &visible] {
        assert_eq!(std::fs::read_to_string(path).unwrap(), "mine");
    }
    save("notes.txt", json!(true)).await.ok();
    assert!(std::fs::read_to_string(&visible).unwrap().contains("File"));
    save("new.txt", json!(null)).await.ok();
    // With the hidden folder itself as a root it is allowed.
    let root = format!("--filesystemRoot={}", project.join(".git").display());
    let client = crowd.client_working_in(&project, &[&root]);
    client.initialize().await;
    open_form(&crowd, &client).await;
    let arguments = json!({"filePath": ".git/config", "overwrite": true});
    client.call_tool("take_snapshot", arguments).await.ok();
    assert_ne!(std::fs::read_to_string(&hidden).unwrap(), "mine");
}

fn project(crowd: &Crowd) -> PathBuf {
    let project = crowd.home().join("project");
    std::fs::create_dir(&project).unwrap();
    project
}

async fn open_form(crowd: &Crowd, client: &McpClient) {
    let form = "<title>Form</title><label>File <input type=file></label>";
    crowd.pages.route("/form", Response::html(form));
    let url = crowd.pages.url("form");
    client.call_tool("new_page", json!({"url": url})).await.ok();
}

async fn uid_of(client: &McpClient, part: &str) -> String {
    let snapshot = client.call_tool("take_snapshot", json!({})).await.ok();
    let snapshot = snapshot.text();
    let line = snapshot
        .lines()
        .find(|line| line.contains("uid=") && line.contains(part) && !line.contains("Form"));
    let line = line.unwrap_or_else(|| panic!("{snapshot}"));
    let (_, rest) = line.split_once("uid=").unwrap();
    rest.split(' ').next().unwrap().to_owned()
}

/// The path at the end of "Saved … to PATH.".
fn path_in(said: &str) -> PathBuf {
    let (_, rest) = said.split_once(" to ").unwrap_or_else(|| panic!("{said}"));
    PathBuf::from(rest.split(". ").next().unwrap().trim_end_matches('.'))
}

fn run(program: &str, arguments: &[&std::ffi::OsStr]) -> bool {
    Command::new(program)
        .args(arguments)
        .status()
        .unwrap()
        .success()
}

const ALL_TOOLS: &str = "--categories=input,navigation,emulation,performance,network,debugging,storage,rules,screencast,advanced";
