//! A harness for pages with generated tools.

use crate::harness::{BrowserHarness, text_of};
use serde_json::Value;
use std::fmt::Write as _;
use std::ops::Deref;
use std::sync::Arc;
use tabmux_browser::introspect::{self, Reading};
use tabmux_browser::page_tools::{self, FoundTool, PageAnswer};
use tabmux_browser::{Tab, ToolError};
use tabmux_testkit::{Response, patiently};
use tokio_util::sync::CancellationToken;

pub(super) struct PageToolsHarness(BrowserHarness);

impl Deref for PageToolsHarness {
    type Target = BrowserHarness;

    fn deref(&self) -> &BrowserHarness {
        &self.0
    }
}

impl PageToolsHarness {
    pub(super) async fn start() -> Option<Self> {
        Some(Self(BrowserHarness::start_with(&[OFFLINE]).await?))
    }

    /// Serves a page and opens it.
    pub(super) async fn page(&self, path: &str, body: &str) -> Tab {
        self.serve(path, body);
        self.open(path).await
    }

    pub(super) fn serve(&self, path: &str, body: &str) {
        let page = format!("<!doctype html><meta charset=utf-8><title>A page</title>{body}");
        self.server.route(path, Response::html(page));
    }

    pub(super) async fn read(&self, tab: &Tab) -> Reading {
        introspect::read(tab, introspect::USUAL_LIMIT)
            .await
            .unwrap()
    }

    pub(super) fn tools(&self, tab: &Tab) -> Vec<Arc<FoundTool>> {
        tab.findings().borrow().generated.clone()
    }

    pub(super) fn names(&self, tab: &Tab) -> Vec<String> {
        self.tools(tab)
            .iter()
            .map(|tool| tool.name.to_string())
            .collect()
    }

    /// Waits until the page has exactly these tools.
    pub(super) async fn until_names(&self, tab: &Tab, wanted: &[&str]) {
        let mut found = tab.findings();
        let fits = |found: &page_tools::Findings| {
            found
                .generated
                .iter()
                .map(|tool| &*tool.name)
                .eq(wanted.iter().copied())
        };
        let waited = patiently(found.wait_for(fits), || {
            format!("{:?} is not {wanted:?}", self.names(tab))
        });
        waited.await.unwrap();
    }

    /// Waits until a condition is true in the page.
    pub(super) async fn until(&self, tab: &Tab, condition: &str) {
        let wait = format!(
            "new Promise((done) => {{ const look = () => ({condition}) ? done(0) : requestAnimationFrame(look); look(); }})"
        );
        patiently(self.page_value(tab, &wait), || {
            format!("not so: {condition}")
        })
        .await;
    }

    pub(super) fn tool(&self, tab: &Tab, name: &str) -> Arc<FoundTool> {
        let tools = self.tools(tab);
        let tool = tools.iter().find(|tool| &*tool.name == name);
        Arc::clone(tool.unwrap_or_else(|| panic!("no tool {name} in {:?}", self.names(tab))))
    }

    /// The schema of one argument.
    pub(super) fn argument(&self, tab: &Tab, name: &str, argument: &str) -> Value {
        let tool = self.tool(tab, name);
        let whole = tool.read_schema();
        let schema = whole.get("properties").and_then(|all| all.get(argument));
        schema
            .unwrap_or_else(|| panic!("no {argument} in {:?}", tool.schema))
            .clone()
    }

    /// A readable list of all tools.
    pub(super) fn sheet(&self, tab: &Tab) -> String {
        let mut sheet = String::new();
        for tool in self.tools(tab) {
            let schema = tool.read_schema();
            let required = schema.get("required").cloned().unwrap_or_default();
            let reads = if tool.read_only { " (reads)" } else { "" };
            writeln!(sheet, "{}{reads}: {}", tool.name, tool.description).unwrap();
            let properties = schema.get("properties").and_then(Value::as_object);
            for (name, schema) in properties.into_iter().flatten() {
                let must = required
                    .as_array()
                    .is_some_and(|all| all.iter().any(|one| one == name));
                let must = if must { " (required)" } else { "" };
                writeln!(sheet, "    {name}{must} {schema}").unwrap();
            }
        }
        sheet.replace(&format!("127.0.0.1:{}", self.server.port()), "HOST")
    }

    pub(super) async fn call(
        &self,
        tab: &Tab,
        name: &str,
        arguments: Value,
    ) -> Result<String, ToolError> {
        let tool = self.tool(tab, name);
        let call = self.call_page_tool(tab, &tool, arguments, CancellationToken::new());
        match call.await? {
            PageAnswer::Output(output) => Ok(text_of(&output)),
            PageAnswer::Value(value) => panic!("{name} answered {value}"),
        }
    }

    /// Calls a tool that must succeed.
    pub(super) async fn does(&self, tab: &Tab, name: &str, arguments: Value) -> String {
        match self.call(tab, name, arguments.clone()).await {
            Ok(text) => text.replace(&format!("127.0.0.1:{}", self.server.port()), "HOST"),
            Err(error) => panic!("{name} {arguments} failed: {error}"),
        }
    }

    /// Calls a tool that must fail, and returns the error.
    pub(super) async fn refuses(&self, tab: &Tab, name: &str, arguments: Value) -> String {
        match self.call(tab, name, arguments.clone()).await {
            Ok(text) => panic!("{name} {arguments} should fail, but: {text}"),
            Err(error) => error.to_string(),
        }
    }
}

/// Demo pages load external scripts; the tests must not depend on whether these are reachable.
pub(crate) const OFFLINE: &str =
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost";
