//! The page's network: the list of requests, and one of them with headers and bodies.

mod rows;

use super::paging::{self, check_names, check_size, page as paged};
use super::{Access, Category, Tool, ToolOutput, ToolResult};
use crate::bounds;
use crate::error::ToolError;
use crate::files::Destination;
use crate::run::Page;
use crate::tab::{Headers, NetworkRequest, Progress};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;
use tabmux_cdp::types::network as cdp;
use tabmux_cdp::{CdpError, MAX_ANSWER};
use tabmux_text::{escaped, one_line, shorten};

/// Lists requests.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ListNetworkRequests {
    page_size: Option<u32>,
    page_idx: Option<u32>,
    /// Such as document, script, xhr, fetch, image or websocket.
    resource_types: Option<Vec<String>>,
    /// Include those of the last 3 pages.
    include_preserved_requests: Option<bool>,
}

impl Tool for ListNetworkRequests {
    const NAME: &'static str = "list_network_requests";
    const DESCRIPTION: &'static str =
        "List the page's requests since it was opened, and the tab's downloads.";
    const ACCESS: Access = Access::Read;
    const CATEGORY: Category = Category::Network;
    const PROGRESSIVE: bool = false;
    const DURING_DIALOG: bool = true;
    const NEEDS_PAGE: bool = false;

    fn output_schema() -> Option<Value> {
        Some(rows::schema())
    }

    fn check(&self) -> Result<(), String> {
        check_size(self.page_size)?;
        check_names("resourceTypes", self.resource_types.as_ref(), TYPES)
    }

    async fn run(self, page: Page) -> ToolResult {
        let state = page.tab.state();
        let everything = self.include_preserved_requests == Some(true);
        let policy = bounds::here().unwrap_or_default();
        let wanted = |request: &&NetworkRequest| {
            let of_type = |types: &Vec<String>| {
                let mut types = types.iter();
                types.any(|name| request.kind.eq_ignore_ascii_case(name))
            };
            (everything || request.epoch == state.epoch)
                && self.resource_types.as_ref().is_none_or(of_type)
                && state.may_tell_request(request, &policy)
        };
        let requests: Vec<_> = state.network.iter().filter(wanted).collect();
        let mut text = paged(
            &requests,
            "requests",
            self.page_size,
            self.page_idx,
            |request| line(request),
        )?;
        let shown = paging::shown(&requests, self.page_size, self.page_idx, &text);
        if state.network.lost > 0 {
            text.push_str(&format!(
                "\nThe {} oldest requests were dropped.",
                state.network.lost
            ));
        }
        if state.network.too_large > 0 {
            text.push_str(&format!(
                "\n{} requests or websocket messages were too large, and were cut or dropped.",
                state.network.too_large
            ));
        }
        let downloads = (1..).zip(&state.downloads);
        let hidden = state.downloads.len().saturating_sub(MAX_DOWNLOADS);
        let downloads: Vec<_> = downloads.skip(hidden).collect();
        for (_, download) in &downloads {
            text.push('\n');
            text.push_str(&download.tell());
        }
        Ok(ToolOutput {
            structured: Some(rows::of(shown, requests.len(), &downloads)),
            ..ToolOutput::text(text)
        })
    }
}

/// Shows one request.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GetNetworkRequest {
    /// From list_network_requests.
    #[schemars(required)]
    reqid: Option<u32>,
    /// Instead: a download of the tab, counted from 1. Resources use it.
    #[schemars(skip)]
    download: Option<usize>,
    /// Save the request body to this file.
    request_file_path: Option<String>,
    /// Save the response body to this file.
    response_file_path: Option<String>,
    overwrite: Option<bool>,
}

impl Tool for GetNetworkRequest {
    const NAME: &'static str = "get_network_request";
    const DESCRIPTION: &'static str =
        "Show one request: headers, redirects, timing, bodies, websocket messages.";
    const ACCESS: Access = Access::Read;
    const CATEGORY: Category = Category::Network;
    const PROGRESSIVE: bool = false;
    const DURING_DIALOG: bool = true;
    const NEEDS_PAGE: bool = false;

