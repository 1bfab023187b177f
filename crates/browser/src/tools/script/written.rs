//! A script's result as JSON: serialized in the page and fetched in parts of limited size.

use crate::error::ToolError;
use crate::script;
use crate::world::RemoteObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tabmux_cdp::Session;
use tabmux_cdp::types::{Json, runtime};
use tabmux_text::one_line;

/// A result, up to the requested length.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Written {
    pub(super) text: String,
    /// The full length according to the page. The page may lie, so it is used only in messages.
    pub(super) length: usize,
    problem: Option<String>,
}

/// Serializes an object, or a long string stored in one under the key `boxed`.
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
    let mut start = 0;
    loop {
        let mut read = call(&whole, READ_PART, vec![json(&start), json(&PART)]);
        read.return_by_value = Some(true);
        let part: Part = value(run(session, read).await?)?;
        // The page's own scripts may answer in place of ours, so each part is measured here.
        let got = units(&part.written.text);
        let end = part.end.min(most);
        start += got;
        let is_last = start >= end;
        let is_whole = is_last || got + 1 >= PART;
        if got > PART || start > most || !is_whole {
            return Err(ToolError::NotActionable {
                why: "The page has replaced functions that are needed to read its result, so it cannot be \
                      written to a file. Return less, without filePath."
                    .into(),
            });
        }
        all.text.push_str(&part.written.text);
        (all.length, all.problem) = (part.written.length, part.written.problem);
        if is_last {
            return all.checked();
        }
    }
}

/// The length of a text in JavaScript, in UTF-16 units.
pub(super) fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
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
    /// The length of all parts together.
    #[serde(default)]
    end: usize,
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
    let (result, exception) = script::call(session, call).await?;
    match exception {
        Some(exception) => Err(ToolError::NotActionable {
            why: format!(
                "The function returned something that JSON cannot represent ({}). Return plain data, such as strings, \
                 numbers, arrays or simple objects.",
                script::describe(&exception)
            ),
        }),
        None => Ok(result),
    }
}

fn value<T: DeserializeOwned>(result: runtime::RemoteObject) -> Result<T, ToolError> {
    let value = result.value.and_then(|value| value.decode().ok());
    value.ok_or(ToolError::DocumentGone)
}

/// Runs in the page's own world: serializes `this`, or says what cannot be serialized.
const WRITE_OUT: &str = include_str!("../../../js/write_out.js");

/// A part of the serialized text that does not split a surrogate pair.
const READ_PART: &str = "function (from, most) {
  const { text = '', length, problem } = this;
  let to = Math.min(from + most, text.length);
  if (to < text.length && to > from + 1 && /[\\ud800-\\udbff]/.test(text[to - 1])) to -= 1;
  return { text: text.slice(from, to), length, problem, end: text.length };
}";

/// How many characters are fetched at a time: Chrome needs six bytes for each that is not ASCII.
const PART: usize = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Asked, FakeBrowser, usual};
    use serde_json::json;

    /// A page whose scripts answer in place of ours: what they say about a part, by its start.
    async fn parts(
        say: impl Fn(u64) -> serde_json::Value + Send + 'static,
    ) -> Result<Written, ToolError> {
        let harness = FakeBrowser::new(move |asked: &Asked| {
            let function = asked.params["functionDeclaration"].as_str();
            match function {
                Some(function) if function.contains("from, most") => {
                    let from = asked.params["arguments"][0]["value"].as_u64().unwrap();
                    vec![asked.gives(say(from))]
                }
                Some(_) => vec![asked.answer(json!({"result": {"objectId": "WRITTEN"}}))],
                None => usual(asked),
            }
        })
        .await;
        let session = harness.tab().await.unwrap().session().clone();
        let object = RemoteObject::new("RESULT".into(), session.clone());
        write_out(&session, &object, "", MAX_ENTRIES).await
    }

    #[tokio::test]
    async fn a_page_cannot_make_a_result_longer_than_asked_for() {
        let long = "x".repeat(3 * PART);
        let every =
            move |from| json!({"text": long, "length": 1, "next": from + 1, "end": from + 1});
        let error = parts(every).await.unwrap_err().to_string();
        assert!(
            error.starts_with("The page has replaced functions"),
            "{error}"
        );
    }

    #[tokio::test]
    async fn a_page_cannot_have_a_result_read_for_ever() {
        let error =
            parts(|from| json!({"text": "x", "length": 1, "next": from + 1, "end": MAX_ENTRIES}))
                .await
                .unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("The page has replaced functions")
        );
    }

    #[tokio::test]
    async fn parts_are_put_together_where_no_pair_is_torn() {
        let whole = "x".repeat(PART - 1) + "\u{1f600}" + &"y".repeat(PART);
        let length = units(&whole);
        let text = whole.clone();
        let written = parts(move |from| {
            let mut at = 0;
            let part: String = text
                .chars()
                .filter(|character| {
                    let start = at;
                    at += character.len_utf16();
                    start >= from as usize && at <= from as usize + PART
                })
                .collect();
            json!({"text": part, "length": length, "end": length})
        })
        .await
        .unwrap();
        assert_eq!(written.text, whole);
    }

    const MAX_ENTRIES: usize = 5 * PART;
}
