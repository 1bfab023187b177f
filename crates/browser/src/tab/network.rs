//! The network requests of a tab: the latest ones with their responses, limited in number and size.

mod record;

pub use record::{Answer, Headers, NetworkRequest, Redirect, SocketFrame};

use record::{Frames, Times};
use std::collections::{HashMap, VecDeque};
use tabmux_cdp::types::Json;
use tabmux_cdp::types::network::{self, LoaderId, RequestId};
use tabmux_cdp::{RawEvent, Session};
use tabmux_text::shorten;

/// The requests of one tab, oldest first. Their numbers are never reused.
#[derive(Debug)]
pub struct Network {
    requests: VecDeque<NetworkRequest>,
    numbers: HashMap<RequestId, u64>,
    /// The number of the next request.
    next: u64,
    /// Headers that arrived before their request.
    early: VecDeque<(RequestId, Json)>,
    /// How many requests were dropped because there were too many.
    pub lost: u64,
    /// How many events about requests were too large.
    pub too_large: u64,
}

/// The effect of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A request started, with this number.
    Began(u64, RequestId),
    /// A request ended.
    Ended(RequestId),
    /// Anything else.
    Noted,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            requests: VecDeque::new(),
            numbers: HashMap::new(),
            next: 1,
            early: VecDeque::new(),
            lost: 0,
            too_large: 0,
        }
    }
}