    fn check(&self) -> Result<(), String> {
        match self.reqid {
            Some(_) if self.download.is_some() => {
                Err("`reqid` and `download` exclude each other".into())
            }
            None if self.download.is_some() => Ok(()),
            Some(_) => Ok(()),
            None => Err(
                "give `reqid`, a number that list_network_requests shows; which request is selected in DevTools \
                 cannot be seen from here"
                    .into(),
            ),
        }
    }

    async fn run(self, page: Page) -> ToolResult {
        if let Some(number) = self.download {
            return show_download(&page, number).await;
        }
        let policy = bounds::here().unwrap_or_default();
        let reqid = self.reqid.unwrap_or_default();
        let found = {
            let state = page.tab.state();
            let found = state.network.find(reqid.into()).cloned();
            found.filter(|request| state.may_tell_request(request, &policy))
        };
        let request = found.ok_or_else(|| ToolError::NotActionable {
            why: format!(
                "There is no request {reqid}. Call list_network_requests to see which are kept."
            ),
        })?;
        let mut lines = vec![line(&request)];
        lines.extend(facts(&request));
        lines.push("Request headers:".into());
        lines.extend(header_lines(&request.headers));
        if request.body.0 || self.request_file_path.is_some() {
            let body = sent_body(&request).await;
            let told = tell_body(
                "Request body",
                body,
                "requestFilePath",
                self.to(self.request_file_path.as_deref()),
                &page,
            )
            .await?;
            lines.push(told);
        }
        if let Some(answer) = &request.answer {
            lines.push("Response headers:".into());
            lines.extend(header_lines(&answer.headers));
        }
        if request.kind == "WebSocket" {
            lines.extend(frame_lines(&request));
            if self.response_file_path.is_some() {
                let text = all_frames(&request);
                let path = self.response_file_path.as_deref();
                let to = Destination::new(path, self.overwrite, "txt");
                let place = page.files.save(to, text.into_bytes()).await?;
                lines.push(format!("Saved the messages to {}.", place.display()));
            }
        } else if request.answer.is_some() || self.response_file_path.is_some() {
            let body = received_body(&request).await;
            let told = tell_body(
                "Response body",
                body,
                "responseFilePath",
                self.to(self.response_file_path.as_deref()),
                &page,
            )
            .await?;
            lines.push(told);
        }
        Ok(ToolOutput::text(lines.join("\n")))
    }
}

impl GetNetworkRequest {
    fn to(&self, path: Option<&str>) -> Option<Destination> {
        path.map(|path| Destination::new(Some(path), self.overwrite, "bin"))
    }
}

/// Tells about a download, and hands its file out.
async fn show_download(page: &Page, number: usize) -> ToolResult {
    let index = number.checked_sub(1);
    let found = index.and_then(|index| page.tab.state().downloads.get(index).cloned());
    let download = found.ok_or_else(|| ToolError::NotActionable {
        why: format!(
            "There is no download {number}. list_network_requests shows the downloads of the tab."
        ),
    })?;
    if let Progress::Saved(Some(path)) = &download.progress {
        page.files.hand_out(path).await?;
    }
    Ok(ToolOutput::text(download.tell()))
}

/// `reqid=3 GET http://… [200]`
fn line(request: &NetworkRequest) -> String {
    let outcome = match (&request.failure, request.status) {
        (Some(failure), _) => format!("failed: {}", one_line(failure, 80)),
        (None, Some(status)) if request.ended || request.kind == "WebSocket" => status.to_string(),
        (None, Some(status)) => format!("{status}, still loading"),
        (None, None) if request.ended => "no answer".into(),
        (None, None) => "pending".into(),
    };
    format!(
        "reqid={} {} {} [{outcome}] {}",
        request.number,
        request.method,
        one_line(&request.url, 250),
        request.kind.to_ascii_lowercase()
    )
}

