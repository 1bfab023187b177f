//! What every request passes before MCP gets it: host and origin, path, token, size, session, limits.

use crate::answers::{self, Refusal};
use crate::bodies::{Bodies, LONGEST};
use crate::cors;
use crate::hosts::Hosts;
use crate::probe::Probe;
use crate::service::Service;
use crate::sessions::{Began, Running, Sessions};
use crate::tokens::{FileVersion, TokenFile, Tokens};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Incoming;
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tabmux_mcp::http::{HttpResponse, Principal};

/// The server behind its checks.
pub(crate) struct Gate<S> {
    hosts: Hosts,
    tokens: CurrentTokens,
    sessions: Arc<Sessions>,
    bodies: Arc<Bodies>,
    probe: Option<Probe>,
    service: S,
}

impl<S: Service> Gate<S> {
    pub(crate) fn new(hosts: Hosts, tokens: TokenFile, probe: Option<Probe>, service: S) -> Self {
        Self {
            hosts,
            tokens: CurrentTokens {
                file: tokens,
                read: Mutex::default(),
            },
            sessions: Arc::default(),
            bodies: Arc::default(),
            probe,
            service,
        }
    }

    /// Answers a request. `proved` is called once it has a valid token.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        request: Request<Incoming>,
        proved: impl FnOnce() + Send,
    ) -> HttpResponse {
        let (parts, body) = request.into_parts();
        let page = self.hosts.allowed_page(&parts);
        let mut response = match (&page, cors::is_question(&parts)) {
            (Some(_), true) if parts.uri.path() == PATH => cors::answer(&parts.headers),
            _ => self.checked(parts, body, proved).await,
        };
        if let Some(page) = page {
            cors::let_read(&mut response, page);
        }
        response
    }

    async fn checked(
        self: &Arc<Self>,
        parts: Parts,
        body: Incoming,
        proved: impl FnOnce() + Send,
    ) -> HttpResponse {
        if parts.uri.path() == "/healthz" && self.hosts.is_host(&parts) {
            return Response::new(Empty::new().boxed());
        }
        if parts.uri.path() == "/readyz" && self.hosts.is_host(&parts) {
            return match self.look().await {
                Ok(_) => answers::plain(StatusCode::OK, "ready\n".to_owned()),
                // The caller shows no token, and the reason can name a path.
                Err(_) => answers::plain(StatusCode::SERVICE_UNAVAILABLE, NOT_READY.to_owned()),
            };
        }
        let principal = match self.principal(&parts).await {
            Ok(principal) => principal,
            Err(refusal) => return refusal.response(),
        };
        proved();
        if parts.uri.path() == METRICS {
            let daemon = self.look().await.unwrap_or_default();
            let numbers = daemon + &self.sessions.metrics() + &self.service.metrics();
            return answers::plain(StatusCode::OK, numbers);
        }
        let request = Request::from_parts(parts, body);
        let answer = match self.arrived(principal, request).await {
            Ok(arrived) if arrived.may_begin => {
                // A client that goes away during its handshake must not leave a session that is noted nowhere.
                let gate = Arc::clone(self);
                let answering = tokio::spawn(async move { gate.answer_to(arrived).await });
                answering.await.unwrap_or(Err(Refusal::NoSession))
            }
            Ok(arrived) => self.answer_to(arrived).await,
            Err(refusal) => Err(refusal),
        };
        answer.unwrap_or_else(Refusal::response)
    }

    /// What is known of the daemon.
    async fn look(&self) -> Result<String, String> {
        match &self.probe {
            Some(probe) => probe.look().await,
            None => Ok(String::new()),
        }
    }

    /// Whose request this is, if it may be made.
    async fn principal(&self, parts: &Parts) -> Result<Principal, Refusal> {
        if !self.hosts.is_host(parts) {
            return Err(Refusal::Host);
        }
        if !self.hosts.is_origin(&parts.headers) {
            return Err(Refusal::Origin);
        }
        if ![PATH, METRICS].contains(&parts.uri.path()) {
            return Err(Refusal::NoSuchPath);
        }
        let token = bearer(&parts.headers).ok_or(Refusal::NoToken)?;
        let tokens = self.tokens.current().await.ok_or(Refusal::NoTokens)?;
        let entry = tokens.holder(token).ok_or(Refusal::WrongToken)?;
        Ok(Principal {
            name: entry.name.as_str().into(),
            key: entry.key().into(),
            limits: Arc::new(entry.limits.clone()),
        })
    }

    /// Reads a request to its end, if it may be made.
    async fn arrived(
        &self,
        principal: Principal,
        mut request: Request<Incoming>,
    ) -> Result<Arrived, Refusal> {
        if declared_length(request.headers()) > LONGEST_BODY {
            return Err(Refusal::TooLarge);
        }
        let session = self.session_of(&principal, request.headers_mut())?;
        let running = self.sessions.run(&principal, session.as_deref());
        let mut running = running.ok_or(Refusal::TooManyRequests)?;
        let has_handshake = !is_without_handshake(request.headers());
        accept_any(request.headers_mut());
        request.extensions_mut().insert(principal.clone());

        let (parts, body) = request.into_parts();
        let (body, counted) = self.bodies.read(&principal, body).await?;
        running.keep(counted);
        // Whatever the header says, rmcp begins a session with this message.
        let may_begin = session.is_none() && (has_handshake || is_handshake(&body));
        if may_begin && !self.sessions.has_room(&principal) {
            return Err(Refusal::TooManySessions);
        }
        Ok(Arrived {
            request: Request::from_parts(parts, Full::new(body)),
            principal,
            session,
            running,
            may_begin,
        })
    }

    async fn answer_to(&self, arrived: Arrived) -> Result<HttpResponse, Refusal> {
        let Arrived {
            request,
            principal,
            session,
            running,
            ..
        } = arrived;
        let is_end = request.method() == Method::DELETE;
        let is_json = is_json(request.headers());
        let response = self.service.answer(request).await;
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
            return Err(Refusal::NotJsonRpc);
        }
        match (&session, text(response.headers(), SESSION_ID)) {
            (Some(id), _) if is_end && response.status().is_success() => {
                self.sessions.end(id);
                self.end(id).await;
            }
            (None, Some(id)) => match self.sessions.begin(id.to_owned(), principal) {
                Began::Alone => {}
                Began::InsteadOf(abandoned) => self.end(&abandoned).await,
                Began::NoRoom => {
                    self.end(id).await;
                    return Err(Refusal::TooManySessions);
                }
            },
            _ => {}
        }
        Ok(running.until_end_of(response))
    }

    /// The session of a request with a handshake before it. A client without one needs no id, so it is ignored.
    fn session_of(
        &self,
        principal: &Principal,
        headers: &mut HeaderMap,
    ) -> Result<Option<String>, Refusal> {
        if is_without_handshake(headers) {
            headers.remove(SESSION_ID);
            return Ok(None);
        }
        match headers.contains_key(SESSION_ID) {
            true => {
                let id = text(headers, SESSION_ID).filter(|id| self.sessions.is_of(id, principal));
                Ok(Some(id.ok_or(Refusal::NoSession)?.to_owned()))
            }
            false if !self.sessions.has_room(principal) => Err(Refusal::TooManySessions),
            false => Ok(None),
        }
    }

    /// Ends sessions that nobody uses, and those of tokens that are no longer valid.
    pub(crate) async fn end_unused(self: &Arc<Self>, limit: Duration) {
        let tokens = self.tokens.current().await;
        // What cannot be checked now is not revoked.
        let may = |principal: &Principal| tokens.as_ref().is_none_or(|it| it.has(&principal.key));
        let over = self.sessions.ended(limit, may);
        for id in over {
            tracing::info!(
                "a session has ended: it was not used, or its token is not valid any more"
            );
            // One that does not end keeps no other waiting.
            let gate = Arc::clone(self);
            tokio::spawn(async move { gate.end(&id).await });
        }
        self.service.end_unused(limit, may);
    }

    /// Ends a session, but does not wait long for it.
    async fn end(&self, id: &str) {
        let ended = tokio::time::timeout(END_LIMIT, self.service.end(id)).await;
        if ended.is_err() {
            tracing::warn!("a session does not end");
        }
    }
}

