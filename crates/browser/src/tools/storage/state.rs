//! Web storage as a file, in Playwright's format.

use super::cookies::{SAME_SITE, of_page};
use super::entries::{Kind, ask};
use super::site;
use super::whole::read_all;
use crate::address::AddressPolicy;
use crate::bounds;
use crate::browser::ContextId;
use crate::error::ToolError;
use crate::files::{self, Destination};
use crate::navigate;
use crate::origins::OriginPolicy;
use crate::run::Page;
use crate::saved_state::StateSummary;
use crate::tab::{Action, Pattern, Rule, Tab};
use crate::tools::{Access, Category, Tool, ToolOutput, ToolResult};
use crate::world::World;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tabmux_cdp::types::Command;
use tabmux_cdp::types::network::{self, Cookie, CookieParam, TimeSinceEpoch};
use tabmux_cdp::{CdpError, Session};
use tabmux_text::one_line;
use tokio::time::Instant;

/// Saves the site's storage.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::tools) struct SaveStorage {
    file_path: Option<String>,
    overwrite: Option<bool>,
}

impl Tool for SaveStorage {
    const NAME: &'static str = "save_storage";
    const DESCRIPTION: &'static str = "Save the cookies and storages of this page to a JSON file, such as to stay \
                                       logged in. The file holds secrets.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Storage;
    const OPT_IN: bool = true;
    const PROGRESSIVE: bool = false;

    async fn run(self, page: Page) -> ToolResult {
        let origin = site(&page.tab)?.origin().ascii_serialization();
        let world = page.tab.world().await?;
        let entries = async |kind| -> Result<Vec<Named>, ToolError> {
            let all = read_all(&world, kind).await?.into_iter();
            Ok(all.map(|(name, value)| Named { name, value }).collect())
        };
        let (partitioned, cookies): (Vec<_>, Vec<_>) = of_page(&page.tab)
            .await?
            .into_iter()
            .partition(|cookie| cookie.partition_key.is_some());
        let state = State {
            cookies: cookies.into_iter().map(StoredCookie::from).collect(),
            origins: vec![Origin {
                origin,
                local_storage: entries(Kind::Local).await?,
                session_storage: entries(Kind::Session).await?,
            }],
        };
        let words = state.words();
        let to = Destination::new(self.file_path.as_deref(), self.overwrite, "json");
        let mut draft = page.files.create(to).await?;
        draft.write_json(state).await?;
        let place = draft.keep().await?;
        let mut said = format!("Saved {words} to {}.", place.display());
        if !partitioned.is_empty() {
            let left = partitioned.len();
            said.push_str(&format!(
                " {left} cookies of sites inside others were left out."
            ));
        }
        Ok(ToolOutput::text(said))
    }
}

/// Restores the site's storage.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::tools) struct LoadStorage {
    file_path: String,
}

impl Tool for LoadStorage {
    const NAME: &'static str = "load_storage";
    const DESCRIPTION: &'static str = "Load cookies and storages from a file of save_storage, or of Playwright. Open \
                                       the site first; reload it after.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Storage;
    const OPT_IN: bool = true;
    const PROGRESSIVE: bool = false;

    async fn run(self, page: Page) -> ToolResult {
        let here = site(&page.tab)?.origin().ascii_serialization();
        let State {
            mut cookies,
            origins,
        } = read(&page, &self.file_path).await?;
        let policy = bounds::here().unwrap_or_default();
        let host = site(&page.tab)?.host_str().unwrap_or_default().to_owned();
        cookies.retain(|cookie| cookie.may_be_set(&host, &policy));
        let (own, others): (Vec<_>, Vec<_>) = origins.into_iter().partition(|it| it.origin == here);
        let world = page.tab.world().await?;
        let loaded = State {
            cookies,
            origins: own,
        };
        // Chrome accepts all cookies or none, so they come first.
        loaded.set_cookies(&page.tab, &self.file_path).await?;
        for origin in &loaded.origins {
            for (kind, entries) in [
                (Kind::Local, &origin.local_storage),
                (Kind::Session, &origin.session_storage),
            ] {
                put(&world, kind, entries).await?;
            }
        }
        let mut said = format!("Loaded {}.", loaded.words());
        if let Some(other) = others.first() {
            said.push_str(&format!(
                " Left out: the storages of {} other origins. Open {} and load again for its own.",
                others.len(),
                one_line(&other.origin, 200)
            ));
        }
        said.push_str(" Reload the page so that it sees them.");
        Ok(ToolOutput::text(said))
    }
}

