//! The options of a session, fixed when it opens.

mod browser_plan;
mod sharing_key;

pub(crate) use browser_plan::source_at;
pub use browser_plan::{BrowserPlan, PlannedBrowser};

use crate::catalogue;
use std::path::PathBuf;
use tabmux_browser::profile::ProfileChoice;
use tabmux_browser::{AddressPolicy, OriginPattern, OriginPolicy, OriginRules, RuledBy, endpoint};
use tabmux_core::{
    Mode, Numbering, OnEnd, RestoredTabs, Routing, SessionConfig, SiteFilter, TabPolicy,
};
use tabmux_daemon_client::modes;
use tabmux_protocol::session as wire;

/// The options of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionOptions {
    /// Its browsers, in the order of their numbers.
    pub browsers: Vec<BrowserPlan>,
    /// Which pages may be opened and read.
    pub policy: AddressPolicy,
    /// Whether its agent may add browsers that are not on this machine.
    pub allow_remote: bool,
    /// Whether its agent may choose a default browser.
    pub allow_default: bool,
    /// Whether its browsers are connected when it opens, instead of on first use.
    pub connect_at_start: bool,
    /// Whether it is offered the generic page actions while a tab is focused.
    pub page_actions: bool,
    /// How many tools are generated for it from a page, if any.
    pub generated_tools: Option<usize>,
    /// The categories of tools that it gets. `None`: all except those that must be requested.
    pub categories: Option<Vec<String>>,
    /// The categories that a progressive list includes from the start.
    pub added_categories: Vec<String>,
    /// Whether it has only the three tools of `--slim`.
    pub slim: bool,
    /// The folder its client works in; files stay there.
    pub folder: Option<PathBuf>,
    /// More folders in which its files may be.
    pub roots: Vec<PathBuf>,
    /// The folder for its files without a path, which are kept; if `None`, a folder that is removed with the session.
    pub output: Option<PathBuf>,
    /// Which tools are listed, and how they find their tab.
    pub mode: Mode,
    /// How it numbers tabs.
    pub numbering: Numbering,
    /// What happens to the tabs it opened when it ends.
    pub on_end: OnEnd,
    /// Which other sessions may use the tabs it holds.
    pub tab_policy: TabPolicy,
    /// Whether it has cookies, storage and tabs of its own.
    pub isolated: bool,
    /// The file whose cookies and storage the session starts with.
    pub storage_state: Option<PathBuf>,
    /// How its calls of page tools find their tab.
    pub routing: Routing,
    /// Whether its focus follows the user's tab.
    pub follow_user_focus: bool,
    /// Which sites it may access.
    pub origins: OriginPolicy,
    /// Whether a person is asked before a page's tool runs.
    pub confirm: wire::Confirm,
    /// The tabs it had before its daemon died.
    pub restored_tabs: RestoredTabs,
}

impl SessionOptions {
    /// Converts a client's options. Returns a sentence if they are invalid.
    pub fn from_wire(options: wire::SessionOptions) -> Result<Self, String> {
        let mode = match modes::choose(&options, None) {
            wire::ToolMode::Progressive if !options.slim => Mode::Progressive,
            _ => Mode::Static,
        };
        let browser = options.browser;
        if browser.storage_state.is_some() && !browser.isolated {
            return Err("A storage state needs an isolated session".into());
        }
        Ok(Self {
            policy: AddressPolicy {
                allow_files: browser.allow_file_urls,
            },
            allow_remote: browser.allow_remote,
            allow_default: browser.allow_default,
            connect_at_start: browser.connect_at_start,
            isolated: browser.isolated,
            storage_state: browser.storage_state.clone(),
            routing: match options.hybrid_routing {
                true => Routing::Hybrid,
                false => Routing::Smart,
            },
            follow_user_focus: options.follow_user_focus,
            confirm: options.confirm,
            origins: origins(&options.allowed_origins, &options.blocked_origins)?,
            restored_tabs: RestoredTabs::default(),
            browsers: BrowserPlan::from_wire(browser)?,
            page_actions: options.page_actions,
            generated_tools: match options.generated_tools.map(usize::from) {
                None => Some(tabmux_browser::introspect::USUAL_LIMIT),
                Some(most) => Some(most).filter(|most| *most > 0),
            },
            categories: options.categories,
            added_categories: options.added_categories,
            slim: options.slim,
            folder: options.folder,
            roots: options.roots,
            output: options.output,
            mode,
            numbering: match options.shared_numbers {
                true => Numbering::Shared,
                false => Numbering::Own,
            },
            on_end: match options.on_session_end {
                wire::OnSessionEnd::Close => OnEnd::Close,
                wire::OnSessionEnd::Keep => OnEnd::Keep,
            },
            tab_policy: match options.tab_policy {
                wire::TabPolicy::Respect => TabPolicy::Respect,
                wire::TabPolicy::Exclusive => TabPolicy::Exclusive,
                wire::TabPolicy::Shared => TabPolicy::Shared,
            },
        })
    }

