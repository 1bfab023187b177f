//! What browsers have to be told before a page of an allowed origin may use the server (CORS).

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use http_body_util::{BodyExt, Empty};
use std::convert::Infallible;
use tabmux_mcp::http::HttpResponse;

/// Whether a browser asks what its page may send. It sends no token with that.
pub(crate) fn is_question(parts: &Parts) -> bool {
    parts.method == Method::OPTIONS
        && parts.headers.contains_key(header::ORIGIN)
        && parts
            .headers
            .contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// The answer to such a question. Headers of MCP can have any name, so those that are asked for are allowed.
pub(crate) fn answer(asked: &HeaderMap) -> HttpResponse {
    let mut response = Response::new(Empty::<Bytes>::new().map_err(never).boxed());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: HeaderValue| drop(headers.insert(name, value));
    set(
        header::ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, DELETE"),
    );
    set(
        header::ACCESS_CONTROL_MAX_AGE,
        HeaderValue::from_static("600"),
    );
    if let Some(names) = asked.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        set(header::ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    response
}

/// Lets the page read an answer, and the headers that a client needs.
pub(crate) fn let_read(response: &mut HttpResponse, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("Mcp-Session-Id, Retry-After, WWW-Authenticate"),
    );
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
}

fn never(error: Infallible) -> Infallible {
    error
}