fn facts(request: &NetworkRequest) -> Vec<String> {
    let mut lines = Vec::new();
    if request.url.chars().count() > 250 {
        lines.push(format!("URL: {}", one_line(&request.url, 2_000)));
    }
    if !request.initiator.is_empty() {
        lines.push(format!("Initiator: {}", one_line(&request.initiator, 400)));
    }
    for redirect in &request.redirects {
        lines.push(format!(
            "Redirected with {} from {}",
            redirect.status,
            one_line(&redirect.url, 300)
        ));
    }
    if let Some(answer) = &request.answer {
        let mut words = vec![format!(
            "Answer: {} {}",
            request.status.unwrap_or_default(),
            one_line(&answer.status_text, 100)
        )];
        words.extend(Some(answer.mime_type.clone()));
        words.extend(Some(answer.protocol.clone()));
        words.extend(Some(answer.remote.clone()));
        words.extend(answer.from.map(|from| format!("from {from}")));
        words.retain(|word| !word.is_empty());
        lines.push(words.join(", "));
    }
    lines.extend(timing(request));
    lines
}

fn timing(request: &NetworkRequest) -> Option<String> {
    let times = &request.times;
    let ms = |from: f64, to: f64| ((to - from) * 1_000.0).max(0.0);
    let total = ms(times.sent, times.ended?);
    let mut words = vec![format!("Timing: {total:.0} ms in all")];
    let phases = request.answer.as_ref().and_then(|answer| answer.phases);
    let names = ["DNS", "connect", "TLS", "send", "wait"];
    for (name, value) in names.iter().zip(phases.into_iter().flatten()) {
        if value >= 0.5 || *name == "wait" {
            words.push(format!("{name} {value:.0}"));
        }
    }
    if let Some(answered) = times.answered {
        words.push(format!("receive {:.0}", ms(answered, times.ended?)));
    }
    if request.received > 0.0 {
        words.push(format!("{:.0} bytes over the wire", request.received));
    }
    Some(words.join(", "))
}

fn header_lines(headers: &Headers) -> Vec<String> {
    if headers.too_large {
        return vec!["  (more than 16 kB, not kept)".into()];
    }
    let list = headers.list();
    let more = list.len().saturating_sub(MAX_HEADERS);
    let mut lines: Vec<_> = list
        .iter()
        .take(MAX_HEADERS)
        .map(|(name, value)| {
            let value = without_password(name, value);
            format!("  {}: {}", one_line(name, 100), one_line(value, 500))
        })
        .collect();
    if more > 0 {
        lines.push(format!("  … and {more} more"));
    }
    lines
}

/// A header with a password in plain text is not repeated.
fn without_password<'a>(name: &str, value: &'a str) -> &'a str {
    let names = ["authorization", "proxy-authorization"];
    let is_login = names.iter().any(|login| name.eq_ignore_ascii_case(login));
    let is_plain = value
        .get(..5)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("basic"));
    if is_login && is_plain {
        "Basic •••"
    } else {
        value
    }
}

fn frame_lines(request: &NetworkRequest) -> Vec<String> {
    let frames = &request.frames;
    let shown = frames.last.len().min(MAX_FRAMES);
    let mut lines = vec![match frames.count {
        0 => "No messages.".into(),
        count => format!(
            "Messages: the last {shown} of {count} (→ sent, ← received); responseFilePath saves the last {}.",
            frames.last.len()
        ),
    }];
    let skipped = frames.last.len() - shown;
    for frame in frames.last.iter().skip(skipped) {
        let sign = if frame.sent { '→' } else { '←' };
        let kind = if frame.binary { " binary, base64:" } else { "" };
        lines.push(format!("  {sign}{kind} {}", one_line(&frame.text, 200)));
    }
    lines
}