/// The whole file.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct State {
    #[serde(default)]
    cookies: Vec<StoredCookie>,
    #[serde(default)]
    origins: Vec<Origin>,
}

/// A cookie in the file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct StoredCookie {
    name: String,
    value: String,
    domain: String,
    path: String,
    /// Seconds since 1970; negative for a session cookie.
    #[serde(default = "never")]
    expires: f64,
    #[serde(default)]
    http_only: bool,
    #[serde(default)]
    secure: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    same_site: Option<String>,
}

/// The storage of an origin in the file. Playwright's format has no session storage.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Origin {
    origin: String,
    #[serde(default)]
    local_storage: Vec<Named>,
    #[serde(default)]
    session_storage: Vec<Named>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Named {
    name: String,
    value: String,
}

impl State {
    /// Reads a file that a flag names.
    pub(crate) async fn read(file: &Path) -> Result<Self, ToolError> {
        let text = files::read_by_flag(file, MAX_BYTES).await?;
        Self::parse(&text, &file.to_string_lossy())
    }

    fn parse(text: &[u8], path: &str) -> Result<Self, ToolError> {
        let fail = |why: String| ToolError::File(format!("{} {why}", one_line(path, 300)));
        let state: Self = serde_json::from_slice(text)
            // Not the error's text: it can quote the file, which holds secrets.
            .map_err(|error| {
                let (line, column) = (error.line(), error.column());
                fail(format!(
                    "is not a file of save_storage: see line {line}, column {column}."
                ))
            })?;
        let strange = |cookie: &&StoredCookie| {
            let same_site = cookie.same_site.as_deref();
            same_site.is_some_and(|it| !SAME_SITE.contains(&it))
        };
        match state.cookies.iter().find(strange) {
            Some(cookie) => Err(fail(format!(
                "has a cookie {} whose sameSite is not one of {}.",
                one_line(&cookie.name, 60),
                SAME_SITE.join(", ")
            ))),
            None => Ok(state),
        }
    }

    /// Loads cookies and local storage into the context of a blank tab, except for blocked sites. The tab navigates to
    /// each origin; every request is answered with an empty page, so no server is asked.
    pub(crate) async fn load_into(mut self, tab: &Tab, file: &Path) -> Result<(), ToolError> {
        let file = file.to_string_lossy();
        let policy = bounds::here().unwrap_or_default();
        self.cookies.retain(|it| it.may_be_set("", &policy));
        self.set_cookies(tab, &file).await?;
        answer_all(tab).await?;
        for Origin {
            origin,
            local_storage,
            ..
        } in &self.origins
        {
            if local_storage.is_empty() || policy.check(origin).is_err() {
                continue;
            }
            let wrong = || {
                ToolError::File(format!(
                    "{} has the local storage of {}, which is not the origin of a website. Nothing was loaded.",
                    one_line(&file, 300),
                    one_line(origin, 200)
                ))
            };
            let is_web = origin.starts_with("http://") || origin.starts_with("https://");
            let address = AddressPolicy::default().parse(origin).ok();
            let address = address.filter(|_| is_web).ok_or_else(wrong)?;
            navigate::go(tab, &address).await?;
            let world = tab.world().await?;
            if world.origin != *origin {
                return Err(wrong());
            }
            put(&world, Kind::Local, local_storage).await?;
        }
        Ok(())
    }

