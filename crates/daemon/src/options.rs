//! The options of a session, fixed when it opens.

use crate::catalogue;
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use tabmux_browser::LaunchOptions;
use tabmux_browser::Running;
use tabmux_browser::find::{Channel, Wanted};
use tabmux_browser::profile::ProfileChoice;
use tabmux_browser::proxy::Proxy;
use tabmux_browser::{
    AddressPolicy, Device, OriginPattern, OriginPolicy, OriginRules, RuledBy, Source, endpoint,
};
use tabmux_core::{
    BrowserKey, BrowserRef, Mode, Numbering, OnEnd, RestoredTabs, Routing, SessionConfig,
    SiteFilter, TabPolicy,
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

/// How to connect a browser: the named one, else a running one, else a launched one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserPlan {
    /// The one that the user named. If set, no other browser is used.
    pub named: Option<Source>,
    /// Its name, for people.
    pub name: Option<String>,
    /// The command that starts it when it cannot be reconnected.
    pub start_command: Option<String>,
    /// Whether to use the browser of an extension, before any other.
    pub extension: Extension,
    /// Whether a running browser may be used.
    pub running: bool,
    /// Whether only a running browser may be used, and none is launched.
    pub attaches_only: bool,
    /// How to launch one, when the agent asks for it.
    pub launch: LaunchOptions,
    /// Which pages may be opened and read.
    pub policy: AddressPolicy,
    /// Whether pages get `document.modelContext` where the browser has none.
    pub shim: bool,
}

/// Whether a browser is connected through its extension.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Extension {
    /// Never.
    #[default]
    Never,
    /// If one is connected.
    IfThere,
    /// Always; no other browser is used.
    Only {
        /// The name of its profile; `None` means any.
        name: Option<String>,
    },
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
            let host = tabmux_browser::text::one_line(&host.to_string(), 200);
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
        let endpoint = wire::Endpoint {
            address: address.to_owned(),
            web_socket: is_web_socket(address),
            name,
            ..wire::Endpoint::default()
        };
        let first = self.browsers.first();
        let launch = first.map(|plan| plan.launch.clone()).unwrap_or_default();
        Ok(BrowserPlan {
            shim: first.is_none_or(|plan| plan.shim),
            ..BrowserPlan::attached(endpoint, launch, self.policy)
        })
    }
}

impl BrowserPlan {
    fn from_wire(options: wire::BrowserOptions) -> Result<Vec<Self>, String> {
        let channel = match options.channel.as_deref().map(Channel::parse) {
            Some(None) => return Err("The channel is stable, beta, dev or canary".into()),
            known => known.flatten(),
        };
        let profile = match options.user_data_dir {
            Some(dir) => ProfileChoice::At(dir),
            None => ProfileChoice::Ours,
        };
        let device = options.device.as_deref().map(Device::named).transpose()?;
        // The more specific flags win.
        let device = device.map(|device| match options.viewport {
            Some(size) => device.sized(size),
            None => device,
        });
        let names = |argument: &String| argument.starts_with("--user-agent=");
        let device = device.map(|device| match options.extra_args.iter().any(names) {
            true => device.without_user_agent(),
            false => device,
        });
        let launch = LaunchOptions {
            wanted: Wanted {
                executable: options.executable,
                channel,
            },
            profile,
            headless: options.headless,
            viewport: options.viewport,
            device,
            proxy: options.proxy.as_deref().map(Proxy::parse).transpose()?,
            accept_insecure_certs: options.accept_insecure_certs,
            extra_args: options.extra_args,
            screen: None,
            scripts: options.init_scripts.into(),
            permissions: options.permissions,
        };
        let policy = AddressPolicy {
            allow_files: options.allow_file_urls,
        };
        let shim = !options.no_shim;
        if options.extension {
            return Ok(vec![Self {
                named: None,
                name: options.extension_name.clone(),
                start_command: None,
                extension: Extension::Only {
                    name: options.extension_name,
                },
                running: false,
                attaches_only: false,
                launch,
                policy,
                shim,
            }]);
        }
        if options.endpoints.is_empty() {
            return Ok(vec![Self {
                named: None,
                name: None,
                start_command: None,
                // Flags that launch a browser, or attach to a debuggable one, exclude the extension.
                extension: match options.launches || options.attaches_only {
                    true => Extension::Never,
                    false => Extension::IfThere,
                },
                running: !options.launches,
                attaches_only: options.attaches_only,
                launch,
                policy,
                shim,
            }]);
        }
        let endpoints = options.endpoints.into_iter();
        let plans = endpoints.map(|endpoint| Self {
            shim,
            ..Self::attached(endpoint, launch.clone(), policy)
        });
        Ok(plans.collect())
    }

