//! The parts of Chrome's DevTools Protocol that an extension cannot provide itself.

use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use tabmux_browser::{Frame, Oversize};
use tabmux_protocol::extension::{BrowserInfo, RawJson, TabInfo};
use tabmux_text::decode;

/// A command. Its parameters stay text unless it is answered here.
#[derive(Debug, Deserialize)]
pub(super) struct Request {
    pub(super) id: u64,
    #[serde(rename = "sessionId")]
    pub(super) session: Option<String>,
    pub(super) method: String,
    #[serde(default = "nothing")]
    pub(super) params: RawJson,
}

/// Why a command is refused.
#[derive(Debug)]
pub(super) struct Refusal(pub(super) String);

impl Request {
    pub(super) fn parse(frame: &str) -> Option<Self> {
        serde_json::from_str(frame).ok()
    }

    /// The parsed parameters.
    pub(super) fn params(&self) -> Value {
        decode(self.params.as_str()).unwrap_or_default()
    }
}

/// An empty object.
pub(super) fn nothing() -> RawJson {
    to_raw_value(&json!({})).map_or_else(|_| RawJson::default(), RawJson::from)
}

/// The session that an event is about.
pub(super) fn session_in(params: &RawJson) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Subject {
        session_id: String,
    }
    let subject: Subject = decode(params.as_str()).ok()?;
    Some(subject.session_id)
}

/// The tab that a command names. The target id of a tab is its number.
pub(super) fn tab_of(params: &Value) -> Option<u32> {
    params["targetId"].as_str()?.parse().ok()
}

pub(super) fn target_info(tab: &TabInfo, attached: bool) -> Value {
    let mut info = json!({
        "targetId": tab.id.to_string(), "type": "page", "title": tab.title, "url": tab.url,
        "attached": attached, "canAccessOpener": false,
    });
    if let Some(opener) = tab.opener_id {
        info["openerId"] = opener.to_string().into();
    }
    info
}

pub(super) fn version(browser: &BrowserInfo) -> Value {
    json!({
        "protocolVersion": "1.3", "product": format!("{}/{}", browser.name, browser.version),
        "revision": "", "userAgent": browser.user_agent, "jsVersion": "",
    })
}

/// The frame of an event.
pub(super) fn event(session: Option<&str>, method: &str, params: &impl Serialize) -> Frame {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Event<'a, P> {
        method: &'a str,
        params: &'a P,
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<&'a str>,
    }
    frame(&Event {
        method,
        params,
        session_id: session,
    })
}

/// The frame of a reply.
pub(super) fn answer(
    id: u64,
    session: Option<&str>,
    answer: Result<impl Serialize, Refusal>,
) -> Frame {
    let (result, error) = match answer {
        Ok(result) => (Some(result), None),
        Err(Refusal(message)) => (None, Some(json!({"code": -32000, "message": message}))),
    };
    frame(&Answer {
        id,
        result,
        error,
        session_id: session,
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a, R> {
    id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<R>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
}

/// Texts and JSON always have a JSON form.
fn frame(message: &impl Serialize) -> Frame {
    Frame::Whole(serde_json::to_vec(message).unwrap_or_default().into())
}

/// The reply to a command whose frame was too large.
pub(super) fn cut_answer(id: u64, length: u64) -> Oversize {
    cut(format!(r#"{{"id":{id},"result":"#), length)
}

/// The same for an event: its session, its name, and its small parameters.
pub(super) fn cut_event(session: &str, method: &str, params: &RawJson, length: u64) -> Oversize {
    let (session, method, params) = (Value::from(session), Value::from(method), params.as_str());
    let head = format!(r#"{{"sessionId":{session},"method":{method},"params":{params}"#);
    cut(head, length)
}

fn cut(head: String, length: u64) -> Oversize {
    let mut head = head.into_bytes();
    head.truncate(MOST_HEAD);
    Oversize {
        head,
        tail: Vec::new(),
        length,
    }
}

/// How much is kept of the head of a frame that is too large.
const MOST_HEAD: usize = 16 * 1024;

/// Refuses, with a reason, commands that Chrome would refuse to an extension without one.
pub(super) fn may_ask(request: &Request) -> Result<(), Refusal> {
    if request.method == "Page.navigate" && opens_data(&request.params()) {
        let words = "an extension cannot open data: addresses; put the page on a web server, or work in a \
                     browser that tabmux launches";
        return Err(Refusal(words.to_owned()));
    }
    if request.method.starts_with("HeapProfiler.") {
        let words =
            "an extension cannot inspect a page's memory; work in a browser that tabmux launches";
        return Err(Refusal(words.to_owned()));
    }
    Ok(())
}

fn opens_data(params: &Value) -> bool {
    let url = params["url"].as_str().unwrap_or_default();
    let scheme = url.split(':').next().unwrap_or_default();
    scheme.eq_ignore_ascii_case("data")
}

/// The error for a command that Chrome does not offer to extensions.
pub(super) fn refusal(method: &str) -> Refusal {
    Refusal(match method {
        "Target.createTarget" | "Target.createBrowserContext" | "Target.disposeBrowserContext" => {
            "This browser is reached through its extension, which cannot give an agent cookies and storage \
             of its own. Omit the isolated context, or work in a browser that tabmux launches."
                .to_owned()
        }
        "Browser.setDownloadBehavior" => {
            "An extension cannot choose where downloads go; they go where the user's go.".to_owned()
        }
        "Browser.close" => "An extension cannot end its browser.".to_owned(),
        method => format!("{method} is not available in a browser that is reached through its extension."),
    })
}
