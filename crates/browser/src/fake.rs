//! A scripted browser for tests of what a real one does too rarely.

use crate::browser::{Browser, BrowserEvent};
use crate::error::ToolError;
use crate::files::{Files, OutputRoot, Roots};
use crate::machine::Machine;
use crate::run::CallContext;
use crate::tab::{Tab, TabSettings, TargetId};
use crate::tools::{self, ToolResult};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tabmux_cdp::{ChannelTransport, Frame, Oversize};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// A command that the browser received.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Asked {
    pub(crate) id: u64,
    pub(crate) session_id: Option<String>,
    pub(crate) method: String,
    #[serde(default)]
    pub(crate) params: Value,
}

impl Asked {
    /// The response to it.
    pub(crate) fn answer(&self, result: Value) -> Value {
        json!({"id": self.id, "sessionId": self.session_id, "result": result})
    }

    /// An error response to it.
    pub(crate) fn refuse(&self, message: &str) -> Value {
        let error = json!({"code": -32000, "message": message});
        json!({"id": self.id, "sessionId": self.session_id, "error": error})
    }

    /// Whether it runs a script that contains this text.
    pub(crate) fn runs(&self, words: &str) -> bool {
        let expression = self.params["expression"].as_str().unwrap_or_default();
        self.method == "Runtime.evaluate" && expression.contains(words)
    }

    /// The response with a script's return value.
    pub(crate) fn gives(&self, value: Value) -> Value {
        self.answer(json!({"result": {"value": value}}))
    }
}

/// An event of the tab.
pub(crate) fn event(method: &str, params: Value) -> Value {
    json!({"sessionId": SESSION, "method": method, "params": params})
}

/// An event of the browser.
pub(crate) fn browser_event(method: &str, params: Value) -> Value {
    json!({"method": method, "params": params})
}

/// Facts about a tab, as Chrome reports them.
pub(crate) fn target_info(target: &str) -> Value {
    json!({"targetId": target, "type": "page", "url": URL, "title": "A page", "attached": false})
}

/// The event that the only tab has been attached.
pub(crate) fn attached() -> Value {
    let params = json!({
        "sessionId": SESSION, "targetInfo": target_info(TAB), "waitingForDebugger": false
    });
    browser_event("Target.attachedToTarget", params)
}

/// A frame of a page.
pub(crate) fn frame(id: &str, parent: Option<&str>, origin: &str) -> Value {
    json!({
        "id": id, "parentId": parent, "loaderId": format!("{id} {origin}"), "url": format!("{origin}/"),
        "securityOrigin": origin,
    })
}

/// Default responses of a browser with one tab.
pub(crate) fn usual(asked: &Asked) -> Vec<Value> {
    let result = match asked.method.as_str() {
        "Browser.getVersion" => json!({"product": "Chrome/156.0.0.0"}),
        "Target.getTargets" => json!({"targetInfos": [target_info(TAB)]}),
        "Target.attachToTarget" => {
            return vec![attached(), asked.answer(json!({"sessionId": SESSION}))];
        }
        "Page.getFrameTree" => json!({"frameTree": {"frame": frame(FRAME, None, ORIGIN)}}),
        "Page.createIsolatedWorld" => json!({"executionContextId": 7}),
        "Runtime.evaluate" => json!({"result": {"value": null}}),
        _ => json!({}),
    };
    vec![asked.answer(result)]
}

/// The browser's end of the connection.
pub(crate) struct Fake {
    feed: mpsc::Sender<Frame>,
    heard: mpsc::Receiver<Asked>,
}

impl Fake {
    /// A browser that sends the messages of `say` after each command.
    pub(crate) fn new(
        mut say: impl FnMut(&Asked) -> Vec<Value> + Send + 'static,
    ) -> (ChannelTransport, Self) {
        let (transport, mut commands, feed) = ChannelTransport::new();
        let (hear, heard) = mpsc::channel(1_000);
        let answers = feed.clone();
        tokio::spawn(async move {
            while let Some(command) = commands.recv().await {
                let asked: Asked = serde_json::from_str(&command).unwrap();
                for frame in say(&asked) {
                    let _ = answers.send(Bytes::from(frame.to_string()).into()).await;
                }
                // A test that does not read commands misses later ones.
                let _ = hear.try_send(asked);
            }
        });
        (transport, Self { feed, heard })
    }

    /// Sends a message.
    pub(crate) async fn say(&self, frame: Value) {
        self.feed
            .send(Bytes::from(frame.to_string()).into())
            .await
            .unwrap();
    }