/// A request that was read to its end.
struct Arrived {
    request: Request<Full<Bytes>>,
    principal: Principal,
    session: Option<String>,
    running: Running,
    /// Whether its answer may begin a session.
    may_begin: bool,
}

/// The tokens in the file, read again when it changes.
struct CurrentTokens {
    file: TokenFile,
    // Locked briefly.
    read: Mutex<Option<(FileVersion, Arc<Tokens>)>>,
}

impl CurrentTokens {
    /// `None` if the file cannot be read now.
    async fn current(&self) -> Option<Arc<Tokens>> {
        let file = self.file.clone();
        let known = self.lock().clone();
        let reading = tokio::task::spawn_blocking(move || {
            let Some(version) = file.version()? else {
                return Ok(None);
            };
            match known {
                Some((known, tokens)) if known == version => Ok(Some((version, tokens))),
                _ => file.read().map(|read| Some((version, Arc::new(read)))),
            }
        });
        // A file system that hangs lets nobody in.
        let read = tokio::time::timeout(READ_LIMIT, reading).await.ok()?.ok()?;
        let read = read.inspect_err(|error| tracing::warn!(%error, "no token can be checked"));
        let read = read.ok()?;
        let tokens = read.as_ref().map(|(_, tokens)| Arc::clone(tokens));
        *self.lock() = read;
        Some(tokens.unwrap_or_default())
    }

