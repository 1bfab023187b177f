//! What is kept about one request: its head, its response, its times and the messages of a
//! websocket.

use std::collections::VecDeque;
use tabmux_cdp::Session;
use tabmux_cdp::types::Json;
use tabmux_cdp::types::network::{self, LoaderId, RequestId};
use tabmux_text::shorten;

/// One request with its result.
#[derive(Clone, Debug)]
pub struct NetworkRequest {
    /// Its number in this tab, from 1.
    pub number: u64,
    /// Chrome's id of it.
    pub id: RequestId,
    /// The document that sent it.
    pub(super) loader: LoaderId,
    /// The CDP session that can fetch its body.
    pub session: Session,
    /// How many documents the tab had shown before the one of this request.
    pub epoch: u64,
    /// `GET` and so on.
    pub method: String,
    /// The final URL, shortened.
    pub url: String,
    /// `Document`, `Script`, `Fetch`, …
    pub kind: String,
    /// What started it, in a few words.
    pub initiator: String,
    /// Its redirects, in order.
    pub redirects: Vec<Redirect>,
    /// The request headers.
    pub headers: Headers,
    /// Whether it has a body, and the body if it is small.
    pub body: (bool, Option<String>),
    /// The head of the response.
    pub answer: Option<Answer>,
    /// The HTTP status, once there is one.
    pub status: Option<i64>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// Whether it has ended, successfully or not.
    pub ended: bool,
    /// Bytes received from the network.
    pub received: f64,
    /// Seconds on Chrome's clock.
    pub times: Times,
    /// The messages of a websocket.
    pub frames: Frames,
}

/// One redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Its status.
    pub status: i64,
    /// The URL that redirected.
    pub url: String,
}

/// The head of a response.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The text after the status.
    pub status_text: String,
    /// Its headers.
    pub headers: Headers,
    /// The content type.
    pub mime_type: String,
    /// `http/1.1`, `h2`, …
    pub protocol: String,
    /// The server's address.
    pub remote: String,
    /// The cache or worker that served it instead of the network.
    pub from: Option<&'static str>,
    /// Milliseconds spent on: name lookup, connecting, TLS, sending, waiting.
    pub phases: Option<[f64; 5]>,
}

/// Headers as Chrome sends them, kept as text until they are read.
#[derive(Clone, Debug, Default)]
pub struct Headers {
    raw: Json,
    /// Whether there were too many to keep.
    pub too_large: bool,
}

/// When things happened, in seconds on Chrome's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// First sent.
    pub sent: f64,
    /// The head of the response arrived.
    pub answered: Option<f64>,
    /// The request ended.
    pub ended: Option<f64>,
}

/// The latest messages of a websocket.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    /// The last ones, oldest first.
    pub last: VecDeque<SocketFrame>,
    /// How many there were in total.
    pub count: u64,
}

/// One message of a websocket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketFrame {
    /// Whether the page sent it.
    pub sent: bool,
    /// Whether it is binary; then `text` is base64.
    pub binary: bool,
    /// Its contents, shortened.
    pub text: String,
    /// Its full length in characters.
    pub length: usize,
}

impl NetworkRequest {
    /// Whether this document sent it.
    pub(in crate::tab) fn is_of(&self, document: &LoaderId) -> bool {
        !document.as_str().is_empty() && self.loader == *document
    }

    /// Whether waiting for its end makes sense. Streams and beacons may never end.
    pub(in crate::tab) fn counts(&self) -> bool {
        matches!(
            self.kind.as_str(),
            "Document" | "Stylesheet" | "Script" | "XHR" | "Fetch"
        )
    }
}

impl Headers {
    pub(super) fn new(raw: Json) -> Self {
        match raw.as_str().len() > MOST_HEADERS {
            true => Self {
                raw: Json::default(),
                too_large: true,
            },
            false => Self {
                raw,
                too_large: false,
            },
        }
    }

    /// Names and values, in Chrome's order.
    pub fn list(&self) -> Vec<(String, String)> {
        let map: serde_json::Map<String, serde_json::Value> = self.raw.decode().unwrap_or_default();
        map.into_iter()
            .map(|(name, value)| match value {
                serde_json::Value::String(value) => (name, value),
                other => (name, other.to_string()),
            })
            .collect()
    }

    /// The value of one header, whatever the case of its name.
    pub fn get(&self, wanted: &str) -> Option<String> {
        let found = self
            .list()
            .into_iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value)
    }

    fn is_empty(&self) -> bool {
        self.raw.is_null() && !self.too_large
    }
}

impl Answer {
    /// `whole` has all headers, if Chrome sent them separately; those in the response may be
    /// incomplete.
    pub(super) fn new(response: network::Response, whole: Option<Headers>) -> Self {
        let from = [
            (response.from_service_worker, "a service worker"),
            (response.from_disk_cache, "the disk cache"),
            (response.from_prefetch_cache, "the prefetch cache"),
        ];
        let remote = response.remote_ip_address.filter(|ip| !ip.is_empty());
        let port = response.remote_port.unwrap_or(0);
        Self {
            status_text: shorten(&response.status_text, 100),
            headers: whole
                .filter(|headers| !headers.is_empty())
                .unwrap_or_else(|| Headers::new(response.headers)),
            mime_type: shorten(&response.mime_type, 100),
            protocol: shorten(&response.protocol.unwrap_or_default(), 40),
            remote: remote
                .map(|ip| format!("{}:{port}", shorten(&ip, 60)))
                .unwrap_or_default(),
            from: from
                .into_iter()
                .find(|(is_so, _)| *is_so == Some(true))
                .map(|(_, name)| name),
            phases: response.timing.as_ref().map(phases),
        }
    }
}

fn phases(timing: &network::ResourceTiming) -> [f64; 5] {
    // Chrome writes -1 for a phase that did not happen.
    let span = |from: f64, to: f64| {
        if from < 0.0 {
            0.0
        } else {
            (to - from).max(0.0)
        }
    };
    [
        span(timing.dns_start, timing.dns_end),
        span(timing.connect_start, timing.connect_end),
        span(timing.ssl_start, timing.ssl_end),
        span(timing.send_start, timing.send_end),
        span(timing.send_end, timing.receive_headers_end),
    ]
}

impl SocketFrame {
    pub(super) fn new(sent: bool, frame: &network::WebSocketFrame) -> Self {
        Self {
            sent,
            binary: frame.opcode != 1.0,
            text: shorten(&frame.payload_data, MOST_FRAME),
            length: frame.payload_data.chars().count(),
        }
    }
}

impl Frames {
    pub(super) fn push(&mut self, frame: SocketFrame) {
        if self.last.len() >= MOST_FRAMES {
            self.last.pop_front();
        }
        self.last.push_back(frame);
        self.count += 1;
    }
}

const MOST_HEADERS: usize = 16_000;
const MOST_FRAME: usize = 1_000;
const MOST_FRAMES: usize = 200;
