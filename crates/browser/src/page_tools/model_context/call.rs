//! Calls a tool through the `modelContext` of its own document, or through an MCP server inside it.

use super::{FAILED, InPageCall};
use crate::error::ToolError;
use crate::page_tools::PageAnswer;
use crate::page_tools::call::{CallState, first_line};
use crate::page_tools::location::{ToolLocation, navigated_to};
use crate::page_tools::web_mcp::Form;
use crate::script::{LONGEST, document_gone_or};
use crate::tab::Tab;
use crate::world::RemoteObject;
use serde::Deserialize;
use serde_json::{Map, Value};
use tabmux_cdp::Session;
use tabmux_cdp::types::runtime::{self, ExecutionContextId};
use tokio::sync::oneshot;

pub(crate) async fn call(
    tab: &Tab,
    path: &InPageCall,
    name: &str,
    arguments: &Map<String, Value>,
    state: &CallState,
) -> Result<PageAnswer, ToolError> {
    let _turn = Form::turn(path.form.as_ref()).await;
    let call = match &path.channel {
        // Messages of a server reach all worlds, and the page cannot interfere with ours.
        Some(channel) => Call {
            location: &path.location,
            context: tab.world_at(&path.location).await?.context,
            handler: PageHandler::Server(channel),
        },
        None => Call {
            location: &path.location,
            context: path.context,
            handler: PageHandler::ModelContext {
                submits: Form::submits(path.form.as_ref()),
            },
        },
    };
    call.run(tab, name, arguments, state).await
}

/// The target of a call.
pub(crate) struct Call<'a> {
    pub(crate) location: &'a ToolLocation,
    /// A context of that document: the page's, or our isolated world where the browser itself has `modelContext`.
    pub(crate) context: ExecutionContextId,
    pub(crate) handler: PageHandler<'a>,
}

/// What handles a call in the page.
#[derive(Clone, Copy)]
pub(crate) enum PageHandler<'a> {
    ModelContext {
        /// False for a form that the user has to submit.
        submits: bool,
    },
    /// An MCP server that uses this channel.
    Server(&'a str),
}

impl PageHandler<'_> {
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
        state: &CallState,
    ) -> Result<PageAnswer, ToolError> {
        let begin = runtime::Evaluate {
            expression: self.handler.expression(name, arguments),
            context_id: Some(self.context),
            ..Default::default()
        };
        let started = StartedCall::new(self.location.session.clone(), begin, state.clone()).await;
        let mut started = match started {
            Err(ToolError::DocumentGone) => return Err(ToolError::ToolGone),
            started => started?,
        };
        let answer = tokio::select! {
            biased;
            answer = started.answer() => answer,
            left = self.location.left(tab) => {
                left?;
                Err(ToolError::DocumentGone)
            }
        };
        started.is_over = true;
        match answer {
            Err(ToolError::DocumentGone) => Err(self.unanswered(tab).await),
            answer => read(answer?, tab),
        }
    }

    /// The document may be gone before its frame shows the next one.
    async fn unanswered(&self, tab: &Tab) -> ToolError {
        match self.location.left(tab).await {
            Ok(()) => self.location.unanswered(tab),
            Err(error) => error,
        }
    }
}

/// A call that has started in the page. Dropping it early aborts it there.
struct StartedCall {
    object: RemoteObject,
    session: Session,
    state: CallState,
    is_over: bool,
}

impl StartedCall {
    /// Starts the call in the page and waits for the page's handle of it. Aborting needs the handle, so this waits for
    /// it even if the caller is gone.
    async fn new(
        session: Session,
        begin: runtime::Evaluate,
        state: CallState,
    ) -> Result<Self, ToolError> {
        let (tell, told) = oneshot::channel();
        tokio::spawn(async move {
            let started = session.send(begin).await.map_err(document_gone_or);
            let started = started.and_then(|started| {
                let id = started.result.object_id.ok_or(ToolError::ToolGone)?;
                Ok(Self {
                    object: RemoteObject::new(id, session.clone()),
                    session,
                    state,
                    is_over: false,
                })
            });
            let _ = tell.send(started);
        });
        told.await.map_err(|_| ToolError::BrowserGone)?
    }

    async fn answer(&self) -> Result<Answer, ToolError> {
        let ask = runtime::CallFunctionOn {
            function_declaration: "function () { return this.answer; }".into(),
            object_id: Some(self.object.id.clone()),
            await_promise: Some(true),
            return_by_value: Some(true),
            ..Default::default()
        };
        let told = self.session.send_within(ask, LONGEST).await;
        let told = told.map_err(document_gone_or)?;
        let value = told.result.value.and_then(|value| value.decode().ok());
        value.ok_or(ToolError::ToolGone)
    }
}

impl Drop for StartedCall {
    fn drop(&mut self) {
        if !self.is_over && self.state.aborts_on_drop() {
            self.session.post(runtime::CallFunctionOn {
                function_declaration: "function () { this.stop(); }".into(),
                object_id: Some(self.object.id.clone()),
                ..Default::default()
            });
        }
    }
}

/// The script's answer: exactly one of these is set.
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
        // By the standard, no answer at all means that the page was left.
        None => PageAnswer::text(navigated_to(tab)),
        Some(text) if text == "undefined" => PageAnswer::nothing(),
        Some(text) => PageAnswer::Value(match serde_json::from_str(&text) {
            Ok(value) => value,
            Err(_) => Value::String(text),
        }),
    })
}

const SCRIPT: &str = include_str!("../../../js/model_context/call.js");
const TO_SERVER: &str = include_str!("../../../js/model_context/call_server.js");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{self, Asked, FakeBrowser};
    use serde_json::json;

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_cancelled_as_it_starts_is_aborted_in_the_page() {
        let mut harness = FakeBrowser::new(|asked: &Asked| match asked.runs("executeTool") {
            true => vec![],
            false => fake::usual(asked),
        })
        .await;
        let tab = harness.tab().await.unwrap();
        let main = tab.state().frames.main().cloned().unwrap();
        let state = tokio::spawn(async move {
            let location = ToolLocation {
                session: main.session,
                frame: main.id,
                document: main.document,
            };
            let call = Call {
                location: &location,
                context: ExecutionContextId::default(),
                handler: PageHandler::ModelContext { submits: true },
            };
            let state = CallState::default();
            call.run(&tab, "slow", &Map::new(), &state).await
        });
        let started = loop {
            let asked = harness.fake.hears("Runtime.evaluate").await.unwrap();
            if asked.runs("executeTool") {
                break asked;
            }
        };
        state.abort();
        assert!(state.await.is_err());
        let object = json!({"result": {"objectId": "CALL"}});
        harness.fake.say(started.answer(object)).await;
        let stopped = harness.fake.hears("Runtime.callFunctionOn").await.unwrap();
        assert_eq!(stopped.params["objectId"], "CALL");
        let script = stopped.params["functionDeclaration"].as_str().unwrap();
        assert!(script.contains("this.stop()"), "{script}");
    }
}
