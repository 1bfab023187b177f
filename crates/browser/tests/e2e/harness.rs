//! A browser, a web server and a tab for one test.

use crate::over_extension::Bridge;
use serde_json::Value;
use serde_json::value::to_raw_value;
use std::time::Duration;
use tabmux_browser::LaunchOptions;
use tabmux_browser::files::{Quota, Roots};
use tabmux_browser::find::Wanted;
use tabmux_browser::page_tools::{self, FoundTool, PageAnswer};
use tabmux_browser::profile::ProfileChoice;
use tabmux_browser::tools::{self, Block, ToolOutput};
use tabmux_browser::{
    AddressPolicy, Browser, BrowserEvent, CallContext, Connected, Files, OutputFolder, OutputRoot,
    Source, Tab, TabSettings, TargetId, ToolError,
};
use tabmux_cdp::{Connection, Session, WebSocketTransport};
use tabmux_testkit::{FixtureServer, OverExtension, patiently};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// What a test of the browser crate needs. Dropping it ends the browser.
pub(crate) struct BrowserHarness {
    pub(crate) browser: Browser,
    pub(crate) server: FixtureServer,
    pub(crate) events: mpsc::Receiver<Event>,
    pub(crate) files: tempfile::TempDir,
    /// The output folder of the session.
    pub(crate) output: OutputFolder,
}

/// What Chrome allows to its launcher, but not to an extension.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Capability {
    /// Ending the browser.
    Launch,
    /// Setting the download folder.
    Downloads,
    /// Attaching to a popup before its first request.
    PopupsFromTheirFirstByte,
    /// Reading a page's memory.
    Memory,
    /// Setting permissions of sites.
    Permissions,
}

/// A browser's event, as the harness receives it.
#[derive(Debug)]
pub(crate) struct Event(pub BrowserEvent);

impl From<(u32, BrowserEvent)> for Event {
    fn from((_, event): (u32, BrowserEvent)) -> Self {
        Self(event)
    }
}

impl BrowserHarness {
    /// Starts a headless browser, or explains why there is none.
    pub(crate) async fn start() -> Option<Self> {
        Self::start_with(&[]).await
    }

    /// The same with more flags.
    pub(crate) async fn start_with(flags: &[&str]) -> Option<Self> {
        Self::start_in(ProfileChoice::Temporary, flags).await
    }

    /// The same with this profile. A browser that is reached through the extension has its own.
    pub(crate) async fn start_in(profile: ProfileChoice, flags: &[&str]) -> Option<Self> {
        if let Some(bridge) = Bridge::here() {
            return Some(Self::follow(bridge.connect(flags, settings()).await));
        }
        let executable = tabmux_testkit::real_browser()?;
        let source = Source::Launch(LaunchOptions {
            wanted: Wanted {
                executable: Some(executable),
                channel: None,
            },
            profile,
            headless: true,
            viewport: Some((1000, 700)),
            extra_args: [&["--disable-quic"], flags]
                .concat()
                .into_iter()
                .map(Into::into)
                .collect(),
            ..LaunchOptions::default()
        });
        Some(Self::connect(&source).await)
    }

    /// Limits the downloads of the session.
    pub(crate) fn allow_downloads(&mut self, quota: Quota) {
        let output = OutputRoot::at(self.files.path().join("output"));
        self.output = output.session_with(None, quota);
    }

    /// Keeps the files of the session in this folder, as `--outputDir` does.
    pub(crate) fn keep_output_in(&mut self, folder: &std::path::Path) {
        let output = OutputRoot::at(self.files.path().join("output"));
        self.output = output.session_with(Some(folder.to_owned()), Quota::default());
    }

    /// Connects to a running browser.
    pub(crate) async fn connect(source: &Source) -> Self {
        let files = tempfile::tempdir().unwrap();
        let output = OutputRoot::at(files.path().join("output"));
        let connected = Browser::connect(source, settings(), &output).await;
        Self {
            output: output.session(),
            files,
            ..Self::follow(connected.unwrap())
        }
    }