    /// Sends the head of a tab event that was too large, whose parameters begin with `params`.
    pub(crate) async fn say_cut(&self, method: &str, params: &str) {
        let head = format!(r#"{{"sessionId":"{SESSION}","method":"{method}","params":{params}"#);
        self.say_head(head).await;
    }

    /// Like [`Self::say_cut`], for an event of the browser.
    pub(crate) async fn say_browser_cut(&self, method: &str, params: &str) {
        self.say_head(format!(r#"{{"method":"{method}","params":{params}"#))
            .await;
    }

    async fn say_head(&self, head: String) {
        let frame = Frame::Oversize(Oversize {
            head: head.into(),
            tail: Vec::new(),
            length: 99_000_000,
        });
        self.feed.send(frame).await.unwrap();
    }

    /// All received commands that the test has not read yet.
    pub(crate) fn heard_so_far(&mut self) -> Vec<Asked> {
        std::iter::from_fn(|| self.heard.try_recv().ok()).collect()
    }

    /// The next command with this name; waits up to a minute of the test's clock.
    pub(crate) async fn hears(&mut self, method: &str) -> Option<Asked> {
        let next = async {
            loop {
                let asked = self.heard.recv().await?;
                if asked.method == method {
                    return Some(asked);
                }
            }
        };
        let heard = tokio::time::timeout(Duration::from_secs(60), next).await;
        heard.unwrap_or_default()
    }
}

/// Like [`usual`], in a tab where every element can be found.
pub(crate) fn with_element(asked: &Asked) -> Vec<Value> {
    if asked.runs("tabmux.prepare(") {
        return vec![asked.gives(json!({"ok": true, "x": 10, "y": 20}))];
    }
    if asked.runs("tabmux.aim(") {
        return vec![asked.gives(json!({"ok": true}))];
    }
    if asked.runs("tabmux.watchPress(") {
        return vec![asked.gives(json!({"seen": true, "hit": true}))];
    }
    match asked.method.as_str() {
        _ if asked.runs("tabmux.element(") => {
            vec![asked.answer(json!({"result": {"objectId": "ELEMENT"}}))]
        }
        "DOM.describeNode" => vec![asked.answer(json!({"node": {"localName": "button"}}))],
        _ => usual(asked),
    }
}

/// A client connected to a fake browser.
pub(crate) struct FakeBrowser {
    pub(crate) fake: Fake,
    pub(crate) browser: Browser,
    pub(crate) events: mpsc::Receiver<(u32, BrowserEvent)>,
    /// Where output folders are.
    pub(crate) home: tempfile::TempDir,
}

impl FakeBrowser {
    /// Connects to a browser that sends the messages of `say` after each command.
    pub(crate) async fn new(say: impl FnMut(&Asked) -> Vec<Value> + Send + 'static) -> Self {
        Self::at(Machine::This, say).await
    }

    /// The same, on a machine.
    pub(crate) async fn at(
        machine: Machine,
        say: impl FnMut(&Asked) -> Vec<Value> + Send + 'static,
    ) -> Self {
        let (transport, fake) = Fake::new(say);
        let settings = TabSettings {
            machine,
            ..TabSettings::default()
        };
        let connected = Browser::connect_over(transport, settings).await;
        let (report, events) = mpsc::channel(1_000);
        Self {
            fake,
            browser: connected.unwrap().follow(0, report),
            events,
            home: tempfile::tempdir().unwrap(),
        }
    }

    /// Its only tab, attached.
    pub(crate) async fn tab(&self) -> Result<Tab, ToolError> {
        self.browser.tab(&TargetId::from(TAB)).await
    }

    /// The uid of its tab's only element.
    pub(crate) async fn element(&self) -> String {
        let tab = self.tab().await.unwrap();
        let document = tab.state().frames.main().unwrap().document;
        format!("{document}_1")
    }

    /// Runs a tool in its only tab.
    pub(crate) fn run(
        &self,
        tool: &str,
        arguments: Value,
    ) -> impl Future<Output = ToolResult> + Send + 'static {
        let arguments = serde_json::value::to_raw_value(&arguments).unwrap();
        let prepared = tools::find(tool).unwrap().prepare(&arguments).unwrap();
        let roots = Roots {
            named: vec![env!("CARGO_MANIFEST_DIR").into()],
            ..Roots::default()
        };
        let context = CallContext {
            cancel: CancellationToken::new(),
            files: Files::new(
                roots,
                OutputRoot::at(self.home.path().join("output")).session(),
            ),
            progress: None,
            viewer: None,
        };
        let browser = self.browser.clone();
        async move { crate::run(&browser, &TargetId::from(TAB), prepared, context).await }
    }
}

pub(crate) const TAB: &str = "TAB";
pub(crate) const SESSION: &str = "SESSION";
pub(crate) const FRAME: &str = "FRAME";
pub(crate) const ORIGIN: &str = "http://here.test";
const URL: &str = "http://here.test/";