    /// Reads all cookies, and the local storage of these origins, from the context of a blank tab. An origin that
    /// cannot be read in time keeps what was loaded before.
    pub(crate) async fn read_from(
        tab: &Tab,
        origins: BTreeSet<String>,
        loaded: Option<Self>,
    ) -> Result<Self, ToolError> {
        let cookies = tab.session().send(GetAllCookies {}).await?.cookies;
        let cookies = cookies.into_iter().filter(|it| it.partition_key.is_none());
        let mut state = Self {
            cookies: cookies.map(StoredCookie::from).collect(),
            origins: Vec::new(),
        };
        answer_all(tab).await?;
        let end = Instant::now() + READ_LIMIT;
        for origin in origins {
            let mut earlier = loaded.iter().flat_map(|loaded| &loaded.origins);
            let earlier = earlier.find(|it| it.origin == origin).cloned();
            let limit = ORIGIN_LIMIT.min(end.saturating_duration_since(Instant::now()));
            let read = async {
                match limit.is_zero() {
                    true => None,
                    false => local_storage(tab, origin).await.ok(),
                }
            };
            let now = tokio::time::timeout(limit, read).await;
            let now = now.ok().flatten().or(earlier);
            state
                .origins
                .extend(now.filter(|it| !it.local_storage.is_empty()));
        }
        Ok(state)
    }

    /// All cookies of a context now, with the storage that was loaded.
    pub(crate) async fn cookies_of(
        root: &Session,
        context: ContextId,
        loaded: Option<Self>,
    ) -> Result<Self, CdpError> {
        let ask = GetContextCookies {
            browser_context_id: context,
        };
        let cookies = root.send_within(ask, COOKIES_LIMIT).await?.cookies;
        let cookies = cookies.into_iter().filter(|it| it.partition_key.is_none());
        Ok(Self {
            cookies: cookies.map(StoredCookie::from).collect(),
            origins: loaded.map(|loaded| loaded.origins).unwrap_or_default(),
        })
    }

    /// The origins whose storage it has.
    pub(crate) fn origins(&self) -> impl Iterator<Item = String> {
        self.origins.iter().map(|it| it.origin.clone())
    }

    /// What is in it, without any value.
    pub(crate) fn summary(&self) -> StateSummary {
        let mut summary = StateSummary::default();
        for cookie in &self.cookies {
            *summary.cookies.entry(cookie.domain.clone()).or_default() += 1;
        }
        for origin in &self.origins {
            let entries = origin.local_storage.len();
            summary.local_storage.insert(origin.origin.clone(), entries);
        }
        summary
    }

    /// Sets all cookies or none.
    async fn set_cookies(&self, tab: &Tab, file: &str) -> Result<(), ToolError> {
        let cookies = self.cookies.iter().map(StoredCookie::param).collect();
        let set = tab.session().send(network::SetCookies { cookies }).await;
        set.map(drop).map_err(|error| match error {
            CdpError::Rejected { message, .. } => ToolError::File(format!(
                "{} has a cookie that Chrome refuses ({}). Nothing was loaded.",
                one_line(file, 200),
                one_line(&message, 100)
            )),
            error => error.into(),
        })
    }

    fn words(&self) -> String {
        let local: usize = self.origins.iter().map(|it| it.local_storage.len()).sum();
        let session: usize = self.origins.iter().map(|it| it.session_storage.len()).sum();
        format!(
            "{} cookies, {local} entries of local storage and {session} of session storage",
            self.cookies.len()
        )
    }
}

impl From<Cookie> for StoredCookie {
    fn from(cookie: Cookie) -> Self {
        Self {
            name: cookie.name,
            value: cookie.value,
            domain: cookie.domain,
            path: cookie.path,
            expires: if cookie.session {
                never()
            } else {
                cookie.expires
            },
            http_only: cookie.http_only,
            secure: cookie.secure,
            same_site: cookie.same_site.map(|it| it.to_string()),
        }
    }
}

impl StoredCookie {
    /// Whether it belongs to the open site, or to another one that the policy allows.
    fn may_be_set(&self, host: &str, policy: &OriginPolicy) -> bool {
        let domain = self.domain.trim_start_matches('.');
        let is_here = host == domain || host.ends_with(&format!(".{domain}"));
        let mut schemes = ["https", "http"].into_iter();
        is_here || schemes.any(|scheme| policy.check(&format!("{scheme}://{domain}/")).is_ok())
    }

