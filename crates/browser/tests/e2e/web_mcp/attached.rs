//! Pages that were open before tabmux attached.

use super::harness::{PageToolsHarness, WITH_WEB_MCP, WITHOUT_WEB_MCP, html};
use super::servers::with_server;
use crate::harness::BrowserHarness;
use serde_json::json;
use std::time::Duration;
use tabmux_browser::{Source, Tab};
use tabmux_cdp::types::target::CreateTarget;
use tabmux_cdp::{Connection, WebSocketTransport};
use tabmux_testkit::{Chromium, FixtureServer, OverExtension, Response};

/// An attached browser with an open page, and that page's tab.
async fn visit(
    flag: &str,
    serve: impl FnOnce(&FixtureServer),
) -> Option<(Option<Chromium>, PageToolsHarness, Tab)> {
    let executable = tabmux_testkit::real_browser()?;
    let (chromium, websocket, mut harness) = match OverExtension::here() {
        Some(over) => {
            let harness = PageToolsHarness(BrowserHarness::start_with(&[flag]).await?);
            (None, over.websocket(), harness)
        }
        None => {
            let chromium = Chromium::start_with(&executable, &[flag]);
            let source = Source::Url(chromium.http_url().into());
            let harness = PageToolsHarness(BrowserHarness::connect(&source).await);
            let websocket = chromium.websocket_url().to_owned();
            (Some(chromium), websocket, harness)
        }
    };
    serve(&harness.server);
    let user = WebSocketTransport::connect(&websocket, &[]);
    let (user, _events) = Connection::start(user.await.unwrap());
    let create = CreateTarget {
        url: harness.server.url("/top"),
        ..Default::default()
    };
    user.send(create).await.unwrap();
    harness.server.wait_for_request("/loaded").await;
    let (target, _) = harness.0.appeared().await;
    let look = harness.browser.look_for_tools(&target);
    tabmux_testkit::patiently(look, || "no tools were reported".into())
        .await
        .unwrap();
    let tab = harness.browser.tab(&target).await.unwrap();
    Some((chromium, harness, tab))
}

const LOADED: &str = "addEventListener(\"load\", () => fetch(\"/loaded\"));";

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_had_loaded_before_is_known_to_have() {
    let serve = |server: &FixtureServer| {
        server.route("/top", Response::html(html("<h1>There</h1>", LOADED)));
        server.route("/loaded", Response::no_content());
    };
    let without = OverExtension::here().filter(|over| over.runs_with(WITHOUT_WEB_MCP));
    let flag = without.map_or(WITH_WEB_MCP, |_| WITHOUT_WEB_MCP);
    let Some((_chromium, harness, tab)) = visit(flag, serve).await else {
        return;
    };
    let never = Duration::from_secs(3600);
    let settled = harness.browser.settle(tab.target(), never);
    let settled = tabmux_testkit::patiently(settled, || "it counts as loading".into());
    settled.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_that_were_registered_before_are_found_in_all_frames() {
    let tool = |name: &str| format!(r#"add({{name: "{name}", execute: () => "{name}"}});"#);
    let serve = |server: &FixtureServer| {
        let form = r#"<form toolname="form" tooldescription="F" toolautosubmit><input name="a"><button>B</button></form>"#;
        let far = server.cross_site_url("/far");
        let body = format!(
            r#"{form}<iframe src="/near"></iframe><iframe src="{far}" allow="tools"></iframe>"#
        );
        server.route("/near", Response::html(html(form, &tool("near"))));
        server.route("/far", Response::html(html("", &tool("far"))));
        let script = format!("{}{LOADED}", tool("top"));
        server.route("/top", Response::html(html(&body, &script)));
        server.route("/loaded", Response::no_content());
    };
    let Some((_chromium, harness, tab)) = visit(WITH_WEB_MCP, serve).await else {
        return;
    };
    harness
        .until_names(&tab, &["form", "top", "form", "near", "far"])
        .await;
    for name in ["top", "near", "far"] {
        assert_eq!(harness.value(&tab, name, json!({})).await, name);
    }
    // From here on everything works as in a tab that was attached from the start.
    harness
        .page_value(
            &tab,
            "frames[0].eval(\"add({name: 'later', execute: () => 'later'})\"), 0",
        )
        .await;
    harness
        .until_names(&tab, &["form", "top", "form", "near", "later", "far"])
        .await;
    assert_eq!(harness.value(&tab, "later", json!({})).await, "later");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_polyfill_that_was_loaded_before_is_found() {
    let own = r#"
        const tools = [];
        class Own extends EventTarget {
          async registerTool(tool) { tools.push(tool); this.dispatchEvent(new Event("toolchange")); }
          async getTools() { return tools.map(({name, description}) => ({name, description})); }
          async executeTool({name}, input) { return tools.find((tool) => tool.name === name).execute(input); }
        }
        Object.defineProperty(document, "modelContext", {value: new Own()});
        add({name: "mine", execute: () => "mine"});"#;
    let serve = |server: &FixtureServer| {
        server.route("/top", Response::html(html("", &format!("{own}{LOADED}"))));
        server.route("/loaded", Response::no_content());
    };
    let Some((_chromium, harness, tab)) = visit(WITHOUT_WEB_MCP, serve).await else {
        return;
    };
    harness.until_names(&tab, &["mine"]).await;
    assert_eq!(harness.value(&tab, "mine", json!({})).await, "mine");
    harness
        .page_value(&tab, "add({name: 'more', execute: () => 1})")
        .await;
    harness.until_names(&tab, &["mine", "more"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_inside_a_page_that_began_before_is_asked_and_not_greeted_again() {
    for flag in [WITH_WEB_MCP, WITHOUT_WEB_MCP] {
        // Through the extension there is one browser, with one of these flags.
        if OverExtension::here().is_some_and(|over| !over.runs_with(flag)) {
            continue;
        }
        let serve = |server: &FixtureServer| {
            let script = with_server(&format!(
                r#"serve([{{name: "mine", run: () => text("mine")}}]); {LOADED}"#
            ));
            server.route("/top", Response::html(html("", &script)));
            server.route("/loaded", Response::no_content());
        };
        let Some((_chromium, harness, tab)) = visit(flag, serve).await else {
            return;
        };
        harness.until_names(&tab, &["mine"]).await;
        let mine = harness.value(&tab, "mine", json!({})).await;
        assert_eq!(mine["content"][0]["text"], "mine");
        // Another client may have initialized it, and must not be disturbed.
        let said = json!(["check", "tools/list", "tools/call"]);
        assert_eq!(harness.page_value(&tab, "said").await, said);
    }
}
