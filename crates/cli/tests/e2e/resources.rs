//! Resources over stdio: every kind, with a real browser, and what must not be read.

use crate::crowd::Crowd;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use tabmux_testkit::{McpClient, Response, RpcError, patiently};
use tempfile::TempDir;

async fn read(client: &McpClient, uri: &str) -> Result<Value, RpcError> {
    let answer = client
        .request("resources/read", json!({"uri": uri}))
        .await?;
    let contents = answer["contents"].as_array().unwrap();
    assert_eq!(contents.len(), 1, "{answer}");
    assert_eq!(contents[0]["uri"], uri);
    Ok(contents[0].clone())
}

async fn text(client: &McpClient, uri: &str) -> String {
    let contents = read(client, uri).await.unwrap();
    contents["text"].as_str().unwrap().to_owned()
}

async fn blob(client: &McpClient, uri: &str, mime_type: &str) -> Vec<u8> {
    let contents = read(client, uri).await.unwrap();
    assert_eq!(contents["mimeType"], mime_type);
    BASE64_STANDARD
        .decode(contents["blob"].as_str().unwrap())
        .unwrap()
}

async fn is_not_found(client: &McpClient, uri: &str) {
    let error = read(client, uri).await.unwrap_err();
    assert_eq!(
        (error.code, error.data),
        (-32002, json!({"uri": uri})),
        "{}",
        error.message
    );
}

async fn listed(client: &McpClient) -> Vec<Value> {
    let answer = client.request("resources/list", json!({})).await.unwrap();
    answer["resources"].as_array().unwrap().clone()
}

async fn open(client: &McpClient, url: &str) {
    client.call_tool("new_page", json!({"url": url})).await.ok();
}

