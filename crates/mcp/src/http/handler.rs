//! Finds the session of a request, and passes the request to its handler.
//!
//! A client with a handshake has one handler for its whole session. Without one, every request has a handler of its own,
//! and says which session it is for: `session`, an argument of every tool.

use super::addresses;
use super::calls::Outcome;
use super::handshakes::Opened;
use super::named::{InUse, NamedSessions, OpenedSession};
use super::places::{Kept, ReadPlace};
use super::{OpenSession, Principal};
use crate::convert;
use crate::resources;
use crate::undeclared::refuse_undeclared;
use http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ConstString, ContentBlock,
    CustomRequest, CustomResult, DiscoverResult, ErrorCode, InitializeRequestParams,
    InitializeResult, JsonObject, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerConfig, SubscribeRequestMethod, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestMethod, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use tabmux_protocol::Backend;
use tokio::time::Instant;

/// The handler of one session with a handshake, or of one request without.
pub(super) struct RemoteHandler<O: OpenSession> {
    sessions: Arc<NamedSessions<O>>,
    /// The session that began with a handshake.
    own: OnceLock<Arc<OpenedSession<O::Backend>>>,
}

impl<O: OpenSession> RemoteHandler<O> {
    pub(super) fn new(sessions: Arc<NamedSessions<O>>) -> Self {
        Self {
            sessions,
            own: OnceLock::new(),
        }
    }

    /// The session of a request, which names it unless there was a handshake.
    fn session(
        &self,
        context: &RequestContext<RoleServer>,
        name: &str,
    ) -> Result<InUse<O::Backend>, String> {
        match self.own.get() {
            Some(own) => Ok(Arc::clone(own).in_use()),
            None => self.sessions.named(&principal(context)?, name),
        }
    }
}

impl<O: OpenSession> RemoteHandler<O> {
    /// The session of a call, and its name.
    fn called(
        &self,
        params: &mut CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<(InUse<O::Backend>, Cow<'static, str>), String> {
        let mut name = Cow::Borrowed(DEFAULT);
        if self.own.get().is_none()
            && let Some(arguments) = &mut params.arguments
            && let Some(given) = arguments.remove(SESSION)
        {
            match given {
                Value::String(given) => name = Cow::Owned(given),
                _ => return Err("`session` is the name of a session.".into()),
            }
        }
        Ok((self.session(context, &name)?, name))
    }

    async fn call(
        &self,
        session: InUse<O::Backend>,
        name: &str,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let answer = session.handler().call_tool(params, context).await;
        match answer {
            answer if self.own.get().is_some() || name == DEFAULT => answer,
            Ok(CallToolResponse::Complete(result)) => Ok(addresses::answered(result, name).into()),
            answer => answer.map_err(|error| addresses::failed(error, name)),
        }
    }
}

impl<O: OpenSession> RemoteHandler<O> {
    /// The place of a read whose answer can be long, unless it is kept until the answer has been written.
    async fn place(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<ReadPlace>, ErrorData> {
        if !addresses::can_be_long(uri) {
            return Ok(None);
        }
        let principal = principal(context).map_err(refused)?;
        let place = tokio::select! {
            place = self.sessions.places().take(&principal) => place.map_err(refused)?,
            () = context.ct.cancelled() => return Err(convert::cancelled()),
        };
        let parts = context.extensions.get::<Parts>();
        match parts.and_then(|parts| parts.extensions.get::<Kept>()) {
            Some(kept) => {
                kept.keep(place);
                Ok(None)
            }
            None => Ok(Some(place)),
        }
    }
}

impl<O: OpenSession> ServerHandler for RemoteHandler<O> {
    fn get_info(&self) -> ServerConfig {
        crate::handler::server_config()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let expected = expected(&context);
        let opened = principal(&context).and_then(|principal| self.sessions.unnamed(&principal));
        let opened = opened.map_err(refused)?;
        let result = opened.handler().initialize(request, context).await?;
        if let Some(expected) = expected {
            expected.set(&opened);
        }
        let _ = self.own.set(opened);
        Ok(result)
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let session = self.session(&context, DEFAULT).map_err(refused)?;
        session.handler().discover(context).await
    }

    // The folders of a client on another machine mean nothing here, so it is not asked for them.
    async fn on_initialized(&self, _context: NotificationContext<RoleServer>) {
        if let Some(own) = self.own.get() {
            own.handler().client_is_ready();
        }
    }

    async fn on_roots_list_changed(&self, _context: NotificationContext<RoleServer>) {}

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let session = self.session(&context, DEFAULT).map_err(refused)?;
        let mut list = session.handler().list_tools(request, context).await?;
        if self.own.get().is_none() {
            for tool in &mut list.tools {
                with_session(tool);
            }
        }
        Ok(list)
    }

