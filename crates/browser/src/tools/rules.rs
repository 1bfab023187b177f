//! Rules for requests: block them, mock their responses, or change their headers.

use super::{Access, Category, Tool, ToolOutput, ToolResult};
use crate::error::ToolError;
use crate::run::Page;
use crate::tab::{Action, HeaderChanges, Pattern, Rule, Tab};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;
use tabmux_text::one_line;

/// Adds a rule.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Route {
    /// Which requests: a whole URL; * matches any text.
    url: String,
    /// Make them fail.
    block: Option<bool>,
    /// Answer them with this status. Default: 200.
    status: Option<u32>,
    /// Answer them with this text.
    body: Option<String>,
    /// Answer them with this file.
    file_path: Option<String>,
    /// Set headers of the request; an empty value removes one.
    request_headers: Option<HeaderChanges>,
    /// Set headers of the response; an empty value removes one.
    response_headers: Option<HeaderChanges>,
}

impl Tool for Route {
    const NAME: &'static str = "route";
    const DESCRIPTION: &'static str = "Block or answer requests of this tab's pages, or change their headers, until \
                                       unroute.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Rules;
    const OPT_IN: bool = true;
    const PROGRESSIVE: bool = false;
    const NEEDS_PAGE: bool = false;

    fn check(&self) -> Result<(), String> {
        pattern(&self.url)?;
        for (argument, headers) in [
            ("requestHeaders", &self.request_headers),
            ("responseHeaders", &self.response_headers),
        ] {
            check_headers(argument, headers.as_ref())?;
        }
        check_settable(self.request_headers.as_ref())?;
        let mocks = self.status.is_some() || self.body.is_some() || self.file_path.is_some();
        let changes = !empty(&self.request_headers) || !empty(&self.response_headers);
        if self
            .status
            .is_some_and(|status| !(200..=599).contains(&status))
        {
            return Err("`status` must be between 200 and 599".into());
        }
        match self.block == Some(true) {
            true if mocks || changes => {
                Err("`block` cannot be combined with another action".into())
            }
            false if !mocks && !changes => Err(
                "say what to do with these requests: `block`, `status`, `body`, `filePath`, \
                 `requestHeaders` or `responseHeaders`"
                    .into(),
            ),
            _ if mocks && !empty(&self.request_headers) => {
                Err("a request that is answered here is never sent; omit `requestHeaders`".into())
            }
            _ if self.body.is_some() && self.file_path.is_some() => {
                Err("give either `body` or `filePath`".into())
            }
            _ if self.body.as_ref().is_some_and(|it| it.len() > MAX_BODY) => {
                Err(format!("`body` is longer than {MAX_BODY} bytes"))
            }
            _ => Ok(()),
        }
    }

    async fn run(self, page: Page) -> ToolResult {
        let rule = Rule {
            pattern: pattern(&self.url).map_err(ToolError::Arguments)?,
            action: self.action(&page).await?,
        };
        let mut rules = page.tab.rules().now();
        rules.retain(|other| other.pattern != rule.pattern);
        if rules.len() >= MAX_RULES {
            return Err(ToolError::Arguments(format!(
                "There are {MAX_RULES} rules already. Remove some with unroute."
            )));
        }
        rules.push(rule);
        apply(&page.tab, rules).await
    }
}

/// Removes rules.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Unroute {
    /// The rule's url, as it was given. Default: all rules.
    url: Option<String>,
}

impl Tool for Unroute {
    const NAME: &'static str = "unroute";
    const DESCRIPTION: &'static str = "Remove rules that route added.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Rules;
    const OPT_IN: bool = true;
    const PROGRESSIVE: bool = false;
    const NEEDS_PAGE: bool = false;

    fn check(&self) -> Result<(), String> {
        match &self.url {
            Some(url) => pattern(url).map(drop),
            None => Ok(()),
        }
    }

    async fn run(self, page: Page) -> ToolResult {
        let mut rules = page.tab.rules().now();
        let count = rules.len();
        match &self.url {
            None => rules.clear(),
            Some(url) => {
                let pattern = pattern(url).map_err(ToolError::Arguments)?;
                rules.retain(|rule| rule.pattern != pattern);
                if rules.len() == count {
                    return Err(ToolError::Arguments(format!(
                        "There is no rule for {}. {}",
                        one_line(url, 200),
                        describe(&rules)
                    )));
                }
            }
        }
        apply(&page.tab, rules).await
    }
}

impl Route {
    async fn action(self, page: &Page) -> Result<Action, ToolError> {
        if self.block == Some(true) {
            return Ok(Action::Block);
        }
        let mut headers = self.response_headers.unwrap_or_default();
        let (body, kind) = match (self.file_path, self.body) {
            (Some(path), _) => (
                page.files.read(&path, MAX_BODY as u64).await?,
                kind_of_file(&path),
            ),
            (None, Some(body)) => {
                let kind = kind_of_text(&body);
                (body.into_bytes(), kind)
            }
            (None, None) if self.status.is_some() => (Vec::new(), "text/plain"),
            (None, None) => {
                return Ok(Action::Change {
                    request: self.request_headers.unwrap_or_default(),
                    response: headers,
                });
            }
        };
        if !headers
            .keys()
            .any(|name| name.eq_ignore_ascii_case("content-type"))
        {
            headers.insert("Content-Type".into(), kind.into());
        }
        Ok(Action::Mock {
            status: self
                .status
                .and_then(|it| u16::try_from(it).ok())
                .unwrap_or(200),
            headers,
            body: body.into(),
        })
    }
}

