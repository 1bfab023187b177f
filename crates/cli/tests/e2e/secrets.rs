//! Secrets: typed by name on their own origins, and never shown.

use crate::crowd::Crowd;
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tabmux_testkit::{McpClient, Response};
use tempfile::TempDir;

/// The secret. Its first part stays as it is in every spelling but base64.
const VALUE: &str = "hushhush&\"é/<1>";

/// Parts of its spellings, as they are and in base64 at each place of a group.
const PARTS: [&str; 4] = ["hushhush", "aHVzaGh1c2g", "h1c2hodXNo", "odXNoaHVza"];

/// Shows whatever is typed everywhere that a page can.
const PAGE: &str = r#"<title>Login</title>
    <label>User <input id=user></label>
    <label>Password <input id=password type=password></label>
    <label>Box <input id=box type=checkbox></label>
    <label>Note <input id=note></label>
    <p id=echo></p><div id=html></div><a id=link href="/">Link</a>
    <iframe title=other></iframe>
    <script>
    document.querySelector('iframe').src =
        location.href.replace('127.0.0.1', 'localhost').replace('login', 'frame');
    const base64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
    const reflect = async (value) => {
        document.title = value;
        echo.textContent = value;
        html.textContent = echo.innerHTML + ' ' + base64(value) + ' ' + base64('m' + value) + ' ' + base64('me' + value);
        link.href = '/?' + value;
        link.style.setProperty('--value', JSON.stringify(value));
        history.pushState(0, '', '?q=' + encodeURIComponent(value) + '&r=' + value + '#' + value);
        localStorage.setItem('value', value);
        document.cookie = 'value=' + encodeURIComponent(value);
        console.log(value, { [value]: value }, base64('me:' + value));
        console.error(new Error(value));
        const headers = { 'X-Value': base64(value) };
        const answer = await fetch('/reflect?v=' + encodeURIComponent(value), { method: 'POST', headers, body: value });
        console.log(await answer.text());
        document.title = 'reflected ' + value;
    };
    for (const field of [user, password]) field.oninput = () => reflect(field.value);
    </script>"#;

/// A secrets file for the pages of a crowd, outside of its home.
fn secrets_for(crowd: &Crowd) -> (TempDir, String) {
    let folder = TempDir::with_prefix("tabmux-secrets-").unwrap();
    let file = folder.path().join("secrets.json");
    let origin = crowd.pages.url("");
    let secrets = json!({
        "PASSWORD": {"value": VALUE, "origins": [origin.trim_end_matches('/')]},
        "ELSEWHERE": {"value": "something-else", "origins": ["https://app.example"]},
    });
    fs::write(&file, secrets.to_string()).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let flag = format!("--secrets={}", file.display());
    (folder, flag)
}

fn serve(crowd: &Crowd) {
    crowd.pages.route("/login", Response::html(PAGE));
    let frame = "<label>Inner <input id=inner oninput='parent.name = this.value'></label>";
    crowd.pages.route("/frame", Response::html(frame));
    crowd.pages.route_with("/reflect", |request| {
        let header = request.header("x-value").unwrap_or_default().to_owned();
        let body = String::from_utf8_lossy(&request.body).into_owned();
        Response::json(&json!({"value": body, "query": request.query}))
            .with_header("X-Echo", &header)
    });
    // As a page may choose, so that it is taken for a binary file.
    let wide = VALUE.encode_utf16().flat_map(u16::to_le_bytes);
    let raw: Vec<u8> = [&b"\0"[..], VALUE.as_bytes(), b"\0-"].concat();
    let raw: Vec<u8> = raw.into_iter().chain(wide).collect();
    let raw = Response::new(200, "application/octet-stream", raw);
    crowd.pages.route("/raw", raw);
}

async fn client(crowd: &Crowd, flags: &[&str]) -> McpClient {
    let browser = tabmux_testkit::real_browser().unwrap();
    let mut command = crowd.tabmux();
    command.env("TABMUX_LOG", "trace");
    command.args(["mcp", "--tools=static", "--headless", "--categoryStorage"]);
    command.arg(format!("--executablePath={}", browser.display()));
    command.arg(format!("--userDataDir={}/profile", crowd.mark()));
    command.arg(format!("--filesystemRoot={}", crowd.mark()));
    command.args(flags);
    let client = McpClient::spawn(command);
    client.initialize().await;
    client
}

async fn text(client: &McpClient, tool: &str, arguments: Value) -> String {
    client.call_tool(tool, arguments).await.text()
}