    fn lock(&self) -> MutexGuard<'_, Option<(FileVersion, Arc<Tokens>)>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_without_handshake(headers: &HeaderMap) -> bool {
    text(headers, PROTOCOL_VERSION) == Some(WITHOUT_HANDSHAKE)
}

/// Whether a message is the first one of a session, or cannot be read here.
fn is_handshake(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow)]
        method: Cow<'a, str>,
    }
    let head = serde_json::from_slice::<Head<'_>>(body);
    head.map_or(true, |head| head.method == "initialize")
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = text(headers, "authorization")?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// A header that is there once.
fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    let value = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(value)
}

fn declared_length(headers: &HeaderMap) -> u64 {
    let length = text(headers, "content-length").and_then(|length| length.parse().ok());
    length.unwrap_or(0)
}

fn is_json(headers: &HeaderMap) -> bool {
    text(headers, "content-type").is_some_and(|kind| kind.starts_with("application/json"))
}

/// Tools such as curl accept `*/*`, which rmcp does not take for both kinds of answers.
fn accept_any(headers: &mut HeaderMap) {
    let accepted = text(headers, "accept");
    if accepted.is_none_or(|accepted| accepted.contains("*/*")) {
        let both = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(header::ACCEPT, both);
    }
}

const SESSION_ID: &str = "mcp-session-id";
const PROTOCOL_VERSION: &str = "mcp-protocol-version";
const WITHOUT_HANDSHAKE: &str = "2026-07-28";
const PATH: &str = "/mcp";
const NOT_READY: &str = "The daemon does not answer. The log of `tabmux serve` says why.\n";
const METRICS: &str = "/metrics";
pub(crate) const LONGEST_BODY: u64 = LONGEST as u64;
const READ_LIMIT: Duration = Duration::from_secs(5);
const END_LIMIT: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    /// Its sessions never end.
    struct Stuck(mpsc::Sender<String>);

    impl Service for Stuck {
        async fn answer(&self, _request: Request<Full<Bytes>>) -> HttpResponse {
            Response::new(Empty::new().boxed())
        }

        async fn end(&self, id: &str) {
            let _ = self.0.try_send(id.to_owned());
            std::future::pending().await
        }

        fn end_unused(&self, _limit: Duration, _may: impl Fn(&Principal) -> bool) {
            let _ = self.0.try_send("unused".to_owned());
        }

        fn metrics(&self) -> String {
            String::new()
        }
    }

    #[tokio::test]
    async fn a_session_that_does_not_end_keeps_no_other_from_ending() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = TokenFile::at(folder.path().join("tokens.json"));
        let (told, mut ended) = mpsc::channel(8);
        let hosts = Hosts::new(80, Vec::new(), Vec::new());
        let gate = Arc::new(Gate::new(hosts, tokens, None, Stuck(told)));
        let principal = Principal {
            name: "ci".into(),
            key: "ci".into(),
            limits: Arc::default(),
        };
        for id in ["a", "b"] {
            let _ = gate.sessions.begin(id.to_owned(), principal.clone());
        }
        let ending = gate.end_unused(Duration::MAX);
        let ending = tokio::time::timeout(Duration::from_secs(10), ending).await;
        ending.expect("one session keeps the others");
        let mut all = Vec::new();
        for _ in 0..3 {
            all.extend(ended.recv().await);
        }
        all.sort();
        assert_eq!(all, ["a", "b", "unused"]);
    }

    #[test]
    fn a_handshake_is_found_however_it_is_written() {
        for (body, expected) in [
            (r#"{"method":"initialize"}"#, true),
            (r#"{"id":1,"method":"\u0069nitialize"}"#, true),
            (r#"{"method":"tools/call","method":"initialize"}"#, true),
            (
                r#"{"method":"tools/call","params":{"name":"initialize"}}"#,
                false,
            ),
        ] {
            assert_eq!(is_handshake(body.as_bytes()), expected, "{body}");
        }
    }
}
