//! The cookies of a page.

use super::site;
use crate::bounds;
use crate::error::ToolError;
use crate::run::Page;
use crate::tab::{Frame, Tab};
use crate::tools::{Access, Category, Tool, ToolOutput, ToolResult, paging};
use schemars::JsonSchema;
use serde::Deserialize;
use tabmux_cdp::CdpError;
use tabmux_cdp::types::network::{self, Cookie, CookieSameSite, TimeSinceEpoch};
use tabmux_text::one_line;
use url::Url;

/// Shows or changes cookies.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::tools) struct Cookies {
    name: Option<String>,
    /// Set the cookie to this value.
    value: Option<String>,
    /// Delete the cookie; without a name, all cookies of the page.
    delete: Option<bool>,
    domain: Option<String>,
    path: Option<String>,
    /// Unix time in seconds. Default: until the browser ends.
    expires: Option<u32>,
    http_only: Option<bool>,
    secure: Option<bool>,
    /// Strict, Lax or None.
    same_site: Option<String>,
    page_size: Option<u32>,
    page_idx: Option<u32>,
}

impl Tool for Cookies {
    const NAME: &'static str = "cookies";
    const DESCRIPTION: &'static str =
        "See the cookies of the page and its frames, or one by name; set or delete them.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Storage;
    const OPT_IN: bool = true;
    const PROGRESSIVE: bool = false;
    const NEEDS_PAGE: bool = false;

    fn check(&self) -> Result<(), String> {
        paging::check_size(self.page_size)?;
        paging::check_names(
            "sameSite",
            self.same_site.clone().map(|it| vec![it]).as_ref(),
            SAME_SITE,
        )?;
        let details = self.expires.is_some()
            || self.http_only.is_some()
            || self.secure.is_some()
            || self.same_site.is_some();
        let deletes = self.delete == Some(true);
        match (&self.name, &self.value) {
            (Some(name), _) if name.is_empty() => Err("`name` is empty".into()),
            (None, Some(_)) => Err("`value` needs the `name` of the cookie".into()),
            (_, Some(_)) if deletes => Err("give either `value` or `delete`".into()),
            (_, None) if details => {
                Err("`expires`, `httpOnly`, `secure` and `sameSite` need `value`".into())
            }
            (_, None) if !deletes && (self.domain.is_some() || self.path.is_some()) => {
                Err("`domain` and `path` need `value` or `delete`".into())
            }
            _ => Ok(()),
        }
    }

    async fn run(self, page: Page) -> ToolResult {
        let url = site(&page.tab)?;
        match (&self.name, &self.value) {
            (Some(name), Some(value)) => {
                self.may_set(&url)?;
                self.set(&page.tab, url.as_str(), name, value).await
            }
            _ if self.delete == Some(true) => self.delete(&page.tab).await,
            (Some(name), None) => show(&page.tab, name).await,
            (None, _) => {
                let cookies = of_page(&page.tab).await?;
                let list = paging::page(&cookies, "cookies", self.page_size, self.page_idx, |it| {
                    line(it, 200)
                });
                list.map(ToolOutput::text)
            }
        }
    }
}

impl Cookies {
    async fn set(&self, tab: &Tab, url: &str, name: &str, value: &str) -> ToolResult {
        let set = network::SetCookie {
            name: name.into(),
            value: value.into(),
            url: Some(url.into()),
            domain: self.domain.clone(),
            path: self.path.clone().or_else(|| Some("/".into())),
            secure: self.secure,
            http_only: self.http_only,
            same_site: self.same_site.clone().map(CookieSameSite::from),
            expires: self.expires.map(|at| TimeSinceEpoch(at.into())),
            ..Default::default()
        };
        let refused = || ToolError::NotActionable {
            why: format!(
                "Chrome refused the cookie {}. Its name and value may hold no control characters and no \
                 semicolon, and SameSite None needs secure.",
                one_line(name, 60)
            ),
        };
        match tab.session().send(set).await {
            Ok(answer) if answer.success => {
                let text = format!("Set the cookie {}.", one_line(name, 60));
                Ok(ToolOutput::text(text))
            }
            Ok(_) | Err(CdpError::Rejected { .. }) => Err(refused()),
            Err(error) => Err(error.into()),
        }
    }