async fn uid(client: &McpClient, part: &str) -> String {
    let snapshot = text(client, "take_snapshot", json!({})).await;
    let line = snapshot
        .lines()
        .find(|line| line.contains("uid=") && line.contains(part));
    let line = line.unwrap_or_else(|| panic!("{part} is not in {snapshot}"));
    let rest = line.split("uid=").nth(1).unwrap();
    rest.split(' ').next().unwrap().to_owned()
}

async fn fill(client: &McpClient, part: &str, value: &str) -> String {
    let uid = uid(client, part).await;
    text(client, "fill", json!({"uid": uid, "value": value})).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_a_page_shows_leaves_nowhere() {
    let Some(crowd) = Crowd::gather() else { return };
    serve(&crowd);
    let (_folder, flag) = secrets_for(&crowd);
    let agent = client(&crowd, &[&flag, "--tabPolicy=shared", "--categoryAdvanced"]).await;
    let other = client(&crowd, &["--tabPolicy=shared"]).await;
    text(&agent, "new_page", json!({"url": crowd.pages.url("login")})).await;
    let listed = text(&agent, "list_secrets", json!({})).await;
    assert!(
        listed.contains("{{secret:PASSWORD}}: usable in this tab"),
        "{listed}"
    );
    assert!(
        listed.contains("{{secret:ELSEWHERE}}: not usable in this tab; for https://app.example")
    );

    let filled = fill(&agent, "Password", "{{secret:PASSWORD}}").await;
    assert!(filled.starts_with("Filled."), "{filled}");
    let waited = json!({"text": ["reflected"], "timeout": 500});
    crowd.pages.wait_for_request("/reflect").await;
    let function = "() => new Promise((done) => { const look = () => document.title.startsWith('reflected') \
                    ? done(document.getElementById('password').value.length) : setTimeout(look, 10); look(); })";
    let evaluated = text(&agent, "evaluate_script", json!({"function": function})).await;
    assert!(
        evaluated.contains(&VALUE.chars().count().to_string()),
        "{evaluated}"
    );
    let filled = fill(&agent, "User", "{{secret:PASSWORD}}").await;
    assert!(filled.starts_with("Filled."), "{filled}");

    let shown = crowd.home().join("answer.json");
    let storage = crowd.home().join("storage.json");
    let [raw, heap, trace] =
        ["raw.bin", "page.heapsnapshot", "trace.json"].map(|it| crowd.home().join(it));
    let fetch = "async () => (await (await fetch('/raw')).arrayBuffer()).byteLength";
    text(&agent, "evaluate_script", json!({"function": fetch})).await;
    let id = request_id(&agent, "/reflect").await;
    let raw_id = request_id(&agent, "/raw").await;
    let value = "() => document.getElementById('password').value";
    let link = uid(&agent, "\"Link\"").await;
    for (tool, arguments) in [
        ("take_snapshot", json!({"verbose": true})),
        ("list_pages", json!({})),
        ("list_console_messages", json!({})),
        ("get_network_request", json!({"reqid": id})),
        (
            "get_network_request",
            json!({"reqid": id, "responseFilePath": shown}),
        ),
        ("evaluate_script", json!({"function": value})),
        (
            "evaluate_script",
            json!({"function": "() => ({ [document.title]: [location.href, document.cookie] })"}),
        ),
        (
            "evaluate_script",
            json!({"function": "() => { throw new Error(document.title); }"}),
        ),
        (
            "evaluate_script",
            json!({"function": "() => document.body.outerHTML"}),
        ),
        ("find", json!({"text": "reflected"})),
        ("wait_for", waited),
        ("cookies", json!({"action": "list"})),
        ("local_storage", json!({"action": "list"})),
        ("save_storage", json!({"filePath": storage})),
        ("list_page_tools", json!({})),
        (
            "get_network_request",
            json!({"reqid": raw_id, "responseFilePath": raw}),
        ),
        ("take_heapsnapshot", json!({"filePath": heap})),
        (
            "performance_start_trace",
            json!({"reload": false, "filePath": trace}),
        ),
    ] {
        text(&agent, tool, arguments).await;
    }
    read_all_resources(&agent).await;
    let pdf = agent.call_tool("save_pdf", json!({})).await;
    let pdf = pdf.expect_error();
    assert!(pdf.starts_with("The page shows a secret value"), "{pdf}");
    for (tool, arguments) in [
        ("read_page", json!({})),
        (
            "get_css_styles",
            json!({"uid": link, "properties": ["--value"]}),
        ),
    ] {
        let told = text(&agent, tool, arguments).await;
        assert!(told.contains("•••"), "{tool}: {told}");
    }
    text(&other, "list_pages", json!({})).await;
    let pages = text(&other, "list_pages", json!({})).await;
    assert!(pages.contains("•••"), "{pages}");
    let page = pages.lines().find(|line| line.contains("•••")).unwrap();
    let page: String = page
        .trim()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    let page: u64 = page.parse().unwrap();
    text(&other, "select_page", json!({"pageId": page})).await;
    let snapshot = text(&other, "take_snapshot", json!({})).await;
    assert!(snapshot.contains("•••"), "{snapshot}");

    for part in PARTS {
        for (who, client) in [("agent", &agent), ("other", &other)] {
            let transcript = client.transcript();
            let line = transcript.lines().find(|line| line.contains(part));
            assert_eq!(line, None, "{who} got {part}");
        }
        for command in [
            &["status", "--json"][..],
            &["sessions", "--json"],
            &["tabs", "--json"],
            &["tabs"],
            &["logs"],
        ] {
            let output = crowd.tabmux().args(command).output().unwrap();
            let text =
                String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert!(!text.contains(part), "{command:?}: {text}");
        }
        assert_eq!(files_with(crowd.home(), part), Vec::<PathBuf>::new());
    }
    for file in [shown, storage, heap, trace] {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains("•••"), "{}", file.display());
    }
    let mut raw = fs::read(raw).unwrap();
    let stars = raw.iter().filter(|byte| **byte == b'*').count();
    assert_eq!(stars, VALUE.len() + 2 * VALUE.chars().count());
    raw.retain(|byte| *byte != 0);
    assert!(!String::from_utf8_lossy(&raw).contains(PARTS[0]));
}

