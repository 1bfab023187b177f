//! One HTTP request to a server, with a limited response. Redirects are not followed: one from `https` to `http` would
//! carry the secrets along.

use super::{DialError, RemoteAddress, open, speaks_tls};
use crate::endpoint;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use std::error::Error;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use url::{Position, Url};

/// The response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// What could be read, within the limit.
    pub(crate) body: Vec<u8>,
    /// Whether that is all: it may be longer than the limit, or the connection may have ended.
    pub(crate) whole: bool,
}

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HttpError {
    /// The connection could not be used: what the system or the server said.
    Unreachable(String),
    /// There is no stream to the server, or TLS failed.
    Dial(DialError),
}

/// Gets a document.
pub(crate) async fn get(address: &RemoteAddress) -> Result<Answer, HttpError> {
    send(Method::GET, address, None).await
}

/// Sends a request; a body is JSON. The caller limits the time.
pub(crate) async fn send(
    method: Method,
    address: &RemoteAddress,
    body: Option<String>,
) -> Result<Answer, HttpError> {
    let malformed = || HttpError::Unreachable("the address is malformed".to_owned());
    let url = Url::parse(&address.url).map_err(|_| malformed())?;
    let request = request(method, &url, &address.headers, body);
    let request = request.map_err(|_| malformed())?;
    let stream = open(&url, &address.tls)
        .await
        .map_err(|error| match error {
            DialError::Unreachable(detail) => HttpError::Unreachable(detail),
            error => HttpError::Dial(error),
        })?;
    let answer = exchange(stream.into_halves(), request).await;
    let is_odd = match &answer {
        Ok(answer) => answer.status == 400,
        Err(_) => true,
    };
    if is_odd && speaks_tls(&url).await {
        return Err(HttpError::Dial(DialError::SpeaksTls));
    }
    answer.map_err(|detail| match DialError::in_text(&detail) {
        Some(error) => HttpError::Dial(error),
        None => HttpError::Unreachable(detail),
    })
}

async fn exchange(
    (read, write): tabmux_cdp::Halves,
    request: Request<String>,
) -> Result<Answer, String> {
    let (mut sender, connection) = http1::Builder::new()
        .title_case_headers(true)
        .max_buf_size(LONGEST_HEAD)
        .handshake(TokioIo::new(tokio::io::join(read, write)))
        .await
        .map_err(said)?;
    let exchange = async move {
        let response = sender.send_request(request).await.map_err(said)?;
        let status = response.status().as_u16();
        let (body, whole) = read_body(response.into_body()).await;
        Ok(Answer {
            status,
            body,
            whole,
        })
    };
    let mut exchange = pin!(exchange);
    let ended = tokio::select! {
        answer = &mut exchange => return answer,
        ended = connection => ended,
    };
    // The server has closed the connection; its response may not have been read yet.
    let answer = exchange.await;
    match ended {
        // Before the request was written: all it knows is that there is no connection.
        Err(why) if answer.is_err() => Err(said(why)),
        _ => answer,
    }
}

fn request(
    method: Method,
    url: &Url,
    headers: &[(String, String)],
    body: Option<String>,
) -> Result<Request<String>, hyper::http::Error> {
    let (_, credentials) = endpoint::with_credentials_as_header(url.as_str());
    let host = &url[Position::BeforeHost..Position::AfterPort];
    let defaults = [("Host", host), ("Connection", "close")];
    let json = ("Content-Type", "application/json; charset=utf-8");
    let defaults = defaults.into_iter().chain(body.is_some().then_some(json));
    let defaults = defaults.map(|(name, value)| (name.to_owned(), value.to_owned()));
    // A header that the user configured takes precedence.
    let is_given = |name: &str| headers.iter().any(|(it, _)| it.eq_ignore_ascii_case(name));
    let defaults = defaults.chain(credentials);
    let defaults: Vec<_> = defaults.filter(|(name, _)| !is_given(name)).collect();
    let target = &url[Position::BeforePath..Position::AfterQuery];
    let request = Request::builder().method(method).uri(target);
    let all = defaults.iter().chain(headers);
    let request = all.fold(request, |request, (name, value)| {
        request.header(name, value)
    });
    request.body(body.unwrap_or_default())
}

/// What could be read, and whether that is all.
async fn read_body(mut body: Incoming) -> (Vec<u8>, bool) {
    let mut read = Vec::new();
    loop {
        let frame = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
        let data = match &frame {
            None => return (read, true),
            Some(Err(_)) => return (read, false),
            Some(Ok(frame)) => frame.data_ref().map_or(&[][..], |data| data),
        };
        read.extend_from_slice(data);
        if read.len() > MOST_BYTES {
            read.truncate(MOST_BYTES);
            return (read, false);
        }
    }
}

/// The error of a request, as users read it: the cause of all causes. A request that had to wait for its connection
/// fails because it was canceled, because the connection failed, because of what the system or the server said.
fn said(error: hyper::Error) -> String {
    if error.is_parse() || error.is_incomplete_message() {
        return "the response is not HTTP".to_owned();
    }
    let mut cause: &dyn Error = &error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

const LONGEST_HEAD: usize = 64 * 1024;
/// Of a response. The status of a large grid names every slot.
pub(crate) const MOST_BYTES: usize = 4 * 1024 * 1024;

#[cfg(test)]
mod tests;