    /// Chrome would accept a cookie for any site; a page may only set its own.
    fn may_set(&self, url: &Url) -> Result<(), ToolError> {
        let host = url.host_str().unwrap_or_default();
        let domain = self.domain.as_deref().unwrap_or(host);
        let domain = domain.trim_start_matches('.').to_ascii_lowercase();
        match host == domain || host.ends_with(&format!(".{domain}")) {
            true => Ok(()),
            false => Err(ToolError::Arguments(format!(
                "`domain` must be {host} or a parent domain of it. Open a page of the other site to set cookies there."
            ))),
        }
    }

    async fn delete(&self, tab: &Tab) -> ToolResult {
        let same_domain = |cookie: &Cookie| {
            let bare = |domain: &str| domain.trim_start_matches('.').to_ascii_lowercase();
            let wanted = self.domain.as_deref();
            wanted.is_none_or(|wanted| bare(wanted) == bare(&cookie.domain))
        };
        let mut cookies = of_page(tab).await?;
        cookies.retain(|cookie| {
            self.name.as_ref().is_none_or(|name| *name == cookie.name)
                && self.path.as_ref().is_none_or(|path| *path == cookie.path)
                && same_domain(cookie)
        });
        if cookies.is_empty() && self.name.is_some() {
            return Err(no_such_cookie());
        }
        let count = cookies.len();
        for cookie in cookies {
            let delete = network::DeleteCookies {
                name: cookie.name,
                domain: Some(cookie.domain),
                path: Some(cookie.path),
                partition_key: cookie.partition_key,
                ..Default::default()
            };
            tab.session().send(delete).await?;
        }
        let what = if count == 1 { "cookie" } else { "cookies" };
        Ok(ToolOutput::text(format!("Deleted {count} {what}.")))
    }
}

/// The cookies that are sent to the page and its frames.
pub(super) async fn of_page(tab: &Tab) -> Result<Vec<Cookie>, ToolError> {
    let policy = bounds::here().unwrap_or_default();
    let mut urls: Vec<_> = {
        let state = tab.state();
        let seen = |frame: &&Frame| state.frames.check(frame, &policy).is_ok();
        state
            .frames
            .iter()
            .filter(seen)
            .map(|it| it.url.clone())
            .collect()
    };
    urls.retain(|url| url.starts_with("http"));
    urls.truncate(MAX_FRAMES);
    let ask = network::GetCookies { urls: Some(urls) };
    let mut cookies = tab.session().send(ask).await?.cookies;
    cookies.sort_by(|a, b| (&a.name, &a.domain, &a.path).cmp(&(&b.name, &b.domain, &b.path)));
    Ok(cookies)
}

async fn show(tab: &Tab, name: &str) -> ToolResult {
    let mut cookies = of_page(tab).await?;
    cookies.retain(|cookie| cookie.name == name);
    if cookies.is_empty() {
        return Err(no_such_cookie());
    }
    let lines = cookies.iter().take(MAX_ALIKE).map(|it| line(it, 5_000));
    Ok(ToolOutput::text(lines.collect::<Vec<_>>().join("\n")))
}

fn no_such_cookie() -> ToolError {
    ToolError::NotActionable {
        why: "This page has no such cookie. Call cookies without a name to see them.".into(),
    }
}

/// A cookie, formatted as in a Set-Cookie header.
fn line(cookie: &Cookie, limit: usize) -> String {
    let value = match one_line(&cookie.value, limit) {
        whole if whole == cookie.value => whole,
        short => format!(
            "{short} ({} bytes; give its name to see more)",
            cookie.value.len()
        ),
    };
    let mut line = format!(
        "{}={value}; Domain={}; Path={}",
        one_line(&cookie.name, 200),
        one_line(&cookie.domain, 200),
        one_line(&cookie.path, 200)
    );
    if !cookie.session {
        line.push_str(&format!("; expires {:.0}", cookie.expires));
    }
    for (is_so, word) in [
        (cookie.http_only, "; HttpOnly"),
        (cookie.secure, "; Secure"),
    ] {
        if is_so {
            line.push_str(word);
        }
    }
    if let Some(same_site) = &cookie.same_site {
        line.push_str(&format!("; SameSite={same_site}"));
    }
    line
}

pub(super) const SAME_SITE: &[&str] = &["Strict", "Lax", "None"];
const MAX_FRAMES: usize = 100;
/// Cookies of one name differ only in domain and path.
const MAX_ALIKE: usize = 6;
