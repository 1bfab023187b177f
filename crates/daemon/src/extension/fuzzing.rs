//! Properties that hold for any messages of an extension, and any commands for its browser.

use super::cdp_messages::Request;
use super::tunnel::{Deliveries, Tunnels};
use crate::panel::PersonRequest;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};
use tabmux_browser::Frame;
use tabmux_protocol::extension::{FromExtension, TabInfo};
use tabmux_text::decode_with;
use tokio::sync::mpsc;

/// Messages of an extension, one a line; those after a `>` are commands for its browser.
///
/// # Panics
/// If a command is answered twice, a private tab is reported, or a message changes when it is serialized and parsed
/// again.
pub fn extension_message(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let (feed, _kept) = mpsc::channel(1);
    let mut tunnels = Tunnels::default();
    let tunnel = tunnels.open(feed);
    let mut reported = Reported::default();
    for line in text.split('\n').take(MOST_MESSAGES) {
        let deliveries = match line.strip_prefix('>') {
            Some(command) => {
                reported.command(command);
                tunnels.command(tunnel, command)
            }
            None => {
                let Ok(message) = decode_with(line, FromExtension::parse) else {
                    continue;
                };
                is_written_as_it_was_read(&message);
                drop(PersonRequest::in_message(&message));
                reported.message(&message);
                tunnels.handle(message)
            }
        };
        reported.check(&deliveries);
    }
    assert_eq!(tunnels.private_tabs(), [0; 0]);
    reported.check(&tunnels.close(tunnel));
}

fn is_written_as_it_was_read(message: &FromExtension) {
    let written = serde_json::to_string(message).expect("a message has a form");
    let again = decode_with(&written, FromExtension::parse).expect("what is written can be read");
    let value = serde_json::to_value(message).unwrap_or_default();
    // Fractions may lose their last digit.
    if !has_fraction(&value) {
        assert_eq!(&again, message);
    }
}

fn has_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(has_fraction),
        Value::Object(fields) => fields.values().any(has_fraction),
        _ => false,
    }
}

/// What was reported so far.
#[derive(Default)]
struct Reported {
    /// Tabs that are in no private window, according to the extension.
    shown: HashSet<String>,
    /// How many replies each command id may still get.
    open: HashMap<u64, usize>,
}

impl Reported {
    fn command(&mut self, frame: &str) {
        if let Some(request) = Request::parse(frame) {
            *self.open.entry(request.id).or_default() += 1;
        }
    }

    fn message(&mut self, message: &FromExtension) {
        let tabs: Vec<&TabInfo> = match message {
            FromExtension::Connected { tabs, .. } => tabs.iter().collect(),
            FromExtension::TabCreated { tab } | FromExtension::TabUpdated { tab } => vec![tab],
            // A tab that was opened on request may be reported.
            FromExtension::Done {
                tab_id: Some(id), ..
            } => {
                self.shown.insert(id.to_string());
                Vec::new()
            }
            _ => Vec::new(),
        };
        let shown = tabs.iter().filter(|tab| !tab.private);
        self.shown.extend(shown.map(|tab| tab.id.to_string()));
    }

    fn check(&mut self, deliveries: &Deliveries) {
        for message in &deliveries.to_extension {
            serde_json::to_string(message).expect("a message has a form");
        }
        for (_, frame) in &deliveries.to_tunnels {
            // The rest of an oversized frame contains nothing about tabs.
            let Frame::Whole(frame) = frame else {
                continue;
            };
            let frame: Envelope<'_> = serde_json::from_slice(frame).expect("a frame is JSON");
            match (frame.id, frame.method.as_deref()) {
                (Some(id), None) => {
                    let open = self.open.get_mut(&id);
                    let open = open.expect("only commands get a reply");
                    *open = open.checked_sub(1).expect("a command is answered once");
                }
                // Only events of the tunnel itself; events of a page may contain anything.
                (None, Some("Target.targetCreated" | "Target.targetInfoChanged"))
                    if frame.session_id.is_none() =>
                {
                    let params = frame.params.map_or("null", RawValue::get);
                    let params: Value = serde_json::from_str(params).expect("we wrote it");
                    let tab = params["targetInfo"]["targetId"].as_str();
                    let tab = tab.expect("a tab has a name");
                    assert!(self.shown.contains(tab), "tab {tab} is private");
                }
                (None, Some(_)) => {}
                _ => panic!("neither an answer nor an event: {frame:?}"),
            }
        }
    }
}

/// The outer fields of a frame. What Chrome wrote inside need not be readable here.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    id: Option<u64>,
    method: Option<String>,
    session_id: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

const MOST_MESSAGES: usize = 64;
