//! The requests to a grid.

use super::masking::{LONGEST, Secrets, is_plain};
use crate::acquire::ConnectError;
use crate::dial::RemoteAddress;
use crate::dial::http::{self, Answer, HttpError};
use crate::endpoint;
use hyper::Method;
use serde_json::{Map, Value, json};
use std::fmt;
use std::time::Duration;
use tabmux_text::one_line;
use url::Url;

/// A grid, by its address without `grid+` and without the query.
#[derive(Clone)]
pub(super) struct Hub {
    address: RemoteAddress,
    /// The address as the user wrote it.
    given: String,
    capabilities: Map<String, Value>,
}

/// What is behind an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    /// Selenium Grid.
    Selenium,
    /// Selenoid, for which only HTTP requests keep a session alive.
    Selenoid,
    /// A driver without a grid.
    Driver,
}

/// What a grid says about a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Lives,
    /// It has ended, or its node is dead, in the grid's words.
    Gone(String),
    /// The grid does not answer.
    Unknown,
}

/// A session that a grid has made.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) id: String,
    pub(super) capabilities: Value,
}

/// Without secrets.
impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hub")
            .field(&endpoint::shown(&self.given))
            .finish()
    }
}

impl Hub {
    pub(super) fn of(given: &RemoteAddress) -> Result<Self, ConnectError> {
        let malformed = || {
            ConnectError::Refused(format!(
                "`{}` is not the address of a grid. Write it like grid+https://HOST:4444?browserName=chrome.",
                endpoint::shown(&given.url)
            ))
        };
        let url = endpoint::without_grid(&given.url);
        let mut url = Url::parse(url).map_err(|_| malformed())?;
        if url.host().is_none() || !matches!(url.scheme(), "http" | "https") {
            return Err(malformed());
        }
        let capabilities = capabilities(&url);
        url.set_query(None);
        url.set_fragment(None);
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        let address = given.at(url.as_str().trim_end_matches('/'));
        Ok(Self {
            address,
            given: given.url.clone(),
            capabilities,
        })
    }

    /// A place below the grid's address.
    pub(super) fn at(&self, path: &str) -> RemoteAddress {
        self.address.at(format!("{}{path}", self.address.url))
    }

    /// The address of a session without credentials.
    pub(super) fn bare(&self, path: &str) -> String {
        let (bare, _) = endpoint::with_credentials_as_header(&self.at(path).url);
        bare
    }

    /// Whether requests need more than the address.
    pub(super) fn needs_login(&self) -> bool {
        self.bare("") != self.address.url
            || !self.address.headers.is_empty()
            || self.address.tls != Default::default()
    }

    /// The same grid, where it takes requests for sessions.
    pub(super) fn serving(&self, engine: Engine) -> Self {
        let is_there = self.address.url.ends_with(SELENOID_FOLDER);
        match engine {
            Engine::Selenoid if !is_there => Self {
                address: self.at(SELENOID_FOLDER),
                ..self.clone()
            },
            _ => self.clone(),
        }
    }

    /// The same grid at the address of a lease, if that is one of this grid.
    pub(super) fn of_lease(&self, bare: &str) -> Option<Self> {
        let places = [self.clone(), self.serving(Engine::Selenoid)];
        places.into_iter().find(|hub| hub.bare("") == bare)
    }

    /// What the address is, as far as its status tells.
    pub(super) async fn engine(&self) -> Result<Engine, ConnectError> {
        let answer = self.request(Method::GET, "/status", None, SHORT).await?;
        let status = match serde_json::from_slice(&answer.body) {
            Ok(status) if answer.whole => status,
            // Some services have no status.
            _ if answer.status == 404 => Value::Null,
            _ => return Err(self.no_grid(&answer)),
        };
        Ok(engine_of(&status))
    }

