//! Calls and configurations for other servers work here: recorded calls, with the names and arguments that
//! those servers publish, are replayed.

use crate::crowd::Crowd;
use crate::over_extension::Capability;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use tabmux_testkit::{Chromium, McpClient, Response, patiently};

#[derive(Deserialize)]
struct Recording {
    /// The recorded server and its version.
    server: String,
    /// Its tools and their arguments.
    published: BTreeMap<String, BTreeSet<String>>,
    /// What tabmux does not have: whole tools, or some arguments.
    absent: BTreeMap<String, Option<BTreeSet<String>>>,
    calls: Vec<Call>,
}

#[derive(Deserialize)]
struct Call {
    tool: String,
    arguments: Value,
    /// What the answer contains.
    says: String,
}

fn recording() -> Recording {
    let text = include_str!("../../../../fixtures/calls/chrome-devtools-mcp.json");
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_recording_has_every_published_tool_with_every_argument() {
    let recording = recording();
    let mut missing: Vec<String> = Vec::new();
    for (tool, arguments) in &recording.published {
        let absent = recording.absent.get(tool);
        if let Some(None) = absent {
            continue;
        }
        let calls = recording.calls.iter().filter(|call| &call.tool == tool);
        let calls: Vec<_> = calls.collect();
        if calls.is_empty() {
            missing.push(tool.clone());
        }
        for argument in arguments {
            let is_absent = absent.is_some_and(|some| {
                some.as_ref()
                    .is_some_and(|arguments| arguments.contains(argument))
            });
            let named = calls
                .iter()
                .any(|call| call.arguments.get(argument).is_some());
            if !named && !is_absent {
                missing.push(format!("{tool}.{argument}"));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new(), "of {}", recording.server);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_recorded_calls_of_chrome_devtools_mcp_are_accepted() {
    let Some(crowd) = Crowd::gather() else { return };
    crowd.pages.route("/form", Response::html(FORM));
    let project = crowd.home().join("project");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join("source.js"), "() => 'from a file'").unwrap();
    let client = crowd.client_working_in(
        &project,
        &["--categories=input,navigation,emulation,performance,network,debugging,screencast"],
    );
    client.initialize().await;

    let mut player = Player {
        url: crowd.pages.url("form"),
        client,
        last: String::new(),
    };
    let recording = recording();
    for call in &recording.calls {
        if let Some(words) = withheld(&crowd, call) {
            player.is_refused(call, words).await;
            continue;
        }
        player.play(call).await;
    }
    let page = player.page().await;
    for (tool, arguments) in &recording.absent {
        let mut given = json!({"pageId": page});
        for argument in arguments.iter().flatten() {
            given[argument] = json!("x");
        }
        let answer = player.client.begin_call(tool, given).await.answer().await;
        match (arguments, answer) {
            (None, Err(error)) => assert_eq!(error.message, format!("Unknown tool: {tool}")),
            // Some tools are there on request only, with arguments of their own.
            (_, Ok(said)) => assert_eq!(said["isError"], true, "{said}"),
            (_, other) => panic!("{tool}: {other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_of_chrome_devtools_mcp_starts_after_changing_the_command() {
    let Some(crowd) = Crowd::gather() else { return };
    crowd.pages.route("/form", Response::html(FORM));
    let browser = tabmux_testkit::real_browser().unwrap();
    let browser = format!("--executable-path={}", browser.display());
    let client = crowd
        .visitor(&[
            "--headless=true",
            "--isolated=true",
            "--no-usage-statistics",
            "--performanceCrux=false",
            "--no-category-emulation",
            "--devtools-comments",
            &browser,
        ])
        .await;
    client.call_tool("list_pages", json!({})).await.ok();
    let url = crowd.pages.url("form");
    let went = client.call_tool("navigate_page", json!({"url": url})).await;
    went.ok();
    let names = client.tool_names().await;
    assert!(names.iter().any(|name| name == "click"), "{names:?}");
    assert!(!names.iter().any(|name| name == "emulate"), "{names:?}");
    let log = client.stderr();
    assert!(log.contains("--devtools-comments has no effect"), "{log}");
    assert!(!log.contains("usage-statistics"), "{log}");

    // Only three tools, whatever the client.
    let mut command = crowd.tabmux();
    command.args(["mcp", "--slim", "--isolated", "--headless", &browser]);
    let client = McpClient::spawn(command);
    client.initialize_named("claude-code").await;
    let names = client.tool_names().await;
    assert_eq!(names, ["evaluate", "navigate", "screenshot"]);
    let went = client.call_tool("navigate", json!({"url": url})).await.ok();
    assert_eq!(went.text(), format!("Navigated to {url}."));
    let script = json!({"script": "alert(1); Promise.resolve([document.title, 7])"});
    let answer = client.call_tool("evaluate", script).await.ok().text();
    assert_eq!(answer, r#"["Form",7]"#);
    let picture = client.call_tool("screenshot", json!({})).await.ok().text();
    let bytes = std::fs::read(&picture).unwrap();
    assert!(bytes.starts_with(b"\x89PNG"), "{picture}");
    let other = client
        .request("tools/call", json!({"name": "list_pages"}))
        .await;
    assert_eq!(other.unwrap_err().code, -32602);
    let wrong = client
        .call_tool("evaluate", json!({"script": "nothing()"}))
        .await;
    assert_eq!(
        wrong.expect_error(),
        "The script failed: ReferenceError: nothing is not defined. Correct it and try again."
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_of_playwright_mcp_starts_after_changing_the_command() {
    let Some(crowd) = Crowd::gather() else { return };
    let body = "<!doctype html><title>none</title><script>document.title = `${window.early} ${innerWidth}`</script>";
    crowd.pages.route("/early", Response::html(body));
    let (script, output) = (crowd.home().join("early.js"), crowd.home().join("out"));
    std::fs::write(&script, "window.early = 'first';").unwrap();
    std::fs::create_dir(&output).unwrap();
    let browser = tabmux_testkit::real_browser().unwrap();
    let browser = format!("--executable-path={}", browser.display());
    let client = crowd
        .visitor(&[
            "--headless",
            "--isolated",
            "--browser=chrome",
            "--caps=vision,pdf",
            "--viewport-size=800x600",
            "--user-agent=Test/1.0",
            "--grant-permissions",
            "geolocation",
            "clipboard-read",
            "--init-script",
            script.to_str().unwrap(),
            "--output-dir",
            output.to_str().unwrap(),
            &browser,
        ])
        .await;
    let url = crowd.pages.url("early");
    client
        .call_tool("navigate_page", json!({"url": url}))
        .await
        .ok();
    // The init script ran before the page's own scripts, and the other flags have their effect.
    let facts = "async () => [document.title, navigator.userAgent, ...await Promise.all(\
                 ['geolocation', 'clipboard-read', 'camera'].map(async name => \
                 (await navigator.permissions.query({name})).state))]";
    let told = client
        .call_tool("evaluate_script", json!({"function": facts}))
        .await
        .ok();
    let told: Value = serde_json::from_str(&told.text()).unwrap();
    assert_eq!(
        told,
        json!(["first 800", "Test/1.0", "granted", "granted", "prompt"])
    );
    client.call_tool("save_pdf", json!({})).await.ok();
    let kept = std::fs::read_dir(&output).unwrap().count();
    assert_eq!(kept, 1, "the file is where --output-dir says");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_client_has_a_page_from_the_start_and_its_first_one_is_page_1() {
    let Some(crowd) = Crowd::gather() else { return };
    crowd.pages.route("/form", Response::html(FORM));
    let url = crowd.pages.url("form");
    let first = crowd.client_in(&["--isolated"]).await;
    let close = first.call_tool("close_page", json!({"pageId": 1})).await;
    let kept = close.expect_error();
    assert!(kept.starts_with("Tab 1 is the last page"), "{kept}");
    let go = json!({"pageId": 1, "type": "url", "url": url});
    first.call_tool("navigate_page", go.clone()).await.ok();
    let pages = first.call_tool("list_pages", json!({})).await.ok().text();
    assert_eq!(pages, format!("1: Form ({url}) [selected]"));

    // A later client has its own page 1, in the same browser.
    let second = crowd.client_in(&["--isolated"]).await;
    second.call_tool("navigate_page", go).await.ok();
    let pages = second.call_tool("list_pages", json!({})).await.ok().text();
    assert_eq!(pages, format!("1: Form ({url}) [selected]"));
    let title = json!({"pageId": 1, "function": "() => { document.title = 'Second'; }"});
    second.call_tool("evaluate_script", title).await.ok();
    let pages = first.call_tool("list_pages", json!({})).await.ok().text();
    assert_eq!(pages, format!("1: Form ({url}) [selected]"));
    let popup = json!({"function": "() => { window.open('/form'); }"});
    let said = second.call_tool("evaluate_script", popup).await.ok().text();
    let told = "It opened page 2. Call select_page to work there.";
    assert!(said.contains(told), "{said}");
    let select = json!({"pageId": 2});
    let selected = second.call_tool("select_page", select.clone()).await;
    assert_eq!(
        selected.ok().text(),
        format!("Selected page 2: Form ({url})")
    );
    let unknown = first.call_tool("select_page", select).await;
    assert_eq!(
        unknown.expect_error(),
        "There is no tab 2. Available tabs: 1. Call list_pages to see the tabs."
    );
    // `tabmux tabs` shows the numbers that all sessions share.
    let tabs = crowd.asked("tabs");
    let mut ids: Vec<_> = tabs
        .as_array()
        .unwrap()
        .iter()
        .map(|tab| tab["id"].as_u64())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [Some(1), Some(2), Some(3)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn auto_connect_uses_a_running_browser_and_launches_none() {
    let Some(crowd) = Crowd::gather() else { return };
    crowd.pages.route("/form", Response::html(FORM));
    let chromium = Chromium::start(&tabmux_testkit::real_browser().unwrap());
    let profile = format!("--userDataDir={}", chromium.profile().display());
    let client = crowd.visitor(&["--autoConnect=true", &profile]).await;
    let url = crowd.pages.url("form");
    client.call_tool("new_page", json!({"url": url})).await.ok();

    // The page is open in that browser.
    let other = crowd.guest(&chromium).await;
    let pages = other.call_tool("list_pages", json!({})).await.ok().text();
    assert!(pages.contains("/form"), "{pages}");

    let nobody = crowd.home().join("nobody");
    std::fs::create_dir(&nobody).unwrap();
    let profile = format!("--user-data-dir={}", nobody.display());
    let client = crowd.visitor(&["--auto-connect", &profile]).await;
    let refused = client.call_tool("new_page", json!({"url": url})).await;
    assert!(refused.is_error(), "{}", refused.text());
    let why = "--autoConnect does not launch one";
    assert!(refused.text().contains(why), "{}", refused.text());
}

/// Spec: security 26.
#[tokio::test(flavor = "multi_thread")]
async fn files_may_be_in_the_clients_roots_and_nowhere_else() {
    let Some(crowd) = Crowd::gather() else { return };
    crowd.pages.route("/form", Response::html(FORM));
    let folder = |name| {
        let folder = crowd.home().join(name);
        std::fs::create_dir(&folder).unwrap();
        folder.canonicalize().unwrap()
    };
    let (project, root, other) = (folder("project"), folder("a root"), folder("other"));
    let mut client = crowd.client_working_in(&project, &[]);
    client.can(json!({"roots": {"listChanged": true}}));
    client.initialize().await;
    let asked = client.nth_request(0).await;
    let uri = format!("file://{}", root.display()).replace(' ', "%20");
    let answer = json!({"roots": [{"uri": uri}, {"uri": "file:///"}]});
    client.answer(&asked, answer).await;
    client.list_tools().await;

    let url = crowd.pages.url("form");
    client.call_tool("new_page", json!({"url": url})).await.ok();
    let save = async |path: std::path::PathBuf| {
        let arguments = json!({"filePath": path});
        client.call_tool("take_screenshot", arguments).await
    };
    save(root.join("picture.png")).await.ok();
    assert!(root.join("picture.png").is_file());
    save(project.join("picture.png")).await.ok();
    let refused = save(other.join("picture.png")).await;
    assert!(refused.is_error(), "{}", refused.text());
    let outside = format!("it is outside {}, {}.", project.display(), root.display());
    assert!(refused.text().contains(&outside), "{}", refused.text());
    assert!(!other.join("picture.png").exists());
}

struct Player {
    client: McpClient,
    url: String,
    /// The last answer, for calls that use a part of it.
    last: String,
}

/// The error for a call that needs a capability which Chrome does not offer here.
fn withheld(crowd: &Crowd, call: &Call) -> Option<&'static str> {
    let apart = call.arguments.get("isolatedContext").is_some();
    let memory = call.tool == "take_heapsnapshot";
    if apart && !crowd.can(Capability::Contexts) {
        return Some("cannot give an agent cookies and storage of its own");
    }
    (memory && !crowd.can(Capability::Memory))
        .then_some("an extension cannot inspect a page's memory")
}

impl Player {
    /// Makes a call that Chrome does not allow, and then again without the refused argument.
    async fn is_refused(&self, call: &Call, words: &str) {
        let mut arguments = call.arguments.clone();
        self.fill_in(&mut arguments).await;
        let refused = self.client.call_tool(&call.tool, arguments.clone()).await;
        let refused = refused.expect_error();
        assert!(refused.contains(words), "{}: {refused}", call.tool);
        let arguments_left = arguments.as_object_mut().unwrap();
        if arguments_left.remove("isolatedContext").is_some() {
            self.client.call_tool(&call.tool, arguments).await.ok();
        }
    }

    /// Waits until the page has opened its dialog: its timer may run after the answer of the script that set it.
    async fn dialog_opens(&self, page: &Value) {
        let look = json!({ "pageId": page });
        let opens = async {
            loop {
                let said = self.client.call_tool("take_snapshot", look.clone()).await;
                if said.is_error() && said.text().contains("handle_dialog") {
                    break;
                }
            }
        };
        patiently(opens, || "no dialog opens".into()).await;
    }

    async fn play(&mut self, call: &Call) {
        let mut arguments = call.arguments.clone();
        self.fill_in(&mut arguments).await;
        if call.tool == "handle_dialog" {
            self.dialog_opens(&arguments["pageId"]).await;
        }
        let said = self.client.call_tool(&call.tool, arguments.clone()).await;
        assert!(
            !said.is_error(),
            "{} {arguments}: {}",
            call.tool,
            said.text()
        );
        self.last = said.text();
        assert!(
            self.last.contains(&call.says),
            "{} {arguments} does not say {:?}: {}",
            call.tool,
            call.says,
            self.last
        );
    }

    /// Replaces the placeholders of the recording with numbers and uids.
    async fn fill_in(&self, value: &mut Value) {
        match value {
            Value::Array(items) => {
                for item in items {
                    Box::pin(self.fill_in(item)).await;
                }
            }
            Value::Object(fields) => {
                for field in fields.values_mut() {
                    Box::pin(self.fill_in(field)).await;
                }
            }
            Value::String(text) => {
                let place = text
                    .strip_prefix('{')
                    .and_then(|text| text.strip_suffix('}'));
                let (kind, rest) = match place.map(|place| place.split_once(' ')) {
                    Some(Some((kind, rest))) => (kind, rest.to_owned()),
                    Some(None) => (text.trim_matches(['{', '}']), String::new()),
                    None => return,
                };
                match kind {
                    "url" => *value = json!(self.url),
                    "page" => *value = json!(self.page().await),
                    "uid" => *value = json!(self.uid(&rest).await),
                    "number" => *value = json!(number_after(&self.last, &rest)),
                    // Not a placeholder, but text in braces.
                    _ => {}
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The number of our first page.
    async fn page(&self) -> u64 {
        let pages = self.client.call_tool("list_pages", json!({})).await.ok();
        let pages = pages.text();
        let line = pages.lines().find(|line| line.contains("/form"));
        let line = line.unwrap_or_else(|| panic!("no page of ours in {pages}"));
        number_after(line, "")
    }

    async fn uid(&self, part: &str) -> String {
        let arguments = json!({"pageId": self.page().await});
        let snapshot = self.client.call_tool("take_snapshot", arguments).await;
        let snapshot = snapshot.ok().text();
        let line = snapshot.lines().find(|line| line.contains(part));
        let line = line.unwrap_or_else(|| panic!("no {part} in {snapshot}"));
        let (_, rest) = line.split_once("uid=").unwrap();
        rest.split(' ').next().unwrap().to_owned()
    }
}

/// The first number after `mark`.
fn number_after(text: &str, mark: &str) -> u64 {
    let (_, rest) = text.split_once(mark).unwrap();
    let digits: String = rest
        .chars()
        .skip_while(|c| !c.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().unwrap()
}

const FORM: &str = "<!doctype html><title>Form</title><h1>Form</h1><button>Press</button>\
    <label>Name <input></label><label>Size <select><option>Small<option>Large</select></label>\
    <label>File <input type=file></label>";
