//! The options of a session, fixed when it opens.

mod browser_plan;
mod limits;
mod secrets;
mod sharing_key;

use browser_plan::place_for;
pub(crate) use browser_plan::source_at;
pub use browser_plan::{BrowserPlan, PlannedBrowser};

use crate::catalogue;
use std::sync::Arc;
use tabmux_browser::profile::ProfileChoice;
use tabmux_browser::saved_state::NamedState;
use tabmux_browser::secrets::Secrets;
use tabmux_browser::{
    AddressPolicy, OriginPattern, OriginPolicy, OriginRules, RuledBy, StorageSource, TlsOptions,
    endpoint,
};
use tabmux_core::{
    Mode, Numbering, OnEnd, RestoredTabs, Routing, SessionConfig, SiteFilter, TabPolicy,
};
use tabmux_daemon_client::modes;
use tabmux_protocol::session as wire;

/// The options of a session: those of its client, and what is read from them once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionOptions {
    /// As its client sent them.
    pub given: wire::SessionOptions,
    /// Its browsers, in the order of their numbers.
    pub browsers: Vec<BrowserPlan>,
    /// Which tools are listed, and how they find their tab.
    pub mode: Mode,
    /// Which sites it may access.
    pub origins: OriginPolicy,
    /// Values that its agent may have typed, and never sees.
    pub secrets: Arc<Secrets>,
    /// The cookies and storage that its own context starts with.
    pub storage: Option<StorageSource>,
    /// The tabs it had before its daemon died.
    pub restored_tabs: RestoredTabs,
}

impl SessionOptions {
    /// Reads a client's options. Returns a sentence if they are invalid.
    pub fn from_wire(given: wire::SessionOptions) -> Result<Self, String> {
        let browser = &given.browser;
        let storage = storage_source(browser)?;
        if storage.is_some() && !browser.isolated {
            return Err("A storage state needs an isolated session".into());
        }
        Ok(Self {
            browsers: limits::allowed(BrowserPlan::from_wire(browser.clone())?, &given.limits)?,
            mode: match modes::choose(&given, None) {
                wire::ToolMode::Progressive if !given.slim => Mode::Progressive,
                _ => Mode::Static,
            },
            origins: OriginPolicy::of([
                origins(&given.allowed_origins, &given.blocked_origins)?,
                limits::origins(&given.limits)?,
            ]),
            secrets: Arc::new(secrets::read(&given.secrets)?),
            storage,
            restored_tabs: RestoredTabs::default(),
            given,
        })
    }

    /// The same for a session in its own process: it shares no browser, so isolation is a separate profile.
    #[must_use]
    pub fn alone(mut self) -> Self {
        let browser = &mut self.given.browser;
        if browser.isolated {
            // A storage state is loaded into a context.
            browser.isolated = self.storage.is_some();
            for browser in &mut self.browsers {
                browser.launch.profile = ProfileChoice::Temporary;
            }
        }
        self
    }

    /// Which pages may be opened and read.
    pub(crate) fn policy(&self) -> AddressPolicy {
        AddressPolicy {
            allow_files: self.given.browser.allow_file_urls,
        }
    }

    /// How many tools are generated for it from a page, if any.
    pub(crate) fn generated_tools(&self) -> Option<usize> {
        match self.given.generated_tools.map(usize::from) {
            None => Some(tabmux_browser::introspect::USUAL_LIMIT),
            Some(most) => Some(most).filter(|most| *most > 0),
        }
    }

    /// The options for the core.
    pub(crate) fn config(&self) -> SessionConfig {
        let given = &self.given;
        let categories = given.categories.as_deref();
        let config = SessionConfig {
            label: "Agent".into(), // `MainLoop::open` knows better.
            browsers: self.browsers.iter().map(BrowserPlan::meant).collect(),
            connects_at_once: given.browser.connect_at_start,
            may_choose_default: given.browser.allow_default,
            mode: self.mode,
            numbering: match given.shared_numbers {
                true => Numbering::Shared,
                false => Numbering::Own,
            },
            page_actions: given.page_actions,
            generated_tools: self.generated_tools().is_some(),
            withheld: catalogue::withheld(categories),
            reading: None,
            on_request: catalogue::on_request(categories),
            added: catalogue::of_categories(&given.added_categories),
            only: given.slim.then(catalogue::slim_tools),
            on_end: match given.on_session_end {
                // A context is closed with its session, together with all its tabs.
                _ if given.browser.isolated => OnEnd::Close,
                wire::OnSessionEnd::Close => OnEnd::Close,
                wire::OnSessionEnd::Keep => OnEnd::Keep,
            },
            tab_policy: match given.tab_policy {
                wire::TabPolicy::Respect => TabPolicy::Respect,
                wire::TabPolicy::Exclusive => TabPolicy::Exclusive,
                wire::TabPolicy::Shared => TabPolicy::Shared,
            },
            isolated: given.browser.isolated,
            only_own_browsers: false,
            routing: match given.hybrid_routing {
                true => Routing::Hybrid,
                false => Routing::Smart,
            },
            follow_user_focus: given.follow_user_focus,
            site_filter: SiteFilter::default(),
            restored_tabs: self.restored_tabs.clone(),
        };
        limits::apply(
            secrets::offer(config, !self.secrets.is_empty()),
            &given.limits,
        )
    }