/// The number of the last request whose line has this part.
async fn request_id(client: &McpClient, part: &str) -> u64 {
    let requests = text(client, "list_network_requests", json!({})).await;
    let mut lines = requests.lines().rev();
    let line = lines.find(|line| line.contains(part)).unwrap();
    let id = line.split("reqid=").nth(1).unwrap();
    id.split(' ').next().unwrap().parse().unwrap()
}

/// Reads every resource of the session's tabs and files, whole and in parts.
async fn read_all_resources(client: &McpClient) {
    let listed = client.request("resources/list", json!({})).await.unwrap();
    let listed = listed["resources"].as_array().unwrap();
    let uris = listed.iter().map(|row| row["uri"].as_str().unwrap());
    let mut read = 0;
    for uri in uris {
        let part = format!("{uri}?offset=0");
        let is_file = uri.contains("/file/");
        for uri in [uri, &part].into_iter().take(1 + usize::from(is_file)) {
            let answer = client.request("resources/read", json!({ "uri": uri }));
            read += usize::from(answer.await.is_ok());
        }
    }
    // A page and its snapshot, console, requests, and the files that were saved.
    assert!(read >= 8, "{read} of {listed:?}");
}

/// A form whose values the page shows, after it has sent them.
const FORM: &str = r#"<title>Sign in</title><h1>Sign in</h1>
    <form><label>User <input name=user></label><label>Password <input name=password type=password></label>
    <button>Sign in</button></form><p id=echo></p>
    <script>
    const form = document.querySelector('form');
    form.onsubmit = () => {
        const value = form.elements.password.value;
        document.title = echo.textContent = 'Got ' + value.length + ': ' + value;
        console.log(value);
        return false;
    };
    </script>"#;

