//! The answers to requests that do not pass. Each says in one sentence what to do.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use tabmux_mcp::http::HttpResponse;

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The request names another host: a page may have reached us under its own name (DNS rebinding).
    Host,
    /// It comes from a page that may not use this server.
    Origin,
    NoToken,
    WrongToken,
    /// The file with the tokens cannot be read now.
    NoTokens,
    /// The session is not there, or belongs to another token.
    NoSession,
    TooManySessions,
    TooManyRequests,
    TooLarge,
    /// The bodies of this token's requests are too much together.
    TooMuch,
    /// Those of all tokens are.
    TooMuchFromAll,
    /// The body did not come.
    TooSlow,
    NoSuchPath,
    /// The body is no JSON-RPC message.
    NotJsonRpc,
}

/// An answer with a text.
pub(crate) fn plain(status: StatusCode, text: String) -> HttpResponse {
    let mut response = Response::new(Full::new(Bytes::from(text)).boxed());
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

impl Refusal {
    pub(crate) fn response(self) -> HttpResponse {
        let (status, text) = self.text();
        let is_json = self == Self::NotJsonRpc;
        let text = match is_json {
            true => format!(
                r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-32700,"message":"{text}"}}}}"#
            ),
            false => format!("{text}\n"),
        };
        let mut response = Response::new(Full::new(Bytes::from(text)).boxed());
        *response.status_mut() = status;
        let headers = response.headers_mut();
        let kind = match is_json {
            true => "application/json",
            false => "text/plain; charset=utf-8",
        };
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        match self {
            Self::NoToken => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Self::WrongToken => {
                let why = HeaderValue::from_static(r#"Bearer error="invalid_token""#);
                headers.insert(header::WWW_AUTHENTICATE, why);
            }
            Self::NoTokens
            | Self::TooManyRequests
            | Self::TooManySessions
            | Self::TooMuch
            | Self::TooMuchFromAll => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }

    fn text(self) -> (StatusCode, &'static str) {
        match self {
            Self::Host => (
                StatusCode::FORBIDDEN,
                "This host name is not served. Use the address that `tabmux serve` printed, or name the host with --host.",
            ),
            Self::Origin => (
                StatusCode::FORBIDDEN,
                "Pages of this origin may not use this server. Allow it with --allowOrigin.",
            ),
            Self::NoToken => (
                StatusCode::UNAUTHORIZED,
                "A token is needed: send `Authorization: Bearer TOKEN`. `tabmux token add NAME` makes one.",
            ),
            Self::WrongToken => (
                StatusCode::UNAUTHORIZED,
                "This token is unknown, expired or revoked. `tabmux token list` shows the tokens.",
            ),
            Self::NoTokens => (
                StatusCode::SERVICE_UNAVAILABLE,
                "No token can be checked now. Try again later; the log of `tabmux serve` says why.",
            ),
            Self::NoSession => (
                StatusCode::NOT_FOUND,
                "There is no such session. Send `initialize` without Mcp-Session-Id to begin one.",
            ),
            Self::TooManySessions => (
                StatusCode::SERVICE_UNAVAILABLE,
                "Too many sessions are open. End one with DELETE, or try again later.",
            ),
            Self::TooManyRequests => (
                StatusCode::TOO_MANY_REQUESTS,
                "Too many requests of this token are running. Wait for answers, then try again.",
            ),
            Self::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "The body is larger than 4 MiB.",
            ),
            Self::TooMuch => (
                StatusCode::TOO_MANY_REQUESTS,
                "The running requests of this token have more than 16 MiB together. Wait for answers, then try again.",
            ),
            Self::TooMuchFromAll => (
                StatusCode::SERVICE_UNAVAILABLE,
                "The running requests of all clients have more than 32 MiB together. Try again later.",
            ),
            Self::TooSlow => (
                StatusCode::REQUEST_TIMEOUT,
                "The body did not come within a minute.",
            ),
            Self::NoSuchPath => (
                StatusCode::NOT_FOUND,
                "There is nothing here. MCP is at /mcp.",
            ),
            Self::NotJsonRpc => (
                StatusCode::BAD_REQUEST,
                "Parse error: the body is not one JSON-RPC message",
            ),
        }
    }
}
