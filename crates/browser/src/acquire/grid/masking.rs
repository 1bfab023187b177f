//! What a grid says, for people: without what may be secret.

use crate::dial::RemoteAddress;
use crate::endpoint;
use serde_json::{Map, Value};
use tabmux_text::one_line;

/// Texts that must not be repeated, long ones first.
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// Of an address and its capabilities: all values except the plain ones.
    pub(super) fn of(address: &RemoteAddress, capabilities: &Map<String, Value>) -> Self {
        let mut texts = Vec::new();
        let secret = capabilities.iter().filter(|(name, _)| !is_plain(name));
        secret.for_each(|(_, value)| collect(value, &mut texts));
        let (_, login) = endpoint::with_credentials_as_header(&address.url);
        for (_, value) in login.iter().chain(&address.headers) {
            texts.extend(value.split(' ').map(str::to_owned));
        }
        if let Some(password) = url::Url::parse(&address.url)
            .ok()
            .as_ref()
            .and_then(url::Url::password)
        {
            let decoded = endpoint::percent_decoded(password);
            texts.push(String::from_utf8_lossy(&decoded).into_owned());
            texts.push(password.to_owned());
        }
        // A short one is no secret, and its letters are everywhere.
        texts.retain(|text| text.chars().count() >= SHORTEST && !is_scheme(text));
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        Self(texts)
    }

    /// A text without them, on one line and shortened.
    pub(super) fn hide(&self, text: &str) -> String {
        let hidden = self.0.iter();
        let text = hidden.fold(text.to_owned(), |text, secret| text.replace(secret, "…"));
        one_line(text.lines().next().unwrap_or_default(), LONGEST)
    }
}

/// Capabilities whose values are shown.
pub(super) fn is_plain(capability: &str) -> bool {
    matches!(
        capability,
        "browserName" | "browserVersion" | "platformName"
    )
}

/// The texts and numbers of a value, also as they are written in JSON.
fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Object(all) => all.values().for_each(|value| collect(value, texts)),
        Value::Array(all) => all.iter().for_each(|value| collect(value, texts)),
        Value::String(text) => {
            let written = value.to_string();
            texts.extend([text.clone(), written.trim_matches('"').to_owned()]);
        }
        Value::Number(number) => texts.push(number.to_string()),
        Value::Null | Value::Bool(_) => {}
    }
}

fn is_scheme(text: &str) -> bool {
    matches!(text, "Basic" | "Bearer")
}

const SHORTEST: usize = 3;
/// Of what a grid says.
pub(super) const LONGEST: usize = 300;
