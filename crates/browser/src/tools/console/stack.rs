//! The stack of a console message, with source maps applied where possible.

use crate::script;
use crate::source_map::{self, Origin, SourceMap};
use crate::tab::{ConsoleMessage, ScriptPosition, Tab};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::collections::HashMap;
use std::time::Duration;
use tabmux_cdp::Session;
use tabmux_cdp::types::runtime::RemoteObjectId;
use tabmux_cdp::types::{io, network, page, runtime};
use tabmux_text::one_line;
use url::Url;

/// An object that was logged, as JSON; none if it is gone or has no JSON form.
pub(super) async fn write_out(session: &Session, object: &RemoteObjectId) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Written {
        text: Option<String>,
    }
    let call = runtime::CallFunctionOn {
        function_declaration: WRITE_OUT.into(),
        object_id: Some(object.clone()),
        arguments: Some(vec![runtime::CallArgument {
            value: tabmux_cdp::types::Json::encode(&2_000).ok(),
            ..Default::default()
        }]),
        return_by_value: Some(true),
        ..Default::default()
    };
    let answer = script::in_page(session.send_within(call, LIMIT))
        .await
        .ok()?;
    if answer.exception_details.is_some() {
        return None;
    }
    let written: Written = answer.result.value?.decode().ok()?;
    // An error object has no own properties that JSON would show.
    written.text.filter(|text| text != "{}")
}

/// The stack, one line per position.
pub(super) async fn lines(tab: &Tab, message: &ConsoleMessage) -> Vec<String> {
    let origins = origins(tab, message).await;
    let lines = message.stack.iter().zip(origins);
    lines
        .map(|(place, origin)| match origin {
            Some(origin) => {
                let name = origin.name.as_deref().unwrap_or(&place.function);
                position(name, &origin.source, origin.line, origin.column)
            }
            None => position(&place.function, &place.url, place.line, place.column),
        })
        .collect()
}

/// The stack without source maps, which take time to load.
pub(super) fn as_told(message: &ConsoleMessage) -> Vec<String> {
    let places = message.stack.iter();
    places
        .map(|place| position(&place.function, &place.url, place.line, place.column))
        .collect()
}

fn position(function: &str, url: &str, line: u32, column: u32) -> String {
    let function = match function {
        "" => "(anonymous)",
        name => name,
    };
    format!(
        "  at {} ({}:{}:{})",
        one_line(function, 100),
        one_line(url, 300),
        line + 1,
        column + 1
    )
}

async fn origins(tab: &Tab, message: &ConsoleMessage) -> Vec<Option<Origin>> {
    let mut maps: HashMap<&str, Option<SourceMap>> = HashMap::new();
    for place in &message.stack {
        if maps.len() < MAX_MAPS && !maps.contains_key(place.url.as_str()) {
            let load = load(tab, message, place);
            let map = tokio::time::timeout(LIMIT, load).await.ok().flatten();
            maps.insert(&place.url, map);
        }
    }
    let mut origins = vec![None; message.stack.len()];
    for (url, map) in &maps {
        let Some(map) = map else {
            continue;
        };
        let here = |place: &&ScriptPosition| place.url == *url;
        let places: Vec<_> = message.stack.iter().filter(here).collect();
        let places: Vec<_> = places.iter().map(|it| (it.line, it.column)).collect();
        let mut found = map.origins(&places).into_iter();
        for (slot, place) in origins.iter_mut().zip(&message.stack) {
            if place.url == *url {
                *slot = found.next().flatten();
            }
        }
    }
    origins
}

/// The source map of a script. It is fetched only if it has the page's own origin.
async fn load(tab: &Tab, message: &ConsoleMessage, place: &ScriptPosition) -> Option<SourceMap> {
    let script = Url::parse(&place.url).ok()?;
    let session = &message.session;
    let frame = {
        let state = tab.state();
        let mut frames = state.frames.iter();
        frames
            .find(|frame| frame.session.id() == session.id())
            .cloned()
    }?;
    let content = page::GetResourceContent {
        frame_id: frame.id.clone(),
        url: place.url.clone(),
    };
    let content = session.send_within(content, LIMIT).await.ok()?;
    if content.base64_encoded {
        return None;
    }
    let named = source_map::named_in(&content.content)?;
    if let Some(data) = named.strip_prefix("data:") {
        return SourceMap::parse(&data_text(data)?);
    }
    let url = script.join(named).ok()?;
    let shown = Url::parse(&frame.url).ok()?;
    let web = matches!(url.scheme(), "http" | "https");
    if !web || url.origin() != shown.origin() {
        return None;
    }
    let fetch = network::LoadNetworkResource {
        frame_id: Some(frame.id),
        url: url.to_string(),
        options: network::LoadNetworkResourceOptions {
            disable_cache: false,
            include_credentials: true,
        },
    };
    let fetched = session.send_within(fetch, LIMIT).await.ok()?.resource;
    let stream = fetched.stream.filter(|_| fetched.success)?;
    SourceMap::parse(&read_all(session, stream).await?)
}

/// The decoded content of a `data:` URL.
fn data_text(data: &str) -> Option<String> {
    let (kind, text) = data.split_once(',')?;
    if !kind.ends_with(";base64") || text.len() > MAX_MAP {
        return None;
    }
    String::from_utf8(BASE64_STANDARD.decode(text).ok()?).ok()
}

async fn read_all(session: &Session, handle: io::StreamHandle) -> Option<String> {
    let mut text = Vec::new();
    let whole = loop {
        let read = io::Read {
            handle: handle.clone(),
            ..Default::default()
        };
        let Ok(part) = session.send_within(read, LIMIT).await else {
            break false;
        };
        if part.base64_encoded == Some(true) {
            let Ok(bytes) = BASE64_STANDARD.decode(&part.data) else {
                break false;
            };
            text.extend(bytes);
        } else {
            text.extend(part.data.as_bytes());
        }
        if part.eof || text.len() > MAX_MAP {
            break part.eof;
        }
    };
    session.post(io::Close { handle });
    String::from_utf8(text).ok().filter(|_| whole)
}

const WRITE_OUT: &str = include_str!("../../../js/write_out.js");
const LIMIT: Duration = Duration::from_secs(5);
const MAX_MAPS: usize = 8;
const MAX_MAP: usize = 16_000_000;
