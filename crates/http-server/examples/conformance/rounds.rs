//! Tools and prompts that ask the client in their answers (MCP 2026-07-28): each round's answers come with the next
//! request, and the state that the client sends back says which round it is.

use crate::answers;
use rmcp::ErrorData;
use rmcp::model::{ClientCapabilities, InputRequests, InputRequiredResult, InputResponses};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// What comes next.
pub(crate) enum Next {
    Ask(InputRequiredResult),
    /// All questions were answered, with this.
    Done(String),
}

/// The next round of something that asks; `None` if it asks nothing.
pub(crate) fn next(
    name: &str,
    state: Option<&str>,
    given: Option<&InputResponses>,
    able: &ClientCapabilities,
) -> Option<Result<Next, ErrorData>> {
    let rounds = answers::rounds(name)?;
    let begun = match state.map(open) {
        None => 0,
        Some(Some(round)) if round < rounds.len() => round,
        Some(_) => {
            let why = "The state is not the one that was sent";
            return Some(Err(ErrorData::invalid_params(why, None)));
        }
    };
    let asked = questions(&rounds[begun], able);
    if asked.as_object().is_some_and(serde_json::Map::is_empty) {
        let mut needed = ClientCapabilities::default();
        needed.sampling = Some(Default::default());
        return Some(Err(ErrorData::missing_required_client_capability(needed)));
    }
    let round = match given.filter(|given| are_answered(&asked, given)) {
        None => begun,
        Some(given) if begun + 1 == rounds.len() => {
            let given = serde_json::to_string(given).unwrap_or_default();
            return Some(Ok(Next::Done(format!("state-ok {given}"))));
        }
        Some(_) => begun + 1,
    };
    let asked: Result<InputRequests, _> = serde_json::from_value(questions(&rounds[round], able));
    Some(match asked {
        Ok(asked) => Ok(Next::Ask(InputRequiredResult::new(
            Some(asked),
            Some(seal(round)),
        ))),
        Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
    })
}

/// The questions of a round that the client can answer.
fn questions(round: &Value, able: &ClientCapabilities) -> Value {
    let all = round.as_object().into_iter().flatten();
    let can = all.filter(|(_, question)| match question["method"].as_str() {
        Some("elicitation/create") => able.elicitation.is_some(),
        Some("sampling/createMessage") => able.sampling.is_some(),
        _ => able.roots.is_some(),
    });
    can.map(|(name, question)| (name.clone(), question.clone()))
        .collect()
}

/// Whether each question has an answer of its kind.
fn are_answered(asked: &Value, given: &InputResponses) -> bool {
    let mut asked = asked.as_object().into_iter().flatten();
    asked.all(|(name, question)| {
        let Some(answer) = given.get(name) else {
            return false;
        };
        match question["method"].as_str() {
            Some("elicitation/create") => {
                let fields = question["params"]["requestedSchema"]["required"].as_array();
                let mut fields = fields.into_iter().flatten().filter_map(Value::as_str);
                answer["action"] == "accept"
                    && fields.all(|name| answer["content"].get(name).is_some())
            }
            Some("sampling/createMessage") => answer.get("content").is_some(),
            _ => answer["roots"].is_array(),
        }
    })
}

/// A state that only this program can make.
fn seal(round: usize) -> String {
    let tag = Sha256::digest(format!("{SECRET}{round}"));
    json!([round, tag.to_vec()]).to_string()
}

fn open(state: &str) -> Option<usize> {
    let parts: Value = serde_json::from_str(state).ok()?;
    let round = usize::try_from(parts[0].as_u64()?).ok()?;
    (seal(round) == state).then_some(round)
}

const SECRET: &str = "the fixture of the conformance suite";
