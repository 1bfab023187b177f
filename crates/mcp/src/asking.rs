//! Asks the user of the client a question, in either era of the protocol.

use crate::connection::Connection;
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
use tabmux_protocol::{Asking, Backend, Decision, Progress, Question, RequestId};

/// How the user of a client can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskMethod {
    /// Not at all.
    None,
    /// By a request of ours, while the call waits.
    Request,
    /// By a result that asks for input: the client asks its user and calls again.
    Answer,
}

impl AskMethod {
    /// The method that this client declared, in its handshake or with this call.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let capabilities = context.client_capabilities().unwrap_or_default();
        // `elicitation` without details means forms; with only `url` the client can open pages but show no form.
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

/// What the backend needs to know: whether the user can be asked, and the answer if there is one.
pub(crate) fn asking(method: AskMethod, params: &mut CallToolRequestParams) -> Asking {
    let decision = params.request_state.take().map(|question| {
        let responses = params.input_responses.take().unwrap_or_default();
        let response = responses.into_iter().find(|(name, _)| name == NAME);
        let result =
            response.and_then(|(_, value)| serde_json::from_value::<ElicitResult>(value).ok());
        Decision {
            question,
            allowed: result.is_some_and(|result| agrees(&result)),
        }
    });
    Asking {
        can_ask: method != AskMethod::None,
        word: decision.filter(|_| method == AskMethod::Answer),
    }
}

/// The result that makes a client ask its user and call again.
pub(crate) fn as_answer(question: Question) -> InputRequiredResult {
    let mut requests = InputRequests::new();
    let request = InputRequest::Elicitation(request(question.message));
    requests.insert(NAME.to_owned(), request);
    InputRequiredResult::new(Some(requests), Some(question.id))
}

/// Asks while the call waits. No answer in time means no. Dropping this future withdraws the question.
pub(crate) async fn ask<B: Backend>(
    connection: &Connection<B>,
    context: &RequestContext<RoleServer>,
    call: &RequestId,
    question: Question,
) -> Decision {
    let no = Decision {
        question: question.id,
        allowed: false,
    };
    connection.subscribers.notify_progress(waiting(call)).await;
    let elicit = ServerRequest::ElicitRequest(request(question.message));
    let mut options = PeerRequestOptions::no_options();
    options.timeout = Some(ANSWER_TIMEOUT);
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
        Ok(ClientResult::ElicitResult(said)) => Decision {
            allowed: agrees(&said),
            ..no
        },
        Ok(other) => {
            // rmcp may parse the answer as another type that looks alike.
            let said = serde_json::to_value(other).and_then(serde_json::from_value);
            Decision {
                allowed: said.is_ok_and(|said: ElicitResult| agrees(&said)),
                ..no
            }
        }
        Err(_) => no,
    }
}

/// Withdraws a question when it is dropped before the answer.
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
            Some("The call that asked was cancelled".to_owned()),
        );
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { client.notify_cancelled(params).await });
        }
    }
}

/// Whether the user accepted the form and answered yes.
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
/// A little less than the time for which the backend keeps the question.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(290);
