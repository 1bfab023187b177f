//! Messages with commands, answers and events of Chrome. Their contents only pass through, so they stay JSON text.

use super::{FromExtension, ToExtension};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Chrome's answer to a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CdpAnswer {
    /// The command's `requestId`.
    pub request_id: u32,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional, type = "unknown"))]
    pub result: Option<RawJson>,
    /// The error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub error: Option<String>,
    /// The size of the answer, if it is too large to send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional, type = "number"))]
    pub too_large: Option<u64>,
}

/// An event from Chrome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CdpEvent {
    /// The tab.
    pub tab_id: u32,
    /// The frame or worker inside it, if it is not the tab's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub session_id: Option<String>,
    /// The event.
    pub method: String,
    /// Its parameters; only the small ones, if it is too large.
    #[serde(default)]
    #[cfg_attr(feature = "bindings", ts(type = "unknown"))]
    pub params: RawJson,
    /// The size of the event, if it is too large to send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional, type = "number"))]
    pub too_large: Option<u64>,
}

/// A command for Chrome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CdpCommand {
    /// Repeated in the answer.
    pub request_id: u32,
    /// The tab.
    pub tab_id: u32,
    /// The frame or worker inside it, if it is not the tab itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub session_id: Option<String>,
    /// The command.
    pub method: String,
    /// Its parameters.
    #[serde(default)]
    #[cfg_attr(feature = "bindings", ts(type = "unknown"))]
    pub params: RawJson,
}

impl FromExtension {
    /// Parses a frame. Keeps what Chrome sent as text, which serde cannot do in a tagged enum.
    pub fn parse(frame: &str) -> serde_json::Result<Self> {
        match kind(frame)?.as_str() {
            "cdp" => serde_json::from_str(frame).map(Self::Cdp),
            "cdpEvent" => serde_json::from_str(frame).map(Self::CdpEvent),
            _ => serde_json::from_str(frame),
        }
    }
}

impl ToExtension {
    /// Parses a frame, as the extension does.
    pub fn parse(frame: &str) -> serde_json::Result<Self> {
        match kind(frame)?.as_str() {
            "cdp" => serde_json::from_str(frame).map(Self::Cdp),
            _ => serde_json::from_str(frame),
        }
    }
}

fn kind(frame: &str) -> serde_json::Result<String> {
    #[derive(Deserialize)]
    struct Head {
        r#type: String,
    }
    serde_json::from_str(frame).map(|head: Head| head.r#type)
}

/// JSON text that is not parsed here.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawJson(Box<RawValue>);

impl RawJson {
    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

impl Default for RawJson {
    fn default() -> Self {
        Self(RawValue::NULL.to_owned())
    }
}

impl From<Box<RawValue>> for RawJson {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw)
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}
