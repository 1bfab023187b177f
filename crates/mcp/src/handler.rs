//! Messages to calls of the backend, and outcomes to messages.

use crate::{
    asking::{self, AskMethod},
    connection::Connection,
    convert,
    ending::Ending,
    intake::{Intake, RequestOrder, begin_in_turn},
    progress::ProgressSink,
    resources, roots,
    subscribers::TooMany,
    undeclared::refuse_undeclared,
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, DiscoverResult,
        Implementation, InitializeRequestParams, InitializeResult, ListResourceTemplatesResult,
        ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
        ReadResourceResponse, ServerCapabilities, ServerConfig, SubscribeRequestParams,
        SubscriptionFilter, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use std::sync::Arc;
use tabmux_protocol::{
    Backend, CallFailure, CallReply, CallRequest, ClientFacts, Content, Question, has_fixed_text,
};
use tokio::time::Instant;

/// The MCP server. Its tools come from the backend at each request.
pub(crate) struct Handler<B>(Arc<Connection<B>>);

impl<B> Clone for Handler<B> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<B: Backend> Handler<B> {
    pub(crate) fn new(connection: Connection<B>) -> Self {
        Self(Arc::new(connection))
    }

    /// The client may get notifications now. Transports whose messages pass through [`Self::intake`] do not need it.
    pub(crate) fn client_is_ready(&self) {
        self.0.subscribers.client_is_ready();
    }

    /// Through this a transport passes every message of the client.
    pub(crate) fn intake(&self) -> Intake {
        Intake::new(Arc::clone(&self.0.subscribers))
    }

    /// When this ends, the transport has to stop; it ends this when the client is gone.
    pub(crate) fn ending(&self) -> Ending {
        self.0.ending.clone()
    }

    /// The client watches a resource from now on.
    pub(crate) async fn watch(&self, uri: String) -> Result<(), ErrorData> {
        resources::watch(&self.0, uri).await
    }

    /// It does not watch it any more.
    pub(crate) async fn unwatch(&self, uri: &str) {
        self.0.subscribers.unwatch(uri);
        resources::watch_wanted(&self.0).await;
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
        server_config()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.negotiate_initialize(&request)?;
        let name = request.client_info.name.clone();
        let client = ClientFacts { name };
        result.instructions = self.0.backend.instructions(Some(&client));
        self.0.backend.introduce(client).await;
        self.0.roots.set_capabilities(&request.capabilities);
        context.peer.set_peer_info(request);
        self.0.subscribers.set_client(context.peer);
        Ok(result)
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let mut info = self.get_info();
        info.instructions = self.0.backend.instructions(None);
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, info))
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

        let arrival = context.extensions.remove::<RequestOrder>();
        let call = async {
            let mut outcome =
                begin_in_turn(connection.backend.call(request.clone()), arrival).await;
            // A call of several steps may need several answers.
            while let Some(question) =
                question_in(&outcome).filter(|_| method == AskMethod::Request)
            {
                let decision = asking::ask(connection, &context, &name, question).await;
                request.asking.word = Some(decision);
                outcome = connection.backend.call(request.clone()).await;
            }
            outcome
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

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        resources::list(&self.0, request, context).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        resources::templates(&self.0, request, context).await
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = resources::read(&self.0, params, context).await?;
        Ok(read.into())
    }

    async fn subscribe(
        &self,
        params: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.watch(params.uri).await
    }

    async fn unsubscribe(
        &self,
        params: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.unwatch(&params.uri).await;
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(resources::accepted(requested, |_| true))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let subscribers = &self.0.subscribers;
        let sink = context.sink();
        let changes = match subscribers.subscribe(sink.clone()) {
            Ok(changes) => changes,
            Err(TooMany::Subscriptions) => return Err(convert::too_busy()),
            Err(TooMany::Resources) => return Err(resources::too_many_watched()),
        };
        let watches = sink.accepted().resource_subscriptions.is_some();
        if watches {
            resources::watch_wanted(&self.0).await;
        }
        if let Some(arrival) = context.request_context().extensions.get::<RequestOrder>() {
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
        if watches {
            resources::watch_wanted(&self.0).await;
        }
        Ok(())
    }

    refuse_undeclared!();

    // rmcp also calls this for requests whose method it knows but whose params it cannot parse.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(convert::unreadable_request(&request.method))
    }
}

/// What the server says about itself.
pub(crate) fn server_config() -> ServerConfig {
    let capabilities = ServerCapabilities::builder()
        .enable_tools()
        .enable_tool_list_changed()
        .enable_resources()
        .enable_resources_subscribe()
        .build();
    ServerConfig::new(capabilities).with_server_info(about())
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
