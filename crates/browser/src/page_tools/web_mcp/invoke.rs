//! Calls one WebMCP tool and tells what came of it.

use super::Way;
use super::pending::Waiting;
use crate::error::ToolError;
use crate::page_tools::PageAnswer;
use crate::page_tools::call::{Calling, first_line};
use crate::tab::{Load, Tab};
use crate::text::one_line;
use serde_json::{Map, Value};
use std::time::Duration;
use tabmux_cdp::CdpError;
use tabmux_cdp::types::web_mcp::{
    CancelInvocation, InvocationStatus, InvokeTool, InvokeToolResponse, ToolResponded,
};
use tabmux_cdp::types::{Json, runtime};

/// Calls a tool, and waits for its answer as long as its document is there.
pub(crate) async fn invoke(
    tab: &Tab,
    way: &Way,
    name: &str,
    arguments: &Map<String, Value>,
    calling: &Calling,
) -> Result<PageAnswer, ToolError> {
    let _turn = match &way.form {
        Some(form) => Some(form.turn.lock().await),
        None => None,
    };
    let input = Json::encode(arguments).map_err(|error| ToolError::Internal {
        detail: error.to_string(),
    })?;
    let unnamed = tab.invocations().begin();
    let invoke = InvokeTool {
        frame_id: way.frame.clone(),
        tool_name: name.to_owned(),
        input,
    };
    let InvokeToolResponse { invocation_id } = way.session.send(invoke).await.map_err(refused)?;
    let waiting = unnamed.named(invocation_id);
    let mut call = Call {
        way,
        waiting,
        calling,
        is_over: false,
    };
    let answer = match &way.form {
        Some(form) if !form.submits => call.answer_of_user(tab).await,
        _ => call.answer(tab).await,
    };
    call.is_over = true;
    answer
}

/// A call that was sent. If it is dropped before it is over, the page is told to give it up.
struct Call<'a> {
    way: &'a Way,
    waiting: Waiting,
    calling: &'a Calling,
    is_over: bool,
}

impl Call<'_> {
    async fn answer(&mut self, tab: &Tab) -> Result<PageAnswer, ToolError> {
        let way = self.way;
        tokio::select! {
            biased;
            answer = self.waiting.answer() => return read(answer),
            left = document_left(tab, way) => left?,
        }
        // Where the tool itself navigated, Chrome answers once it has read the new page.
        let loaded = async {
            let _ = tab
                .until(LOAD_LIMIT, |state| {
                    state.load == Load::Complete && !state.navigating
                })
                .await;
            tokio::time::sleep(AFTER_LOAD).await;
        };
        tokio::select! {
            biased;
            answer = self.waiting.answer() => read_after_navigation(answer, tab),
            () = loaded => Err(ToolError::PageTool(format!(
                "{} before its tool answered, so nobody knows what the tool has done. Look at the page, \
                 and call list_page_tools to see what it offers now.",
                whereabouts(tab, way),
            ))),
        }
    }

    /// A form that is left to the user to send is answered as soon as it is filled.
    async fn answer_of_user(&mut self, tab: &Tab) -> Result<PageAnswer, ToolError> {
        let way = self.way;
        // Chrome works in order: when it answers this, the form is filled, or has been refused.
        let filled = way.session.send(runtime::Evaluate {
            expression: "0".into(),
            ..Default::default()
        });
        tokio::select! {
            biased;
            answer = self.waiting.answer() => return read(answer),
            left = document_left(tab, way) => {
                left?;
                return Err(ToolError::DocumentGone);
            }
            filled = filled => filled?,
        };
        Ok(PageAnswer::text(
            "The form is filled, and waits for the user to send it. To send it yourself, call \
             take_snapshot and click its button.",
        ))
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if !self.is_over && self.calling.is_unwanted() {
            self.way.session.post(CancelInvocation {
                invocation_id: self.waiting.id().to_owned(),
            });
        }
    }
}

/// Resolves when the document with the tool is no longer shown, or fails when the tab goes away.
async fn document_left(tab: &Tab, way: &Way) -> Result<(), ToolError> {
    let left = |state: &crate::tab::TabState| {
        let frame = state.frames.find(&way.frame);
        frame.is_none_or(|frame| frame.document != way.document)
    };
    while !tab.until(crate::script::LONGEST, left).await? {}
    Ok(())
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

fn read(answer: ToolResponded) -> Result<PageAnswer, ToolError> {
    if answer.status == InvocationStatus::COMPLETED {
        let output = answer.output.as_ref();
        let value = output.and_then(|output| output.decode::<Value>().ok());
        return Ok(match value {
            // This is how Chrome writes `undefined`.
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

/// What comes after a navigation is what Chrome read from the new page, not what the tool returned.
fn read_after_navigation(answer: ToolResponded, tab: &Tab) -> Result<PageAnswer, ToolError> {
    let answer = read(answer)?;
    let place = format!("The tool led to another page: {}.", address(tab));
    Ok(match answer {
        PageAnswer::Value(Value::Array(data)) if !data.is_empty() => {
            let data = Value::Array(data).to_string();
            let cut = crate::text::shorten(&data, MOST_DATA);
            PageAnswer::text(format!(
                "{place}\nThat page says of itself (untrusted): {cut}"
            ))
        }
        _ => PageAnswer::text(place),
    })
}

fn whereabouts(tab: &Tab, way: &Way) -> String {
    let state = tab.state();
    match state.frames.find(&way.frame) {
        Some(frame) if frame.parent.is_none() => {
            format!("The page went to {}", one_line(&frame.url, 200))
        }
        Some(_) => "The frame with the tool went to another page".to_owned(),
        None => "The frame with the tool was removed".to_owned(),
    }
}

fn address(tab: &Tab) -> String {
    let state = tab.state();
    let url = state.frames.main().map(|main| main.url.as_str());
    one_line(url.unwrap_or_default(), 200)
}

/// How long a page that a tool led to may take to load, and Chrome then to answer.
const LOAD_LIMIT: Duration = Duration::from_secs(10);
const AFTER_LOAD: Duration = Duration::from_millis(500);
const MOST_DATA: usize = 20_000;