    fn follow(connected: Connected) -> Self {
        let (report, events) = mpsc::channel(1_000);
        let files = tempfile::tempdir().unwrap();
        Self {
            browser: connected.follow(0, report),
            server: FixtureServer::start(),
            events,
            output: OutputRoot::at(files.path().join("output")).session(),
            files,
        }
    }

    /// Whether Chrome allows this on the current connection.
    pub(crate) fn can(&self, capability: Capability) -> bool {
        match capability {
            Capability::Launch
            | Capability::Downloads
            | Capability::PopupsFromTheirFirstByte
            | Capability::Memory
            | Capability::Permissions => !self.browser.is_personal(),
        }
    }

    /// A session with the rights of the browser's owner.
    pub(crate) async fn as_person(&self, tab: &Tab) -> Session {
        match OverExtension::here() {
            Some(over) => {
                let transport = WebSocketTransport::connect(&over.websocket(), &[]).await;
                Connection::start(transport.unwrap()).0
            }
            None => tab.session().clone(),
        }
    }

    /// Opens a fixture page, loaded and held as by a session.
    pub(crate) async fn open(&self, path: &str) -> Tab {
        self.open_url(&self.server.url(path)).await
    }

    /// Opens a page by its full URL.
    pub(crate) async fn open_url(&self, url: &str) -> Tab {
        let target = self.try_open(url).await.unwrap();
        self.browser.hold(&target, true).await;
        self.browser.tab(&target).await.unwrap()
    }

    /// Opens a page; may fail.
    pub(crate) async fn try_open(&self, url: &str) -> Result<TargetId, ToolError> {
        let address = AddressPolicy::default().parse(url)?;
        self.browser
            .open(
                &address,
                None,
                1,
                true,
                Duration::from_secs(10),
                Some(self.output.clone()),
            )
            .await
    }

    /// Runs a tool by name, as the daemon would.
    pub(crate) async fn run(
        &self,
        tab: &Tab,
        tool: &str,
        arguments: Value,
    ) -> Result<ToolOutput, ToolError> {
        self.run_until(tab, tool, arguments, CancellationToken::new())
            .await
    }

    /// Runs a tool that can be cancelled.
    pub(crate) async fn run_until(
        &self,
        tab: &Tab,
        tool: &str,
        arguments: Value,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        self.run_for(None, tab, tool, arguments, cancel).await
    }

    /// Runs a tool that must succeed and returns its text, which ends with what changed for this viewer.
    pub(crate) async fn seen(
        &self,
        viewer: u64,
        tab: &Tab,
        tool: &str,
        arguments: Value,
    ) -> String {
        match self.try_seen(viewer, tab, tool, arguments.clone()).await {
            Ok(output) => text_of(&output),
            Err(error) => panic!("{tool} {arguments} failed: {error}"),
        }
    }

    /// The same for a tool that may fail.
    pub(crate) async fn try_seen(
        &self,
        viewer: u64,
        tab: &Tab,
        tool: &str,
        arguments: Value,
    ) -> Result<ToolOutput, ToolError> {
        let viewer = Some(tools::Viewer(viewer));
        let cancel = CancellationToken::new();
        self.run_for(viewer, tab, tool, arguments, cancel).await
    }

    async fn run_for(
        &self,
        viewer: Option<tools::Viewer>,
        tab: &Tab,
        tool: &str,
        arguments: Value,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        let spec = tools::find(tool).unwrap_or_else(|| panic!("there is no tool {tool}"));
        let prepared = spec.prepare(&to_raw_value(&arguments).unwrap()).unwrap();
        let roots = Roots {
            working: Some(self.files.path().into()),
            ..Roots::default()
        };
        let files = Files::new(roots, self.output.clone());
        let context = CallContext {
            cancel,
            files,
            progress: None,
            viewer,
        };
        tabmux_browser::run(&self.browser, tab.target(), prepared, context).await
    }

    /// Calls a page tool.
    pub(crate) async fn call_page_tool(
        &self,
        tab: &Tab,
        tool: &FoundTool,
        arguments: Value,
        cancel: CancellationToken,
    ) -> Result<PageAnswer, ToolError> {
        let context = CallContext {
            cancel,
            files: Files::new(Roots::default(), self.output.clone()),
            progress: None,
            viewer: None,
        };
        let call = page_tools::call(
            &self.browser,
            tab.target(),
            tool.number,
            arguments.as_object().unwrap(),
            context,
        );
        patiently(call, || format!("no answer from {}", tool.name)).await
    }