fn all_frames(request: &NetworkRequest) -> String {
    let mut text = String::new();
    for frame in &request.frames.last {
        let sign = if frame.sent { '→' } else { '←' };
        let cut = match frame.length > frame.text.chars().count() {
            true => format!(" ({} characters, cut)", frame.length),
            false => String::new(),
        };
        text.push_str(&format!("{sign}{cut} {}\n", frame.text));
    }
    text
}

/// A body, or why it is missing.
type Body = Result<Vec<u8>, String>;

async fn sent_body(request: &NetworkRequest) -> Body {
    if let (true, Some(body)) = &request.body {
        return Ok(body.clone().into_bytes());
    }
    if !request.body.0 {
        return Err("the request has none".into());
    }
    let ask = cdp::GetRequestPostData {
        request_id: request.id.clone(),
    };
    let answer = request.session.send_within(ask, LIMIT).await;
    let answer = answer.map_err(|error| match error {
        CdpError::TooLarge { bytes, .. } => too_large(bytes),
        _ => "Chrome no longer has it".to_owned(),
    })?;
    decoded(answer.post_data, answer.base64_encoded)
}

async fn received_body(request: &NetworkRequest) -> Body {
    if !request.ended {
        return Err("it is still loading".into());
    }
    let ask = cdp::GetResponseBody {
        request_id: request.id.clone(),
    };
    let answer = request.session.send_within(ask, LIMIT).await;
    let answer = answer.map_err(|error| match error {
        CdpError::TooLarge { bytes, .. } => too_large(bytes),
        _ => "Chrome does not have it: it drops bodies when the page navigates, and keeps none of downloads"
            .to_owned(),
    })?;
    decoded(answer.body, answer.base64_encoded)
}

fn too_large(bytes: u64) -> String {
    format!(
        "it is too large: Chrome would send {} MB for it, and the limit is {} MB; let the page download it, \
         or fetch a part of it with evaluate_script",
        bytes / 1_000_000,
        MAX_ANSWER / 1_000_000
    )
}

fn decoded(text: String, base64: bool) -> Body {
    match base64 {
        true => BASE64_STANDARD
            .decode(text)
            .map_err(|_| "Chrome sent it damaged".into()),
        false => Ok(text.into_bytes()),
    }
}

/// Shows a short text, saves to a file if requested, and says how to get the rest.
async fn tell_body(
    what: &str,
    body: Body,
    argument: &str,
    to: Option<Destination>,
    page: &Page,
) -> Result<String, ToolError> {
    let body = match (body, &to) {
        (Ok(body), _) => body,
        (Err(why), None) => return Ok(format!("{what}: none, {why}.")),
        (Err(why), Some(_)) => return Ok(format!("{what}: nothing was saved, {why}.")),
    };
    let size = body.len();
    if let Some(to) = to {
        let place = page.files.save(to, body).await?;
        return Ok(format!(
            "{what}: {size} bytes, saved to {}.",
            place.display()
        ));
    }
    let is_text = |text: &String| !text.contains('\0');
    let Some(text) = String::from_utf8(body).ok().filter(is_text) else {
        return Ok(format!(
            "{what}: {size} bytes, not text. {argument} saves it."
        ));
    };
    let cut = match text.chars().count() > MAX_BODY {
        true => format!("\n… cut at {MAX_BODY} characters; {argument} saves all of it."),
        false => String::new(),
    };
    Ok(format!(
        "{what} ({size} bytes):\n{}{cut}",
        escaped(&shorten(&text, MAX_BODY))
    ))
}

const LIMIT: Duration = Duration::from_secs(5);
const MAX_HEADERS: usize = 50;
const MAX_BODY: usize = 8_000;
const MAX_FRAMES: usize = 40;
const MAX_DOWNLOADS: usize = 10;

const TYPES: &[&str] = &[
    "document",
    "stylesheet",
    "image",
    "media",
    "font",
    "script",
    "texttrack",
    "xhr",
    "fetch",
    "prefetch",
    "eventsource",
    "websocket",
    "manifest",
    "signedexchange",
    "ping",
    "cspviolationreport",
    "preflight",
    "fedcm",
    "other",
];