    /// Only for the check that a header and the argument that it repeats agree.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        if self.own.get().is_some() {
            return None;
        }
        let mut tool = Tool::new(name.to_owned(), Cow::Borrowed(""), JsonObject::new());
        with_session(&mut tool);
        Some(tool)
    }

    async fn call_tool(
        &self,
        mut params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (tool, begun) = (params.name.clone(), Instant::now());
        let (session, name) = match self.called(&mut params, &context) {
            Ok(called) => called,
            Err(why) => {
                // No session has checked whether there is such a tool.
                let calls = self.sessions.calls();
                calls.count(&tool, Outcome::Refused, begun.elapsed());
                return Ok(error(why).into());
            }
        };
        let answer = self.call(session, &name, params, context).await;
        let outcome = match &answer {
            Ok(CallToolResponse::Complete(result)) if result.is_error == Some(true) => {
                Outcome::Failed
            }
            Ok(_) => Outcome::Done,
            Err(_) => Outcome::Refused,
        };
        self.sessions.calls().count(&tool, outcome, begun.elapsed());
        answer
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if let Some(own) = self.own.get() {
            return own.handler().list_resources(request, context).await;
        }
        let principal = principal(&context).map_err(refused)?;
        let names = self.sessions.names(&principal);
        // One part of the list for each session: the cursor names it, and the cursor within it.
        let cursor = request.and_then(|page| page.cursor).unwrap_or_default();
        let (wanted, within) = cursor.split_once('/').unwrap_or((&cursor, ""));
        let mut left = names.iter().skip_while(|name| name.as_str() < wanted);
        let mut all = ListResourcesResult::with_all_items(Vec::new());
        let Some(name) = left.next() else {
            return Ok(all);
        };
        if let Some(session) = self.sessions.opened(&principal, name) {
            let mut page = PaginatedRequestParams::default();
            page.cursor = (name == wanted && !within.is_empty()).then(|| within.to_owned());
            all = session
                .handler()
                .list_resources(Some(page), context)
                .await?;
        }
        if name != DEFAULT {
            let own = std::mem::take(&mut all.resources).into_iter();
            let own = own.map(|resource| addresses::listed(resource, name));
            all.resources = own.collect();
        }
        all.next_cursor = match all.next_cursor {
            Some(more) => Some(format!("{name}/{more}")),
            None => left.next().cloned(),
        };
        Ok(all)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let session = self.session(&context, DEFAULT).map_err(refused)?;
        let handler = session.handler();
        handler.list_resource_templates(request, context).await
    }

    async fn read_resource(
        &self,
        mut params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if let Some(own) = self.own.get() {
            let _place = self.place(&params.uri, &context).await?;
            return own.handler().read_resource(params, context).await;
        }
        let address = params.uri.clone();
        let (name, within) = addresses::split(&address);
        let principal = principal(&context).map_err(refused)?;
        let session = self.sessions.opened(&principal, name.unwrap_or(DEFAULT));
        let session = session.ok_or_else(|| resources::not_found(&address))?;
        let _place = self.place(&within, &context).await?;
        params.uri = within.into_owned();
        let answer = session.handler().read_resource(params, context).await;
        match (answer, name) {
            (Ok(ReadResourceResponse::Complete(result)), Some(name)) => {
                Ok(addresses::under(result, &address, name).into())
            }
            (Err(error), Some(name)) => Err(addresses::failed(error, name)),
            (answer, _) => answer,
        }
    }

    async fn subscribe(
        &self,
        params: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        match self.own.get() {
            Some(own) => own.handler().watch(params.uri).await,
            None => Err(no_method(SubscribeRequestMethod::VALUE)),
        }
    }

    async fn unsubscribe(
        &self,
        params: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let own = self.own.get();
        let own = own.ok_or_else(|| no_method(UnsubscribeRequestMethod::VALUE))?;
        own.handler().unwatch(&params.uri).await;
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // A subscription is to the default session.
        Some(resources::accepted(requested, |uri| {
            addresses::split(uri).0.is_none()
        }))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let session = self
            .session(context.request_context(), DEFAULT)
            .map_err(refused)?;
        session.handler().listen(context).await
    }

    refuse_undeclared!();

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // One with a wrong handshake gets no handler.
        if self.own.get().is_none() && WITH_HANDSHAKE.contains(&request.method.as_str()) {
            return Err(no_method(&request.method));
        }
        Err(convert::unreadable_request(&request.method))
    }
}

fn expected<B: Backend>(context: &RequestContext<RoleServer>) -> Option<Opened<B>> {
    let parts = context.extensions.get::<Parts>()?;
    parts.extensions.get::<Opened<B>>().cloned()
}

fn no_method(method: &str) -> ErrorData {
    let message = format!("Method not found: {method}");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

fn principal(context: &RequestContext<RoleServer>) -> Result<Principal, String> {
    let parts = context.extensions.get::<Parts>();
    let principal = parts.and_then(|parts| parts.extensions.get::<Principal>());
    principal
        .cloned()
        .ok_or_else(|| "The request has no token.".to_owned())
}

fn refused(why: String) -> ErrorData {
    ErrorData::internal_error(why, None)
}

fn error(why: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(why)])
}

/// Adds the argument that names the session. Balancers can route by the header that repeats it.
fn with_session(tool: &mut Tool) {
    let schema = Arc::make_mut(&mut tool.input_schema);
    schema.entry("type").or_insert_with(|| "object".into());
    let properties = schema
        .entry("properties")
        .or_insert_with(|| Value::Object(JsonObject::new()));
    if let Value::Object(properties) = properties {
        properties.insert(
            SESSION.to_owned(),
            json!({
                "type": "string",
                "description": "The name of your session: calls with the same name share tabs. Choose one for each task.",
                "x-mcp-header": "Session",
            }),
        );
    }
}

const SESSION: &str = "session";
/// The session of calls that name none.
const DEFAULT: &str = "default";

/// Methods that clients without a handshake do not have.
const WITH_HANDSHAKE: [&str; 3] = [
    "initialize",
    SubscribeRequestMethod::VALUE,
    UnsubscribeRequestMethod::VALUE,
];
