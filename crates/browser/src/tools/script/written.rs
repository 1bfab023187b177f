//! A script's result as JSON, written in the page and fetched in parts that are never too large.

use crate::error::ToolError;
use crate::script::{self, LONGEST};
use crate::text::one_line;
use crate::world::RemoteObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tabmux_cdp::Session;
use tabmux_cdp::types::{Json, runtime};

/// A result as far as it was asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Written {
    pub(super) text: String,
    /// How many characters it has in all.
    pub(super) length: usize,
    problem: Option<String>,
}

/// Writes out an object, or a long text that is inside one under the name `boxed`.
pub(super) async fn write_out(
    session: &Session,
    object: &RemoteObject,
    boxed: &str,
    most: usize,
) -> Result<Written, ToolError> {
    let arguments = vec![json(&most), json(boxed)];
    let mut write = call(object, WRITE_OUT, arguments);
    if most <= PART {
        write.return_by_value = Some(true);
        return value::<Written>(run(session, write).await?)?.checked();
    }
    let whole = run(session, write).await?.object_id;
    let whole = RemoteObject::new(whole.ok_or(ToolError::DocumentGone)?, session.clone());
    let mut all = Written::default();
    let mut from = Some(0);
    while let Some(start) = from {
        let mut read = call(&whole, READ_PART, vec![json(&start), json(&PART)]);
        read.return_by_value = Some(true);
        let part: Part = value(run(session, read).await?)?;
        all.text.push_str(&part.written.text);
        (all.length, all.problem) = (part.written.length, part.written.problem);
        // A page that says something else every time gets no further for it.
        from = part.next.filter(|next| *next > start && *next <= most);
    }
    all.checked()
}

impl Written {
    fn checked(self) -> Result<Self, ToolError> {
        match self.problem {
            Some(problem) => Err(ToolError::NotActionable {
                why: one_line(&problem, 400),
            }),
            None => Ok(self),
        }
    }
}

#[derive(Debug, Deserialize)]
struct Part {
    #[serde(flatten)]
    written: Written,
    next: Option<usize>,
}

fn call(
    object: &RemoteObject,
    function: &str,
    arguments: Vec<runtime::CallArgument>,
) -> runtime::CallFunctionOn {
    runtime::CallFunctionOn {
        function_declaration: function.into(),
        object_id: Some(object.id.clone()),
        arguments: Some(arguments),
        ..Default::default()
    }
}

fn json(value: &(impl serde::Serialize + ?Sized)) -> runtime::CallArgument {
    runtime::CallArgument {
        value: Json::encode(value).ok(),
        ..Default::default()
    }
}

async fn run(
    session: &Session,
    call: runtime::CallFunctionOn,
) -> Result<runtime::RemoteObject, ToolError> {
    let answer = script::in_page(session.send_within(call, LONGEST)).await;
    let answer = answer.map_err(script::document_gone_or)?;
    match answer.exception_details {
        Some(exception) => Err(ToolError::NotActionable {
            why: format!(
                "The function returned something that JSON cannot hold ({}). Return plain data, such as strings, \
                 numbers, arrays or simple objects.",
                script::describe(&exception)
            ),
        }),
        None => Ok(answer.result),
    }
}

fn value<T: DeserializeOwned>(result: runtime::RemoteObject) -> Result<T, ToolError> {
    let value = result.value.and_then(|value| value.decode().ok());
    value.ok_or(ToolError::DocumentGone)
}

/// Runs in the page's own world: writes `this` out, or says what in it cannot be written.
const WRITE_OUT: &str = include_str!("../../../js/write_out.js");

/// A part of what was written, without tearing a pair of characters apart.
const READ_PART: &str = "function (from, most) {
  const { text = '', length, problem } = this;
  let to = Math.min(from + most, text.length);
  if (to < text.length && to > from + 1 && /[\\ud800-\\udbff]/.test(text[to - 1])) to -= 1;
  return { text: text.slice(from, to), length, problem, next: to < text.length ? to : null };
}";

/// How many characters are fetched at a time: Chrome writes six bytes for each that is not plain.
const PART: usize = 1_000_000;
