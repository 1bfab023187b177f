//! A harness for pages that register tools.

use crate::harness::{BrowserHarness, text_of};
use serde_json::{Value, json};
use std::ops::Deref;
use std::sync::Arc;
use tabmux_browser::page_tools::{Findings, FoundTool, PageAnswer};
use tabmux_browser::{Tab, ToolError};
use tabmux_testkit::{Response, patiently};
use tokio_util::sync::CancellationToken;

pub(crate) struct PageToolsHarness(pub(crate) BrowserHarness);

impl Deref for PageToolsHarness {
    type Target = BrowserHarness;

    fn deref(&self) -> &BrowserHarness {
        &self.0
    }
}

impl PageToolsHarness {
    pub(crate) async fn start() -> Option<Self> {
        Some(Self(BrowserHarness::start().await?))
    }

    /// The same with a browser without WebMCP.
    pub(crate) async fn without_web_mcp() -> Option<Self> {
        Some(Self(BrowserHarness::start_with(&[WITHOUT_WEB_MCP]).await?))
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.server.port())
    }

    /// Serves a page at a path.
    pub(crate) fn serve(&self, path: &str, body: &str, script: &str) {
        self.server.route(path, Response::html(html(body, script)));
    }

    /// Serves a page and opens it. Its script has `add`, which registers a tool.
    pub(crate) async fn page(&self, path: &str, body: &str, script: &str) -> Tab {
        let path = format!("/page{path}");
        self.serve(&path, body, script);
        self.open(&path).await
    }

    pub(crate) fn tools(&self, tab: &Tab) -> Findings {
        tab.findings().borrow().clone()
    }

    pub(crate) fn names(&self, tab: &Tab) -> Vec<String> {
        names(&self.tools(tab))
    }

    /// Waits until the page has exactly these tools.
    pub(crate) async fn until_names(&self, tab: &Tab, wanted: &[&str]) {
        let mut found = tab.findings();
        let last = found.clone();
        let wait = found.wait_for(|found| names(found) == wanted);
        let waited = patiently(wait, || {
            format!("{:?} is not {wanted:?}", names(&last.borrow()))
        });
        waited.await.unwrap();
    }

    /// Waits until the page has a tool with this name. Chrome registers forms after their page has loaded.
    pub(crate) async fn until_tool(&self, tab: &Tab, name: &str) {
        let mut found = tab.findings();
        let last = found.clone();
        let wait = found.wait_for(|found| names(found).iter().any(|it| it == name));
        let waited = patiently(wait, || {
            format!("{name} is not in {:?}", names(&last.borrow()))
        });
        waited.await.unwrap();
    }

    pub(crate) fn tool(&self, tab: &Tab, name: &str) -> Arc<FoundTool> {
        let found = self.tools(tab);
        let tool = found.web_mcp.iter().find(|tool| &*tool.name == name);
        Arc::clone(tool.unwrap_or_else(|| panic!("no tool {name} in {:?}", names(&found))))
    }

    pub(crate) async fn call(
        &self,
        tab: &Tab,
        name: &str,
        arguments: Value,
    ) -> Result<PageAnswer, ToolError> {
        self.until_tool(tab, name).await;
        let tool = self.tool(tab, name);
        self.call_page_tool(tab, &tool, arguments, CancellationToken::new())
            .await
    }

    /// Calls a tool that must return a value.
    pub(crate) async fn value(&self, tab: &Tab, name: &str, arguments: Value) -> Value {
        match self.call(tab, name, arguments).await {
            Ok(PageAnswer::Value(value)) => value,
            other => panic!("{name}: {other:?}"),
        }
    }

    /// Calls a tool that must be answered with a text of ours.
    pub(crate) async fn words(&self, tab: &Tab, name: &str, arguments: Value) -> String {
        match self.call(tab, name, arguments).await {
            Ok(PageAnswer::Output(output)) => text_of(&output),
            other => panic!("{name}: {other:?}"),
        }
    }

    /// Calls a tool that must fail.
    pub(crate) async fn failure(&self, tab: &Tab, name: &str, arguments: Value) -> String {
        match self.call(tab, name, arguments).await {
            Err(error) => error.to_string(),
            Ok(answer) => panic!("{name} should fail, but: {answer:?}"),
        }
    }

    /// Calls a tool that sets `busy` and never answers, while a script navigates its page away. Returns the caller's
    /// result.
    pub(crate) async fn left_during(&self, tab: &Tab, name: &str, leave: &str) -> String {
        let leave = async {
            while self.page_value(tab, "window.busy").await != json!(1) {}
            self.page_value(tab, &format!("setTimeout(() => {leave}), 0"))
                .await;
        };
        let (failure, ()) = tokio::join!(self.failure(tab, name, json!({})), leave);
        assert!(failure.contains("before its tool answered"), "{failure}");
        failure
    }

    /// Calls a tool of a document that is gone.
    pub(crate) async fn is_gone(&self, tab: &Tab, tool: &FoundTool) {
        let call = self.call_page_tool(tab, tool, json!({}), CancellationToken::new());
        let told = call.await.unwrap_err().to_string();
        assert!(told.contains("no longer has this tool"), "{told}");
    }
}

pub(crate) fn names(found: &Findings) -> Vec<String> {
    let names = found.web_mcp.iter().map(|tool| tool.name.to_string());
    names.collect()
}

pub(crate) fn html(body: &str, script: &str) -> String {
    format!(
        r#"<!doctype html><title>A page with tools</title>{body}<script>
        const add = (tool, options) => document.modelContext.registerTool({{
          description: "A tool", inputSchema: {{type: "object", properties: {{}}}}, ...tool}}, options);
        const later = (ms) => new Promise((done) => setTimeout(done, ms));
        {script}</script>"#
    )
}

/// The experimental features that `tabmux` enables in a launched Chrome.
pub(crate) const WITH_WEB_MCP: &str = "--enable-features=WebMCP";
/// A disabled feature stays off, whatever else is enabled.
pub(crate) const WITHOUT_WEB_MCP: &str = "--disable-features=WebMCP,WebMCPTesting";