    /// Asks for a session. This waits in the grid's queue; dropping the future leaves it.
    pub(super) async fn make_session(&self, engine: Engine) -> Result<Made, ConnectError> {
        let mut wanted = self.capabilities.clone();
        if engine == Engine::Selenium {
            // It then names its websockets as we reach it.
            wanted.insert("se:remoteUrl".to_owned(), self.bare("").into());
        }
        let body = json!({"capabilities": {"alwaysMatch": wanted}}).to_string();
        let answer = self.request(Method::POST, "/session", Some(body), QUEUE_LIMIT);
        let answer = answer.await?;
        if !answer.whole {
            return Err(self.refuse_cut(&answer).await);
        }
        let told: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let value = &told["value"];
        // Old servers have the id beside the value.
        let id = value["sessionId"]
            .as_str()
            .or_else(|| told["sessionId"].as_str());
        match id {
            Some(id) if answer.status < 300 && is_id(id) => Ok(Made {
                id: id.to_owned(),
                capabilities: value["capabilities"].clone(),
            }),
            _ => Err(ConnectError::NoneHandedOut(self.refusal(&answer, value))),
        }
    }

    /// Ends a session: `true` if there is nothing left to end.
    pub(super) async fn end_session(&self, id: &str) -> bool {
        let path = format!("/session/{id}");
        match self.request(Method::DELETE, &path, None, END_LIMIT).await {
            Ok(answer) if answer.status < 300 || is_over(&answer) => true,
            // Such as a gateway that does not reach the grid.
            Ok(Answer { status, .. }) => {
                tracing::warn!(status, "a browser of a grid could not be given back");
                false
            }
            Err(error) => {
                tracing::warn!(%error, "a browser of a grid could not be given back");
                false
            }
        }
    }

    /// Asks about a session, which also keeps it alive. An open connection proves nothing: the grid keeps it.
    pub(super) async fn state_of(&self, id: &str) -> State {
        let path = format!("/session/{id}/timeouts");
        let Ok(answer) = self.request(Method::GET, &path, None, SHORT).await else {
            return State::Unknown;
        };
        let value = value_of(&answer);
        let has_error = value["error"].is_string();
        match is_over(&answer) || has_no_browser(&value) {
            true if has_error => State::Gone(self.words(&value)),
            true => State::Gone(format!("it answered {}", answer.status)),
            false if answer.status < 300 && !has_error => State::Lives,
            // The grid may be overloaded, or a gateway in front of it does not reach it.
            false => State::Unknown,
        }
    }

    async fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
        limit: Duration,
    ) -> Result<Answer, ConnectError> {
        let shown = endpoint::shown(&self.given);
        let unreachable = |detail: String| {
            ConnectError::Refused(format!(
                "No grid answers at {shown} ({detail}). Check that it runs, and its address."
            ))
        };
        let address = self.at(path);
        match tokio::time::timeout(limit, http::send(method, &address, body)).await {
            Ok(Ok(answer)) if matches!(answer.status, 401 | 403 | 429 | 503) => Err(
                ConnectError::Refused(endpoint::refusal(&self.given, answer.status)),
            ),
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(HttpError::Unreachable(detail))) => Err(unreachable(detail)),
            Ok(Err(HttpError::Dial(error))) => {
                Err(ConnectError::Refused(error.sentence(&self.given)))
            }
            Err(_) => Err(unreachable(format!("no answer in {} s", limit.as_secs()))),
        }
    }

    /// Why there is no session.
    fn refusal(&self, answer: &Answer, value: &Value) -> String {
        let shown = endpoint::shown(&self.given);
        let words = match value {
            Value::Null => format!("it answered {}", answer.status),
            value => self.words(value),
        };
        format!(
            "The grid at {shown} handed out no browser ({words}). If all are in use, try again later; else check \
             that it has one with these capabilities: {}.",
            self.wanted()
        )
    }

    /// An answer to a request for a session that could not be read to its end. If it names the session, that is
    /// ended, also if nobody waits any more.
    async fn refuse_cut(&self, answer: &Answer) -> ConnectError {
        if let Some(id) = id_in(&answer.body) {
            let hub = self.clone();
            let ending = tokio::spawn(async move { hub.end_session(&id).await });
            let _ = ending.await;
        }
        ConnectError::Refused(format!(
            "The answer of the grid at {} was cut off after {} bytes, so its browser cannot be used. Check the proxies \
             in front of the grid, and its capabilities: an answer may have {} MiB.",
            endpoint::shown(&self.given),
            answer.body.len(),
            http::MOST_BYTES / 1024 / 1024
        ))
    }

    fn no_grid(&self, answer: &Answer) -> ConnectError {
        let shown = endpoint::shown(&self.given);
        let status = answer.status;
        let told = match answer.whole {
            true => "is not JSON",
            false => "was cut off",
        };
        ConnectError::Refused(format!(
            "What answers at {shown} is no grid, or a proxy in front of it that does not reach it: its /status has the \
             HTTP status {status} and {told}. Check the address, and try again."
        ))
    }

    /// The error of an answer in the grid's words, without what may be secret.
    fn words(&self, value: &Value) -> String {
        let message = value["message"].as_str().unwrap_or_default();
        let error = value["error"].as_str().unwrap_or("an error");
        let secrets = Secrets::of(&self.address, &self.capabilities);
        let text = secrets.hide(&format!("{error}: {message}"));
        text.trim_end_matches([':', ' ', '.']).to_owned()
    }

    /// The capabilities for people: values only of those that are no secret.
    fn wanted(&self) -> String {
        let all = self.capabilities.iter().map(|(name, value)| match value {
            Value::String(value) if is_plain(name) => format!("{name}={value}"),
            _ => format!("{name}=…"),
        });
        one_line(&all.collect::<Vec<_>>().join(", "), LONGEST)
    }
}

