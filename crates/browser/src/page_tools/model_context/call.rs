//! Calls a tool through the `modelContext` of its own document, or through an MCP server inside it.

use super::{FAILED, Way};
use crate::error::ToolError;
use crate::page_tools::PageAnswer;
use crate::page_tools::call::{Calling, first_line};
use crate::page_tools::home::{Home, led_elsewhere};
use crate::page_tools::web_mcp::Form;
use crate::script::{LONGEST, document_gone_or};
use crate::tab::Tab;
use crate::world::RemoteObject;
use serde::Deserialize;
use serde_json::{Map, Value};
use tabmux_cdp::types::runtime::{self, ExecutionContextId};

pub(crate) async fn call(
    tab: &Tab,
    way: &Way,
    name: &str,
    arguments: &Map<String, Value>,
    calling: &Calling,
) -> Result<PageAnswer, ToolError> {
    let _turn = Form::turn(way.form.as_ref()).await;
    let call = match &way.channel {
        // Its messages reach all worlds, and in ours no page has a hand.
        Some(channel) => Call {
            home: &way.home,
            context: tab.world_at(&way.home).await?.context,
            through: Through::Server(channel),
        },
        None => Call {
            home: &way.home,
            context: way.context,
            through: Through::ModelContext {
                submits: Form::submits(way.form.as_ref()),
            },
        },
    };
    call.run(tab, name, arguments, calling).await
}

/// Where a call goes.
pub(crate) struct Call<'a> {
    pub(crate) home: &'a Home,
    /// A context of that document: its own, or ours where the browser has `modelContext` itself.
    pub(crate) context: ExecutionContextId,
    pub(crate) through: Through<'a>,
}

/// Who takes a call in the page.
#[derive(Clone, Copy)]
pub(crate) enum Through<'a> {
    ModelContext {
        /// False for a form that is left to the user to send.
        submits: bool,
    },
    /// An MCP server that speaks on this channel.
    Server(&'a str),
}

impl Through<'_> {
    fn expression(self, name: &str, arguments: &Map<String, Value>) -> String {
        let (name, input) = (Value::from(name), Value::Object(arguments.clone()));
        match self {
            Self::ModelContext { submits } => format!("({SCRIPT})({name}, {input}, {submits})"),
            Self::Server(channel) => {
                format!("({TO_SERVER})({}, {name}, {input})", Value::from(channel))
            }
        }
    }
}

impl Call<'_> {
    pub(crate) async fn run(
        &self,
        tab: &Tab,
        name: &str,
        arguments: &Map<String, Value>,
        calling: &Calling,
    ) -> Result<PageAnswer, ToolError> {
        let begin = runtime::Evaluate {
            expression: self.through.expression(name, arguments),
            context_id: Some(self.context),
            ..Default::default()
        };
        let session = &self.home.session;
        let begun = session.send(begin).await.map_err(document_gone_or);
        let begun = match begun {
            Err(ToolError::DocumentGone) => return Err(ToolError::ToolGone),
            begun => begun?,
        };
        let Some(id) = begun.result.object_id else {
            return Err(ToolError::ToolGone);
        };
        let mut begun = Begun {
            object: RemoteObject::new(id, session.clone()),
            home: self.home,
            calling,
            is_over: false,
        };
        let answer = tokio::select! {
            biased;
            answer = begun.answer() => answer,
            left = self.home.left(tab) => {
                left?;
                Err(ToolError::DocumentGone)
            }
        };
        begun.is_over = true;
        match answer {
            Err(ToolError::DocumentGone) => Err(self.left_unanswered(tab).await),
            answer => read(answer?, tab),
        }
    }

    /// The page may be gone before its frame shows another.
    async fn left_unanswered(&self, tab: &Tab) -> ToolError {
        match self.home.left(tab).await {
            Ok(()) => self.home.left_unanswered(tab),
            Err(error) => error,
        }
    }
}

/// A call that the page has begun. If it is dropped before it is over, the page is told to give it up.
struct Begun<'a> {
    object: RemoteObject,
    home: &'a Home,
    calling: &'a Calling,
    is_over: bool,
}

impl Begun<'_> {
    async fn answer(&self) -> Result<Answer, ToolError> {
        let ask = runtime::CallFunctionOn {
            function_declaration: "function () { return this.answer; }".into(),
            object_id: Some(self.object.id.clone()),
            await_promise: Some(true),
            return_by_value: Some(true),
            ..Default::default()
        };
        let told = self.home.session.send_within(ask, LONGEST).await;
        let told = told.map_err(document_gone_or)?;
        let value = told.result.value.and_then(|value| value.decode().ok());
        value.ok_or(ToolError::ToolGone)
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if !self.is_over && self.calling.is_unwanted() {
            self.home.session.post(runtime::CallFunctionOn {
                function_declaration: "function () { this.stop(); }".into(),
                object_id: Some(self.object.id.clone()),
                ..Default::default()
            });
        }
    }
}

/// What the script answers: one of these.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    gone: bool,
    filled: bool,
    error: Option<String>,
    output: Option<String>,
}

fn read(answer: Answer, tab: &Tab) -> Result<PageAnswer, ToolError> {
    if answer.gone {
        return Err(ToolError::ToolGone);
    }
    if answer.filled {
        return Ok(PageAnswer::filled());
    }
    if let Some(error) = answer.error {
        let why = first_line(error.strip_prefix(FAILED).unwrap_or(&error));
        let why = why.trim_end_matches('.');
        return Err(ToolError::PageTool(format!(
            "The page's tool failed: {why}."
        )));
    }
    Ok(match answer.output {
        // By the standard, nothing at all means that the page was left.
        None => PageAnswer::text(led_elsewhere(tab)),
        Some(text) if text == "undefined" => PageAnswer::nothing(),
        Some(text) => PageAnswer::Value(match serde_json::from_str(&text) {
            Ok(value) => value,
            Err(_) => Value::String(text),
        }),
    })
}

const SCRIPT: &str = include_str!("../../../js/model_context/call.js");
const TO_SERVER: &str = include_str!("../../../js/model_context/call_server.js");