    fn attached(endpoint: wire::Endpoint, launch: LaunchOptions, policy: AddressPolicy) -> Self {
        let wire::Endpoint {
            address,
            web_socket,
            name,
            start_command,
            headers,
        } = endpoint;
        let named = match web_socket {
            true => Source::WebSocket(address, headers),
            false => Source::Url(address),
        };
        Self {
            named: Some(named),
            name,
            start_command,
            extension: Extension::Never,
            running: false,
            attaches_only: false,
            launch,
            policy,
            shim: true,
        }
    }

    /// The browser's reference in the core.
    pub(crate) fn meant(&self) -> BrowserRef {
        BrowserRef {
            key: BrowserKey(self.key().into()),
            label: self.source().into(),
            attached: self.named.is_some() || self.means_extension(),
        }
    }

    /// The browser's source, for people.
    pub(crate) fn source(&self) -> String {
        let source = match &self.named {
            Some(Source::Url(url) | Source::WebSocket(url, _)) => endpoint::shown(url),
            _ if self.means_extension() => "extension".to_owned(),
            _ if self.attaches_only => "running".to_owned(),
            _ if self.running => "running or launched".to_owned(),
            _ => "launched".to_owned(),
        };
        match &self.name {
            Some(name) => format!("{name} ({source})"),
            None => source,
        }
    }

    /// Which of the user's running browsers to use.
    pub(crate) fn which_running(&self) -> Running {
        let profile = match &self.launch.profile {
            ProfileChoice::At(folder) => Some(folder.clone()),
            _ => None,
        };
        Running {
            profile,
            channel: self.launch.wanted.channel,
        }
    }

    /// Whether only a launched browser is possible, so that the agent need not ask for the launch.
    pub(crate) fn launches(&self) -> bool {
        self.named.is_none() && self.extension == Extension::Never && !self.running
    }

    fn means_extension(&self) -> bool {
        matches!(self.extension, Extension::Only { .. })
    }

    /// The address that the user named, including secrets.
    fn address(&self) -> Option<&str> {
        match self.named.as_ref()? {
            Source::Url(url) | Source::WebSocket(url, _) => Some(url),
            Source::Launch(_) | Source::Running(_) => None,
        }
    }

    /// Sessions with equal keys share one browser. The key is stored on disk, so it contains no secrets.
    pub(crate) fn key(&self) -> String {
        match self.address() {
            Some(address) => key_of(address),
            _ if self.means_extension() => {
                format!("extension:{}", self.name.as_deref().unwrap_or_default())
            }
            _ => format!("{self:?}"),
        }
    }
}

/// An address without its secrets, followed by a hash of them.
fn key_of(address: &str) -> String {
    let shown = endpoint::shown(address);
    match shown == address {
        true => shown,
        false => format!("{shown} {}", hash(address)),
    }
}

fn hash(text: &str) -> String {
    let bytes = Sha256::digest(text.as_bytes());
    let hex = bytes.iter().take(8).map(|byte| format!("{byte:02x}"));
    hex.collect()
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

    fn plan(options: wire::BrowserOptions) -> BrowserPlan {
        BrowserPlan::from_wire(options).unwrap().remove(0)
    }

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

    #[test]
    fn only_launch_flags_launch_a_browser_unasked() {
        let none = wire::BrowserOptions::default;
        assert!(
            plan(wire::BrowserOptions {
                launches: true,
                ..none()
            })
            .launches()
        );
        let address = "http://127.0.0.1:9222".to_owned();
        for others in [
            none(),
            wire::BrowserOptions {
                attaches_only: true,
                ..none()
            },
            wire::BrowserOptions {
                extension: true,
                ..none()
            },
            wire::BrowserOptions {
                endpoints: vec![wire::Endpoint {
                    address,
                    ..wire::Endpoint::default()
                }],
                ..none()
            },
        ] {
            assert!(!plan(others).launches());
        }
    }
}