    /// The same for a session in its own process: it shares no browser, so isolation is a separate profile.
    #[must_use]
    pub fn alone(mut self) -> Self {
        if self.isolated {
            // A storage state is loaded into a context.
            self.isolated = self.storage_state.is_some();
            for browser in &mut self.browsers {
                browser.launch.profile = ProfileChoice::Temporary;
            }
        }
        self
    }

    /// The options for the core.
    pub(crate) fn config(&self) -> SessionConfig {
        SessionConfig {
            label: "Agent".into(), // `MainLoop::open` knows better.
            browsers: self.browsers.iter().map(BrowserPlan::meant).collect(),
            connects_at_once: self.connect_at_start,
            may_choose_default: self.allow_default,
            mode: self.mode,
            numbering: self.numbering,
            page_actions: self.page_actions,
            generated_tools: self.generated_tools.is_some(),
            withheld: catalogue::withheld(self.categories.as_deref()),
            on_request: catalogue::on_request(self.categories.as_deref()),
            added: catalogue::of_categories(&self.added_categories),
            only: self.slim.then(catalogue::slim_tools),
            // A context is closed with its session, together with all its tabs.
            on_end: match self.isolated {
                true => OnEnd::Close,
                false => self.on_end,
            },
            tab_policy: self.tab_policy,
            isolated: self.isolated,
            routing: self.routing,
            follow_user_focus: self.follow_user_focus,
            site_filter: SiteFilter::default(),
            restored_tabs: self.restored_tabs.clone(),
        }
    }

    /// The plan for a browser that the agent adds. Returns a sentence if the address is invalid, or is not on this
    /// machine and that is not allowed.
    pub(crate) fn addition(
        &self,
        address: &str,
        name: Option<String>,
    ) -> Result<BrowserPlan, String> {
        let url = url::Url::parse(address).ok();
        let host = url.as_ref().and_then(url::Url::host);
        let Some(host) = host.filter(|_| is_endpoint(address)) else {
            return Err(format!(
                "`{}` is not a browser address. Write it like http://127.0.0.1:9222 or ws://127.0.0.1:9222/devtools/browser/ID.",
                endpoint::shown(address)
            ));
        };
        if !endpoint::is_local(address) && !self.allow_remote {
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
            false => wire::EndpointAddress::DevTools { url },
        };
        let first = self.browsers.first();
        let launch = first.map(|plan| plan.launch.clone()).unwrap_or_default();
        Ok(BrowserPlan {
            browser: PlannedBrowser::At(address),
            name,
            start_command: None,
            launch,
            policy: self.policy,
            shim: first.is_none_or(|plan| plan.shim),
        })
    }
}

/// The origin rules of a client's flags. Returns a sentence if one is invalid.
fn origins(allowed: &[String], blocked: &[String]) -> Result<OriginPolicy, String> {
    let read = |flag: &str, texts: &[String]| {
        let patterns = texts.iter().map(|text| OriginPattern::parse_all(text));
        let patterns: Result<Vec<_>, _> = patterns.collect();
        let patterns = patterns.map_err(|error| format!("{flag}: {error}"))?;
        Ok::<_, String>(patterns.concat())
    };
    Ok(OriginPolicy::of([OriginRules {
        by: RuledBy::Flags,
        allowed: read("--allowedOrigins", allowed)?,
        blocked: read("--blockedOrigins", blocked)?,
    }]))
}

pub(crate) fn is_endpoint(address: &str) -> bool {
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
        let [click, requests, cookies] =
            ["click", "list_network_requests", "cookies"].map(ToolName::new);
        let usual = config(None, &[]);
        assert_eq!((usual.withheld, usual.added), (vec![], vec![]));
        let storage = (cookies, "storage".into());
        assert!(usual.on_request.contains(&storage));
        let network = config(Some(&["network"]), &["network"]);
        assert!(network.added.contains(&requests) && !network.added.contains(&click));
        assert!(network.withheld.contains(&click) && network.withheld.contains(&cookies));
        assert_eq!(network.on_request, []);
    }
}