    /// Runs a tool that must succeed and returns its text.
    pub(crate) async fn text(&self, tab: &Tab, tool: &str, arguments: Value) -> String {
        match self.run(tab, tool, arguments.clone()).await {
            Ok(output) => text_of(&output),
            Err(error) => panic!("{tool} {arguments} failed: {error}"),
        }
    }

    /// Runs a tool that must fail and returns the error.
    pub(crate) async fn error(&self, tab: &Tab, tool: &str, arguments: Value) -> String {
        match self.run(tab, tool, arguments.clone()).await {
            Ok(output) => panic!("{tool} {arguments} should fail, but: {}", text_of(&output)),
            Err(error) => error.to_string(),
        }
    }

    /// Evaluates an expression in the page itself and returns the JSON value.
    pub(crate) async fn page_value(&self, tab: &Tab, expression: &str) -> Value {
        let command = tabmux_cdp::types::runtime::Evaluate {
            expression: expression.into(),
            return_by_value: Some(true),
            await_promise: Some(true),
            user_gesture: Some(true),
            ..Default::default()
        };
        let answer = tab.session().send(command).await.unwrap();
        assert!(
            answer.exception_details.is_none(),
            "{expression}: {:?}",
            answer.exception_details
        );
        answer
            .result
            .value
            .map_or(Value::Null, |value| value.decode().unwrap())
    }

    /// The uid of the one line of a snapshot that contains `part`.
    pub(crate) async fn uid(&self, tab: &Tab, part: &str) -> String {
        let snapshot = self.text(tab, "take_snapshot", serde_json::json!({})).await;
        let lines: Vec<_> = snapshot
            .lines()
            .filter(|line| line.contains(part))
            .collect();
        let [line] = lines.as_slice() else {
            panic!("{} lines contain {part:?} in\n{snapshot}", lines.len());
        };
        let uid = line
            .trim_start()
            .strip_prefix("uid=")
            .and_then(|rest| rest.split(' ').next());
        uid.unwrap_or_else(|| panic!("no uid in {line:?}"))
            .to_owned()
    }

    /// The next browser event that `wanted` accepts.
    pub(crate) async fn event<T>(
        &mut self,
        mut wanted: impl FnMut(BrowserEvent) -> Option<T>,
    ) -> T {
        loop {
            let next = patiently(self.events.recv(), || "no browser event".into());
            let event = next.await.expect("the browser reports until it is gone").0;
            if let Some(found) = wanted(event) {
                return found;
            }
        }
    }

    /// The next tab that appears, and what opened it.
    pub(crate) async fn appeared(&mut self) -> (TargetId, tabmux_browser::TabOpener) {
        self.event(|event| match event {
            BrowserEvent::TabAppeared { tab, origin } => Some((tab.target, origin)),
            _ => None,
        })
        .await
    }
}

fn settings() -> TabSettings {
    TabSettings {
        viewport: Some((1000, 700)),
        ..TabSettings::default()
    }
}

/// The text blocks of an output.
pub(crate) fn text_of(output: &ToolOutput) -> String {
    let texts = output.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        Block::Image { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Whether a tool accepts these arguments, without any browser.
pub(crate) fn is_taken(tool: &str, arguments: &Value) -> bool {
    let spec = tools::find(tool).unwrap_or_else(|| panic!("there is no tool {tool}"));
    spec.prepare(&to_raw_value(arguments).unwrap()).is_ok()
}

/// The error with which a tool rejects these arguments, without any browser.
pub(crate) fn refused(tool: &str, arguments: Value) -> String {
    let spec = tools::find(tool).unwrap_or_else(|| panic!("there is no tool {tool}"));
    match spec.prepare(&to_raw_value(&arguments).unwrap()) {
        Ok(_) => panic!("{tool} takes {arguments}"),
        Err(error) => error.to_string(),
    }
}
