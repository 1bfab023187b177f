//! Messages to calls of the backend, and outcomes to messages.

use crate::{
    asking::{self, AskMethod},
    connection::Connection,
    convert,
    ending::Ending,
    intake::{Arrival, Intake},
    progress::ProgressSink,
    roots,
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams,
        CompleteResult, CustomRequest, CustomResult, Implementation, InitializeRequestParams,
        InitializeResult, ListPromptsRequestMethod, ListPromptsResult,
        ListResourceTemplatesRequestMethod, ListResourceTemplatesResult,
        ListResourcesRequestMethod, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ServerCapabilities, ServerConfig, SubscriptionFilter,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use std::{
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
};
use tabmux_protocol::{
    Backend, CallFailure, CallReply, CallRequest, ClientFacts, Content, Question, has_fixed_text,
};
use tokio::time::Instant;

/// The MCP server. Its tools come from the backend at each request.
pub(crate) struct Handler<B>(Connection<B>);

impl<B: Backend> Handler<B> {
    pub(crate) fn new(connection: Connection<B>) -> Self {
        Self(connection)
    }

    /// Through this a transport passes every message of the client.
    pub(crate) fn intake(&self) -> Intake {
        Intake::new(Arc::clone(&self.0.subscribers))
    }

    /// When this ends, the transport has to stop; it ends this when the client is gone.
    pub(crate) fn ending(&self) -> Ending {
        self.0.ending.clone()
    }

    /// Adds the names of new tools to the answer for a client that does not fetch its changed list. Not
    /// to errors, nor to answers whose text is fixed.
    async fn add_missed_tools(&self, tool: &str, reply: &mut CallReply) {
        let relisting = &self.0.subscribers.relisting;
        let is_fixed = reply.structured.is_some() || has_fixed_text(tool);
        if reply.is_error || is_fixed || !relisting.is_ignored(Instant::now()) {
            return;
        }
        if let Ok(tools) = self.0.backend.tools().await
            && let Some(text) = relisting.describe_new(&tools)
        {
            reply.content.push(Content::Text { text });
        }
    }
}

impl<B: Backend> ServerHandler for Handler<B> {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities).with_server_info(about())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let result = self.negotiate_initialize(&request)?;
        let name = request.client_info.name.clone();
        self.0.backend.introduce(ClientFacts { name }).await;
        self.0.roots.set_capabilities(&request.capabilities);
        context.peer.set_peer_info(request);
        self.0.subscribers.set_client(context.peer);
        Ok(result)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        roots::update(&self.0, &context.peer).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        roots::update(&self.0, &context.peer).await;
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|page| page.cursor.is_some()) {
            return Err(ErrorData::invalid_params(
                "Unknown cursor: the tool list has one page; ask without a cursor",
                None,
            ));
        }
        let Some(_permit) = self.0.permit() else {
            return Err(convert::too_busy());
        };
        // Clients fetch their list before their first call, so the roots are known by then.
        self.0.roots.known().await;
        let tools = tokio::select! {
            biased;
            tools = self.0.backend.tools() => tools.map_err(convert::failure)?,
            () = self.0.ending.ended() => return Err(convert::session_over()),
        };
        self.0.subscribers.relisting.fetched(&tools);
        Ok(convert::tool_list(tools))
    }

    async fn call_tool(
        &self,
        mut params: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let connection = &self.0;
        let Some(_permit) = connection.permit() else {
            let reply = CallReply::error(
                "Too many calls are running: wait until some of them have been answered.",
            );
            return Ok(convert::tool_result(reply).into());
        };
        let name = connection.next_id();
        let token = context.meta.get_progress_token();
        let method = AskMethod::of(&context);
        let asking = asking::asking(method, &mut params);
        let tool = params.name.into_owned();
        let mut request = CallRequest {
            request_id: name.clone(),
            tool: tool.clone(),
            arguments: convert::arguments(params.arguments)?,
            progress: token.is_some(),
            asking,
        };
        if let Some(token) = token {
            let sink = ProgressSink::new(context.peer.clone(), token, &tool);
            connection.subscribers.follow(name.clone(), sink);
        }

        let arrival = context.extensions.remove::<Arrival>();
        let call = async {
            let outcome = begin_in_turn(connection.backend.call(request.clone()), arrival).await;
            let Some(question) = question_in(&outcome).filter(|_| method == AskMethod::Request)
            else {
                return outcome;
            };
            let decision = asking::ask(connection, &context, &name, question).await;
            request.asking.word = Some(decision);
            connection.backend.call(request).await
        };
        let outcome = tokio::select! {
            biased;
            outcome = call => Ok(outcome),
            // rmcp sends no answer to a request that the client cancelled, whatever we return.
            () = context.ct.cancelled() => Err(convert::cancelled()),
            () = connection.ending.ended() => Err(convert::session_over()),
        };
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(interrupted) => {
                connection.subscribers.forget(&name);
                connection.backend.cancel(&name);
                return Err(interrupted);
            }
        };
        connection.flusher.flush(name).await;
        let mut reply = outcome.map_err(convert::failure)?;
        if let Some(question) = reply.question.take() {
            return Ok(asking::as_answer(question).into());
        }
        self.add_missed_tools(&tool, &mut reply).await;
        Ok(convert::tool_result(reply).into())
    }

    fn accepted_subscription_filter(
        &self,
        _requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let subscribers = &self.0.subscribers;
        let sink = context.sink();
        let Some(changes) = subscribers.subscribe(sink.clone()) else {
            return Err(convert::too_busy());
        };
        if let Some(arrival) = context.request_context().extensions.get::<Arrival>() {
            arrival.turn.pass_on();
            // rmcp confirms a subscription before it calls us, so a change may have been missed.
            if arrival.changes_before != changes {
                let _ = sink.notify_tool_list_changed().await;
            }
        }
        tokio::select! {
            () = context.cancelled() => {}
            () = self.0.ending.ended() => {}
        }
        subscribers.unsubscribe(sink.id());
        Ok(())
    }

    // By default rmcp answers these with empty lists, but we declare none of these capabilities.

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<
            ListResourceTemplatesRequestMethod,
        >())
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    // rmcp also calls this for requests whose method it knows but whose params it cannot parse.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(convert::unreadable_request(&request.method))
    }
}

/// The name and version that the specification fixes, with a title and description for people.
fn about() -> Implementation {
    Implementation::new("browser", "1.0.0")
        .with_title("tabmux")
        .with_description(concat!(
            "tabmux ",
            env!("CARGO_PKG_VERSION"),
            ": browsers, their tabs and the tools of their pages, shared by MCP clients."
        ))
}

fn question_in(outcome: &Result<CallReply, CallFailure>) -> Option<Question> {
    outcome.as_ref().ok()?.question.clone()
}

/// Runs a call, and passes its turn on once the backend has seen it.
async fn begin_in_turn<F: Future>(call: F, arrival: Option<Arrival>) -> F::Output {
    let mut call = pin!(call);
    poll_fn(|context| {
        let poll = call.as_mut().poll(context);
        if let Some(arrival) = &arrival {
            arrival.turn.pass_on();
        }
        poll
    })
    .await
}
