//! Puts a question to the person behind the client, in either era of the protocol.

use crate::session::Session;
use rmcp::{
    RoleServer,
    model::{
        CallToolRequestParams, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
        ElicitationAction, ElicitationSchema, InputRequest, InputRequests, InputRequiredResult,
        ProtocolVersion, ServerRequest,
    },
    service::{PeerRequestOptions, RequestContext},
};
use std::time::Duration;
use tabmux_protocol::{Asking, Backend, Progress, Question, RequestId, Word};

/// How a client's person can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Not at all.
    None,
    /// By a request of ours, while the call waits.
    Request,
    /// By an answer that is none: the client asks, and calls again.
    Answer,
}

impl Way {
    /// What this client said that it can do, when it said hello or with this call.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let capabilities = context.client_capabilities().unwrap_or_default();
        // One that says nothing closer about it means forms; one that only opens pages cannot show any.
        let shows_forms = capabilities
            .elicitation
            .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none());
        let is_new = context.meta.protocol_version() == Some(ProtocolVersion::V_2026_07_28);
        match (shows_forms, is_new) {
            (false, _) => Self::None,
            (true, true) => Self::Answer,
            (true, false) => Self::Request,
        }
    }
}

/// What the backend should know about asking: whether it can be done, and what was said already.
pub(crate) fn asking(way: Way, params: &mut CallToolRequestParams) -> Asking {
    let word = params.request_state.take().map(|question| {
        let responses = params.input_responses.take().unwrap_or_default();
        let response = responses.into_iter().find(|(name, _)| name == NAME);
        let said = response.and_then(|(_, said)| serde_json::from_value::<ElicitResult>(said).ok());
        Word {
            question,
            allowed: said.is_some_and(|said| agrees(&said)),
        }
    });
    Asking {
        can_ask: way != Way::None,
        word: word.filter(|_| way == Way::Answer),
    }
}

/// The answer that makes a client ask and call again.
pub(crate) fn as_answer(question: Question) -> InputRequiredResult {
    let mut requests = InputRequests::new();
    let request = InputRequest::Elicitation(request(question.message));
    requests.insert(NAME.to_owned(), request);
    InputRequiredResult::new(Some(requests), Some(question.id))
}

/// Asks while the call waits. Whoever does not answer, or not in time, does not agree. Dropping this takes
/// the question back.
pub(crate) async fn ask<B: Backend>(
    session: &Session<B>,
    context: &RequestContext<RoleServer>,
    call: &RequestId,
    question: Question,
) -> Word {
    let no = Word {
        question: question.id,
        allowed: false,
    };
    session.audience.tell_progress(waiting(call)).await;
    let elicit = ServerRequest::ElicitRequest(request(question.message));
    let mut options = PeerRequestOptions::no_options();
    options.timeout = Some(PATIENCE);
    let Ok(handle) = context.peer.send_cancellable_request(elicit, options).await else {
        return no;
    };
    let withdrawal = Withdrawal {
        client: Some(context.peer.clone()),
        question: handle.id.clone(),
    };
    let answer = handle.await_response().await;
    withdrawal.not_needed();
    match answer {
        Ok(ClientResult::ElicitResult(said)) => Word {
            allowed: agrees(&said),
            ..no
        },
        Ok(other) => {
            // rmcp may take a form's answer for something else that looks like it.
            let said = serde_json::to_value(other).and_then(serde_json::from_value);
            Word {
                allowed: said.is_ok_and(|said: ElicitResult| agrees(&said)),
                ..no
            }
        }
        Err(_) => no,
    }
}

/// Tells the client that a question is no longer asked, should we be dropped before the answer.
struct Withdrawal {
    client: Option<rmcp::Peer<RoleServer>>,
    question: rmcp::model::RequestId,
}

impl Withdrawal {
    fn not_needed(mut self) {
        self.client = None;
    }
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        let Some(client) = self.client.take() else {
            return;
        };
        let params = rmcp::model::CancelledNotificationParam::new(
            Some(self.question.clone()),
            Some("The call is no longer wanted".to_owned()),
        );
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { client.notify_cancelled(params).await });
        }
    }
}

/// Only a yes is a yes.
fn agrees(said: &ElicitResult) -> bool {
    let ticked = said.content.as_ref().and_then(|content| content.get(FIELD));
    said.action == ElicitationAction::Accept && ticked.and_then(|it| it.as_bool()) == Some(true)
}

fn request(message: String) -> ElicitRequest {
    let schema = ElicitationSchema::builder()
        .required_bool_with(FIELD, |it| {
            it.title("Run it?")
                .description("Yes runs the tool now. No leaves everything as it is.")
        })
        .build_unchecked();
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: schema,
    })
}

fn waiting(call: &RequestId) -> Progress {
    Progress {
        request_id: call.clone(),
        value: 0.5,
        total: None,
        message: Some("Waiting for an answer to the question whether this may run.".to_owned()),
    }
}

const NAME: &str = "confirm";
const FIELD: &str = "run";
/// A little less than the backend remembers the question.
const PATIENCE: Duration = Duration::from_secs(290);
