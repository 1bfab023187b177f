//! Requests for what we do not declare.

/// The answers of a [`ServerHandler`](rmcp::ServerHandler) to requests for prompts and completions. By default
/// it answers with empty lists, although the client was told that there are none.
macro_rules! refuse_undeclared {
    () => {
        async fn list_prompts(
            &self,
            _request: Option<rmcp::model::PaginatedRequestParams>,
            _context: rmcp::service::RequestContext<rmcp::RoleServer>,
        ) -> Result<rmcp::model::ListPromptsResult, rmcp::ErrorData> {
            Err(rmcp::ErrorData::method_not_found::<
                rmcp::model::ListPromptsRequestMethod,
            >())
        }

        async fn complete(
            &self,
            _request: rmcp::model::CompleteRequestParams,
            _context: rmcp::service::RequestContext<rmcp::RoleServer>,
        ) -> Result<rmcp::model::CompleteResult, rmcp::ErrorData> {
            Err(rmcp::ErrorData::method_not_found::<
                rmcp::model::CompleteRequestMethod,
            >())
        }
    };
}

pub(crate) use refuse_undeclared;
