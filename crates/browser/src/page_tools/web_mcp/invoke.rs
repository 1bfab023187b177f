//! Calls a WebMCP tool and reports the result.

use super::pending::{Answer, Waiting};
use super::{Form, NativeCall};
use crate::error::ToolError;
use crate::page_tools::call::{CallState, first_line};
use crate::page_tools::location::{navigated_to, wait_for_load};
use crate::page_tools::{PageAnswer, ToolLocation, model_context};
use crate::tab::Tab;
use serde_json::{Map, Value};
use std::time::Duration;
use tabmux_cdp::CdpError;
use tabmux_cdp::types::web_mcp::{
    CancelInvocation, InvocationStatus, InvokeTool, InvokeToolResponse, ToolResponded,
};
use tabmux_cdp::types::{Json, runtime};
use tabmux_text::one_line;
use tokio::sync::oneshot;

/// Calls a tool, and waits for its answer as long as its document exists.
pub(crate) async fn invoke(
    tab: &Tab,
    path: &NativeCall,
    name: &str,
    arguments: &Map<String, Value>,
    state: &CallState,
) -> Result<PageAnswer, ToolError> {
    let _turn = Form::turn(path.form.as_ref()).await;
    if !has_plain_keys(arguments) {
        // Chrome's protocol takes only ASCII keys; a call inside the page takes any.
        let world = tab.world_at(&path.location).await?;
        let submits = Form::submits(path.form.as_ref());
        let call = model_context::Call {
            location: &path.location,
            context: world.context,
            handler: model_context::PageHandler::ModelContext { submits },
        };
        return call.run(tab, name, arguments, state).await;
    }
    let input = Json::encode(arguments).map_err(|error| ToolError::Internal {
        detail: error.to_string(),
    })?;
    let invoke = InvokeTool {
        frame_id: path.location.frame.clone(),
        tool_name: name.to_owned(),
        input,
    };
    let requested = tab.state().navigations_requested;
    let waiting = begin(tab, path, invoke, state).await?;
    let mut call = Call {
        path,
        waiting,
        state,
        requested,
        is_over: false,
    };
    let answer = match &path.form {
        Some(form) if !form.submits => call.answer_of_user(tab).await,
        _ => call.answer(tab).await,
    };
    call.is_over = true;
    answer
}

/// Sends a call, and waits for Chrome's id of it. Cancelling needs the id, so this waits for it even if the caller is
/// gone.
async fn begin(
    tab: &Tab,
    path: &NativeCall,
    invoke: InvokeTool,
    state: &CallState,
) -> Result<Waiting, ToolError> {
    let unnamed = tab.invocations().begin();
    let (session, state) = (path.location.session.clone(), state.clone());
    let (tell, told) = oneshot::channel();
    tokio::spawn(async move {
        let named = session.send(invoke).await;
        let named = named.map(|InvokeToolResponse { invocation_id }| unnamed.named(invocation_id));
        if let Err(Ok(waiting)) = tell.send(named)
            && state.aborts_on_drop()
        {
            let invocation_id = waiting.id().to_owned();
            session.post(CancelInvocation { invocation_id });
        }
    });
    let named = told.await.map_err(|_| ToolError::BrowserGone)?;
    named.map_err(refused)
}

/// A call that was sent. Dropping it early cancels it in the page.
struct Call<'a> {
    path: &'a NativeCall,
    waiting: Waiting,
    state: &'a CallState,
    /// How often the page had requested a navigation before.
    requested: u64,
    is_over: bool,
}

