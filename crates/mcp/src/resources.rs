//! Requests about resources, to requests of the backend and back. Which resources there are is the backend's matter.

use crate::{
    connection::Connection,
    convert,
    intake::{RequestOrder, begin_in_turn},
    progress::ProgressSink,
};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams,
        ReadResourceRequestParams, ReadResourceResult, Resource, ResourceContents,
        ResourceTemplate, SubscriptionFilter,
    },
    service::RequestContext,
};
use serde_json::json;
use tabmux_protocol::limits::MOST_WATCHED;
use tabmux_protocol::{
    Backend, CallReply, Content, ResourceBody, ResourceInfo, ResourceQuery, ResourceRequest,
};

/// A part of the list of resources. Cursors are positions in the list.
pub(crate) async fn list<B: Backend>(
    connection: &Connection<B>,
    page: Option<PaginatedRequestParams>,
    context: RequestContext<RoleServer>,
) -> Result<ListResourcesResult, ErrorData> {
    let cursor = page.and_then(|page| page.cursor);
    let first = match cursor.as_ref() {
        None => 0,
        Some(cursor) => cursor.parse().map_err(|_| unknown_cursor())?,
    };
    let reply = ask(connection, ResourceQuery::List, context).await?;
    let all = links(reply);
    if cursor.is_some() && first >= all.len() {
        return Err(unknown_cursor());
    }
    let next = first + PAGE;
    let more = next < all.len();
    let part = all.into_iter().skip(first).take(PAGE).map(resource);
    let mut result = ListResourcesResult::with_all_items(part.collect());
    result.next_cursor = more.then(|| next.to_string());
    Ok(result)
}

/// The templates of the addresses.
pub(crate) async fn templates<B: Backend>(
    connection: &Connection<B>,
    page: Option<PaginatedRequestParams>,
    context: RequestContext<RoleServer>,
) -> Result<ListResourceTemplatesResult, ErrorData> {
    if page.is_some_and(|page| page.cursor.is_some()) {
        return Err(unknown_cursor());
    }
    let reply = ask(connection, ResourceQuery::Templates, context).await?;
    let templates = links(reply).into_iter().map(template);
    Ok(ListResourceTemplatesResult::with_all_items(
        templates.collect(),
    ))
}

/// The content of a resource.
pub(crate) async fn read<B: Backend>(
    connection: &Connection<B>,
    params: ReadResourceRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<ReadResourceResult, ErrorData> {
    let query = ResourceQuery::Read { uri: params.uri };
    let reply = ask(connection, query, context).await?;
    let contents = reply.content.into_iter().filter_map(contents);
    Ok(ReadResourceResult::new(contents.collect()))
}

/// The client watches a resource from now on.
pub(crate) async fn watch<B: Backend>(
    connection: &Connection<B>,
    uri: String,
) -> Result<(), ErrorData> {
    if uri.len() > LONGEST_WATCHED || !connection.subscribers.watch(uri) {
        return Err(too_many_watched());
    }
    watch_wanted(connection).await;
    Ok(())
}

/// Tells the backend which resources the client watches now.
pub(crate) async fn watch_wanted<B: Backend>(connection: &Connection<B>) {
    connection
        .backend
        .watch(connection.subscribers.watched())
        .await;
}

/// What of a subscription we can tell: changes of the tool list, and of some resources.
pub(crate) fn accepted(
    requested: &SubscriptionFilter,
    is_ours: impl Fn(&str) -> bool,
) -> SubscriptionFilter {
    let builder = SubscriptionFilter::builder().tools_list_changed();
    let Some(uris) = &requested.resource_subscriptions else {
        return builder.build();
    };
    let uris = uris
        .iter()
        .filter(|uri| uri.len() <= LONGEST_WATCHED && is_ours(uri));
    builder
        .resource_subscriptions(uris.take(MOST_WATCHED))
        .build()
}

/// A resource as MCP names it.
pub(crate) fn resource(info: ResourceInfo) -> Resource {
    let mut resource = Resource::new(info.uri, info.name);
    resource.title = info.title;
    resource.description = info.description;
    resource.mime_type = info.mime_type;
    resource
}

/// The content of a resource as MCP encodes it.
pub(crate) fn body(body: ResourceBody) -> ResourceContents {
    let contents = match (body.text, body.blob) {
        (Some(text), _) => ResourceContents::text(text, body.uri),
        (None, blob) => ResourceContents::blob(blob.unwrap_or_default(), body.uri),
    };
    contents.with_mime_type(body.mime_type)
}

/// Asks the backend. Like a call, the request ends when its client cancels it or goes away.
async fn ask<B: Backend>(
    connection: &Connection<B>,
    query: ResourceQuery,
    mut context: RequestContext<RoleServer>,
) -> Result<CallReply, ErrorData> {
    let Some(_permit) = connection.permit() else {
        return Err(convert::too_busy());
    };
    let name = connection.next_id();
    let token = context.meta.get_progress_token();
    let request = ResourceRequest {
        request_id: name.clone(),
        query,
        progress: token.is_some(),
    };
    if let Some(token) = token {
        let sink = ProgressSink::new(context.peer.clone(), token, "resources/read");
        connection.subscribers.follow(name.clone(), sink);
    }
    let arrival = context.extensions.remove::<RequestOrder>();
    let answer = begin_in_turn(connection.backend.resources(request), arrival);
    let outcome = tokio::select! {
        biased;
        outcome = answer => Ok(outcome),
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
    outcome.map_err(convert::failure).and_then(without_error)
}

/// A client cannot show an answer that is an error to its model, so the error has the whole text.
fn without_error(reply: CallReply) -> Result<CallReply, ErrorData> {
    let question = reply.question.map(|question| question.message);
    if !reply.is_error && question.is_none() {
        return Ok(CallReply {
            question: None,
            ..reply
        });
    }
    let texts = reply.content.iter().filter_map(Content::as_text);
    let texts: Vec<_> = texts.map(str::to_owned).chain(question).collect();
    Err(ErrorData::internal_error(texts.join("\n"), None))
}

/// The error for an address that leads to nothing that the session may read.
pub(crate) fn not_found(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(
        "Resource not found: resources/list and resources/templates/list name those of this session",
        Some(json!({ "uri": uri })),
    )
}

/// The error for a resource that a session cannot watch beside those that it watches.
pub(crate) fn too_many_watched() -> ErrorData {
    let why = format!("At most {MOST_WATCHED} resources can be watched; unsubscribe from some");
    ErrorData::invalid_params(why, None)
}

fn links(reply: CallReply) -> Vec<ResourceInfo> {
    let links = reply
        .content
        .into_iter()
        .filter_map(|content| match content {
            Content::ResourceLink(link) => Some(link),
            _ => None,
        });
    links.collect()
}

fn contents(content: Content) -> Option<ResourceContents> {
    match content {
        Content::Resource(resource) => Some(body(resource)),
        _ => None,
    }
}

fn template(info: ResourceInfo) -> ResourceTemplate {
    let mut template = ResourceTemplate::new(info.uri, info.name);
    template.title = info.title;
    template.description = info.description;
    template.mime_type = info.mime_type;
    template
}

fn unknown_cursor() -> ErrorData {
    ErrorData::invalid_params("Unknown cursor: list again, without a cursor", None)
}

/// Longer than every address of ours.
const LONGEST_WATCHED: usize = 200;
/// The resources of a part of the list.
const PAGE: usize = 100;