/// Asserts that no answer and no file of tabmux has the secret.
fn assert_hidden(crowd: &Crowd, client: &McpClient) {
    for part in PARTS {
        let transcript = client.transcript();
        let line = transcript.lines().find(|line| line.contains(part));
        assert_eq!(line, None, "the agent got {part}");
        assert_eq!(files_with(crowd.home(), part), Vec::<PathBuf>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_in_steps_and_in_a_form_tool_leaves_nowhere() {
    let Some(crowd) = Crowd::gather() else { return };
    crowd.pages.route("/form", Response::html(FORM));
    let (_folder, flag) = secrets_for(&crowd);
    let agent = client(&crowd, &[&flag]).await;
    let here = crowd.pages.url("form");
    let elsewhere = here.replace("127.0.0.1", "localhost");
    let steps = json!({"steps": [
        {"tool": "fill", "arguments": {"name": "Password", "value": "{{secret:PASSWORD}}"}},
        {"tool": "click", "arguments": {"role": "button", "name": "Sign in"}},
    ]});
    let by_tool =
        json!({"name": "sign_in", "arguments": {"user": "ann", "password": "{{secret:PASSWORD}}"}});
    let got = format!("Got {}: •••", VALUE.chars().count());
    for (tool, arguments) in [("run_steps", &steps), ("call_page_tool", &by_tool)] {
        text(&agent, "new_page", json!({"url": here})).await;
        text(&agent, "list_page_tools", json!({})).await;
        let told = agent.call_tool(tool, arguments.clone()).await.ok().text();
        let shown = text(&agent, "take_snapshot", json!({})).await;
        assert!(shown.contains(&got), "{tool}: {told}\n{shown}");
        text(&agent, "list_console_messages", json!({})).await;

        text(&agent, "navigate_page", json!({"url": elsewhere})).await;
        text(&agent, "list_page_tools", json!({})).await;
        let refused = agent.call_tool(tool, arguments.clone()).await;
        let refused = refused.expect_error();
        assert!(
            refused.contains("may not be used on http://localhost:"),
            "{tool}: {refused}"
        );
        let shown = text(&agent, "take_snapshot", json!({})).await;
        assert!(!shown.contains("Got "), "{tool}: {shown}");
    }
    assert_hidden(&crowd, &agent);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_refused_where_it_does_not_belong() {
    let Some(crowd) = Crowd::gather() else { return };
    serve(&crowd);
    let (_folder, flag) = secrets_for(&crowd);
    let agent = client(&crowd, &[&flag]).await;
    text(&agent, "new_page", json!({"url": crowd.pages.url("login")})).await;
    let said = fill(&agent, "Password", "{{secret:NONE}}").await;
    assert_eq!(
        said,
        "There is no secret NONE; nothing was typed. Use one of: ELSEWHERE, PASSWORD."
    );
    let said = fill(&agent, "Password", "{{secret:ELSEWHERE}}").await;
    assert!(
        said.contains("may not be used on http://127.0.0.1:"),
        "{said}"
    );
    assert!(said.contains("(allowed: https://app.example)"), "{said}");
    let said = fill(&agent, "Box", "{{secret:PASSWORD}}").await;
    assert!(said.contains("takes no text"), "{said}");

    // The frame is of another origin, though the tab is not.
    let said = fill(&agent, "Inner", "{{secret:PASSWORD}}").await;
    assert!(
        said.contains("may not be used on http://localhost:"),
        "{said}"
    );
    let inner = uid(&agent, "Inner").await;
    text(&agent, "click", json!({"uid": inner})).await;
    let said = text(&agent, "type_text", json!({"text": "{{secret:PASSWORD}}"})).await;
    assert!(
        said.contains("may not be used on http://localhost:"),
        "{said}"
    );
    let [note, inner] = [uid(&agent, "Note").await, uid(&agent, "Inner").await];
    let both = json!([{"uid": note, "value": "{{secret:PASSWORD}}"}, {"uid": inner, "value": "{{secret:PASSWORD}}"}]);
    let said = text(&agent, "fill_form", json!({"elements": both})).await;
    assert!(
        said.contains("may not be used on http://localhost:"),
        "{said}"
    );
    let typed = "() => [...document.querySelectorAll('input')].map((it) => it.value).join('|') + window.name";
    let typed = text(&agent, "evaluate_script", json!({"function": typed})).await;
    assert!(typed.contains("||on|"), "nothing was typed: {typed}");

    // Where it belongs, it is typed; a field that would show it shows dots.
    text(&agent, "click", json!({"uid": note})).await;
    let said = text(&agent, "type_text", json!({"text": "{{secret:PASSWORD}}"})).await;
    assert!(said.starts_with("Typed the secret."), "{said}");
    let state = format!(
        "() => [note.value === {}, getComputedStyle(note).webkitTextSecurity]",
        json!(VALUE)
    );
    let state = text(&agent, "evaluate_script", json!({"function": state})).await;
    assert!(state.contains("true") && state.contains("disc"), "{state}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_sessions_with_secrets_have_their_list() {
    let Some(crowd) = Crowd::gather() else { return };
    let (_folder, flag) = secrets_for(&crowd);
    let with = client(&crowd, &[&flag]).await;
    assert!(with.tool_names().await.contains(&"list_secrets".to_owned()));
    let without = client(&crowd, &[]).await;
    assert!(
        !without
            .tool_names()
            .await
            .contains(&"list_secrets".to_owned())
    );
}

/// The files below a folder that have a text in them, without Chrome's profile.
fn files_with(folder: &Path, part: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let found = entries.flat_map(|entry| {
        let path = entry.path();
        if path.is_dir() {
            let is_profile = entry.file_name() == "profile";
            return if is_profile {
                Vec::new()
            } else {
                files_with(&path, part)
            };
        }
        let bytes = fs::read(&path).unwrap_or_default();
        let has = bytes.windows(part.len()).any(|it| it == part.as_bytes());
        has.then_some(path).into_iter().collect()
    });
    found.collect()
}