/// Removes all rules of a tab that no session holds any more.
pub(super) async fn clear(tab: &Tab) -> Result<(), ToolError> {
    match tab.rules().now().is_empty() {
        true => Ok(()),
        false => apply(tab, Vec::new()).await.map(drop),
    }
}

/// Applies the rules to all sessions of the tab; if its main session fails, none change.
async fn apply(tab: &Tab, rules: Vec<Rule>) -> ToolResult {
    let before = tab.rules().now();
    tab.rules().set(rules.clone());
    if let Err(error) = tab.apply_rules().await {
        tab.rules().set(before);
        return Err(error);
    }
    Ok(ToolOutput::text(describe(&rules)))
}

fn describe(rules: &[Rule]) -> String {
    if rules.is_empty() {
        return "No rule is active in this tab.".into();
    }
    let mut lines = vec!["Rules in this tab; the last match wins:".to_owned()];
    lines.extend(rules.iter().map(|rule| {
        let action = match &rule.action {
            Action::Block => "blocked".to_owned(),
            Action::Mock { status, body, .. } => {
                format!("answered with {status} and {} bytes", body.len())
            }
            Action::Change { request, response } => {
                let names = |what, headers: &HeaderChanges| {
                    let names: Vec<_> = headers.keys().map(String::as_str).collect();
                    (!names.is_empty())
                        .then(|| format!("{what} {}", one_line(&names.join(", "), 200)))
                };
                let parts = [
                    names("request headers", request),
                    names("response headers", response),
                ];
                let parts: Vec<_> = parts.into_iter().flatten().collect();
                format!("changed: {}", parts.join("; "))
            }
        };
        format!("{} {action}", one_line(&rule.pattern.0, 300))
    }));
    lines.join("\n")
}

/// The pattern to compare with: a URL without a star is normalized as browsers do.
fn pattern(url: &str) -> Result<Pattern, String> {
    if url.len() > MAX_URL {
        return Err(format!("`url` is longer than {MAX_URL} bytes"));
    }
    let starts = ["*", "http://", "https://"];
    if !starts.iter().any(|start| url.starts_with(start)) {
        return Err(
            "`url` is a whole URL that starts with http://, https:// or *, such as */api/*".into(),
        );
    }
    if url.contains('*') {
        return Ok(Pattern(url.into()));
    }
    let mut whole = url::Url::parse(url).map_err(|error| format!("`url` is not a URL: {error}"))?;
    whole.set_fragment(None);
    Ok(Pattern(whole.into()))
}

fn check_headers(argument: &str, headers: Option<&HeaderChanges>) -> Result<(), String> {
    let headers = headers.into_iter().flatten();
    for (index, (name, value)) in headers.enumerate() {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(format!(
                "`{argument}` has \"{}\", which is not a header name",
                one_line(name, 40)
            ));
        }
        if value.chars().any(char::is_control) || value.len() > MAX_HEADER {
            return Err(format!(
                "`{argument}` has a value for {} that is invalid",
                one_line(name, 40)
            ));
        }
        if index >= MAX_HEADERS {
            return Err(format!("`{argument}` has more than {MAX_HEADERS} headers"));
        }
    }
    Ok(())
}

/// Chrome sets some request headers itself, and rejects rules that change them.
fn check_settable(headers: Option<&HeaderChanges>) -> Result<(), String> {
    let set = headers.into_iter().flatten();
    let mut set = set.filter(|(_, value)| !value.is_empty());
    let is_fixed = |name: &str| {
        let name = name.to_ascii_lowercase();
        FIXED.contains(&name.as_str()) || name.starts_with("proxy-")
    };
    match set.find(|(name, _)| is_fixed(name)) {
        Some((name, _)) => Err(format!(
            "`requestHeaders` has {}, which Chrome sets itself; omit it",
            one_line(name, 40)
        )),
        None => Ok(()),
    }
}

fn empty(headers: &Option<HeaderChanges>) -> bool {
    headers.as_ref().is_none_or(HeaderChanges::is_empty)
}

fn kind_of_text(body: &str) -> &'static str {
    match body.trim_start().chars().next() {
        Some('{' | '[') => "application/json",
        Some('<') => "text/html; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    }
}

fn kind_of_file(path: &str) -> &'static str {
    let extension = Path::new(path).extension().and_then(|it| it.to_str());
    match extension.unwrap_or_default() {
        "html" | "htm" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "txt" => "text/plain; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        _ => "application/octet-stream",
    }
}

/// Request headers that Chrome calls unsafe, besides those that begin with `proxy-`.
const FIXED: [&str; 10] = [
    "connection",
    "content-length",
    "cookie2",
    "host",
    "keep-alive",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

const MAX_RULES: usize = 50;
const MAX_URL: usize = 2_000;
const MAX_HEADERS: usize = 50;
const MAX_HEADER: usize = 8_000;
const MAX_BODY: usize = 2_000_000;
