//! How a session's browser is connected.

use super::sharing_key::SharingKey;
use std::fmt;
use tabmux_browser::find::{Channel, Wanted};
use tabmux_browser::profile::ProfileChoice;
use tabmux_browser::proxy::Proxy;
use tabmux_browser::{
    AddressPolicy, Device, Grid, GridPlace, LaunchOptions, RemoteAddress, Running, Source,
    TlsOptions, endpoint,
};
use tabmux_core::{BrowserKey, BrowserRef};
use tabmux_protocol::session::{self as wire, BrowserChoice, EndpointAddress};

/// How to connect a browser.
#[derive(Clone, PartialEq, Eq)]
pub struct BrowserPlan {
    /// Which browser.
    pub browser: PlannedBrowser,
    /// Its name, for people.
    pub name: Option<String>,
    /// How the certificate of its address is checked.
    pub tls: TlsOptions,
    /// The place of a browser that a grid hands out for this session.
    pub place: Option<GridPlace>,
    /// The command that starts it when it cannot be reconnected.
    pub start_command: Option<String>,
    /// How to launch one.
    pub launch: LaunchOptions,
    /// Which pages may be opened and read.
    pub policy: AddressPolicy,
    /// Whether pages get `document.modelContext` where the browser has none.
    pub shim: bool,
}

/// Which browser a plan is for: one entry of a [`BrowserChoice`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlannedBrowser {
    /// The one of an extension; else a running one; else, if the agent asks for it, a launched one.
    Any,
    /// A launched one.
    Launched,
    /// A running one. None is launched.
    Running,
    /// The one of an extension.
    Extension {
        /// The name of its profile; `None` means any.
        name: Option<String>,
    },
    /// The one that the user named. May contain secrets.
    At(EndpointAddress),
}

/// Without secrets.
impl fmt::Debug for BrowserPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BrowserPlan").field(&self.source()).finish()
    }
}

impl BrowserPlan {
    /// The plans of a session, in the order of its browsers. Returns a sentence if the options are invalid.
    pub(super) fn from_wire(options: wire::BrowserOptions) -> Result<Vec<Self>, String> {
        let policy = AddressPolicy {
            allow_files: options.allow_file_urls,
        };
        let shim = !options.no_shim;
        let choice = options.choice.clone();
        let tls = TlsOptions {
            ca_files: options.ca_files.clone(),
            client: options.client_certificate.clone(),
            insecure: false,
        };
        let launch = launch_options(options)?;
        let plan = |browser, name| Self {
            browser,
            name,
            tls: TlsOptions::default(),
            place: None,
            start_command: None,
            launch: launch.clone(),
            policy,
            shim,
        };
        Ok(match choice {
            BrowserChoice::Any => vec![plan(PlannedBrowser::Any, None)],
            BrowserChoice::Launch => vec![plan(PlannedBrowser::Launched, None)],
            BrowserChoice::Running => vec![plan(PlannedBrowser::Running, None)],
            BrowserChoice::Extension { name } => {
                let browser = PlannedBrowser::Extension { name: name.clone() };
                vec![plan(browser, name)]
            }
            BrowserChoice::Endpoints { endpoints } if endpoints.is_empty() => {
                return Err("The list of browser addresses is empty".into());
            }
            BrowserChoice::Endpoints { endpoints } => {
                let endpoints = endpoints.into_iter();
                let plans = endpoints.map(|it| Self {
                    tls: TlsOptions {
                        insecure: it.insecure,
                        ..tls.clone()
                    },
                    place: place_for(&it.address),
                    start_command: it.start_command,
                    ..plan(PlannedBrowser::At(it.address), it.name)
                });
                plans.collect()
            }
        })
    }

    /// The browser's reference in the core.
    pub(crate) fn meant(&self) -> BrowserRef {
        BrowserRef {
            key: BrowserKey(SharingKey::of(self).to_string().into()),
            label: self.source().into(),
            attached: matches!(
                self.browser,
                PlannedBrowser::At(_) | PlannedBrowser::Extension { .. }
            ),
            leased: self.place.is_some(),
        }
    }

    /// The browser's source, for people.
    pub(crate) fn source(&self) -> String {
        let source = match &self.browser {
            PlannedBrowser::At(address) if self.tls.insecure => {
                format!(
                    "{}, certificate not checked",
                    endpoint::shown(address.url())
                )
            }
            PlannedBrowser::At(address) => endpoint::shown(address.url()),
            PlannedBrowser::Extension { .. } => "extension".to_owned(),
            PlannedBrowser::Running => "running".to_owned(),
            PlannedBrowser::Any => "running or launched".to_owned(),
            PlannedBrowser::Launched => "launched".to_owned(),
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

    /// The address that the user named, including secrets.
    pub(super) fn address(&self) -> Option<&str> {
        match &self.browser {
            PlannedBrowser::At(address) => Some(address.url()),
            _ => None,
        }
    }
}

/// A new place, if the address is that of a grid: sessions do not share its browsers.
pub(super) fn place_for(address: &EndpointAddress) -> Option<GridPlace> {
    let is_grid = matches!(address, EndpointAddress::Grid { .. });
    is_grid.then(GridPlace::default)
}

/// The browser at an address.
pub(crate) fn source_at(address: EndpointAddress, plan: &BrowserPlan) -> Source {
    let remote = |url, headers| RemoteAddress {
        url,
        headers,
        tls: plan.tls.clone(),
    };
    match address {
        EndpointAddress::Grid { url } => Source::Grid(Grid {
            address: remote(url, Vec::new()),
            place: plan.place.clone().unwrap_or_default(),
        }),
        EndpointAddress::DevTools { url } => Source::Url(remote(url, Vec::new())),
        EndpointAddress::WebSocket { url, headers } => Source::WebSocket(remote(url, headers)),
    }
}

fn launch_options(options: wire::BrowserOptions) -> Result<LaunchOptions, String> {
    let channel = match options.channel.as_deref().map(Channel::parse) {
        Some(None) => return Err("The channel is stable, beta, dev or canary".into()),
        known => known.flatten(),
    };
    let device = device(&options)?;
    Ok(LaunchOptions {
        wanted: Wanted {
            executable: options.executable,
            channel,
        },
        profile: match options.user_data_dir {
            Some(dir) => ProfileChoice::At(dir),
            None => ProfileChoice::Ours,
        },
        headless: options.headless,
        viewport: options.viewport,
        device,
        proxy: options.proxy.as_deref().map(Proxy::parse).transpose()?,
        accept_insecure_certs: options.accept_insecure_certs,
        extra_args: options.extra_args,
        screen: None,
        scripts: options.init_scripts.into(),
        permissions: options.permissions,
    })
}

/// The device that tabs emulate. Flags for its size and user agent override the preset.
fn device(options: &wire::BrowserOptions) -> Result<Option<Device>, String> {
    let device = options.device.as_deref().map(Device::named).transpose()?;
    let device = device.map(|device| match options.viewport {
        Some(size) => device.sized(size),
        None => device,
    });
    let sets_user_agent = |argument: &String| argument.starts_with("--user-agent=");
    Ok(device.map(
        |device| match options.extra_args.iter().any(sets_user_agent) {
            true => device.without_user_agent(),
            false => device,
        },
    ))
}
