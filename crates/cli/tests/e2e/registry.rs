//! Browsers that are chosen, started, lost and reconnected, for an agent with attached browsers.

use crate::crowd::Crowd;
use serde_json::{Value, json};
use tabmux_testkit::{McpClient, patiently};

async fn text(client: &McpClient, tool: &str, arguments: Value) -> String {
    client.call_tool(tool, arguments).await.ok().text()
}

async fn title(client: &McpClient) -> String {
    let arguments = json!({"function": "() => document.title"});
    text(client, "evaluate_script", arguments).await
}

/// Spec: multi-browser 71, 72.
#[tokio::test(flavor = "multi_thread")]
async fn calls_without_a_number_go_to_the_browser_that_was_chosen() {
    let Some(crowd) = Crowd::gather() else { return };
    let browsers = [crowd.running_browser(), crowd.running_browser()];
    let [one, two] = browsers.each_ref().map(|browser| browser.http_url());
    let flags = [&one, &two].map(|url| format!("--browserUrl={url}"));
    let client = crowd
        .visitor(&[&flags[0], &flags[1], "--allowDefaultBrowser"])
        .await;
    for number in [1, 2] {
        let url = crowd.secret_of(&format!("number{number}"));
        let go = json!({"browserIndex": number, "url": url});
        text(&client, "navigate_page", go).await;
    }
    let refused = client
        .call_tool(
            "evaluate_script",
            json!({"function": "() => document.title"}),
        )
        .await
        .expect_error();
    assert!(
        refused.starts_with("browserIndex parameter is required"),
        "{refused}"
    );
    let chosen = |number: usize, default: usize| match number == default {
        true => " (default)",
        false => "",
    };
    for default in [1, 2] {
        let choose = json!({"browserIndex": default});
        text(&client, "select_default_browser", choose).await;
        assert_eq!(
            text(&client, "list_browsers", json!({})).await,
            format!(
                "Total browsers: 2\n\n[1] {one} - connected{}\n[2] {two} - connected{}\n\nMultiple \
                 browsers detected. Calls without browserIndex go to the default one.",
                chosen(1, default),
                chosen(2, default)
            )
        );
        assert!(title(&client).await.contains(&format!("number{default}")));
        let other = 3 - default;
        let named = json!({"browserIndex": other, "function": "() => document.title"});
        let named = text(&client, "evaluate_script", named).await;
        assert!(named.contains(&format!("number{other}")), "{named}");
    }
}

/// Spec: multi-browser 29, 32.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_command_starts_the_browser_that_a_reconnect_then_reaches() {
    let Some(crowd) = Crowd::gather() else { return };
    let port = free_port();
    let flag = format!(
        "--browserUrl=http://127.0.0.1:{port}|{}",
        crowd.start_command(port)
    );
    let client = crowd.visitor(&[&flag]).await;
    let answer = text(&client, "reconnect_browser", json!({"force": true})).await;
    assert_eq!(answer, format!("[1] http://127.0.0.1:{port} - connected"));
    let url = crowd.secret_of("started");
    text(&client, "navigate_page", json!({"url": url})).await;
    assert!(title(&client).await.contains("started"));
}

/// Spec: multi-browser 33.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_command_does_not_run_while_the_browser_can_be_reached() {
    let Some(crowd) = Crowd::gather() else { return };
    let chromium = crowd.running_browser();
    let mark = crowd.home().join("started");
    let flag = format!(
        "--browserUrl={}|touch {}",
        chromium.http_url(),
        mark.display()
    );
    let client = crowd.visitor(&[&flag]).await;
    for _ in 0..2 {
        let answer = text(&client, "reconnect_browser", json!({"force": true})).await;
        assert!(answer.contains(" - connected"), "{answer}");
        text(&client, "list_pages", json!({})).await;
    }
    assert!(!mark.exists());
}

/// Spec: multi-browser 88.
#[tokio::test(flavor = "multi_thread")]
async fn a_reconnected_browser_is_reported_once_and_its_pages_have_new_numbers() {
    let Some(crowd) = Crowd::gather() else { return };
    let mut chromium = crowd.running_browser();
    let client = crowd.guest(&chromium).await;
    let url = crowd.secret_of("before");
    text(&client, "navigate_page", json!({"url": url})).await;
    text(&client, "new_page", json!({"url": url})).await;
    let before = numbers(&text(&client, "list_pages", json!({})).await);
    assert_eq!(before.len(), 2);

    let port = chromium.port();
    chromium.kill();
    let lost = async {
        let is_connected = |list: &str| list.contains(" - connected");
        while is_connected(&text(&client, "list_browsers", json!({})).await) {}
    };
    patiently(lost, || "the browser to be known as gone".to_owned()).await;
    let _again = crowd.running_browser_at(port);
    let mut said = vec![text(&client, "reconnect_browser", json!({"force": true})).await];
    for _ in 0..2 {
        said.push(text(&client, "list_pages", json!({})).await);
    }
    let sentence = "was lost and is connected again";
    assert_eq!(said.concat().matches(sentence).count(), 1, "{said:?}");
    let after = numbers(said.last().unwrap());
    assert!(!after.is_empty());
    let (most, least) = (before.iter().max(), after.iter().min());
    assert!(least > most, "{before:?}, then {after:?}");
}

/// The numbers of the pages in a list.
fn numbers(list: &str) -> Vec<u32> {
    let lines = list.lines();
    lines
        .filter_map(|line| line.split_once(": ")?.0.parse().ok())
        .collect()
}

/// A free port.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