    fn param(&self) -> CookieParam {
        CookieParam {
            name: self.name.clone(),
            value: self.value.clone(),
            domain: Some(self.domain.clone()),
            path: Some(self.path.clone()),
            secure: Some(self.secure),
            http_only: Some(self.http_only),
            same_site: self.same_site.as_deref().map(Into::into),
            expires: (self.expires >= 0.0).then_some(TimeSinceEpoch(self.expires)),
            ..Default::default()
        }
    }
}

/// The local storage of an origin. No server is asked.
async fn local_storage(tab: &Tab, origin: String) -> Result<Origin, ToolError> {
    let address = AddressPolicy::default().parse(&origin)?;
    navigate::go(tab, &address).await?;
    let world = tab.world().await?;
    if world.origin != origin {
        return Err(ToolError::DocumentGone);
    }
    let entries = read_all(&world, Kind::Local).await?.into_iter();
    Ok(Origin {
        origin,
        local_storage: entries.map(|(name, value)| Named { name, value }).collect(),
        session_storage: Vec::new(),
    })
}

/// All cookies of the tab's context.
#[derive(Debug, Serialize)]
struct GetAllCookies {}

impl Command for GetAllCookies {
    const METHOD: &'static str = "Network.getAllCookies";
    type Response = network::GetCookiesResponse;
}

/// All cookies of a context.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct GetContextCookies {
    browser_context_id: ContextId,
}

impl Command for GetContextCookies {
    const METHOD: &'static str = "Storage.getCookies";
    type Response = network::GetCookiesResponse;
}

async fn read(page: &Page, path: &str) -> Result<State, ToolError> {
    let text = page.files.read(path, MAX_BYTES).await?;
    State::parse(&text, path)
}

async fn put(world: &World, kind: Kind, entries: &[Named]) -> Result<(), ToolError> {
    let set: Vec<_> = entries.iter().map(|it| [&it.name, &it.value]).collect();
    ask(world, kind, json!({ "set": set })).await.map(drop)
}

/// Answers every request of the tab with an empty page.
async fn answer_all(tab: &Tab) -> Result<(), ToolError> {
    tab.rules().set(vec![empty_page()]);
    tab.rules().tell(tab.session()).await?;
    // Otherwise the service worker of a site answers, with its real page.
    let bypass = network::SetBypassServiceWorker { bypass: true };
    tab.session().send(bypass).await?;
    Ok(())
}

/// An empty page for every address.
fn empty_page() -> Rule {
    let html = ("Content-Type".to_owned(), "text/html".to_owned());
    Rule {
        pattern: Pattern("*".into()),
        action: Action::Mock {
            status: 200,
            headers: [html].into(),
            body: Arc::default(),
        },
    }
}

const fn never() -> f64 {
    -1.0
}

const MAX_BYTES: u64 = 20_000_000;
const COOKIES_LIMIT: Duration = Duration::from_secs(10);
/// For reading the storage of one origin, and of all. The rest of the time is for opening and closing the tab.
const ORIGIN_LIMIT: Duration = Duration::from_secs(2);
const READ_LIMIT: Duration = Duration::from_secs(7);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_state_is_refused_without_quoting_it() {
        for text in [
            r#"{"cookies": "s3cret"}"#,
            r#"{"cookies": [{"name": "s3cret", "value": 7}]}"#,
            r#"{"origins": [{"origin": "s3cret", "localStorage": {"s3cret": "s3cret"}}]}"#,
            r#""s3cret""#,
            "s3cret",
        ] {
            let error = State::parse(text.as_bytes(), "state.json").unwrap_err();
            let told = error.to_string();
            assert!(
                told.contains("state.json is not a file of save_storage"),
                "{told}"
            );
            assert!(!told.contains("s3cret"), "{told}");
        }
    }
}