    /// The plan for a browser that the agent adds. Returns a sentence if the address is invalid, or is not on this
    /// machine and that is not allowed.
    pub(crate) fn addition(
        &self,
        address: &str,
        name: Option<String>,
    ) -> Result<BrowserPlan, String> {
        limits::check_addition(&self.given.limits)?;
        let url = url::Url::parse(endpoint::without_grid(address)).ok();
        let host = url.as_ref().and_then(url::Url::host);
        let Some(host) = host.filter(|_| is_endpoint(address)) else {
            return Err(format!(
                "`{}` is not a browser address. Write it like http://127.0.0.1:9222 or ws://127.0.0.1:9222/devtools/browser/ID.",
                endpoint::shown(address)
            ));
        };
        if !endpoint::is_local(address) && !self.given.browser.allow_remote {
            let host = tabmux_text::one_line(&host.to_string(), 200);
            return Err(format!(
                "{host} is not this machine. Only browsers of this machine may be added, unless tabmux \
                 is started with --allowRemoteBrowsers."
            ));
        }
        // An address that the flags name keeps its headers and its command.
        if let Some(own) = self
            .browsers
            .iter()
            .find(|plan| plan.address() == Some(address))
        {
            let name = name.or_else(|| own.name.clone());
            return Ok(BrowserPlan {
                name,
                ..own.clone()
            });
        }
        let url = address.to_owned();
        let address = match is_web_socket(address) {
            true => {
                let headers = Vec::new();
                wire::EndpointAddress::WebSocket { url, headers }
            }
            false if is_browser(address) => wire::EndpointAddress::DevTools { url },
            false => wire::EndpointAddress::Grid { url },
        };
        let first = self.browsers.first();
        let launch = first.map(|plan| plan.launch.clone()).unwrap_or_default();
        Ok(BrowserPlan {
            place: place_for(&address),
            browser: PlannedBrowser::At(address),
            name,
            tls: TlsOptions {
                ca_files: self.given.browser.ca_files.clone(),
                ..TlsOptions::default()
            },
            start_command: None,
            launch,
            policy: self.policy(),
            shim: first.is_none_or(|plan| plan.shim),
        })
    }
}

/// The origin rules of a client's flags. Returns a sentence if one is invalid.
fn origins(allowed: &[String], blocked: &[String]) -> Result<OriginRules, String> {
    Ok(OriginRules {
        by: RuledBy::Flags,
        allowed: patterns("--allowedOrigins", allowed)?,
        blocked: patterns("--blockedOrigins", blocked)?,
    })
}

fn patterns(from: &str, texts: &[String]) -> Result<Vec<OriginPattern>, String> {
    let patterns = texts.iter().map(|text| OriginPattern::parse_all(text));
    let patterns: Result<Vec<_>, _> = patterns.collect();
    let patterns = patterns.map_err(|error| format!("{from}: {error}"))?;
    Ok(patterns.concat())
}

/// The cookies and storage that a session starts with.
fn storage_source(browser: &wire::BrowserOptions) -> Result<Option<StorageSource>, String> {
    let file = browser.storage_state.clone().map(StorageSource::File);
    let Some(wire::StateChoice { name, key }) = &browser.state else {
        return Ok(file);
    };
    let state = NamedState::new(name.parse()?, key.as_deref());
    Ok(Some(StorageSource::Named(state)))
}

fn is_endpoint(address: &str) -> bool {
    is_browser(endpoint::without_grid(address)) && !is_web_socket(endpoint::without_grid(address))
        || is_browser(address)
}

/// Whether it is the address of a browser, not of a grid.
pub(crate) fn is_browser(address: &str) -> bool {
    is_web_socket(address) || address.starts_with("http://") || address.starts_with("https://")
}

fn is_web_socket(address: &str) -> bool {
    address.starts_with("ws://") || address.starts_with("wss://")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabmux_core::ToolName;

    #[test]
    fn a_category_that_flags_name_is_listed_from_the_start() {
        let config = |categories: Option<&[&str]>, added: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
            let options = wire::SessionOptions {
                categories: categories.map(owned),
                added_categories: owned(added),
                ..wire::SessionOptions::default()
            };
            SessionOptions::from_wire(options).unwrap().config()
        };
        let [click, requests, cookies, secrets] =
            ["click", "list_network_requests", "cookies", "list_secrets"].map(ToolName::new);
        let usual = config(None, &[]);
        assert_eq!((usual.withheld, usual.added), (vec![secrets], vec![]));
        let storage = (cookies, "storage".into());
        assert!(usual.on_request.contains(&storage));
        let network = config(Some(&["network"]), &["network"]);
        assert!(network.added.contains(&requests) && !network.added.contains(&click));
        assert!(network.withheld.contains(&click) && network.withheld.contains(&cookies));
        assert_eq!(network.on_request, []);
    }
}
