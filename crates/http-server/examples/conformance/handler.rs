//! The handler that the suite talks to.
#![expect(
    deprecated,
    reason = "the suite also tests what only earlier versions of MCP have"
)]

use crate::answers;
use crate::rounds::{self, Next};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
    InputRequest, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, LoggingLevel, LoggingMessageNotificationParam, PaginatedRequestParams,
    ProgressNotificationParam, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    Role, ServerCapabilities, ServerConfig, ServerRequest, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::watch;

/// The handler of a session, or of one request.
pub(crate) struct Fixture {
    tools: Changes,
    prompts: Changes,
}

/// How often a list has changed, for all handlers; and since this one was made.
#[derive(Clone)]
struct Changes(watch::Sender<u64>, watch::Receiver<u64>);

impl Fixture {
    pub(crate) fn factory() -> impl Fn() -> Self + Send + Sync + 'static {
        let (tools, prompts) = (watch::Sender::new(0), watch::Sender::new(0));
        move || Self {
            tools: Changes(tools.clone(), tools.subscribe()),
            prompts: Changes(prompts.clone(), prompts.subscribe()),
        }
    }
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_completions()
            .enable_logging()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("fixture", "1"))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(answers::tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        answers::tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = params.name.as_ref();
        let able = context.client_capabilities().unwrap_or_default();
        let state = params.request_state.as_deref();
        if let Some(next) = rounds::next(name, state, params.input_responses.as_ref(), &able) {
            return next.map(|next| match next {
                Next::Ask(questions) => questions.into(),
                Next::Done(answer) => text(answer).into(),
            });
        }
        if let Some(result) = answers::result(name) {
            self.take_notice(name);
            work(name, &context).await;
            return Ok(result.into());
        }
        let arguments = Value::Object(params.arguments.unwrap_or_default());
        match answers::question(name, &arguments) {
            Some(question) => Ok(ask(&context, question).await?.into()),
            None => Err(ErrorData::invalid_params(
                format!("Unknown tool: {name}"),
                None,
            )),
        }
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(answers::resources()))
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(
            answers::templates(),
        ))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = answers::contents(&params.uri);
        let missing = || {
            let about = json!({"uri": params.uri});
            ErrorData::invalid_params("Resource not found", Some(about))
        };
        Ok(contents.ok_or_else(missing)?.into())
    }

    async fn subscribe(
        &self,
        _params: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _params: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(answers::prompts()))
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let able = context.client_capabilities().unwrap_or_default();
        let state = params.request_state.as_deref();
        let given = params.input_responses.as_ref();
        if let Some(next) = rounds::next(&params.name, state, given, &able) {
            return next.map(|next| match next {
                Next::Ask(questions) => questions.into(),
                Next::Done(answer) => {
                    GetPromptResult::new(vec![PromptMessage::new_text(Role::User, answer)]).into()
                }
            });
        }
        let arguments = Value::Object(params.arguments.unwrap_or_default());
        let prompt = answers::prompt(&params.name, &arguments);
        let unknown =
            || ErrorData::invalid_params(format!("Unknown prompt: {}", params.name), None);
        Ok(prompt.ok_or_else(unknown)?.into())
    }

    async fn complete(
        &self,
        _params: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(CompleteResult::default())
    }

    async fn set_level(
        &self,
        _params: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        _requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let all = SubscriptionFilter::builder()
            .tools_list_changed()
            .prompts_list_changed();
        Some(all.build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let sink = context.sink();
        let (mut tools, mut prompts) = (self.tools.1.clone(), self.prompts.1.clone());
        loop {
            tokio::select! {
                Ok(()) = tools.changed() => drop(sink.notify_tool_list_changed().await),
                Ok(()) = prompts.changed() => drop(sink.notify_prompt_list_changed().await),
                () = context.cancelled() => return Ok(()),
            }
        }
    }
}

impl Fixture {
    /// Some tools pretend to change a list.
    fn take_notice(&self, tool: &str) {
        let changes = match tool {
            "test_trigger_tool_change" => &self.tools,
            "test_trigger_prompt_change" => &self.prompts,
            _ => return,
        };
        changes.0.send_modify(|count| *count += 1);
    }
}

/// What some tools tell while they work.
async fn work(tool: &str, context: &RequestContext<RoleServer>) {
    for (step, said) in ["started", "processing data", "execution completed"]
        .iter()
        .enumerate()
    {
        match (tool, context.meta.get_progress_token()) {
            ("test_tool_with_progress", Some(token)) => {
                let progress = ProgressNotificationParam::new(token, 50.0 * f64::from(step as u8));
                let _ = context
                    .peer
                    .notify_progress(progress.with_total(100.0))
                    .await;
            }
            ("test_tool_with_logging", _) => {
                let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(said));
                let _ = context.peer.notify_logging_message(message).await;
            }
            _ => return,
        }
        // The suite wants to see them one after another.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Asks the client while the call waits.
async fn ask(
    context: &RequestContext<RoleServer>,
    question: Value,
) -> Result<CallToolResult, ErrorData> {
    let wrong = |error: serde_json::Error| ErrorData::internal_error(error.to_string(), None);
    let request = match serde_json::from_value(question).map_err(wrong)? {
        InputRequest::Elicitation(request) => ServerRequest::ElicitRequest(request),
        InputRequest::CreateMessage(request) => ServerRequest::CreateMessageRequest(request),
        _ => return Err(ErrorData::internal_error("No such question", None)),
    };
    let answer = context.peer.send_request(request).await;
    Ok(match answer {
        Ok(answer) => text(serde_json::to_string(&answer).map_err(wrong)?),
        Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
    })
}

fn text(text: String) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}
