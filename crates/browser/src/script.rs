//! Runs JavaScript in a page and decodes the result.

use crate::error::ToolError;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tabmux_cdp::types::runtime::{self, ExceptionDetails, ExecutionContextId};
use tabmux_cdp::{CdpError, Session};
use tabmux_text::one_line;

tokio::task_local! {
    /// How many scripts the call of the current task is running in pages.
    static SCRIPTS: Arc<AtomicUsize>;
}

/// Counts the scripts of one call, so that cancelling it stops only its own scripts.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScriptCount(Arc<AtomicUsize>);

impl ScriptCount {
    /// Runs a call and counts its scripts.
    pub(crate) async fn counting<F: Future>(&self, work: F) -> F::Output {
        SCRIPTS.scope(Arc::clone(&self.0), work).await
    }

    /// Whether the call is running a script in a page now.
    pub(crate) fn running(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

/// Awaits work that runs a script in a page, and counts it for the current call. If the call is
/// dropped meanwhile, its count stays: that script may still be running.
pub(crate) async fn in_page<F: Future>(work: F) -> F::Output {
    let count = SCRIPTS.try_with(Arc::clone).ok();
    if let Some(count) = &count {
        count.fetch_add(1, Ordering::Relaxed);
    }
    let output = work.await;
    if let Some(count) = &count {
        count.fetch_sub(1, Ordering::Relaxed);
    }
    output
}

/// Evaluates one of our expressions in our isolated world and decodes its value.
pub(crate) async fn evaluate<T: DeserializeOwned>(
    session: &Session,
    context: ExecutionContextId,
    expression: &str,
) -> Result<T, ToolError> {
    let command = runtime::Evaluate {
        expression: expression.to_owned(),
        context_id: Some(context),
        ..Default::default()
    };
    value_of(session, command).await
}

/// Evaluates one of our expressions, waits for promises and decodes its value.
pub(crate) async fn value_of<T: DeserializeOwned>(
    session: &Session,
    command: runtime::Evaluate,
) -> Result<T, ToolError> {
    let command = runtime::Evaluate {
        return_by_value: Some(true),
        await_promise: Some(true),
        ..command
    };
    let answer = in_page(session.send_raw("Runtime.evaluate", &command, LONGEST)).await;
    let answer = answer.map_err(document_gone_or)?;
    let answer: Evaluated<'_> =
        serde_json::from_str(answer.get()).map_err(|error| ToolError::Internal {
            detail: error.to_string(),
        })?;
    if let Some(exception) = answer.exception_details {
        return Err(ToolError::Internal {
            detail: describe(&exception),
        });
    }
    let value = answer.result.value.map_or("null", RawValue::get);
    serde_json::from_str(value).map_err(|error| ToolError::Internal {
        detail: error.to_string(),
    })
}

/// What a script of the agent returned, and the exception that it threw, if any.
pub(crate) type Returned = (runtime::RemoteObject, Option<ExceptionDetails>);

/// Evaluates an expression in the main frame of a session's page.
pub(crate) async fn run(
    session: &Session,
    evaluate: runtime::Evaluate,
) -> Result<Returned, ToolError> {
    let answer = in_page(session.send_within(evaluate, LONGEST)).await;
    let answer = answer.map_err(document_gone_or)?;
    Ok((answer.result, answer.exception_details))
}

/// Calls a function with an object of the page.
pub(crate) async fn call(
    session: &Session,
    call: runtime::CallFunctionOn,
) -> Result<Returned, ToolError> {
    let answer = in_page(session.send_within(call, LONGEST)).await;
    let answer = answer.map_err(document_gone_or)?;
    Ok((answer.result, answer.exception_details))
}

/// An exception as one readable line.
pub(crate) fn describe(exception: &ExceptionDetails) -> String {
    let thrown = exception.exception.as_ref();
    let text = thrown
        .and_then(|thrown| {
            thrown
                .description
                .clone()
                .or_else(|| thrown.value.as_ref().map(|value| value.as_str().to_owned()))
        })
        .unwrap_or_else(|| exception.text.clone());
    one_line(text.lines().next().unwrap_or_default(), 500)
}

/// Chrome reports that a command's document is gone by its message only.
pub(crate) fn document_gone_or(error: CdpError) -> ToolError {
    match &error {
        CdpError::Rejected { message, .. }
            if message.contains("context") || message.contains("Inspected target navigated") =>
        {
            ToolError::DocumentGone
        }
        _ => error.into(),
    }
}

/// Commands are limited by the deadline of their call; this is only a safety net.
pub(crate) const LONGEST: Duration = Duration::from_secs(610);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Evaluated<'a> {
    #[serde(borrow, default)]
    result: Value<'a>,
    #[serde(default)]
    exception_details: Option<ExceptionDetails>,
}

#[derive(Default, Deserialize)]
struct Value<'a> {
    #[serde(borrow, default)]
    value: Option<&'a RawValue>,
}