/// The query of an address as capabilities. Values may be JSON.
fn capabilities(url: &Url) -> Map<String, Value> {
    let mut wanted = Map::new();
    for (name, value) in url.query_pairs() {
        let value = match serde_json::from_str(&value) {
            Ok(value @ (Value::Bool(_) | Value::Object(_) | Value::Array(_))) => value,
            _ => Value::String(value.into_owned()),
        };
        wanted.insert(name.into_owned(), value);
    }
    let usual = || Value::String("chrome".to_owned());
    wanted.entry("browserName").or_insert_with(usual);
    wanted
}

/// What a status is about.
fn engine_of(status: &Value) -> Engine {
    let value = &status["value"];
    if value["nodes"].is_array() {
        return Engine::Selenium;
    }
    // Its status below `/wd/hub` has only a message, and the one beside that only numbers.
    let message = value["message"].as_str().unwrap_or_default();
    match message.starts_with("Selenoid")
        || status["total"].is_number() && status["queued"].is_number()
    {
        true => Engine::Selenoid,
        false => Engine::Driver,
    }
}

fn value_of(answer: &Answer) -> Value {
    let told: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    told["value"].clone()
}

/// Whether an answer says that there is no such session.
fn is_over(answer: &Answer) -> bool {
    answer.status == 404 || value_of(answer)["error"] == "invalid session id"
}

/// Whether an error says that the session has no browser any more: its node does not run, or the driver has lost it.
fn has_no_browser(value: &Value) -> bool {
    let message = value["message"].as_str().unwrap_or_default();
    value["error"].is_string() && GONE.iter().any(|words| message.contains(words))
}

/// The id of a session in an answer that was cut.
fn id_in(body: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(body);
    let (_, rest) = text.split_once("\"sessionId\"")?;
    let id = rest.trim_start().strip_prefix(':')?.trim_start();
    let (id, _) = id.strip_prefix('"')?.split_once('"')?;
    is_id(id).then(|| id.to_owned())
}

/// An id becomes part of a path.
fn is_id(text: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    (1..=200).contains(&text.len()) && text.chars().all(fits)
}

const SHORT: Duration = Duration::from_secs(5);
const END_LIMIT: Duration = Duration::from_secs(10);
/// A grid's own limit for its queue is 300 s by default.
const QUEUE_LIMIT: Duration = Duration::from_secs(600);
const SELENOID_FOLDER: &str = "/wd/hub";
/// In messages of Selenium Grid and of chromedriver.
const GONE: [&str; 5] = [
    "Connection error",
    "Connection refused",
    "ConnectException",
    "chrome not reachable",
    "not connected to DevTools",
];

#[cfg(test)]
mod tests;