impl Call<'_> {
    async fn answer(&mut self, tab: &Tab) -> Result<PageAnswer, ToolError> {
        let location = &self.path.location;
        tokio::select! {
            biased;
            answer = self.waiting.answer() => return read_at(location, answer, tab),
            left = location.left(tab) => left?,
        }
        // If the tool itself navigated, Chrome answers after it has read the new page. It always does so for a form
        // that it submitted; but through an extension, the order of that answer and of the events is not guaranteed.
        let is_sent =
            self.path.form.is_some() && tab.state().navigations_requested > self.requested;
        let given_up = async {
            wait_for_load(tab).await;
            if is_sent {
                tokio::time::sleep(ANSWER_LIMIT).await;
            }
        };
        tokio::select! {
            biased;
            answer = self.waiting.answer() => read_at(location, answer, tab),
            () = given_up => Err(location.unanswered(tab)),
        }
    }

    /// A form that the user has to submit is answered as soon as it is filled.
    async fn answer_of_user(&mut self, tab: &Tab) -> Result<PageAnswer, ToolError> {
        let path = self.path;
        // Chrome works in order: once it answers this, the form is filled or refused.
        let filled = path.location.session.send(runtime::Evaluate {
            expression: "0".into(),
            ..Default::default()
        });
        tokio::select! {
            biased;
            answer = self.waiting.answer() => return read(answer.said),
            left = path.location.left(tab) => {
                left?;
                return Err(ToolError::DocumentGone);
            }
            filled = filled => filled?,
        };
        // A refusal arrived before that, but may not have been processed yet.
        tab.catch_up().await;
        tokio::select! {
            biased;
            answer = self.waiting.answer() => read(answer.said),
            () = std::future::ready(()) => Ok(PageAnswer::filled()),
        }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if !self.is_over && self.state.aborts_on_drop() {
            self.path.location.session.post(CancelInvocation {
                invocation_id: self.waiting.id().to_owned(),
            });
        }
    }
}

fn refused(error: CdpError) -> ToolError {
    match &error {
        CdpError::Rejected { message, .. }
            if message.contains("Tool not found") || message.contains("No frame") =>
        {
            ToolError::ToolGone
        }
        _ => error.into(),
    }
}

/// Interprets an answer, depending on whether the tool's document was still shown when it came.
fn read_at(location: &ToolLocation, answer: Answer, tab: &Tab) -> Result<PageAnswer, ToolError> {
    match answer.shown.contains(&location.document) {
        true => read(answer.said),
        false => read_after_navigation(answer.said, tab),
    }
}

fn read(answer: ToolResponded) -> Result<PageAnswer, ToolError> {
    if answer.status == InvocationStatus::COMPLETED {
        let output = answer.output.as_ref();
        let value = output.and_then(|output| output.decode::<Value>().ok());
        return Ok(match value {
            // Chrome's encoding of `undefined`.
            None => PageAnswer::nothing(),
            Some(Value::String(text)) if text == "undefined" => PageAnswer::nothing(),
            Some(value) => PageAnswer::Value(value),
        });
    }
    let said = one_line(answer.error_text.as_deref().unwrap_or_default(), 500);
    let thrown = answer.exception.as_ref().map(|thrown| {
        let value = || {
            let value: Option<Value> = thrown.value.as_ref()?.decode().ok();
            value.map(|value| match value {
                Value::String(text) => text,
                other => other.to_string(),
            })
        };
        thrown.description.clone().or_else(value)
    });
    let thrown = thrown.flatten().map(|text| first_line(&text));
    let why = match (said.is_empty(), thrown) {
        (false, _) => said,
        (true, Some(thrown)) if !thrown.is_empty() => thrown,
        (true, _) => "it gave no reason".to_owned(),
    };
    let what = match answer.status == InvocationStatus::CANCELED {
        true => "The page cancelled the call",
        false => "The page's tool failed",
    };
    let why = why.trim_end_matches('.');
    Err(ToolError::PageTool(format!("{what}: {why}.")))
}

/// After a navigation, Chrome answers with what it read from the new page, not with the tool's result.
fn read_after_navigation(answer: ToolResponded, tab: &Tab) -> Result<PageAnswer, ToolError> {
    let answer = read(answer)?;
    let place = navigated_to(tab);
    Ok(match answer {
        PageAnswer::Value(Value::Array(data)) if !data.is_empty() => {
            let data = Value::Array(data).to_string();
            let cut = tabmux_text::shorten(&data, MAX_DATA);
            PageAnswer::text(format!(
                "{place}\nThat page says of itself (untrusted): {cut}"
            ))
        }
        _ => PageAnswer::text(place),
    })
}

const MAX_DATA: usize = 20_000;
/// For an answer that must come.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// Whether all keys are ASCII.
fn has_plain_keys(object: &Map<String, Value>) -> bool {
    fn is_plain(value: &Value) -> bool {
        match value {
            Value::Object(object) => has_plain_keys(object),
            Value::Array(items) => items.iter().all(is_plain),
            _ => true,
        }
    }
    object
        .iter()
        .all(|(key, value)| key.is_ascii() && is_plain(value))
}