impl Network {
    /// The requests, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &NetworkRequest> {
        self.requests.iter()
    }

    /// The request with that number, if it is still kept.
    pub fn find(&self, number: u64) -> Option<&NetworkRequest> {
        let first = self.requests.front()?.number;
        let index = usize::try_from(number.checked_sub(first)?).ok()?;
        self.requests.get(index)
    }

    /// The number that the next request gets.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Processes an event. `None` if it is not a network event.
    pub(super) fn apply(
        &mut self,
        session: &Session,
        epoch: u64,
        event: &RawEvent,
    ) -> Option<Change> {
        let name = event.method().strip_prefix("Network.")?;
        if event.too_large().is_some() {
            self.too_large += 1;
            return Some(Change::Noted);
        }
        match name {
            "requestWillBeSent" => Some(self.sent(session, epoch, event.decode()?)),
            "requestWillBeSentExtraInfo" => {
                let event: network::RequestWillBeSentExtraInfo = event.decode()?;
                match self.get(&event.request_id) {
                    Some(request) => request.headers = Headers::new(event.headers),
                    None => {
                        if self.early.len() >= MOST_EARLY {
                            self.early.pop_front();
                        }
                        self.early.push_back((event.request_id, event.headers));
                    }
                }
                Some(Change::Noted)
            }
            "responseReceived" => {
                let event: network::ResponseReceived = event.decode()?;
                let request = self.get(&event.request_id)?;
                request.status = Some(event.response.status);
                request.kind = event.r#type.to_string();
                request.times.answered = Some(event.timestamp.0);
                let whole = request.answer.take().map(|answer| answer.headers);
                request.answer = Some(Answer::new(event.response, whole));
                Some(Change::Noted)
            }
            "responseReceivedExtraInfo" => {
                let event: network::ResponseReceivedExtraInfo = event.decode()?;
                let request = self.get(&event.request_id)?;
                // The response itself may not have arrived yet.
                let answer = request.answer.get_or_insert_default();
                answer.headers = Headers::new(event.headers);
                Some(Change::Noted)
            }
            "loadingFinished" => {
                let event: network::LoadingFinished = event.decode()?;
                if let Some(request) = self.get(&event.request_id) {
                    request.ended = true;
                    request.received = event.encoded_data_length;
                    request.times.ended = Some(event.timestamp.0);
                }
                Some(Change::Ended(event.request_id))
            }
            "loadingFailed" => {
                let event: network::LoadingFailed = event.decode()?;
                if let Some(request) = self.get(&event.request_id) {
                    request.ended = true;
                    request.times.ended = Some(event.timestamp.0);
                    let blocked = event.blocked_reason.map(|reason| format!(" ({reason})"));
                    let text = format!("{}{}", event.error_text, blocked.unwrap_or_default());
                    request.failure = Some(shorten(&text, 200));
                }
                Some(Change::Ended(event.request_id))
            }
            name if name.starts_with("webSocket") => self.socket(session, epoch, name, event),
            _ => None,
        }
    }

    /// The tab shows another document; requests for it now count as its own.
    pub(super) fn arrive(&mut self, loader: &LoaderId, epoch: u64) {
        let recent = self.requests.iter_mut().rev().take(MOST_REQUESTS);
        for request in recent.filter(|request| request.loader == *loader) {
            request.epoch = epoch;
        }
    }

    /// Drops the requests of documents before this one.
    pub(super) fn forget_before(&mut self, epoch: u64) {
        while self
            .requests
            .front()
            .is_some_and(|request| request.epoch < epoch)
        {
            self.pop();
        }
    }

    fn sent(&mut self, session: &Session, epoch: u64, event: network::RequestWillBeSent) -> Change {
        let url = shorten(&event.request.url, MOST_URL);
        let early = self
            .early
            .iter()
            .position(|(id, _)| *id == event.request_id)
            .and_then(|index| self.early.remove(index));
        let headers = Headers::new(early.map_or(event.request.headers, |(_, headers)| headers));
        let body = event
            .request
            .post_data
            .filter(|body| body.len() <= MOST_BODY);
        let body = (event.request.has_post_data == Some(true), body);
        // A redirect continues the same request.
        if let Some(answer) = event.redirect_response
            && let Some(request) = self.get(&event.request_id)
        {
            if request.redirects.len() < MOST_REDIRECTS {
                request.redirects.push(Redirect {
                    status: answer.status,
                    url: std::mem::take(&mut request.url),
                });
            }
            request.url = url;
            request.method = shorten(&event.request.method, 40);
            (request.headers, request.body, request.answer) = (headers, body, None);
            return Change::Noted;
        }
        let request = NetworkRequest {
            method: shorten(&event.request.method, 40),
            url,
            kind: event
                .r#type
                .map(|kind| kind.to_string())
                .unwrap_or_default(),
            initiator: initiator(&event.initiator),
            headers,
            body,
            times: Times {
                sent: event.timestamp.0,
                ..Times::default()
            },
            ..self.blank(event.request_id.clone(), session, epoch)
        };
        let request = NetworkRequest {
            loader: event.loader_id,
            ..request
        };
        let number = self.push(request);
        Change::Began(number, event.request_id)
    }

    fn socket(
        &mut self,
        session: &Session,
        epoch: u64,
        name: &str,
        event: &RawEvent,
    ) -> Option<Change> {
        match name {
            "webSocketCreated" => {
                let event: network::WebSocketCreated = event.decode()?;
                let request = NetworkRequest {
                    method: "GET".into(),
                    url: shorten(&event.url, MOST_URL),
                    kind: "WebSocket".into(),
                    initiator: event.initiator.as_ref().map(initiator).unwrap_or_default(),
                    ..self.blank(event.request_id, session, epoch)
                };
                self.push(request);
            }
            "webSocketHandshakeResponseReceived" => {
                let event: network::WebSocketHandshakeResponseReceived = event.decode()?;
                let request = self.get(&event.request_id)?;
                request.status = Some(event.response.status);
                request.answer = Some(Answer {
                    status_text: shorten(&event.response.status_text, 100),
                    headers: Headers::new(event.response.headers),
                    ..Answer::default()
                });
                if let Some(headers) = event.response.request_headers {
                    request.headers = Headers::new(headers);
                }
            }
            "webSocketFrameSent" => {
                let event: network::WebSocketFrameSent = event.decode()?;
                let frame = SocketFrame::new(true, &event.response);
                self.get(&event.request_id)?.frames.push(frame);
            }
            "webSocketFrameReceived" => {
                let event: network::WebSocketFrameReceived = event.decode()?;
                let frame = SocketFrame::new(false, &event.response);
                self.get(&event.request_id)?.frames.push(frame);
            }
            "webSocketFrameError" => {
                let event: network::WebSocketFrameError = event.decode()?;
                let request = self.get(&event.request_id)?;
                request.failure = Some(shorten(&event.error_message, 200));
            }
            "webSocketClosed" => {
                let event: network::WebSocketClosed = event.decode()?;
                self.get(&event.request_id)?.ended = true;
            }
            _ => return None,
        }
        Some(Change::Noted)
    }

    fn blank(&self, id: RequestId, session: &Session, epoch: u64) -> NetworkRequest {
        NetworkRequest {
            number: self.next,
            id,
            loader: LoaderId::default(),
            session: session.clone(),
            epoch,
            method: String::new(),
            url: String::new(),
            kind: String::new(),
            initiator: String::new(),
            redirects: Vec::new(),
            headers: Headers::default(),
            body: (false, None),
            answer: None,
            status: None,
            failure: None,
            ended: false,
            received: 0.0,
            times: Times::default(),
            frames: Frames::default(),
        }
    }

    fn push(&mut self, request: NetworkRequest) -> u64 {
        let number = self.next;
        self.next += 1;
        self.numbers.insert(request.id.clone(), number);
        self.requests.push_back(request);
        if self.requests.len() > MOST_REQUESTS {
            self.pop();
            self.lost += 1;
        }
        number
    }

    fn pop(&mut self) {
        if let Some(request) = self.requests.pop_front()
            && self.numbers.get(&request.id) == Some(&request.number)
        {
            self.numbers.remove(&request.id);
        }
    }

    fn get(&mut self, id: &RequestId) -> Option<&mut NetworkRequest> {
        let number = *self.numbers.get(id)?;
        let first = self.requests.front()?.number;
        let index = usize::try_from(number.checked_sub(first)?).ok()?;
        self.requests.get_mut(index)
    }
}

fn initiator(initiator: &network::Initiator) -> String {
    let kind = initiator.r#type.as_str();
    let first = initiator
        .stack
        .as_ref()
        .and_then(|stack| stack.call_frames.first());
    match (first, &initiator.url) {
        (Some(frame), _) => format!(
            "{kind} {}:{}",
            shorten(&frame.url, 300),
            frame.line_number + 1
        ),
        (None, Some(url)) => format!("{kind} {}", shorten(url, 300)),
        (None, None) => kind.to_owned(),
    }
}

pub(super) const MOST_REQUESTS: usize = 1_000;
const MOST_EARLY: usize = 64;
const MOST_REDIRECTS: usize = 20;
const MOST_URL: usize = 2_000;
const MOST_BODY: usize = 10_000;