/// A page with something for each kind.
fn full_page(crowd: &Crowd) -> String {
    let body = "<title>Full</title><h1>Chapter</h1><p>Something to read.</p><button>Press</button>\
                <a href=/data.csv download>Get it</a>\
                <script>console.log('said'); fetch('/asked').then(it => it.text())</script>";
    crowd.pages.route("/full", Response::html(body));
    crowd.pages.route("/asked", Response::html("an answer"));
    let csv = Response::download("data.csv", "a,b\n1,2\n");
    crowd.pages.route("/data.csv", csv);
    crowd.pages.url("full")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_resource_of_a_tab_is_read() {
    let Some(crowd) = Crowd::gather() else { return };
    let client = crowd.client(&[]).await;
    open(&client, &full_page(&crowd)).await;
    let click = json!({"function": "() => document.querySelector('a').click()"});
    client.call_tool("evaluate_script", click).await.ok();
    let tab = listed(&client).await;
    let tab = tab.iter().find(|row| row["title"] == "Full: snapshot");
    let tab = tab.unwrap()["uri"].as_str().unwrap();
    let tab = tab.strip_suffix("/snapshot").unwrap();
    let of = |kind: &str| format!("{tab}/{kind}");

    let page = text(&client, &of("text")).await;
    assert!(
        page.contains("# Chapter") && page.contains("Something to read."),
        "{page}"
    );
    let rest = text(&client, &of("text?offset=10")).await;
    assert!(
        !rest.contains("# Chapter") && rest.contains("to read."),
        "{rest}"
    );
    let snapshot = text(&client, &of("snapshot")).await;
    assert!(
        snapshot.contains("uid=") && snapshot.contains("Press"),
        "{snapshot}"
    );
    let console = text(&client, &of("console")).await;
    let number = console.split("msgid=").nth(1).unwrap();
    let number = number.split(' ').next().unwrap();
    let message = text(&client, &of(&format!("console/{number}"))).await;
    assert!(message.contains("said"), "{message}");
    let is_asked = |line: &&str| line.contains("/asked [200]");
    let complete = async {
        loop {
            let requests = text(&client, &of("network")).await;
            if let Some(line) = requests.lines().find(is_asked) {
                let number = line.trim_start_matches("reqid=").split(' ').next();
                break number.unwrap().to_owned();
            }
        }
    };
    let number = patiently(complete, || "no answer".to_owned()).await;
    let request = text(&client, &of(&format!("network/{number}"))).await;
    assert!(request.contains("an answer"), "{request}");
    let picture = blob(&client, &of("screenshot"), "image/png").await;
    assert!(picture.starts_with(b"\x89PNG"), "{} bytes", picture.len());
    let pdf = blob(&client, &of("pdf"), "application/pdf").await;
    assert!(pdf.starts_with(b"%PDF-"), "{} bytes", pdf.len());
    let files: Vec<_> = listed(&client).await;
    let pdfs = files.iter().filter(|row| row["name"] == "tabmux-1.pdf");
    assert_eq!(
        pdfs.count(),
        0,
        "a PDF that is read leaves no file: {files:?}"
    );

    let complete = async {
        while !text(&client, &of("network"))
            .await
            .contains("It is saved as")
        {}
    };
    patiently(complete, || "no download".to_owned()).await;
    let file = read(&client, &of("download/1")).await.unwrap();
    assert_eq!(
        (&file["text"], &file["mimeType"]),
        (&json!("a,b\n1,2\n"), &json!("text/csv"))
    );
    let files = listed(&client).await;
    let file = files.iter().find(|row| row["name"] == "data.csv").unwrap();
    assert_eq!(
        text(&client, file["uri"].as_str().unwrap()).await,
        "a,b\n1,2\n"
    );
    let error = read(&client, &of("download/2")).await.unwrap_err();
    assert!(error.message.contains("There is no download 2"), "{error}");
    let error = read(&client, &of("network/9999")).await.unwrap_err();
    assert!(
        error.message.contains("There is no request 9999"),
        "{error}"
    );

    let templates = client.request("resources/templates/list", json!({})).await;
    let templates = templates.unwrap()["resourceTemplates"].to_string();
    for kind in ["text{?offset}", "pdf", "network/{n}", "download/{n}"] {
        let template = format!("\"tabmux://tab/{{id}}/{kind}\"");
        assert!(templates.contains(&template), "{templates}");
    }
    for unknown in [
        &of("cookies"),
        &of("text/1"),
        "file:///etc/passwd",
        "tabmux://file/99",
    ] {
        is_not_found(&client, unknown).await;
    }
    is_not_found(&client, "tabmux://tab/999/text").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_reads_its_own_tabs_and_files_only() {
    let Some(crowd) = Crowd::gather() else { return };
    let chromium = crowd.running_browser();
    let browser = format!("--browserUrl={}", chromium.http_url());
    let one = crowd.visitor(&[&browser]).await;
    open(&one, &crowd.secret_of("ones")).await;
    open(&one, &crowd.secret_of("more")).await;
    one.call_tool("save_pdf", json!({})).await.ok();
    let rows = listed(&one).await;
    let uris = rows.iter().map(|row| row["uri"].as_str().unwrap());
    let uris: Vec<_> = uris.collect();
    let file = *uris.iter().find(|uri| uri.contains("/file/")).unwrap();
    assert!(read(&one, file).await.unwrap()["blob"].is_string());

    // A session with its own numbers, and one with those that all sessions share.
    let two = crowd.visitor(&[&browser]).await;
    two.call_tool("list_pages", json!({})).await.ok();
    let three = crowd.visitor(&[&browser, "--tools=progressive"]).await;
    three.call_tool("connect_browser", json!({})).await.ok();
    let own = json!({"url": crowd.secret_of("threes")});
    three.call_tool("open_tab", own).await.ok();
    for other in [&two, &three] {
        assert!(!json!(listed(other).await).to_string().contains("ones"));
        is_not_found(other, file).await;
    }
    for uri in uris.iter().filter(|uri| uri.ends_with("/text")) {
        if let Ok(contents) = read(&two, uri).await {
            let told = contents["text"].as_str().unwrap();
            assert!(!told.contains("ones") && !told.contains("more"), "{told}");
        }
    }
    let tabs = crowd.asked("tabs");
    let mut tabs = tabs.as_array().unwrap().iter();
    let number = &tabs.find(|tab| tab["title"] == "ones").unwrap()["id"];
    is_not_found(&three, &format!("tabmux://tab/{number}/text")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blocked_site_is_neither_listed_nor_read() {
    let Some(crowd) = Crowd::gather() else { return };
    let chromium = crowd.running_browser();
    let browser = format!("--browserUrl={}", chromium.http_url());
    let client = crowd.visitor(&[&browser, "--tabPolicy=shared"]).await;
    open(&client, &crowd.secret_of("hidden")).await;
    let origin = crowd.pages.url("");
    let blocked = format!("--blockedOrigins={}", origin.trim_end_matches('/'));
    let other = crowd.visitor(&[&browser, &blocked]).await;
    let pages = other.call_tool("list_pages", json!({})).await.ok().text();
    let row = pages.lines().find(|line| line.contains("(blocked)"));
    let row = row.unwrap_or_else(|| panic!("{pages}"));
    let number = row.split(':').next().unwrap();
    let rows = json!(listed(&other).await).to_string();
    assert!(
        !rows.contains("hidden") && !rows.contains(&format!("tab/{number}/")),
        "{rows}"
    );
    for kind in [
        "text",
        "snapshot",
        "screenshot",
        "pdf",
        "network",
        "console",
    ] {
        let read = read(&other, &format!("tabmux://tab/{number}/{kind}")).await;
        let error = read.unwrap_err();
        assert!(error.message.contains("blocked"), "{kind}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_huge_page_is_cut_and_says_how_to_read_on() {
    let Some(crowd) = Crowd::gather() else { return };
    let rows: String = (0..20_000)
        .map(|n| format!("<p>Line {n} of many.</p>"))
        .collect();
    let html = format!("<title>Huge</title><main>{rows}</main>");
    crowd.pages.route("/huge", Response::html(html));
    let client = crowd.client(&[]).await;
    open(&client, &crowd.pages.url("huge")).await;
    let uri = listed(&client).await[0]["uri"].as_str().unwrap().to_owned();
    let first = text(&client, &uri).await;
    assert!(
        first.len() < 60_000 && first.contains("Line 0 of"),
        "{} bytes",
        first.len()
    );
    let heading = first.lines().next().unwrap();
    assert!(heading.contains("of "), "{heading}");
    let later = text(&client, &format!("{uri}?offset=40000")).await;
    assert!(!later.contains("Line 0 of") && later.contains("of many."));
    let snapshot = text(&client, &uri.replace("/text", "/snapshot")).await;
    assert!(snapshot.len() <= 40_960, "{} bytes", snapshot.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_masked_in_resources() {
    let Some(crowd) = Crowd::gather() else { return };
    let folder = TempDir::with_prefix("tabmux-secrets-").unwrap();
    let file = folder.path().join("secrets.json");
    let origin = crowd.pages.url("");
    let origins = [origin.trim_end_matches('/')];
    let secrets = json!({"PIN": {"value": "moon-value-7", "origins": origins}});
    std::fs::write(&file, secrets.to_string()).unwrap();
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let flag = format!("--secrets={}", file.display());
    let body = "<title>Echo</title><p>moon-value-7</p><script>console.log('moon-value-7')</script>";
    crowd.pages.route("/echo", Response::html(body));
    let client = crowd.client(&[&flag]).await;
    open(&client, &crowd.pages.url("echo")).await;
    let uri = listed(&client).await[0]["uri"].as_str().unwrap().to_owned();
    for kind in ["text", "snapshot", "console"] {
        let told = text(&client, &uri.replace("/text", &format!("/{kind}"))).await;
        assert!(
            told.contains("•••") && !told.contains("moon-value"),
            "{kind}: {told}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_switched_off_tool_reads_no_resource() {
    let Some(crowd) = Crowd::gather() else { return };
    let client = crowd.client(&["--categoryNetwork=false"]).await;
    open(&client, &crowd.secret_of("a")).await;
    let rows = listed(&client).await;
    let uri = rows[0]["uri"].as_str().unwrap();
    assert!(
        !rows
            .iter()
            .any(|row| row["uri"].as_str().unwrap().ends_with("/network"))
    );
    let error = read(&client, &uri.replace("/text", "/network"))
        .await
        .unwrap_err();
    assert!(error.message.contains("is switched off"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_progressive_session_reads_its_focused_tab() {
    let Some(harness) = crate::harness::McpHarness::launched(&[]).await else {
        return;
    };
    assert_eq!(listed(&harness.client).await, Vec::<Value>::new());
    harness
        .text("open_tab", json!({"url": harness.pages.url("a")}))
        .await;
    harness
        .text("open_tab", json!({"url": harness.pages.url("b")}))
        .await;
    let rows = listed(&harness.client).await;
    let uri = rows[0]["uri"].as_str().unwrap();
    assert!(text(&harness.client, uri).await.contains("This is B."));
    assert_eq!(uri, "tabmux://tab/2/text");
    let error = read(&harness.client, "tabmux://tab/1/text")
        .await
        .unwrap_err();
    assert!(error.message.contains("focus_tab"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_watches_a_resource_is_told_of_changes() {
    let Some(crowd) = Crowd::gather() else { return };
    let client = crowd.client(&[]).await;
    open(&client, &crowd.secret_of("before")).await;
    let rows = listed(&client).await;
    let row = rows
        .iter()
        .find(|row| row["title"] == "before: main content");
    let uri = row.unwrap()["uri"].as_str().unwrap().to_owned();
    for watched in [&uri, "tabmux://tab/999/text"] {
        let watch = json!({"uri": watched});
        client.request("resources/subscribe", watch).await.unwrap();
    }
    let go = async |name: &str| {
        let url = crowd.secret_of(name);
        client
            .call_tool("navigate_page", json!({"url": url}))
            .await
            .ok();
    };
    let updated = async || loop {
        let notification = client.next_notification().await;
        if notification["method"] == "notifications/resources/updated" {
            break notification["params"]["uri"].clone();
        }
    };
    go("after").await;
    assert_eq!(updated().await, uri);
    assert!(text(&client, &uri).await.contains("after"));
    go("later").await;
    assert_eq!(updated().await, uri);
    let watch = json!({"uri": uri});
    client
        .request("resources/unsubscribe", watch)
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_without_a_handshake_names_resources() {
    let Some(mut harness) = crate::harness::McpHarness::silent(&["--tools=static"]) else {
        return;
    };
    harness.client.speak_2026();
    harness
        .text("new_page", json!({"url": harness.pages.url("a")}))
        .await;
    let rows = harness.client.request("resources/list", json!({})).await;
    let uri = rows.unwrap()["resources"][0]["uri"].clone();
    let filter = json!({"notifications": {"resourceSubscriptions": [uri]}});
    let listening = harness.client.begin("subscriptions/listen", filter).await;
    let told = harness.client.next_notification().await;
    assert_eq!(
        told["params"]["notifications"]["resourceSubscriptions"],
        json!([uri])
    );
    harness
        .text("navigate_page", json!({"url": harness.pages.url("b")}))
        .await;
    let told = harness.client.next_notification().await;
    assert_eq!(told["method"], "notifications/resources/updated", "{told}");
    assert_eq!(told["params"]["uri"], uri);
    assert!(!listening.is_answered());
}
